/* SPDX-License-Identifier: MIT */
/*
 * preload - runs the host's own scripts in the template, between the two steps of the
 * lockdown. Every call then finds what they made, pristine, and at no cost.
 *
 * They are trusted but get nothing that a call does not have, since a call can reach
 * what they keep. Each runs as a separate top-level script, so that its declarations
 * are globals.
 */
#include "realm/internal.h"

#include <stdio.h>

/* Prefix of a preload's name in stacks, which distinguishes it from the caller's
 * code. */
#define URL_PREFIX "preload/"

/* "name:line:column: TypeError: message" */
static const char *describe(gbx_realm *realm, JSValueRef thrown, const char *url,
                            gbx_realm_preload *failed)
{
    static char text[GBX_NAME_MAX + GBX_KIB(1)];
    char place[32] = "";
    gbx_msg_error error;

    realm->origin = (gbx_origin){.url = url};
    gbx_describe(realm, thrown, GBX_FAILURE_THROWN, &error);
    realm->origin = (gbx_origin){.url = GBX_CODE_URL}; /* url may be gone later */
    failed->line = error.line;
    failed->column = error.column;
    if (failed->line > 0 && failed->column > 0)
        (void)snprintf(place, sizeof place, ":%u:%u", failed->line, failed->column);
    else if (failed->line > 0)
        (void)snprintf(place, sizeof place, ":%u", failed->line);
    (void)snprintf(text, sizeof text, "%s%s: %.*s%s%.700s", url + sizeof URL_PREFIX - 1,
                   place, (int)error.name.len, (const char *)error.name.data,
                   error.name.len > 0 ? ": " : "",
                   error.message.len > 0 ? (const char *)error.message.data : "");
    return text;
}

static const char *run_one(gbx_realm *realm, gbx_realm_preload *preload)
{
    char url[sizeof URL_PREFIX + GBX_NAME_MAX];
    JSStringRef source = gbx_string_new(preload->source.data, preload->source.len);
    JSStringRef url_text;
    JSValueRef thrown = NULL;

    (void)snprintf(url, sizeof url, URL_PREFIX "%.*s", (int)preload->name.len,
                   (const char *)preload->name.data);
    if (source == NULL)
        return "a preload is not UTF-8";
    url_text = JSStringCreateWithUTF8CString(url);
    JSEvaluateScript(realm->ctx, source, NULL, url_text, 1, &thrown);
    if (thrown == NULL && realm->rejected_count > 0)
        thrown = realm->rejected[0][1]; /* the reason of a rejected promise */
    JSStringRelease(source);
    JSStringRelease(url_text);
    preload->failed = thrown != NULL;
    return thrown != NULL ? describe(realm, thrown, url, preload) : NULL;
}

const char *gbx_preloads_run(gbx_realm *realm, const gbx_realm_setup *setup)
{
    JSValueRef ask = realm->ask;
    JSObjectRef finish = gbx_call_script(realm, gbx_script_preload, 1, &ask);
    const char *reason = NULL;
    JSValueRef left;

    if (finish == NULL)
        return "the engine did not take the script of preloads";
    JSValueProtect(realm->ctx, finish);
    for (size_t i = 0; i < setup->preload_count && reason == NULL; i++) {
        if (setup->on_preload != NULL)
            setup->on_preload(setup->user, i);
        reason = run_one(realm, &setup->preloads[i]);
    }
    left = JSObjectCallAsFunction(realm->ctx, finish, NULL, 0, NULL, NULL);
    if (left != NULL && JSValueIsObject(realm->ctx, left)) {
        realm->preload_warm = gbx_keep(realm, gbx_object(left), "warm");
        realm->preload_input = gbx_keep(realm, gbx_object(left), "input");
        realm->preload_result = gbx_keep(realm, gbx_object(left), "result");
        realm->has_servers =
            gbx_get_object(realm->ctx, gbx_object(left), "servers") != NULL;
    }
    JSValueUnprotect(realm->ctx, finish);
    return reason;
}
