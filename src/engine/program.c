/* SPDX-License-Identifier: MIT */
/*
 * program - finds and opens the worker program, chooses its user and its environment,
 * and explains why it failed to start. The file is opened once and executed by its
 * descriptor: the path is not looked up again, and the worker's user needs no access.
 */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "engine/spawn.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef GLOVEBOX_WORKER_INSTALLED
#    error \
        "GLOVEBOX_WORKER_INSTALLED must be the path that make install gives the worker"
#endif

static int open_program(const char *path)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;

    if (fd >= 0 &&
        (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_mode & 0111) == 0)) {
        gbx_fd_close(&fd);
        errno = EACCES;
    }
    return fd;
}

/* path: the directory of file, "/", rest; false if that does not fit. */
static bool beside(const char *file, const char *rest, char *path, size_t size)
{
    const char *slash = strrchr(file, '/');

    return slash != NULL && (size_t)snprintf(path, size, "%.*s/%s", (int)(slash - file),
                                             file, rest) < size;
}

static int search(char *path, size_t size)
{
    char exe[PATH_MAX];
    union {
        const char *(*function)(void);
        const void *address;
    } self = {.function = gbx_version};
    Dl_info info;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    int fd = -1;

    if (n > 0) {
        exe[n] = 0;
        if (beside(exe, "glovebox-worker", path, size))
            fd = open_program(path);
    }
    if (fd < 0 && dladdr(self.address, &info) != 0 && info.dli_fname != NULL &&
        beside(info.dli_fname, "../bin/glovebox-worker", path, size))
        fd = open_program(path);
    if (fd < 0 && (size_t)snprintf(path, size, "%s", GLOVEBOX_WORKER_INSTALLED) < size)
        fd = open_program(path);
    return fd;
}

/* The worker's libraries, and their packages in Debian and its derivatives, up to the
 * version number. */
static const struct library {
    const char *name;
    const char *package;
} libraries[] = {
    {"libjavascriptcoregtk-4.1.so.", "libjavascriptcoregtk-4.1-"},
    {"libseccomp.so.", "libseccomp"},
    {"libicui18n.so.", "libicu"},
    {"libicuuc.so.", "libicu"},
    {"libicudata.so.", "libicu"},
};

/* Explain the dynamic loader's message about a missing library: "PROGRAM: error while
 * loading shared libraries: LIBRARY: cannot open shared object file: ...". */
static bool say_missing_library(const char *line, bool is_bundled,
                                char to[GBX_SAID_SIZE])
{
    static const char loading[] = "error while loading shared libraries: ";
    static const char absent[] = ": cannot open shared object file";
    const char *at = strstr(line, loading);
    const char *library = at != NULL ? at + strlen(loading) : NULL;
    const char *end = at != NULL ? strstr(library, absent) : NULL;
    char package[96] = ": unpack the bundle again";

    if (end == NULL)
        return false;
    if (!is_bundled)
        package[0] = 0;
    for (size_t i = 0; !is_bundled && i < GBX_COUNTOF(libraries); i++) {
        int n = (int)strlen(libraries[i].name);

        if (end - library > n && strncmp(library, libraries[i].name, (size_t)n) == 0)
            (void)snprintf(package, sizeof package, " (apt-get install %s%.*s)",
                           libraries[i].package, (int)(end - library) - n, library + n);
    }
    (void)snprintf(to, GBX_SAID_SIZE, "the shared library '%.*s' is missing%s",
                   (int)(end - library < 128 ? end - library : 128), library, package);
    return true;
}

