/* SPDX-License-Identifier: MIT */
/*
 * grant - the capabilities that are scripts. Each is evaluated in the template, between
 * the two steps of the lockdown, if the engine's policy has it. Its result becomes
 * global, and is removed from a call whose own policy lacks the capability.
 *
 * A script evaluates to a function of (natives, host), where host has call(name, args,
 * bytes), start(...) and cancel(id); see host.js.
 */
#include "realm/internal.h"

#include <glovebox/glovebox.h>
#include <stdlib.h>

/*
 * Put the values of the running call into realm->env and a global. They come with the
 * call, so that a worker's memory never holds values that its own call may not see.
 */
static void gbx_env_begin(gbx_realm *realm, JSObjectRef made)
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

static const struct grant {
    uint32_t bit;
    const char *script;
    /* Makes its own natives, instead of those of all internal scripts; or returns a
     * reason why they cannot be made. May be NULL. */
    JSObjectRef (*natives)(gbx_realm *realm, JSObjectRef natives,
                           const char **ret_reason);
    /* Called at the start of a call that has the capability, with the script's
     * result; only its enumerable properties have become global. May be NULL. */
    void (*begin)(gbx_realm *realm, JSObjectRef made);
} grants[] = {
    {GBX_CAP_FETCH, gbx_script_fetch, NULL, NULL},
    {GBX_CAP_FILE, gbx_script_fs, NULL, NULL},
    {GBX_CAP_CRYPTO, gbx_script_crypto, gbx_crypto_natives, gbx_crypto_begin},
    {GBX_CAP_ENV, gbx_script_env, NULL, gbx_env_begin},
};

_Static_assert(GBX_COUNTOF(grants) <= GBX_GRANTS_MAX, "each has its place");

const char *gbx_grants_make(gbx_realm *realm, uint32_t capabilities,
                            JSObjectRef natives, JSObjectRef host)
{
    const char *reason = NULL;

    for (size_t i = 0; i < GBX_COUNTOF(grants); i++) {
        const struct grant *g = &grants[i];
        JSValueRef args[2];

        if ((g->bit & capabilities) == 0)
            continue;
        args[0] = g->natives != NULL ? g->natives(realm, natives, &reason) : natives;
        if (reason != NULL)
            return reason;
        args[1] = host;
        realm->granted[i] = gbx_call_script(realm, g->script, 2, args);
        if (realm->granted[i] == NULL)
            return "the engine did not take the script of a capability";
        JSValueProtect(realm->ctx, realm->granted[i]);
        args[0] = JSValueMakeNumber(realm->ctx, g->bit);
        args[1] = realm->granted[i];
        if (JSObjectCallAsFunction(realm->ctx, realm->grant, NULL, GBX_COUNTOF(args),
                                   args, NULL) == NULL)
            return "the engine did not make a capability global";
    }
    return NULL;
}

void gbx_grants_begin(gbx_realm *realm)
{
    uint32_t lost = realm->capabilities & ~realm->in->capabilities;
    JSValueRef args[] = {JSValueMakeNumber(realm->ctx, lost),
                         JSValueMakeBoolean(realm->ctx, (lost & GBX_CAP_HELPERS) != 0)};

    if (lost != 0 && JSObjectCallAsFunction(realm->ctx, realm->withdraw, NULL,
                                            GBX_COUNTOF(args), args, NULL) == NULL)
        abort(); /* out of memory: the call must not keep them */
    realm->env = NULL;
    for (size_t i = 0; i < GBX_COUNTOF(grants); i++)
        if (realm->granted[i] != NULL && (lost & grants[i].bit) == 0 &&
            grants[i].begin != NULL)
            grants[i].begin(realm, realm->granted[i]);
}
