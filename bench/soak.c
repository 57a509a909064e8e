/* SPDX-License-Identifier: MIT */
/*
 * soak - many calls and many aborts on one engine, and what the host has left of them:
 * processes, descriptors, mappings, resident memory. Fails if any of it grows.
 *
 *     glovebox-soak CALLS ABORTS
 *
 * The calls are a mixture: values, a thrown error, a syntax error, console lines, a
 * timer, a result too large. Each result is checked. The aborted calls are endless ones,
 * ended at a time of their own, from before the start to well into the run.
 */
#include <glovebox/glovebox.h>

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define REPORTS 10

/* What the host may have more at the end than after the first tenth: none of what is
 * counted, and of memory what an allocator may keep. */
#define GROWTH_KIB   1024
#define MAPPINGS_MAX 4

/* How long a pool may take to be full again, on a machine with other work. */
#define QUIET_MS 60000

typedef struct kind {
    const char *code;
    gbx_code wanted;
    const char *value; /* NULL: any */
} kind;

static const kind kinds[] = {
    {"(data) => data.length", GBX_CODE_VALUE, "3"},
    {"(data) => data.map((x) => x * 2)", GBX_CODE_VALUE, "[2,4,6]"},
    {"async (data) => { await null; return { sum: data.reduce((a, b) => a + b) } }",
     GBX_CODE_VALUE, "{\"sum\":6}"},
    {"(data) => { console.log('a', data); return 1 }", GBX_CODE_VALUE, "1"},
    {"() => { throw new TypeError('as asked') }", GBX_CODE_RUNTIME, NULL},
    {"() => { return (1; }", GBX_CODE_SYNTAX, NULL},
    {"() => 'x'.repeat(2e6)", GBX_CODE_OUTPUT_TOO_LARGE, NULL},
    {"async () => { await sleep(1); return null }", GBX_CODE_VALUE, "null"},
};

static gbx_engine *engine;
static atomic_size_t calls_left;
static atomic_size_t aborts_left;
static atomic_size_t wrong;

typedef struct footing {
    size_t processes; /* template and workers */
    size_t zombies;
    size_t descriptors;
    size_t mappings;
    size_t resident_kib;
} footing;

static void pause_us(long us)
{
    struct timespec ts = {.tv_nsec = us * 1000};

    (void)nanosleep(&ts, NULL);
}

/* One of what is left to do; false if nothing is. */
static bool take(atomic_size_t *left)
{
    size_t n = atomic_load(left);

    while (n > 0 && !atomic_compare_exchange_weak(left, &n, n - 1))
        continue;
    return n > 0;
}

static void run_one(const kind *k)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_result *result = NULL;
    size_t len;

    call.code = k->code;
    call.code_len = strlen(k->code);
    call.input = "[1,2,3]";
    call.input_len = 7;
    if (gbx_execute(engine, &call, &result, NULL) != GBX_OK ||
        gbx_result_code(result) != k->wanted ||
        (k->value != NULL && strcmp(gbx_result_value(result, &len), k->value) != 0)) {
        if (atomic_fetch_add(&wrong, 1) < 10 && result != NULL)
            (void)fprintf(stderr, "not as wanted: %s\n", gbx_result_json(result, NULL));
    }
    gbx_result_free(result);
}

static void *run_calls(void *unused)
{
    for (size_t i = 0; take(&calls_left); i++)
        run_one(&kinds[i % (sizeof kinds / sizeof kinds[0])]);
    return NULL;
}

typedef struct aborted {
    gbx_signal *signal;
    long after_us;
} aborted;

static void *throw_signal(void *arg)
{
    const aborted *a = arg;

    pause_us(a->after_us);
    gbx_signal_abort(a->signal);
    return NULL;
}

