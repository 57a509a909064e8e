/* SPDX-License-Identifier: MIT */
/*
 * Hosts that are not as one would like them: signals and children handled their own
 * way, a hostile environment, no descriptors or processes to spare, a worker program
 * that is missing, a machine that is busy.
 */
#include "calls.h"
#include "proc.h"
#include "until.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

/* In a forked child, where asserts cannot be used: say what failed, and where. */
#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            (void)dprintf(2, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            return false;                                                    \
        }                                                                    \
    } while (0)

static bool gives(gbx_engine *engine, const char *code, const char *value)
{
    gbx_call call = call_of(code);
    gbx_result *result = NULL;
    bool right;

    if (gbx_execute(engine, &call, &result, NULL) != GBX_OK)
        return false;
    right = gbx_result_code(result) == GBX_CODE_VALUE &&
            strcmp(gbx_result_value(result, NULL), value) == 0;
    if (!right)
        (void)dprintf(2, "%s\n", gbx_result_json(result, NULL));
    gbx_result_free(result);
    return right;
}

static bool is_alive(void *user)
{
    gbx_call call = call_of("() => 2");

    return call_code(user, &call) == GBX_CODE_VALUE;
}

static bool ends_as(gbx_engine *engine, const char *code, gbx_code expected)
{
    gbx_limits limits = timeout_of(150);
    gbx_call call = call_of(code);

    call.limits = &limits;
    return call_code(engine, &call) == expected;
}

static bool new_engine(gbx_engine **ret)
{
    gbx_error error = {0};

    if (gbx_engine_new(NULL, ret, &error) == GBX_OK)
        return true;
    (void)dprintf(2, "%s\n", error.message);
    return false;
}

/* One engine from start to end, with the ways a call can end that meet waitpid. */
static bool live_a_life(void)
{
    gbx_engine *engine = NULL;

    CHECK(new_engine(&engine));
    for (int i = 0; i < 5; i++) {
        CHECK(gives(engine, "() => [1, 'two', 3.5]", "[1,\"two\",3.5]"));
        CHECK(ends_as(engine, "() => { for (;;); }", GBX_CODE_TIMEOUT));
    }
    gbx_engine_free(engine);
    CHECK(proc_descendants() == 0);
    return true;
}

/* ---- children and signals -------------------------------------------------------- */

static bool ignore_children(void)
{
    (void)signal(SIGCHLD, SIG_IGN);
    return live_a_life();
}

static void test_host__that_ignores_its_children(void **state)
{
    (void)state;
    in_child(ignore_children);
}

static void on_child(int number)
{
    int saved = errno;

    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = saved;
}

static bool handle_children(void)
{
    (void)signal(SIGCHLD, on_child);
    return live_a_life();
}

static void test_host__that_reaps_in_a_handler(void **state)
{
    (void)state;
    in_child(handle_children);
}

static void *reap_for_ever(void *arg)
{
    static const struct timespec pause = {0, 200000};
    atomic_bool *is_over = arg;

    while (!*is_over)
        if (waitpid(-1, NULL, 0) < 0)
            (void)nanosleep(&pause, NULL);
    return NULL;
}

static bool reap_in_a_thread(void)
{
    atomic_bool is_over = false;
    pthread_t thread;
    bool lived;

    CHECK(pthread_create(&thread, NULL, reap_for_ever, &is_over) == 0);
    lived = live_a_life() && live_a_life();
    is_over = true;
    (void)pthread_join(thread, NULL);
    return lived;
}

static void test_host__that_waits_for_any_child(void **state)
{
    (void)state;
    in_child(reap_in_a_thread);
}

static atomic_int interrupts;

static void on_interrupt(int number)
{
    (void)number;
    interrupts++;
}

static bool be_interrupted(void)
{
    struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART */
    struct itimerval often = {{0, 700}, {0, 700}};
    struct itimerval never = {{0, 0}, {0, 0}};
    bool lived;

    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &often, NULL);
    lived = live_a_life();
    (void)setitimer(ITIMER_REAL, &never, NULL);
    CHECK(interrupts > 100);
    return lived;
}

static void test_host__whose_system_calls_are_interrupted(void **state)
{
    (void)state;
    in_child(be_interrupted);
}

