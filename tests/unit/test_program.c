/* SPDX-License-Identifier: MIT */
/* program, environment, worker_uid - which program is executed, with what around it, and
 * as whom. */
#include "base/cleanup.h"
#include "engine/engine.h"
#include "engine/spawn.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file with a mode, in a folder of its own; its path. */
static char *make_file(mode_t mode)
{
    static char path[64];
    int fd;

    (void)snprintf(path, sizeof path, "/tmp/gbx-test-program-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    gbx_fd_close(&fd);
    return path;
}

static gbx_status open_program(const char *asked, char *path, gbx_error *error)
{
    int fd = -1;
    gbx_status status = gbx_worker_program_open(asked, &fd, path, 512, error);

    if (status == GBX_OK)
        assert_true((fcntl(fd, F_GETFL) & O_PATH) != 0 &&
                    (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    gbx_fd_close(&fd);
    return status;
}

TEST(program__asked_for_is_taken_before_the_environments)
{
    char *ours = make_file(0700);
    char path[512];
    gbx_error error;
    assert_int_equal(setenv("GLOVEBOX_WORKER", "/nowhere", 1), 0);

    assert_int_equal(open_program(ours, path, &error), GBX_OK);

    assert_string_equal(path, ours);
    (void)unlink(ours);
}

TEST(program__of_the_environment_decides_alone)
{
    char *ours = make_file(0700);
    char path[512];
    gbx_error error;
    assert_int_equal(setenv("GLOVEBOX_WORKER", ours, 1), 0);

    assert_int_equal(open_program(NULL, path, &error), GBX_OK);
    assert_string_equal(path, ours);
    (void)unlink(ours);

    assert_int_equal(open_program(NULL, path, &error), GBX_E_OS);
    assert_non_null(strstr(error.message, ours));
}

TEST(program__must_be_a_file_that_can_be_executed)
{
    char *plain = make_file(0600);
    char path[512];
    gbx_error error;

    assert_int_equal(open_program(plain, path, &error), GBX_E_OS);
    assert_non_null(strstr(error.message, "Permission denied"));
    assert_int_equal(open_program("/tmp", path, &error), GBX_E_OS);
    assert_int_equal(open_program("/dev/null", path, &error), GBX_E_OS);

    (void)unlink(plain);
}

TEST(program__nowhere_to_be_found_says_what_to_do)
{
    char path[512];
    gbx_error error;
    gbx_status status;
    assert_int_equal(setenv("GLOVEBOX_WORKER", "", 1), 0); /* as if it were not set */

    status = open_program(NULL, path, &error);

    if (status != GBX_OK) /* it may be installed, or stand beside this test */
        assert_non_null(strstr(error.message, "set GLOVEBOX_WORKER"));
    else
        assert_non_null(strstr(path, "glovebox-worker"));
}

/* ---- what it said -------------------------------------------------------------------- */

static const char *said(const char *text)
{
    static char to[GBX_SAID_SIZE];

    return gbx_worker_said(text, strlen(text), false, to);
}

TEST(said__names_the_missing_library_and_its_package)
{
    static const char *const rows[][2] = {
        {"libjavascriptcoregtk-4.1.so.0", "libjavascriptcoregtk-4.1-0"},
        {"libseccomp.so.2", "libseccomp2"},
        {"libicui18n.so.72", "libicu72"},
        {"libicudata.so.74", "libicu74"},
        {"libsystemd.so.0", NULL},
        {"libseccomp.so.", NULL},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        char line[256];
        char right[256];

        (void)snprintf(
            line, sizeof line,
            "glovebox-worker: error while loading shared libraries: %s: cannot "
            "open shared object file: No such file or directory\n",
            rows[i][0]);
        (void)snprintf(right, sizeof right, "the shared library '%s' is missing%s%s%s",
                       rows[i][0], rows[i][1] != NULL ? " (apt-get install " : "",
                       rows[i][1] != NULL ? rows[i][1] : "",
                       rows[i][1] != NULL ? ")" : "");
        assert_string_equal(said(line), right);
    }
}

TEST(said__of_anything_else_is_its_first_line)
{
    assert_string_equal(said(""), "");
    assert_string_equal(said("\n \n"), "");
    assert_string_equal(said(
                            "\nworker: /lib/libc.so.6: version `GLIBC_2.38' not found\n"
                            "and more\n"),
                        "worker: /lib/libc.so.6: version `GLIBC_2.38' not found");
    assert_string_equal(said(
                            "error while loading shared libraries: libz.so.1: file too "
                            "short"),
                        "error while loading shared libraries: libz.so.1: file too "
                        "short");
}

TEST(said__by_a_hostile_program_is_one_short_line)
{
    static const char long_name[] = "error while loading shared libraries: ";
    char text[2000];
    char to[GBX_SAID_SIZE];

    assert_string_equal(gbx_worker_said("\0\x1B[2J\xFF\r\n", 8, false, to),
                        "\\u{1b}[2J\xEF\xBF\xBD\\u{d}");
    memset(text, 0x1B, sizeof text);
    assert_true(strlen(gbx_worker_said(text, sizeof text, false, to)) < GBX_SAID_SIZE);
    memset(text, 'a', sizeof text);
    assert_int_equal(strlen(gbx_worker_said(text, sizeof text, false, to)),
                     GBX_SAID_SIZE - 1);
    memcpy(text, long_name, strlen(long_name));
    memcpy(text + 240, ": cannot open shared object file", 32);
    assert_true(strlen(gbx_worker_said(text, sizeof text, false, to)) < GBX_SAID_SIZE);
    assert_non_null(strstr(to, "is missing"));
}

TEST(said__by_a_bundle_names_no_package)
{
    static const char line[] =
        "glovebox-worker: error while loading shared libraries: "
        "libseccomp.so.2: cannot open shared object file: No such "
        "file or directory";
    char to[GBX_SAID_SIZE];

    assert_string_equal(
        gbx_worker_said(line, strlen(line), true, to),
        "the shared library 'libseccomp.so.2' is missing: unpack the bundle again");
}

/* ---- environment ------------------------------------------------------------------- */

static bool has(const char *const *environment, const char *text)
{
    for (; *environment != NULL; environment++)
        if (strcmp(*environment, text) == 0)
            return true;
    return false;
}

TEST(environment__is_built_and_nothing_of_ours)
{
    assert_int_equal(setenv("JSC_useWasm", "1", 1), 0);
    assert_int_equal(setenv("LD_PRELOAD", "/nowhere.so", 1), 0);

    for (gbx_jit jit = GBX_JIT_FULL; jit <= GBX_JIT_LONG; jit++) {
        const char *const *environment = gbx_worker_environment(jit);

        assert_true(has(environment, "JSC_useWasm=0"));
        assert_true(has(environment, "Malloc=1"));
        assert_true(has(environment, "TZ=UTC"));
        assert_true(has(environment, "JSC_useConcurrentJIT=0"));
        assert_true(has(environment, "JSC_numberOfGCMarkers=1"));
        assert_true(has(environment, "LD_BIND_NOW=1"));
        for (size_t i = 0; environment[i] != NULL; i++)
            if (strcmp(environment[i], "LD_BIND_NOW=1") != 0)
                assert_int_not_equal(strncmp(environment[i], "LD_", 3), 0);
    }
    assert_int_equal(unsetenv("LD_PRELOAD"), 0);
}

TEST(environment__follows_the_level_of_jit)
{
    assert_false(has(gbx_worker_environment(GBX_JIT_FULL), "JSC_useJIT=0"));
    assert_false(has(gbx_worker_environment(GBX_JIT_FULL), "JSC_useDFGJIT=0"));
    assert_true(has(gbx_worker_environment(GBX_JIT_BASELINE), "JSC_useDFGJIT=0"));
    assert_false(has(gbx_worker_environment(GBX_JIT_BASELINE), "JSC_useJIT=0"));
    assert_true(has(gbx_worker_environment(GBX_JIT_OFF), "JSC_useJIT=0"));
    assert_true(has(gbx_worker_environment(GBX_JIT_LONG), "JSC_useFTLJIT=0"));
    assert_false(has(gbx_worker_environment(GBX_JIT_LONG), "JSC_useDFGJIT=0"));
}

/* ---- worker_uid ---------------------------------------------------------------------- */

/* A machine on which each number is in use in one way, or in none. */
enum { PROCESS, USER_NAME, USER_TOO_LONG, GROUP_NAME, GROUP_TOO_LONG, FREE, WAYS };

static struct {
    bool is_there;
    bool is_full;
    uid_t host;
} machine;

static bool is_used(id_t id, int way)
{
    return machine.is_full || (int)(id % WAYS) == way;
}

uid_t __wrap_geteuid(void);
uid_t __real_geteuid(void);
int __wrap_getpriority(__priority_which_t which, id_t id);
int __wrap_getpwuid_r(uid_t id, struct passwd *user, char *text, size_t size,
                      struct passwd **ret);
int __wrap_getgrgid_r(gid_t id, struct group *group, char *text, size_t size,
                      struct group **ret);

uid_t __wrap_geteuid(void)
{
    return machine.is_there ? machine.host : __real_geteuid();
}

int __wrap_getpriority(__priority_which_t which, id_t id)
{
    assert_int_equal(which, PRIO_USER);
    if (is_used(id, PROCESS))
        return 0;
    errno = ESRCH;
    return -1;
}

int __wrap_getpwuid_r(uid_t id, struct passwd *user, char *text, size_t size,
                      struct passwd **ret)
{
    *ret = is_used(id, USER_NAME) ? user : NULL;
    return is_used(id, USER_TOO_LONG) ? ERANGE : 0;
}

int __wrap_getgrgid_r(gid_t id, struct group *group, char *text, size_t size,
                      struct group **ret)
{
    *ret = is_used(id, GROUP_NAME) ? group : NULL;
    return is_used(id, GROUP_TOO_LONG) ? ERANGE : 0;
}

static const char *choose(uint32_t asked)
{
    static char uids[GBX_WORKER_UIDS_SIZE];

    machine.is_there = true;
    gbx_worker_uid_choose(asked, uids);
    machine.is_there = false;
    return uids;
}

TEST(uid__is_one_without_a_name_and_without_a_process)
{
    machine.is_full = false;
    machine.host = 0;

    for (int i = 0; i < 200; i++) {
        unsigned uid = 0;
        unsigned other = 0;

        assert_int_equal(sscanf(choose(0), "%u,%u", &uid, &other), 2);
        assert_in_range(uid, 61184, 65519);
        assert_int_equal(uid % WAYS, FREE);
        assert_int_equal(other, 65534); /* where the kernel refuses the first */
    }
}

TEST(uid__is_nobodys_only_where_all_are_in_use)
{
    machine.is_full = true;
    machine.host = 0;

    assert_string_equal(choose(0), "65534,65534");
}

TEST(uid__that_is_configured_is_the_only_one)
{
    machine.is_full = true;
    machine.host = 0;

    assert_string_equal(choose(12345), "12345");
}

TEST(uid__of_a_host_that_is_not_root_stays)
{
    machine.is_full = false;
    machine.host = 1000;

    assert_string_equal(choose(0), "");
    assert_string_equal(choose(12345), "");
}

TEST_MAIN(NULL, NULL)
