/* SPDX-License-Identifier: MIT */
/*
 * hostile_files - a worker program for each plan: links to one file under the names
 * that are the plans.
 */
#include "calls.h"
#include "test.h"

#include <limits.h>
#include <unistd.h>

#define FILES_MAX 128

static char directory[PATH_MAX];
static pid_t owner;
static char *files[FILES_MAX];
static size_t file_count;

static void remove_files(void)
{
    if (getpid() != owner)
        return; /* a forked child of the test */
    for (size_t i = 0; i < file_count; i++) {
        (void)unlink(files[i]);
        free(files[i]);
    }
    (void)rmdir(directory);
}

/* Beside the program itself: there files can be executed and linked to. */
static void make_directory(void)
{
    (void)snprintf(directory, sizeof directory, "%s.XXXXXX", HOSTILE_WORKER);
    if (mkdtemp(directory) == NULL)
        fail_msg("cannot make '%s': %s", directory, strerror(errno));
    owner = getpid();
    (void)atexit(remove_files);
}

const char *hostile_worker(const char *plan)
{
    char *path = NULL;

    if (file_count == 0)
        make_directory();
    for (size_t i = 0; i < file_count; i++)
        if (strcmp(strrchr(files[i], '@') + 1, plan) == 0)
            return files[i];
    if (asprintf(&path, "%s/hostile-worker@%s", directory, plan) < 0 ||
        file_count == FILES_MAX || link(HOSTILE_WORKER, path) < 0)
        fail_msg("cannot link '%s': %s", plan, strerror(errno));
    files[file_count++] = path;
    return path;
}

gbx_options hostile_options(const char *plan)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.worker_path = hostile_worker(plan);
    options.pool_size = 2;
    options.limits.timeout_ms = 2000;
    return options;
}
