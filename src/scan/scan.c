/* SPDX-License-Identifier: MIT */
/* scan - calls scan.js: parallel calls make the graphs of a batch of files each, then
 * one call makes the report on all graphs. */
#include "scan/scan.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <glovebox/preload.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL_MS       120000 /* wall clock, for all graphs */
#define FILE_CPU_MS  8000   /* for a single file, after its batch has failed */
#define MIB_CPU_MS   6000   /* added per MiB of a batch: four times the usual */
#define JUDGE_MS     120000
#define MEMORY       GBX_MIB(2048)
#define QUESTION_MAX GBX_MIB(512)
#define ARCHIVE_MAX  GBX_MIB(32)
#define BATCH_MIN    GBX_KIB(256)
#define BATCH_MAX    GBX_KIB(6144)
#define BATCH_FILES  2000
#define THREADS_MAX  8

extern const char gbx_script_scan[];

typedef struct work {
    gbx_scan *scan;
    gbx_engine *engine;
    int64_t end_ns;
    pthread_mutex_t lock; /* of all below */
    gbx_scan_files files;
    size_t next;   /* the first file that no batch has */
    gbx_buf parts; /* [first file, the script's result] of each batch, with commas */
    gbx_status status;
    gbx_error error;
} work;

static void release_result(gbx_result **result)
{
    gbx_result_free(*result);
}

static unsigned thread_count(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online < 1 ? 1 : online > THREADS_MAX ? THREADS_MAX : (unsigned)online;
}

static gbx_status open_engine(gbx_engine **ret, gbx_error *reterr)
{
    const gbx_preload preload = {"scan.js", gbx_script_scan, strlen(gbx_script_scan)};
    gbx_options options = GBX_OPTIONS_INIT;

    options.limits.timeout_ms = JUDGE_MS;
    options.limits.memory_bytes = MEMORY;
    options.limits.output_bytes = GBX_MIB(256);
    options.jit = GBX_JIT_LONG; /* a project is parsed for seconds */
    options.pool_size = 1; /* few calls: a template that is warm would take longer */
    options.max_workers = thread_count();
    options.preloads = &preload;
    options.preload_count = 1;
    return gbx_engine_new(&options, ret, reterr);
}

/* Call one of the script's functions; limits: NULL: the engine's. *ret has its outcome. */
static gbx_status ask(work *w, const char *function, const gbx_buf *input,
                      const gbx_limits *limits, gbx_result **ret, gbx_error *reterr)
{
    gbx_call call = GBX_CALL_INIT;
    char code[64];

    (void)gbx_need(input->failed ? NULL : input->data);
    call.limits = limits;
    call.flags = GBX_CALL_NO_GUARD; /* the code is trusted */
    call.code_len =
        (size_t)snprintf(code, sizeof code, "input => scan.%s(input)", function);
    call.code = code;
    call.input = (const char *)input->data;
    call.input_len = input->len;
    call.signal = w->scan->signal;
    return gbx_execute(w->engine, &call, ret, reterr);
}

/* The same, but any outcome except a value is an error. */
static gbx_status ask_value(work *w, const char *function, const gbx_buf *input,
                            gbx_result **ret, gbx_view *ret_value, gbx_error *reterr)
{
    gbx_status status = ask(w, function, input, NULL, ret, reterr);
    const char *value;
    size_t len;

    if (status != GBX_OK)
        return status;
    if (gbx_result_code(*ret) != GBX_CODE_VALUE)
        return gbx_fail(reterr, GBX_E_DATA, "cannot audit '%s': %s", w->scan->path,
                        gbx_result_error(*ret));
    value = gbx_result_value(*ret, &len);
    if (!gbx_view_open(value, len, ret_value))
        return gbx_fail(reterr, GBX_E_DATA, "no answer of the auditor's script");
    return GBX_OK;
}

/* ---- graphs ---------------------------------------------------------------------- */

static const char *reason_of(const gbx_result *result)
{
    gbx_code code = gbx_result_code(result);

    if (code == GBX_CODE_TIMEOUT)
        return "it takes too long to read";
    if (code == GBX_CODE_MEMORY)
        return "it takes too much memory to read";
    return code == GBX_CODE_CRASHED ? "reading it ended the sealed process"
                                    : gbx_result_error(result);
}

static void note_unread(work *w, size_t first, size_t end, const char *why)
{
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = first; i < end; i++)
        gbx_scan_unread(&w->files, w->files.list[i].path, why);
    (void)pthread_mutex_unlock(&w->lock);
}

static void note_failure(work *w, gbx_status status, const gbx_error *err)
{
    (void)pthread_mutex_lock(&w->lock);
    if (w->status == GBX_OK) {
        w->status = status;
        w->error = *err;
    }
    (void)pthread_mutex_unlock(&w->lock);
}

