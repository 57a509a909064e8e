/* SPDX-License-Identifier: MIT */
/*
 * cell - the few facts that are read from the engine's cells rather than through its
 * API.
 *
 * On 64-bit machines a reference to an object is the address of its cell. Byte 5 of a
 * cell is its type, which code cannot change: unlike a prototype, a name or a tag it
 * cannot be forged, and reading it runs no code. Every offset is learned from samples,
 * or checked with them, at the start. What cannot be learned is reported as unknown.
 */
#include "realm/internal.h"

#include <stdint.h>
#include <string.h>

#define TYPE_BYTE  5
#define FIRST_BYTE 16 /* after the cell's header and the pointer to its properties */
#define LAST_BYTE  63

/* A promise's value follows its flags. */
#define PROMISE_VALUE 24

_Static_assert(sizeof(JSValueRef) == 8, "cells are read on 64-bit machines only");

/* The engine's own out-of-memory errors: all fail before they allocate. */
static const char genuine[] =
    "[() => 'ab'.repeat(2 ** 30), () => ''.padEnd(2 ** 31, 'x'),"
    " () => 'abc'.padStart(2 ** 31), () => 'abc'.repeat(2 ** 30),"
    " () => [].concat('ab').join('').repeat(2 ** 30)]"
    ".map(f => { try { f() } catch (e) { return e } })";

/* Look-alikes, and other errors of the engine. */
static const char forged[] =
    "[() => { throw new RangeError('Out of memory') },"
    " () => { throw Object.setPrototypeOf(new Error('Out of memory'), RangeError.prototype) },"
    " () => { throw Reflect.construct(Error, ['Out of memory'], RangeError) },"
    " () => { throw RangeError('Out of memory', { cause: 1 }) },"
    " () => { throw new (class RangeError extends Error {})('Out of memory') },"
    " () => { throw new AggregateError([], 'Out of memory') },"
    " () => (1).toFixed(1000), () => new Array(-1), () => new Array(1.5),"
    " () => null.x, () => x.y, () => JSON.parse('{'), () => 1n + 1, () => decodeURI('%'),"
    " () => { throw new Error }, () => { throw new EvalError }, () => ''.repeat(-1),"
    " () => new RegExp('['), () => { throw new TypeError }, () => { throw new URIError }]"
    ".map(f => { try { f() } catch (e) { return e } })";

static const uint8_t *cell_of(JSValueRef value)
{
    return (const uint8_t *)value;
}

/* One script for all samples: a sample costs a tenth of what a separate script
 * would. */
static const char samples[] = "[({}), Object(Symbol()),"
#define XX(name, text, sample) sample ","
    GBX_KIND_MAP(XX)
#undef XX
        "]";

static const char *const kind_names[] = {
#define XX(name, text, sample) text,
    GBX_KIND_MAP(XX)
#undef XX
};

static uint8_t type_at(JSContextRef ctx, JSValueRef list, unsigned at)
{
    JSValueRef sample = JSObjectGetPropertyAtIndex(ctx, gbx_object(list), at, NULL);

    return sample != NULL && JSValueIsObject(ctx, sample) ? cell_of(sample)[TYPE_BYTE]
                                                          : 0;
}

static bool learn_kinds(JSGlobalContextRef ctx, gbx_cells *cells)
{
    JSValueRef list = gbx_evaluate_script(gbx_realm_self(), samples);
    JSValueRef again = gbx_evaluate_script(gbx_realm_self(), samples);

    memset(cells->kind_of_type, GBX_KIND_OTHER, sizeof cells->kind_of_type);
    if (list == NULL || again == NULL)
        return false;
    for (unsigned i = 0; i < GBX_KIND_COUNT; i++) {
        uint8_t type = type_at(ctx, list, i + 2);

        if (type == 0 || type_at(ctx, again, i + 2) != type ||
            cells->kind_of_type[type] != GBX_KIND_OTHER)
            return false;
        cells->names[i] = gbx_value_of_text(ctx, kind_names[i], strlen(kind_names[i]));
        JSValueProtect(ctx, cells->names[i]);
        /* Not the type of plain objects, which objects without their own type share. */
        if (type != type_at(ctx, list, 0) && type != type_at(ctx, list, 1))
            cells->kind_of_type[type] = (uint8_t)i;
    }
    return true;
}

