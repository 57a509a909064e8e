/* SPDX-License-Identifier: MIT */
/*
 * template_watchdog - is a template that does not answer hung, or only slow? Replacing
 * it ends every call of its workers, so a machine under load must never look like a
 * hang: a process that waits for a processor does not count as sleeping.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/timeouts.h"

#include <string.h>
#include <unistd.h>

/* More processor time than any fork takes. */
#define SPIN_NS (INT64_C(1000) * GBX_NS_PER_MS)

/* A working template sleeps for moments, too. */
#define STILL_TICKS 3

/* The state letter in /proc/PID/stat; 0 if it cannot be read. */
static char state_of(const gbx_spawned *process)
{
    char text[512];
    const char *end;
    ssize_t n;
    int fd;

    fd = gbx_pidfd_open_proc(process->pidfd, process->pid, "stat");
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    end = strrchr(text, ')'); /* end of its name, which may contain anything */
    return (char)(end != NULL && end[1] == ' ' ? end[2] : '\0');
}

/* It sleeps with work to do, is stopped, or loops. */
static bool seems_to_hang(gbx_template *t)
{
    char state = state_of(&t->process);
    int64_t cpu = gbx_pidfd_cpu_ns(t->process.pidfd, t->process.pid);

    if (cpu - t->watched_cpu_ns > SPIN_NS)
        return true;
    return state == 'S' || state == 'T' || state == 't';
}

static bool hangs(gbx_template *t, int64_t asked_ns, bool is_waited_for)
{
    int64_t waited = gbx_clock_now_ns() - asked_ns;

    if (t->watched_ns != asked_ns) {
        t->watched_ns = asked_ns;
        t->watched_cpu_ns =
            asked_ns != 0 ? gbx_pidfd_cpu_ns(t->process.pidfd, t->process.pid) : -1;
        if (t->watched_cpu_ns < 0)
            t->watched_cpu_ns = INT64_MAX; /* unknown: no later value is larger */
        t->still_ticks = 0;
    }
    if (asked_ns == 0 || waited < gbx_timeout_ns(GBX_TIMEOUT_FORK_LOOK))
        return false;
    if (waited > gbx_timeout_ns(GBX_TIMEOUT_FORK))
        return true;
    t->still_ticks = is_waited_for && seems_to_hang(t) ? t->still_ticks + 1 : 0;
    return t->still_ticks >= STILL_TICKS;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_watch_templates(gbx_engine *engine)
{
    for (gbx_template *t = engine->templates; t != NULL; t = t->next) {
        int64_t asked_ns;
        bool is_waited_for;

        (void)pthread_mutex_lock(&engine->lock);
        asked_ns = t->state == GBX_TEMPLATE_DEAD ? 0 : gbx_pool_oldest_fork(engine, t);
        if (t == engine->current && gbx_dataset_loader_is_busy(engine))
            asked_ns = 0; /* FORKs are answered after that */
        is_waited_for = t == engine->current && engine->waiting.count > 0;
        (void)pthread_mutex_unlock(&engine->lock);
        if (hangs(t, asked_ns, is_waited_for))
            gbx_template_kill(t);
    }
}
