/* SPDX-License-Identifier: MIT */
/*
 * bench - our side of bench/run.mjs, through the public interface: medians in
 * milliseconds as one JSON object. The warm call comes first, in a process that has run
 * no other code.
 *
 *     [GLOVEBOX_BENCH_PRELOAD=LIBRARY.js] glovebox-bench RECORDS.json NAME=CODE.js...
 */
#include <glovebox/host.h>
#include <glovebox/preload.h>

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WARM_CALLS    500
#define LOOP_CALLS    1500
#define END_CALLS     15
#define PRELOAD_CALLS 200
#define HOST_ROUNDS   7
#define END_MS        40

static double now_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void settle(unsigned ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&ts, NULL);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double percentile(double *ms, size_t count, double share)
{
    qsort(ms, count, sizeof *ms, by_value);
    return ms[(size_t)((double)(count - 1) * share)];
}

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long len = -1;

    if (f != NULL && fseek(f, 0, SEEK_END) == 0 && (len = ftell(f)) >= 0) {
        rewind(f);
        text = malloc((size_t)len + 1);
        if (text != NULL && fread(text, 1, (size_t)len, f) != (size_t)len) {
            free(text);
            text = NULL;
        }
    }
    if (f != NULL)
        (void)fclose(f);
    if (text == NULL) {
        (void)fprintf(stderr, "glovebox-bench: cannot read '%s'\n", path);
        exit(66);
    }
    text[len] = 0;
    *ret_len = (size_t)len;
    return text;
}

static gbx_engine *make_engine(uint32_t pool_size, uint64_t memory_bytes,
                               unsigned capabilities)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;
    gbx_error err;

    options.pool_size = pool_size;
    options.capabilities = capabilities;
    options.limits.memory_bytes = memory_bytes;
    options.limits.timeout_ms = 60000;
    if (gbx_engine_new(&options, &engine, &err) != GBX_OK) {
        (void)fprintf(stderr, "glovebox-bench: %s\n", err.message);
        exit(1);
    }
    return engine;
}

/* One call that must end with code; its time. */
static double call(gbx_engine *engine, gbx_call *c, gbx_code code)
{
    double start = now_ms();
    gbx_result *result;
    gbx_error err;
    double ms;

    if (gbx_execute(engine, c, &result, &err) != GBX_OK) {
        (void)fprintf(stderr, "glovebox-bench: %s\n", err.message);
        exit(1);
    }
    ms = now_ms() - start;
    if (gbx_result_code(result) != code) {
        (void)fprintf(stderr, "glovebox-bench: %s\n", gbx_result_json(result, NULL));
        exit(1);
    }
    gbx_result_free(result);
    return ms;
}

static gbx_call make_call(const char *code)
{
    gbx_call c = GBX_CALL_INIT;

    c.code = code;
    c.code_len = strlen(code);
    return c;
}

static gbx_call small_call(void)
{
    gbx_call c = make_call("(data)=>data.length");

    c.input = "[1,2,3]";
    c.input_len = 7;
    return c;
}

static void *loop(void *engine)
{
    for (size_t i = 0; i < LOOP_CALLS; i++) {
        gbx_call c = small_call();

        (void)call(engine, &c, GBX_CODE_VALUE);
    }
    return NULL;
}

static void small_calls(void)
{
    gbx_engine *engine = make_engine(0, 0, 0);
    double ms[WARM_CALLS];
    pthread_t threads[2];
    double start;

    settle(100);
    for (size_t i = 0; i < WARM_CALLS; i++) {
        gbx_call c = small_call();

        settle(2);
        ms[i] = call(engine, &c, GBX_CODE_VALUE);
    }
    (void)printf("{\"warm\":%.4f,", percentile(ms, WARM_CALLS, 0.5));
    (void)printf("\"warm99\":%.4f,", percentile(ms, WARM_CALLS, 0.99));
    for (size_t i = 0; i < WARM_CALLS; i++) {
        gbx_call c = small_call();

        ms[i] = call(engine, &c, GBX_CODE_VALUE);
    }
    (void)printf("\"backToBack\":%.4f,", percentile(ms, WARM_CALLS, 0.5));
    start = now_ms();
    for (size_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, loop, engine) != 0)
            exit(1);
    for (size_t i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    (void)printf("\"calls\":%.0f,", 2 * LOOP_CALLS / (now_ms() - start) * 1e3);
    gbx_engine_free(engine);
}

