/* SPDX-License-Identifier: MIT */
/* rules_json - reads rules. A rule that can match nothing is refused as a mistake: a
 * misspelt denial would deny nothing. */
#include "mcp/rules/rules.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "policy/json_reader.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this, some programs cannot tell neighbouring numbers apart. */
#define WHOLE_MAX 9007199254740992.0

static const gbx_rules_reader *whole(const gbx_json_reader *r)
{
    return (const gbx_rules_reader *)(const void *)r;
}

static bool action_of(gbx_view value, gbx_gate_action *ret)
{
    for (int i = GBX_GATE_ALLOW; i <= GBX_GATE_DENY; i++)
        if (gbx_view_is_text(value, gbx_gate_action_name(i))) {
            *ret = (gbx_gate_action)i;
            return true;
        }
    return false;
}

static gbx_status read_action(gbx_json_reader *r, gbx_view value, void *target)
{
    void *field = (char *)target + r->row->offset;
    gbx_gate_action *action = field;

    if (gbx_view_kind(value) != '"')
        return gbx_json_refuse_type(r, value, "\"allow\", \"ask\" or \"deny\"");
    if (!action_of(value, action))
        return gbx_json_refuse(r, "this is \"allow\", \"ask\" or \"deny\"");
    return GBX_OK;
}

static gbx_status check_glob(gbx_json_reader *r, const char *text, size_t len)
{
    if (len == 0 || len > GBX_GLOB_MAX)
        return gbx_refuse(r->err, text, 0, "a pattern has from 1 to %d bytes",
                          GBX_GLOB_MAX);
    if (text[len - 1] == '\\' && (len < 2 || text[len - 2] != '\\'))
        return gbx_refuse(r->err, text, 0, "nothing follows the last '\\'");
    return GBX_OK;
}

