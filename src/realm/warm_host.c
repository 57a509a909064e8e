/* SPDX-License-Identifier: MIT */
/*
 * warm_host - runs capabilities once in the template: a worker that is the first to
 * parse an address, make headers and read a response needs ten milliseconds for it.
 *
 * This file plays the host of these runs; every answer is a success.
 */
#include "realm/internal.h"

#include <glovebox/glovebox.h>

#include <string.h>

#define ASKED_MAX 8u
#define CALLS_MAX 10000u /* of one run */

typedef struct player {
    gbx_realm *realm;
    const char *json; /* of every answer */
    uint32_t asked[ASKED_MAX];
    size_t count;
} player;

static void ignore_log(void *user, const gbx_msg_log *line)
{
    (void)user;
    (void)line;
}

static double no_time(void *user)
{
    (void)user;
    return 0;
}

static void on_request(void *user, const gbx_msg_hostcall *msg)
{
    player *p = user;

    if (p->count < ASKED_MAX)
        p->asked[p->count++] = msg->id;
}

static void on_cancel(void *user, uint32_t id)
{
    (void)user;
    (void)id;
}

static gbx_span span(const char *text)
{
    return (gbx_span){(const uint8_t *)text, strlen(text)};
}

/* One answer fits every request: a file request uses only its bytes. */
static void on_wait(void *user, uint32_t ms)
{
    player *p = user;

    (void)ms;
    while (p->count > 0) { /* an answer may lead to the next request at once */
        gbx_msg_answer answer = {.id = p->asked[--p->count],
                                 .json = span(p->json),
                                 .bytes = span("{\"a\":[1,2]}")};

        gbx_realm_answer(p->realm, &answer);
    }
}

static const struct sample {
    uint32_t bit;
    const char *code;
} samples[] = {
    {GBX_CAP_FETCH,
     "async () => { const u = new URL('/b?c=d&e=%20#f', 'https://a.example:8443/x/');"
     " u.searchParams.append('g', 'h'); const r = await fetch('http://a.example/b', {"
     " method: 'POST', headers: { 'Content-Type': 'application/json', x: 'y' },"
     " body: JSON.stringify({ u }) }); return [r.ok, r.status, r.headers.get('x'),"
     " await r.json(), String(u)] }"},
    {GBX_CAP_FETCH,
     "async () => { const c = new AbortController(); const r = await fetch("
     "new URL('http://a.example/b'), { signal: c.signal }); const t = await r.text();"
     " return [t, [...r.headers].length, new TextEncoder().encode(t).length,"
     " atob(btoa(t)), structuredClone({ t })] }"},
    {GBX_CAP_FILE,
     "async () => { const a = await fs.readFile('a', 'utf8');"
     " const b = await fs.promises.readFile('b'); return a.length + b.length }"},
    {GBX_CAP_CRYPTO,
     "async () => { const h = crypto.createHash('sha256').update('a').update("
     "new Uint8Array(3)); return [h.digest('hex'), crypto.createHmac('sha1', 'k')"
     ".update('a').digest('base64'), (await crypto.subtle.digest('SHA-256',"
     " new Uint8Array(1))).byteLength] }"},
    {GBX_CAP_ENV, "() => Object.keys(env).length"},
};

static void play(gbx_realm *realm, gbx_form form, const char *code, const char *json)
{
    player p = {.realm = realm, .json = json};
    gbx_realm_host host = {.user = &p,
                           .log = ignore_log,
                           .wait = on_wait,
                           .now_ms = no_time,
                           .request = on_request,
                           .cancel = on_cancel};
    gbx_realm_outcome outcome;
    gbx_msg_call call = {
        .form = (uint8_t)form,
        .flags = GBX_CALL_WIRE_CONSOLE | GBX_CALL_WIRE_TIMERS | GBX_CALL_WIRE_PARSED,
        .capabilities = UINT32_MAX,
        .host_calls = CALLS_MAX,
        .host_calls_at_once = ASKED_MAX,
        .host_out_bytes = GBX_KIB(64),
        .output_bytes = GBX_KIB(4),
        .log_bytes = GBX_KIB(4),
        .first_line = 1,
        .first_column = 1,
        .code = span(code),
    };

    gbx_realm_run(realm, &call, &host, &outcome);
}

/* ---- public to other files of this folder ----------------------------------- */

void gbx_warm_capabilities(gbx_realm *realm, uint32_t capabilities)
{
    static const char json[] =
        "{\"status\":200,\"statusText\":\"OK\",\"url\":\"http://a.example/b\","
        "\"headers\":[[\"content-type\",\"application/json\"],[\"x\",\"y\"]],"
        "\"redirected\":false}";

    for (size_t i = 0; i < GBX_COUNTOF(samples); i++)
        if ((samples[i].bit & capabilities) != 0)
            play(realm, GBX_FORM_FUNCTION, samples[i].code, json);
    gbx_host_forget(realm);
}

void gbx_warm_preloads(gbx_realm *realm, const char *code)
{
    static const char name[] = "gbx_warm";
    JSStringRef key = JSStringCreateWithUTF8CString(name);

    JSObjectSetProperty(realm->ctx, realm->global, key, realm->preload_warm,
                        kJSPropertyAttributeDontEnum, NULL);
    if (code != NULL)
        play(realm, GBX_FORM_SCRIPT, code, "{}");
    else
        play(realm, GBX_FORM_FUNCTION, "async () => { await gbx_warm(0) }", "{}");
    JSObjectDeleteProperty(realm->ctx, realm->global, key, NULL);
    JSStringRelease(key);
    gbx_host_forget(realm);
}
