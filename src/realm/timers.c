/* SPDX-License-Identifier: MIT */
/*
 * timers - waits for the timers of timers.js. With a fixed clock, it sets the clock to
 * the next timer's time instead of waiting.
 */
#include "realm/internal.h"

#include <glovebox/glovebox.h>
#include <math.h>
#include <string.h>

static bool is_fixed(const gbx_realm *realm)
{
    return realm->in != NULL && (realm->in->flags & GBX_CALL_WIRE_FIXED_NOW) != 0;
}

static JSValueRef on_has_timers(GBX_ARGUMENTS)
{
    const gbx_msg_call *in = gbx_realm_self()->in;

    return JSValueMakeBoolean(ctx,
                              in != NULL && (in->capabilities & GBX_CAP_TIMERS) != 0);
}

const char *gbx_timers_make(gbx_realm *realm)
{
    JSContextRef ctx = realm->ctx;
    JSValueRef args[] = {realm->natives, gbx_share(ctx, kJSTypedArrayTypeFloat64Array,
                                                   1, &realm->timer_due)};
    JSObjectRef timers;

    *realm->timer_due = INFINITY;
    gbx_set(ctx, realm->natives, "hasTimers",
            gbx_native(ctx, "hasTimers", on_has_timers), 0);
    timers = gbx_call_script(realm, gbx_script_timers, GBX_COUNTOF(args), args);
    if (timers == NULL)
        return "the engine did not take the script of timers";
    realm->fire_timer = gbx_keep(realm, timers, "fire");
    realm->install_timers = gbx_keep(realm, timers, "install");
    realm->remove_timers = gbx_keep(realm, timers, "remove");
    return NULL;
}

void gbx_timers_remove(gbx_realm *realm, const char *part)
{
    JSValueRef text = gbx_value_of_text(realm->ctx, part, strlen(part));

    (void)JSObjectCallAsFunction(realm->ctx, realm->remove_timers, NULL, 1, &text,
                                 NULL);
}

double gbx_timers_now(gbx_realm *realm)
{
    if (is_fixed(realm))
        return realm->virtual_ms;
    return realm->host != NULL ? realm->host->now_ms(realm->host->user) : 0;
}

double gbx_timers_left(gbx_realm *realm)
{
    double ms = *realm->timer_due - gbx_timers_now(realm);

    return ms == INFINITY ? -1 : ms > 0 ? ms : 0;
}

bool gbx_timers_step(gbx_realm *realm, JSValueRef *exception)
{
    double ms = gbx_timers_left(realm);

    if (ms < 0)
        return false;
    if (ms > 0 && !is_fixed(realm)) {
        realm->host->wait(realm->host->user, (uint32_t)ceil(ms));
        return true; /* the host may return early: check again */
    }
    if (ms > 0) {
        realm->virtual_ms = *realm->timer_due;
        gbx_wallclock_fix((double)realm->in->now_ms + realm->virtual_ms);
    }
    (void)JSObjectCallAsFunction(realm->ctx, realm->fire_timer, NULL, 0, NULL,
                                 exception);
    return true;
}
