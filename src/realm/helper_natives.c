/* SPDX-License-Identifier: MIT */
/*
 * helper_natives - C functions for the scripts of helpers/: a parser of URLs, random
 * UUIDs. The scripts are evaluated when code first uses them, so code may have changed
 * the built-ins that they use: arguments can be anything.
 */
#include "base/sha256.h"
#include "realm/internal.h"

#include <glovebox/glovebox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct script {
    const char *name;
    const char *source;
} scripts[] = {
    {"exception", gbx_script_exception},
    {"abort", gbx_script_abort},
    {"text", gbx_script_text},
    {"clone", gbx_script_clone},
    {"url", gbx_script_url},
    {"params", gbx_script_params},
    {"small", gbx_script_small},
    {"encodings", gbx_script_encodings},
    {"none", "() => ({})"},
};

/* ---- URLs ----------------------------------------------------------------------- */

/* Parse a URL with the engine's parser (internal.h). *ret is the URL as it writes it.
 * False if text is not a URL. The caller keeps text and base; base may be NULL. */
static bool parse_url(JSStringRef text, JSStringRef base, JSStringRef *ret)
{
    gbx_engine_url none = {.text = NULL}, before = none, made = none;
    bool is_valid = true;

    if (base != NULL) {
        gbx_engine_parse_url(&before, &none, gbx_engine_text(base), NULL);
        is_valid = (before.flags & GBX_ENGINE_URL_VALID) != 0;
    }
    if (is_valid)
        gbx_engine_parse_url(&made, &before, gbx_engine_text(text), NULL);
    is_valid = (made.flags & GBX_ENGINE_URL_VALID) != 0;
    *ret = made.text != NULL ? gbx_engine_string(&made.text).pointer : NULL;
    if (before.text != NULL)
        JSStringRelease(gbx_engine_string(&before.text).pointer);
    if (!is_valid)
        gbx_string_release(ret);
    return is_valid && *ret != NULL;
}

/* True if samples are parsed as expected. Also loads the data for names that are not
 * ASCII, while files can be opened. */
static bool knows_urls(void)
{
    static const struct {
        const char *text;
        const char *written;
    } samples[] = {{"HTTP://u:p@\xC3\xA9:81/a/../b?q#f", "http://u:p@xn--9ca:81/b?q#f"},
                   {"http://a b/", NULL}};
    bool ok = gbx_engine_parse_url != NULL && gbx_engine_string != NULL;

    for (size_t i = 0; ok && i < GBX_COUNTOF(samples); i++) {
        JSStringRef text = gbx_string_new(samples[i].text, strlen(samples[i].text));
        JSStringRef made;

        ok = parse_url(text, NULL, &made) == (samples[i].written != NULL) &&
             (made == NULL || JSStringIsEqualToUTF8CString(made, samples[i].written));
        gbx_string_release(&made);
        JSStringRelease(text);
    }
    return ok;
}

/* parseURL(text, base): as the parser writes it, or undefined. */
static JSValueRef on_parse_url(GBX_ARGUMENTS)
{
    bool has_base = argc > 1 && JSValueIsString(ctx, argv[1]);
    JSStringRef text, base, made = NULL;
    JSValueRef value = JSValueMakeUndefined(ctx);

    if (argc < 1 || !JSValueIsString(ctx, argv[0]))
        return value;
    text = JSValueToStringCopy(ctx, argv[0], NULL);
    base = has_base ? JSValueToStringCopy(ctx, argv[1], NULL) : NULL;
    if (text != NULL && (!has_base || base != NULL) && parse_url(text, base, &made))
        value = JSValueMakeString(ctx, made);
    gbx_string_release(&text);
    gbx_string_release(&base);
    gbx_string_release(&made);
    return value;
}

/* ---- UUIDs, and evaluating the scripts ------------------------------------------- */

/* uuid(): version 4, from the call's own randomness. */
static JSValueRef on_uuid(GBX_ARGUMENTS)
{
    static uint64_t made;
    gbx_realm *realm = gbx_realm_self();
    gbx_span entropy = realm->in != NULL ? realm->in->entropy : (gbx_span){NULL, 0};
    uint8_t d[GBX_SHA256_SIZE];
    gbx_sha256 hash;
    char text[40];

    if (entropy.len == 0)
        return gbx_throw(ctx, "TypeError", "this call has no randomness", exception);
    made++;
    gbx_sha256_init(&hash);
    gbx_sha256_add(&hash, "uuid", 4);
    gbx_sha256_add(&hash, entropy.data, entropy.len);
    gbx_sha256_add(&hash, &made, sizeof made);
    gbx_sha256_end(&hash, d);
    d[6] = (uint8_t)((d[6] & 0x0F) | 0x40);
    d[8] = (uint8_t)((d[8] & 0x3F) | 0x80);
    (void)
        snprintf(text, sizeof text,
                 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                 d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10],
                 d[11], d[12], d[13], d[14], d[15]);
    return gbx_value_of_text(ctx, text, strlen(text));
}

/* evaluate(name): evaluates the script to its function. */
static JSValueRef on_evaluate(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    JSValueRef value = NULL;
    char name[16] = "";

    if (argc > 0)
        (void)gbx_value_copy(ctx, argv[0], name, sizeof name);
    for (size_t i = 0; i < GBX_COUNTOF(scripts); i++)
        if (strcmp(name, scripts[i].name) == 0)
            value = gbx_evaluate_script(realm, scripts[i].source);
    return value != NULL
               ? value
               : gbx_throw(ctx, "RangeError", "Out of memory for a script", exception);
}

const char *gbx_helpers_make(gbx_realm *realm, JSObjectRef natives)
{
    static const gbx_native_row table[] = {{"parseURL", on_parse_url},
                                           {"uuid", on_uuid}};
    JSContextRef ctx = realm->ctx;
    JSValueRef args[2];
    JSObjectRef lazy;

    if (!knows_urls())
        return "the engine's parser of addresses is not as expected";
    gbx_natives_add(ctx, natives, table, GBX_COUNTOF(table), 0);
    args[0] = natives;
    args[1] = gbx_native(ctx, "evaluate", on_evaluate);
    lazy = gbx_call_script(realm, gbx_script_lazy_globals, GBX_COUNTOF(args), args);
    if (lazy == NULL)
        return "the engine did not take the script of helpers";
    realm->grant = gbx_keep(realm, lazy, "grant");
    realm->withdraw = gbx_keep(realm, lazy, "withdraw");
    realm->warm_helpers = gbx_keep(realm, lazy, "warm");
    realm->globalise = gbx_keep(realm, lazy, "makeGlobal");
    gbx_set(ctx, natives, "lazy", lazy, 0);
    return NULL;
}
