/* SPDX-License-Identifier: MIT */
/* A worker program that is missing, cannot start, or is something else. */
#include "calls.h"
#include "child.h"
#include "engine/engine.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the worker program ----------------------------------------------------------------- */

static void check_no_engine(const char *path, const char *said)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_attack_session *session = NULL;
    gbx_error error = {0};
    gbx_error attack_error = {0};
    double begin = now_ms();

    options.worker_path = path;
    assert_int_equal(gbx_engine_new(&options, &engine, &error), GBX_E_OS);
    assert_null(engine);
    if (strstr(error.message, said) == NULL)
        fail_msg("'%s' is not in '%s'", said, error.message);
    if (strstr(error.message, "died before") != NULL)
        assert_int_equal(error.os_errno, 0); /* of no call of ours */
    assert_int_equal(gbx_attack_open(path, GBX_JIT_FULL, 0, &session, &attack_error),
                     GBX_E_OS);
    assert_string_equal(attack_error.message, error.message);
    assert_true(now_ms() - begin < 20000);
    assert_int_equal(proc_descendants() + proc_zombies(), 0);
}

TEST(worker_program__that_is_none)
{
    char text[] = "/tmp/glovebox-not-a-program.XXXXXX";
    int fd = mkstemp(text);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "not a program\n", 14), 14);
    (void)close(fd);
    check_no_engine("/nonexistent/glovebox-worker", "/nonexistent/glovebox-worker");
    check_no_engine("/", "'/'");
    check_no_engine("/dev/null", "/dev/null");
    check_no_engine(text, text); /* not executable */
    assert_int_equal(chmod(text, 0755), 0);
    check_no_engine(text, text); /* executable, and no program */
    check_no_engine("/bin/true", "died before it was ready");
    check_no_engine("/bin/false", "died before it was ready");
    check_no_engine("/bin/cat", "died before it was ready");
    check_no_engine("/bin/sh", "died before it was ready");
    (void)unlink(text);
}

TEST(worker_program__without_its_library_names_it)
{
    check_no_engine(LIBRARYLESS_PROGRAM, "died before it was ready: the shared library "
                                         "'liblibrarygone-library.so' is missing");
}

TEST(worker_program__of_another_version_names_both)
{
    char command[600];
    char said[300] = "";
    FILE *program;

    (void)snprintf(command, sizeof command, "'%s' --serve 9999 2>&1",
                   getenv("GLOVEBOX_WORKER"));
    program = popen(command, "re");
    assert_non_null(program);
    (void)!fgets(said, sizeof said, program);
    assert_true(pclose(program) != 0);
    if (strstr(said, "the library speaks protocol 9999: install both of one") == NULL)
        fail_msg("it said '%s'", said);
}

/* ---- a kernel, or a container, without what is needed --------------------------------- */

static const struct call {
    int number;
    const char *name;
} calls[] = {
    {SYS_close_range, "close_range"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_pidfd_send_signal, "pidfd_send_signal"},
    {SYS_seccomp, "seccomp"},
};

static const struct call *lacking;

/* Whether the engine does not start or has no worker, the words are the same. */
static bool is_named(void)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of("() => 1");
    gbx_engine *engine = NULL;
    gbx_result *result = NULL;
    gbx_error error = {0};
    const char *said = error.message;

    options.limits.timeout_ms = 1000;
    CHECK(proc_forbid(lacking->number, ENOSYS));
    if (gbx_engine_new(&options, &engine, &error) == GBX_OK) {
        CHECK(gbx_execute(engine, &call, &result, NULL) == GBX_OK);
        said = gbx_result_error(result);
    }
    if (strstr(said, lacking->name) == NULL || strstr(said, "it needs Linux") == NULL) {
        (void)dprintf(2, "%s: '%s'\n", lacking->name, said);
        return false;
    }
    gbx_result_free(result);
    if (engine != NULL)
        gbx_engine_free(engine);
    return proc_descendants() + proc_zombies() == 0;
}

TEST(kernel__without_a_call_is_named_with_the_linux_that_has_it)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        lacking = &calls[i];
        in_child(is_named);
    }
}

TEST(worker_program__of_a_path_too_long)
{
    char path[600];
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;

    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    options.worker_path = path;
    assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_E_USAGE);
}

TEST_MAIN(NULL, NULL)
