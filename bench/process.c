/* SPDX-License-Identifier: MIT */
/* process - what the machine sees: whole commands, and memory by /proc. */
#include "bench/bench.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fail.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COLD_RUNS 21
#define PIDS_MAX  1024

static void free_engine(gbx_engine **engine)
{
    gbx_engine_free(*engine);
}

static void close_dir(DIR **dir)
{
    if (*dir != NULL)
        (void)closedir(*dir);
}

static void close_file(FILE **file)
{
    if (*file != NULL)
        (void)fclose(*file);
}

/* ---- cold ----------------------------------------------------------------------- */

/* In a bundle lib/ld.so is what was executed last, by bin/glovebox. */
static void find_command(char path[PATH_MAX])
{
    static const char loader[] = "/lib/ld.so";
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof "/bin/glovebox");
    char *end;

    path[n > 0 ? n : 0] = '\0';
    end = path + strlen(path) - (n > (ssize_t)sizeof loader ? sizeof loader - 1 : 0);
    if (strcmp(end, loader) == 0)
        memcpy(end, "/bin/glovebox", sizeof "/bin/glovebox");
}

/* This very command, from exec to exit, in milliseconds; -1 if it did not succeed. */
static double run_cold(const posix_spawn_file_actions_t *quiet)
{
    char path[PATH_MAX];
    char name[] = "glovebox";
    char command[] = "run";
    char code[] = "() => 1";
    char *const argv[] = {name, command, code, NULL};
    int64_t before;
    int status = -1;
    pid_t pid;

    find_command(path);
    before = gbx_clock_now_ns();
    if (posix_spawn(&pid, path, quiet, NULL, argv, environ) != 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status == 0 ? (double)(gbx_clock_now_ns() - before) / 1e6 : -1;
}

static void cold(gbx_bench *bench)
{
    static const char label[] = "glovebox run, cold, exec to exit, median";
    posix_spawn_file_actions_t quiet;
    double ms[COLD_RUNS];
    size_t count = 0;

    if (posix_spawn_file_actions_init(&quiet) != 0)
        return;
    (void)posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                           0);
    while (count < COLD_RUNS) {
        ms[count] = run_cold(&quiet);
        if (ms[count] < 0)
            break;
        count++;
    }
    (void)posix_spawn_file_actions_destroy(&quiet);
    if (count < COLD_RUNS)
        gbx_bench_skip(bench, "run_cold", label, "the command did not end well");
    else
        gbx_bench_add(bench, "run_cold", label, gbx_bench_percentile(ms, count, 0.5),
                      "ms");
}

/* ---- memory ------------------------------------------------------------------- */

/* The parent of a process that has memory, or 0. Its name may hold spaces and ')': look from the end. */
static pid_t parent_of(const char *pid)
{
    char path[64];
    char line[512];
    GBX_CLEANUP(close_file) FILE *file = NULL;
    const char *after;
    size_t len;

    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    len = fread(line, 1, sizeof line - 1, file);
    line[len] = '\0';
    after = strrchr(line, ')');
    if (after == NULL || strlen(after) <= 4 || after[2] == 'Z')
        return 0;
    return (pid_t)strtol(after + 4, NULL, 10);
}

/* The children of any of parents, at most PIDS_MAX. */
static size_t children_of(const pid_t *parents, size_t parent_count, pid_t *ret)
{
    GBX_CLEANUP(close_dir) DIR *dir = opendir("/proc");
    const struct dirent *entry;
    size_t count = 0;

    while (dir != NULL && count < PIDS_MAX && (entry = readdir(dir)) != NULL) {
        pid_t parent;

        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        parent = parent_of(entry->d_name);
        for (size_t i = 0; i < parent_count; i++) {
            if (parents[i] == parent) {
                ret[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
                break;
            }
        }
    }
    return count;
}

/* The proportional set size in KiB, or -1 if it may not be read. */
static double pss_of(pid_t pid)
{
    char path[64];
    char line[256];
    GBX_CLEANUP(close_file) FILE *file = NULL;

    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Pss:", 4) == 0)
            return strtod(line + 4, NULL);
    return -1;
}

/* Workers share what they were forked with: how much is one's depends on how many there are.
 * Calls in a row fill the pool. */
static void fill_pool(gbx_engine *engine)
{
    gbx_call call = GBX_CALL_INIT;

    call.code = "() => 1";
    call.code_len = strlen(call.code);
    for (int i = 0; i < 5; i++)
        (void)gbx_bench_call(engine, &call, GBX_CODE_VALUE, NULL);
}

static void memory(gbx_bench *bench)
{
    static const char label[] = "memory of an idle worker of five (PSS), median";
    gbx_error err;
    GBX_CLEANUP(free_engine)
    gbx_engine *engine = gbx_bench_engine(bench, NULL, 0, &err);
    pid_t self = getpid();
    pid_t templates[PIDS_MAX];
    pid_t workers[PIDS_MAX];
    double mib[PIDS_MAX];
    size_t count;

    if (engine == NULL) {
        gbx_bench_skip(bench, "idle_worker_pss", label, err.message);
        return;
    }
    fill_pool(engine);
    gbx_bench_settle(200);
    count = children_of(&self, 1, templates);
    count = children_of(templates, count, workers);
    for (size_t i = 0; i < count; i++) {
        mib[i] = pss_of(workers[i]) / 1024;
        if (mib[i] < 0) {
            gbx_bench_skip(bench, "idle_worker_pss", label,
                           "a worker is closed to inspection: only root may look");
            return;
        }
    }
    if (count == 0)
        gbx_bench_skip(bench, "idle_worker_pss", label, "no worker process was found");
    else
        gbx_bench_add(bench, "idle_worker_pss", label,
                      gbx_bench_percentile(mib, count, 0.5), "MiB");
}

/* ---- public to other modules -------------------------------------------- */

double gbx_bench_descendants(size_t *ret_count)
{
    static pid_t levels[2][PIDS_MAX];
    pid_t self = getpid();
    size_t count = children_of(&self, 1, levels[0]);
    double kib = 0;

    *ret_count = 0;
    for (size_t level = 0; count > 0; level++) {
        const pid_t *pids = levels[level % 2];

        *ret_count += count;
        for (size_t i = 0; i < count && kib >= 0; i++) {
            double own = pss_of(pids[i]);

            kib = own < 0 ? -1 : kib + own;
        }
        count = children_of(pids, count, levels[(level + 1) % 2]);
    }
    return kib < 0 ? -1 : kib / 1024;
}

void gbx_bench_processes(gbx_bench *bench)
{
    cold(bench);
    memory(bench);
}
