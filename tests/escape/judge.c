/* SPDX-License-Identifier: MIT */
/* judge - see judge.h. */
#include "judge.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "calls.h"
#include "test.h"
#include "until.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* What a machine that does other work may add to a time limit; to a memory limit what
 * the engine takes before the kernel says no. */
#define LATE_MS    5000
#define MORE_MIB   48
#define TIMEOUT_MS 120000
#define SHORT_MS   1000 /* a call with less gets a worker that is ready */
#define MEMORY_MIB 128

/* Without the structural check, blocking; and with it, submitted. */
typedef enum manner { WAY_BARE, WAY_GUARDED } manner;

static struct {
    gbx_engine *engines[WORLD_COUNT];
    char *pristine[WORLD_COUNT]; /* what fingerprint.js says of a fresh realm */
    char *fingerprint;
    char secret[40];
    char folder[512];
    footprint quiet;
    size_t groups;
    const char *since; /* the first case since the last look at what is left */
} judge;

/* ---- the worlds ------------------------------------------------------------- */

static gbx_options options_of(case_world world)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.pool_size = 2;
    options.limits.memory_bytes = GBX_MIB(512); /* calls lower both */
    options.limits.timeout_ms = TIMEOUT_MS;
    if (world == WORLD_MINIMAL)
        options.globals = GBX_GLOBALS_MINIMAL;
    if (world == WORLD_CLOSED)
        options.capabilities = GBX_CAP_NONE;
    if (world == WORLD_OPEN)
        options.capabilities = GBX_CAP_CONSOLE | GBX_CAP_TIMERS | GBX_CAP_CRYPTO;
    if (world == WORLD_JIT_OFF)
        options.jit = GBX_JIT_OFF;
    return options;
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = calloc(1, 65536);

    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, f) > 0);
    (void)fclose(f);
    return text;
}

static char *fingerprint(case_world world)
{
    gbx_call call = call_of(judge.fingerprint);
    gbx_result *result;
    char *print;

    call.flags = GBX_CALL_NO_GUARD;
    result = call_run(judge.engines[world], &call);
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        fail_msg("no fingerprint: %.400s", gbx_result_json(result, NULL));
    print = strdup(gbx_result_value(result, NULL));
    gbx_result_free(result);
    assert_non_null(print);
    return print;
}

/* It answers, and finds what its first call found. */
static void check_realm(case_world world)
{
    char *print = fingerprint(world);

    if (strcmp(print, judge.pristine[world]) != 0)
        fail_msg("a call finds another realm: %s", print);
    free(print);
}

/* ---- what this process has -------------------------------------------------- */

static size_t count_groups_in(const char *folder, const char *prefix, int depth)
{
    DIR *dir = depth < 8 ? opendir(folder) : NULL;
    size_t count = 0;

    if (dir == NULL)
        return 0;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        char path[768];

        if (e->d_type != DT_DIR || e->d_name[0] == '.')
            continue;
        count += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
        if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
            count += count_groups_in(path, prefix, depth + 1);
    }
    (void)closedir(dir);
    return count;
}

static size_t count_groups(void)
{
    char prefix[32];

    (void)snprintf(prefix, sizeof prefix, "glovebox.%d.", (int)getpid());
    return count_groups_in("/sys/fs/cgroup", prefix, 0);
}

static void make_secret(void)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    unsigned char random[32];

    assert_int_equal(getrandom(random, sizeof random, 0), sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        judge.secret[i] = digits[random[i] & 31];
}

/* What would show in a call, or change it, if the host's environment went along. */
static void make_environment(void)
{
    static const char *const names[][2] = {
        {"TZ", "Asia/Kathmandu"},
        {"LANG", "de_DE.UTF-8"},
        {"LC_ALL", "tr_TR.UTF-8"},
        {"LANGUAGE", "ja"},
        {"JSC_useWasm", "1"},
        {"JSC_useSharedArrayBuffer", "1"},
        {"JSC_useShadowRealm", "1"},
        {"JSC_useDollarVM", "1"},
        {"JSC_exposeInternalModuleLoader", "1"},
        {"JSC_useTemporal", "1"},
        {"JSC_forceWeakRandomSeed", "1"},
        /* Under this configuration OpenSSL finds no hash at all. */
        {"OPENSSL_CONF", GBX_ESCAPE "/../unit/crypto/hostile.cnf"},
        {"OPENSSL_MODULES", "/nowhere"},
    };

    assert_int_equal(setenv("GLOVEBOX_TEST_SECRET", judge.secret, 1), 0);
    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        assert_int_equal(setenv(names[i][0], names[i][1], 1), 0);
}

