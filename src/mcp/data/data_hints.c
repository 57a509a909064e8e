/* SPDX-License-Identifier: MIT */
/*
 * data_hints - what code does with its datasets: which it may read, and why it failed if
 * the data or the input is not what it expected. The form of the call shows the cause; the
 * engine's message shows the name.
 */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/code/code.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <stdio.h>
#include <string.h>

/* ---- names in the code ----------------------------------------------------------- */

/* Reading a member that was wrongly left out would silently give undefined, so whatever may
 * be the object of all datasets counts as it. */

#define ARENA_BASE     GBX_MIB(16)
#define ARENA_PER_BYTE 160

/* A name as a parameter of the code's function. */
typedef struct parameter_names {
    bool is_parameter;
    unsigned index;  /* 0: the data; 1: the input */
    bool in_pattern; /* ({ name }) */
} parameter_names;

/* A search for one name. */
typedef struct search {
    const char *code;
    size_t len;
    const char *name;
    unsigned index;
    parameter_names found;
    bool takes_apart;
    bool is_parsed;
    bool reads;
} search;

/* ---- functions and their parameters ---------------------------------------------- */

static bool is_callback(const gbx_tree *t, uint32_t function)
{
    uint32_t up = t->nodes[function].parent;

    while (up != GBX_NO_NODE && t->nodes[up].kind == GBX_NODE_PARENTHESIZED)
        up = t->nodes[up].parent;
    return up != GBX_NO_NODE && t->nodes[up].kind == GBX_NODE_ARGUMENTS;
}

/* The parameter of that index, or GBX_NO_NODE. */
static uint32_t parameter(const gbx_tree *t, uint32_t function, unsigned index)
{
    uint32_t all = gbx_tree_child(t, function, GBX_FIELD_PARAMETERS);
    uint32_t i;

    if (all == GBX_NO_NODE) /* d => ... */
        return index == 0 ? gbx_tree_child(t, function, GBX_FIELD_PARAMETER)
                          : GBX_NO_NODE;
    for (i = all + 1; i < t->nodes[all].next; i = t->nodes[i].next)
        if (t->nodes[i].kind != GBX_NODE_TOKEN &&
            t->nodes[i].kind != GBX_NODE_COMMENT && index-- == 0)
            return i;
    return GBX_NO_NODE;
}

static bool has_name(const gbx_tree *t, uint32_t i, const char *name, size_t len)
{
    if (i == GBX_NO_NODE)
        return false;
    for (uint32_t j = i; j < t->nodes[i].next; j++)
        if ((t->nodes[j].kind == GBX_NODE_IDENTIFIER ||
             t->nodes[j].kind == GBX_NODE_SHORTHAND_PATTERN) &&
            gbx_tree_is_text(t, j, name, len))
            return true;
    return false;
}

/* False: it has no parameter of that name. */
static bool find_parameter(const gbx_tree *t, uint32_t function, const char *name,
                           size_t len, parameter_names *ret)
{
    uint32_t i;

    for (unsigned index = 0; (i = parameter(t, function, index)) != GBX_NO_NODE;
         index++) {
        uint32_t bare = t->nodes[i].kind == GBX_NODE_ASSIGNMENT_PATTERN
                            ? gbx_tree_child(t, i, GBX_FIELD_LEFT)
                            : i; /* without its default */

        if (gbx_time_budget_is_over()) /* scanned for each use of a name */
            return false;
        if (!has_name(t, bare, name, len))
            continue;
        *ret =
            (parameter_names){.is_parameter = true,
                              .index = index,
                              .in_pattern = t->nodes[bare].kind != GBX_NODE_IDENTIFIER};
        return true;
    }
    return false;
}

static void look_at_parameters(search *s, const gbx_tree *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t p;

        if (!gbx_tree_is_function(t, i) || is_callback(t, i))
            continue;
        if (!s->found.is_parameter)
            (void)find_parameter(t, i, s->name, strlen(s->name), &s->found);
        p = parameter(t, i, s->index);
        s->takes_apart |=
            p != GBX_NO_NODE && (t->nodes[p].kind == GBX_NODE_OBJECT_PATTERN ||
                                 t->nodes[p].kind == GBX_NODE_ARRAY_PATTERN);
    }
}

/* ---- members --------------------------------------------------------------------- */

