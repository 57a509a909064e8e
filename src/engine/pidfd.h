/* SPDX-License-Identifier: MIT */
/*
 * pidfd - what the kernel says of a process that is held by a pidfd.
 *
 * Much of it is asked for by number, and the number of a process that has been reaped may
 * be another's: what was found counts only if the process still has it afterwards.
 *
 * Any thread; nothing is kept.
 */
#ifndef GBX_ENGINE_PIDFD_H
#define GBX_ENGINE_PIDFD_H

#include "engine/spawn.h"

#include <stdbool.h>

/* Has the process its number still: it runs, or nobody has reaped it? */
bool gbx_pidfd_is_there(int pidfd);

/* A descriptor that the template `parent` has sent: is it a pidfd, and of a child of the
 * template? Whatever else it is, we would send it SIGKILL. Returns the child's number as
 * this process sees it (0: it has ended, or is not in our pid namespace) and its
 * /proc/PID/status (-1: it has ended, or is not shown). */
bool gbx_pidfd_is_child(int pidfd, const gbx_spawned *parent, pid_t *ret_pid,
                        int *ret_status_fd);

/* A file of /proc/PID, or -1. */
int gbx_pidfd_open_proc(int pidfd, pid_t pid, const char *name);

/* Processor time; -1 if it is unknown. */
int64_t gbx_pidfd_cpu_ns(int pidfd, pid_t pid);

#endif
