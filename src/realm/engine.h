/* SPDX-License-Identifier: MIT */
/*
 * engine - the engine's headers, and what it exports without declaring it.
 *
 * The undeclared functions are weak: gbx_engine_missing() names the first that a
 * changed engine no longer has, before anything is called.
 */
#ifndef GBX_REALM_ENGINE_H
#define GBX_REALM_ENGINE_H

#include <JavaScriptCore/JavaScript.h>
#include <stdint.h>

#define GBX_WEAK __attribute__((weak))

/* eval, Function and the like throw EvalError with message while disabled. */
extern GBX_WEAK void JSGlobalContextSetEvalEnabled(JSGlobalContextRef ctx, bool enabled,
                                                   JSStringRef message);
/* function(promise, reason) is called when jobs are done and nobody handled it. */
extern GBX_WEAK void JSGlobalContextSetUnhandledRejectionCallback(
    JSGlobalContextRef ctx, JSObjectRef function, JSValueRef *exception);
extern GBX_WEAK void JSSynchronousGarbageCollectForDebugging(JSContextRef ctx);
/* What is behind a Proxy; NULL if value is none, or was revoked. */
extern GBX_WEAK JSObjectRef JSObjectGetProxyTarget(JSObjectRef value);

/* A value that is known to be an object, as one: the API has two types for it. */
static inline JSObjectRef gbx_object(JSValueRef value)
{
    return (JSObjectRef)(uintptr_t)value;
}

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
