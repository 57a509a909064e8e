/* SPDX-License-Identifier: MIT */
/*
 * cmd_replay - `glovebox replay`: runs a recorded call again, with nothing behind it.
 *
 * It succeeds if the call went as recorded, even if that was a failure: it tests
 * whether the recording is true, not how the code did.
 */
#include "base/cleanup.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <glovebox/record.h>
#include <string.h>
#include <unistd.h>

/* The library's limit is a little above. */
#define RECORDING_MAX GBX_MIB(264)

/* No input is larger than the memory that a call can have. */
#define MEMORY_MIB_MAX 4096

/* What must be undone, and what went wrong. */
typedef struct replay {
    const gbx_run_args *args;
    gbx_term out;
    gbx_term err;
    gbx_run_input input;
    gbx_file_text text;
    gbx_recording *recording;
    gbx_interrupt interrupt;
    gbx_engine *engine;
    gbx_result *result;
    gbx_trouble trouble;
} replay;

static const gbx_opt input_rows[] = {
    {"data", "FILE", "the input that the call had; '-' is standard input", GBX_OPT_TEXT,
     offsetof(gbx_run_args, data), 0, 0, NULL},
    {"dataset", "NAME=FILE", "a dataset that the call had; repeatable", GBX_OPT_LIST,
     offsetof(gbx_run_args, datasets), 0, 0, NULL},
    {"preload", "FILE",
     "a script that ran before the call; repeatable, by the same name", GBX_OPT_LIST,
     offsetof(gbx_run_args, preloads), 0, 0, NULL},
};

static const gbx_opt limit_rows[] = {
    {"timeout", "MS",
     "wall clock and processor time of the replay, in milliseconds, in place of the "
     "recorded limits",
     GBX_OPT_NUMBER, offsetof(gbx_run_args, limits.timeout_ms), 1, 600000, NULL},
};

static const gbx_opt engine_rows[] = {
    {"require", "LEVEL", "default or strict: which layers of the seal are required",
     GBX_OPT_CHOICE, offsetof(gbx_run_args, engine.require), GBX_REQUIRE_DEFAULT, 0,
     gbx_require_names},
    {"jit", "LEVEL", "full, baseline or off: how much of the compiler runs",
     GBX_OPT_CHOICE, offsetof(gbx_run_args, engine.jit), GBX_JIT_FULL, 0,
     gbx_jit_names},
};

static const gbx_opt output_rows[] = {
    {"json", NULL, "print the whole result as one JSON object, with the comparison",
     GBX_OPT_FLAG, offsetof(gbx_run_args, json), 0, 0, NULL},
    {"logs", NULL, "print console lines on standard error while the code runs",
     GBX_OPT_FLAG, offsetof(gbx_run_args, logs), 0, 0, NULL},
};

static const gbx_opt_table input_table = {"Input", input_rows, GBX_COUNTOF(input_rows)};
static const gbx_opt_table limit_table = {"Limits", limit_rows,
                                          GBX_COUNTOF(limit_rows)};
static const gbx_opt_table engine_table = {"Engine", engine_rows,
                                           GBX_COUNTOF(engine_rows)};
static const gbx_opt_table output_table = {"Output", output_rows,
                                           GBX_COUNTOF(output_rows)};
static const gbx_opt_table *const tables[] = {
    &input_table, &limit_table, &engine_table, &output_table, &gbx_common_table,
};

static bool fail_host(replay *r, gbx_status status)
{
    gbx_trouble_host(&r->trouble, status);
    return false;
}

static bool read_recording(replay *r, const char *path)
{
    gbx_error *err = &r->trouble.err;
    gbx_status status = gbx_file_text_read(path, RECORDING_MAX, &r->text, err);

    if (status != GBX_OK) {
        gbx_trouble_input(&r->trouble, status);
        return false;
    }
    status = gbx_recording_load(r->text.data, r->text.len, &r->recording, err);
    r->trouble.file = r->text.name;
    if (status != GBX_OK)
        return fail_host(r, status);
    r->trouble.file = NULL;
    return true;
}

