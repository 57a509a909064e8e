/* SPDX-License-Identifier: MIT */
/* script_rows - see script_rows.h. */
#include "script_rows.h"

#include "calls.h"
#include "table.h"
#include "test.h"

static gbx_engine *engine;

/* The value; or what went wrong, with its place. The input is {"n": 5}. */
static char *outcome(const char *code)
{
    static const char input[] = "{\"n\":5}";
    gbx_call call = GBX_CALL_INIT;
    gbx_result *result;
    gbx_location at;
    const char *error;
    char *text = NULL;

    call.form = GBX_FORM_SCRIPT;
    call.code = code;
    call.code_len = strlen(code);
    call.input = input;
    call.input_len = sizeof input - 1;
    result = call_run(engine, &call);
    at = gbx_result_location(result);
    error = gbx_result_error(result);
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        assert_true(asprintf(&text, "%s @%u:%u", error, at.line, at.column) > 0);
    else
        text = strdup(gbx_result_value(result, NULL)[0] != 0
                          ? gbx_result_value(result, NULL)
                          : "undefined");
    gbx_result_free(result);
    return text;
}

/* ---- public to the tests ------------------------------------------------------ */

int script_rows_start(void **state)
{
    engine = engine_start(NULL);
    return 0;
}

int script_rows_finish(void **state)
{
    gbx_engine_free(engine);
    return 0;
}

gbx_engine *script_rows_engine(void)
{
    return engine;
}

size_t script_rows_compare(const char *table, const char *prefix,
                           char *(*outcome_of)(const char *code))
{
    const table_block *rows;
    char path[128];
    size_t wrong = 0;
    size_t count;

    (void)snprintf(path, sizeof path, "integration/scripts/%s.txt", table);
    count = table_blocks(path, &rows);
    for (size_t i = 0; i < count; i++) {
        const char *expected = rows[i].value;
        char *text = outcome_of(rows[i].text);
        char *at = prefix != NULL ? strrchr(text, '@') : NULL;
        const char *was = at != NULL ? at + 1 : text;
        bool same = expected[0] == '~'
                        ? strncmp(was, expected + 1, strlen(expected + 1)) == 0
                        : strcmp(was, expected) == 0;

        if (!same)
            print_message("%s: %s\n  expected %s\n  was      %s\n", table, rows[i].name,
                          expected, text);
        wrong += !same;
        free(text);
    }
    return wrong;
}

size_t script_rows_check(const char *table, const char *prefix)
{
    return script_rows_compare(table, prefix, outcome);
}
