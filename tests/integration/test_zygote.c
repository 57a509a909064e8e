/* SPDX-License-Identifier: MIT */
/* Engines whose templates are forks of one warm process. */
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <glovebox/preload.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t zygotes_of(pid_t pid, pid_t *ret)
{
    return proc_children_named(pid, "glovebox-zygote\n", ret);
}

/* 0: there is none. */
static pid_t zygote_of(pid_t pid)
{
    pid_t found = 0;

    (void)zygotes_of(pid, &found);
    return found;
}

static bool has_zygote(void *user)
{
    return zygote_of(getpid()) != 0;
}

/* From now on there is one, and engines come from it. */
static pid_t start_zygote(void)
{
    wait_for_zygote();
    assert_true(has_zygote(NULL));
    return zygote_of(getpid());
}

static int start(void **state)
{
    *state = malloc(sizeof(footprint));
    *(footprint *)*state = footprint_take();
    return 0;
}

static int finish(void **state)
{
    footprint_check(*state);
    free(*state);
    return 0;
}

TEST(zygote__is_started_for_the_second_engine)
{
    gbx_engine *engine;

    gbx_engine_free(engine_start(NULL));
    assert_false(until(has_zygote, NULL, 500)); /* it would be named by then */
    engine = engine_start(NULL);
    assert_true(until(has_zygote, NULL, 60000));
    assert_int_equal(proc_parent(proc_template()), getpid());
    check_alive(engine);
    gbx_engine_free(engine);
}

/* The next few do without it; of many at once the others wait for it. */
TEST(zygote__is_waited_for_by_no_engine_that_follows_another)
{
    gbx_engine *engine;

    gbx_engine_free(engine_start(NULL));
    engine = engine_start(NULL);
    assert_false(proc_is_fork(proc_template()));
    gbx_engine_free(engine);
    (void)start_zygote();
}

TEST(zygote__is_not_started_for_who_wants_none)
{
    gbx_options off = GBX_OPTIONS_INIT, exec = GBX_OPTIONS_INIT, one = GBX_OPTIONS_INIT;
    const gbx_options *all[] = {&off, &exec, &one};

    off.zygote = GBX_ZYGOTE_OFF;
    exec.fresh = GBX_FRESH_EXEC;
    one.pool_size = 1;
    for (size_t i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) { /* the second would start it */
            gbx_engine *engine = engine_start(all[i]);

            check_alive(engine);
            gbx_engine_free(engine);
        }
        assert_false(until(has_zygote, NULL, 500));
    }
}

/* ---- what engines share, and what not ---------------------------------------------- */

static const char source[] = "globalThis.loaded = 'a'; Array.prototype.mine = () => 1";
static const gbx_preload preloads[] = {
    {.name = "a.js", .source = source, .source_len = sizeof source - 1}};

/* All at once; each looks for what the others have. */
static const char look[] =
    "() => [typeof loaded, typeof [].mine, typeof ask, typeof datasets, typeof eval,"
    " typeof URL, typeof setInterval, typeof setTimeout, Object.isSealed(Array.prototype),"
    " Object.isFrozen(Object.getPrototypeOf(() => 1))].join()";

#define PLAIN ",function,function,function,function,true,true\""

TEST(engines__of_one_zygote_have_each_their_own)
{
    gbx_options minimal = GBX_OPTIONS_INIT, preloaded = GBX_OPTIONS_INIT;
    gbx_engine *engines[5];
    pid_t zygote;

    zygote = start_zygote();
    minimal.globals = GBX_GLOBALS_MINIMAL;
    preloaded.preloads = preloads;
    preloaded.preload_count = 1;
    engines[0] = engine_start(NULL);
    engines[1] = engine_start(&minimal);
    engines[2] = engine_start(&preloaded);
    engines[3] = engine_start(NULL);
    assert_int_equal(gbx_engine_load(engines[3], "orders", "[1,2,3]", 7, GBX_DATA_JSON,
                                     NULL),
                     GBX_OK);
    engines[4] = engine_start(NULL);
    assert_int_equal(zygote_of(getpid()), zygote);

    for (int i = 0; i < 3; i++) {
        check_value(engines[0], look, NULL,
                    "\"undefined,undefined,undefined,undefined" PLAIN);
        check_value(engines[1], look, NULL,
                    "\"undefined,undefined,undefined,undefined,undefined,undefined,"
                    "undefined,function,true,true\"");
        check_value(engines[2], look, NULL,
                    "\"string,function,undefined,undefined" PLAIN);
        check_value(engines[3], look, NULL,
                    "\"undefined,undefined,undefined,object" PLAIN);
        check_value(engines[4], look, NULL,
                    "\"undefined,undefined,undefined,undefined" PLAIN);
    }
    for (int i = 0; i < 5; i++)
        gbx_engine_free(engines[i]);
}

/* ---- templates that are forked ahead --------------------------------------------------- */

