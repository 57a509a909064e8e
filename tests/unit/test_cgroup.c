/* SPDX-License-Identifier: MIT */
/*
 * cgroup - which group may be divided, over a tree of plain files: who we are by proc,
 * what systemd has marked, who else is there. What the kernel itself does is looked at
 * in test_cgroup_kernel.
 */
#include "base/cleanup.h"
#include "cgroup/cgroup.h"
#include "engine/engine.h"
#include "scratch.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *const controllers[] = {"memory", "pids", NULL};

/* A directory with proc/self and a hierarchy, "cg root", in it. */
typedef struct fake {
    char proc[96];
    char systemd[96];
    gbx_cgroup_world world;
    gbx_cgroup group;
} fake;

static fake its;
static fake *const f = &its;

/* A group as the kernel shows it: `type` is missing in the root alone. */
static void make_group(const char *name, const char *has, const char *procs)
{
    char file[256];

    scratch_folder(name);
    (void)snprintf(file, sizeof file, "%s/cgroup.controllers", name);
    scratch_write(file, has);
    (void)snprintf(file, sizeof file, "%s/cgroup.subtree_control", name);
    scratch_write(file, "");
    (void)snprintf(file, sizeof file, "%s/cgroup.procs", name);
    scratch_write(file, procs);
    if (strcmp(name, "cg root") == 0)
        return;
    (void)snprintf(file, sizeof file, "%s/cgroup.type", name);
    scratch_write(file, "domain\n");
}

static void place_in(const char *path)
{
    char text[256];

    (void)snprintf(text, sizeof text, "5:pids:/elsewhere\n0::%s\n", path);
    scratch_write("proc/self/cgroup", text);
}

static int setup(void **state)
{
    char text[256];

    *f = (fake){0};
    assert_int_equal(scratch_begin(state), 0);
    (void)snprintf(f->proc, sizeof f->proc, "%s/proc", scratch);
    (void)snprintf(f->systemd, sizeof f->systemd, "%s/systemd", scratch);
    f->world = (gbx_cgroup_world){f->proc, f->systemd, controllers};
    gbx_cgroup_init(&f->group);
    scratch_folder("proc");
    scratch_folder("proc/self");
    (void)snprintf(text, sizeof text,
                   "22 1 0:20 / /proc rw shared:2 - proc proc rw\n"
                   "31 23 0:28 / %s/cg\\040root rw,nosuid shared:9 - cgroup2 none rw\n",
                   scratch);
    scratch_write("proc/self/mountinfo", text);
    make_group("cg root", "cpu memory pids\n", "");
    return 0;
}

static int teardown(void **state)
{
    gbx_cgroup_close(&f->group);
    return scratch_end(state);
}

/* Up to the group itself, which only the kernel can make. */
static void check_refused(const char *why)
{
    if (gbx_cgroup_divide(&f->world, &f->group) >= 0)
        fail_msg("it was divided, and should not be: %s", why);
    if (strstr(f->group.reason, why) == NULL)
        fail_msg("'%s' is not in '%s'", why, f->group.reason);
}

/* The directory that is divided is this one. */
static void check_divided(const char *name)
{
    struct stat expected;
    struct stat got;
    int parent = gbx_cgroup_divide(&f->world, &f->group);

    if (parent < 0)
        fail_msg("refused: %s", f->group.reason);
    assert_int_equal(stat(scratch_path(name), &expected), 0);
    assert_int_equal(fstat(parent, &got), 0);
    assert_true(expected.st_ino == got.st_ino);
    (void)close(parent);
}

static void mark(const char *name, const char *value)
{
    if (setxattr(scratch_path(name), "user.delegate", value, strlen(value), 0) == 0)
        return;
    print_message("this file system keeps no attributes\n");
    skip();
}

/* ---- where we are ------------------------------------------------------------- */

TEST(find__without_v2_says_how_to_get_it)
{
    scratch_write("proc/self/cgroup", "4:memory:/x\n1:name=systemd:/\n");

    check_refused("systemd.unified_cgroup_hierarchy=1");
}

TEST(find__a_path_outside_of_the_namespace_is_none)
{
    place_in("/../other");

    check_refused("no group of cgroup v2");
}