/* Is identifier i a parameter of a function passed to a call? */
static bool is_given_by_call(const gbx_tree *t, uint32_t i)
{
    const char *name = t->text + t->nodes[i].start;
    size_t len = t->nodes[i].end - t->nodes[i].start;
    parameter_names naming;

    for (uint32_t up = t->nodes[i].parent; up != GBX_NO_NODE; up = t->nodes[up].parent)
        if (gbx_tree_is_function(t, up) && find_parameter(t, up, name, len, &naming))
            return is_callback(t, up);
    return false;
}

/* True for d, but not for d.orders, d.orders[0] or d.orders.find(...). */
static bool may_be_all(const gbx_tree *t, uint32_t i)
{
    uint32_t callee;

    if (i == GBX_NO_NODE)
        return true;
    switch (t->nodes[i].kind) {
    case GBX_NODE_IDENTIFIER: return !is_given_by_call(t, i);
    case GBX_NODE_MEMBER: /* globalThis.datasets */
        return gbx_tree_is(t, gbx_tree_child(t, i, GBX_FIELD_PROPERTY), "datasets");
    case GBX_NODE_SUBSCRIPT: return false;
    case GBX_NODE_CALL:
        callee = gbx_tree_child(t, i, GBX_FIELD_FUNCTION);
        return callee == GBX_NO_NODE || t->nodes[callee].kind != GBX_NODE_MEMBER ||
               gbx_tree_is(t, gbx_tree_child(t, callee, GBX_FIELD_OBJECT), "Object");
    default: return true;
    }
}

/* Is pattern i that of a parameter of a function passed to a call? */
static bool is_in_callback(const gbx_tree *t, uint32_t i)
{
    for (uint32_t up = t->nodes[i].parent; up != GBX_NO_NODE; up = t->nodes[up].parent)
        if (t->nodes[up].kind == GBX_NODE_PARAMETERS)
            return is_callback(t, t->nodes[up].parent);
    return false;
}

/* ["good", "bad"] may be a list of names to iterate over. */
static bool is_string_read(const gbx_tree *t, uint32_t string)
{
    uint32_t up = t->nodes[string].parent;

    if (up == GBX_NO_NODE)
        return false;
    return t->nodes[up].kind == GBX_NODE_ARRAY ||
           (t->nodes[up].kind == GBX_NODE_SUBSCRIPT &&
            may_be_all(t, gbx_tree_child(t, up, GBX_FIELD_OBJECT)));
}

static bool is_property_read(const gbx_tree *t, uint32_t i)
{
    uint32_t up = t->nodes[i].parent;

    switch (t->nodes[up].kind) {
    case GBX_NODE_MEMBER: return may_be_all(t, gbx_tree_child(t, up, GBX_FIELD_OBJECT));
    case GBX_NODE_OTHER: return !is_in_callback(t, i); /* ({ name: other }) */
    default: return false; /* in an object or class that the code creates */
    }
}

static bool is_read(const gbx_tree *t, uint32_t i)
{
    switch (t->nodes[i].kind) {
    case GBX_NODE_PROPERTY_NAME: return is_property_read(t, i);
    case GBX_NODE_SHORTHAND_PATTERN: return !is_in_callback(t, i);
    case GBX_NODE_STRING_FRAGMENT:
        return t->nodes[t->nodes[i].parent].kind == GBX_NODE_STRING
                   ? is_string_read(t, t->nodes[i].parent)
                   : true; /* in a template */
    default: return false;
    }
}

static void look(void *user)
{
    search *s = user;
    gbx_tree t;

    if (!gbx_tree_parse(&t, s->code, s->len) || t.has_error)
        return;
    gbx_tree_flatten(&t);
    look_at_parameters(s, &t);
    for (uint32_t i = 1; i < t.count && !s->reads; i++)
        s->reads = gbx_tree_is_text(&t, i, s->name, strlen(s->name)) && is_read(&t, i);
    s->is_parsed = !gbx_time_budget_is_over();
}

static void run_search(search *s)
{
    if (!gbx_utf8_valid((const uint8_t *)s->code, s->len, NULL) ||
        gbx_arena_run(ARENA_BASE + ARENA_PER_BYTE * s->len, look, s) != GBX_ARENA_DONE)
        s->is_parsed = false;
}

static parameter_names names_of(const char *code, size_t len, const char *name)
{
    search s = {.code = code, .len = len, .name = name};

    run_search(&s);
    return s.is_parsed ? s.found : (parameter_names){.is_parameter = false};
}