static bool block_signals(void)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    return live_a_life();
}

static void test_host__that_blocks_every_signal(void **state)
{
    (void)state;
    in_child(block_signals);
}

/* ---- environment ------------------------------------------------------------------- */

static bool be_misled(void)
{
    static const char *const hostile[] = {
        "JSC_useJIT=0",
        "JSC_useConcurrentGC=1",
        "JSC_numberOfGCMarkers=8",
        "JSC_useDollarVM=1",
        "JSC_useWasm=1",
        "JSC_useSharedArrayBuffer=1",
        "JSC_dumpOptions=3",
        "GIGACAGE_ENABLED=1",
        "Malloc=0",
        "LD_PRELOAD=/nonexistent/evil.so",
        "LD_LIBRARY_PATH=/nonexistent",
        "GLIBC_TUNABLES=glibc.malloc.check=3",
        "ICU_DATA=/nonexistent",
        "TZ=Pacific/Kiritimati",
        "LANG=tr_TR.UTF-8",
        "LC_ALL=tr_TR.UTF-8",
        "SECRET=canary",
    };

    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        char *copy = strdup(hostile[i]);

        CHECK(putenv(copy) == 0);
    }
    return true;
}

static bool use_hostile_environment(void)
{
    gbx_engine *engine = NULL;
    char path[64];
    char text[4096];
    ssize_t n;
    int fd;

    CHECK(be_misled());
    CHECK(new_engine(&engine));
    CHECK(gives(engine, "() => new Date(0).getTimezoneOffset()", "0"));
    CHECK(gives(engine,
                "() => typeof WebAssembly + typeof $vm + typeof SharedArrayBuffer",
                "\"undefinedundefinedundefined\""));
    CHECK(gives(engine, "() => 'I'.toLocaleLowerCase()", "\"i\""));
    CHECK(gives(engine, "() => Intl.DateTimeFormat().resolvedOptions().timeZone",
                "\"UTC\""));
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)proc_template());
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) { /* where we may look */
        n = read(fd, text, sizeof text - 1);
        (void)close(fd);
        for (ssize_t i = 0; i < n; i++)
            text[i] = text[i] == 0 ? ' ' : text[i];
        text[n > 0 ? n : 0] = 0;
        CHECK(strstr(text, "SECRET") == NULL && strstr(text, "LD_") == NULL);
        CHECK(strstr(text, "Kiritimati") == NULL && strstr(text, "DollarVM") == NULL);
    }
    gbx_engine_free(engine);
    return true;
}

static void test_host__with_a_hostile_environment(void **state)
{
    (void)state;
    in_child(use_hostile_environment);
}

static bool use_another_locale(void)
{
    gbx_engine *engine = NULL;

    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed */
    CHECK(new_engine(&engine));
    CHECK(gives(engine, "() => 1.5", "1.5"));
    gbx_engine_free(engine);
    return true;
}

static void test_host__of_another_locale(void **state)
{
    (void)state;
    in_child(use_another_locale);
}

/* ---- descriptors -------------------------------------------------------------------- */

static bool close_the_first(void)
{
    (void)close(0);
    (void)close(1);
    CHECK(live_a_life());
    (void)close(2);
    return live_a_life();
}

static void test_host__without_standard_descriptors(void **state)
{
    (void)state;
    in_child(close_the_first);
}

static bool leave_descriptors_open(void)
{
    gbx_engine *engine = NULL;
    char path[64];
    DIR *dir;

    for (int i = 0; i < 50; i++) /* inheritable, and of something */
        CHECK(open("/etc/passwd", O_RDONLY) >= 0);
    CHECK(new_engine(&engine));
    CHECK(is_alive(engine));
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)proc_template());
    dir = opendir(path);
    if (dir != NULL) { /* where we may look */
        for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
            char target[256] = "";
            ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof target - 1);

            CHECK(n <= 0 || strstr(target, "passwd") == NULL);
        }
        (void)closedir(dir);
    }
    gbx_engine_free(engine);
    return true;
}

static void test_template__has_no_descriptor_of_the_host(void **state)
{
    (void)state;
    in_child(leave_descriptors_open);
}

/* With n descriptors left an engine starts and works or says clearly why not; with
 * enough again it works. */