static gbx_status check_server(gbx_json_reader *r, const char *text)
{
    const gbx_rules_reader *all = whole(r);
    char quote[GBX_QUOTE_SIZE];
    const char *nearest;

    for (size_t i = 0; i < all->server_count; i++)
        if (gbx_glob_name(text, all->servers[i], GBX_GLOB_EXACT))
            return GBX_OK;
    nearest = gbx_nearest(text, all->servers, all->server_count);
    (void)gbx_quote(quote, text, strlen(text));
    return gbx_refuse(r->err, text, 0, "unknown server '%s'%s%s%s", quote,
                      nearest != NULL ? ": did you mean '" : "",
                      nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

/* Add to the list that the row is about. */
static gbx_status add_name(gbx_json_reader *r, const char *text, size_t len,
                           void *target)
{
    void *field = (char *)target + r->row->offset;
    gbx_gate_names *names = field;

    return gbx_names_add(&names->items, &names->count, text, len, r->err);
}

static gbx_status add_glob(gbx_json_reader *r, const char *text, size_t len,
                           void *target)
{
    gbx_status status = check_glob(r, text, len);

    return status == GBX_OK ? add_name(r, text, len, target) : status;
}

static gbx_status add_server(gbx_json_reader *r, const char *text, size_t len,
                             void *target)
{
    gbx_status status = check_glob(r, text, len);

    if (status == GBX_OK)
        status = check_server(r, text);
    return status == GBX_OK ? add_name(r, text, len, target) : status;
}

static gbx_status add_scope(gbx_json_reader *r, const char *text, size_t len,
                            void *target)
{
    return len > 0 && strchr(text, ' ') == NULL
               ? add_name(r, text, len, target)
               : gbx_refuse(r->err, text, 0, "this is the name of one scope");
}

/* One pattern, or several. */
static gbx_status read_names(gbx_json_reader *r, gbx_view value, void *target)
{
    const char *text;
    gbx_status status;

    if (gbx_view_kind(value) == '[')
        return gbx_json_read_list(r, value, target);
    status = gbx_json_read_text(r, value, "a pattern, or an array of them", &text);
    if (status != GBX_OK)
        return status;
    return gbx_json_placed(r, r->row->add(r, text, strlen(text), target));
}

static gbx_status read_hint(gbx_json_reader *r, gbx_view value, void *target)
{
    gbx_gate_rule *rule = target;
    bool reads;
    gbx_status status = gbx_json_read_bool(r, value, &reads);

    rule->hint = reads ? GBX_GATE_HINT_READS : GBX_GATE_HINT_OTHER;
    return status;
}

static gbx_status read_reason(gbx_json_reader *r, gbx_view value, void *target)
{
    static const char wanted[] = "a sentence of at most 300 bytes";
    gbx_gate_rule *rule = target;
    const char *text;
    gbx_status status = gbx_json_read_text(r, value, wanted, &text);

    if (status != GBX_OK)
        return status;
    if (strlen(text) > 300)
        return gbx_json_refuse_type(r, value, wanted);
    rule->reason = gbx_need(strdup(text));
    return GBX_OK;
}

/* ---- arguments -------------------------------------------------------------- */

/* name NULL: each element of an array */
static void add_step(gbx_gate_condition *c, const char *name, size_t len)
{
    char **step = gbx_need(gbx_list_room(&c->steps, c->step_count, sizeof *step));

    *step = name != NULL ? gbx_need(strndup(name, len)) : NULL;
    c->step_count++;
}

/* "edits[].path"; '\' makes the next character literal. A star or an index is refused:
 * as a name it would match no argument. */
static gbx_status read_path(gbx_json_reader *r, const char *text, gbx_gate_condition *c)
{
    char name[GBX_GLOB_MAX + 1];
    const char *at = text;

    c->path = gbx_need(strdup(text));
    if (strlen(text) > GBX_GLOB_MAX)
        return gbx_json_refuse_key(r, "the path is longer than %d bytes", GBX_GLOB_MAX);
    do {
        size_t len = 0;

        for (; *at != '\0' && *at != '.' && strncmp(at, "[]", 2) != 0; at++) {
            if (*at == '\\' && at[1] != '\0')
                at++;
            else if (strchr("[]*", *at) != NULL)
                return gbx_json_refuse_key(r,
                                           "'[]' is every element of an array, and "
                                           "no other pattern is allowed in a path of "
                                           "arguments: '\\%c' is the character",
                                           *at);
            name[len++] = *at;
        }
        if (len == 0)
            return gbx_json_refuse_key(r, "a path of arguments is like 'path' or "
                                          "'edits[].path'");
        add_step(c, name, len);
        for (; strncmp(at, "[]", 2) == 0; at += 2)
            add_step(c, NULL, 0);
        if (*at != '.' && *at != '\0')
            return gbx_json_refuse_key(r, "after '[]' comes '.' or nothing");
    } while (*at++ == '.');
    return GBX_OK;
}

/* An asking or denying rule with a pattern that never matches is refused: it would only
 * seem to have an effect. */
static gbx_status check_value_glob(gbx_json_reader *r, const char *text, size_t len,
                                   const gbx_gate_rule *rule)
{
    bool allows = rule->action == GBX_GATE_ALLOW;
    gbx_status status = check_glob(r, text, len);
    const char *why;

    if (status != GBX_OK)
        return status;
    if (!allows && gbx_glob_kind_of(text) == GBX_GLOB_PATH && text[0] != '/' &&
        strncmp(text,
                "**"
                "/",
                3) != 0)
        return gbx_refuse(r->err, text, 0,
                          "a pattern of paths that asks or denies begins with '/' or "
                          "'**/'");
    why = !allows ? gbx_canonical_pattern_objection(text) : NULL;
    if (why != NULL)
        return gbx_refuse(r->err, text, 0, "no call would fit this: %s", why);
    return GBX_OK;
}

/* Add to the last condition. */
static gbx_status add_value_glob(gbx_json_reader *r, const char *text, size_t len,
                                 void *target)
{
    gbx_gate_rule *rule = target;
    gbx_gate_names *globs = &rule->conditions[rule->condition_count - 1].globs;
    gbx_status status = check_value_glob(r, text, len, rule);

    return status == GBX_OK
               ? gbx_names_add(&globs->items, &globs->count, text, len, r->err)
               : status;
}

static gbx_status add_resource(gbx_json_reader *r, const char *text, size_t len,
                               void *target)
{
    gbx_status status = check_value_glob(r, text, len, target);

    return status == GBX_OK ? add_name(r, text, len, target) : status;
}

static gbx_status read_condition(gbx_json_reader *r, const char *name, gbx_view value,
                                 void *target)
{
    static const gbx_json_key globs = {.add = add_value_glob};
    gbx_gate_rule *rule = target;
    char kind = gbx_view_kind(value);
    gbx_gate_condition *c =
        gbx_need(gbx_list_room(&rule->conditions, rule->condition_count, sizeof *c));
    gbx_status status;

    rule->condition_count++;
    status = read_path(r, name, c);
    if (status != GBX_OK)
        return status;
    r->row = &globs;
    if (kind == '"' || kind == '[')
        return read_names(r, value, rule);
    if (kind != '0' && kind != 't' && kind != 'f')
        return gbx_json_refuse_type(r, value,
                                    "a pattern, an array of them, a number, or true or "
                                    "false");
    c->literal = kind;
    c->number = kind == '0' ? strtod(value.at, NULL) : 0;
    if (c->number >= WHOLE_MAX || c->number <= -WHOLE_MAX)
        return gbx_json_refuse(r, "programs do not agree on numbers as large as this");
    return GBX_OK;
}

static gbx_status read_args(gbx_json_reader *r, gbx_view value, void *target)
{
    if (gbx_view_kind(value) == '{' && gbx_view_count(value) == 0)
        return gbx_json_refuse(r, "no argument is listed here: leave the key out");
    return gbx_json_read_members(r, value, read_condition, target);
}

/* ---- rules ------------------------------------------------------------------ */

#define NAMES(key, list, by)                        \
    {                                               \
        .name = key, .read = read_names, .add = by, \
        .offset = offsetof(gbx_gate_rule, list)     \
    }

static gbx_status read_rule(gbx_json_reader *r, gbx_view value, void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "action",
         .read = read_action,
         .offset = offsetof(gbx_gate_rule, action)},
        NAMES("server", servers, add_server),
        NAMES("tool", tools, add_glob),
        NAMES("resource", resources, add_resource),
        NAMES("prompt", prompts, add_glob),
        NAMES("scope", scopes, add_scope),
        {.name = "args", .read = read_args},
        {.name = "readOnly", .read = read_hint},
        {.name = "reason", .read = read_reason},
    };
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = value.len};
    gbx_gate_rules *rules = target;
    gbx_gate_rule *rule;
    gbx_status status;

    if (rules->count == GBX_GATE_RULES_MAX)
        return gbx_json_refuse(r, "there are more than %d rules", GBX_GATE_RULES_MAX);
    rule = gbx_need(gbx_list_room(&rules->items, rules->count, sizeof *rule));
    rules->count++;
    (void)action_of(gbx_view_member(value, "action"), &rule->action);
    status = gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), rule);
    if (status == GBX_OK)
        status = gbx_json_require(r, value, "action", "\"allow\", \"ask\" or \"deny\"");
    if (status == GBX_OK && rule->condition_count > 0 &&
        rule->resources.count + rule->prompts.count > 0)
        return gbx_json_refuse(r,
                               "\"args\" are those of tools: write a rule of its own");
    if (status == GBX_OK)
        (void)gbx_json_append_compact(&text, value.at, value.len);
    if (status == GBX_OK)
        rule->text = gbx_need(gbx_buf_take_string(&text, NULL));
    return status;
}

