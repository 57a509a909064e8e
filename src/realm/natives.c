/* SPDX-License-Identifier: MIT */
/*
 * natives - the few functions that only the internal scripts have.
 *
 * The scripts keep them in closures; nothing reachable from a guest's value leads to
 * one. None of them runs a guest's code.
 */
#include "realm/internal.h"

#include <stdlib.h>
#include <string.h>

static JSValueRef on_kind(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    gbx_kind kind =
        argc > 0 ? gbx_cell_kind(&realm->cells, ctx, argv[0]) : GBX_KIND_OTHER;

    return kind == GBX_KIND_OTHER ? JSValueMakeUndefined(ctx)
                                  : realm->cells.names[kind];
}

static JSValueRef on_unproxy(GBX_ARGUMENTS)
{
    JSObjectRef target;

    if (gbx_cell_kind(&gbx_realm_self()->cells, ctx, argv[0]) != GBX_KIND_PROXY)
        return argv[0];
    target = JSObjectGetProxyTarget(gbx_object(argv[0]));
    return target != NULL ? (JSValueRef)target : JSValueMakeNull(ctx);
}

/* {status, value} of a promise, or undefined if unknown. */
static JSValueRef on_promise(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    JSValueRef value = NULL;
    int status = gbx_cell_promise(&realm->cells, gbx_object(argv[0]), &value);
    JSObjectRef state;

    if (status < 0)
        return JSValueMakeUndefined(ctx);
    state = JSObjectMake(ctx, NULL, NULL);
    JSObjectSetProperty(ctx, state, realm->n_status, JSValueMakeNumber(ctx, status), 0,
                        NULL);
    if (status != 0)
        JSObjectSetProperty(ctx, state, realm->n_value, value, 0, NULL);
    return state;
}

static JSValueRef on_frames(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    char *text = malloc(GBX_STACK_MAX * 2);
    char *to = text != NULL ? text + GBX_STACK_MAX : NULL;
    uint32_t line, column;
    size_t len;
    JSValueRef value;

    if (text == NULL)
        abort();
    len = gbx_value_copy(ctx, argv[0], text, GBX_STACK_MAX);
    len = gbx_frames(&realm->origin, text, len, "", to, GBX_STACK_MAX, &line, &column);
    value = gbx_value_of_text(ctx, to, len);
    free(text);
    return value;
}

static JSValueRef on_clock(GBX_ARGUMENTS)
{
    return JSValueMakeNumber(ctx, gbx_timers_now(gbx_realm_self()));
}

static JSValueRef on_emit(GBX_ARGUMENTS)
{
    JSStringRef text = JSValueToStringCopy(ctx, argv[1], NULL);

    if (text != NULL)
        gbx_console_emit(gbx_realm_self(), (uint8_t)JSValueToNumber(ctx, argv[0], NULL),
                         text);
    gbx_string_release(&text);
    return JSValueMakeUndefined(ctx);
}

/* ---- bytes and text --------------------------------------------------------------- */

/* Scripts that are evaluated after the code has run may pass anything. */
static gbx_bytes_as encoding_of(JSContextRef ctx, size_t argc, const JSValueRef argv[])
{
    double number = argc > 1 && JSValueIsNumber(ctx, argv[1])
                        ? JSValueToNumber(ctx, argv[1], NULL)
                        : 0;

    return number == GBX_BYTES_UTF16LE  ? GBX_BYTES_UTF16LE
           : number == GBX_BYTES_LATIN1 ? GBX_BYTES_LATIN1
           : number == GBX_BYTES_ASCII  ? GBX_BYTES_ASCII
                                        : GBX_BYTES_UTF8;
}

/* text(bytes, encoding, fatal): decodes a Uint8Array. Invalid UTF-8 is replaced; if
 * fatal is true, the result is undefined. */
static JSValueRef on_text(GBX_ARGUMENTS)
{
    gbx_span bytes = argc > 0 ? gbx_bytes_of(ctx, argv[0]) : (gbx_span){0};
    gbx_bytes_as as = encoding_of(ctx, argc, argv);
    JSValueRef value;

    if (as == GBX_BYTES_UTF8) {
        value = gbx_value_of_text(ctx, (const char *)bytes.data, bytes.len);
        if (!JSValueIsUndefined(ctx, value) ||
            (argc > 2 && JSValueToBoolean(ctx, argv[2])))
            return value;
    }
    return gbx_value_decoded(ctx, as, bytes);
}

/* bytes(text, encoding): encodes text as a Uint8Array. */
static JSValueRef on_bytes(GBX_ARGUMENTS)
{
    JSStringRef text = argc > 0 && JSValueIsString(ctx, argv[0])
                           ? JSValueToStringCopy(ctx, argv[0], NULL)
                           : NULL;
    size_t count = text != NULL ? JSStringGetLength(text) : 0;
    uint8_t *room = malloc(GBX_STRING_ROOM(count));
    gbx_span bytes = {room, 0};

    if (room == NULL)
        abort(); /* REFUSED was sent: the host knows the reason */
    if (text != NULL)
        bytes = gbx_string_bytes(text, encoding_of(ctx, argc, argv), room);
    if (bytes.data != room)
        memcpy(room, bytes.data, bytes.len);
    gbx_string_release(&text);
    room = realloc(room, bytes.len + 1);
    if (room == NULL)
        abort();
    return gbx_value_of_bytes(ctx, room, bytes.len, exception);
}

JSObjectRef gbx_natives_new(gbx_realm *realm)
{
    static const gbx_native_row table[] = {
        {"kind", on_kind},     {"unproxy", on_unproxy}, {"promise", on_promise},
        {"frames", on_frames}, {"emit", on_emit},       {"clock", on_clock},
        {"text", on_text},     {"bytes", on_bytes},
    };
    JSObjectRef natives = JSObjectMake(realm->ctx, NULL, NULL);

    gbx_natives_add(realm->ctx, natives, table, GBX_COUNTOF(table), 0);
    return natives;
}
