/* SPDX-License-Identifier: MIT */
/* until - see until.h. */
#include "until.h"

#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 64

typedef struct member {
    pthread_t thread;
    pthread_barrier_t *start;
    threads_fn fn;
    void *user;
    size_t number;
} member;

static void *begin(void *arg)
{
    const member *m = arg;

    (void)pthread_barrier_wait(m->start);
    m->fn(m->user, m->number);
    return NULL;
}

/* ---- public to the tests -------------------------------------------------- */

double now_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

bool until(until_fn condition, void *user, int timeout_ms)
{
    static const struct timespec step = {0, 5000000};
    double deadline = now_ms() + timeout_ms;

    while (!condition(user)) {
        if (now_ms() > deadline)
            return false;
        (void)nanosleep(&step, NULL);
    }
    return true;
}

void threads_run(size_t count, threads_fn fn, void *user)
{
    member members[THREADS_MAX];
    pthread_barrier_t start;

    if (count > THREADS_MAX || pthread_barrier_init(&start, NULL, (unsigned)count) != 0)
        abort();
    for (size_t i = 0; i < count; i++) {
        members[i] = (member){.start = &start, .fn = fn, .user = user, .number = i};
        if (pthread_create(&members[i].thread, NULL, begin, &members[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(members[i].thread, NULL);
    (void)pthread_barrier_destroy(&start);
}
