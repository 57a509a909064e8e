/* SPDX-License-Identifier: MIT */
/*
 * args - a rule's conditions on arguments.
 *
 * An allowing rule needs exactly the type that it names. For other rules, a value of
 * another type may still match: a server may turn 1 into "1", or use the first element
 * of an array.
 */
#include "base/cleanup.h"
#include "mcp/rules/rules.h"

#include <stdlib.h>
#include <string.h>

/* A letter of a name takes at most two escapes. */
#define LETTER_MAX 12

/* Limit of the text that a condition examines, for each pattern, since the loop
 * waits meanwhile. */
#define TEXTS_MAX GBX_MIB(4)

typedef struct looking {
    const gbx_gate_condition *condition;
    bool allows;
    size_t len; /* of the text examined so far */
    const char *why;
} looking;

/* Some servers, such as those in Go, accept "Path", or "paſs", for "path" and
 * "pass". */
static bool is_twin(gbx_view name, const char *wanted)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, name.len);
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
    const json_t *want = l->condition->literal;
    char kind = gbx_view_kind(value);

    if (json_is_number(want) && kind == '0')
        return json_number_value(want) == strtod(value.at, NULL);
    if (json_is_boolean(want) && (kind == 't' || kind == 'f'))
        return json_is_true(want) == gbx_view_is_true(value);
    return !l->allows;
}

static bool leaf_holds(looking *l, gbx_view value)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    bool holds = false;

    gbx_buf_init(&text, value.len);
    if (l->condition->literal != NULL)
        return literal_holds(l, value);
    if (gbx_view_kind(value) != '"')
        return !l->allows;
    if (!gbx_view_take_text(value, &text) || !gbx_buf_append(&text, "", 1))
        l->why = "it does not fit in memory";
    for (size_t i = 0; i < l->condition->glob_count && l->why == NULL && !holds; i++) {
        const char *glob = l->condition->globs[i];

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
    name = l->condition->steps[step].name;
    if (name == NULL)
        return gbx_view_kind(value) == '[' ? elements_hold(l, value, step + 1)
                                           : !l->allows;
    if (gbx_view_kind(value) != '{')
        return !l->allows;
    value = member(l, value, name);
    return value.at != NULL && holds_from(l, value, step + 1);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_gate_condition_holds(const gbx_gate_condition *condition, gbx_view args,
                              gbx_gate_action action, const char **ret_why)
{
    looking l = {.condition = condition, .allows = action == GBX_GATE_ALLOW};
    bool holds = holds_from(&l, args, 0);

    *ret_why = l.why;
    return holds;
}
