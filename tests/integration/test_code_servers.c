/* SPDX-License-Identifier: MIT */
/* What code mode's script gives to code in the box, and what code can do to it: all that
 * arrives outside is looked at, and the script keeps its built-ins. */
#include "base/json_view.h"
#include "calls.h"
#include "mcp/code/code_mode.h"
#include "script_rows.h"
#include "test.h"

#include <glovebox/host.h>
#include <glovebox/preload.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gbx_engine *engine;

#define DOCS                                                                               \
    "{\"value\":[{\"server\":\"files\",\"mark\":\"\",\"tool\":{\"name\":\"read\"}},"       \
    "{\"server\":\"files\",\"mark\":\"asks\",\"tool\":{\"name\":\"list\",\"description\":" \
    "\"Lists letters.\"}}]}"

/* Answers with what it was asked, but for tools of some names. */
static void host(void *user, gbx_engine *from, const gbx_host_call *call)
{
    static const struct {
        const char *tool;
        const char *answer;
    } rows[] = {
        {"\"fail\"", "{\"error\":{\"code\":\"DENIED\",\"message\":\"a rule says no\","
                     "\"retryable\":true}}"},
        {"\"nothing\"", "{}"},
        {"\"junk\"", "5"},
        {"\"null\"", "null"},
        {"\"list letters\"", DOCS},
        {"\"listing\"", DOCS},
    };
    gbx_view args;
    gbx_view name = {NULL, 0};
    gbx_view tool = {NULL, 0};
    gbx_view first = {NULL, 0};
    bool is_list;
    size_t cursor = 0;
    char *answer = NULL;

    assert_true(gbx_view_open(call->args, call->args_len, &args));
    gbx_view_next(args, &cursor, &name, &first);
    is_list = gbx_view_is_text(first, "discover");
    for (int i = is_list ? 1 : 0; i < 2; i++)
        gbx_view_next(args, &cursor, &name, &tool);
    for (size_t i = 0; tool.at != NULL && i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(tool.at, rows[i].tool, strlen(rows[i].tool)) == 0)
            answer = strdup(rows[i].answer);
    if (tool.at != NULL && strncmp(tool.at, "\"boom\"", 6) == 0)
        assert_int_equal(gbx_answer_error(from, call->request, "RangeError", "too many",
                                          NULL, NULL),
                         GBX_OK);
    else if (tool.at == NULL || strncmp(tool.at, "\"never\"", 7) != 0) {
        if (answer == NULL)
            assert_true(
                asprintf(&answer,
                         is_list ? "{\"value\":{\"asked\":%s}}" : "{\"value\":%s}",
                         call->args) > 0);
        assert_int_equal(gbx_answer(from, call->request, answer, strlen(answer), NULL),
                         GBX_OK);
    }
    free(answer);
}

static int start(void **state)
{
    static const char *const names[] = {"files", "my-server", "a.b", "a-b", "tickets"};
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_preload preload = {.name = GBX_CODE_PRELOAD_NAME};
    gbx_buf source;

    gbx_buf_init(&source, 1 << 20);
    assert_true(gbx_code_preload(&source, names, sizeof names / sizeof names[0], 40));
    preload.source = (const char *)source.data;
    preload.source_len = source.len;
    options.preloads = &preload;
    options.preload_count = 1;
    options.limits.host_calls = 5000;
    engine = engine_start(&options);
    assert_int_equal(gbx_engine_expose(engine, GBX_CODE_HOST_NAME, host, NULL, NULL),
                     GBX_OK);
    gbx_buf_cleanup(&source);
    return 0;
}

static int finish(void **state)
{
    gbx_engine_free(engine);
    return 0;
}

static char *outcome(const char *code)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_result *result;
    char *text = NULL;

    call.form = GBX_FORM_SCRIPT;
    call.code = code;
    call.code_len = strlen(code);
    result = call_run(engine, &call);
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        assert_true(asprintf(&text, "%s @%u", gbx_result_error(result),
                             gbx_result_location(result).line) > 0);
    else if (gbx_result_value(result, NULL)[0] == 0)
        text = strdup("undefined");
    else
        text = strdup(gbx_result_value(result, NULL));
    gbx_result_free(result);
    return text;
}

TEST(servers__are_functions)
{
    assert_int_equal(script_rows_compare("servers", NULL, outcome), 0);
}

TEST(faults__are_tool_errors)
{
    assert_int_equal(script_rows_compare("faults", NULL, outcome), 0);
}

TEST(hostile_code__changes_nothing_outside_itself)
{
    assert_int_equal(script_rows_compare("hostile", NULL, outcome), 0);
}

TEST_MAIN(start, finish)