/* Is the parameter of that index destructured without a default? */
static bool takes_apart(const char *code, size_t len, unsigned index)
{
    search s = {.code = code, .len = len, .name = "", .index = index};

    run_search(&s);
    return s.is_parsed && s.takes_apart;
}

bool gbx_code_reads(const char *code, size_t len, const char *name)
{
    search s = {.code = code, .len = len, .name = name};

    run_search(&s);
    return !s.is_parsed || s.reads;
}

/* ---- a failure ----------------------------------------------------------------- */

typedef struct failed {
    const gbx_called *called;
    const char *code;
    size_t len;
    char root[GBX_SPEC_NAME_MAX +
              1]; /* of the expression that failed: d in d.orders.x */
    char member[GBX_SPEC_NAME_MAX + 1]; /* orders; "" if x is read directly from d */
    parameter_names naming;             /* for root */
} failed;

static const char *take_name(const char *text, char name[GBX_SPEC_NAME_MAX + 1])
{
    size_t len = gbx_text_name_length(text);

    if (len == 0 || len > GBX_SPEC_NAME_MAX)
        return NULL;
    memcpy(name, text, len);
    name[len] = 0;
    return text + len;
}

/* .x or [0], and the quote after it. */
static bool is_last_access(const char *text)
{
    size_t n;

    if (text[0] == '[')
        return (n = strcspn(text, "]")) > 1 && text[n] == ']' && text[n + 1] == '\'';
    return text[0] == '.' && (n = gbx_text_name_length(text + 1)) > 0 &&
           text[1 + n] == '\'';
}

/* Accepts d.x and d.orders.x; in deeper expressions something else is missing. */
static bool take_expression(const char *text, failed *f)
{
    text = take_name(text, f->root);
    if (text == NULL || is_last_access(text))
        return text != NULL;
    return text[0] == '.' && (text = take_name(text + 1, f->member)) != NULL &&
           is_last_access(text);
}

/* ---- what is said ---------------------------------------------------------------- */

static void say_dataset(const failed *f, const char *name, gbx_buf *to)
{
    if (f->called->set == NULL)
        (void)gbx_buf_printf(
            to, "write datasets.%s: data is an object of all datasets, ({ %s }) => ...",
            name, name);
    else
        (void)gbx_buf_printf(
            to, "write datasets.%s: data is the dataset '%s' itself, (data) => ...",
            name, f->called->set->spec.name);
}

static void say_no_input(gbx_buf *to)
{
    (void)gbx_buf_puts(to, "no input was given: send it in the argument 'input'");
}

static void say_text(gbx_buf *to)
{
    (void)gbx_buf_puts(to, "input is a text: give the value itself in the argument "
                           "'input', or use JSON.parse(input)");
}

static void say_itself(const failed *f, gbx_buf *to)
{
    (void)gbx_buf_printf(
        to, "data is the dataset '%s' itself: write (data) => ..., without braces",
        f->called->set->spec.name);
}

static void say_object(const failed *f, gbx_buf *to)
{
    (void)
        gbx_buf_printf(to,
                       "data is an object of all datasets: write data.%s, or name one "
                       "in the argument 'dataset'",
                       f->called->data->sets[0].spec.name);
}

static void say_none(const failed *f, const char *name, gbx_buf *to)
{
    (void)gbx_buf_printf(to, "unknown dataset '%s': ", name);
    gbx_data_say_names(f->called->data, to);
}

/* ---- what failed ----------------------------------------------------------------- */

static bool is_data(const failed *f)
{
    return f->naming.is_parameter ? f->naming.index == 0 && !f->naming.in_pattern
                                  : strcmp(f->root, "data") == 0;
}

static bool is_input(const failed *f)
{
    return f->naming.is_parameter ? f->naming.index == 1 && !f->naming.in_pattern
                                  : strcmp(f->root, "input") == 0;
}

/* Is it the object of all datasets? */
static bool is_all(const failed *f)
{
    return (f->called->set == NULL && is_data(f)) ||
           (!f->naming.is_parameter && strcmp(f->root, "datasets") == 0);
}