static bool run_out_of_descriptors(void)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t spare = 0; spare <= 40; spare += spare < 12 ? 1 : 4) {
        struct rlimit tight = {proc_fds() + spare, limit.rlim_max};
        gbx_engine *engine = NULL;
        gbx_error error = {0};
        gbx_status status;

        CHECK(setrlimit(RLIMIT_NOFILE, &tight) == 0);
        status = gbx_engine_new(NULL, &engine, &error);
        if (status == GBX_OK) {
            gbx_limits limits = timeout_of(200);
            gbx_call call = call_of("() => 1");

            call.limits = &limits;
            for (int i = 0; i < 3; i++) {
                gbx_code code = call_code(engine, &call);

                CHECK(code == GBX_CODE_VALUE || code == GBX_CODE_UNAVAILABLE ||
                      code == GBX_CODE_CRASHED);
            }
        } else {
            CHECK(status == GBX_E_OS || status == GBX_E_NOMEM);
            CHECK(*error.message != 0);
        }
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        if (status == GBX_OK) {
            CHECK(until(is_alive, engine, 10000));
            CHECK(gives(engine, "() => 1", "1"));
        }
        gbx_engine_free(engine);
        CHECK(proc_descendants() == 0);
    }
    return live_a_life();
}

static void test_host__that_runs_out_of_descriptors(void **state)
{
    (void)state;
    in_child(run_out_of_descriptors);
}

/* The same in the middle of an engine's life. */
static bool run_out_later(void)
{
    struct rlimit limit;
    gbx_engine *engine = NULL;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    CHECK(new_engine(&engine));
    for (rlim_t spare = 0; spare <= 8; spare++) {
        struct rlimit tight = {proc_fds() + spare, limit.rlim_max};

        CHECK(until(is_alive, engine, 10000));
        CHECK(setrlimit(RLIMIT_NOFILE, &tight) == 0);
        for (int i = 0; i < 6; i++)
            (void)ends_as(engine, "() => 1", GBX_CODE_VALUE);
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK(until(is_alive, engine, 10000));
    }
    gbx_engine_free(engine);
    CHECK(proc_descendants() == 0 && proc_zombies() == 0);
    return true;
}

static void test_host__that_runs_out_of_descriptors_later(void **state)
{
    (void)state;
    in_child(run_out_later);
}

/* ---- processes ----------------------------------------------------------------------- */

static bool run_out_of_processes(void)
{
    struct rlimit limit;
    struct rlimit none = {0, 0};
    gbx_engine *engine = NULL;
    gbx_limits limits = timeout_of(300);
    gbx_call call = call_of("() => 1");
    pid_t pid;

    CHECK(new_engine(&engine));
    pid = proc_template();
    CHECK(pid > 1);
    if (prlimit(pid, RLIMIT_NPROC, NULL, &limit) != 0) {
        gbx_engine_free(engine);
        return true; /* not allowed to */
    }
    none.rlim_max = limit.rlim_max;
    CHECK(prlimit(pid, RLIMIT_NPROC, &none, NULL) == 0);
    call.limits = &limits;
    for (int i = 0; i < 8; i++) {
        gbx_code code = call_code(engine, &call);

        CHECK(code == GBX_CODE_VALUE || code == GBX_CODE_UNAVAILABLE);
        CHECK(i < 5 || code == GBX_CODE_UNAVAILABLE);
    }
    CHECK(prlimit(pid, RLIMIT_NPROC, &limit, NULL) == 0);
    CHECK(until(is_alive, engine, 5000));
    CHECK(proc_template() == pid);
    gbx_engine_free(engine);
    return true;
}

static void test_host__that_runs_out_of_processes(void **state)
{
    (void)state;
    in_child(run_out_of_processes);
}

/* ---- other children of the host -------------------------------------------------------- */

typedef struct spawning {
    gbx_engine *engine;
    atomic_bool is_over;
    atomic_size_t leaks;
    atomic_size_t children;
    atomic_size_t wrong;
} spawning;