static void answer(void *user, gbx_engine *engine, const gbx_host_call *host_call)
{
    (void)user;
    (void)!gbx_answer(engine, host_call->request, NULL, 0, NULL);
}

/* Round trips a second to an empty function of the host: one after the other, and a
 * hundred at once. */
static void host_calls(void)
{
    gbx_engine *engine = make_engine(0, 0, 0);
    gbx_call in_turn = make_call("async () => { for (let i = 0; i < 10000; i++)"
                                 " await answer() }");
    gbx_call at_once =
        make_call("async () => { for (let i = 0; i < 100; i++) await Promise.all("
                  "Array.from({ length: 100 }, () => answer())) }");
    double turns[HOST_ROUNDS];
    double once[HOST_ROUNDS];

    if (gbx_engine_expose(engine, "answer", answer, NULL, NULL) != GBX_OK)
        exit(1);
    for (size_t i = 0; i < HOST_ROUNDS; i++) {
        turns[i] = 1e7 / call(engine, &in_turn, GBX_CODE_VALUE);
        once[i] = 1e7 / call(engine, &at_once, GBX_CODE_VALUE);
    }
    (void)printf("\"hostCalls\":%.0f,\"hostCallsAtOnce\":%.0f,",
                 percentile(turns, HOST_ROUNDS, 0.5),
                 percentile(once, HOST_ROUNDS, 0.5));
    gbx_engine_free(engine);
}

/* The same small call with a library preloaded: what a preload costs a call. */
static void preloaded(const char *path)
{
    gbx_preload preload = {.name = "library"};
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;
    double ms[PRELOAD_CALLS];
    gbx_error err;

    preload.source = read_file(path, &preload.source_len);
    options.preloads = &preload;
    options.preload_count = 1;
    if (gbx_engine_new(&options, &engine, &err) != GBX_OK) {
        (void)fprintf(stderr, "glovebox-bench: %s\n", err.message);
        exit(1);
    }
    settle(200);
    for (size_t i = 0; i < PRELOAD_CALLS; i++) {
        gbx_call c = small_call();

        settle(2);
        ms[i] = call(engine, &c, GBX_CODE_VALUE);
    }
    (void)printf("\"preloaded\":%.4f,", percentile(ms, PRELOAD_CALLS, 0.5));
    gbx_engine_free(engine);
    free((char *)(uintptr_t)preload.source);
}

static void *abort_later(void *arg)
{
    static double thrown;
    gbx_signal *signal = arg;

    settle(END_MS);
    thrown = now_ms();
    gbx_signal_abort(signal);
    return &thrown;
}

static double abort_one(gbx_engine *engine)
{
    gbx_signal *signal = gbx_signal_new();
    gbx_call c = make_call("() => { for (;;) {} }");
    pthread_t thread;
    void *thrown;
    double ended;

    c.signal = signal;
    if (signal == NULL || pthread_create(&thread, NULL, abort_later, signal) != 0)
        exit(1);
    (void)call(engine, &c, GBX_CODE_ABORTED);
    ended = now_ms();
    (void)pthread_join(thread, &thrown);
    gbx_signal_free(signal);
    return ended - *(double *)thrown;
}