static void find_folder(void)
{
    const char *worker = getenv("GLOVEBOX_WORKER");
    const char *slash = worker != NULL ? strrchr(worker, '/') : NULL;

    if (slash != NULL && slash > worker)
        (void)snprintf(judge.folder, sizeof judge.folder, "%.*s", (int)(slash - worker),
                       worker);
}

/* ---- one answer ------------------------------------------------------------- */

#define WRONG(c, step, ...) wrong(c, step, result, __VA_ARGS__)

__attribute__((format(printf, 4, 5))) static void wrong(const test_case *c,
                                                        const case_step *step,
                                                        gbx_result *result,
                                                        const char *format, ...)
{
    char what[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    /* The answer by itself: cmocka cuts a message at 1,024 bytes. */
    (void)fprintf(stderr, "%.8000s\n", gbx_result_json(result, NULL));
    fail_msg("%s:%u: %s: %s", c->file, step->line, c->name, what);
}

static bool has_word(const char *text, const char *words, char *ret_word, size_t size)
{
    while (*words != 0) {
        size_t len = strcspn(words, " ");

        if (len > 0 && len < size) {
            memcpy(ret_word, words, len);
            ret_word[len] = 0;
            if (strstr(text, ret_word) != NULL)
                return true;
        }
        words += len + (words[len] == ' ');
    }
    return false;
}

/* Whatever the case: one well-formed answer within its limits, nothing of the host. */
static void check_answer(const test_case *c, const case_step *step,
                         const gbx_call *call, gbx_result *result)
{
    /* The realm's own scripts, as they could show in stacks and frames. */
    static const char internals[] =
        "lockdown.js intl.js inspect.js console.js result.js crypto.js";
    gbx_json_fault fault;
    size_t len = 0;
    size_t value_len = 0;
    const char *json = gbx_result_json(result, &len);
    char word[600];
    double past_mib = (double)gbx_result_stats(result).peak_memory_bytes / (1 << 20) -
                      (double)(call->limits->memory_bytes >> 20);

    assert_non_null(json);
    (void)gbx_result_value(result, &value_len);
    if (!gbx_json_check(json, len, GBX_JSON_DEPTH_MAX + 8, &fault))
        WRONG(c, step, "the answer is not JSON: %s at %zu", fault.message,
              fault.offset);
    if (value_len > call->limits->output_bytes)
        WRONG(c, step, "%zu bytes are more than the limit", value_len);
    if (has_word(json, judge.secret, word, sizeof word))
        WRONG(c, step, "the answer has the host's secret");
    if (has_word(json, internals, word, sizeof word) ||
        has_word(json, judge.folder, word, sizeof word))
        WRONG(c, step, "the answer has '%s'", word);
    if (past_mib > MORE_MIB)
        WRONG(c, step, "memory was %.0f MiB past its limit", past_mib);
}

/* What the case itself says. */
static void check_step(const test_case *c, const case_step *step, manner way,
                       gbx_result *result)
{
    bool differs = way == WAY_GUARDED && step->guard_codes != 0;
    uint32_t codes = differs ? step->guard_codes : step->codes;
    gbx_code code = gbx_result_code(result);
    size_t value_len = 0;
    const char *value = gbx_result_value(result, &value_len);
    char word[256];

    if ((codes & 1U << code) == 0)
        WRONG(c, step, "ended as %s%s", gbx_code_name(code),
              way == WAY_GUARDED ? " with the structural check" : "");
    if (step->value != NULL && code == GBX_CODE_VALUE &&
        strcmp(strcmp(step->value, "undefined") == 0 ? "" : step->value, value) != 0)
        WRONG(c, step, "the value is not %s", step->value);
    if (!differs && step->error != NULL && code != GBX_CODE_VALUE &&
        strstr(gbx_result_error(result), step->error) == NULL)
        WRONG(c, step, "the error does not say '%s'", step->error);
    if (!differs && step->log != NULL &&
        strstr(gbx_result_json(result, NULL), step->log) == NULL)
        WRONG(c, step, "no line is '%s'", step->log);
    if (step->lacks != NULL &&
        has_word(gbx_result_json(result, NULL), step->lacks, word, sizeof word))
        WRONG(c, step, "the answer has '%s'", word);
}

static void check_time(const test_case *c, const case_step *step, const gbx_call *call,
                       gbx_result *result, double wall_ms)
{
    double late_ms = wall_ms - call->limits->timeout_ms;

    if (late_ms > LATE_MS)
        WRONG(c, step, "%.0f ms past its time limit", late_ms);
}

/* ---- one call --------------------------------------------------------------- */

static gbx_limits limits_of(const case_step *step, uint32_t memory_mib)
{
    gbx_limits limits = GBX_LIMITS_INIT;

    /* Where a time limit is no right end, a loaded machine must not make it one. */
    bool may_time_out =
        ((step->codes | step->guard_codes) & 1U << GBX_CODE_TIMEOUT) != 0;

    limits.timeout_ms =
        may_time_out && step->timeout_ms != 0 ? (uint32_t)step->timeout_ms : TIMEOUT_MS;
    limits.memory_bytes = GBX_MIB(memory_mib != 0 ? memory_mib : MEMORY_MIB);
    limits.output_bytes = step->output_bytes != 0 ? step->output_bytes : GBX_MIB(1);
    limits.log_bytes = (uint32_t)step->log_bytes;
    return limits;
}

static gbx_call call_of_step(const case_step *step, const gbx_limits *limits,
                             manner way)
{
    gbx_call call = call_of(step->code);

    call.code_len = step->code_len;
    call.limits = limits;
    call.form = (gbx_form)step->form;
    call.flags = step->flags | (way == WAY_BARE ? GBX_CALL_NO_GUARD : 0);
    call.input = step->input;
    call.input_len = step->input != NULL ? strlen(step->input) : 0;
    call.bindings = step->bindings;
    call.bindings_len = step->bindings != NULL ? strlen(step->bindings) : 0;
    call.seed = step->seed;
    call.now_ms = (int64_t)step->now_ms;
    return call;
}

/* A submitted call. Another end of it would find the struct: it is never freed. */
typedef struct answer {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gbx_result *result;
    double from_ms;
    double wall_ms;
    size_t count;
} answer;

static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    answer *a = user;

    (void)pthread_mutex_lock(&a->lock);
    a->wall_ms = now_ms() - a->from_ms;
    if (a->count++ == 0)
        a->result = result;
    else
        gbx_result_free(result);
    (void)pthread_cond_signal(&a->changed);
    (void)pthread_mutex_unlock(&a->lock);
}