static void put_files(const work *w, size_t first, size_t end, gbx_buf *to)
{
    gbx_json_put_open(to, "files", '[');
    for (size_t i = first; i < end; i++) {
        gbx_json_put_open(to, NULL, '[');
        gbx_json_put_text(to, NULL, w->files.list[i].path);
        gbx_json_put_json(to, NULL, w->files.list[i].text, w->files.list[i].len);
        (void)gbx_buf_puts(to, "]");
    }
    (void)gbx_buf_puts(to, "]");
}

static void take_graphs(work *w, size_t first, const gbx_result *result)
{
    size_t len;
    const char *value = gbx_result_value(result, &len);

    (void)pthread_mutex_lock(&w->lock);
    gbx_json_put_open(&w->parts, NULL, '[');
    gbx_json_put_integer(&w->parts, NULL, (int64_t)first);
    gbx_json_put_json(&w->parts, NULL, value, len);
    (void)gbx_buf_puts(&w->parts, "]");
    (void)pthread_mutex_unlock(&w->lock);
}

/* A batch that fails is halved until the failing file is alone and can be named. */
static void read_graphs(work *w, size_t first, size_t end)
{
    GBX_CLEANUP(release_result) gbx_result *result = NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf question = {.ceiling = QUESTION_MAX};
    int64_t left_ms = (w->end_ns - gbx_clock_now_ns()) / GBX_NS_PER_MS;
    gbx_error err = {0};
    gbx_status status;
    gbx_limits limits = GBX_LIMITS_INIT;

    if (left_ms <= 0) {
        note_unread(w, first, end, "the time for the whole project is over");
        return;
    }
    gbx_json_put_open(&question, NULL, '{');
    put_files(w, first, end, &question);
    (void)gbx_buf_puts(&question, "}");
    limits.timeout_ms = (uint32_t)left_ms;
    limits.cpu_ms = FILE_CPU_MS;
    if (end - first > 1)
        limits.cpu_ms += (uint32_t)(question.len * MIB_CPU_MS / GBX_MIB(1));
    if (limits.cpu_ms > limits.timeout_ms)
        limits.cpu_ms = limits.timeout_ms;
    status = ask(w, "graphs", &question, &limits, &result, &err);
    if (status != GBX_OK || gbx_result_code(result) == GBX_CODE_ABORTED) {
        note_failure(w, status != GBX_OK ? status : GBX_E_CLOSED, &err);
    } else if (gbx_result_code(result) == GBX_CODE_VALUE) {
        take_graphs(w, first, result);
    } else if (end - first == 1) {
        note_unread(w, first, end, reason_of(result));
    } else {
        gbx_buf_cleanup(&question);
        read_graphs(w, first, first + (end - first) / 2);
        read_graphs(w, first + (end - first) / 2, end);
    }
}

/* Take the next files, [*first, *end). False if there are none. */
static bool next_batch(work *w, size_t *first, size_t *end)
{
    const size_t share = w->files.bytes / thread_count() + GBX_KIB(64);
    const size_t most = share < BATCH_MIN   ? BATCH_MIN
                        : share > BATCH_MAX ? BATCH_MAX
                                            : share;
    size_t bytes = 0;

    (void)pthread_mutex_lock(&w->lock);
    *first = w->next;
    while (w->next < w->files.count && w->next - *first < BATCH_FILES &&
           (bytes += w->files.list[w->next].len) <= most)
        w->next++;
    /* A file that is larger than a batch is one. */
    if (w->next == *first && w->next < w->files.count)
        w->next++;
    *end = w->next;
    (void)pthread_mutex_unlock(&w->lock);
    return *first < *end;
}

static void *work_main(void *arg)
{
    work *w = arg;
    size_t first;
    size_t end;

    while (next_batch(w, &first, &end))
        read_graphs(w, first, end);
    return NULL;
}

static gbx_status read_all_graphs(work *w, gbx_error *reterr)
{
    pthread_t threads[THREADS_MAX];
    unsigned started = 0;

    w->end_ns = gbx_clock_now_ns() + ALL_MS * GBX_NS_PER_MS;
    while (started + 1 < thread_count() &&
           pthread_create(&threads[started], NULL, work_main, w) == 0)
        started++;
    (void)work_main(w);
    while (started > 0)
        (void)pthread_join(threads[--started], NULL);
    if (w->status != GBX_OK && reterr != NULL)
        *reterr = w->error;
    return w->status;
}

/* ---- archives -------------------------------------------------------------------- */