/* Once it is sealed: the process that forks it has its name, too. */
static bool find_spare(void *ret)
{
    return proc_children_named(getpid(), "glovebox-spare\n", ret) == 1 &&
           proc_status(*(pid_t *)ret, "Seccomp:") == 2;
}

/* After a row of engines: the template of the next one. */
static pid_t make_spare(void)
{
    pid_t found = 0;

    (void)start_zygote();
    for (int i = 0; i < 5; i++)
        gbx_engine_free(engine_start(NULL));
    assert_true(until(find_spare, &found, 60000));
    return found;
}

TEST(engine__in_a_row_has_a_template_that_was_there_before_it)
{
    pid_t spare = make_spare();
    gbx_engine *engine = engine_start(NULL);
    pid_t next = 0;

    check_value(engine, look, NULL, "\"undefined,undefined,undefined,undefined" PLAIN);
    assert_int_equal(proc_template(), spare);
    assert_true(until(find_spare, &next, 60000));
    assert_int_not_equal(next, spare);
    gbx_engine_free(engine);
}

TEST(engine__of_another_kind_ends_what_was_forked_ahead)
{
    pid_t spare = make_spare();
    gbx_options minimal = GBX_OPTIONS_INIT;
    gbx_engine *engine;

    minimal.globals = GBX_GLOBALS_MINIMAL;
    engine = engine_start(&minimal);
    check_value(engine, "() => typeof URL", NULL, "\"undefined\"");
    assert_false(proc_exists(spare));
    gbx_engine_free(engine);
}

TEST(engine__in_a_row_has_its_own_preloads_and_datasets)
{
    gbx_options preloaded = GBX_OPTIONS_INIT;
    gbx_engine *engines[12];

    preloaded.preloads = preloads;
    preloaded.preload_count = 1;
    (void)start_zygote();
    for (int i = 0; i < 12; i++) {
        const gbx_options *options = i < 6 ? &preloaded : NULL;

        engines[i] = engine_start(options);
        if (i % 3 == 0)
            assert_int_equal(gbx_engine_load(engines[i], "orders", "[1]", 3,
                                             GBX_DATA_JSON, NULL),
                             GBX_OK);
    }
    for (int i = 0; i < 12; i++) {
        check_value(engines[i], "() => [typeof loaded, typeof datasets].join()", NULL,
                    i < 6 ? i % 3 == 0 ? "\"string,object\"" : "\"string,undefined\""
                    : i % 3 == 0 ? "\"undefined,object\""
                                 : "\"undefined,undefined\"");
        gbx_engine_free(engines[i]);
    }
}

TEST(template__that_was_forked_ahead_and_died_is_missed_by_nobody)
{
    pid_t spare = make_spare();

    for (int i = 0; i < 8; i++) {
        gbx_engine *engine;

        assert_true(until(find_spare, &spare, 60000));
        assert_int_equal(kill(spare, SIGKILL), 0);
        engine = engine_start(NULL);
        check_alive(engine);
        assert_int_not_equal(proc_template(), spare);
        gbx_engine_free(engine);
    }
}

TEST(template__that_was_forked_ahead_ends_with_its_zygote)
{
    pid_t spare = make_spare();

    gbx_zygote_end();
    assert_false(proc_exists(spare));
}

/* Of what the host has open, an exec would keep this. */
TEST(zygote__has_no_descriptor_of_the_host)
{
    int file = open("/etc/passwd", O_RDONLY);
    int kept = fcntl(file, F_DUPFD, 100); /* a number that the program does not use */
    char folder[32];
    DIR *dir;

    assert_true(kept >= 100);
    (void)snprintf(folder, sizeof folder, "/proc/%d/fd", (int)start_zygote());
    dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        char to[64] = "";

        (void)!readlinkat(dirfd(dir), e->d_name, to, sizeof to - 1);
        assert_string_not_equal(to, "/etc/passwd");
    }
    (void)closedir(dir);
    (void)close(kept);
    (void)close(file);
}

/* A fork inherits the limits that the zygote was started with. */
TEST(zygote__is_another_where_the_host_has_other_limits)
{
    pid_t before = start_zygote();
    struct rlimit own, other;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &own), 0);
    other = own;
    other.rlim_cur--;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &other), 0);
    (void)start_zygote();
    assert_int_equal(zygotes_of(getpid(), NULL), 2);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &own), 0);
    gbx_engine_free(engine_start(NULL));
    assert_int_equal(zygotes_of(getpid(), NULL), 2);
    assert_true(proc_exists(before));
}

/* ---- its ends ------------------------------------------------------------------------ */

static void check_goes_on(int sig)
{
    gbx_engine *before;
    gbx_engine *after;
    pid_t zygote = start_zygote();

    before = engine_start(NULL);
    assert_int_equal(kill(zygote, sig), 0);
    check_alive(before);
    after = engine_start(NULL); /* executed, or of the next zygote */
    check_alive(after);
    check_alive(before);
    gbx_engine_free(after);
    gbx_engine_free(before);
}

