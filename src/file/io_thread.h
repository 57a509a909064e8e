/* SPDX-License-Identifier: MIT */
/*
 * io_thread - the one thread of an engine that may block on a file.
 *
 * Reading a regular file can wait for a disk for as long as the disk likes, and no
 * event tells when it would not. So that the supervisor's loop never waits, such jobs
 * run here, one after the other, in the order in which they came.
 *
 * The thread is started by the first job and receives no signal. A job that never
 * ends (a file on a server that is gone) holds up the jobs behind it and the stop: each
 * call's own deadline is kept by the supervisor, not here.
 */
#ifndef GBX_FILE_IO_THREAD_H
#define GBX_FILE_IO_THREAD_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