static void spawn_children(spawning *s)
{
    char program[] = HOSTILE_PROGRAM;
    char option[] = "--fds";
    char *const argv[] = {program, option, NULL};

    while (!s->is_over) {
        pid_t pid;
        int status = 0;

        if (posix_spawn(&pid, program, NULL, NULL, argv, environ) != 0)
            continue;
        (void)waitpid(pid, &status, 0);
        atomic_fetch_add(&s->children, 1);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            atomic_fetch_add(&s->leaks, 1);
    }
}

static void spawn_or_call(void *user, size_t number)
{
    spawning *s = user;

    if (number < 2) {
        spawn_children(s);
        return;
    }
    for (int i = 0; i < 10; i++) {
        gbx_engine *engine = NULL;

        if (gbx_engine_new(NULL, &engine, NULL) != GBX_OK || !is_alive(engine) ||
            !is_alive(engine))
            atomic_fetch_add(&s->wrong, 1);
        gbx_engine_free(engine);
    }
    s->is_over = true;
}

static bool have_other_children(void)
{
    static spawning s;

    (void)close_range(3, ~0u, 0); /* of the test's own surroundings */
    threads_run(3, spawn_or_call, &s);
    CHECK(s.wrong == 0);
    CHECK(s.children > 10);
    CHECK(s.leaks == 0);
    return true;
}

static void test_host__whose_other_children_get_no_descriptor(void **state)
{
    (void)state;
    in_child(have_other_children);
}

static bool have_a_child_that_stays(void)
{
    gbx_engine *engine = NULL;
    pid_t pid;
    double begin;

    CHECK(new_engine(&engine));
    pid = fork(); /* has a copy of every descriptor, and keeps it */
    if (pid == 0)
        for (;;)
            (void)pause();
    CHECK(pid > 0);
    CHECK(gives(engine, "() => 1", "1"));
    CHECK(ends_as(engine, "() => { for (;;); }", GBX_CODE_TIMEOUT));
    begin = now_ms();
    gbx_engine_free(engine);
    CHECK(now_ms() - begin < 2000);
    CHECK(proc_descendants() == 1);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return true;
}

static void test_host__that_forked_and_kept_every_descriptor(void **state)
{
    (void)state;
    in_child(have_a_child_that_stays);
}

/* ---- the worker program ----------------------------------------------------------------- */

static void check_no_engine(const char *path, const char *said)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};
    double begin = now_ms();

    options.worker_path = path;
    assert_int_equal(gbx_engine_new(&options, &engine, &error), GBX_E_OS);
    assert_null(engine);
    if (strstr(error.message, said) == NULL)
        fail_msg("'%s' is not in '%s'", said, error.message);
    assert_true(now_ms() - begin < 5000);
    assert_int_equal(proc_descendants() + proc_zombies(), 0);
}

static void test_worker_program__that_is_none(void **state)
{
    char text[] = "/tmp/glovebox-not-a-program.XXXXXX";
    int fd = mkstemp(text);

    (void)state;
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

static void test_worker_program__without_its_library(void **state)
{
    (void)state;
    check_no_engine(LIBRARYLESS_PROGRAM, "died before it was ready");
}

static void test_worker_program__of_a_path_too_long(void **state)
{
    char path[600];
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;

    (void)state;
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    options.worker_path = path;
    assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_E_USAGE);
}

/* ---- a busy machine ------------------------------------------------------------------------ */

#define SPINNERS 8

static void test_deadlines__hold_on_a_busy_machine(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    pid_t spinners[SPINNERS];
    double worst = 0;

    (void)state;
    for (size_t i = 0; i < SPINNERS; i++) {
        spinners[i] = fork();
        if (spinners[i] == 0)
            for (volatile unsigned n = 0;; n++)
                continue;
    }
    for (int i = 0; i < 20; i++) {
        gbx_limits limits = timeout_of(100);
        gbx_call spin = call_of("() => { for (;;); }");
        gbx_result *result;
        double wall;

        spin.limits = &limits;
        result = call_run(engine, &spin);
        wall = gbx_result_stats(result).wall_ms;
        if (gbx_result_code(result) != GBX_CODE_UNAVAILABLE) {
            assert_int_equal(gbx_result_code(result), GBX_CODE_TIMEOUT);
            assert_true(wall >= 99);
            worst = wall > worst ? wall : worst;
        }
        gbx_result_free(result);
        check_alive(engine);
    }
    for (size_t i = 0; i < SPINNERS; i++) {
        (void)kill(spinners[i], SIGKILL);
        (void)waitpid(spinners[i], NULL, 0);
    }

    assert_true(worst < 2100); /* a bound against hangs, not a measurement */
    gbx_engine_free(engine);
}