/* undefined is not an object (evaluating 'd.orders.length') */
static void advise_missing(failed *f, gbx_buf *to)
{
    const gbx_called *c = f->called;

    if (gbx_view_kind(c->input) == '"' && is_input(f)) {
        say_text(to);
    } else if (f->member[0] != 0) {
        if (is_all(f) && gbx_data_find(f->called->data, f->member) == NULL)
            say_none(f, f->member, to);
        else if (c->set != NULL && is_data(f) &&
                 gbx_data_find(f->called->data, f->member) != NULL)
            say_dataset(f, f->member, to);
    } else if (f->naming.is_parameter &&
               gbx_data_find(f->called->data, f->root) != NULL) {
        say_dataset(f, f->root, to);
    } else if (c->set == NULL && f->naming.in_pattern && f->naming.index == 0) {
        say_none(f, f->root, to);
    } else if (c->set != NULL && f->naming.in_pattern && f->naming.index == 0 &&
               strcmp(f->root, "data") == 0) {
        say_itself(f, to);
    } else if (c->input.at == NULL && is_input(f)) {
        say_no_input(to);
    }
}

/* d.filter is not a function. (In 'd.filter(...)', 'd.filter' is undefined) */
static void advise_method(const failed *f, gbx_buf *to)
{
    const gbx_called *c = f->called;

    if (gbx_view_kind(c->input) == '"' && is_input(f))
        say_text(to);
    else if (c->set == NULL && is_data(f) &&
             gbx_data_find(f->called->data, f->root) != NULL)
        say_dataset(f, f->root, to);
    else if (c->set == NULL && is_data(f))
        say_object(f, to);
}

static void advise(failed *f, const char *message, gbx_buf *to)
{
    static const char unknown[] = "Can't find variable: ", missing[] = "(evaluating '",
                      method[] = "is not a function. (In '";
    const char *at;

    if ((at = strstr(message, unknown)) != NULL) {
        if (take_name(at + sizeof unknown - 1, f->root) != NULL &&
            gbx_data_find(f->called->data, f->root) != NULL)
            say_dataset(f, f->root, to);
    } else if (strstr(message, "cannot be destructured") != NULL) {
        if (f->called->input.at == NULL && takes_apart(f->code, f->len, 1))
            say_no_input(to);
    } else if ((at = strstr(message, missing)) != NULL) {
        if (strstr(message, "undefined is not an object") == NULL ||
            !take_expression(at + sizeof missing - 1, f))
            return;
        f->naming = names_of(f->code, f->len, f->root);
        advise_missing(f, to);
    } else if ((at = strstr(message, method)) != NULL) {
        at = take_name(at + sizeof method - 1, f->root);
        if (at == NULL || at[0] != '.' || at[1 + gbx_text_name_length(at + 1)] != '(')
            return;
        f->naming = names_of(f->code, f->len, f->root);
        advise_method(f, to);
    }
}

/* (d) => d.length, called with all datasets: d has other members. */
static bool reads_no_dataset(const failed *f)
{
    const gbx_mcp_data *d = f->called->data;

    for (size_t i = 0; i < d->count; i++)
        if (gbx_code_reads(f->code, f->len, d->sets[i].spec.name))
            return false;
    return true;
}

/* ({ orders }) => orders, called with one dataset, which lacks that member. */
static void advise_nothing(failed *f, gbx_buf *to)
{
    const gbx_mcp_data *d = f->called->data;

    if (f->called->set == NULL || !takes_apart(f->code, f->len, 0))
        return;
    for (size_t i = 0; i < d->count; i++) {
        const char *name = d->sets[i].spec.name;
        parameter_names naming = names_of(f->code, f->len, name);

        if (!naming.in_pattern || naming.index != 0)
            continue;
        if (&d->sets[i] == f->called->set)
            say_itself(f, to);
        else
            say_dataset(f, name, to);
        return;
    }
}

void gbx_compute_advise(const gbx_called *called, const char *code, size_t code_len,
                        const gbx_result *result, gbx_buf *to)
{
    failed f = {.called = called, .code = code, .len = code_len};
    size_t value_len = 0;

    if (gbx_result_code(result) == GBX_CODE_RUNTIME)
        advise(&f, gbx_result_error(result), to);
    if (gbx_result_code(result) != GBX_CODE_VALUE ||
        (gbx_result_value(result, &value_len) != NULL && value_len > 0))
        return;
    advise_nothing(&f, to);
    if (called->set == NULL && gbx_result_log_count(result) == 0 &&
        reads_no_dataset(&f))
        say_object(&f, to);
}
