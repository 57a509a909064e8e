/* SPDX-License-Identifier: MIT */
/*
 * Hosts that are not as one would like them: signals and children handled their own
 * way, a hostile environment, descriptors and children that must not mix with ours.
 */
#include "child.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- children and signals -------------------------------------------------------- */

CHILD_TEST(host__that_ignores_its_children)
{
    (void)signal(SIGCHLD, SIG_IGN);
    return child_life();
}

static void on_child(int number)
{
    int saved = errno;

    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = saved;
}

CHILD_TEST(host__that_reaps_in_a_handler)
{
    (void)signal(SIGCHLD, on_child);
    return child_life();
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

CHILD_TEST(host__that_waits_for_any_child)
{
    atomic_bool is_over = false;
    pthread_t thread;
    bool lived;

    CHECK(pthread_create(&thread, NULL, reap_for_ever, &is_over) == 0);
    lived = child_life() && child_life();
    is_over = true;
    gbx_zygote_end(); /* it would be waited for until it ends by itself */
    (void)pthread_join(thread, NULL);
    return lived;
}

static atomic_int interrupts;

static void on_interrupt(int number)
{
    interrupts++;
}

CHILD_TEST(host__whose_system_calls_are_interrupted)
{
    struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART */
    struct itimerval often = {{0, 700}, {0, 700}};
    struct itimerval never = {{0, 0}, {0, 0}};
    bool lived;

    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &often, NULL);
    lived = child_life();
    (void)setitimer(ITIMER_REAL, &never, NULL);
    CHECK(interrupts > 100);
    return lived;
}

CHILD_TEST(host__that_blocks_every_signal)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    return child_life();
}

/* ---- who it is ------------------------------------------------------------------- */

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    (void)close(fd);
    return written;
}

/* As in a container of an ordinary user: there is root, and no other id. */
CHILD_TEST(host__that_is_root_where_no_other_id_is)
{
    char uids[32];
    char gids[32];

    (void)snprintf(uids, sizeof uids, "0 %u 1", geteuid());
    (void)snprintf(gids, sizeof gids, "0 %u 1", getegid());
    if (unshare(CLONE_NEWUSER) != 0)
        return true; /* not to be had here */
    CHECK(write_text("/proc/self/setgroups", "deny"));
    CHECK(write_text("/proc/self/uid_map", uids));
    CHECK(write_text("/proc/self/gid_map", gids));
    return child_life();
}

/* As in a container that was started with --cap-drop=ALL. */
CHILD_TEST(host__that_is_root_and_may_not_change_its_ids)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

    CHECK(syscall(SYS_capset, &header, none) == 0);
    return child_life();
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

/* But the one that the environment is built with. */
static bool has_no_loader_variable(const char *text)
{
    static const char ours[] = "LD_BIND_NOW=1 ";

    while ((text = strstr(text, "LD_")) != NULL) {
        if (strncmp(text, ours, sizeof ours - 1) != 0)
            return false;
        text += sizeof ours - 1;
    }
    return true;
}

CHILD_TEST(host__with_a_hostile_environment)
{
    gbx_engine *engine = NULL;
    char path[64];
    char text[4096];
    ssize_t n;
    int fd;

    CHECK(be_misled());
    CHECK(child_engine(&engine));
    CHECK(child_gives(engine, "() => new Date(0).getTimezoneOffset()", "0"));
    CHECK(
        child_gives(engine,
                    "() => typeof WebAssembly + typeof $vm + typeof SharedArrayBuffer",
                    "\"undefinedundefinedundefined\""));
    CHECK(child_gives(engine, "() => 'I'.toLocaleLowerCase()", "\"i\""));
    CHECK(child_gives(engine, "() => Intl.DateTimeFormat().resolvedOptions().timeZone",
                      "\"UTC\""));
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)proc_template());
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) { /* where we may look */
        n = read(fd, text, sizeof text - 1);
        (void)close(fd);
        for (ssize_t i = 0; i < n; i++)
            text[i] = text[i] == 0 ? ' ' : text[i];
        text[n > 0 ? n : 0] = 0;
        CHECK(strstr(text, "SECRET") == NULL && has_no_loader_variable(text));
        CHECK(strstr(text, "Kiritimati") == NULL && strstr(text, "DollarVM") == NULL);
    }
    gbx_engine_free(engine);
    return true;
}

CHILD_TEST(host__of_another_locale)
{
    gbx_engine *engine = NULL;

    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed */
    CHECK(child_engine(&engine));
    CHECK(child_gives(engine, "() => 1.5", "1.5"));
    gbx_engine_free(engine);
    return true;
}

/* ---- descriptors -------------------------------------------------------------------- */