static void submit(gbx_engine *engine, const gbx_call *call, answer *a)
{
    gbx_error error = {0};

    a->result = NULL;
    a->count = 0;
    a->from_ms = now_ms();
    if (gbx_submit(engine, call, on_done, a, NULL, &error) != GBX_OK)
        fail_msg("not submitted: %s", error.message);
}

static void wait_for(answer *a)
{
    (void)pthread_mutex_lock(&a->lock);
    while (a->count == 0)
        (void)pthread_cond_wait(&a->changed, &a->lock);
    (void)pthread_mutex_unlock(&a->lock);
}

static void check_next(const test_case *c, const case_step *step, char **before,
                       gbx_result *result)
{
    const char *value = gbx_result_value(result, NULL);

    if (step->next != NULL && *before != NULL &&
        (strcmp(value, *before) == 0) != (strcmp(step->next, "same") == 0))
        WRONG(c, step, "after %s the value is not the %s", *before, step->next);
    free(*before);
    *before = strdup(value);
}

/* Everything that can be said of one result, which is freed. */
static void check(const test_case *c, const case_step *step, manner way,
                  const gbx_call *call, gbx_result *result, double wall_ms,
                  char **before)
{
    check_time(c, step, call, result, wall_ms);
    check_answer(c, step, call, result);
    check_step(c, step, way, result);
    check_next(c, step, before, result);
    gbx_result_free(result);
}