TEST(find__without_a_mount_says_so)
{
    place_in("/");
    scratch_write("proc/self/mountinfo",
                  "22 1 0:20 / /proc rw - proc proc rw\nrubbish\n\n");

    check_refused("cgroup2 is not mounted");
}

TEST(find__a_mount_of_another_part_is_no_use)
{
    char text[256];

    place_in("/a");
    (void)snprintf(text, sizeof text,
                   "31 23 0:28 /ab %s/cg\\040root rw - cgroup2 none rw\n", scratch);
    scratch_write("proc/self/mountinfo", text);

    check_refused("not under a mounted cgroup2");
}

TEST(find__a_mount_of_a_part_hides_what_is_above)
{
    char text[256];

    make_group("cg root/us", "memory pids\n", "");
    place_in("/container/us");
    (void)snprintf(text, sizeof text,
                   "31 23 0:28 /container %s/cg\\040root rw - cgroup2 none rw\n",
                   scratch);
    scratch_write("proc/self/mountinfo", text);

    check_divided("cg root");
}

/* ---- what is ours --------------------------------------------------------------- */

TEST(divide__the_root_of_all_groups_may_have_processes)
{
    char text[64];

    place_in("/");
    scratch_write("cg root/cgroup.procs", "1\n2\n3\n");

    check_divided("cg root");

    assert_true(gbx_fd_start(AT_FDCWD, scratch_path("cg root/cgroup.subtree_control"),
                             text, sizeof text) >= 0);
    /* A plain file keeps all of what is written over its start. */
    assert_string_equal(text, "+cpusry");
}

TEST(divide__a_root_without_controllers_says_how_to_get_them)
{
    place_in("/");
    scratch_write("cg root/cgroup.controllers", "hugetlb memory\n");

    check_refused("no pids controller in cgroup v2 here: boot with cgroup v2 alone");
}

TEST(divide__the_group_above_ours_is_taken_if_it_is_given)
{
    make_group("cg root/unit", "memory pids\n", "");
    make_group("cg root/unit/host", "memory pids\n", "1\n2\n");
    place_in("/unit/host");
    scratch_write("systemd", "");
    mark("cg root/unit", "1");

    check_divided("cg root/unit");
}

TEST(divide__what_systemd_did_not_mark_is_not_ours)
{
    make_group("cg root/unit", "memory pids\n", "");
    make_group("cg root/unit/host", "memory pids\n", "");
    place_in("/unit/host");
    scratch_write("systemd", "");
    mark("cg root/unit", "0");
    mark("cg root/unit/host", "10");

    check_refused("systemd's and not delegated");
}

TEST(divide__our_own_group_is_ours_if_nobody_else_is_in_it)
{
    char pid[32];

    make_group("cg root/unit", "memory pids\n", "");
    scratch_write("systemd", "");
    mark("cg root/unit", "1");
    place_in("/unit");
    (void)snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    scratch_write("cg root/unit/cgroup.procs", pid);
    make_group("cg root/unit/glovebox.host", "", "");

    check_divided("cg root/unit");
}

TEST(divide__others_in_our_group_are_not_moved)
{
    char pids[64];

    make_group("cg root/unit", "memory pids\n", "");
    scratch_write("systemd", "");
    mark("cg root/unit", "1");
    place_in("/unit");
    (void)snprintf(pids, sizeof pids, "%d\n1\n", (int)getpid());
    scratch_write("cg root/unit/cgroup.procs", pids);

    check_refused("other processes share the delegated control group");
}

TEST(divide__a_controller_that_was_kept_back_is_named)
{
    make_group("cg root/unit", "pids\n", "");
    scratch_write("systemd", "");
    mark("cg root/unit", "1");
    place_in("/unit");

    check_refused("the memory controller is not delegated here");
}

TEST(divide__an_ordinary_user_needs_to_be_given_it)
{
    uid_t us = geteuid();

    place_in("/");
    assert_int_equal(chmod(scratch, 0755), 0);
    assert_int_equal(chmod(scratch_path("cg root/cgroup.procs"), 0444), 0);
    if (us == 0) /* who may write everywhere */
        assert_int_equal(seteuid(65534), 0);

    check_refused("not delegated to its user");

    assert_int_equal(seteuid(us), 0);
}

