/* SPDX-License-Identifier: MIT */
/* execute_tool - read the arguments of `execute` and start a run, which ends the
 * request. */
#include "base/cleanup.h"
#include "mcp/code/script_run.h"

#include <stdio.h>

static void wrong(gbx_mcp_code *code, gbx_mcp_request *request, const char *error_code,
                  const char *message, const char *hint)
{
    gbx_script_reply_error error = {
        .code = error_code, .name = "", .message = message, .frame = "", .hint = hint};

    gbx_code_run_refuse(code, request, &error);
}

/* The code as text. False: the request has ended. */
static bool take_code(gbx_mcp_code *code, gbx_mcp_request *request, gbx_view given,
                      gbx_buf *ret)
{
    size_t max = (size_t)code->settings->code_bytes;
    char message[120];

    if (gbx_view_kind(given) == '"' && given.len == 2) {
        wrong(code, request, "INVALID_CODE", "the code is empty",
              "write at least one statement");
        return false;
    }
    if (gbx_view_kind(given) != '"') {
        wrong(code, request, "INVALID_ARGS", "'code' is a string of JavaScript",
              "give {\"code\": \"return 1 + 1\"}");
        return false;
    }
    /* JSON needs at most six bytes per character: longer input exceeds the limit. */
    if (given.len / 6 <= max && gbx_view_append_text(given, ret) && ret->len <= max)
        return true;
    (void)snprintf(message, sizeof message, "the code is longer than %zu bytes", max);
    wrong(code, request, "INVALID_CODE", message,
          "shorten it; data goes into 'input', not into the code");
    return false;
}

/* True: unknown arguments were found, and the request has ended. */
static bool refuse_others(gbx_mcp_code *code, gbx_mcp_request *request,
                          gbx_view arguments)
{
    static const char *const names[] = {"code", "input", "timeout_ms", NULL};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message;

    gbx_buf_init(&message, GBX_KIB(8));
    if (gbx_code_check_names(arguments, names, &message))
        return false;
    wrong(code, request, "INVALID_ARGS",
          gbx_buf_append(&message, "", 1) ? (char *)message.data : "memory is out",
          "values for the code go into 'input'");
    return true;
}

/* Some models write the number as "5000": use the digits of the string. */
static gbx_view unquoted(gbx_view view)
{
    if (gbx_view_kind(view) == '"' && view.len > 2)
        view = (gbx_view){view.at + 1, view.len - 2};
    return view;
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_code_execute(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_code *code = user;
    gbx_view timeout = unquoted(gbx_view_member(arguments, "timeout_ms"));
    uint32_t timeout_ms = code->settings->timeout_ms;
    bool has_timeout = timeout.at != NULL && gbx_view_kind(timeout) != 'n';
    gbx_buf text;

    gbx_code_look_at_file(code);
    if (refuse_others(code, request, arguments))
        return;
    gbx_buf_init(&text, (size_t)code->settings->code_bytes * 6 + 6);
    if (has_timeout &&
        (!gbx_code_take_count(timeout, code->settings->timeout_ms, &timeout_ms) ||
         timeout_ms == 0))
        wrong(code, request, "INVALID_ARGS", "'timeout_ms' is a number of milliseconds",
              "leave it out for the longest that there is");
    else if (take_code(code, request, gbx_view_member(arguments, "code"), &text))
        gbx_code_run_start(code, request, &text, gbx_view_member(arguments, "input"),
                           timeout_ms);
    gbx_buf_cleanup(&text);
}
