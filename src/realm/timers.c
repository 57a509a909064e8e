/* SPDX-License-Identifier: MIT */
/*
 * timers - setTimeout, setInterval, their clears, and sleep.
 *
 * A heap ordered by time, then by age. Timers do not run by themselves: between jobs
 * the realm asks for the next step, which waits through the host and calls one
 * callback. With a fixed clock nothing waits: the next timer's time becomes now.
 */
#include "realm/internal.h"

#include <glovebox/glovebox.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An id is the serial number of the timer with its slot in the low bits: ids grow,
 * and a used id never names a later timer. */
#define SLOT_BITS 14u
#define SLOT_MASK ((1u << SLOT_BITS) - 1)

_Static_assert(GBX_TIMERS_MAX + 1 <= SLOT_MASK, "a slot number fits its bits");

struct gbx_timer {
    double due;
    uint64_t serial;  /* 0: the slot is free */
    uint32_t at;      /* in the heap; for a free slot: the next free one + 1 */
    double interval;  /* 0: once */
    JSObjectRef fn;   /* protected, like the arguments */
    JSObjectRef args; /* an array */
};

/* ---- the heap ------------------------------------------------------------- */

static bool before(const gbx_timers *t, uint32_t a, uint32_t b)
{
    const gbx_timer *x = &t->slots[a], *y = &t->slots[b];

    return x->due < y->due || (x->due == y->due && x->serial < y->serial);
}

static void place(gbx_timers *t, uint32_t at, uint32_t slot)
{
    t->heap[at] = slot;
    t->slots[slot].at = at;
}

