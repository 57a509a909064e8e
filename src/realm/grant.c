/* SPDX-License-Identifier: MIT */
/*
 * grant - the capabilities that are scripts. Each is evaluated in the template, before
 * the lockdown, if the engine's policy has it; what it returns becomes global after the
 * lockdown, and is taken away again from a call whose own policy lacks it.
 *
 * A script evaluates to a function of (natives, host), where host has call(name, args,
 * bytes), start(...) and cancel(id); see host.js.
 */
#include "realm/internal.h"

#include <glovebox/glovebox.h>

static const struct grant {
    uint32_t bit;
    const char *script;
    /* Natives of its own; NULL: those of all internal scripts. */
    JSObjectRef (*natives)(gbx_realm *realm);
} grants[] = {
    {0, NULL, NULL},
};

_Static_assert(GBX_COUNTOF(grants) <= GBX_GRANTS_MAX, "each has its place");

/* Do what to each name that a grant has made global. */
static void each_name(gbx_realm *realm, JSObjectRef made,
                      void (*what)(gbx_realm *realm, JSObjectRef made,
                                   JSStringRef name))
{
    JSPropertyNameArrayRef names = JSObjectCopyPropertyNames(realm->ctx, made);

    for (size_t i = 0; i < JSPropertyNameArrayGetCount(names); i++)
        what(realm, made, JSPropertyNameArrayGetNameAtIndex(names, i));
    JSPropertyNameArrayRelease(names);
}

static void make_global(gbx_realm *realm, JSObjectRef made, JSStringRef name)
{
    JSObjectSetProperty(realm->ctx, realm->global, name,
                        JSObjectGetProperty(realm->ctx, made, name, NULL),
                        kJSPropertyAttributeDontEnum, NULL);
}

static void remove_global(gbx_realm *realm, JSObjectRef made, JSStringRef name)
{
    (void)made;
    JSObjectDeleteProperty(realm->ctx, realm->global, name, NULL);
}

/* ---- public to other files of this folder ----------------------------------- */

bool gbx_grants_make(gbx_realm *realm, uint32_t capabilities, JSObjectRef natives,
                     JSObjectRef host)
{
    for (size_t i = 0; i < GBX_COUNTOF(grants); i++) {
        const struct grant *g = &grants[i];
        JSValueRef args[2];

        if ((g->bit & capabilities) == 0)
            continue;
        args[0] = g->natives != NULL ? g->natives(realm) : natives;
        args[1] = host;
        realm->granted[i] = gbx_call_script(realm, g->script, 2, args);
        if (realm->granted[i] == NULL)
            return false;
        JSValueProtect(realm->ctx, realm->granted[i]);
    }
    return true;
}

void gbx_grants_install(gbx_realm *realm)
{
    for (size_t i = 0; i < GBX_COUNTOF(grants); i++)
        if (realm->granted[i] != NULL)
            each_name(realm, realm->granted[i], make_global);
}

void gbx_grants_begin(gbx_realm *realm)
{
    for (size_t i = 0; i < GBX_COUNTOF(grants); i++)
        if (realm->granted[i] != NULL && (realm->in->capabilities & grants[i].bit) == 0)
            each_name(realm, realm->granted[i], remove_global);
}
