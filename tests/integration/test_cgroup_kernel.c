/* SPDX-License-Identifier: MIT */
/*
 * cgroup_kernel - groups that the kernel makes: in a group of the test's own, which is
 * all that its child sees, with whatever controllers are free on this machine. What the
 * memory controller does is tested where cgroup v2 has it, and else skipped.
 */
#include "base/cleanup.h"
#include "calls.h"
#include "cgroup/cgroup.h"
#include "engine/spawn.h"
#include "seal/seal.h"
#include "test.h"
#include "until.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            (void)dprintf(2, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, \
                          strerror(errno));                                      \
            return BROKEN;                                                       \
        }                                                                        \
    } while (0)

typedef enum outcome { HELD = 0, BROKEN = 1, CANNOT = 77 } outcome;

/* What the child has: the mount of its own group, and controllers that it may use. */
typedef struct scene {
    char mount[64];
    int all;  /* the root of all groups */
    int base; /* ours */
    char name[32];
    char controllers[512];
    const char *needed[3];
    gbx_cgroup_world world;
    bool switched_on[2];
} scene;

static outcome cannot(const char *why)
{
    (void)dprintf(1, "skipped: %s\n", why);
    return CANNOT;
}

static outcome end_of(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? (outcome)WEXITSTATUS(status) : BROKEN;
}

/* memory and pids where v2 has them, else the first that it has. */
static void choose_controllers(scene *s)
{
    char *end;

    if (gbx_cgroup_lists(s->controllers, "memory") &&
        gbx_cgroup_lists(s->controllers, "pids")) {
        s->needed[0] = "memory";
        s->needed[1] = "pids";
    } else {
        end = s->controllers + strcspn(s->controllers, " \n");
        *end = 0;
        s->needed[0] = s->controllers;
    }
    s->world = (gbx_cgroup_world){"/proc", "/nonexistent", s->needed};
}

/* True if it was not on: whoever looks after us gets it back so. */
static bool switch_on(const scene *s, const char *controller)
{
    char words[512];
    char word[64];

    (void)gbx_fd_start(s->all, "cgroup.subtree_control", words, sizeof words);
    if (gbx_cgroup_lists(words, controller))
        return false;
    (void)snprintf(word, sizeof word, "+%s", controller);
    return gbx_cgroup_write(s->all, "cgroup.subtree_control", word);
}

static outcome open_scene(scene *s)
{
    (void)snprintf(s->mount, sizeof s->mount, "/tmp/gbx-cgroup-XXXXXX");
    if (mkdtemp(s->mount) == NULL)
        return cannot("no directory to mount on");
    if (unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return cannot("nothing can be mounted here");
    if (mount("none", s->mount, "cgroup2", 0, NULL) < 0)
        return cannot("this kernel has no cgroup v2");
    s->all = open(s->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)umount2(s->mount, MNT_DETACH);
    (void)gbx_fd_start(s->all, "cgroup.controllers", s->controllers,
                       sizeof s->controllers);
    if (s->controllers[0] == 0 || s->controllers[0] == '\n')
        return cannot("cgroup v2 has no controller here: v1 has them all");
    choose_controllers(s);
    (void)snprintf(s->name, sizeof s->name, "gbxtest.%d", (int)getpid());
    if (mkdirat(s->all, s->name, 0755) < 0)
        return cannot("no group can be made here");
    s->base = openat(s->all, s->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < 2 && s->needed[i] != NULL; i++)
        s->switched_on[i] = switch_on(s, s->needed[i]);
    return HELD;
}

static void close_scene(scene *s)
{
    char word[64];

    (void)umount2(s->mount, MNT_DETACH);
    (void)rmdir(s->mount);
    if (s->base < 0)
        return;
    gbx_cgroup_kill(s->base);
    (void)unlinkat(s->base, GBX_CGROUP_HOST_LEAF, AT_REMOVEDIR);
    for (int i = 0; i < 100 && unlinkat(s->all, s->name, AT_REMOVEDIR) < 0; i++)
        (void)usleep(10000);
    for (size_t i = 0; i < 2 && s->needed[i] != NULL; i++) {
        (void)snprintf(word, sizeof word, "-%s", s->needed[i]);
        if (s->switched_on[i])
            (void)gbx_cgroup_write(s->all, "cgroup.subtree_control", word);
    }
}

/* The group is all there is from here on, as in a container. */
static outcome enter_scene(const scene *s)
{
    CHECK(gbx_cgroup_write(s->base, "cgroup.procs", "0"));
    if (unshare(CLONE_NEWCGROUP) < 0 || mount("none", s->mount, "cgroup2", 0, NULL) < 0)
        return cannot("no cgroup namespace here");
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    return HELD;
}

/* Run fn in a child that sees its own group alone. */
static void stage(outcome (*fn)(scene *s))
{
    outcome result;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        scene s = {.all = -1, .base = -1};

        result = open_scene(&s);
        pid = result == HELD ? fork() : -1;
        if (pid == 0) {
            (void)alarm(100); /* whatever happens, who made the group removes it */
            result = enter_scene(&s);
            _exit((int)(result == HELD ? fn(&s) : result));
        }
        if (pid > 0)
            result = end_of(pid);
        close_scene(&s);
        _exit((int)result);
    }
    result = end_of(pid);
    if (result == CANNOT)
        skip();
    assert_int_equal(result, HELD);
}

