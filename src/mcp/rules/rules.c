/* SPDX-License-Identifier: MIT */
/* rules - finds the rule that decides a call, and the rule that would allow it. */
#include "mcp/rules/rules.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_view.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

/* ---- conditions on arguments ------------------------------------------------ */

/*
 * An allowing rule needs exactly the type that it names. For other rules, a value of
 * another type may still match: a server may turn 1 into "1", or use the first element
 * of an array.
 */

/* A letter of a name takes at most two escapes. */
#define LETTER_MAX 12

/* Limit of the text that a condition examines, counted for each pattern: the loop is
 * blocked meanwhile. */
#define TEXTS_MAX GBX_MIB(4)

typedef struct looking {
    const gbx_gate_condition *condition;
    bool allows;
    size_t len; /* of the text examined so far */
    const char *why;
} looking;

/* Some servers, such as those in Go, ignore case: they accept "Path" for "path", and
 * "paſs" for "pass". */
static bool is_twin(gbx_view name, const char *wanted)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = name.len};

    return name.len - 2 <= LETTER_MAX * strlen(wanted) &&
           gbx_view_append_text(name, &text) && gbx_buf_append(&text, "", 1) &&
           gbx_casefold_same((const char *)text.data, wanted);
}

static gbx_view member(looking *l, gbx_view object, const char *wanted)
{
    gbx_view found = {0};
    gbx_view name, value;

    for (size_t cursor = 0; gbx_view_next(object, &cursor, &name, &value);) {
        if (gbx_view_is_text(name, wanted)) {
            found = value;
        } else if (is_twin(name, wanted)) {
            l->why = "write its name in the case that the tool has it in";
            return (gbx_view){0};
        }
    }
    return found;
}

static bool literal_holds(const looking *l, gbx_view value)
{
    char want = l->condition->literal;
    char kind = gbx_view_kind(value);

    if (want == '0' && kind == '0')
        return l->condition->number == strtod(value.at, NULL);
    if (want != '0' && (kind == 't' || kind == 'f'))
        return want == kind;
    return !l->allows;
}

static bool leaf_holds(looking *l, gbx_view value)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = value.len};
    bool holds = false;

    if (l->condition->literal != 0)
        return literal_holds(l, value);
    if (gbx_view_kind(value) != '"')
        return !l->allows;
    if (!gbx_view_take_text(value, &text) || !gbx_buf_append(&text, "", 1))
        l->why = "it does not fit in memory";
    for (size_t i = 0; i < l->condition->globs.count && l->why == NULL && !holds; i++) {
        const char *glob = l->condition->globs.items[i];

        holds = gbx_glob_value(glob, (const char *)text.data, text.len - 1,
                               l->allows ? GBX_GLOB_EXACT : GBX_GLOB_WIDE, &l->why);
        l->len += gbx_glob_is_any(glob) ? 0 : text.len;
        if (l->why == NULL && l->len > TEXTS_MAX)
            l->why =
                "there is more text in the list than the 4 MiB that a rule looks at";
    }
    return holds && l->why == NULL;
}

static bool holds_from(looking *l, gbx_view value, size_t step);

static bool elements_hold(looking *l, gbx_view array, size_t step)
{
    size_t cursor = 0;
    size_t count = 0;
    size_t held = 0;
    gbx_view name, value;

    while (l->why == NULL && gbx_view_next(array, &cursor, &name, &value)) {
        held += holds_from(l, value, step);
        count++;
    }
    if (l->why != NULL)
        return false;
    return l->allows ? count > 0 && held == count : held > 0;
}

/* The recursion is as deep as the rule's path. */
static bool holds_from(looking *l, gbx_view value, size_t step)
{
    const char *name;

    if (step == l->condition->step_count)
        return leaf_holds(l, value);
    name = l->condition->steps[step];
    if (name == NULL)
        return gbx_view_kind(value) == '[' ? elements_hold(l, value, step + 1)
                                           : !l->allows;
    if (gbx_view_kind(value) != '{')
        return !l->allows;
    value = member(l, value, name);
    return value.at != NULL && holds_from(l, value, step + 1);
}

/* Does the condition hold? *ret_why is as for gbx_glob_value(). */
static bool condition_holds(const gbx_gate_condition *condition, gbx_view args,
                            gbx_gate_action action, const char **ret_why)
{
    looking l = {.condition = condition, .allows = action == GBX_GATE_ALLOW};
    bool holds = holds_from(&l, args, 0);

    *ret_why = l.why;
    return holds;
}

/* ---- rules ------------------------------------------------------------------ */

static bool fits_name(const gbx_gate_names *globs, const char *name, gbx_glob_how how)
{
    for (size_t i = 0; i < globs->count; i++)
        if (gbx_glob_name(globs->items[i], name, how))
            return true;
    return globs->count == 0;
}

/* Is the rule about the tool? Rules that ask or deny also match the name that it was
 * called by. */
static bool is_about(const gbx_gate_rule *rule, const char *server, const char *tool,
                     const char *called)
{
    gbx_glob_how how = rule->action == GBX_GATE_ALLOW ? GBX_GLOB_EXACT : GBX_GLOB_WIDE;

    bool is_about_others =
        rule->tools.count == 0 && rule->resources.count + rule->prompts.count > 0;

    return !is_about_others && fits_name(&rule->servers, server, GBX_GLOB_EXACT) &&
           (fits_name(&rule->tools, tool, how) ||
            (how == GBX_GLOB_WIDE && called != NULL &&
             fits_name(&rule->tools, called, how)));
}

/* False if a condition fails. Otherwise verdict->fault is why one of them cannot be
 * judged, or NULL. */
