/* SPDX-License-Identifier: MIT */
/*
 * cmd_run - `glovebox run`: runs one piece of code once over the user's data; and
 * `glovebox replay`: runs a recorded call again, with nothing behind it.
 *
 * Starting fast is a feature: one worker, and nothing computed that a success does not
 * need. The input is examined only when the worker reports that it is not JSON.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <glovebox/preload.h>
#include <glovebox/record.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file of --record. Zeroed: no file. */
typedef struct record_file {
    gbx_recording *recording;
    const char *path; /* borrowed */
    int fd;
} record_file;

/* A command's state: its resources, and its failure. */
typedef struct run {
    gbx_run_args *args;
    gbx_term out;
    gbx_term err;
    gbx_run_input input;
    gbx_interrupt interrupt;
    gbx_security_log security_log;
    record_file record;
    gbx_file_text replayed_text;
    gbx_recording *replayed; /* of a replay; or NULL */
    gbx_policy *policy;
    gbx_engine *engine;
    gbx_result *result;
    gbx_trouble trouble;
} run;

static const gbx_opt input_rows[] = {
    GBX_ROW_TEXT(gbx_run_args, file, "file", "FILE",
                 "read the code from FILE instead; '-' is standard input"),
    GBX_ROW_TEXT(
        gbx_run_args, data, "data", "FILE",
        "the input as JSON; one value a line if FILE ends in .ndjson or .jsonl; a table if "
        "it ends in .csv or .tsv; '-' is standard input"),
    GBX_ROW_LIST(gbx_run_args, datasets, "dataset", "NAME=FILE",
                 "load FILE as datasets.NAME; repeatable. Without --data, a single "
                 "dataset is also the input"),
    GBX_ROW_LIST(
        gbx_run_args, preloads, "preload", "FILE",
        "run FILE, a script of yours such as a library, before the call; the code finds "
        "what it declares. Repeatable"),
    GBX_ROW_CHOICE(gbx_run_args, form, "form", "FORM", GBX_FORM_FUNCTION,
                   gbx_form_names,
                   "how the code is written: function (default): one function "
                   "expression; execute: defines execute(input); body: the body of an "
                   "async function; script: statements, whose last value counts"),
    GBX_ROW_TEXT(gbx_run_args, params, "params", "JSON",
                 "form body: what the code sees as params"),
    GBX_ROW_TEXT(gbx_run_args, seed, "seed", "N",
                 "Math.random gives the same numbers for the same N"),
    GBX_ROW_TEXT(gbx_run_args, now, "now", "TIME",
                 "the clock stands at TIME: milliseconds since 1970, or ISO 8601"),
    {0},
};

static const gbx_opt output_rows[] = {
    GBX_ROW_FLAG(gbx_run_args, json, "json",
                 "print the whole result as one JSON object, failure or not"),
    GBX_ROW_FLAG(gbx_run_args, logs, "logs",
                 "print console lines on standard error while the code runs"),
    GBX_ROW_TEXT(
        gbx_run_args, security_log, "security-log", "FILE",
        "append to FILE what the code did and which requests were refused, one JSON object a line; "
        "'-' is standard error"),
    GBX_ROW_TEXT(
        gbx_run_args, record, "record", "FILE",
        "record the call's input and every answer in FILE, for 'glovebox replay'; an "
        "existing file is not overwritten"),
    GBX_ROW_FLAG(gbx_run_args, record_input, "record-input",
                 "keep the input in the recording, not only its digest"),
    {0},
};

