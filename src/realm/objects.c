/* SPDX-License-Identifier: MIT */
/* objects - the realm of this process, and functions, members and scripts of its engine. */
#include "realm/internal.h"

#include <string.h>

/* The one realm of the process. */
static gbx_realm the_realm;

gbx_realm *gbx_realm_self(void)
{
    return &the_realm;
}

JSObjectRef gbx_native(JSContextRef ctx, const char *name,
                       JSObjectCallAsFunctionCallback fn)
{
    JSStringRef text = JSStringCreateWithUTF8CString(name);
    JSObjectRef made = JSObjectMakeFunctionWithCallback(ctx, text, fn);

    JSStringRelease(text);
    return made;
}

void gbx_set(JSContextRef ctx, JSObjectRef object, const char *name, JSValueRef value,
             JSPropertyAttributes attributes)
{
    JSStringRef text = JSStringCreateWithUTF8CString(name);

    JSObjectSetProperty(ctx, object, text, value, attributes, NULL);
    JSStringRelease(text);
}

JSObjectRef gbx_get_object(JSContextRef ctx, JSObjectRef object, const char *name)
{
    JSStringRef text = JSStringCreateWithUTF8CString(name);
    JSValueRef value = JSObjectGetProperty(ctx, object, text, NULL);

    JSStringRelease(text);
    return value != NULL && JSValueIsObject(ctx, value) ? gbx_object(value) : NULL;
}

JSValueRef gbx_throw(JSContextRef ctx, const char *type, const char *message,
                     JSValueRef *exception)
{
    JSValueRef text = gbx_value_of_text(ctx, message, strlen(message));
    JSObjectRef constructor = gbx_get_object(ctx, gbx_realm_self()->errors, type);

    *exception = JSObjectCallAsConstructor(ctx, constructor, 1, &text, NULL);
    return JSValueMakeUndefined(ctx);
}

JSValueRef gbx_evaluate_script(gbx_realm *realm, const char *source)
{
    JSStringRef text = gbx_string_new_z(source, strlen(source));
    JSValueRef value = JSEvaluateScript(realm->ctx, text, NULL, NULL, 1, NULL);

    JSStringRelease(text);
    return value;
}

JSObjectRef gbx_call_script(gbx_realm *realm, const char *source, size_t argc,
                            const JSValueRef argv[])
{
    JSValueRef fn = gbx_evaluate_script(realm, source);
    JSValueRef exception = NULL;
    JSValueRef made;

    if (fn == NULL || !JSValueIsObject(realm->ctx, fn))
        return NULL;
    made = JSObjectCallAsFunction(realm->ctx, gbx_object(fn), NULL, argc, argv,
                                  &exception);
    if (exception != NULL || made == NULL)
        return NULL;
    return JSValueIsObject(realm->ctx, made) ? gbx_object(made) : realm->global;
}
