/* SPDX-License-Identifier: MIT */
/*
 * io_thread - a ring of jobs under one lock. Jobs run without the lock: a job may
 * submit the next one.
 */
#include "file/file.h"

#include "base/thread.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct gbx_io {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* signals a new job, or the stop */
    pthread_t thread;
    bool has_thread;
    bool is_closing;
    size_t first; /* of the ring */
    size_t count;
    size_t max;
    gbx_io_job jobs[];
};

/* Remove the oldest job. The lock is held, or the thread has ended. */
static gbx_io_job take(gbx_io *io)
{
    gbx_io_job job = io->jobs[io->first];

    io->first = (io->first + 1) % io->max;
    io->count--;
    return job;
}

static void *serve(void *arg)
{
    gbx_io *io = arg;

    (void)pthread_mutex_lock(&io->lock);
    while (!io->is_closing) {
        gbx_io_job job;

        if (io->count == 0) {
            (void)pthread_cond_wait(&io->wake, &io->lock);
            continue;
        }
        job = take(io);
        (void)pthread_mutex_unlock(&io->lock);
        job.run(job.user);
        (void)pthread_mutex_lock(&io->lock);
    }
    (void)pthread_mutex_unlock(&io->lock);
    return NULL;
}

gbx_io *gbx_io_start(size_t queue_max)
{
    gbx_io *io;

    if (queue_max == 0 || queue_max > (SIZE_MAX - sizeof *io) / sizeof io->jobs[0])
        return NULL;
    io = calloc(1, sizeof *io + queue_max * sizeof io->jobs[0]);
    if (io == NULL)
        return NULL;
    io->max = queue_max;
    if (pthread_mutex_init(&io->lock, NULL) != 0) {
        free(io);
        return NULL;
    }
    if (pthread_cond_init(&io->wake, NULL) != 0) {
        (void)pthread_mutex_destroy(&io->lock);
        free(io);
        return NULL;
    }
    return io;
}

bool gbx_io_submit(gbx_io *io, const gbx_io_job *job)
{
    bool taken;

    (void)pthread_mutex_lock(&io->lock);
    taken = !io->is_closing && io->count < io->max;
    if (taken && !io->has_thread) {
        taken = io->has_thread = gbx_thread_start(&io->thread, serve, io) == 0;
        if (io->has_thread)
            (void)pthread_setname_np(io->thread, "gbx-io");
    }
    if (taken) {
        io->jobs[(io->first + io->count++) % io->max] = *job;
        (void)pthread_cond_signal(&io->wake);
    }
    (void)pthread_mutex_unlock(&io->lock);
    return taken;
}

void gbx_io_stop(gbx_io *io)
{
    if (io == NULL)
        return;
    (void)pthread_mutex_lock(&io->lock);
    io->is_closing = true;
    (void)pthread_cond_signal(&io->wake);
    (void)pthread_mutex_unlock(&io->lock);
    if (io->has_thread)
        (void)pthread_join(io->thread, NULL);
    while (io->count > 0) {
        gbx_io_job job = take(io);

        job.drop(job.user);
    }
    (void)pthread_cond_destroy(&io->wake);
    (void)pthread_mutex_destroy(&io->lock);
    free(io);
}
