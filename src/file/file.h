/* SPDX-License-Identifier: MIT */
/*
 * file - read one regular file below a listed directory, for code in the box.
 *
 * What a path may name is decided by the kernel while it walks (openat2, beneath the
 * directory's own descriptor, through no symbolic link and no mount), and what kind of
 * file it is by the descriptor that is then read. Nothing is decided by looking at a
 * path and using it later, so that nobody can change anything in between.
 *
 * It may block on a slow disk: an I/O thread calls it. Any thread; the policy is only
 * read.
 */
#ifndef GBX_FILE_FILE_H
#define GBX_FILE_FILE_H

#include "policy/policy.h"
#include "wire/messages.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- io_thread.c --------------------------------------------------------- */

/*
 * The one thread of an engine that may block on a file.
 *
 * Reading a regular file can wait for a disk for as long as the disk likes, and no
 * event tells when it would not. So that the supervisor's loop never waits, such jobs
 * run here, one after the other, in the order in which they came.
 *
 * The thread is started by the first job and receives no signal. A job that never
 * ends (a file on a server that is gone) holds up the jobs behind it and the stop: each
 * call's own deadline is kept by the supervisor, not here.
 */

typedef struct gbx_io gbx_io;

/* Exactly one of the two functions is called, once, with user: run on the I/O thread,
 * or drop, if the stop came first, on the thread that stops. Both may call any function
 * of the program but gbx_io_stop(). */
typedef struct gbx_io_job {
    void (*run)(void *user);
    void (*drop)(void *user);
    void *user;
} gbx_io_job;

/* Room for so many jobs that wait; no thread yet. NULL if memory is out. */
gbx_io *gbx_io_start(size_t queue_max);

/* Any thread. False if the queue is full, the thread cannot be started now or a stop
 * has begun: then neither function is ever called. job is copied. */
bool gbx_io_submit(gbx_io *io, const gbx_io_job *job);

/* Wait for the running job, drop those that wait, free io. By one thread, once, and no
 * other may use io from then on. NULL is ignored. */
void gbx_io_stop(gbx_io *io);

/*
 * args_json is what the worker sent, `[path]`: hostile, taken as nothing but a string
 * (docs/internals/files.md has the one rule of how it maps to a file). bytes need not be
 * set up; clean it up afterwards. ret (its id is left alone) is always filled and borrows
 * from bytes: the contents, or an error with name, code and message.
 *
 * wide is the policy that the call's own narrows, or NULL: the files that it keeps for
 * itself are not read by way of a narrower one either.
 *
 * The time, the answer and its text are the same for everything outside of the listed
 * directories, whether it exists or not: none of it is looked at.
 */
void gbx_file_read(const gbx_policy *policy, const gbx_policy *wide, gbx_span args_json,
                   gbx_buf *bytes, gbx_msg_answer *ret);

#endif
