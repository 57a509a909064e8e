/* SPDX-License-Identifier: MIT */
/* check - see check.h. */
#include "check.h"

#include "options.h"
#include "text.h"

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

/* ---- public to other modules -------------------------------------------- */

napi_value gbx_node_check(napi_env env, napi_callback_info info)
{
    static const gbx_limits none = GBX_LIMITS_INIT;
    size_t argc = 6;
    napi_value argv[6];
    gbx_limits limits = none;
    gbx_node_text code;
    gbx_policy *policy = NULL;
    gbx_report *report = NULL;
    gbx_error error = {0};
    uint32_t form = 0;
    napi_value list = NULL;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
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