static bool start_engine(replay *r)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_preload preloads[GBX_OPT_LIST_MAX];
    gbx_error *err = &r->trouble.err;
    gbx_status status;

    options.require = (gbx_require)r->args->engine.require;
    options.jit = (gbx_jit)r->args->engine.jit;
    options.pool_size = 1;
    options.max_workers = 1;
    options.preloads = preloads;
    options.preload_count =
        gbx_preloads_of(&r->args->preloads, r->input.preloads, preloads);
    options.limits.timeout_ms = (uint32_t)r->args->limits.timeout_ms;
    options.limits.cpu_ms = (uint32_t)r->args->limits.timeout_ms;
    status = gbx_interrupt_start(&r->interrupt, err);
    if (status == GBX_OK)
        status = gbx_recording_engine(r->recording, &options, &r->engine, err);
    if (status != GBX_OK)
        return fail_host(r, status);
    return gbx_run_input_load(r->args, &r->input, r->engine, &r->trouble);
}

static bool execute(replay *r)
{
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_call call = GBX_CALL_INIT;
    gbx_status status;

    limits.timeout_ms = (uint32_t)r->args->limits.timeout_ms;
    call.limits = &limits;
    call.replay = r->recording;
    call.input = r->input.data.data;
    call.input_len = r->input.data.len;
    call.signal = r->interrupt.abort;
    if (r->args->logs) {
        call.on_log = gbx_log_print;
        call.log_user = &r->err;
    }
    status = gbx_execute(r->engine, &call, &r->result, &r->trouble.err);
    if (status == GBX_E_DATA)
        r->trouble.hint =
            "give what the call had: --data FILE, --dataset NAME=FILE, --preload FILE";
    return status == GBX_OK || fail_host(r, status);
}

/* ---- output ------------------------------------------------------------------- */

/* Print untrusted texts, each on one line. */
static void print_side(const gbx_term *term, const char *label, const char *text)
{
    gbx_term_print(term, "  %-10s%s\n", label, text);
}

static void print_divergence(const gbx_term *term, const gbx_replay *found)
{
    (void)fprintf(term->stream, "  line %u of the recording\n", found->line);
    print_side(term, "recorded:", found->recorded);
    print_side(term, "came:", found->came);
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
    case GBX_REPLAYED_DIVERGED: print_divergence(term, found); break;
    case GBX_REPLAYED_NOT: break;
    }
    if (found->how != GBX_REPLAYED_SAME &&
        strcmp(found->recorded_engine, found->engine) != 0) {
        print_side(term, "then:", found->recorded_engine);
        print_side(term, "now:", found->engine);
    }
}

static int print(replay *r)
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

static void cleanup(replay *r)
{
    gbx_result_free(r->result);
    gbx_engine_free(r->engine);
    gbx_interrupt_stop(&r->interrupt);
    gbx_recording_free(r->recording);
    gbx_file_text_cleanup(&r->text);
    gbx_run_input_cleanup(&r->input);
}

/* An error in the combination of arguments, or NULL. */
static const char *misuse(const gbx_run_args *args, int count, char **argv)
{
    size_t from_stdin = args->data != NULL && strcmp(args->data, "-") == 0;

    if (count != 1)
        return "one recording is replayed: name its file";
    from_stdin += strcmp(argv[0], "-") == 0;
    return from_stdin > 1 ? "only one of the files can be standard input" : NULL;
}

static int replay_main(const gbx_command *self, int argc, char **argv)
{
    gbx_run_args args = {0};
    void *const into[] = {&args, &args, &args, &args, &args.common};
    GBX_CLEANUP(cleanup) replay r = {.args = &args};
    const char *wrong;
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    wrong = misuse(&args, count, argv);
    if (wrong != NULL)
        return gbx_command_misuse(self, args.json, wrong);
    args.limits.memory_mib = MEMORY_MIB_MAX;
    r.out = gbx_term_open(stdout, (gbx_color)args.common.color);
    r.err = gbx_term_open(stderr, (gbx_color)args.common.color);
    if (read_recording(&r, argv[0]) &&
        gbx_run_input_read_data(&args, &r.input, &r.trouble) && start_engine(&r))
        (void)execute(&r);
    return gbx_cli_finish(print(&r));
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
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = replay_main,
};

static gbx_status save(gbx_record_file *file, gbx_error *reterr)
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

gbx_status gbx_record_file_open(gbx_record_file *file, const char *path,
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

gbx_status gbx_record_file_close(gbx_record_file *file, gbx_error *reterr)
{
    gbx_status status = GBX_OK;

    if (file->recording == NULL)
        return GBX_OK;
    status = save(file, reterr);
    gbx_fd_close(&file->fd);
    gbx_recording_free(file->recording);
    *file = (gbx_record_file){.fd = -1};
    return status;
}
