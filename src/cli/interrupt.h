/* SPDX-License-Identifier: MIT */
/*
 * interrupt - Ctrl-C, SIGTERM and SIGHUP end the call, and then the command.
 *
 * A thread waits for the signals with sigwait, since gbx_signal_abort() must not run in
 * a signal handler. The first one throws the switch: the call ends as ABORTED within
 * milliseconds and everything is cleaned up on the way out. A second one, should that
 * hang, ends this process; the kernel then kills what it had started.
 *
 * Start it once nothing blocks on the user any more (a prompt on standard input).
 */
#ifndef GBX_CLI_INTERRUPT_H
#define GBX_CLI_INTERRUPT_H

#include "base/fail.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct gbx_interrupt {
    gbx_signal *abort; /* give it to the calls */
    pthread_t thread;
    sigset_t before; /* the mask to restore */
    bool is_running;
} gbx_interrupt;

gbx_status gbx_interrupt_start(gbx_interrupt *interrupt, gbx_error *reterr);

/* No call may have the switch any more. A zeroed one is ignored. */
void gbx_interrupt_stop(gbx_interrupt *interrupt);

#endif