static void run_bare(const test_case *c, const case_step *step,
                     const gbx_limits *limits, char **before)
{
    gbx_call call = call_of_step(step, limits, WAY_BARE);
    double from_ms = now_ms();
    gbx_result *result = call_run(judge.engines[c->world], &call);

    check(c, step, WAY_BARE, &call, result, now_ms() - from_ms, before);
}

/* It uses up what it is given. */
static bool is_costly(const test_case *c)
{
    return strcmp(c->layer, "memory") == 0 || strcmp(c->layer, "deadline") == 0;
}

/* Without the structural check a worker would run the same code once more. */
static bool would_be_repeated(const case_step *step, gbx_result *guarded)
{
    return step->guard_codes == 0 && gbx_result_stats(guarded).cpu_ms > 0;
}

/* ---- public to the tests ---------------------------------------------------- */

void judge_calls(const test_case *c, uint32_t memory_mib)
{
    static answer guarded = {.lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER};
    gbx_engine *engine = judge.engines[c->world];
    char *before[2] = {NULL, NULL};

    if (judge.since == NULL)
        judge.since = c->name;
    for (size_t i = 0; i < c->step_count; i++) {
        const case_step *step = &c->steps[i];
        gbx_limits limits = limits_of(step, memory_mib);
        gbx_call call = call_of_step(step, &limits, WAY_GUARDED);
        bool is_short = limits.timeout_ms < SHORT_MS;

        /* The limit includes the wait for a worker, which a loaded machine makes long. */
        if (is_short)
            wait_until_full(engine);
        submit(engine, &call, &guarded);
        if (is_short || is_costly(c))
            wait_for(&guarded);
        if (!is_costly(c) || !would_be_repeated(step, guarded.result)) {
            if (is_short)
                wait_until_full(engine);
            run_bare(c, step, &limits, &before[0]);
            wait_for(&guarded);
        }
        check(c, step, WAY_GUARDED, &call, guarded.result, guarded.wall_ms, &before[1]);
        assert_int_equal(guarded.count, 1);
    }
    free(before[0]);
    free(before[1]);
}

void judge_after(const test_case *c)
{
    if (!c->ends_group)
        return;
    print_message("what is left of '%s' to '%s'\n", judge.since, c->name);
    for (int world = 0; world < WORLD_COUNT; world++)
        if (judge.engines[world] != NULL)
            check_realm((case_world)world);
    footprint_check(&judge.quiet);
    assert_int_equal(count_groups(), judge.groups);
    judge.since = NULL;
}

void judge_start(uint32_t with_worlds)
{
    make_secret();
    make_environment();
    find_folder();
    judge.fingerprint = read_all(GBX_ESCAPE "/fingerprint.js");
    for (int world = 0; world < WORLD_COUNT; world++) {
        gbx_options options = options_of((case_world)world);

        if ((with_worlds & 1U << world) == 0)
            continue;
        judge.engines[world] = engine_start(&options);
        judge.pristine[world] = fingerprint((case_world)world);
    }
    for (int world = 0; world < WORLD_COUNT; world++)
        if (judge.engines[world] != NULL)
            fill_pool(judge.engines[world]);
    judge.quiet = footprint_take();
    judge.groups = count_groups();
}

void judge_stop(void)
{
    for (int world = 0; world < WORLD_COUNT; world++) {
        gbx_engine_free(judge.engines[world]);
        free(judge.pristine[world]);
    }
    free(judge.fingerprint);
}

gbx_engine *judge_engine(case_world world)
{
    return judge.engines[world];
}

const char *judge_secret(void)
{
    return judge.secret;
}
