/* SPDX-License-Identifier: MIT */
/*
 * mcp_import_rules - see mcp_import.h: what a host keeps from being called.
 *
 * A rule that is added must not take anything from those that are there: the first that
 * fits decides. One that denies goes before all; one that asks after what denies and
 * before what allows, or it is not added.
 */
#include "cli/mcp_import.h"

#include "base/cleanup.h"
#include "mcp/config/add_rule.h"
#include "policy/json_text.h"

#include <stdlib.h>
#include <string.h>

static bool has(const json_t *rule, const char *key, const char *value)
{
    const char *text = json_string_value(json_object_get(rule, key));

    return text != NULL && strcmp(text, value) == 0;
}

static bool is_there(const gbx_import *im, const json_t *rule)
{
    for (size_t i = 0; i < json_array_size(im->rules); i++)
        if (json_equal(json_array_get(im->rules, i), rule))
            return true;
    return false;
}

/* False: wherever it stood, it would overrule another, or another would overrule it. */
static bool find_index(const gbx_import *im, const json_t *rule, size_t *ret)
{
    size_t first_allow = json_array_size(im->rules);

    *ret = 0;
    if (has(rule, "action", "deny"))
        return true;
    for (size_t i = json_array_size(im->rules); i > 0; i--) {
        const json_t *other = json_array_get(im->rules, i - 1);

        if (has(other, "action", "allow"))
            first_allow = i - 1;
        if (*ret == 0 && has(other, "action", "deny"))
            *ret = i;
    }
    return *ret <= first_allow && !has(im->defaults, "other", "deny") &&
           !has(im->defaults, "readOnly", "deny");
}

static void note(gbx_buf *notes, const char *before, const json_t *rule,
                 const char *after)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_json_text(rule, JSON_COMPACT);

    (void)gbx_buf_printf(notes, "%s%s%s\n", before, text != NULL ? text : "", after);
}

/* Where it does not fit in, a note says so. */
static void add(gbx_import *im, json_t *rule, gbx_buf *notes)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_json_text(rule, JSON_COMPACT);
    size_t index;

    if (is_there(im, rule))
        return;
    if (text == NULL || !find_index(im, rule, &index) ||
        !gbx_config_add_rule(&im->own, index, text) ||
        json_array_insert(im->rules, index, rule) != 0) {
        note(notes, "the host asks about tools of it: write ", rule,
             " among the rules, where it fits in with the others");
        return;
    }
    im->own_changed = true;
    note(notes, "as the host has it for tools of it, there is the rule ", rule, "");
}

/* A list of the only tools is rules of which only a person can say where they stand. */
static void check_only(const gbx_import *im, const json_t *only, const char *ours,
                       gbx_buf *notes)
{
    json_t *rest = json_pack("{s:s,s:s}", "action", "deny", "server", ours);
    json_t *ask =
        json_pack("{s:s,s:s,s:O}", "action", "ask", "server", ours, "tool", only);
    bool done = is_there(im, rest);

    if (!done && json_array_size(only) > 0)
        note(notes,
             "the host has only some tools of it: write rules for these, such as ", ask,
             "");
    if (!done)
        note(notes, "the host has no other tools of it: write ", rest,
             " after the rules that speak of them");
    json_decref(ask);
    json_decref(rest);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_import_rules(gbx_import *im, const gbx_host_place *place,
                      const gbx_host_answers *answers, const char *name,
                      const json_t *entry, const char *ours, gbx_buf *notes)
{
    json_t *rules = gbx_host_rules(place, answers, name, entry, ours);
    const json_t *only = gbx_host_only(place, entry);

    for (size_t i = 0; i < json_array_size(rules); i++)
        add(im, json_array_get(rules, i), notes);
    json_decref(rules);
    if (only != NULL)
        check_only(im, only, ours, notes);
}
