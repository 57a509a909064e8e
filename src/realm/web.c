/* SPDX-License-Identifier: MIT */
/* web - what the web's interfaces (fetch/) need from the engine and this program. */
#include "realm/internal.h"

#include <assert.h>
#include <string.h>

#define ARGUMENTS                                                          \
    JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t argc, \
        const JSValueRef argv[], JSValueRef *exception
#define UNUSED ((void)function, (void)self, (void)argc, (void)exception)

/* The text of a Uint8Array, without its byte order mark; undefined if it is not
 * UTF-8. */
static JSValueRef on_text(ARGUMENTS)
{
    JSObjectRef view = gbx_object(argv[0]);
    const uint8_t *data = JSObjectGetTypedArrayBytesPtr(ctx, view, NULL);
    size_t len = JSObjectGetTypedArrayByteLength(ctx, view, NULL);
    JSStringRef text;
    JSValueRef value;

    UNUSED;
    assert(data != NULL || len == 0); /* allocation failure ends the process */
    if (data != NULL)
        data += JSObjectGetTypedArrayByteOffset(ctx, view, NULL);
    if (len >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) {
        data += 3;
        len -= 3;
    }
    text = gbx_string_new(len > 0 ? (const void *)data : "", len);
    if (text == NULL)
        return JSValueMakeUndefined(ctx);
    value = JSValueMakeString(ctx, text);
    JSStringRelease(text);
    return value;
}

/* ---- public to other files of this folder ----------------------------------- */

JSObjectRef gbx_web_natives(gbx_realm *realm, JSObjectRef natives,
                            const char **ret_reason)
{
    (void)ret_reason;
    gbx_set(realm->ctx, natives, "text", gbx_native(realm->ctx, "text", on_text), 0);
    return natives;
}
