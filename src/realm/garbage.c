/* SPDX-License-Identifier: MIT */
/*
 * garbage - let the engine collect before garbage fills the memory limit.
 *
 * The engine's collector counts the cells that it allocates. It does not count what hangs
 * on them in the C library's heap: the formatter behind an Intl object, the stack trace
 * of an error, a short string, the mapping of a resizable buffer. A loop that makes those
 * and lets them go fills any limit before the collector sees a reason to run.
 *
 * The allocator's count decides instead: when half of what the call may still have is
 * used up, the engine is told that its own limit is reached. The program that links this
 * file answers two of the engine's functions, which the engine's library calls by
 * symbol: Heap::didAllocate() is where it counts, right before it judges whether to
 * collect, and Heap::collectAsync() is what it then calls, in a state in which it can
 * collect. It is a full collection with a sweep, since only that gives the memory back.
 * The template's own collection shows that the engine calls both. One that does not
 * collects as it always did.
 */
#include "realm/internal.h"
#include "realm/refusal.h"

#include <dlfcn.h>

/* A collection that leaves less room than this part of the limit may be the last: else a
 * call that keeps all it allocates would spend its time on collections. */
#define LAST_STEP 32

/* More than the engine's collector ever waits for. */
#define PLENTY ((size_t)1 << 40)

static struct {
    size_t bytes; /* that the call may allocate; 0: nobody has said */
    size_t limit; /* what gbx_memory_used() then is */
    size_t next;  /* collect when it is more than this */
    bool due;
    bool is_reached; /* the engine calls both functions */
} state;

/* Of the engine's class Heap, whose instance is the first argument. */
typedef void (*did_allocate_fn)(void *heap, size_t bytes);
typedef void (*collect_async_fn)(void *heap, void *request);

/* The engine's own: ours have taken their places. */
static struct {
    did_allocate_fn did_allocate;
    collect_async_fn collect_async;
} engine;

__attribute__((visibility("default"))) void gbx_engine_did_allocate(
    void *heap, size_t bytes) __asm__("_ZN3JSC4Heap11didAllocateEm");
__attribute__((visibility("default"))) void gbx_engine_collect_async(
    void *heap, void *request) __asm__("_ZN3JSC4Heap12collectAsyncENS_9GCRequestE");

__attribute__((constructor)) static void find_engine(void)
{
    void *found = dlsym(RTLD_NEXT, "_ZN3JSC4Heap11didAllocateEm");

    __builtin_memcpy(&engine.did_allocate, &found, sizeof found);
    found = dlsym(RTLD_NEXT, "_ZN3JSC4Heap12collectAsyncENS_9GCRequestE");
    __builtin_memcpy(&engine.collect_async, &found, sizeof found);
}

/* Half of the room that is left, so that a call which keeps what it allocates meets few
 * collections on its way to the limit. */
static void set_next(void)
{
    size_t used = gbx_memory_used();
    size_t room = state.limit > used ? state.limit - used : 0;
    size_t least = state.bytes / LAST_STEP;

    state.next = used + (room / 2 > least ? room / 2 : least);
}

void gbx_engine_did_allocate(void *heap, size_t bytes)
{
    engine.did_allocate(heap, bytes);
    if (state.bytes == 0 || state.due || gbx_memory_used() <= state.next)
        return;
    state.due = true;
    engine.did_allocate(heap, PLENTY);
}

void gbx_engine_collect_async(void *heap, void *request)
{
    if (!state.due) {
        engine.collect_async(heap, request);
        return;
    }
    state.is_reached = true;
    state.due = false;
    gbx_rejections_let_go(gbx_realm_self());
    JSSynchronousGarbageCollectForDebugging(gbx_realm_self()->ctx);
    set_next();
}

/* ---- public to other files of this folder ----------------------------------- */

void gbx_garbage_collect(gbx_realm *realm)
{
    static const char code[] = "() => { for (let i = 0; i < 2000; i++) [i] }";

    state.is_reached = false;
    state.bytes = PLENTY;
    state.next = 0;
    (void)gbx_call_script(realm, code, 0, NULL);
    state.bytes = 0;
    state.due = false;
    if (!state.is_reached)
        JSSynchronousGarbageCollectForDebugging(realm->ctx);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_realm_limit_memory(uint64_t bytes)
{
    state.bytes = state.is_reached ? (size_t)bytes : 0;
    state.limit = gbx_memory_used() + state.bytes;
    set_next();
}

bool gbx_realm_collects_garbage(void)
{
    return state.is_reached;
}
