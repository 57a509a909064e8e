/* SPDX-License-Identifier: MIT */
/*
 * host - the C side of host.js. Requests go out through the gbx_realm_host; answers
 * come in while the realm waits. Nothing from a script is trusted: its names, texts and
 * bytes are sent unchanged.
 */
#include "realm/internal.h"

#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A string's UTF-8, to be freed; an unpaired surrogate becomes U+FFFD. */
static char *text_of(JSContextRef ctx, JSValueRef value, size_t *ret_len)
{
    JSStringRef text = JSValueToStringCopy(ctx, value, NULL);
    size_t size = text != NULL ? JSStringGetMaximumUTF8CStringSize(text) : 1;
    char *copy = malloc(size);

    if (copy == NULL)
        abort();
    copy[0] = 0;
    *ret_len = text != NULL ? gbx_string_copy(text, copy, size) : 0;
    gbx_string_release(&text);
    return copy;
}

/* Report each limit to the host only once. */
static void tell_limit(gbx_realm *realm, uint8_t limit)
{
    if (realm->host->limited == NULL || (realm->host_limited & 1u << limit) != 0)
        return;
    realm->host_limited = (uint8_t)(realm->host_limited | 1u << limit);
    realm->host->limited(realm->host->user, limit);
}

/* Outcomes of a request; host.js has the same numbers. */
enum { SENT = 0, OVER_THE_BYTES = 1, TOO_DEEP = 2 };

/* request(id, name, text, bytes): SENT, or why it was not sent. Text that is nested too
 * deep is not sent: the host would treat it as an attack, since our own messages never
 * are. */
static JSValueRef on_request(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    gbx_msg_hostcall msg = {.id = (uint32_t)JSValueToNumber(ctx, argv[0], NULL),
                            .bytes = gbx_bytes_of(ctx, argv[3])};
    size_t name_len, args_len;
    char *name = text_of(ctx, argv[1], &name_len);
    char *args = text_of(ctx, argv[2], &args_len);
    bool is_deep = !gbx_json_check_strict(args, args_len, GBX_JSON_DEPTH_MAX, NULL);
    bool fits = realm->host->request != NULL &&
                args_len + msg.bytes.len <= realm->host_out_left;

    if (fits && !is_deep) {
        msg.name = (gbx_span){(const uint8_t *)name, name_len};
        msg.args = (gbx_span){(const uint8_t *)args, args_len};
        realm->host_out_left -= args_len + msg.bytes.len;
        realm->host_open++;
        realm->host->request(realm->host->user, &msg);
    }
    if (!fits && realm->host->request != NULL)
        tell_limit(realm, GBX_LIMITED_BYTES);
    free(name);
    free(args);
    return JSValueMakeNumber(ctx, !fits ? OVER_THE_BYTES : is_deep ? TOO_DEEP : SENT);
}

/* reached(): reports the limit on calls. */
static JSValueRef on_reached(GBX_ARGUMENTS)
{
    tell_limit(gbx_realm_self(), GBX_LIMITED_CALLS);
    return JSValueMakeUndefined(ctx);
}

static JSValueRef on_withdraw(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();

    realm->host->cancel(realm->host->user,
                        (uint32_t)JSValueToNumber(ctx, argv[0], NULL));
    return JSValueMakeUndefined(ctx);
}

/* [total calls, calls at once] of the running call; -1: no call is running. */
static JSValueRef on_limits(GBX_ARGUMENTS)
{
    const gbx_msg_call *in = gbx_realm_self()->in;
    JSValueRef both[2];

    both[0] = JSValueMakeNumber(ctx, in != NULL ? (double)in->host_calls : -1);
    both[1] = JSValueMakeNumber(ctx, in != NULL ? in->host_calls_at_once : 0);
    return JSObjectMakeArray(ctx, 2, both, NULL);
}

