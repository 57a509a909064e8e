/* SPDX-License-Identifier: MIT */
/*
 * cmd_run - `glovebox run`: runs one piece of code once over the user's data.
 *
 * Starting fast is a feature: one worker, and nothing computed that a success does not
 * need. The input is examined only when the worker reports that it is not JSON.
 */
#include "base/cleanup.h"
#include "cli/cli.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glovebox/preload.h>

/* What must be undone, and what went wrong. */
typedef struct run {
    gbx_run_args *args;
    gbx_term out;
    gbx_term err;
    gbx_run_input input;
    gbx_interrupt interrupt;
    gbx_security_log security_log;
    gbx_record_file record;
    gbx_policy *policy;
    gbx_engine *engine;
    gbx_result *result;
    gbx_trouble trouble;
} run;

static const gbx_opt input_rows[] = {
    {"file", "FILE", "read the code from FILE instead; '-' is standard input",
     GBX_OPT_TEXT, offsetof(gbx_run_args, file), 0, 0, NULL},
    {"data", "FILE",
     "the input as JSON; one value a line if FILE ends in .ndjson or .jsonl; a table if "
     "it ends in .csv or .tsv; '-' is standard input",
     GBX_OPT_TEXT, offsetof(gbx_run_args, data), 0, 0, NULL},
    {"dataset", "NAME=FILE",
     "load FILE as datasets.NAME; repeatable. Without --data, a single "
     "dataset is also the input",
     GBX_OPT_LIST, offsetof(gbx_run_args, datasets), 0, 0, NULL},
    {"preload", "FILE",
     "run FILE, a script of yours such as a library, before the call; the code finds "
     "what it declares. Repeatable",
     GBX_OPT_LIST, offsetof(gbx_run_args, preloads), 0, 0, NULL},
    {"form", "FORM",
     "how the code is written: function (default): one function "
     "expression; execute: defines execute(input); body: the body of an "
     "async function; script: statements, whose last value counts",
     GBX_OPT_CHOICE, offsetof(gbx_run_args, form), GBX_FORM_FUNCTION, 0,
     gbx_form_names},
    {"params", "JSON", "form body: what the code sees as params", GBX_OPT_TEXT,
     offsetof(gbx_run_args, params), 0, 0, NULL},
    {"seed", "N", "Math.random gives the same numbers for the same N", GBX_OPT_TEXT,
     offsetof(gbx_run_args, seed), 0, 0, NULL},
    {"now", "TIME", "the clock stands at TIME: milliseconds since 1970, or ISO 8601",
     GBX_OPT_TEXT, offsetof(gbx_run_args, now), 0, 0, NULL},
};

static const gbx_opt output_rows[] = {
    {"json", NULL, "print the whole result as one JSON object, failure or not",
     GBX_OPT_FLAG, offsetof(gbx_run_args, json), 0, 0, NULL},
    {"logs", NULL, "print console lines on standard error while the code runs",
     GBX_OPT_FLAG, offsetof(gbx_run_args, logs), 0, 0, NULL},
    {"security-log", "FILE",
     "append to FILE what the code did and which requests were refused, one JSON object a line; "
     "'-' is standard error",
     GBX_OPT_TEXT, offsetof(gbx_run_args, security_log), 0, 0, NULL},
    {"record", "FILE",
     "record the call's input and every answer in FILE, for 'glovebox replay'; an "
     "existing file is not overwritten",
     GBX_OPT_TEXT, offsetof(gbx_run_args, record), 0, 0, NULL},
    {"record-input", NULL, "keep the input in the recording, not only its digest",
     GBX_OPT_FLAG, offsetof(gbx_run_args, record_input), 0, 0, NULL},
};

static const gbx_opt_table input_table = {"Input", input_rows, GBX_COUNTOF(input_rows)};
static const gbx_opt_table output_table = {"Output", output_rows,
                                           GBX_COUNTOF(output_rows)};
