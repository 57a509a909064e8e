/* SPDX-License-Identifier: MIT */
/* proc - what this process has at the moment: children, descriptors, memory. */
#ifndef GBX_TESTS_PROC_H
#define GBX_TESTS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Every process below root, root itself not counted; at most max are listed. Of a
 * zombie only the count is kept. */
typedef struct proc_tree {
    pid_t pids[256];
    size_t count;
    size_t zombies;
} proc_tree;
void proc_look(pid_t root, proc_tree *ret);

size_t proc_descendants(void); /* of this process, alive */
size_t proc_zombies(void);
size_t proc_fds(void);
long proc_fds_of(pid_t pid); /* -1: not to be seen */
size_t proc_rss_kib(void);
size_t proc_rss_kib_of(pid_t pid); /* 0: no such process */
size_t proc_peak_kib(void);        /* since proc_reset_peak() */
void proc_reset_peak(void);

/* The one child of this process, which must be an engine's template; 0 if there is not
 * exactly one within 5 s: the template before it may still be ending. And the children of that: workers. */
pid_t proc_template(void);
size_t proc_workers(pid_t template_pid, pid_t *ret, size_t max);

/* The number behind `name`, "VmRSS:", in /proc/PID/status; 0 if it has none. */
size_t proc_status(pid_t pid, const char *name);

/* How many children of pid have this name, which ends in a newline, and one of them. */
size_t proc_children_named(pid_t pid, const char *wanted, pid_t *ret);

/* Is this template a fork of a zygote? */
bool proc_is_fork(pid_t template_pid);

pid_t proc_parent(pid_t pid); /* 0: no such process */

/* One letter of /proc/PID/stat: 'R', 'S', 'T', 'Z'...; 0 if no such process. */
char proc_state(pid_t pid);
bool proc_exists(pid_t pid);

/* From now on this process, and what it starts, gets this error for a system call, as on a
 * kernel that lacks it. False if that cannot be had. */
bool proc_forbid(int number, int error);

#endif