/* ---- the live log ---------------------------------------------------------------------------- */

typedef struct listener {
    pthread_t thread;
    size_t count;
    size_t wrong;
    double last_ms;
    gbx_engine *engine;
    atomic_bool is_done;
} listener;

static void listen(void *user, const gbx_log *log)
{
    listener *l = user;
    char expected[32];

    (void)snprintf(expected, sizeof expected, "line %zu", l->count);
    if (strcmp(log->text, expected) != 0 || log->text_len != strlen(expected) ||
        log->level != (gbx_log_level)(l->count % 5) || log->time_ms < l->last_ms)
        l->wrong++;
    l->thread = pthread_self();
    l->last_ms = log->time_ms;
    l->count++;
}

static const char *const noisy =
    "async () => { const f = ['debug', 'log', 'info', 'warn', 'error']; "
    "for (let i = 0; i < 500; i++) { console[f[i % 5]]('line ' + i); "
    "if (i % 100 == 0) await sleep(5) } }";

static void test_log__is_live_in_order_on_the_caller_s_thread(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    gbx_call call = call_of(noisy);
    listener l = {0};
    gbx_result *result;

    (void)state;
    call.on_log = listen;
    call.log_user = &l;
    result = call_run(engine, &call);

    assert_int_equal(l.count, 500);
    assert_int_equal(l.wrong, 0);
    assert_true(pthread_equal(l.thread, pthread_self()));
    assert_int_equal(gbx_result_log_count(result), 500);
    gbx_result_free(result);
    gbx_engine_free(engine);
}

static void count_before_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    listener *l = user;

    (void)ticket;
    if (gbx_result_log_count(result) != l->count ||
        !pthread_equal(l->thread, pthread_self()))
        l->wrong++;
    gbx_result_free(result);
    l->is_done = true;
}

static bool is_done(void *user)
{
    return ((listener *)user)->is_done;
}

static void test_log__comes_before_the_result_of_a_submitted_call(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    gbx_call call = call_of(noisy);
    listener l = {0};

    (void)state;
    call.on_log = listen;
    call.log_user = &l;
    assert_int_equal(gbx_submit(engine, &call, count_before_done, &l, NULL, NULL),
                     GBX_OK);
    assert_true(until(is_done, &l, 5000));

    assert_int_equal(l.count, 500);
    assert_int_equal(l.wrong, 0);
    gbx_engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host__that_ignores_its_children),
        cmocka_unit_test(test_host__that_reaps_in_a_handler),
        cmocka_unit_test(test_host__that_waits_for_any_child),
        cmocka_unit_test(test_host__whose_system_calls_are_interrupted),
        cmocka_unit_test(test_host__that_blocks_every_signal),
        cmocka_unit_test(test_host__with_a_hostile_environment),
        cmocka_unit_test(test_host__of_another_locale),
        cmocka_unit_test(test_host__without_standard_descriptors),
        cmocka_unit_test(test_template__has_no_descriptor_of_the_host),
        cmocka_unit_test(test_host__that_runs_out_of_descriptors),
        cmocka_unit_test(test_host__that_runs_out_of_descriptors_later),
        cmocka_unit_test(test_host__that_runs_out_of_processes),
        cmocka_unit_test(test_host__whose_other_children_get_no_descriptor),
        cmocka_unit_test(test_host__that_forked_and_kept_every_descriptor),
        cmocka_unit_test(test_worker_program__that_is_none),
        cmocka_unit_test(test_worker_program__without_its_library),
        cmocka_unit_test(test_worker_program__of_a_path_too_long),
        cmocka_unit_test(test_deadlines__hold_on_a_busy_machine),
        cmocka_unit_test(test_log__is_live_in_order_on_the_caller_s_thread),
        cmocka_unit_test(test_log__comes_before_the_result_of_a_submitted_call),
    };

    return cmocka_run_group_tests_name("hosts", tests, NULL, NULL);
}
