/* SPDX-License-Identifier: MIT */
/*
 * garbage - makes the engine collect before garbage fills the memory limit.
 *
 * The engine's collector counts the cells that it allocates, but not what they own in
 * the C library's heap: the formatter behind an Intl object, the stack trace of an
 * error, a short string, the mapping of a resizable buffer. A loop that makes and drops
 * such objects fills any limit before the collector sees a reason to run.
 *
 * The allocator's count decides instead. When as much was allocated as the last
 * collection left, or a third of the call's remaining memory is used up, we report to
 * the engine that its own limit is reached. The program that links this file overrides
 * some of the engine's functions, which the engine's library calls by symbol. In
 * Heap::didAllocate() we count, right before the engine decides whether to collect. It
 * then calls Heap::collectAsync(), in a state in which it can collect. We run a full
 * collection with a sweep, since only that frees the memory. The limit is also reported
 * before a typed array or a large cell that no longer fits. The template's own
 * collection shows whether the engine calls both functions. If it does not, it collects
 * as usual.
 */
#include "realm/internal.h"

#include "base/cleanup.h"

#include <dlfcn.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Releases rejected promises that have been handled.
 *
 * The engine keeps each promise that was rejected before it was handled, to report it
 * when all jobs are done. An async function that awaits one rejection after the other
 * is one long run of jobs: every promise, its error and the error's stack trace stay
 * until the end, although all were caught. Before a collection, those that are handled
 * are replaced in the engine's list by one handled promise, which the engine skips just
 * as it would have skipped them.
 *
 * The position of the list, and the bit that means handled, are learned from samples at
 * the start, as in cell.c. If they cannot be learned, the promises stay.
 */

#define PAGE    4096u
#define SAMPLES 3u

/* A handle of the engine: the place of one value, known to the collector. */
typedef struct handle {
    const void *type;
    JSValueRef *place;
} handle;

/* A vector of the engine's. */
typedef struct list {
    const handle *elements;
    uint32_t capacity;
    uint32_t count;
} list;

static struct {
    size_t offset; /* of the list in the VM; 0: not known */
    uint32_t handled_bit;
    JSValueRef handled; /* replaces them */
} kept;

/* The samples, before and after they were handled. */
static struct {
    JSValueRef promises[SAMPLES];
    uint32_t flags[2];
    unsigned looks;
} learned;

static const char samples[] =
    "(look) => { const made = [1, 2, 3].map((x) => Promise.reject(x)); look(made);"
    " made.map((one) => one.catch(() => {})); look(made); return made[0] }";

static uint32_t flags_of(JSValueRef promise)
{
    uint32_t flags;

    memcpy(&flags, (const uint8_t *)promise + GBX_PROMISE_FLAGS, sizeof flags);
    return flags;
}

/* True if size bytes can be read there. They lie in one page or two. */
static bool is_mapped(const void *from, size_t size)
{
    uintptr_t first = (uintptr_t)from & ~(uintptr_t)(PAGE - 1);
    unsigned char resident[2];

    return (uintptr_t)from % sizeof(void *) == 0 &&
           mincore((void *)first, (uintptr_t)from + size - first, resident) == 0;
}

static bool holds_samples(const list *at)
{
    if (at->count != SAMPLES || at->capacity < SAMPLES ||
        !is_mapped(at->elements, SAMPLES * sizeof *at->elements))
        return false;
    for (unsigned i = 0; i < SAMPLES; i++)
        if (!is_mapped(at->elements[i].place, sizeof *at->elements[i].place) ||
            *at->elements[i].place != learned.promises[i])
            return false;
    return true;
}

static char *vm_of(JSContextRef ctx)
{
    return (char *)(uintptr_t)JSContextGetGroup(ctx);
}

static void find_list(JSContextRef ctx)
{
    char *vm = vm_of(ctx);
    size_t size = malloc_usable_size(vm);
    list at;

    for (size_t i = sizeof(void *); i + sizeof at <= size; i += sizeof(void *)) {
        memcpy(&at, vm + i, sizeof at);
        if (holds_samples(&at))
            kept.offset = i;
    }
}

static JSValueRef on_look(GBX_ARGUMENTS)
{
    for (unsigned i = 0; i < SAMPLES; i++)
        learned.promises[i] =
            JSObjectGetPropertyAtIndex(ctx, gbx_object(argv[0]), i, NULL);
    learned.flags[learned.looks++ % 2] = flags_of(learned.promises[0]);
    find_list(ctx);
    return JSValueMakeUndefined(ctx);
}

void gbx_rejections_learn(gbx_realm *realm)
{
    JSValueRef look = gbx_native(realm->ctx, "look", on_look);
    JSObjectRef promise;
    uint32_t bit;

    memset(&kept, 0, sizeof kept); /* from an earlier realm */
    promise = gbx_call_script(realm, samples, 1, &look);
    bit = learned.flags[0] ^ learned.flags[1];
    if (promise == NULL || bit == 0 || (bit & (bit - 1)) != 0)
        kept.offset = 0;
    if (kept.offset == 0)
        return;
    JSValueProtect(realm->ctx, promise);
    kept.handled = promise;
    kept.handled_bit = bit;
}

/* Call before a collection: drops handled promises from the list. */
static void gbx_rejections_let_go(gbx_realm *realm)
{
    list at;

    if (kept.offset == 0)
        return;
    memcpy(&at, vm_of(realm->ctx) + kept.offset, sizeof at);
    for (uint32_t i = 0; i < at.count; i++)
        if ((flags_of(*at.elements[i].place) & kept.handled_bit) != 0)
            *at.elements[i].place = kept.handled;
}