static void *run_aborts(void *unused)
{
    static const char code[] = "() => { for (;;) ; }";

    for (long i = 0; take(&aborts_left); i++) {
        aborted a = {.signal = gbx_signal_new(), .after_us = i % 30 * 100};
        gbx_call call = GBX_CALL_INIT;
        gbx_result *result = NULL;
        pthread_t thread;

        call.code = code;
        call.code_len = sizeof code - 1;
        call.signal = a.signal;
        if (a.signal == NULL || pthread_create(&thread, NULL, throw_signal, &a) != 0)
            exit(1);
        if (gbx_execute(engine, &call, &result, NULL) != GBX_OK ||
            gbx_result_code(result) != GBX_CODE_ABORTED)
            atomic_fetch_add(&wrong, 1);
        gbx_result_free(result);
        (void)pthread_join(thread, NULL);
        gbx_signal_free(a.signal);
    }
    return NULL;
}

/* ---- what there is ------------------------------------------------------------ */

static size_t count_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t count = 0;
    int byte;

    while (f != NULL && (byte = getc(f)) != EOF)
        count += byte == '\n';
    if (f != NULL)
        (void)fclose(f);
    return count;
}

#define SEEN_MAX 8192

/* The children of parents, and theirs: templates and workers. A pid namespace does not
 * hide them from its own parent's. */
static void count_processes(footing *ret)
{
    static struct seen {
        int pid;
        int parent;
        char state;
        bool is_ours;
    } seen[SEEN_MAX];
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    size_t count = 0;

    while (proc != NULL && count < SEEN_MAX && (entry = readdir(proc)) != NULL) {
        struct seen *p = &seen[count];
        char path[300];
        FILE *f;

        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        (void)snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        f = fopen(path, "r");
        if (f == NULL)
            continue;
        p->is_ours = false;
        count += fscanf(f, "%d (%*[^)]) %c %d", &p->pid, &p->state, &p->parent) == 3;
        (void)fclose(f);
    }
    if (proc != NULL)
        (void)closedir(proc);
    for (int generation = 0; generation < 2; generation++)
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < count && !seen[i].is_ours; k++)
                seen[i].is_ours = seen[i].parent == (int)getpid() ||
                                  (seen[i].parent == seen[k].pid && seen[k].is_ours);
    for (size_t i = 0; i < count; i++) {
        ret->processes += seen[i].is_ours && seen[i].state != 'Z';
        ret->zombies += seen[i].is_ours && seen[i].state == 'Z';
    }
}

static footing look(void)
{
    footing now = {0};
    DIR *fds = opendir("/proc/self/fd");
    FILE *f = fopen("/proc/self/statm", "r");
    size_t pages = 0;

    while (fds != NULL && readdir(fds) != NULL)
        now.descriptors++;
    if (fds != NULL)
        (void)closedir(fds);
    if (f != NULL && fscanf(f, "%*u %zu", &pages) != 1)
        pages = 0;
    if (f != NULL)
        (void)fclose(f);
    now.resident_kib = pages * (size_t)getpagesize() / 1024;
    now.mappings = count_lines("/proc/self/maps");
    count_processes(&now);
    return now;
}

/* Is every worker of the pool ready, and no other alive? */
static bool is_quiet(void)
{
    char *report = NULL;
    const char *pool;
    unsigned size = 0;
    unsigned ready = 0;
    unsigned workers = 0;

    if (gbx_engine_report(engine, &report, NULL) != GBX_OK)
        return false;
    pool = strstr(report, "\"pool\":");
    if (pool != NULL &&
        sscanf(pool, "\"pool\":{\"size\":%u,\"ready\":%u,\"workers\":%u", &size, &ready,
               &workers) != 3)
        size = 0;
    gbx_string_free(report);
    return size > 0 && ready == size && workers == size;
}

/* When the pool is full again and the dead are buried: then counts can be compared. A
 * retired template may outlive its last worker by a moment. */
static footing look_when_quiet(size_t processes)
{
    footing now = {0};

    for (int ms = 0; ms < QUIET_MS; ms += 50) {
        now = look();
        if (is_quiet() && now.zombies == 0 &&
            (processes == 0 || now.processes == processes))
            break;
        pause_us(50000);
    }
    (void)malloc_trim(0);
    return look();
}

