/* SPDX-License-Identifier: MIT */
/*
 * wallclock - the time of day that the engine sees.
 *
 * The program that links this file overrides clock_gettime for every library in it. So
 * a fixed clock applies to Date in all its forms and to Intl, without a replaced Date
 * that code could detect. Monotonic clocks are never touched.
 */
#include "realm/internal.h"

#include <dlfcn.h>
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int (*clock_fn)(clockid_t id, struct timespec *ret);

static struct {
    clock_fn real; /* the C library's: no system call where there is a vDSO */
    bool fixed;
    struct timespec at;
} state;

__attribute__((constructor)) static void find_real(void)
{
    void *found = dlsym(RTLD_NEXT, "clock_gettime");

    __builtin_memcpy(&state.real, &found, sizeof found);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock_id,
                                                         struct timespec *tp)
{
    if (clock_id == CLOCK_REALTIME && state.fixed) {
        *tp = state.at;
        return 0;
    }
    /* Other libraries' constructors may call this before ours has run. */
    if (state.real == NULL)
        return (int)syscall(SYS_clock_gettime, clock_id, tp);
    return state.real(clock_id, tp);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_wallclock_fix(double ms)
{
    double seconds = floor(ms / 1000.0);

    state.at.tv_sec = (time_t)seconds;
    /* A microsecond more: the engine rounds its own product down to milliseconds. */
    state.at.tv_nsec = (long)((ms - seconds * 1000.0) * 1e6) + 1000;
    state.fixed = true;
}

void gbx_wallclock_release(void)
{
    state.fixed = false;
}