static const gbx_opt_table *const tables[] = {
    &input_table,      &gbx_policy_table, &gbx_limit_table,
    &gbx_engine_table, &output_table,     &gbx_common_table,
};

/* ---- arguments ------------------------------------------------------------ */

static size_t uses_of_stdin(const gbx_run_args *args)
{
    size_t count = 0;

    count += args->file != NULL && strcmp(args->file, "-") == 0;
    count += args->data != NULL && strcmp(args->data, "-") == 0;
    for (size_t i = 0; i < args->datasets.count; i++) {
        const char *equals = strchr(args->datasets.item[i], '=');

        count += equals != NULL && strcmp(equals, "=-") == 0;
    }
    for (size_t i = 0; i < args->preloads.count; i++)
        count += strcmp(args->preloads.item[i], "-") == 0;
    return count;
}

/* An error in the combination of arguments, or NULL. */
static const char *misuse(const gbx_run_args *args, int count)
{
    if (count == 0 && args->file == NULL)
        return "no code: give it as an argument, or with --file";
    if (count > 0 && args->file != NULL)
        return "there is code in an argument and in --file: give one of them";
    if (count > 1)
        return "there is more than one argument: put the code in quotes";
    if (args->params != NULL && args->form != GBX_FORM_BODY)
        return "'--params' is for --form body";
    if (args->record_input && args->record == NULL)
        return "'--record-input' is for --record";
    if (uses_of_stdin(args) > 1)
        return "only one of the files can be standard input";
    return NULL;
}

static bool parse_seed(const char *text, uint64_t *ret)
{
    uint64_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *ret = value;
    return true;
}

/* Set seed and clock of the call. Returns NULL, or what is wrong. */
static const char *fix_chance(const gbx_run_args *args, gbx_call *call)
{
    if (args->seed != NULL) {
        if (!parse_seed(args->seed, &call->seed))
            return "'--seed' is a whole number from 0 to 18446744073709551615";
        call->flags |= GBX_CALL_SEEDED;
    }
    if (args->now != NULL) {
        if (!gbx_moment_parse(args->now, &call->now_ms))
            return "'--now' is milliseconds since 1970, or like 2026-01-31T12:00:00Z";
        call->flags |= GBX_CALL_FIXED_NOW;
    }
    return NULL;
}

/* ---- engine ----------------------------------------------------------------- */

static bool fail_host(run *r, gbx_status status)
{
    gbx_trouble_host(&r->trouble, status);
    return false;
}

static bool start_engine(run *r)
{
    gbx_options options = gbx_engine_args_options(&r->args->engine, &r->args->limits);
    gbx_preload preloads[GBX_OPT_LIST_MAX];
    gbx_error *err = &r->trouble.err;
    gbx_status status;

    /* One call: a second worker would only cost time. */
    options.pool_size = 1;
    options.max_workers = 1;
    gbx_security_log_use(&r->security_log, &options);
    options.policy = r->policy;
    options.preloads = preloads;
    options.preload_count =
        gbx_preloads_of(&r->args->preloads, r->input.preloads, preloads);
    status = gbx_interrupt_start(&r->interrupt, err);
    if (status == GBX_OK)
        status = gbx_engine_new(&options, &r->engine, err);
    if (status != GBX_OK) {
        (void)fail_host(r, status);
        if (status == GBX_E_DATA && !r->args->json)
            r->trouble.err.line = 0; /* the preload's line is in the message */
        if (options.runner_name != NULL)
            r->trouble.hint =
                NULL; /* the hint is about layers, which a runner may not have */
        return false;
    }
    return gbx_run_input_load(r->args, &r->input, r->engine, &r->trouble);
}

/* The recording and the log are opened before anything runs, so that what cannot be kept
 * is found early. */