static bool is_limited(int resource)
{
    struct rlimit limit;

    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* If the program printed nothing: a guess from this process's limits and filters. */
static const char *likely_cause(void)
{
    if (is_limited(RLIMIT_AS))
        return "it needs more address space than it may have (RLIMIT_AS, ulimit -v)";
    if (is_limited(RLIMIT_DATA))
        return "it needs more memory than it may have (RLIMIT_DATA, ulimit -d)";
    if (access("/proc/self/maps", R_OK) != 0)
        return "it needs /proc, which is not mounted here";
    if (prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER)
        return "the filter of system calls that is in force here may end processes: let it "
               "refuse calls with an error, and allow 'seccomp' and 'mincore' (systemd: "
               "SystemCallErrorNumber=EPERM, SystemCallFilter=@system-service seccomp mincore)";
    return "";
}

/* A copy in memory that its owner may execute but not read; -1 with errno. */
static int copy_unreadable(int fd)
{
    GBX_CLEANUP(gbx_fd_close) int from = -1;
    GBX_CLEANUP(gbx_fd_close) int copy = memfd_create("glovebox-worker", MFD_CLOEXEC);
    struct stat st;
    char path[40];
    off_t at = 0;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0 || copy < 0 || fstat(from, &st) < 0)
        return -1;
    while (at < st.st_size)
        if (sendfile(copy, from, &at, (size_t)(st.st_size - at)) <= 0)
            return -1;
    if (fchmod(copy, 0100) < 0)
        return -1;
    /* A file that is open for writing cannot be executed. */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
    return open(path, O_PATH | O_CLOEXEC);
}

void gbx_worker_program_hide(int *fd)
{
    int copy;

    if (geteuid() == 0 || prctl(PR_GET_DUMPABLE) == 1)
        return;
    copy = copy_unreadable(*fd);
    if (copy >= 0) {
        gbx_fd_close(fd);
        *fd = copy;
    }
}

int gbx_worker_loader_open(const char *path, char *search_path, size_t size)
{
    char loader[PATH_MAX];
    char glibc[PATH_MAX];
    char others[PATH_MAX];

    if (!beside(path, "ld.so", loader, sizeof loader) ||
        !beside(path, "glibc", glibc, sizeof glibc) ||
        !beside(path, "", others, sizeof others) ||
        (size_t)snprintf(search_path, size, "%s:%s", glibc, others) >= size)
        return -1;
    return open_program(loader);
}

gbx_status gbx_worker_program_open(const char *asked, int *ret_fd, char *path,
                                   size_t path_size, gbx_error *reterr)
{
    /* Not in a set-id program, since the file that it names is executed. */
    const char *named = asked != NULL ? asked : secure_getenv("GLOVEBOX_WORKER");
    int fd;

    if (named != NULL && *named != 0) {
        (void)snprintf(path, path_size, "%s", named);
        fd = open_program(named);
    } else {
        fd = search(path, path_size);
    }
    if (fd < 0 && access("/proc/self", F_OK) != 0)
        return gbx_fail(reterr, GBX_E_OS,
                        "cannot find the worker program: /proc is not mounted here");
    if (fd < 0)
        return gbx_fail(reterr, GBX_E_OS,
                        "cannot open the worker program '%s': %s; set GLOVEBOX_WORKER "
                        "to where glovebox-worker is",
                        path, strerror(errno));
    *ret_fd = fd;
    return GBX_OK;
}

const char *gbx_worker_said(const void *data, size_t len, bool is_bundled,
                            char to[GBX_SAID_SIZE])
{
    const char *at = data;
    const char *end = at + len;
    const char *line_end;
    char line[GBX_SAID_SIZE];

    while (at < end && strchr(" \t\r\n", *at) != NULL) /* skips NULs too */
        at++;
    line_end = memchr(at, '\n', (size_t)(end - at));
    gbx_utf8_copy_line(line, sizeof line, at,
                       (size_t)((line_end != NULL ? line_end : end) - at));
    if (!say_missing_library(line, is_bundled, to))
        memcpy(to, line, sizeof line);
    return to;
}

gbx_status gbx_worker_died_early(const gbx_spawned *process, gbx_error *reterr)
{
    char data[2048];
    char said[GBX_SAID_SIZE];
    ssize_t n = process->said >= 0 ? read(process->said, data, sizeof data) : 0;
    const char *cause =
        gbx_worker_said(data, n > 0 ? (size_t)n : 0, process->is_bundled, said);

    if (*cause == 0)
        cause = likely_cause();
    errno = 0; /* the cause is not a system call of ours */
    return gbx_fail(reterr, GBX_E_OS, "the worker program died before it was ready%s%s",
                    *cause != 0 ? ": " : "", cause);
}

/* ---- the user that the templates of a root host become --------------------- */

/* systemd's range for services without their own user; systemd also tests that the uid
 * has no name. */
#define UID_FIRST 61184u
#define UID_LAST  65519u
#define TRIES     64

#define NOBODY 65534u

