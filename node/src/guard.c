/* SPDX-License-Identifier: MIT */
/*
 * guard - the guard without an engine, and the library's hints for code that another
 * parser rejects. It uses internal headers: an embedder has no use for parts of what a
 * call does with its code.
 */
#include "addon.h"

#include "analysis/analysis.h"
#include "base/utf8.h"
#include "guard/guard.h"

#include <stdlib.h>
#include <string.h>

static void append(napi_env env, napi_value list, uint32_t *at, napi_value value)
{
    (void)napi_set_element(env, list, (*at)++, value);
}

static void append_text(napi_env env, napi_value list, uint32_t *at, const char *text)
{
    append(env, list, at, gbx_node_utf8(env, text, strlen(text)));
}

static napi_value describe(napi_env env, const gbx_report *report)
{
    napi_value list = NULL;
    uint32_t at = 0;

    if (napi_create_array(env, &list) != napi_ok)
        return NULL;
    for (size_t i = 0; i < gbx_report_count(report); i++) {
        gbx_violation v = gbx_report_get(report, i);

        append_text(env, list, &at, gbx_code_name(v.code));
        append_text(env, list, &at, v.message);
        append(env, list, &at, gbx_node_number(env, v.line));
        append(env, list, &at, gbx_node_number(env, v.column));
        append_text(env, list, &at, v.rule);
        append_text(env, list, &at, v.hint);
        append_text(env, list, &at, v.frame);
    }
    return list;
}

/* (form, code, policy as JSON or undefined, code bytes at most, base directory, trust)
 *   -> [code, message, line, column, rule, hint, frame, code, ...] */
napi_value gbx_node_check(napi_env env, napi_callback_info info)
{
    static const gbx_limits none = GBX_LIMITS_INIT;
    napi_value argv[6];
    gbx_limits limits = none;
    gbx_node_text code;
    gbx_policy *policy = NULL;
    gbx_report *report = NULL;
    gbx_error error = {0};
    uint32_t form = 0;
    napi_value list = NULL;

    if (!gbx_node_args(env, info, sizeof argv / sizeof *argv, argv) ||
        napi_get_value_uint32(env, argv[0], &form) != napi_ok ||
        !gbx_node_policy_take(env, argv[2], argv[4], argv[5], &policy))
        return NULL;
    (void)napi_get_value_uint32(env, argv[3], &limits.code_bytes);
    if (gbx_node_text_take(env, argv[1], &code)) {
        if (gbx_policy_check(policy, code.data, code.len, (gbx_form)form, &limits,
                             &report, &error) == GBX_OK)
            list = describe(env, report);
        else
            gbx_node_throw(env, &error);
        gbx_report_free(report);
        gbx_node_text_cleanup(&code);
    }
    gbx_policy_free(policy);
    return list;
}

/* ---- advice ---------------------------------------------------------------- */

/* The form and the code: the first arguments of the functions here. */
static bool take(napi_env env, const napi_value *argv, gbx_form *ret_form,
                 gbx_node_text *ret_code)
{
    uint32_t form = 0;

    if (napi_get_value_uint32(env, argv[0], &form) != napi_ok ||
        form > GBX_FORM_SCRIPT || !gbx_node_text_take(env, argv[1], ret_code))
        return false;
    *ret_form = (gbx_form)form;
    return true;
}

static napi_value list_of(napi_env env, const napi_value *values, uint32_t count)
{
    napi_value list = NULL;

    if (napi_create_array_with_length(env, count, &list) != napi_ok)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        (void)napi_set_element(env, list, i, values[i]);
    return list;
}

/* (form, code) -> [text, line, column, mayBeTypeScript]: the part of the code that the
 * engine gets, and the position where it begins. */
napi_value gbx_node_proper(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    gbx_node_text code;
    gbx_guard_span span = {.line = 1, .column = 1};
    gbx_report *report = NULL;
    gbx_error error = {0};
    gbx_form form;
    napi_value list = NULL;

    if (!gbx_node_args(env, info, sizeof argv / sizeof *argv, argv) ||
        !take(env, argv, &form, &code))
        return NULL;
    if (gbx_guard_check(code.data, code.len, form, code.len, NULL, &span, &report,
                        &error) == GBX_OK) {
        napi_value values[] = {gbx_node_utf8(env, code.data + span.start, span.len),
                               gbx_node_number(env, span.line),
                               gbx_node_number(env, span.column), NULL};

        (void)napi_get_boolean(env, gbx_guard_may_be_typescript(code.data, code.len),
                               &values[3]);
        list = list_of(env, values, sizeof values / sizeof values[0]);
    } else {
        gbx_node_throw(env, &error);
    }
    gbx_report_free(report);
    gbx_node_text_cleanup(&code);
    return list;
}

/* (form, code, message in the engine's words, line, column)
 *   -> [line, column, hint, frame] */
napi_value gbx_node_explain(napi_env env, napi_callback_info info)
{
    napi_value argv[5];
    gbx_node_text code;
    gbx_node_text message;
    gbx_explanation advice = {.line = 0};
    gbx_form form;
    const char *hint;
    char *frame;
    napi_value list = NULL;

    if (!gbx_node_args(env, info, sizeof argv / sizeof *argv, argv) ||
        napi_get_value_uint32(env, argv[3], &advice.line) != napi_ok ||
        napi_get_value_uint32(env, argv[4], &advice.column) != napi_ok ||
        !take(env, argv, &form, &code))
        return NULL;
    if (gbx_node_text_take(env, argv[2], &message)) {
        gbx_explain(code.data, code.len, form, GBX_ENDING_SYNTAX, message.data,
                    &(gbx_given){.dataset = ""}, &advice);
        advice.column =
            gbx_lines_column(code.data, code.len, advice.line, advice.column);
        hint = gbx_hint_row_of(advice.hint)->hint;
        frame = gbx_guard_frame(code.data, code.len, advice.line, advice.column);
        napi_value values[] = {gbx_node_number(env, advice.line),
                               gbx_node_number(env, advice.column),
                               gbx_node_utf8(env, hint, strlen(hint)),
                               gbx_node_utf8(env, frame != NULL ? frame : "",
                                             frame != NULL ? strlen(frame) : 0)};

        list = list_of(env, values, sizeof values / sizeof values[0]);
        free(frame);
        gbx_node_text_cleanup(&message);
    }
    gbx_node_text_cleanup(&code);
    return list;
}

/* (hint) -> the hint for the author of code, who cannot change settings */
napi_value gbx_node_advise(napi_env env, napi_callback_info info)
{
    napi_value argv[1];
    gbx_node_text hint;
    const char *advice;
    napi_value text = NULL;

    if (!gbx_node_args(env, info, 1, argv) || !gbx_node_text_take(env, argv[0], &hint))
        return NULL;
    advice = gbx_hint_for_code(hint.data, false);
    text = gbx_node_utf8(env, advice, strlen(advice));
    gbx_node_text_cleanup(&hint);
    return text;
}
