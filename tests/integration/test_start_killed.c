/* SPDX-License-Identifier: MIT */
/*
 * The start of a template, followed step by step. Whoever kills processes (the kernel, for
 * want of memory) may choose any that takes part in it; whoever may trace processes must
 * find nothing of the host in one that the host itself would not let him trace.
 */
#include "calls.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the host says of itself by its status. */
enum { ALL_WELL = 0, NOT_TRACED = 10, NO_ENGINE, TOLD_WHY, NO_CALL, LEFT_A_CHILD };

/* In the host's memory, and behind a descriptor of it that is not closed by an exec. */
static const char secret[] = "of-the-host-alone";
static const char *const secret_file = "/etc/passwd";

/* By a descriptor: the folder that it is in may be closed to another user. */
static bool keep_program(void)
{
    const char *name = getenv("GLOVEBOX_WORKER");
    int fd = name != NULL ? open(name, O_PATH) : -1;
    char path[32];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd >= 0 && setenv("GLOVEBOX_WORKER", path, 1) == 0;
}

/* An engine, a call and its end; then there is no child, known or not. uid: to be as a
 * daemon that was root and has changed its ids; 0: stay. */
static _Noreturn void be_host(uid_t uid)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of("() => 1");
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    if (!keep_program() || open(secret_file, O_RDONLY) < 0 ||
        ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ||
        (uid != 0 && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
                      setresuid(uid, uid, uid) < 0)))
        _exit(NOT_TRACED);
    (void)raise(SIGSTOP);
    options.limits = timeout_of(600000);
    if (gbx_engine_new(&options, &engine, &error) != GBX_OK)
        _exit(strstr(error.message, "died before it was ready") != NULL ? TOLD_WHY
                                                                        : NO_ENGINE);
    if (call_code(engine, &call) != GBX_CODE_VALUE)
        _exit(NO_CALL);
    gbx_engine_free(engine);
    _exit(waitpid(-1, NULL, 0) > 0 ? LEFT_A_CHILD : ALL_WELL);
}

/* In the order of their births. */
typedef enum role { PROGRAM, HELPER, TEMPLATE, ROLES } role;

typedef enum moment { BIRTH, WHEN_TEMPLATE_IS_BORN, NEVER } moment;

typedef struct trace {
    pid_t host;
    uid_t uid;        /* of the host, if it is to change */
    pid_t who[ROLES]; /* 0 until it is born */
    role victim;
    moment when;
    bool killed;
    void (*look)(struct trace *t, pid_t pid); /* at every step; may be NULL */
    unsigned looks[ROLES];
    uid_t became[ROLES];     /* whom each was at the last look */
    unsigned looks_at_hosts; /* at those that still had something of the host */
    pid_t born[64];          /* processes and threads, as their parents have told */
    pid_t early[64];         /* those that stopped before that, and wait for it */
} trace;

static bool has(const pid_t *list, pid_t pid)
{
    for (size_t i = 0; i < 64; i++)
        if (list[i] == pid)
            return true;
    return false;
}

static void put(pid_t *list, pid_t old, pid_t pid)
{
    size_t i = 0;

    while (i < 64 && list[i] != old)
        i++;
    assert_true(i < 64);
    list[i] = pid;
}

static void kill_victim(trace *t)
{
    assert_int_equal(kill(t->who[t->victim], SIGKILL), 0);
    t->killed = true;
}

static void step(trace *t, pid_t pid, int sig)
{
    if (t->look != NULL)
        t->look(t, pid);
    (void)ptrace(t->look != NULL           ? PTRACE_SYSCALL
                 : pid == t->who[TEMPLATE] ? PTRACE_DETACH
                                           : PTRACE_CONT,
                 pid, NULL, sig);
}

/* Forks of the host and of what comes of them; a thread is none. */
static void on_fork(trace *t, pid_t parent, pid_t made)
{
    role born = PROGRAM;

    while (born < ROLES && t->who[born] != 0)
        born++;
    if (born == ROLES || (born != PROGRAM && parent != t->who[PROGRAM]))
        return;
    t->who[born] = made;
    if ((t->when == BIRTH && born == t->victim) ||
        (t->when == WHEN_TEMPLATE_IS_BORN && born == TEMPLATE))
        kill_victim(t);
}

