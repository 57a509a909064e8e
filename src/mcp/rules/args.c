/* SPDX-License-Identifier: MIT */
/*
 * args - what a rule says of arguments.
 *
 * An allowing rule needs the very type that it names. For the others a value of another
 * type may be what was meant: a server may make "1" of 1, or read the first of an array.
 */
#include "mcp/rules/glob.h"
#include "mcp/rules/letters.h"
#include "mcp/rules/rules.h"

#include <stdint.h>
#include <string.h>

typedef struct looking {
    const gbx_gate_condition *condition;
    bool allows;
    const char *why;
} looking;

/* Some servers find "Path", or "paſs", for "path" and "pass": those in Go, say. */
static bool is_twin(const char *a, const char *b)
{
    return strcmp(a, b) != 0 && gbx_letters_same(a, b);
}

static const json_t *member(looking *l, const json_t *object, const char *name)
{
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at))
        if (is_twin(json_object_iter_key(at), name)) {
            l->why = "write its name in the case that the tool has it in";
            return NULL;
        }
    return json_object_get(object, name);
}

static bool literal_holds(const looking *l, const json_t *value)
{
    const json_t *want = l->condition->literal;

    if (json_is_number(want) && json_is_number(value))
        return json_number_value(want) == json_number_value(value);
    if (json_is_boolean(want) && json_is_boolean(value))
        return json_is_true(want) == json_is_true(value);
    return !l->allows;
}

static bool leaf_holds(looking *l, const json_t *value)
{
    bool holds = false;

    if (l->condition->literal != NULL)
        return literal_holds(l, value);
    if (!json_is_string(value))
        return !l->allows;
    for (size_t i = 0; i < l->condition->glob_count && l->why == NULL && !holds; i++)
        holds = gbx_glob_value(l->condition->globs[i], json_string_value(value),
                               json_string_length(value),
                               l->allows ? GBX_GLOB_EXACT : GBX_GLOB_WIDE, &l->why);
    return holds && l->why == NULL;
}

static bool holds_from(looking *l, const json_t *value, size_t step);

static bool elements_hold(looking *l, const json_t *array, size_t step)
{
    size_t count = json_array_size(array);
    size_t held = 0;

    for (size_t i = 0; i < count && l->why == NULL; i++)
        held += holds_from(l, json_array_get(array, i), step);
    if (l->why != NULL)
        return false;
    return l->allows ? count > 0 && held == count : held > 0;
}

/* As deep as the rule's own path. */
static bool holds_from(looking *l, const json_t *value, size_t step)
{
    const char *name;

    if (step == l->condition->step_count)
        return leaf_holds(l, value);
    name = l->condition->steps[step].name;
    if (name == NULL)
        return json_is_array(value) ? elements_hold(l, value, step + 1) : !l->allows;
    if (!json_is_object(value))
        return !l->allows;
    value = member(l, value, name);
    return value != NULL && holds_from(l, value, step + 1);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_gate_condition_holds(const gbx_gate_condition *condition, const json_t *args,
                              gbx_gate_action action, const char **ret_why)
{
    looking l = {.condition = condition, .allows = action == GBX_GATE_ALLOW};
    bool holds = holds_from(&l, args, 0);

    *ret_why = l.why;
    return holds;
}