static void sift(gbx_timers *t, uint32_t at)
{
    uint32_t slot = t->heap[at];

    while (at > 0 && before(t, slot, t->heap[(at - 1) / 2])) {
        place(t, at, t->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint32_t child = 2 * at + 1; child < t->count; child = 2 * at + 1) {
        if (child + 1 < t->count && before(t, t->heap[child + 1], t->heap[child]))
            child++;
        if (!before(t, t->heap[child], slot))
            break;
        place(t, at, t->heap[child]);
        at = child;
    }
    place(t, at, slot);
}

static void heap_remove(gbx_timers *t, uint32_t at)
{
    uint32_t last = t->heap[--t->count];

    if (at == t->count)
        return;
    place(t, at, last);
    sift(t, at);
}

/* ---- slots ---------------------------------------------------------------- */

static void grow(gbx_timers *t)
{
    uint32_t capacity = t->capacity == 0 ? 64 : t->capacity * 2;

    if (capacity > GBX_TIMERS_MAX + 1)
        capacity = GBX_TIMERS_MAX + 1; /* one may be running while the others wait */
    t->slots = realloc(t->slots, capacity * sizeof *t->slots);
    t->heap = realloc(t->heap, capacity * sizeof *t->heap);
    if (t->slots == NULL || t->heap == NULL)
        abort();
    t->capacity = capacity;
}

static uint32_t take_slot(gbx_timers *t)
{
    uint32_t slot = t->free_slot;

    if (slot != 0) {
        t->free_slot = t->slots[slot - 1].at;
        return slot - 1;
    }
    if (t->used == t->capacity)
        grow(t);
    return t->used++;
}

static void drop(gbx_realm *realm, uint32_t slot)
{
    gbx_timer *timer = &realm->timers.slots[slot];

    JSValueUnprotect(realm->ctx, timer->fn);
    JSValueUnprotect(realm->ctx, timer->args);
    timer->serial = 0;
    timer->at = realm->timers.free_slot;
    realm->timers.free_slot = slot + 1;
}

/* Returns the id. */
static double add(gbx_realm *realm, JSObjectRef fn, double ms, bool repeats,
                  size_t argc, const JSValueRef argv[])
{
    gbx_timers *t = &realm->timers;
    uint32_t slot = take_slot(t);
    gbx_timer *timer = &t->slots[slot];

    *timer = (gbx_timer){
        .due = gbx_timers_now(realm) + ms,
        .serial = ++t->serial,
        .interval = repeats ? (ms < 1 ? 1 : ms) : 0,
        .fn = fn,
        .args = JSObjectMakeArray(realm->ctx, argc, argv, NULL),
    };
    if (timer->args == NULL)
        abort();
    JSValueProtect(realm->ctx, fn);
    JSValueProtect(realm->ctx, timer->args);
    t->heap[t->count++] = slot;
    sift(t, t->count - 1);
    return (double)timer->serial * (SLOT_MASK + 1) + slot;
}

/* ---- what the code calls ---------------------------------------------------- */

/* From 0 to GBX_TIMER_MS_MAX; a larger value is an exception, and NaN counts as 0. */
static double read_ms(JSContextRef ctx, size_t argc, const JSValueRef argv[], size_t at,
                      JSValueRef *exception)
{
    double ms = argc > at ? JSValueToNumber(ctx, argv[at], exception) : 0;
    char text[64];

    if (!(ms > 0))
        return 0;
    if (ms <= GBX_TIMER_MS_MAX)
        return ms;
    snprintf(text, sizeof text, "A delay is at most %.0f ms (24.8 days)",
             GBX_TIMER_MS_MAX);
    gbx_throw(ctx, "RangeError", text, exception);
    return 0;
}

/* May another timer be added? A preload may have kept the functions for a call
 * without timers, and a timer of a preload would run in every call. */
static bool may_add(JSContextRef ctx, const gbx_realm *realm, JSValueRef *exception)
{
    char text[64];

    if (realm->in == NULL || (realm->in->flags & GBX_CALL_WIRE_TIMERS) == 0) {
        gbx_throw(ctx, "TypeError", "This call has no timers", exception);
        return false;
    }
    if (realm->timers.count < GBX_TIMERS_MAX)
        return true;
    snprintf(text, sizeof text, "Too many timers: %u are waiting", GBX_TIMERS_MAX);
    gbx_throw(ctx, "RangeError", text, exception);
    return false;
}

static JSValueRef start(JSContextRef ctx, size_t argc, const JSValueRef argv[],
                        bool repeats, JSValueRef *exception)
{
    gbx_realm *realm = gbx_realm_self();
    size_t first = argc < 2 ? argc : 2;
    double ms;

    if (argc < 1 || !JSValueIsObject(ctx, argv[0]) ||
        !JSObjectIsFunction(ctx, gbx_object(argv[0])))
        return gbx_throw(ctx, "TypeError", "The callback of a timer must be a function",
                         exception);
    ms = read_ms(ctx, argc, argv, 1, exception);
    if (*exception != NULL || !may_add(ctx, realm, exception))
        return JSValueMakeUndefined(ctx);
    return JSValueMakeNumber(ctx, add(realm, gbx_object(argv[0]), ms, repeats,
                                      argc - first, argv + first));
}

static JSValueRef on_set_timeout(GBX_ARGUMENTS)
{
    return start(ctx, argc, argv, false, exception);
}

static JSValueRef on_set_interval(GBX_ARGUMENTS)
{
    return start(ctx, argc, argv, true, exception);
}

static JSValueRef on_clear(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    gbx_timers *t = &realm->timers;
    double id;
    uint32_t slot;

    if (argc < 1 || !JSValueIsNumber(ctx, argv[0]))
        return JSValueMakeUndefined(ctx);
    id = JSValueToNumber(ctx, argv[0], NULL);
    if (!(id >= 1 && id <= 9007199254740991.0))
        return JSValueMakeUndefined(ctx);
    slot = (uint32_t)((uint64_t)id & SLOT_MASK);
    if (slot < t->used && t->slots[slot].serial == (uint64_t)id >> SLOT_BITS &&
        t->slots[slot].serial != 0) {
        if (t->slots[slot].at != UINT32_MAX)
            heap_remove(t, t->slots[slot].at);
        drop(realm, slot);
    }
    return JSValueMakeUndefined(ctx);
}

static JSValueRef on_sleep(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    double ms = read_ms(ctx, argc, argv, 0, exception);
    JSObjectRef promise, resolve, reject;

    if (*exception != NULL || !may_add(ctx, realm, exception))
        return JSValueMakeUndefined(ctx);
    promise = JSObjectMakeDeferredPromise(ctx, &resolve, &reject, exception);
    if (promise == NULL)
        return JSValueMakeUndefined(ctx);
    add(realm, resolve, ms, false, 0, NULL);
    return promise;
}

/* ---- the next step ----------------------------------------------------------- */

/* Call a timer's callback. A repeating timer is back in the heap afterwards. */
static void fire(gbx_realm *realm, uint32_t slot, JSValueRef *exception)
{
    gbx_timers *t = &realm->timers;
    gbx_timer timer = t->slots[slot]; /* it may clear itself meanwhile */
    JSValueRef args[] = {timer.fn, JSValueMakeUndefined(realm->ctx), timer.args};

    heap_remove(t, timer.at);
    t->slots[slot].at = UINT32_MAX; /* running: not in the heap */
    JSObjectCallAsFunction(realm->ctx, realm->apply, NULL, GBX_COUNTOF(args), args,
                           exception);
    if (t->slots[slot].serial != timer.serial)
        return; /* it cleared itself; another timer may have the slot */
    if (timer.interval == 0) {
        drop(realm, slot);
        return;
    }
    /* It becomes the youngest among equals; the id keeps the serial. */
    t->slots[slot].due = gbx_timers_now(realm) + timer.interval;
    assert(t->count < t->capacity);
    t->heap[t->count++] = slot;
    sift(t, t->count - 1);
}

double gbx_timers_now(gbx_realm *realm)
{
    if (realm->in != NULL && (realm->in->flags & GBX_CALL_WIRE_FIXED_NOW) != 0)
        return realm->timers.virtual_ms;
    return realm->host != NULL ? realm->host->now_ms(realm->host->user) : 0;
}

double gbx_timers_left(gbx_realm *realm)
{
    const gbx_timers *t = &realm->timers;
    double ms;

    if (t->count == 0)
        return -1;
    ms = t->slots[t->heap[0]].due - gbx_timers_now(realm);
    return ms > 0 ? ms : 0;
}

bool gbx_timers_step(gbx_realm *realm, JSValueRef *exception)
{
    gbx_timers *t = &realm->timers;
    uint32_t slot;
    double ms;

    if (t->count == 0)
        return false;
    slot = t->heap[0];
    ms = t->slots[slot].due - gbx_timers_now(realm);
    if (ms > 0 && (realm->in->flags & GBX_CALL_WIRE_FIXED_NOW) != 0) {
        t->virtual_ms = t->slots[slot].due;
        gbx_wallclock_fix((double)realm->in->now_ms + t->virtual_ms);
    } else if (ms > 0) {
        realm->host->wait(realm->host->user, (uint32_t)ceil(ms));
        return true; /* the host may return early: check again */
    }
    fire(realm, slot, exception);
    return true;
}

static const gbx_native_row functions[] = {
    {"setTimeout", on_set_timeout},   {"clearTimeout", on_clear},  {"sleep", on_sleep},
    {"setInterval", on_set_interval}, {"clearInterval", on_clear},
};

JSObjectRef gbx_timers_starter(gbx_realm *realm)
{
    return gbx_native(realm->ctx, "setTimeout", on_set_timeout);
}

void gbx_timers_install(gbx_realm *realm)
{
    gbx_natives_add(realm->ctx, realm->global, functions, GBX_COUNTOF(functions),
                    kJSPropertyAttributeDontEnum);
}

void gbx_timers_remove(gbx_realm *realm, const char *kind)
{
    for (size_t i = 0; i < GBX_COUNTOF(functions); i++) {
        JSStringRef name;

        if (strstr(functions[i].name, kind) == NULL)
            continue;
        name = JSStringCreateWithUTF8CString(functions[i].name);
        JSObjectDeleteProperty(realm->ctx, realm->global, name, NULL);
        JSStringRelease(name);
    }
}