static void on_birth(trace *t, pid_t parent, bool is_fork)
{
    unsigned long number = 0;
    pid_t made;

    if (ptrace(PTRACE_GETEVENTMSG, parent, NULL, &number) < 0)
        return;
    made = (pid_t)number;
    put(t->born, 0, made);
    if (is_fork)
        on_fork(t, parent, made);
    if (!has(t->early, made))
        return;
    put(t->early, made, 0);
    step(t, made, 0);
}

/* One stop of one thread; without a look, the template goes its own way. The first stop of a
 * child may come before its parent tells of it: then it is not known who it is. */
static void on_stop(trace *t, pid_t pid, int status)
{
    int sig = WSTOPSIG(status);
    int event = status >> 16;

    if (pid != t->host && !has(t->born, pid)) {
        put(t->early, 0, pid);
        return;
    }
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
        event == PTRACE_EVENT_CLONE)
        on_birth(t, pid, event != PTRACE_EVENT_CLONE);
    if (event != 0 || sig == SIGSTOP || sig == SIGTRAP || sig == (SIGTRAP | 0x80))
        sig = 0;
    step(t, pid, sig);
}

/* Until the host has ended: its status. */
static int follow(trace *t)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status))
            on_stop(t, pid, status);
        else if (pid == t->host)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    return -1;
}

/* How the host ends. */
static int run(trace *t)
{
    int status;

    t->host = fork();
    assert_true(t->host >= 0);
    if (t->host == 0)
        be_host(t->uid);
    assert_int_equal(waitpid(t->host, &status, 0), t->host);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), NOT_TRACED);
        print_message("no process may be traced here\n");
        skip();
    }
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, t->host, NULL,
                            PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                                PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL),
                     0);
    assert_int_equal(ptrace(PTRACE_CONT, t->host, NULL, 0), 0);
    return follow(t);
}

/* ---- who is killed ---------------------------------------------------------- */

TEST(start__survives_or_names_the_death_of_each_of_its_processes)
{
    static const struct {
        role victim;
        moment when;
        int expected;
    } rows[] = {
        {PROGRAM, BIRTH, TOLD_WHY},
        {PROGRAM, WHEN_TEMPLATE_IS_BORN, ALL_WELL},
        {HELPER, BIRTH, TOLD_WHY},
        {TEMPLATE, BIRTH, TOLD_WHY},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        trace t = {.victim = rows[i].victim, .when = rows[i].when};
        int status = run(&t);

        if (t.who[TEMPLATE] == 0 && rows[i].when == WHEN_TEMPLATE_IS_BORN) {
            print_message("no user or pid namespaces here\n");
            continue;
        }
        if (status != rows[i].expected)
            print_error("row %zu\n", i);
        assert_int_equal(status, rows[i].expected);
        assert_true(t.killed);
    }
}

/* ---- who may trace ------------------------------------------------------------ */

static long number_in_status(pid_t pid, const char *key, int index)
{
    char path[64];
    char line[256];
    long found = -1;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        char *at = line + strlen(key);

        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        for (int i = 0; i <= index; i++)
            found = strtol(at, &at, 10);
    }
    if (f != NULL)
        (void)fclose(f);
    return found;
}

/* Answers for each process whether it could read the memory of it. */
static _Noreturn void be_prober(int channel, uid_t uid)
{
    pid_t pid;

    if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
        setresuid(uid, uid, uid) < 0)
        _exit(2);
    while (read(channel, &pid, sizeof pid) == sizeof pid) {
        char byte;
        struct iovec ours = {&byte, 1};
        struct iovec theirs = {(void *)(uintptr_t)1, 1};

        (void)process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
        byte = errno == EFAULT; /* allowed, and nothing is mapped there */
        (void)!write(channel, &byte, 1);
    }
    _exit(0);
}