static bool is_named(uint32_t id)
{
    char text[4096];
    struct passwd user;
    struct passwd *named = NULL;
    struct group group;
    struct group *grouped = NULL;

    return getpwuid_r((uid_t)id, &user, text, sizeof text, &named) == ERANGE ||
           named != NULL ||
           getgrgid_r((gid_t)id, &group, text, sizeof text, &grouped) == ERANGE ||
           grouped != NULL;
}

static uint32_t find_free(void)
{
    uint32_t count = UID_LAST - UID_FIRST + 1;
    uint32_t at = 0;

    (void)!getrandom(&at, sizeof at, GRND_NONBLOCK);
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t uid = UID_FIRST + (at + i) % count;

        errno = 0; /* only finds processes that this one can see */
        (void)getpriority(PRIO_USER, (id_t)uid);
        if (errno == ESRCH && !is_named(uid))
            return uid;
    }
    return 0;
}

void gbx_worker_uid_choose(uint32_t asked, char to[GBX_WORKER_UIDS_SIZE])
{
    const size_t size = GBX_WORKER_UIDS_SIZE;
    uint32_t found;

    to[0] = 0;
    if (geteuid() != 0)
        return;
    if (asked != 0) {
        (void)snprintf(to, size, "%u", asked);
        return;
    }
    found = find_free();
    if (found != 0)
        (void)snprintf(to, size, "%u,%u", found, NOBODY);
    else
        (void)snprintf(to, size, "%u,%u", NOBODY, NOBODY);
}

/* ---- the environment of the worker program ------------------------------- */

/*
 * Nothing is taken from the host's environment: JSC_*, LD_PRELOAD, GLIBC_TUNABLES,
 * ICU_DATA and the like must never reach the engine.
 */

/*
 * The engine reads its options before main(). Malloc=1 and the marker count keep it at
 * one thread: a fork copies no other. The memory for compiled code is bounded, since it
 * is reserved up front and no limit counts its growth. Without tail calls, the stack
 * and so the reported line are those of the code. By default a small heap is first
 * collected after each MiB, four times in a call with an input of 1 MiB; doing so after
 * 2 MiB is as good, and still leaves little garbage. By default a large heap may hold
 * garbage of three times its size, counting a dataset in it, so that code that keeps
 * nothing would reach its memory limit; 16 MiB are enough. Symbols are bound at the
 * start: workers lack libraries that a search would pass (worker/maps.c), and each
 * would search again.
 */
#define COMMON                                                                        \
    "TZ=UTC", "LANG=C", "LD_BIND_NOW=1", "Malloc=1", "GIGACAGE_ENABLED=0",            \
        "JSC_useConcurrentJIT=0", "JSC_useConcurrentGC=0", "JSC_numberOfGCMarkers=1", \
        "JSC_useWasm=0", "JSC_useSharedArrayBuffer=0", "JSC_useTailCalls=0",          \
        "JSC_jitMemoryReservationSize=33554432", "JSC_smallHeapSize=2097152",         \
        "JSC_gcMaxHeapSize=16777216"

/*
 * The two upper compiler tiers use the only thread. For calls of milliseconds they
 * start later, once they save more than they cost; and entering a function counts as
 * one iteration of a loop, not as fifteen.
 */
#define SHORT                                            \
    COMMON, "JSC_thresholdForOptimizeAfterWarmUp=15000", \
        "JSC_executionCounterIncrementForEntry=1",       \
        "JSC_thresholdForFTLOptimizeAfterWarmUp=500000"

static const char *const full[] = {SHORT, NULL};
static const char *const baseline[] = {SHORT, "JSC_useDFGJIT=0", NULL};
static const char *const off[] = {SHORT, "JSC_useJIT=0", NULL};
/* JavaScriptCore's own thresholds; in calls of seconds, its last tier does not pay. */
static const char *const lasting[] = {COMMON, "JSC_useFTLJIT=0", NULL};
static const char *const *const environments[] = {
    [GBX_JIT_FULL] = full,
    [GBX_JIT_BASELINE] = baseline,
    [GBX_JIT_OFF] = off,
    [GBX_JIT_LONG] = lasting,
};

const char *const *gbx_worker_environment(gbx_jit jit)
{
    assert(jit != GBX_JIT_DEFAULT);
    return environments[jit];
}