CHILD_TEST(host__without_standard_descriptors)
{
    (void)close(0);
    (void)close(1);
    CHECK(child_life());
    (void)close(2);
    return child_life();
}

CHILD_TEST(template__has_no_descriptor_of_the_host)
{
    gbx_engine *engine = NULL;
    char path[64];
    DIR *dir;

    for (int i = 0; i < 50; i++) /* inheritable, and of something */
        CHECK(open("/etc/passwd", O_RDONLY) >= 0);
    CHECK(child_engine(&engine));
    CHECK(child_is_alive(engine));
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
    for (int i = 0; i < 5; i++) {
        gbx_engine *engine = NULL;

        if (gbx_engine_new(NULL, &engine, NULL) != GBX_OK || !child_is_alive(engine) ||
            !child_is_alive(engine))
            atomic_fetch_add(&s->wrong, 1);
        gbx_engine_free(engine);
    }
    s->is_over = true;
}

CHILD_TEST(host__whose_other_children_get_no_descriptor)
{
    static spawning s;

    (void)close_range(3, ~0u, 0); /* of the test's own surroundings */
    threads_run(3, spawn_or_call, &s);
    CHECK(s.wrong == 0);
    CHECK(s.children > 10);
    CHECK(s.leaks == 0);
    return true;
}

CHILD_TEST(host__that_forked_and_kept_every_descriptor)
{
    gbx_engine *engine = NULL;
    pid_t pid;
    double begin;

    CHECK(child_engine(&engine));
    pid = fork(); /* has a copy of every descriptor, and keeps it */
    if (pid == 0)
        for (;;)
            (void)pause();
    CHECK(pid > 0);
    CHECK(child_gives(engine, "() => 1", "1"));
    CHECK(child_ends_as(engine, "() => { for (;;); }", GBX_CODE_TIMEOUT));
    begin = now_ms();
    gbx_engine_free(engine);
    CHECK(now_ms() - begin < 15000);
    CHECK(proc_descendants() == 1);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return true;
}

/* ---- its end ------------------------------------------------------------------------ */

static void say_begun(void *user, const gbx_log *log)
{
    (void)!write(*(int *)user, "!", 1);
}

/* Its call prints once, then spins. */
static _Noreturn void spin(int begun)
{
    gbx_call call = call_of("() => { console.log(1); for (;;); }");
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;

    options.limits = timeout_of(600000);
    /* The kernel sends SIGCONT to stopped processes when their session's last parent ends:
     * in another session it has no part in this. */
    if (gbx_engine_new(&options, &engine, NULL) != GBX_OK || setsid() < 0)
        _exit(1);
    call.on_log = say_begun;
    call.log_user = &begun;
    (void)call_code(engine, &call);
    _exit(2);
}

static bool is_parent(const proc_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (proc_parent(tree->pids[i]) == pid)
            return true;
    return false;
}

/* The descriptors of all that it has started; the template that has a worker is stopped.
 * Another that is just starting has not asked for its death signal yet: it ends by itself. */
static size_t stop_template_of(pid_t host, struct pollfd *ends, size_t max)
{
    proc_tree tree;
    size_t n = 0;

    proc_look(host, &tree);
    for (size_t i = 0; i < tree.count && n < max; i++) {
        ends[n].events = POLLIN;
        ends[n].fd = (int)syscall(SYS_pidfd_open, tree.pids[i], 0);
        if (ends[n].fd >= 0)
            n++;
        if (proc_parent(tree.pids[i]) == host && is_parent(&tree, tree.pids[i]))
            assert_int_equal(kill(tree.pids[i], SIGSTOP), 0);
    }
    return n;
}

TEST(host__that_is_killed_takes_a_stopped_template_and_a_busy_worker)
{
    struct pollfd ends[64];
    int begun[2];
    size_t count;
    char byte;
    pid_t host;

    assert_int_equal(pipe(begun), 0);
    host = fork();
    if (host == 0)
        spin(begun[1]);
    assert_true(host > 0);
    (void)close(begun[1]);
    assert_int_equal(read(begun[0], &byte, 1), 1);
    count = stop_template_of(host, ends, sizeof ends / sizeof ends[0]);
    assert_true(count >= 2);
    assert_int_equal(kill(host, SIGKILL), 0);
    assert_int_equal(waitpid(host, NULL, 0), host);

    for (size_t i = 0; i < count; i++) {
        if (poll(&ends[i], 1, 30000) != 1)
            (void)syscall(SYS_pidfd_send_signal, ends[i].fd, SIGKILL, NULL, 0);
        assert_true((ends[i].revents & POLLIN) != 0);
        (void)close(ends[i].fd);
    }
    (void)close(begun[0]);
}

TEST_MAIN(NULL, NULL)