/* ---- the files of a group -------------------------------------------------------- */

TEST(lists__finds_whole_words)
{
    assert_true(gbx_cgroup_lists("cpu memory pids\n", "memory"));
    assert_true(gbx_cgroup_lists("memory", "memory"));
    assert_false(gbx_cgroup_lists("memoryx xmemory\n", "memory"));
    assert_false(gbx_cgroup_lists("", "memory"));
    assert_false(gbx_cgroup_lists(" \n", ""));
}

TEST(keyed__is_the_number_of_that_very_line)
{
    static const char text[] = "oom 3\noom_kill 12\noom_group_kill 4";

    assert_int_equal(gbx_cgroup_keyed(text, "oom"), 3);
    assert_int_equal(gbx_cgroup_keyed(text, "oom_kill"), 12);
    assert_int_equal(gbx_cgroup_keyed(text, "oom_group_kill"), 4);
    assert_int_equal(gbx_cgroup_keyed(text, "oom_group"), 0);
    assert_int_equal(gbx_cgroup_keyed("", "oom"), 0);
}

TEST(write__makes_no_file)
{
    const char *path = scratch_path("cg root/memory.max");

    assert_false(gbx_cgroup_write(AT_FDCWD, path, "1"));
    assert_int_equal(access(path, F_OK), -1);
}

static void open_fake_group(void)
{
    f->group.dir = open(scratch_path("cg root"), O_RDONLY | O_DIRECTORY);
    f->group.parent = open(scratch, O_RDONLY | O_DIRECTORY);
    assert_true(f->group.dir >= 0 && f->group.parent >= 0);
}

TEST(allow__never_more_than_there_is)
{
    const char *path = scratch_path("cg root/memory.max");
    char text[32];

    open_fake_group();
    scratch_write("cg root/memory.max", "");
    f->group.most_bytes = 1000000;

    assert_true(gbx_cgroup_allow(&f->group, 2000000));

    assert_true(gbx_fd_start(AT_FDCWD, path, text, sizeof text) >= 0);
    assert_string_equal(text, "1000000");
    assert_int_equal(f->group.limits.memory_bytes, 1000000);
}

TEST(take_kill__each_kill_is_taken_once)
{
    scratch_write("cg root/memory.events", "low 0\nmax 9\noom 5\noom_kill 2\n");
    f->group.events = open(scratch_path("cg root/memory.events"), O_RDONLY);

    assert_true(gbx_cgroup_take_kill(&f->group));
    assert_true(gbx_cgroup_take_kill(&f->group));
    assert_false(gbx_cgroup_take_kill(&f->group));

    scratch_write("cg root/memory.events", "oom_kill 3\n");
    assert_true(gbx_cgroup_take_kill(&f->group));
    assert_false(gbx_cgroup_take_kill(&f->group));
}

TEST(take_kill__without_a_group_nothing_was_killed)
{
    gbx_cgroup none;

    gbx_cgroup_init(&none);
    assert_false(gbx_cgroup_take_kill(&none));
    assert_false(gbx_cgroup_allow(&none, 1));
    gbx_cgroup_close(&none);
}

/* ---- how much --------------------------------------------------------------------- */

TEST(memory__is_enough_for_every_worker_at_its_limit)
{
    gbx_options o = GBX_OPTIONS_INIT;

    o.max_workers = 64;
    o.limits.memory_bytes = UINT64_C(128) << 20;

    assert_true(gbx_confine_memory(&o, 0) >= 64 * (UINT64_C(176) << 20));
    assert_true(gbx_confine_memory(&o, 1000000) - gbx_confine_memory(&o, 0) >=
                2 * 24 * UINT64_C(1000000));
}

TEST(memory__what_is_asked_for_is_what_counts)
{
    gbx_options o = GBX_OPTIONS_INIT;

    o.max_workers = 64;
    o.limits.memory_bytes = UINT64_C(128) << 20;
    o.total_memory_bytes = UINT64_C(300) << 20;

    assert_int_equal(gbx_confine_memory(&o, 1 << 30), UINT64_C(300) << 20);
}

TEST_MAIN_EACH(setup, teardown)
