/* SPDX-License-Identifier: MIT */
/*
 * Every file of tests/escape/protocol: what a worker that has been taken over may say
 * to the host instead of a result, and how that must end. After each case the host is
 * as it was: the next call is right, no process, descriptor or memory stays.
 *
 * A file is a comment that says what is tried, headers, "---", and a script of
 * support/hostile_script.h. Headers:
 *
 *   expect: CODE...   one of these       value: JSON   error: part of the message
 *   hint: all of it, or none
 *   logs: COUNT       log: first line    truncated: 1  event: one that is emitted
 *   input: BYTES  timeout: MS  cpu: MS  output: BYTES  log-bytes: BYTES  (of the call)
 *   sweep: 1-15 or words: the case is run with each in place of $ in the script (a _
 *   in a word stands for a space)
 *   within: MS (wall time; default: the time limit and 1500)  growth: KIB (of the host)
 */
#include "calls.h"
#include "loop_runner.h"
#include "proc.h"
#include "sanitized.h"
#include "test.h"
#include "until.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CASES_MAX  256
#define SCRIPT_MAX 20480

/* A loaded machine is slow; what has no end at all is slower. */
#define SLOWNESS 4

#if IS_SANITIZED
#    define COUNTS_MEMORY 0
#else
#    define COUNTS_MEMORY 1
#endif

typedef struct attack_case {
    char name[128];
    char expect[128];
    char value[256];
    char error[256];
    char hint[256];
    char log[256];
    char event[64];
    char sweep[256];
    char script[SCRIPT_MAX];
    long logs;
    long truncated;
    long input;
    long within;
    long growth;
    gbx_limits limits;
} attack_case;

static attack_case cases[CASES_MAX];
static gbx_engine *engine;
static footprint quiet;

static struct {
    pthread_mutex_t lock;
    char names[16][64];
    size_t count;
} events = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_event(void *user, const gbx_event *event)
{
    (void)pthread_mutex_lock(&events.lock);
    (void)snprintf(events.names[events.count++ % 16], sizeof events.names[0], "%s",
                   event->name);
    (void)pthread_mutex_unlock(&events.lock);
}

static void check_event(const char *name)
{
    bool found = false;

    (void)pthread_mutex_lock(&events.lock);
    for (size_t i = 0; i < 16; i++)
        found = found || strcmp(events.names[i], name) == 0;
    (void)pthread_mutex_unlock(&events.lock);
    if (!found)
        fail_msg("no event '%s'", name);
}

/* ---- reading a case ------------------------------------------------------ */

static void take_header(attack_case *c, const char *key, const char *value)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
    } texts[] = {{"expect", c->expect, sizeof c->expect},
                 {"value", c->value, sizeof c->value},
                 {"error", c->error, sizeof c->error},
                 {"hint", c->hint, sizeof c->hint},
                 {"log", c->log, sizeof c->log},
                 {"event", c->event, sizeof c->event},
                 {"sweep", c->sweep, sizeof c->sweep}};
    const struct {
        const char *key;
        long *number;
    } numbers[] = {{"logs", &c->logs},
                   {"truncated", &c->truncated},
                   {"input", &c->input},
                   {"within", &c->within},
                   {"growth", &c->growth}};
    long number = strtol(value, NULL, 10);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(key, texts[i].key) == 0) {
            (void)snprintf(texts[i].text, texts[i].size, "%s", value);
            return;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(key, numbers[i].key) == 0) {
            *numbers[i].number = number;
            return;
        }
    if (strcmp(key, "timeout") == 0)
        c->limits.timeout_ms = (uint32_t)number;
    else if (strcmp(key, "cpu") == 0)
        c->limits.cpu_ms = (uint32_t)number;
    else if (strcmp(key, "output") == 0)
        c->limits.output_bytes = (uint64_t)number;
    else if (strcmp(key, "log-bytes") == 0)
        c->limits.log_bytes = (uint32_t)number;
    else if (strcmp(key, "memory") == 0)
        c->limits.memory_bytes = (uint64_t)number;
    else
        fail_msg("%s: unknown header '%s'", c->name, key);
}

static void read_case(const char *file, attack_case *c)
{
    char path[512];
    char line[1024];
    bool in_script = false;
    FILE *f;

    *c = (attack_case){.logs = -1,
                       .truncated = -1,
                       .within = -1,
                       .growth = 2048,
                       .limits = GBX_LIMITS_INIT};
    (void)snprintf(c->name, sizeof c->name, "%s", file);
    (void)snprintf(path, sizeof path, "%s/%s", GBX_CASES, file);
    f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        char *colon = strstr(line, ": ");

        if (in_script) {
            size_t len = strlen(c->script);

            assert_true(len + strlen(line) < sizeof c->script);
            (void)snprintf(c->script + len, sizeof c->script - len, "%s", line);
            continue;
        }
        line[strcspn(line, "\n")] = 0;
        in_script = strcmp(line, "---") == 0;
        if (*line == '#' || in_script || *line == 0)
            continue;
        assert_non_null(colon);
        *colon = 0;
        take_header(c, line, colon + 2);
    }
    (void)fclose(f);
    assert_true(in_script && *c->expect != 0);
    if (c->limits.timeout_ms == 0) {
        /* Where a time limit is no right end, a loaded machine must not make it one. */
        c->limits.timeout_ms = strstr(c->expect, "TIMEOUT") != NULL ? 1000 : 30000;
        c->within = c->within < 0 ? 2500 : c->within;
    }
}

/* ---- running it ---------------------------------------------------------- */