static bool learn_promises(JSGlobalContextRef ctx, gbx_cells *cells)
{
    static const char source[] =
        "((e) => [new Promise(() => {}), Promise.resolve(e), (async () => e)(),"
        " (() => { const p = Promise.reject(e); p.catch(() => {}); return p })(), e])({})";
    static const int expected[] = {0, 1, 1, 2};
    JSValueRef list = gbx_evaluate_script(gbx_realm_self(), source);
    JSValueRef e;

    if (list == NULL)
        return false;
    e = JSObjectGetPropertyAtIndex(ctx, gbx_object(list), 4, NULL);
    cells->knows_promises = true;
    for (unsigned i = 0; i < GBX_COUNTOF(expected); i++) {
        JSValueRef promise = JSObjectGetPropertyAtIndex(ctx, gbx_object(list), i, NULL);
        JSValueRef value = NULL;

        if (gbx_cell_promise(cells, gbx_object(promise), &value) != expected[i] ||
            (expected[i] != 0 && value != e))
            return false;
    }
    return true;
}

/* AND the cells of all errors of a list into set, OR them into seen. */
static bool gather(JSContextRef ctx, const char *source, unsigned count, uint8_t *set,
                   uint8_t *seen)
{
    JSValueRef list = gbx_evaluate_script(gbx_realm_self(), source);
    JSStringRef stack = JSStringCreateWithUTF8CString("stack");
    bool ok = list != NULL;

    for (unsigned i = 0; ok && i < count * 2; i++) {
        JSValueRef error =
            JSObjectGetPropertyAtIndex(ctx, gbx_object(list), i % count, NULL);

        ok = error != NULL && JSValueIsObject(ctx, error);
        for (unsigned b = FIRST_BYTE; ok && b <= LAST_BYTE; b++) {
            set[b] &= cell_of(error)[b];
            seen[b] |= cell_of(error)[b];
        }
        /* The second round sees each error with its stack made. */
        if (ok && i < count)
            JSObjectGetProperty(ctx, gbx_object(error), stack, NULL);
    }
    JSStringRelease(stack);
    return ok;
}

/* Find the one bit that all genuine errors have and no forged one has. */
static bool learn_oom(JSGlobalContextRef ctx, gbx_cells *cells)
{
    uint8_t set[2][LAST_BYTE + 1], seen[2][LAST_BYTE + 1];
    unsigned found = 0;

    memset(set, 0xFF, sizeof set);
    memset(seen, 0, sizeof seen);
    if (!gather(ctx, genuine, 5, set[0], seen[0]) ||
        !gather(ctx, forged, 20, set[1], seen[1]))
        return false;
    for (unsigned b = FIRST_BYTE; b <= LAST_BYTE; b++) {
        for (unsigned bit = 1; bit < 0x100; bit <<= 1) {
            if ((set[0][b] & bit) == 0 || (seen[1][b] & bit) != 0)
                continue;
            found++;
            cells->oom_byte = (uint8_t)b;
            cells->oom_bit = (uint8_t)bit;
        }
    }
    return found == 1;
}

bool gbx_cells_learn(JSGlobalContextRef ctx, gbx_cells *ret)
{
    *ret = (gbx_cells){0};
    if (!learn_kinds(ctx, ret))
        return false;
    ret->knows_promises = learn_promises(ctx, ret);
    ret->knows_oom = learn_oom(ctx, ret);
    return true;
}

gbx_kind gbx_cell_kind(const gbx_cells *cells, JSContextRef ctx, JSValueRef value)
{
    if (value == NULL || !JSValueIsObject(ctx, value))
        return GBX_KIND_OTHER;
    return cells->kind_of_type[cell_of(value)[TYPE_BYTE]];
}

int gbx_cell_promise(const gbx_cells *cells, JSObjectRef promise, JSValueRef *ret_value)
{
    uint32_t flags;

    if (!cells->knows_promises)
        return -1;
    memcpy(&flags, cell_of(promise) + GBX_PROMISE_FLAGS, sizeof flags);
    memcpy(ret_value, cell_of(promise) + PROMISE_VALUE, sizeof *ret_value);
    return (flags & 3) == 3 ? -1 : (int)(flags & 3);
}

bool gbx_cell_is_oom(const gbx_cells *cells, JSContextRef ctx, JSValueRef value)
{
    return cells->knows_oom && gbx_cell_kind(cells, ctx, value) == GBX_KIND_ERROR &&
           (cell_of(value)[cells->oom_byte] & cells->oom_bit) != 0;
}
