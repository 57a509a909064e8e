/* SPDX-License-Identifier: MIT */
/*
 * explain_failure - parse the code to find what an error means. That may take as long
 * as the parse before the run, so the same rules decide which thread does it.
 */
#include "mcp/code/script_run.h"

#include <string.h>

/* The message after the name of an error that a promise used as a value can cause, or
 * NULL. */
static const char *doubtful(const char *error)
{
    static const char *const names[] = {"TypeError: ", "SyntaxError: "};

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (strncmp(error, names[i], strlen(names[i])) == 0)
            return error + strlen(names[i]);
    return NULL;
}

/* Other results explain themselves. */
static bool has_meaning(const gbx_code_run *run)
{
    return run->result != NULL && (gbx_result_code(run->result) == GBX_CODE_SYNTAX ||
                                   gbx_result_code(run->result) == GBX_CODE_RUNTIME);
}

/* May run twice. */
static void find_meaning(void *user)
{
    gbx_code_run *run = user;
    const gbx_script *script = &run->script;
    const char *error = gbx_result_error(run->result);
    const char *message = doubtful(error);
    gbx_location at = gbx_result_location(run->result);
    gbx_run_meaning *m = &run->meaning;

    *m = (gbx_run_meaning){.advice = {.line = at.line, .column = at.column}};
    gbx_guard_explain(script->code, script->code_len, GBX_FORM_SCRIPT,
                      gbx_result_code(run->result), error, &m->advice);
    at.line = m->advice.line;
    at.column = m->advice.column;
    gbx_script_map(script, &at.line, &at.column);
    m->is_unawaited =
        message != NULL && gbx_unawaited_find(script->code, script->code_len, message,
                                              at.line, &m->unawaited);
}

static void on_found(void *user)
{
    gbx_code_run_release(user);
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_code_run_explain(gbx_code_run *run)
{
    run->meaning.advice.hint = "";
    if (!has_meaning(run)) {
        gbx_code_run_release(run);
        return;
    }
    run->job =
        (gbx_parse_thread_job){find_meaning, on_found, run, .patience = &run->patience};
    if (gbx_parse_thread_read(run->code->aside, &run->job, run->text_len) !=
        GBX_ASIDE_LATER)
        gbx_code_run_release(run);
}