static const gbx_opt_group groups[] = {
    {"Input", input_rows, 0},
    {"Policy", gbx_policy_rows, offsetof(gbx_run_args, policy)},
    {"Limits", gbx_limit_rows, offsetof(gbx_common_args, options)},
    {"Engine", gbx_engine_rows, offsetof(gbx_common_args, options)},
    {"Output", output_rows, 0},
    GBX_COMMON_GROUP,
    {0},
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
static const char *misuse(const gbx_run_args *args)
{
    int count = args->common.word_count;

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

/* Set seed and clock of the call. Returns NULL, or what is wrong. */
static const char *fix_chance(const gbx_run_args *args, gbx_call *call)
{
    if (args->seed != NULL) {
        const char *seed = args->seed;

        while (seed[0] == '0' && seed[1] != '\0')
            seed++;
        if (!gbx_decimal_read(seed, strlen(seed), UINT64_MAX, &call->seed))
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

static bool start_engine(run *r)
{
    gbx_options options = r->args->common.options;
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
        status = r->replayed != NULL
                     ? gbx_recording_engine(r->replayed, &options, &r->engine, err)
                     : gbx_engine_new(&options, &r->engine, err);
    if (!gbx_trouble_host(&r->trouble, status)) {
        if (status == GBX_E_DATA && r->replayed == NULL && !r->args->json)
            r->trouble.err.line = 0; /* the preload's line is in the message */
        if (options.runner_name != NULL)
            r->trouble.hint =
                NULL; /* the hint is about layers, which a runner may not have */
        return false;
    }
    return gbx_run_input_load(r->args, &r->input, r->engine, &r->trouble);
}

/* ---- the recording ---------------------------------------------------------- */

static gbx_status save(record_file *file, gbx_error *reterr)
{
    size_t len;
    const char *text = gbx_recording_text(file->recording, &len);
    bool is_written;

    if (len == 0) {
        (void)unlink(file->path);
        return GBX_OK;
    }
    is_written = gbx_fd_write(file->fd, text, len);
    if (close(gbx_fd_take(&file->fd)) != 0 || !is_written)
        return gbx_fail(reterr, GBX_E_OS, "cannot write '%.200s'", file->path);
    if (!gbx_recording_is_whole(file->recording)) {
        errno = 0;
        return gbx_fail(reterr, GBX_E_OS,
                        "'%.200s' is not whole: the recording grew too large",
                        file->path);
    }
    return GBX_OK;
}

/* Create a new file that only the owner may read; links are not followed. */
static gbx_status record_file_open(record_file *file, const char *path,
                                   bool keeps_input, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close)
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot make '%.200s'", path);
    file->recording = gbx_need(gbx_recording_new(keeps_input ? GBX_RECORD_INPUT : 0));
    file->path = path;
    file->fd = gbx_fd_take(&fd);
    return GBX_OK;
}

/* The recording and the log are opened before anything runs, so that a file that cannot
 * be written is found early. */
static bool open_outputs(run *r)
{
    const gbx_run_args *args = r->args;
    gbx_error *err = &r->trouble.err;
    gbx_status status = GBX_OK;

    if (args->security_log != NULL)
        status = gbx_security_log_open(&r->security_log, args->security_log,
                                       GBX_LOG_WAITS, err);
    if (status == GBX_OK && args->record != NULL)
        status = record_file_open(&r->record, args->record, args->record_input, err);
    return gbx_trouble_output(&r->trouble, status);
}

static gbx_status execute(run *r, gbx_call *call)
{
    call->input = r->input.data.data;
    call->input_len = r->input.data.len;
    call->signal = r->interrupt.abort;
    if (r->args->logs) {
        call->on_log = gbx_log_print;
        call->log_user = &r->err;
    }
    return gbx_execute(r->engine, call, &r->result, &r->trouble.err);
}

static void execute_code(run *r, gbx_call *call)
{
    gbx_status status;

    call->form = (gbx_form)r->args->form;
    call->code = r->input.code.data;
    call->code_len = r->input.code.len;
    call->dataset = r->input.dataset;
    call->bindings = (const char *)r->input.bindings.data;
    call->bindings_len = r->input.bindings.len;
    call->record = r->record.recording;
    status = execute(r, call);
    (void)gbx_trouble_host(&r->trouble, status);
    if (status == GBX_E_UNSUPPORTED)
        r->trouble.hint = NULL; /* the hint is about layers; here the runner lacks
                                   something */
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

/* For `glovebox run report.js`, as other commands are used: report that a file's name
 * was run as code. (It is an argument, so it ends in NUL.) */
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
    (void)gbx_trouble_code(&r->trouble, why, NULL);
    (void)gbx_fail(&r->trouble.err, GBX_E_DATA, "%s'%s'%s", is_there ? "" : "no file ",
                   code->data,
                   is_there
                       ? " is a file: put --file before it, and what is in it is run"
                       : "; one that is there is run with --file before its name");
}

/* For `echo '{"a":1}' | glovebox run '(d) => d.a'`: note that standard input was not
 * read, since no option asks for it. */
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
        (void)gbx_trouble_code(&r->trouble, GBX_CODE_INVALID_DATA, r->input.data.name);
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
    (void)gbx_trouble_output(trouble, GBX_E_OS);
    gbx_trouble_print(&r->err, trouble);
    return trouble->exit;
}

static int close_outputs(run *r, int status)
{
    gbx_trouble trouble = {0};

    /* If the call of the recording never ran, delete the file. */
    if (r->record.recording != NULL) {
        bool is_saved = save(&r->record, &trouble.err) == GBX_OK;

        gbx_fd_close(&r->record.fd);
        gbx_recording_free(r->record.recording);
        r->record = (record_file){.fd = -1};
        if (!is_saved)
            status = lose(r, &trouble);
    }
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
    gbx_recording_free(r->replayed);
    gbx_file_text_cleanup(&r->replayed_text);
    gbx_run_input_cleanup(&r->input);
}

static int run_main(void *parsed)
{
    gbx_run_args *args = parsed;
    GBX_CLEANUP(cleanup) run r = {.args = args};
    gbx_call call = GBX_CALL_INIT;
    const char *wrong = misuse(args);

    if (wrong == NULL)
        wrong = fix_chance(args, &call);
    if (wrong != NULL)
        return gbx_command_misuse(&gbx_command_run, args->json, wrong);
    r.out = gbx_term_open(stdout, (gbx_color)args->common.color);
    r.err = gbx_term_open(stderr, (gbx_color)args->common.color);
    if (gbx_policy_args_make(&args->policy, &r.policy, &r.trouble) &&
        gbx_run_input_read(args, &r.input, &r.trouble) && open_outputs(&r) &&
        start_engine(&r))
        execute_code(&r, &call);
    return close_outputs(&r, print(&r));
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
    .groups = groups,
    .args_size = sizeof(gbx_run_args),
    .words_max = INT_MAX,
    .run = run_main,
};

/* ---- glovebox replay ----------------------------------------------------------- */

/*
 * It succeeds if the call does what was recorded, even if that was a failure: it tests
 * the recording, not the code.
 */

/* The library's limit is a little above. */
#define RECORDING_MAX GBX_MIB(264)

/* No input is larger than the memory that a call can have. */
#define MEMORY_MAX GBX_MIB(4096)

static const gbx_opt replay_input_rows[] = {
    GBX_ROW_TEXT(gbx_run_args, data, "data", "FILE",
                 "the input that the call had; '-' is standard input"),
    GBX_ROW_LIST(gbx_run_args, datasets, "dataset", "NAME=FILE",
                 "a dataset that the call had; repeatable"),
    GBX_ROW_LIST(gbx_run_args, preloads, "preload", "FILE",
                 "a script that ran before the call; repeatable, by the same name"),
    {0},
};

static const gbx_opt replay_limit_rows[] = {
    GBX_ROW_NUMBER(
        gbx_run_args, common.options.limits.timeout_ms, "timeout", "MS", 1, 600000,
        "wall clock and processor time of the replay, in milliseconds, in place of the "
        "recorded limits"),
    {0},
};

static const gbx_opt replay_engine_rows[] = {
    GBX_ROW_CHOICE(gbx_run_args, common.options.require, "require", "LEVEL",
                   GBX_REQUIRE_DEFAULT, gbx_require_names,
                   "default or strict: which layers of the seal are required"),
    GBX_ROW_CHOICE(gbx_run_args, common.options.jit, "jit", "LEVEL", GBX_JIT_FULL,
                   gbx_jit_names,
                   "full, baseline, off or long: how much of the compiler runs"),
    {0},
};

static const gbx_opt replay_output_rows[] = {
    GBX_ROW_FLAG(gbx_run_args, json, "json",
                 "print the whole result as one JSON object, with the comparison"),
    GBX_ROW_FLAG(gbx_run_args, logs, "logs",
                 "print console lines on standard error while the code runs"),
    {0},
};

static const gbx_opt_group replay_groups[] = {
    {"Input", replay_input_rows, 0},
    {"Limits", replay_limit_rows, 0},
    {"Engine", replay_engine_rows, 0},
    {"Output", replay_output_rows, 0},
    GBX_COMMON_GROUP,
    {0},
};

static bool read_recording(run *r, const char *path)
{
    gbx_error *err = &r->trouble.err;
    gbx_status status = gbx_file_text_read(path, RECORDING_MAX, &r->replayed_text, err);

    if (!gbx_trouble_input(&r->trouble, status))
        return false;
    status = gbx_recording_load(r->replayed_text.data, r->replayed_text.len,
                                &r->replayed, err);
    r->trouble.file = r->replayed_text.name;
    if (!gbx_trouble_host(&r->trouble, status))
        return false;
    r->trouble.file = NULL;
    return true;
}

static void execute_replay(run *r)
{
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_call call = GBX_CALL_INIT;
    gbx_status status;

    limits.timeout_ms = r->args->common.options.limits.timeout_ms;
    call.limits = &limits;
    call.replay = r->replayed;
    status = execute(r, &call);
    (void)gbx_trouble_host(&r->trouble, status);
    if (status == GBX_E_DATA)
        r->trouble.hint =
            "give what the call had: --data FILE, --dataset NAME=FILE, --preload FILE";
}

/* Print untrusted text on one line. */
static void print_side(const gbx_term *term, const char *label, const char *text)
{
    gbx_term_print(term, "  %-10s%s\n", label, text);
}

static void print_outcome(const gbx_term *term, const gbx_replay *found)
{
    const char *s = found->host_calls == 1 ? "" : "s";

    switch (found->how) {
    case GBX_REPLAYED_SAME:
        (void)fprintf(term->stream, "replay: the same, with %u host call%s\n",
                      found->host_calls, s);
        break;
    case GBX_REPLAYED_UP_TO:
        (void)fprintf(term->stream,
                      "replay: the same, with %u host call%s, up to where the recorded "
                      "call was stopped\n",
                      found->host_calls, s);
        break;
    case GBX_REPLAYED_UNFINISHED:
        (void)fprintf(term->stream,
                      "replay: stopped itself, after %u host call%s that were the "
                      "same\n",
                      found->host_calls, s);
        break;
    case GBX_REPLAYED_DIVERGED:
        (void)fprintf(term->stream, "  line %u of the recording\n", found->line);
        print_side(term, "recorded:", found->recorded);
        print_side(term, "came:", found->came);
        break;
    case GBX_REPLAYED_NOT: break;
    }
    if (found->how != GBX_REPLAYED_SAME &&
        strcmp(found->recorded_engine, found->engine) != 0) {
        print_side(term, "then:", found->recorded_engine);
        print_side(term, "now:", found->engine);
    }
}

static int print_replay(run *r)
{
    gbx_replay found;
    int status;

    if (r->trouble.exit != 0)
        return gbx_trouble_report(&r->trouble, r->args->json, r->args->common.color);
    found = gbx_result_replay(r->result);
    status = gbx_result_print(&r->out, &r->err, r->result, r->args->json, true);
    if (!r->args->json)
        print_outcome(&r->err, &found);
    return found.how == GBX_REPLAYED_SAME || found.how == GBX_REPLAYED_UP_TO ? 0
                                                                             : status;
}

static int replay_main(void *parsed)
{
    gbx_run_args *args = parsed;
    const char *path = args->common.words[0];
    GBX_CLEANUP(cleanup) run r = {.args = args};

    if (uses_of_stdin(args) + (strcmp(path, "-") == 0) > 1)
        return gbx_command_misuse(&gbx_command_replay, args->json,
                                  "only one of the files can be standard input");
    args->common.options.limits.cpu_ms = args->common.options.limits.timeout_ms;
    r.out = gbx_term_open(stdout, (gbx_color)args->common.color);
    r.err = gbx_term_open(stderr, (gbx_color)args->common.color);
    if (read_recording(&r, path)) {
        uint64_t *memory = &args->common.options.limits.memory_bytes;
        bool is_read;

        *memory = MEMORY_MAX; /* the data of the recorded call may be of any size */
        is_read = gbx_run_input_read_data(args, &r.input, &r.trouble);
        *memory = 0;
        if (is_read && start_engine(&r))
            execute_replay(&r);
    }
    return print_replay(&r);
}

const gbx_command gbx_command_replay = {
    .name = "replay",
    .summary = "run a recorded call again, with nothing behind it",
    .usage = "replay FILE [--data FILE] [--dataset NAME=FILE] [options]",
    .description =
        "Runs the call that 'glovebox run --record FILE' recorded, in a sealed process\n"
        "without any capability: every answer of the host comes from the recording. Prints\n"
        "the value on standard output. The exit status is 0 if the call did the same to the\n"
        "byte, whether it ended well or badly, or up to the point where the recorded call\n"
        "was stopped, for example by a time limit. It is 21 if it did something else: the\n"
        "first difference is named, with both sides.",
    .examples = "glovebox run --file sync.js --data orders.json --record sync.jsonl\n"
                "glovebox replay sync.jsonl --data orders.json\n"
                "glovebox replay sync.jsonl --data orders.json --json",
    .groups = replay_groups,
    .args_size = sizeof(gbx_run_args),
    .words_min = 1,
    .words_max = 1,
    .words_wrong = "one recording is replayed: name its file",
    .run = replay_main,
};