TEST(zygote__that_dies_is_missed_by_nobody)
{
    check_goes_on(SIGKILL);
}

TEST(zygote__that_hangs_is_ended)
{
    pid_t zygote = start_zygote();
    gbx_engine *engine;

    assert_int_equal(kill(zygote, SIGSTOP), 0);
    engine = engine_start(NULL);
    check_alive(engine);
    assert_false(proc_exists(zygote));
    gbx_engine_free(engine);
}

typedef struct killer {
    const char *name; /* of whom it kills */
    long pause_ns;
    atomic_bool is_over;
    size_t killed;
} killer;

/* Whatever step it is at. */
static void kill_when_it_comes(void *user, size_t thread)
{
    killer *k = user;

    if (thread == 0) {
        for (int i = 0; i < 12; i++) {
            gbx_engine *engine = engine_start(NULL);

            check_alive(engine);
            gbx_engine_free(engine);
        }
        k->is_over = true;
        return;
    }
    for (unsigned i = 0; !k->is_over; i++) {
        const struct timespec pause = {0, (long)(i * 7919 % 60) * k->pause_ns};
        pid_t found = 0;

        (void)nanosleep(&pause, NULL);
        if (proc_children_named(getpid(), k->name, &found) == 1 &&
            kill(found, SIGKILL) == 0)
            k->killed++;
    }
}

TEST(zygote__killed_at_any_step_costs_no_call)
{
    killer k = {.name = "glovebox-zygote\n", .pause_ns = 1000000};

    threads_run(2, kill_when_it_comes, &k);
    assert_true(k.killed > 0);
}

TEST(template__that_was_forked_ahead_costs_no_call_if_all_die)
{
    killer k = {.name = "glovebox-spare\n", .pause_ns = 10000};

    (void)make_spare();
    threads_run(2, kill_when_it_comes, &k);
    assert_true(k.killed > 0);
}

/* The host's pid to the parent, then sleep for ever. */
static _Noreturn void be_host(int out)
{
    pid_t pids[3];

    (void)make_spare();
    pids[0] = zygote_of(getpid());
    wait_until_full(engine_start(NULL));
    pids[1] = proc_template();
    assert_true(until(find_spare, &pids[2], 60000));
    (void)!write(out, pids, sizeof pids);
    for (;;)
        (void)pause();
}

static pid_t left[3];

static bool have_gone(void *user)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return !proc_exists(left[0]) && !proc_exists(left[1]) && !proc_exists(left[2]);
}

/* The zygote stopped: it must not need to notice. */
TEST(host__killed_takes_zygote_and_templates_with_it)
{
    pid_t pids[3];
    int ends[2];
    pid_t host;

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(ends), 0);
    host = fork();
    if (host == 0)
        be_host(ends[1]);
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], pids, sizeof pids), sizeof pids);
    left[0] = pids[0];
    left[1] = pids[1];
    left[2] = pids[2];
    assert_true(left[0] > 0 && left[1] > 0 && left[2] > 0);
    assert_int_equal(kill(left[0], SIGSTOP), 0);
    assert_int_equal(kill(host, SIGKILL), 0);
    assert_true(until(have_gone, NULL, 60000));
    (void)close(ends[0]);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

TEST(host__that_forked_has_a_zygote_of_its_own)
{
    pid_t zygote = start_zygote();
    gbx_engine *engine;
    int status;
    pid_t pid;

    pid = fork();
    if (pid == 0) {
        pid_t own = start_zygote();

        engine = engine_start(NULL);
        check_alive(engine);
        gbx_engine_free(engine);
        _exit(own != zygote && zygote_of(getppid()) == zygote ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    engine = engine_start(NULL);
    check_alive(engine);
    assert_int_equal(zygote_of(getpid()), zygote);
    gbx_engine_free(engine);
}

/* ---- many ------------------------------------------------------------------------------ */

static void use_many(void *user, size_t thread)
{
    size_t count = *(const size_t *)user;

    for (size_t i = 0; i < count; i++) {
        gbx_options options = GBX_OPTIONS_INIT;
        char code[64];
        char value[32];
        gbx_engine *engine;

        options.globals = i % 3 == 0 ? GBX_GLOBALS_MINIMAL : GBX_GLOBALS_STANDARD;
        options.pool_size = 2;
        engine = engine_start(&options);
        (void)snprintf(code, sizeof code, "() => %zu * 1000 + %zu", thread, i);
        (void)snprintf(value, sizeof value, "%zu", thread * 1000 + i);
        check_value(engine, code, NULL, value);
        gbx_engine_free(engine);
    }
}

/* GLOVEBOX_ENGINES: how many, for a soak. */
TEST(engines__made_from_eight_threads_leave_nothing)
{
    const char *asked = getenv("GLOVEBOX_ENGINES");
    size_t each = (asked != NULL ? strtoul(asked, NULL, 10) : 40) / 8;

    threads_run(8, use_many, &each);
}

TEST_MAIN_EACH(start, finish)
