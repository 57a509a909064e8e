/* SPDX-License-Identifier: MIT */
/*
 * engine - the engine's headers, and functions that it exports without declaring them.
 *
 * The undeclared functions are weak: before anything is called, gbx_engine_missing()
 * names the first one that a changed engine no longer has.
 */
#ifndef GBX_REALM_ENGINE_H
#define GBX_REALM_ENGINE_H

#include <JavaScriptCore/JavaScript.h>
#include <stdint.h>

#define GBX_WEAK __attribute__((weak))

/* While disabled, eval, Function and the like throw EvalError with message. */
extern GBX_WEAK void JSGlobalContextSetEvalEnabled(JSGlobalContextRef ctx, bool enabled,
                                                   JSStringRef message);
/* Called as function(promise, reason) when jobs are done and the rejection is
 * unhandled. */
extern GBX_WEAK void JSGlobalContextSetUnhandledRejectionCallback(
    JSGlobalContextRef ctx, JSObjectRef function, JSValueRef *exception);
extern GBX_WEAK void JSSynchronousGarbageCollectForDebugging(JSContextRef ctx);
/* The target of a Proxy; NULL if value is not one, or was revoked. */
extern GBX_WEAK JSObjectRef JSObjectGetProxyTarget(JSObjectRef value);

/* Whether an exception that leaves the C API carries a trace of the process's own
 * stack, for an inspector: 0.3 ms of unwinding. Missing does no harm. */
extern GBX_WEAK void JSGlobalContextSetIncludesNativeCallStackWhenReportingExceptions(
    JSGlobalContextRef ctx, bool includes);

/* Report memory that the collector does not see; missing does no harm. */
extern GBX_WEAK void JSReportExtraMemoryCost(JSContextRef ctx, size_t bytes);

/* Converts a value that is known to be an object: the API has two types for it. */
static inline JSObjectRef gbx_object(JSValueRef value)
{
    return (JSObjectRef)(uintptr_t)value;
}

/*
 * Make strings of one byte a character directly. The C API's own constructor decodes
 * all text to UTF-16 first, which for 10 MB costs 20 ms and 20 MB. These are the C++
 * functions behind it, by their symbols. Both return an object in the caller's memory,
 * which C expresses as a structure too large for registers; only its first pointer is
 * written. If a version of the engine lacks them, text is decoded the long way.
 */
typedef struct gbx_engine_ref {
    void *pointer;
    void *unused[3];
} gbx_engine_ref;
extern GBX_WEAK gbx_engine_ref
gbx_engine_string_impl(const uint8_t *latin1, size_t len) __asm__(
    "_ZN3WTF10StringImpl6createESt4spanIKhLm18446744073709551615EE");
/* Moves out of *impl. */
extern GBX_WEAK gbx_engine_ref
gbx_engine_string(void **impl) __asm__("_ZN14OpaqueJSString9tryCreateEON3WTF6StringE");

static inline const char *gbx_engine_missing(void)
{
    if (JSGlobalContextSetEvalEnabled == NULL)
        return "the engine has no JSGlobalContextSetEvalEnabled";
    if (JSGlobalContextSetUnhandledRejectionCallback == NULL)
        return "the engine has no JSGlobalContextSetUnhandledRejectionCallback";
    if (JSSynchronousGarbageCollectForDebugging == NULL)
        return "the engine has no JSSynchronousGarbageCollectForDebugging";
    if (JSObjectGetProxyTarget == NULL)
        return "the engine has no JSObjectGetProxyTarget";
    return NULL;
}

#endif