static bool open_outputs(run *r)
{
    const gbx_run_args *args = r->args;
    gbx_error *err = &r->trouble.err;
    gbx_status status = GBX_OK;

    if (args->security_log != NULL)
        status = gbx_security_log_open(&r->security_log, args->security_log,
                                       GBX_LOG_WAITS, err);
    if (status == GBX_OK && args->record != NULL)
        status =
            gbx_record_file_open(&r->record, args->record, args->record_input, err);
    if (status != GBX_OK)
        gbx_trouble_output(&r->trouble);
    return status == GBX_OK;
}

static bool execute(run *r, gbx_call *call)
{
    gbx_status status;

    call->form = (gbx_form)r->args->form;
    call->code = r->input.code.data;
    call->code_len = r->input.code.len;
    call->input = r->input.data.data;
    call->input_len = r->input.data.len;
    call->dataset = r->input.dataset;
    call->bindings = (const char *)r->input.bindings.data;
    call->bindings_len = r->input.bindings.len;
    call->signal = r->interrupt.abort;
    call->record = r->record.recording;
    if (r->args->logs) {
        call->on_log = gbx_log_print;
        call->log_user = &r->err;
    }
    status = gbx_execute(r->engine, call, &r->result, &r->trouble.err);
    if (status == GBX_OK)
        return true;
    (void)fail_host(r, status);
    if (status == GBX_E_UNSUPPORTED)
        r->trouble.hint = NULL; /* the hint is about layers; here the runner lacks
                                   something */
    return false;
}

/* ---- output ------------------------------------------------------------------- */