static bool is_in(const char *group)
{
    char text[1024];
    char line[128];

    (void)snprintf(line, sizeof line, "0::%s\n", group);
    (void)gbx_fd_start(AT_FDCWD, "/proc/self/cgroup", text, sizeof text);
    return strstr(text, line) != NULL;
}

static bool exists(const scene *s, const char *group)
{
    return faccessat(s->base, group, F_OK, 0) == 0;
}

/* In the group dir, or in ours if that is -1. It is there when this returns, and has no
 * descriptor: no lock either, as after an exec. */
static pid_t start_sleeper(int dir)
{
    char byte;
    int ends[2];
    pid_t pid;

    if (pipe(ends) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        if (dir >= 0 && !gbx_cgroup_write(dir, "cgroup.procs", "0"))
            _exit(1);
        closefrom(3);
        for (;;)
            (void)pause();
    }
    (void)close(ends[1]);
    (void)!read(ends[0], &byte, 1); /* until it has closed its end */
    (void)close(ends[0]);
    return pid;
}

static const gbx_cgroup_limits none = {0};

/* ---- in the child ------------------------------------------------------------------ */

static outcome open_and_close(scene *s)
{
    gbx_cgroup first;
    gbx_cgroup second;
    char name[64];

    CHECK(gbx_cgroup_open(&first, &s->world, &none));
    CHECK(is_in("/" GBX_CGROUP_HOST_LEAF));
    (void)snprintf(name, sizeof name, "glovebox.%d.0", (int)getpid());
    CHECK(strcmp(first.name, name) == 0 && exists(s, name));
    CHECK(gbx_cgroup_open(&second, &s->world, &none));
    CHECK(exists(s, first.name) && exists(s, second.name));
    CHECK(strcmp(first.name, second.name) != 0);
    gbx_cgroup_close(&first);
    gbx_cgroup_close(&second);
    CHECK(!exists(s, first.name) && !exists(s, second.name));
    return HELD;
}

static outcome shared(scene *s)
{
    gbx_cgroup group;
    pid_t other = start_sleeper(-1);
    bool opened = gbx_cgroup_open(&group, &s->world, &none);

    CHECK(other > 0);
    (void)kill(other, SIGKILL);
    (void)waitpid(other, NULL, 0);
    CHECK(!opened && group.dir < 0);
    CHECK(strstr(group.reason, "other processes share") != NULL);
    CHECK(is_in("/"));
    return HELD;
}

static outcome spawn_into(scene *s)
{
    gbx_spawn_options options = {.jit = GBX_JIT_OFF, .uids = ""};
    gbx_error error = {0};
    gbx_spawned spawned;
    gbx_cgroup group;
    char pids[256];

    CHECK(gbx_cgroup_open(&group, &s->world, &none));
    options.cgroup = group.dir;
    CHECK(gbx_spawn(&options, &spawned, &error) == GBX_OK);
    CHECK(gbx_fd_start(group.dir, "cgroup.procs", pids, sizeof pids) >= 0);
    CHECK(pids[0] != 0);
    CHECK(is_in("/" GBX_CGROUP_HOST_LEAF));
    gbx_spawned_close(&spawned);
    gbx_cgroup_close(&group);
    CHECK(!exists(s, group.name));
    return HELD;
}

/* A host that is killed, and what it leaves: a group with a process in it. */
static _Noreturn void die_as_host(const scene *s, int tell)
{
    gbx_cgroup group;
    pid_t sleeper;
    bool told;

    if (!gbx_cgroup_open(&group, &s->world, &none))
        _exit(1);
    sleeper = start_sleeper(group.dir);
    told = write(tell, &sleeper, sizeof sleeper) == (ssize_t)sizeof sleeper &&
           write(tell, group.name, sizeof group.name) == (ssize_t)sizeof group.name;
    _exit(told ? 0 : 1);
}

