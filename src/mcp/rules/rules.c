/* SPDX-License-Identifier: MIT */
/* rules - see rules.h. */
#include "mcp/rules/rules.h"

#include "base/json.h"
#include "base/json_view.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

static bool fits_name(char *const *globs, size_t count, const char *name,
                      gbx_glob_how how)
{
    if (count == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        if (gbx_glob_name(globs[i], name, how))
            return true;
    return false;
}

/* Rules that ask or deny also match the name that the tool was called by. */
static bool fits_tool(const gbx_gate_rule *rule, const char *tool, const char *called)
{
    gbx_glob_how how = rule->action == GBX_GATE_ALLOW ? GBX_GLOB_EXACT : GBX_GLOB_WIDE;

    return fits_name(rule->tools, rule->tool_count, tool, how) ||
           (how == GBX_GLOB_WIDE && called != NULL &&
            fits_name(rule->tools, rule->tool_count, called, how));
}

/* Do all conditions hold? verdict->fault is set if one cannot be judged and none
 * before it fails. */
static bool fits_args(const gbx_gate_rule *rule, gbx_view args,
                      gbx_gate_verdict *verdict)
{
    const char *fault = NULL;
    const char *path = NULL;

    for (size_t i = 0; i < rule->condition_count; i++) {
        const char *why;
        bool holds =
            gbx_gate_condition_holds(&rule->conditions[i], args, rule->action, &why);

        if (!holds && why == NULL)
            return false;
        if (why != NULL && fault == NULL) {
            fault = why;
            path = rule->conditions[i].path;
        }
    }
    verdict->fault = fault;
    verdict->fault_path = path;
    return true;
}

static void free_names(char **names, size_t count)
{
    gbx_names_cut(names, 0, count);
    free(names);
}

static void free_rule(gbx_gate_rule *rule)
{
    free_names(rule->servers, rule->server_count);
    free_names(rule->tools, rule->tool_count);
    for (size_t i = 0; i < rule->condition_count; i++) {
        gbx_gate_condition *c = &rule->conditions[i];

        free(c->path);
        for (size_t k = 0; k < c->step_count; k++)
            free(c->steps[k].name);
        free(c->steps);
        free_names(c->globs, c->glob_count);
        json_decref(c->literal);
    }
    free(rule->conditions);
    free(rule->reason);
    free(rule->text);
}

/* A name as a pattern that matches nothing else. */
static void append_exact(const char *name, gbx_buf *to)
{
    gbx_buf plain;

    gbx_buf_init(&plain, to->ceiling);
    for (const char *c = name; *c != '\0'; c++) {
        if (strchr("*?\\", *c) != NULL)
            (void)gbx_buf_puts(&plain, "\\");
        (void)gbx_buf_append(&plain, c, 1);
    }
    if (plain.failed || !gbx_json_append_safe(to, plain.data, plain.len))
        to->failed = true;
    gbx_buf_cleanup(&plain);
}

/* Would the call match the same conditions in an allowing rule? */
static bool fits_exactly(const gbx_gate_rule *rule, gbx_view args)
{
    const char *why = NULL;

    for (size_t i = 0; i < rule->condition_count; i++)
        if (!gbx_gate_condition_holds(&rule->conditions[i], args, GBX_GATE_ALLOW,
                                      &why) ||
            why != NULL)
            return false;
    return true;
}

static void append_hint(gbx_gate_hint hint, gbx_buf *to)
{
    if (hint != GBX_GATE_HINT_UNKNOWN)
        (void)gbx_buf_printf(to, ",\"readOnly\":%s",
                             hint == GBX_GATE_HINT_READS ? "true" : "false");
}

static void append_conditions(const gbx_gate_rule *rule, gbx_buf *to)
{
    gbx_view whole;
    gbx_view args = {0};

    if (gbx_view_open(rule->text, strlen(rule->text), &whole))
        args = gbx_view_member(whole, "args");
    if (args.at == NULL && rule->condition_count > 0)
        to->failed = true; /* without them it would allow more */
    if (args.at != NULL) {
        (void)gbx_buf_puts(to, ",\"args\":");
        (void)gbx_buf_append(to, args.at, args.len);
    }
    append_hint(rule->hint, to);
}

/* ---- public to other modules -------------------------------------------- */

const char *gbx_gate_action_name(gbx_gate_action action)
{
    static const char *const names[] = {"allow", "ask", "deny"};

    return names[action];
}

gbx_gate_rules *gbx_gate_rules_new(void)
{
    gbx_gate_rules *rules = calloc(1, sizeof *rules);

    if (rules == NULL)
        return NULL;
    rules->reads = GBX_GATE_ALLOW;
    rules->others = GBX_GATE_ASK;
    rules->secrets = gbx_policy_new();
    if (rules->secrets == NULL) {
        free(rules);
        return NULL;
    }
    return rules;
}

void gbx_gate_rules_free(gbx_gate_rules *rules)
{
    if (rules == NULL)
        return;
    for (size_t i = 0; i < rules->count; i++)
        free_rule(&rules->items[i]);
    free(rules->items);
    gbx_policy_free(rules->secrets);
    free(rules);
}

gbx_gate_verdict gbx_rules_decide(const gbx_gate_rules *rules, const char *server,
                                  const char *tool, const char *called, gbx_view args,
                                  gbx_gate_hint hint)
{
    gbx_gate_verdict verdict = {.rule = GBX_GATE_NO_RULE, .hint = hint};

    for (size_t i = 0; i < rules->count; i++) {
        const gbx_gate_rule *rule = &rules->items[i];

        if (!fits_name(rule->servers, rule->server_count, server, GBX_GLOB_EXACT) ||
            !fits_tool(rule, tool, called) || !fits_args(rule, args, &verdict))
            continue;
        verdict.used_hint |= rule->hint != GBX_GATE_HINT_UNKNOWN;
        if (rule->hint != GBX_GATE_HINT_UNKNOWN && hint == GBX_GATE_HINT_UNKNOWN) {
            verdict.fault = NULL;
            verdict.needs_hint = true;
            return verdict;
        }
        if (rule->hint != GBX_GATE_HINT_UNKNOWN && rule->hint != hint)
            continue;
        verdict.action = rule->action;
        verdict.rule = i;
        return verdict;
    }
    verdict.fault = NULL;
    verdict.used_hint |= rules->reads != rules->others;
    verdict.needs_hint = hint == GBX_GATE_HINT_UNKNOWN && verdict.used_hint;
    verdict.action = hint == GBX_GATE_HINT_READS ? rules->reads : rules->others;
    return verdict;
}

gbx_gate_verdict gbx_gate_outlook(const gbx_gate_rules *rules, const char *server,
                                  const char *tool, gbx_gate_hint hint, bool is_granted,
                                  bool *ret_depends)
{
    gbx_gate_action asked = is_granted ? GBX_GATE_ALLOW : GBX_GATE_ASK;
    gbx_gate_verdict verdict = {.rule = GBX_GATE_NO_RULE, .hint = hint};
    bool may_be[GBX_GATE_DENY + 1] = {false};

    verdict.action = hint == GBX_GATE_HINT_READS ? rules->reads : rules->others;
    for (size_t i = 0; i < rules->count && verdict.rule == GBX_GATE_NO_RULE; i++) {
        const gbx_gate_rule *rule = &rules->items[i];

        if (!fits_name(rule->servers, rule->server_count, server, GBX_GLOB_EXACT) ||
            !fits_tool(rule, tool, NULL) ||
            (rule->hint != GBX_GATE_HINT_UNKNOWN && rule->hint != hint))
            continue;
        if (rule->condition_count > 0) {
            may_be[rule->action == GBX_GATE_ASK ? asked : rule->action] = true;
            continue;
        }
        verdict.action = rule->action;
        verdict.rule = i;
    }
    if (verdict.action == GBX_GATE_ASK)
        verdict.action = asked;
    may_be[verdict.action] = true;
    *ret_depends =
        may_be[GBX_GATE_ALLOW] + may_be[GBX_GATE_ASK] + may_be[GBX_GATE_DENY] > 1;
    return verdict;
}

bool gbx_gate_rule_for(const gbx_gate_rules *rules, const gbx_gate_verdict *asked,
                       const char *server, const char *tool, gbx_view args, gbx_buf *to)
{
    gbx_gate_action other =
        asked->hint == GBX_GATE_HINT_READS ? rules->others : rules->reads;

    if (asked->rule != GBX_GATE_NO_RULE &&
        !fits_exactly(&rules->items[asked->rule], args))
        return false;
    (void)gbx_buf_puts(to, "{\"action\":\"allow\",\"server\":");
    append_exact(server, to);
    (void)gbx_buf_puts(to, ",\"tool\":");
    append_exact(tool, to);
    if (asked->rule != GBX_GATE_NO_RULE)
        append_conditions(&rules->items[asked->rule], to);
    else if (other == GBX_GATE_DENY) /* the hint may change, and calls would
                                      * then be denied */
        append_hint(asked->hint, to);
    return gbx_buf_puts(to, "}");
}
