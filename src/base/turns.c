/* SPDX-License-Identifier: MIT */
/* turns - whatever fails, turns are as they were. */
#include "base/turns.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Less than the kernel's own 3 ms, more than a small call takes. */
#define SHORT_NS UINT64_C(300000)

/* For policies that have them; everything else is set to what it is. */
static void set(uint64_t ns)
{
    struct sched_attr attr;

    memset(&attr, 0, sizeof attr);
    if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) < 0 ||
        (attr.sched_policy != SCHED_NORMAL && attr.sched_policy != SCHED_BATCH))
        return;
    attr.sched_runtime = ns; /* 0: the kernel's own */
    (void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_turns_make_short(void)
{
    set(SHORT_NS);
}

void gbx_turns_make_usual(void)
{
    set(0);
}