static double now_s(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void show(const char *when, const footing *f, double since_s)
{
    (void)printf("%-22s %9zu %7zu %11zu %8zu %12zu %8.1f\n", when, f->processes,
                 f->zombies, f->descriptors, f->mappings, f->resident_kib,
                 now_s() - since_s);
    (void)fflush(stdout);
}

static void run_part(size_t calls, size_t aborts)
{
    pthread_t threads[THREADS + 1];

    atomic_store(&calls_left, calls);
    atomic_store(&aborts_left, aborts);
    for (size_t i = 0; i <= THREADS; i++)
        if (pthread_create(&threads[i], NULL, i < THREADS ? run_calls : run_aborts,
                           NULL) != 0)
            exit(1);
    for (size_t i = 0; i <= THREADS; i++)
        (void)pthread_join(threads[i], NULL);
}

/* Everything that is not as it was, by name. */
static size_t count_faults(const footing *first, const footing *now)
{
    const struct {
        const char *what;
        size_t had;
        size_t has;
        size_t more; /* that is let pass */
    } all[] = {
        {"processes", first->processes, now->processes, 0},
        {"zombies", 0, now->zombies, 0},
        {"descriptors", first->descriptors, now->descriptors, 0},
        {"mappings", first->mappings, now->mappings, MAPPINGS_MAX},
        {"resident KiB", first->resident_kib, now->resident_kib, GROWTH_KIB},
    };
    size_t faults = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].has <= all[i].had + all[i].more)
            continue;
        (void)printf("grew: %s, %zu to %zu\n", all[i].what, all[i].had, all[i].has);
        faults++;
    }
    return faults;
}

/* What the engine leaves when it has ended: nothing. */
static size_t count_rest(const footing *before)
{
    footing now = look();

    if (now.processes == 0 && now.zombies == 0 &&
        now.descriptors <= before->descriptors)
        return 0;
    (void)printf("left: %zu processes, %zu zombies, %zu descriptors of %zu\n",
                 now.processes, now.zombies, now.descriptors, before->descriptors);
    return 1;
}

static size_t soak(size_t calls, size_t aborts)
{
    double since_s = now_s();
    footing start = look_when_quiet(0);
    footing first = {0};
    footing now = {0};

    (void)printf("%-22s %9s %7s %11s %8s %12s %8s\n", "after calls", "processes",
                 "zombies", "descriptors", "mappings", "resident KiB", "seconds");
    show("0", &start, since_s);
    for (size_t i = 1; i <= REPORTS; i++) {
        char when[64];

        run_part(calls / REPORTS, aborts / REPORTS);
        now = look_when_quiet(start.processes);
        if (i == 1)
            first = now;
        (void)snprintf(when, sizeof when, "%zu + %zu", calls / REPORTS * i,
                       aborts / REPORTS * i);
        show(when, &now, since_s);
    }
    first.processes = start.processes;
    return count_faults(&first, &now);
}

int main(int argc, char **argv)
{
    size_t calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    size_t aborts = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    footing before = look();
    gbx_error err;
    size_t faults;

    if (argc != 3 || calls < REPORTS) {
        (void)fprintf(stderr, "usage: glovebox-soak CALLS ABORTS\n");
        return 64;
    }
    if (gbx_engine_new(NULL, &engine, &err) != GBX_OK) {
        (void)fprintf(stderr, "glovebox-soak: %s\n", err.message);
        return 1;
    }
    faults = soak(calls, aborts);
    gbx_engine_free(engine);
    faults += count_rest(&before) + atomic_load(&wrong);
    (void)printf("results not as wanted: %zu\n%s\n", atomic_load(&wrong),
                 faults == 0 ? "nothing grew" : "FAILED");
    return faults == 0 ? 0 : 1;
}