static void ends(void)
{
    gbx_engine *engine = make_engine(0, 0, 0);
    gbx_limits limits = GBX_LIMITS_INIT;
    double late[END_CALLS];
    double after[END_CALLS];
    double aborted[END_CALLS];

    limits.timeout_ms = END_MS;
    for (size_t i = 0; i < END_CALLS; i++) {
        gbx_call endless = make_call("() => { for (;;) {} }");
        gbx_call small = small_call();

        endless.limits = &limits;
        late[i] = call(engine, &endless, GBX_CODE_TIMEOUT) - END_MS;
        after[i] = call(engine, &small, GBX_CODE_VALUE);
        aborted[i] = abort_one(engine);
    }
    (void)printf("\"deadline\":%.4f,\"afterKill\":%.4f,\"abort\":%.4f,",
                 percentile(late, END_CALLS, 0.5), percentile(after, END_CALLS, 0.5),
                 percentile(aborted, END_CALLS, 0.5));
    gbx_engine_free(engine);
}

/* ---- memory ---------------------------------------------------------------------- */

static long number_after(const char *path, const char *key)
{
    char line[256];
    long value = 0;
    FILE *f = fopen(path, "r");

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    if (f != NULL)
        (void)fclose(f);
    return value;
}

/* Proportional memory of every descendant of pid, in KiB. */
static long descendants_pss(long pid)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    long sum = 0;

    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        long child = strtol(entry->d_name, NULL, 10);
        char path[64];

        if (child <= 0)
            continue;
        (void)snprintf(path, sizeof path, "/proc/%ld/status", child);
        if (number_after(path, "PPid:") != pid)
            continue;
        (void)snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", child);
        sum += number_after(path, "Pss:") + descendants_pss(child);
    }
    if (proc != NULL)
        (void)closedir(proc);
    return sum;
}

static long pss_of_pool(uint32_t size)
{
    gbx_engine *engine = make_engine(size, 0, 0);
    long pss;

    settle(400);
    pss = descendants_pss(getpid());
    gbx_engine_free(engine);
    return pss;
}

static void memory(void)
{
    long few = pss_of_pool(4);
    long many = pss_of_pool(20);

    (void)printf("\"idleMiB\":%.3f,", (double)(many - few) / 16 / 1024);
}

/* ---- data and computing -------------------------------------------------------- */

static double median_of(gbx_engine *engine, const char *code, const char *input,
                        size_t len)
{
    double ms[5];

    for (size_t i = 0; i <= 5; i++) {
        gbx_call c = make_call(code);
        double one;

        c.input = input;
        c.input_len = len;
        settle(20);
        one = call(engine, &c, GBX_CODE_VALUE);
        if (i > 0)
            ms[i - 1] = one;
    }
    return percentile(ms, 5, 0.5);
}

static void data(const char *records, size_t len, const char *code)
{
    gbx_engine *engine = make_engine(0, UINT64_C(512) << 20, 0);
    gbx_error err;

    (void)printf("\"records\":%.3f,", median_of(engine, code, records, len));
    if (gbx_engine_load(engine, "records", records, len, GBX_DATA_JSON, &err) !=
        GBX_OK) {
        (void)fprintf(stderr, "glovebox-bench: %s\n", err.message);
        exit(1);
    }
    (void)printf("\"dataset\":%.3f", median_of(engine, code, NULL, 0));
    gbx_engine_free(engine);
}

int main(int argc, char **argv)
{
    gbx_engine *engine;
    char *records;
    size_t len;

    if (argc < 3) {
        (void)fprintf(stderr, "usage: glovebox-bench RECORDS.json NAME=CODE.js...\n");
        return 64;
    }
    small_calls();
    host_calls();
    if (getenv("GLOVEBOX_BENCH_PRELOAD") != NULL)
        preloaded(getenv("GLOVEBOX_BENCH_PRELOAD"));
    ends();
    memory();
    records = read_file(argv[1], &len);
    engine = make_engine(0, UINT64_C(512) << 20, GBX_CAP_CRYPTO);
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        size_t code_len;
        char *code;

        if (equals == NULL)
            return 64;
        code = read_file(equals + 1, &code_len);
        *equals = 0;
        if (strcmp(argv[i], "records") == 0)
            data(records, len, code);
        else
            (void)printf(",\"%s\":%.3f", argv[i], median_of(engine, code, "null", 4));
        free(code);
    }
    (void)printf("}\n");
    gbx_engine_free(engine);
    free(records);
    return 0;
}