static JSValueRef bytes_value(JSContextRef ctx, gbx_span bytes)
{
    JSObjectRef view;

    if (bytes.len == 0)
        return JSValueMakeUndefined(ctx);
    view = JSObjectMakeTypedArray(ctx, kJSTypedArrayTypeUint8Array, bytes.len, NULL);
    if (view == NULL)
        abort();
    memcpy(JSObjectGetTypedArrayBytesPtr(ctx, view, NULL), bytes.data, bytes.len);
    return view;
}

static JSValueRef text_value(JSContextRef ctx, gbx_span text)
{
    return gbx_value_of_text(ctx, (const char *)text.data, text.len);
}

JSObjectRef gbx_host_natives(gbx_realm *realm)
{
    static const gbx_native_row table[] = {{"request", on_request},
                                           {"withdraw", on_withdraw},
                                           {"reached", on_reached},
                                           {"limits", on_limits}};
    JSObjectRef natives = JSObjectMake(realm->ctx, NULL, NULL);

    gbx_natives_add(realm->ctx, natives, table, GBX_COUNTOF(table), 0);
    gbx_set(realm->ctx, natives, "depth",
            JSValueMakeNumber(realm->ctx, GBX_JSON_DEPTH_MAX), 0);
    return natives;
}

void gbx_host_forget(gbx_realm *realm)
{
    JSObjectCallAsFunction(realm->ctx, realm->forget, NULL, 0, NULL, NULL);
}

void gbx_host_begin(gbx_realm *realm)
{
    const gbx_msg_call *in = realm->in;

    realm->host_out_left = in->host_out_bytes;
    realm->host_open = 0;
    realm->host_answers = 0;
    realm->host_limited = 0;
    realm->host_exception = NULL;
    if (in->withheld.len > 0) {
        JSValueRef names = text_value(realm->ctx, in->withheld);

        JSObjectCallAsFunction(realm->ctx, realm->withhold, NULL, 1, &names, NULL);
    }
}

void gbx_host_wait(gbx_realm *realm, JSValueRef *exception)
{
    bool is_fixed = (realm->in->flags & GBX_CALL_WIRE_FIXED_NOW) != 0;
    uint64_t before = realm->host_answers;
    double ms = gbx_timers_left(realm);

    if (ms == 0) {
        gbx_timers_step(realm, exception);
        return;
    }
    realm->host->wait(realm->host->user, ms < 0 ? GBX_WAIT_MS_MAX : (uint32_t)ceil(ms));
    *exception = realm->host_exception;
    realm->host_exception = NULL;
    /* A fixed clock moves on only if nothing but time has passed. */
    if (is_fixed && ms > 0 && realm->host_answers == before && *exception == NULL)
        gbx_timers_step(realm, exception);
}

void gbx_realm_answer(gbx_realm *realm, const gbx_msg_answer *msg)
{
    JSContextRef ctx = realm->ctx;
    JSValueRef exception = NULL;

    JSValueRef args[] = {
        JSValueMakeNumber(ctx, msg->id),
        JSValueMakeBoolean(ctx, msg->is_error != 0),
        msg->json.len > 0 ? text_value(ctx, msg->json) : JSValueMakeUndefined(ctx),
        bytes_value(ctx, msg->bytes),
        msg->is_error ? text_value(ctx, msg->name) : NULL,
        msg->is_error ? text_value(ctx, msg->message) : NULL,
        msg->is_error ? text_value(ctx, msg->code) : NULL,
    };

    realm->host_answers++;
    if (realm->host_open > 0)
        realm->host_open--;
    JSObjectCallAsFunction(ctx, realm->answer, NULL,
                           msg->is_error ? GBX_COUNTOF(args) : 4, args, &exception);
    if (exception != NULL && realm->host_exception == NULL) {
        realm->host_exception = exception;
        JSValueProtect(ctx, exception);
    }
}

bool gbx_realm_expose(gbx_realm *realm, gbx_span name)
{
    JSValueRef text = text_value(realm->ctx, name);
    JSValueRef made =
        JSObjectCallAsFunction(realm->ctx, realm->expose, NULL, 1, &text, NULL);

    return made != NULL && JSValueToBoolean(realm->ctx, made);
}