static outcome sweep(scene *s)
{
    gbx_cgroup alive;
    gbx_cgroup next;
    char name[GBX_CGROUP_NAME_SIZE];
    pid_t sleeper;
    int status = 0;
    int ends[2];
    pid_t host;

    if (faccessat(s->base, "cgroup.kill", F_OK, 0) < 0)
        return cannot("cgroup.kill needs Linux 5.14");
    CHECK(gbx_cgroup_open(&alive, &s->world, &none));
    CHECK(pipe(ends) == 0);
    host = fork();
    if (host == 0)
        die_as_host(s, ends[1]);
    CHECK(end_of(host) == HELD);
    CHECK(read(ends[0], &sleeper, sizeof sleeper) == (ssize_t)sizeof sleeper);
    CHECK(read(ends[0], name, sizeof name) == (ssize_t)sizeof name);
    CHECK(exists(s, name) && kill(sleeper, 0) == 0);

    CHECK(gbx_cgroup_open(&next, &s->world, &none));
    CHECK(waitpid(sleeper, &status, 0) == sleeper);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    gbx_cgroup_sweep(next.parent);
    CHECK(!exists(s, name));
    CHECK(exists(s, alive.name) && exists(s, next.name));
    gbx_cgroup_close(&next);
    gbx_cgroup_close(&alive);
    return HELD;
}

/* ---- what the kernel makes ---------------------------------------------------------- */

TEST(open__makes_groups_beside_a_host_that_steps_aside)
{
    stage(open_and_close);
}

TEST(open__moves_nobody_but_its_own_process)
{
    stage(shared);
}

TEST(spawn__a_template_is_made_in_the_group)
{
    stage(spawn_into);
}

TEST(sweep__groups_of_dead_hosts_go_and_those_of_live_ones_stay)
{
    stage(sweep);
}

/* ---- what the memory controller does ------------------------------------------------- */

#define TOTAL (UINT64_C(160) << 20)

/* 400 MiB by typed arrays, which one call may have and all together may not. */
#define BOMB                                                      \
    "async () => { const a = []; for (let i = 0; i < 400; i++) {" \
    " a.push(new Uint8Array(1 << 20).fill(1)); } return a.length; }"

/* NULL where no group can be had; then why has been printed. */
static gbx_engine *start_confined(void)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};
    gbx_status status;

    options.limits.memory_bytes = UINT64_C(1) << 30;
    options.limits.timeout_ms = 60000;
    options.pool_size = 2;
    options.total_memory_bytes = TOTAL;
    status = gbx_engine_new(&options, &engine, &error);
    if (status == GBX_E_UNSUPPORTED) {
        print_message("skipped: %s\n", error.message);
        return NULL;
    }
    assert_int_equal(status, GBX_OK);
    return engine;
}

TEST(engine__a_kill_by_the_group_is_memory)
{
    gbx_engine *engine = start_confined();
    gbx_call call = call_of(BOMB);
    gbx_result *result;

    if (engine == NULL)
        skip();
    for (int i = 0; i < 3; i++) {
        result = call_run(engine, &call);
        assert_int_equal(gbx_result_code(result), GBX_CODE_MEMORY);
        assert_non_null(strstr(gbx_result_error(result), "limit of 160 MiB"));
        gbx_result_free(result);
        check_alive(engine);
    }
    gbx_engine_free(engine);
}

TEST(engine__a_kill_by_the_group_leaves_neighbours_alone)
{
    gbx_engine *engine = start_confined();
    gbx_call bomb = call_of(BOMB);
    gbx_call neighbour = call_of("async () => { for (let i = 0; i < 60; i++)"
                                 " await sleep(50); return 7; }");
    gbx_ticket tickets[2];
    inbox box;

    if (engine == NULL)
        skip();
    inbox_init(&box, 2);
    tickets[0] = call_submit(engine, &neighbour, &box);
    tickets[1] = call_submit(engine, &bomb, &box);

    assert_true(inbox_wait(&box, 2, 120000));

    assert_int_equal(inbox_code(&box, tickets[0]), GBX_CODE_VALUE);
    assert_int_equal(inbox_code(&box, tickets[1]), GBX_CODE_MEMORY);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

TEST(engine__a_limit_that_cannot_be_had_is_refused)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};
    gbx_status status;

    options.total_cpu_percent = 150;

    status = gbx_engine_new(&options, &engine, &error);

    if (status == GBX_OK) {
        assert_int_equal(report_number(engine, "cpuPercent"), 150);
        gbx_engine_free(engine);
        return;
    }
    assert_int_equal(status, GBX_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "total_cpu_percent needs a control group: "));
}

TEST_MAIN(NULL, NULL)