/* At least this part of the limit is allocated between two collections: otherwise a
 * call that keeps all it allocates would spend its time on collections. */
#define LAST_STEP 32

/* The same for a call that keeps little, while there is room. */
#define FIRST_STEP 4

/* This part of the limit may be lost between used blocks: the kernel counts pages. */
#define LOST 8

/* More bytes than the engine's collector ever waits for. */
#define PLENTY ((size_t)1 << 40)

static struct {
    size_t bytes; /* that the call may allocate; 0: not set */
    size_t limit; /* gbx_memory_used() at that limit */
    size_t next;  /* collect when it is more than this */
    bool due;
    bool is_reached; /* the engine calls both functions */
} state;

/* Functions of the engine, by their symbols. Ours replace all but REPORT_EXTRA in this
 * program; the variable `engine` points to the engine's own. */
#define DID_ALLOCATE  "_ZN3JSC4Heap11didAllocateEm"
#define COLLECT_ASYNC "_ZN3JSC4Heap12collectAsyncENS_9GCRequestE"
#define REPORT_EXTRA \
    "_ZN3JSC4Heap34reportExtraMemoryAllocatedSlowCaseEPNS_17GCDeferralContextEPKNS_6JSCellEm"
#define MAKE_VIEW                                                                     \
    "_ZN3JSC17JSArrayBufferView19ConstructionContextC1ERNS_2VMEPNS_9StructureEmjNS1_" \
    "18InitializationModeE"
#define MAKE_CELL                                                                  \
    "_ZN3JSC16CompleteSubspace12allocateSlowERNS_2VMEmPNS_17GCDeferralContextENS_" \
    "21AllocationFailureModeE"

#define OURS __attribute__((visibility("default")))
OURS void gbx_engine_did_allocate(void *heap, size_t bytes) __asm__(DID_ALLOCATE);
OURS void gbx_engine_collect_async(void *heap, void *request) __asm__(COLLECT_ASYNC);
OURS void gbx_engine_make_view(void *view, void *vm, void *structure, size_t count,
                               unsigned size, unsigned mode) __asm__(MAKE_VIEW);
OURS void *gbx_engine_make_cell(void *space, void *vm, size_t bytes, void *deferral,
                                unsigned mode) __asm__(MAKE_CELL);

static struct {
    __typeof__(gbx_engine_did_allocate) *did_allocate;
    __typeof__(gbx_engine_collect_async) *collect_async;
    __typeof__(gbx_engine_make_view) *make_view;
    __typeof__(gbx_engine_make_cell) *make_cell;
    /* May collect, unless collection is deferred. */
    void (*report_extra)(void *heap, void *deferral, void *cell, size_t bytes);
    void *heap;
} engine;

__attribute__((constructor)) static void find_engine(void)
{
    const struct {
        const char *name;
        void *at; /* of the pointer to set */
    } all[] = {
        {DID_ALLOCATE, &engine.did_allocate}, {COLLECT_ASYNC, &engine.collect_async},
        {MAKE_VIEW, &engine.make_view},       {MAKE_CELL, &engine.make_cell},
        {REPORT_EXTRA, &engine.report_extra},
    };

    for (size_t i = 0; i < GBX_COUNTOF(all); i++) {
        void *found = dlsym(RTLD_NEXT, all[i].name);

        memcpy(all[i].at, &found, sizeof found);
    }
}

/* Collect again after as many bytes as the last collection left, so that collections
 * cost no more than the allocations between them. But wait for at most a third of the
 * room, since garbage must leave some for a large block, and not for too little, so
 * that a call that keeps what it allocates meets few collections before the limit. */
static void set_next(void)
{
    size_t used = gbx_memory_used();
    size_t room = state.limit > used ? state.limit - used : 0;
    size_t live = state.bytes > room ? state.bytes - room : 0;
    size_t step = live > state.bytes / FIRST_STEP ? live : state.bytes / FIRST_STEP;
    size_t least = state.bytes / LAST_STEP;

    if (step > room / 3)
        step = room / 3;
    state.next = used + (step > least ? step : least);
}

void gbx_engine_did_allocate(void *heap, size_t bytes)
{
    engine.heap = heap;
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

/* Before a block so large that few fit: collect if garbage may take up its room. */
static void make_room(size_t bytes)
{
    if (state.bytes == 0 || bytes < state.bytes / LAST_STEP ||
        engine.report_extra == NULL ||
        gbx_memory_used() + bytes <= state.limit - state.bytes / LOST)
        return;
    state.due = true;
    engine.report_extra(engine.heap, NULL, NULL, PLENTY);
}

void gbx_engine_make_view(void *view, void *vm, void *structure, size_t count,
                          unsigned size, unsigned mode)
{
    size_t bytes;

    if (!__builtin_mul_overflow(count, (size_t)size, &bytes) && bytes <= state.bytes)
        make_room(bytes);
    engine.make_view(view, vm, structure, count, size, mode);
}

void *gbx_engine_make_cell(void *space, void *vm, size_t bytes, void *deferral,
                           unsigned mode)
{
    if (deferral == NULL && bytes <= state.bytes)
        make_room(bytes);
    return engine.make_cell(space, vm, bytes, deferral, mode);
}

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
