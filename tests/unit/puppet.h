/* SPDX-License-Identifier: MIT */
/*
 * puppet - an engine without a thread, with one template that is nothing but bytes:
 * what the pool, the queue and the control channel do can be watched step by step.
 *
 * Owns everything in it; one thread.
 */
#ifndef GBX_TESTS_PUPPET_H
#define GBX_TESTS_PUPPET_H

#include "engine/engine.h"

typedef struct puppet {
    gbx_engine engine;
    gbx_template *template; /* in engine.templates, its state STARTING */
    int far;                /* the template's end of the control channel */
    int fars[16];           /* the workers' ends of their channels, oldest first */
    size_t far_count;
} puppet;

/* options may be NULL. */
void puppet_init(puppet *p, const gbx_options *options);
void puppet_cleanup(puppet *p);

/* The template says these bytes; false if it must end. */
bool puppet_hear(puppet *p, const void *data, size_t len);

/* The template hands over a worker's channel and pidfd, of one process for all. */
void puppet_hand_over(puppet *p);

/* HELLO from a template that serves, every layer standing. */
bool puppet_say_hello(puppet *p);

/* FORKED, with descriptors if error is 0. */
bool puppet_say_forked(puppet *p, uint64_t worker_id, uint32_t error);
bool puppet_say_exited(puppet *p, uint64_t worker_id, uint32_t status);

/* The worker handed over as number n says READY, and it is heard. */
void puppet_say_ready(puppet *p, size_t n);

/* Everything that is due in the event loop, without waiting. */
void puppet_loop(puppet *p);

/* How many frames of the type the template was sent since the last time asked. */
size_t puppet_count_sent(puppet *p, gbx_msg_type type);

/* Every count of the engine agrees with its lists. */
bool puppet_is_sound(const puppet *p);

#endif
