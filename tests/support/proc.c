/* SPDX-License-Identifier: MIT */
/* proc - see proc.h. */
#include "proc.h"

#include "until.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PROCESSES_MAX 4096

/* PF_FORKNOEXEC of the kernel's <linux/sched.h>, in the flags of /proc/PID/stat. */
#define FORKED_WITHOUT_EXEC 0x40

typedef struct process {
    pid_t pid;
    pid_t parent;
    char state;
    bool is_zygote; /* of no engine; also one that starts */
} process;

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, text, size - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* The arguments appear a moment after the program was executed. */
static bool is_zygote_program(pid_t pid)
{
    char path[64];
    char text[256] = "";

    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    return !read_text(path, text, sizeof text) ||
           memmem(text, sizeof text, "--zygote", 8) != NULL;
}

/* A zygote gets its name after it was executed, and before that it is a fork of the thread
 * that keeps zygotes. Its forks inherit its arguments. */
static bool read_stat(pid_t pid, process *ret)
{
    char path[64];
    char text[512];
    const char *at;
    unsigned flags = 0;
    bool is_executed; /* since its fork */

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!read_text(path, text, sizeof text))
        return false;
    at = strrchr(text, ')'); /* the name may contain anything */
    if (at == NULL || strlen(at) < 5)
        return false;
    (void)sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %u", &flags);
    is_executed = (flags & FORKED_WITHOUT_EXEC) == 0;
    *ret = (process){.pid = pid,
                     .parent = (pid_t)strtol(at + 4, NULL, 10),
                     .state = at[2]};
    ret->is_zygote =
        strstr(text, "(glovebox-zygote)") != NULL ||
        strstr(text, "(gbx-zygotes)") != NULL ||
        strstr(text, "(glovebox-spare)") != NULL ||
        (is_executed && ret->state != 'Z' &&
         strstr(text, "(glovebox-worker)") != NULL && is_zygote_program(pid));
    return true;
}

static size_t list_all(process *to, size_t max)
{
    DIR *dir = opendir("/proc");
    size_t count = 0;

    if (dir == NULL)
        return 0;
    for (const struct dirent *e = readdir(dir); e != NULL && count < max;
         e = readdir(dir)) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

        if (pid > 0 && read_stat(pid, &to[count]))
            count++;
    }
    (void)closedir(dir);
    return count;
}

/* Is p below root? Parents are followed in the list. */
static bool is_below(const process *all, size_t count, const process *p, pid_t root)
{
    pid_t parent = p->parent;

    for (int depth = 0; depth < 8 && parent > 1; depth++) {
        pid_t next = 0;

        if (parent == root)
            return true;
        for (size_t i = 0; i < count; i++)
            if (all[i].pid == parent)
                next = all[i].parent;
        parent = next;
    }
    return false;
}

size_t proc_status(pid_t pid, const char *name)
{
    char path[64];
    char text[4096];
    const char *at;

    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (!read_text(path, text, sizeof text))
        return 0;
    at = strstr(text, name);
    return at != NULL ? strtoul(at + strlen(name), NULL, 10) : 0;
}

/* ---- public to the tests -------------------------------------------------- */

void proc_look(pid_t root, proc_tree *ret)
{
    static _Thread_local process all[PROCESSES_MAX];
    size_t count = list_all(all, PROCESSES_MAX);

    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < count; i++) {
        if (!is_below(all, count, &all[i], root) || all[i].is_zygote)
            continue;
        if (all[i].state == 'Z')
            ret->zombies++;
        else if (ret->count < sizeof ret->pids / sizeof ret->pids[0])
            ret->pids[ret->count++] = all[i].pid;
    }
}

size_t proc_descendants(void)
{
    proc_tree tree;

    proc_look(getpid(), &tree);
    return tree.count;
}

size_t proc_zombies(void)
{
    proc_tree tree;

    proc_look(getpid(), &tree);
    return tree.zombies;
}

long proc_fds_of(pid_t pid)
{
    char path[64];
    long count = 0;
    DIR *dir;

    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    if (dir == NULL)
        return -1;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        count += e->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

size_t proc_fds(void)
{
    return (size_t)proc_fds_of(getpid()) - 1; /* but for the one that looks */
}

size_t proc_rss_kib(void)
{
    return proc_rss_kib_of(getpid());
}

size_t proc_rss_kib_of(pid_t pid)
{
    return proc_status(pid, "VmRSS:");
}

size_t proc_peak_kib(void)
{
    return proc_status(getpid(), "VmHWM:");
}

void proc_reset_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!write(fd, "5", 1);
    (void)close(fd);
}

static bool find_template(void *ret)
{
    proc_tree tree;
    process p;
    pid_t found = 0;

    proc_look(getpid(), &tree);
    for (size_t i = 0; i < tree.count; i++) {
        if (!read_stat(tree.pids[i], &p) || p.parent != getpid())
            continue;
        if (found != 0)
            return false;
        found = tree.pids[i];
    }
    *(pid_t *)ret = found;
    return found != 0;
}

pid_t proc_template(void)
{
    pid_t found = 0;

    (void)until(find_template, &found, 5000);
    return found;
}

size_t proc_workers(pid_t template_pid, pid_t *ret, size_t max)
{
    proc_tree tree;
    size_t count = 0;

    proc_look(template_pid, &tree);
    for (size_t i = 0; i < tree.count && count < max; i++)
        ret[count++] = tree.pids[i];
    return count;
}

bool proc_is_fork(pid_t template_pid)
{
    return is_zygote_program(template_pid); /* it inherits the arguments */
}

pid_t proc_parent(pid_t pid)
{
    process p;

    return read_stat(pid, &p) ? p.parent : 0;
}

char proc_state(pid_t pid)
{
    process p;

    return read_stat(pid, &p) ? p.state : 0;
}

bool proc_exists(pid_t pid)
{
    return proc_state(pid) != 0;
}

bool proc_forbid(int number, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

size_t proc_children_named(pid_t pid, const char *wanted, pid_t *ret)
{
    size_t count = 0;
    DIR *dir = opendir("/proc");

    if (dir == NULL)
        return 0;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        pid_t at = (pid_t)strtol(e->d_name, NULL, 10);
        char path[64];
        char name[32];

        (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)at);
        if (at <= 0 || proc_parent(at) != pid || proc_state(at) == 'Z' ||
            !read_text(path, name, sizeof name) || strcmp(name, wanted) != 0)
            continue;
        count++;
        if (ret != NULL)
            *ret = at;
    }
    (void)closedir(dir);
    return count;
}
