/* SPDX-License-Identifier: MIT */
/*
 * serialize - a value as JSON, by the engine's own serialiser, within a limit.
 *
 * The serialiser is native: a guest's JSON.stringify has no effect. Getters, toJSON and
 * proxies of the value do run, under the host's deadline, and what they throw is their
 * own exception; explain() of result.js identifies what JSON cannot hold.
 */
#include "realm/internal.h"

#include <stdlib.h>
#include <string.h>

#include <glovebox/glovebox.h>

/* Counting the bytes of a larger result would need a copy of it. */
#define COUNT_UNITS_MAX GBX_MIB(16)

static size_t count_bytes(JSStringRef json)
{
    size_t length = JSStringGetLength(json);
    const JSChar *units;
    size_t bytes = 0;

    if (length > COUNT_UNITS_MAX)
        return length;
    units = JSStringGetCharactersPtr(json);
    for (size_t i = 0; i < length; i++) {
        bool surrogate = units[i] >= 0xD800 && units[i] <= 0xDFFF; /* two make four */

        bytes += units[i] < 0x80 ? 1 : units[i] < 0x800 || surrogate ? 2 : 3;
    }
    return bytes;
}

static bool say_too_large(gbx_realm *realm, const char *at_least, size_t bytes,
                          uint64_t limit, gbx_msg_error *ret_error)
{
    gbx_describe_text(realm, GBX_FAILURE_OUTPUT, ret_error,
                      "the result is %s%zu bytes of JSON, the limit is %llu", at_least,
                      bytes, (unsigned long long)limit);
    return false;
}

static bool too_large(gbx_realm *realm, JSStringRef json, uint64_t limit,
                      gbx_msg_error *ret_error)
{
    bool is_counted = JSStringGetLength(json) <= COUNT_UNITS_MAX;

    return say_too_large(realm, is_counted ? "" : "at least ", count_bytes(json), limit,
                         ret_error);
}

/*
 * The serialiser needs several times the room of its text. If memory ran out, was the
 * result over its own limit anyway? A unit is a byte at least.
 */
static size_t least_bytes(gbx_realm *realm, JSValueRef value, uint64_t limit)
{
    JSValueRef args[] = {value, JSValueMakeNumber(realm->ctx, (double)limit)};
    JSValueRef units =
        JSObjectCallAsFunction(realm->ctx, realm->least_units, NULL, 2, args, NULL);

    return units != NULL ? (size_t)JSValueToNumber(realm->ctx, units, NULL) : 0;
}

/* JSON text is well-formed UTF-16, so the engine's own encoder is safe. */
static bool encode(gbx_realm *realm, JSStringRef json, uint64_t limit,
                   gbx_msg_result *ret, gbx_msg_error *ret_error)
{
    size_t length = JSStringGetLength(json);
    size_t most = JSStringGetMaximumUTF8CStringSize(json);
    size_t size = sizeof realm->small;
    char *to = realm->small;
    size_t used;

    if (length > limit)
        return too_large(realm, json, limit, ret_error);
    if (most > size) {
        /* Text is mostly ASCII: get more room only if needed. */
        size = length + 64;
        to = realm->large = malloc(size);
        if (to == NULL)
            abort();
        used = JSStringGetUTF8CString(json, to, size);
        if (used != length + 1) {
            free(to);
            size = most < limit + 8 ? most : (size_t)limit + 8;
            to = realm->large = malloc(size);
            if (to == NULL)
                abort();
            used = JSStringGetUTF8CString(json, to, size);
        }
    } else {
        used = JSStringGetUTF8CString(json, to, size);
    }
    if (used - 1 > limit)
        return too_large(realm, json, limit, ret_error);
    ret->is_undefined = 0;
    ret->json = (gbx_span){(const uint8_t *)to, used - 1};
    return true;
}

/* explain() or explainTop() gave the reason; without one, the guest's code threw. */
static bool refuse(gbx_realm *realm, JSValueRef value, JSObjectRef explain,
                   JSValueRef exception, gbx_msg_error *ret_error)
{
    JSValueRef args[] = {value, exception};
    JSValueRef why;

    why = JSObjectCallAsFunction(realm->ctx, explain, NULL, exception != NULL ? 2 : 1,
                                 args, NULL);
    if (!gbx_cell_is_oom(&realm->cells, realm->ctx, exception) && why != NULL &&
        JSValueIsString(realm->ctx, why)) {
        char text[1024];

        gbx_value_copy(realm->ctx, why, text, sizeof text);
        gbx_describe_text(realm, GBX_FAILURE_NOT_JSON, ret_error, "%s", text);
    } else {
        gbx_describe(realm, exception, GBX_FAILURE_THROWN, ret_error);
    }
    return false;
}

/* Report what silently became null or {} as a console line, if the call has a
 * console. */
static void tell_lost(gbx_realm *realm, JSValueRef value, gbx_span json)
{
    JSValueRef why;
    JSStringRef text;

    if ((realm->in->flags & GBX_CALL_WIRE_CONSOLE) == 0 ||
        (memmem(json.data, json.len, "null", 4) == NULL &&
         memmem(json.data, json.len, "{}", 2) == NULL))
        return;
    why =
        JSObjectCallAsFunction(realm->ctx, realm->explain_lost, NULL, 1, &value, NULL);
    if (why == NULL || !JSValueIsString(realm->ctx, why))
        return;
    text = JSValueToStringCopy(realm->ctx, why, NULL);
    gbx_console_emit(realm, GBX_LOG_WARN, text);
    JSStringRelease(text);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_serialise(gbx_realm *realm, JSValueRef value, uint64_t limit,
                   gbx_msg_result *ret, gbx_msg_error *ret_error)
{
    JSContextRef ctx = realm->ctx;
    JSValueRef exception = NULL;
    JSStringRef json;
    bool ok;

    if (JSValueIsUndefined(ctx, value)) {
        *ret = (gbx_msg_result){.is_undefined = 1};
        return true;
    }
    if (JSValueIsSymbol(ctx, value))
        return refuse(realm, value, realm->explain_top, NULL, ret_error);
    realm->control[0] = 1;
    json = JSValueCreateJSONString(ctx, value, 0, &exception);
    realm->control[0] = 0;
    if (json == NULL && gbx_cell_is_oom(&realm->cells, ctx, exception)) {
        size_t bytes = least_bytes(realm, value, limit);

        if (bytes > limit)
            return say_too_large(realm, "at least ", bytes, limit, ret_error);
    }
    if (json == NULL && exception != NULL)
        return refuse(realm, value, realm->explain, exception, ret_error);
    if (json == NULL) {
        /* A function, or an object whose toJSON returned undefined. */
        if (JSObjectIsFunction(ctx, gbx_object(value)))
            return refuse(realm, value, realm->explain_top, NULL, ret_error);
        *ret = (gbx_msg_result){.is_undefined = 1};
        return true;
    }
    ok = encode(realm, json, limit, ret, ret_error);
    JSStringRelease(json);
    if (ok)
        tell_lost(realm, value, ret->json);
    return ok;
}