static void fill_script(const attack_case *c, const char *word, char *to, size_t size)
{
    size_t len = 0;
    char spaced[sizeof c->sweep];

    (void)snprintf(spaced, sizeof spaced, "%s", word);
    for (char *at = spaced; *at != 0; at++)
        if (*at == '_')
            *at = ' ';
    for (const char *at = c->script; *at != 0 && len + strlen(word) + 1 < size; at++) {
        if (*at == '$')
            len += (size_t)snprintf(to + len, size - len, "%s", spaced);
        else
            to[len++] = *at;
    }
    to[len] = 0;
}

static void check_result(const attack_case *c, const char *word, gbx_result *r)
{
    const char *code = gbx_code_name(gbx_result_code(r));
    const char *at = strstr(c->expect, code);
    size_t len = strlen(code);

    if (at == NULL || (at[len] != 0 && at[len] != ' ') ||
        (at != c->expect && at[-1] != ' '))
        fail_msg("%s (%s) ended as %s: %.300s", c->name, word, code,
                 gbx_result_json(r, NULL));
    if (*c->value != 0)
        assert_string_equal(gbx_result_value(r, NULL), c->value);
    if (*c->error != 0 && strstr(gbx_result_error(r), c->error) == NULL)
        fail_msg("%s: '%s' is not in '%s'", c->name, c->error, gbx_result_error(r));
    if (*c->hint != 0)
        assert_string_equal(gbx_result_hint(r),
                            strcmp(c->hint, "none") == 0 ? "" : c->hint);
    if (c->logs >= 0)
        assert_int_equal(gbx_result_log_count(r), c->logs);
    if (*c->log != 0)
        assert_non_null(strstr(gbx_result_json(r, NULL), c->log));
    if (c->truncated >= 0)
        assert_int_equal(gbx_result_logs_truncated(r), c->truncated);
    assert_true(gbx_result_stats(r).cpu_ms < 1e6);
    assert_true(gbx_result_stats(r).wall_ms >= 0);
}

static gbx_result *drive(const gbx_call *call, bool is_async)
{
    gbx_result *result;
    gbx_ticket ticket;
    inbox box;

    if (!is_async)
        return call_run(engine, call);
    inbox_init(&box, 100000);
    ticket = call_submit(engine, call, &box);
    assert_true(inbox_wait(&box, 1, 60000));
    result = box.results[ticket];
    box.results[ticket] = NULL;
    assert_int_equal(box.twice, 0);
    inbox_cleanup(&box);
    return result;
}

static void run_once(const attack_case *c, const char *word, bool is_async)
{
    static char input[20 << 20];
    char script[SCRIPT_MAX];
    gbx_call call;
    gbx_result *result;
    size_t rss_kib;
    double start;

    fill_script(c, word, script, sizeof script);
    call = script_of(script);
    call.limits = &c->limits;
    if (c->input > 0) {
        memset(input, '1', (size_t)c->input);
        call.input = input;
        call.input_len = (size_t)c->input;
    }
    proc_reset_peak();
    rss_kib = proc_rss_kib();
    start = now_ms();
    result = drive(&call, is_async);
    start = now_ms() - start;
    check_result(c, word, result);
    gbx_result_free(result);
    if (start >
        SLOWNESS * (double)(c->within >= 0 ? c->within : c->limits.timeout_ms + 1500))
        fail_msg("%s took %.0f ms", c->name, start);
    if (COUNTS_MEMORY && !loop_runner_is_on() && /* it is both machines */
        proc_peak_kib() > rss_kib + (size_t)c->growth)
        fail_msg("%s: the host grew by %zu KiB", c->name, proc_peak_kib() - rss_kib);
    if (*c->event != 0)
        check_event(c->event);
    check_hostile_alive(engine);
}

static void run_both(const attack_case *c, const char *word)
{
    run_once(c, word, false);
    run_once(c, word, true);
}

static void test_case(void **state)
{
    attack_case *c = *state;
    char words[sizeof c->sweep];
    char *save = NULL;
    long from;
    long to;

    if (*c->sweep == 0) {
        run_both(c, "");
    } else if (sscanf(c->sweep, "%ld-%ld", &from, &to) == 2) {
        for (; from <= to; from++) {
            char word[24];

            (void)snprintf(word, sizeof word, "%ld", from);
            run_both(c, word);
        }
    } else {
        (void)snprintf(words, sizeof words, "%s", c->sweep);
        for (char *word = strtok_r(words, " ", &save); word != NULL;
             word = strtok_r(NULL, " ", &save))
            run_both(c, word);
    }
    footprint_check(&quiet);
}

static int start(void **state)
{
    gbx_options options = hostile_options("");

    options.max_workers = 16;
    options.limits.timeout_ms = 60000;
    options.on_event = on_event;
    engine = engine_start(&options);
    for (int i = 0; i < 3; i++)
        check_hostile_alive(engine);
    wait_until_full(engine);
    quiet = footprint_take();
    return 0;
}

static int finish(void **state)
{
    footprint none;

    gbx_engine_free(engine);
    none = footprint_take();
    assert_int_equal(none.processes, 0);
    assert_int_equal(none.zombies, 0);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const attack_case *)a)->name, ((const attack_case *)b)->name);
}

/* All cases, or those whose name begins with the argument. */
int main(int argc, char **argv)
{
    static struct CMUnitTest tests[CASES_MAX];
    DIR *dir = opendir(GBX_CASES);
    size_t count = 0;

    if (dir == NULL)
        return 1;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (strstr(e->d_name, ".case") != NULL && count < CASES_MAX &&
            (argc < 2 || strncmp(e->d_name, argv[1], strlen(argv[1])) == 0))
            read_case(e->d_name, &cases[count++]);
    (void)closedir(dir);
    qsort(cases, count, sizeof cases[0], by_name);
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, test_case, NULL, NULL, &cases[i]};
    return _cmocka_run_group_tests("hostile calls", tests, count, start, finish);
}