static void take_unpacked(work *w, gbx_view answer)
{
    const gbx_view files = gbx_view_member(answer, "files");
    const gbx_view unread = gbx_view_member(answer, "unread");
    size_t cursor = 0;
    gbx_view name;
    gbx_view entry;

    while (gbx_view_next(files, &cursor, &name, &entry)) {
        const gbx_view text = gbx_view_member(entry, "text");
        GBX_CLEANUP(gbx_free)
        char *words = gbx_view_string(gbx_view_member(entry, "path"), 4096);

        if (words != NULL && gbx_view_kind(text) == '"' &&
            !gbx_scan_leave_out(&w->files, words))
            gbx_scan_add(&w->files, words, gbx_need(strndup(text.at, text.len)),
                         text.len);
    }
    cursor = 0;
    while (gbx_view_next(unread, &cursor, &name, &entry)) {
        gbx_json_put_json(&w->files.unread, NULL, entry.at, entry.len);
        w->files.unread_count++;
    }
}

/* The sandbox unpacks it, too. */
static gbx_status read_archive(work *w, gbx_error *reterr)
{
    GBX_CLEANUP(release_result) gbx_result *result = NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf question = {.ceiling = QUESTION_MAX};
    GBX_CLEANUP(gbx_fd_close)
    int fd = open(w->scan->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const char *why =
        fd < 0 ? gbx_fail_reason(errno) : gbx_scan_slurp(fd, ARCHIVE_MAX, &bytes);
    gbx_view answer = {0};
    gbx_status status;

    if (why != NULL)
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", w->scan->path, why);
    (void)gbx_buf_puts(&question, "{\"base64\":\"");
    (void)gbx_base64_append(&question, bytes.data != NULL ? bytes.data : (uint8_t *)"",
                            bytes.len);
    (void)gbx_buf_puts(&question, "\"}");
    gbx_buf_cleanup(&bytes);
    status = ask_value(w, "unpack", &question, &result, &answer, reterr);
    if (status == GBX_OK)
        take_unpacked(w, answer);
    return status;
}

/* ---- findings and report --------------------------------------------------------- */

/* Elements with commas, as an array. */
static void put_list(gbx_buf *to, const char *name, const gbx_buf *list)
{
    gbx_json_put_open(to, name, '[');
    (void)gbx_buf_append(to, list->data, list->len);
    (void)gbx_buf_puts(to, "]");
}

/* The script gets all texts, since the report shows the lines around each finding. */
static gbx_status make_report(work *w, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf question = {.ceiling = QUESTION_MAX};

    gbx_json_put_open(&question, NULL, '{');
    gbx_json_put_text(&question, "place", w->scan->path);
    gbx_json_put_text(&question, "least", w->scan->least);
    gbx_json_put_text(&question, "version", gbx_version());
    gbx_json_put_integer(&question, "leftOut", (int64_t)w->files.left_out);
    gbx_json_put_key(&question, "leftNames");
    (void)gbx_json_append_string(&question, (const char *)w->files.left_names.data,
                                 w->files.left_names.len);
    gbx_json_put_integer(&question, "unreadCount", (int64_t)w->files.unread_count);
    put_list(&question, "unread", &w->files.unread);
    put_list(&question, "parts", &w->parts);
    gbx_buf_cleanup(&w->parts);
    put_files(w, 0, w->files.count, &question);
    (void)gbx_buf_puts(&question, "}");
    return ask_value(w, "report", &question, &w->scan->result, &w->scan->report,
                     reterr);
}

static void work_cleanup(work *w)
{
    gbx_buf_cleanup(&w->parts);
    gbx_scan_files_free(&w->files);
    gbx_engine_free(w->engine);
    (void)pthread_mutex_destroy(&w->lock);
}

gbx_status gbx_scan_run(gbx_scan *scan, gbx_error *reterr)
{
    GBX_CLEANUP(work_cleanup)
    work w = {.scan = scan,
              .parts = {.ceiling = QUESTION_MAX},
              .files = {.unread = {.ceiling = GBX_MIB(4)},
                        .left_names = {.ceiling = GBX_KIB(64)}},
              .lock = PTHREAD_MUTEX_INITIALIZER};
    const char *path = scan->path;
    size_t len = strlen(path);
    bool is_archive = (len > 4 && gbx_text_is_listed(".tgz .tar", path + len - 4, 4)) ||
                      (len > 7 && strcmp(path + len - 7, ".tar.gz") == 0);
    gbx_status status = open_engine(&w.engine, reterr);

    if (status == GBX_OK)
        status = is_archive ? read_archive(&w, reterr)
                            : gbx_scan_read(path, &w.files, reterr);
    if (status == GBX_OK)
        status = read_all_graphs(&w, reterr);
    return status == GBX_OK ? make_report(&w, reterr) : status;
}

void gbx_scan_free(gbx_scan *scan)
{
    gbx_result_free(scan->result);
}