static gbx_status add_secret_server(gbx_json_reader *r, const char *text, size_t len,
                                    void *target)
{
    gbx_secret *secret = target;
    gbx_status status = check_server(r, text);

    if (status == GBX_OK && strpbrk(text, "*?\\") != NULL)
        return gbx_refuse(r->err, text, 0,
                          "name each server: a secret is for no "
                          "pattern");
    return status == GBX_OK ? gbx_names_add(&secret->functions, &secret->function_count,
                                            text, len, r->err)
                            : status;
}

static gbx_status read_secret(gbx_json_reader *r, const char *name, gbx_view value,
                              void *target)
{
    static const gbx_json_key lists[] = {
        {.name = "servers", .read = gbx_json_read_list, .add = add_secret_server},
    };

    return gbx_policy_read_secret(r, name, value, lists, GBX_COUNTOF(lists),
                                  "list the servers that may get it");
}

gbx_status gbx_rules_read(gbx_json_reader *r, gbx_view value, void *target)
{
    return gbx_json_read_items(r, value, read_rule, whole(r)->rules);
}

gbx_status gbx_rules_read_defaults(gbx_json_reader *r, gbx_view value, void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "readOnly",
         .read = read_action,
         .offset = offsetof(gbx_gate_rules, reads)},
        {.name = "other",
         .read = read_action,
         .offset = offsetof(gbx_gate_rules, others)},
    };

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), whole(r)->rules);
}

gbx_status gbx_rules_read_secrets(gbx_json_reader *r, gbx_view value, void *target)
{
    return gbx_json_read_members(r, value, read_secret, NULL);
}
