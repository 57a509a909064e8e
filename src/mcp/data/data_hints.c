/* SPDX-License-Identifier: MIT */
/*
 * data_hints - explain code that failed because the data or the input is not what it
 * expected. The form of the call shows the cause; the engine's message shows the name.
 */
#include "mcp/data/datasets.h"

#include "mcp/code/code.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct failed {
    const gbx_called *called;
    const char *code;
    size_t len;
    char root[GBX_SPEC_NAME_MAX +
              1]; /* of the expression that failed: d in d.orders.x */
    char member[GBX_SPEC_NAME_MAX + 1]; /* orders; "" if x is read directly from d */
    gbx_parameter_names naming;         /* for root */
} failed;

/* The length of the name at text; 0 if none. */
static size_t name_length(const char *text)
{
    size_t n = 0;

    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '$')
        n++;
    return n;
}

static const char *take_name(const char *text, char name[GBX_SPEC_NAME_MAX + 1])
{
    size_t len = name_length(text);

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
    return text[0] == '.' && (n = name_length(text + 1)) > 0 && text[1 + n] == '\'';
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
        if (f->called->input.at == NULL &&
            gbx_parameter_names_takes_apart(f->code, f->len, 1))
            say_no_input(to);
    } else if ((at = strstr(message, missing)) != NULL) {
        if (strstr(message, "undefined is not an object") == NULL ||
            !take_expression(at + sizeof missing - 1, f))
            return;
        f->naming = gbx_parameter_names_of(f->code, f->len, f->root);
        advise_missing(f, to);
    } else if ((at = strstr(message, method)) != NULL) {
        at = take_name(at + sizeof method - 1, f->root);
        if (at == NULL || at[0] != '.' || at[1 + name_length(at + 1)] != '(')
            return;
        f->naming = gbx_parameter_names_of(f->code, f->len, f->root);
        advise_method(f, to);
    }
}

/* (d) => d.length, called with all datasets: d has other members. */
static bool reads_no_dataset(const failed *f)
{
    const gbx_mcp_data *d = f->called->data;

    for (size_t i = 0; i < d->count; i++)
        if (gbx_parameter_names_reads(f->code, f->len, d->sets[i].spec.name))
            return false;
    return true;
}

/* ({ orders }) => orders, called with one dataset, which lacks that member. */
static void advise_nothing(failed *f, gbx_buf *to)
{
    const gbx_mcp_data *d = f->called->data;

    if (f->called->set == NULL || !gbx_parameter_names_takes_apart(f->code, f->len, 0))
        return;
    for (size_t i = 0; i < d->count; i++) {
        const char *name = d->sets[i].spec.name;
        gbx_parameter_names naming = gbx_parameter_names_of(f->code, f->len, name);

        if (!naming.in_pattern || naming.index != 0)
            continue;
        if (&d->sets[i] == f->called->set)
            say_itself(f, to);
        else
            say_dataset(f, name, to);
        return;
    }
}

void gbx_compute_advise(const gbx_called *called, const gbx_script *script,
                        const gbx_result *result, gbx_buf *to)
{
    failed f = {.called = called, .code = script->code, .len = script->code_len};
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