/* A path that ends like a script's, and without anything that code would contain. */
static bool is_file_name(const char *text)
{
    static const char *const endings[] = {".js", ".mjs", ".cjs", ".ts"};
    const char *dot = strrchr(text, '.');

    if (dot == NULL || dot == text ||
        strcspn(text, " \t\n()[]{}<>;=`'\"") < strlen(text))
        return false;
    for (size_t i = 0; i < GBX_COUNTOF(endings); i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* `glovebox run report.js`, as with other commands: the name was refused as code, or is
 * not defined in it. (It is an argument, so it ends in NUL.) */
static void see_file(run *r)
{
    const gbx_file_text *code = &r->input.code;
    struct stat st;
    bool is_there, is_name;
    gbx_code why;

    if (r->result == NULL || r->args->file != NULL || code->len >= PATH_MAX)
        return;
    why = gbx_result_code(r->result);
    is_there = stat(code->data, &st) == 0 && S_ISREG(st.st_mode);
    is_name = is_file_name(code->data);
    if (why != GBX_CODE_INVALID_CODE && why != GBX_CODE_SYNTAX &&
        (why != GBX_CODE_RUNTIME || !is_name))
        return;
    if (!is_there && !is_name)
        return;
    gbx_trouble_code(&r->trouble, why, NULL);
    (void)gbx_fail(&r->trouble.err, GBX_E_DATA, "%s'%s'%s", is_there ? "" : "no file ",
                   code->data,
                   is_there
                       ? " is a file: put --file before it, and what is in it is run"
                       : "; one that is there is run with --file before its name");
}

/* `echo '{"a":1}' | glovebox run '(d) => d.a'`: standard input is read only if
 * requested, and the code got no input. */
static void see_pipe(const run *r)
{
    const gbx_run_args *args = r->args;
    struct stat st;

    if (r->result == NULL || gbx_result_code(r->result) != GBX_CODE_RUNTIME ||
        strcmp(gbx_result_thrown_name(r->result), "TypeError") != 0 ||
        args->data != NULL || args->params != NULL || args->datasets.count > 0 ||
        uses_of_stdin(args) > 0 || fstat(STDIN_FILENO, &st) != 0 ||
        (!S_ISFIFO(st.st_mode) && !(S_ISREG(st.st_mode) && st.st_size > 0)))
        return;
    (void)fputs(
        "  note: nothing has read what is piped in: --data - makes it the input\n",
        r->err.stream);
}

static int print(run *r)
{
    see_file(r);
    /* The worker reports that the input is not JSON; find the place and the file. */
    if (r->result != NULL && gbx_result_code(r->result) == GBX_CODE_INVALID_DATA &&
        r->input.data.data != NULL && !r->args->json &&
        gbx_file_text_check_json(&r->input.data, &r->trouble.err) != GBX_OK)
        gbx_trouble_code(&r->trouble, GBX_CODE_INVALID_DATA, r->input.data.name);
    if (r->trouble.exit == 0) {
        int status =
            gbx_result_print(&r->out, &r->err, r->result, r->args->json, r->args->logs);

        see_pipe(r);
        return status;
    }
    return gbx_trouble_report(&r->trouble, r->args->json, r->args->common.color);
}

static int lose(const run *r, gbx_trouble *trouble)
{
    gbx_trouble_output(trouble);
    gbx_trouble_print(&r->err, trouble);
    return trouble->exit;
}

static int close_outputs(run *r, int status)
{
    gbx_trouble trouble = {0};

    if (gbx_record_file_close(&r->record, &trouble.err) != GBX_OK)
        status = lose(r, &trouble);
    gbx_engine_free(r->engine); /* writes the log's last line */
    r->engine = NULL;
    trouble = (gbx_trouble){0};
    if (gbx_security_log_close(&r->security_log, &trouble.err) != GBX_OK)
        status = lose(r, &trouble);
    return status;
}

static void cleanup(run *r)
{
    gbx_result_free(r->result);
    gbx_engine_free(r->engine);
    gbx_policy_free(r->policy);
    gbx_interrupt_stop(&r->interrupt);
    gbx_run_input_cleanup(&r->input);
}

static int run_main(const gbx_command *self, int argc, char **argv)
{
    gbx_run_args args = {0};
    void *const into[] = {&args,        &args.policy, &args.limits,
                          &args.engine, &args,        &args.common};
    GBX_CLEANUP(cleanup) run r = {.args = &args};
    gbx_call call = GBX_CALL_INIT;
    const char *wrong;
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    wrong = misuse(&args, count);
    if (wrong == NULL)
        wrong = fix_chance(&args, &call);
    if (wrong != NULL)
        return gbx_command_misuse(self, args.json, wrong);
    r.out = gbx_term_open(stdout, (gbx_color)args.common.color);
    r.err = gbx_term_open(stderr, (gbx_color)args.common.color);
    if (gbx_policy_args_make(&args.policy, &r.policy, &r.trouble) &&
        gbx_run_input_read(&args, count == 1 ? argv[0] : NULL, &r.input, &r.trouble) &&
        open_outputs(&r) && start_engine(&r))
        (void)execute(&r, &call);
    return gbx_cli_finish(close_outputs(&r, print(&r)));
}

const gbx_command gbx_command_run = {
    .name = "run",
    .summary = "run code once, sealed, and print its value as JSON",
    .usage = "run 'CODE' [options]\n"
             "run --file FILE [options]",
    .description =
        "Runs CODE in its own process, which the kernel has sealed: no files, no network,\n"
        "no other process. Prints the value as JSON on standard output, or nothing and a\n"
        "note if it is undefined. A failure goes to standard error with its position, and\n"
        "each kind has its own exit status: see 'glovebox help exit-status'. Console lines\n"
        "are shown with --logs, and are in the result with --json.\n\n"
        "The code can reach only what --policy and --allow list.",
    .examples = "glovebox run '(data) => data.length' --data orders.json\n"
                "glovebox run --file report.js --dataset orders=orders.ndjson --logs\n"
                "glovebox run 'return params.a + params.b' --form body --params "
                "'{\"a\":1,\"b\":2}'\n"
                "glovebox run --file sync.js --allow fetch=api.example.com --secret "
                "KEY=API_KEY@api.example.com",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = run_main,
};