/* A process of that user, with no capability; it lives as long as this one. */
static int prober_of(uid_t uid)
{
    static struct {
        uid_t uid;
        int channel;
    } probers[4];
    static size_t count;
    int ends[2];
    pid_t pid;

    for (size_t i = 0; i < count; i++)
        if (probers[i].uid == uid)
            return probers[i].channel;
    assert_true(count < sizeof probers / sizeof probers[0]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)close(ends[0]);
        be_prober(ends[1], uid);
    }
    (void)close(ends[1]);
    probers[count].uid = uid;
    probers[count].channel = ends[0];
    return probers[count++].channel;
}

/* Could a process of that user, with no capability, read its memory? What the kernel asks
 * for tracing, it asks for this. */
static bool may_be_traced_by(pid_t pid, uid_t uid)
{
    int channel = prober_of(uid);
    char byte = 0;

    assert_int_equal(write(channel, &pid, sizeof pid), sizeof pid);
    assert_int_equal(read(channel, &byte, 1), 1);
    return byte == 1;
}

/* Not where few ids are mapped. */
static bool can_become(uid_t uid)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(setresuid(uid, uid, uid) < 0);
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    return status == 0;
}

/* A descriptor from that number on, of this file (NULL: of anything). */
static bool has_open(pid_t pid, long from, const char *file)
{
    char path[64];
    bool found = false;
    DIR *dir;

    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    if (dir == NULL)
        return false;
    for (const struct dirent *e = readdir(dir); e != NULL && !found; e = readdir(dir)) {
        char target[256] = "";

        if (*e->d_name == '.' || strtol(e->d_name, NULL, 10) < from)
            continue;
        found = readlinkat(dirfd(dir), e->d_name, target, sizeof target - 1) > 0 &&
                (file == NULL || strcmp(target, file) == 0);
    }
    (void)closedir(dir);
    return found;
}

/* One socket, to the process that has forked it. */
static bool has_nothing(pid_t pid)
{
    return !has_open(pid, 1, NULL);
}

/* Of a fork of the host and of this test, until it executes. */
static bool has_our_memory(pid_t pid)
{
    char copy[sizeof secret] = "";
    struct iovec ours = {copy, sizeof copy};
    struct iovec theirs = {(void *)(uintptr_t)secret, sizeof secret};

    return process_vm_readv(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)sizeof secret &&
           memcmp(copy, secret, sizeof secret) == 0;
}

static void look_for_leaks(trace *t, pid_t pid)
{
    role who = PROGRAM;
    uid_t uid;

    while (who < ROLES && t->who[who] != pid)
        who++;
    if (who == ROLES || kill(pid, 0) < 0)
        return;
    uid = (uid_t)number_in_status(pid, "Uid:", 1);
    if (uid == (uid_t)-1)
        return; /* it has ended */
    t->looks[who]++;
    t->became[who] = uid;
    if (may_be_traced_by(pid, uid == 0 ? 65534 : uid))
        assert_true(who == HELPER && has_nothing(pid));
    if (has_our_memory(pid) || has_open(pid, 0, secret_file)) {
        t->looks_at_hosts++;
        assert_int_equal(uid, t->uid);
    }
}

TEST(start__of_root_lets_nobody_else_trace_any_step_of_it)
{
    trace t = {.when = NEVER, .look = look_for_leaks};

    if (geteuid() != 0) {
        print_message("only root's processes become another user's\n");
        skip();
    }
    assert_int_equal(run(&t), ALL_WELL);
    assert_true(t.looks_at_hosts > 0 && t.looks[PROGRAM] > t.looks_at_hosts);
    assert_true(t.looks[TEMPLATE] > 100);
    if (can_become(61184))
        assert_in_range(t.became[TEMPLATE], 61184, 65519);
}

TEST(start__of_a_host_that_was_root_lets_nobody_trace_it)
{
    trace t = {.when = NEVER, .look = look_for_leaks, .uid = 61100};

    if (geteuid() != 0) {
        print_message("only root can change its ids\n");
        skip();
    }
    assert_int_equal(run(&t), ALL_WELL);
    assert_true(t.looks_at_hosts > 0 && t.looks[PROGRAM] > t.looks_at_hosts);
    assert_true(t.looks[TEMPLATE] > 100);
}

TEST_MAIN(NULL, NULL)
