/* SPDX-License-Identifier: MIT */
/*
 * env_values - the values of the running call, and of it alone: they come with the call, so
 * that no worker has in its memory what its own call may not see.
 */
#include "realm/internal.h"

/* ---- public to other files of this folder ----------------------------------- */

void gbx_env_begin(gbx_realm *realm, JSObjectRef made)
{
    JSContextRef ctx = realm->ctx;
    gbx_span json = realm->in->env;
    JSValueRef text = json.len > 0
                          ? gbx_value_of_text(ctx, (const char *)json.data, json.len)
                          : gbx_value_of_text(ctx, "{}", 2);
    JSValueRef value = JSObjectCallAsFunction(ctx, gbx_get_object(ctx, made, "make"),
                                              NULL, 1, &text, NULL);

    if (value == NULL)
        return;
    realm->env = value;
    JSObjectSetProperty(ctx, realm->global, realm->n_env, value,
                        kJSPropertyAttributeDontEnum, NULL);
}
