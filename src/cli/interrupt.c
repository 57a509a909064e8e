/* SPDX-License-Identifier: MIT */
/* interrupt - see cli.h. SIGUSR2 ends the thread: pthread_cancel() would load
 * another library. */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <errno.h>
#include <unistd.h>

#define STOP_SIGNAL SIGUSR2

static sigset_t waited(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    (void)sigaddset(&set, STOP_SIGNAL);
    return set;
}

static void *wait_for_signals(void *argument)
{
    gbx_signal *switch_off = argument;
    sigset_t set = waited();
    int count = 0;

    for (;;) {
        int number = 0;

        if (sigwait(&set, &number) != 0)
            continue;
        if (number == STOP_SIGNAL)
            return NULL;
        if (++count > 1)
            _exit(128 + number);
        gbx_signal_abort(switch_off);
    }
}

gbx_status gbx_interrupt_start(gbx_interrupt *interrupt, gbx_error *reterr)
{
    sigset_t set = waited();
    int e;

    interrupt->abort = gbx_need(gbx_signal_new());
    (void)pthread_sigmask(SIG_BLOCK, &set, &interrupt->before);
    e = pthread_create(&interrupt->thread, NULL, wait_for_signals, interrupt->abort);
    interrupt->is_running = e == 0;
    errno = e;
    return e == 0 ? GBX_OK
                  : gbx_fail(reterr, GBX_E_OS, "cannot start the thread for signals");
}

void gbx_interrupt_stop(gbx_interrupt *interrupt)
{
    if (interrupt->is_running) {
        (void)pthread_kill(interrupt->thread, STOP_SIGNAL);
        (void)pthread_join(interrupt->thread, NULL);
        (void)pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
    }
    gbx_signal_free(interrupt->abort);
    *interrupt = (gbx_interrupt){0};
}
