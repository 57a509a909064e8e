/* SPDX-License-Identifier: MIT */
/*
 * environment - built from nothing: JSC_*, LD_PRELOAD, GLIBC_TUNABLES, ICU_DATA and
 * the like in the host's environment must never reach the engine.
 */
#include "engine/engine.h"

#include <assert.h>

/*
 * The engine reads its options before main(). Malloc=1 and the marker count leave it
 * one thread, without which a fork would not be whole. The pool of compiled code is
 * bounded, since it is reserved up front and no limit counts its growth. Without tail
 * calls the stack, and so the reported line, is the code's own. The two upper tiers
 * compile on the one thread there is: they start later, when what they cost is less than
 * what they save, and for that an entry to a function is one turn of a loop, not fifteen.
 * A heap of this kind is collected after each MiB at first, which a call with an input of
 * one would see four times: two are as good, and keep what is not yet collected small.
 * A large one may have garbage of thrice its size before it is collected, a dataset in it
 * counted: code that holds nothing would meet the limit of its memory. 16 MiB are enough.
 * Symbols are bound at the start: workers lack libraries that a search would pass
 * (worker/unload_libs.c), and would each search anew.
 */
#define COMMON                                                                        \
    "TZ=UTC", "LANG=C", "LD_BIND_NOW=1", "Malloc=1", "GIGACAGE_ENABLED=0",            \
        "JSC_useConcurrentJIT=0", "JSC_useConcurrentGC=0", "JSC_numberOfGCMarkers=1", \
        "JSC_useWasm=0", "JSC_useSharedArrayBuffer=0", "JSC_useTailCalls=0",          \
        "JSC_jitMemoryReservationSize=33554432",                                      \
        "JSC_thresholdForOptimizeAfterWarmUp=15000",                                  \
        "JSC_executionCounterIncrementForEntry=1",                                    \
        "JSC_thresholdForFTLOptimizeAfterWarmUp=500000", "JSC_smallHeapSize=2097152", \
        "JSC_gcMaxHeapSize=16777216"

static const char *const full[] = {COMMON, NULL};
static const char *const baseline[] = {COMMON, "JSC_useDFGJIT=0", NULL};
static const char *const off[] = {COMMON, "JSC_useJIT=0", NULL};

/* ---- public to other modules -------------------------------------------- */

const char *const *gbx_worker_environment(gbx_jit jit)
{
    assert(jit != GBX_JIT_DEFAULT);
    return jit == GBX_JIT_FULL ? full : jit == GBX_JIT_BASELINE ? baseline : off;
}