static bool fits_args(const gbx_gate_rule *rule, gbx_view args,
                      gbx_gate_verdict *verdict)
{
    const char *fault = NULL;
    const char *path = NULL;

    for (size_t i = 0; i < rule->condition_count; i++) {
        const char *why;
        bool holds = condition_holds(&rule->conditions[i], args, rule->action, &why);

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

static void free_rule(gbx_gate_rule *rule)
{
    const gbx_gate_names *lists[] = {&rule->servers, &rule->tools, &rule->resources,
                                     &rule->prompts, &rule->scopes};

    for (size_t i = 0; i < GBX_COUNTOF(lists); i++)
        gbx_names_free(lists[i]->items, lists[i]->count);
    for (size_t i = 0; i < rule->condition_count; i++) {
        gbx_gate_condition *c = &rule->conditions[i];

        free(c->path);
        gbx_names_free(c->steps, c->step_count);
        gbx_names_free(c->globs.items, c->globs.count);
    }
    free(rule->conditions);
    free(rule->reason);
    free(rule->text);
}

/* A name as a pattern that matches nothing else. */
static void append_exact(const char *name, gbx_buf *to)
{
    gbx_buf plain = {.ceiling = to->ceiling};

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
        if (!condition_holds(&rule->conditions[i], args, GBX_GATE_ALLOW, &why) ||
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

const char *gbx_gate_action_name(gbx_gate_action action)
{
    static const char *const names[] = {"allow", "ask", "deny"};

    return names[action];
}

const char *gbx_gate_subject_name(gbx_gate_subject subject)
{
    static const char *const names[] = {"tool", "resource", "prompt", "list"};

    return names[subject];
}

gbx_gate_rules *gbx_gate_rules_new(void)
{
    gbx_gate_rules *rules = gbx_need(calloc(1, sizeof *rules));

    rules->reads = GBX_GATE_ALLOW;
    rules->others = GBX_GATE_ASK;
    rules->secrets = gbx_need(gbx_policy_new());
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

void gbx_gate_rules_select(gbx_gate_rules *rules,
                           bool (*has)(const void *user, const char *scope),
                           const void *user)
{
    size_t kept = 0;

    for (size_t i = 0; i < rules->count; i++) {
        gbx_gate_rule *rule = &rules->items[i];
        bool is_for_client = rule->scopes.count == 0;

        for (size_t k = 0; k < rule->scopes.count && !is_for_client; k++)
            is_for_client = has(user, rule->scopes.items[k]);
        if (is_for_client)
            rules->items[kept++] = *rule;
        else
            free_rule(rule);
    }
    rules->count = kept;
}

gbx_gate_verdict gbx_rules_decide(const gbx_gate_rules *rules, const char *server,
                                  const char *tool, const char *called, gbx_view args,
                                  gbx_gate_hint hint)
{
    gbx_gate_verdict verdict = {.rule = GBX_GATE_NO_RULE, .hint = hint};

    for (size_t i = 0; i < rules->count; i++) {
        const gbx_gate_rule *rule = &rules->items[i];

        if (!is_about(rule, server, tool, called) || !fits_args(rule, args, &verdict))
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

/* A rule that names no tools, resources and prompts, or that denies every tool whatever it
 * does: nothing of the server is wanted. */
static bool is_about_all(const gbx_gate_rule *rule)
{
    bool denies_all = false;

    if (rule->action == GBX_GATE_DENY && rule->condition_count == 0 &&
        rule->hint == GBX_GATE_HINT_UNKNOWN)
        for (size_t i = 0; i < rule->tools.count; i++)
            denies_all |= gbx_glob_is_any(rule->tools.items[i]);
    return (rule->tools.count == 0 || denies_all) &&
           rule->resources.count + rule->prompts.count == 0;
}

static bool fits_other(const gbx_gate_rule *rule, gbx_gate_subject subject,
                       const char *name, gbx_gate_verdict *verdict)
{
    gbx_glob_how how = rule->action == GBX_GATE_ALLOW ? GBX_GLOB_EXACT : GBX_GLOB_WIDE;

    if (subject == GBX_GATE_RESOURCE && rule->resources.count > 0) {
        for (size_t i = 0; i < rule->resources.count; i++) {
            if (gbx_glob_value(rule->resources.items[i], name, strlen(name), how,
                               &verdict->fault))
                return true;
            verdict->fault_path = "uri";
            if (verdict->fault != NULL)
                return true;
        }
        return false;
    }
    if (subject == GBX_GATE_PROMPT && rule->prompts.count > 0)
        return fits_name(&rule->prompts, name, how);
    return is_about_all(rule) &&
           (rule->condition_count == 0 || rule->action != GBX_GATE_ALLOW);
}

gbx_gate_verdict gbx_rules_decide_other(const gbx_gate_rules *rules, const char *server,
                                        gbx_gate_subject subject, const char *name)
{
    gbx_gate_verdict verdict = {.action = rules->reads,
                                .rule = GBX_GATE_NO_RULE,
                                .hint = GBX_GATE_HINT_READS};

    for (size_t i = 0; i < rules->count && verdict.rule == GBX_GATE_NO_RULE; i++) {
        const gbx_gate_rule *rule = &rules->items[i];

        if (rule->hint == GBX_GATE_HINT_OTHER ||
            !fits_name(&rule->servers, server, GBX_GLOB_EXACT) ||
            !fits_other(rule, subject, name, &verdict))
            continue;
        verdict.action = rule->action;
        verdict.rule = i;
    }
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

        if (!is_about(rule, server, tool, NULL) ||
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
