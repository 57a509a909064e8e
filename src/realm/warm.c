/* SPDX-License-Identifier: MIT */
/*
 * warm - runs in advance what every call runs, so that no fork pays for it.
 *
 * In the template, lazily opened files and tables (dates, Intl, collation) are read
 * while files can still be opened, and the pages that a call writes become known. In
 * the worker, before READY, one call proves engine and seal and takes the page faults
 * of the real call's path.
 *
 * Garbage of the template stays in every fork as pages to map, so warming collects
 * between its runs.
 */
#include "realm/internal.h"

#include <glovebox/glovebox.h>
#include <string.h>

/*
 * Runs capabilities once in the template: a worker that is the first to
 * parse an address, make headers and read a response needs ten milliseconds for it.
 *
 * This file plays the host of these runs; every answer is a success.
 */

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
}

static double no_time(void *user)
{
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
}

/* One answer fits every request: a file request uses only its bytes. */
static void on_wait(void *user, uint32_t ms)
{
    player *p = user;

    while (p->count > 0) { /* an answer may lead to the next request at once */
        gbx_msg_answer answer = {.id = p->asked[--p->count],
                                 .json = gbx_span_of(p->json),
                                 .bytes = gbx_span_of("{\"a\":[1,2]}")};

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

/* Run code over input, or without one as code that the host's parser has read. json: of
 * every answer. The outcome is valid until the next run. */
static gbx_realm_outcome play(gbx_realm *realm, gbx_form form, const char *code,
                              const char *input, const char *json)
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
        .flags = input != NULL ? GBX_CALL_WIRE_HAS_INPUT : GBX_CALL_WIRE_PARSED,
        .capabilities = UINT32_MAX,
        .host_calls = CALLS_MAX,
        .host_calls_at_once = ASKED_MAX,
        .host_out_bytes = GBX_KIB(64),
        .output_bytes = GBX_KIB(4),
        .log_bytes = GBX_KIB(64),
        .first_line = 1,
        .first_column = 1,
        .code = gbx_span_of(code),
        .input = gbx_span_of(input != NULL ? input : ""),
    };

    gbx_realm_run(realm, &call, &host, &outcome);
    return outcome;
}

static void run(gbx_realm *realm, const char *code, gbx_form form)
{
    (void)play(realm, form, code, "[1,2,3]", "{}");
}

/* Run the function that a preload has left, as gbx_warm(): with 0, which compiles its
 * code, or as the script `code` calls it. */
static void gbx_warm_preloads(gbx_realm *realm, const char *code)
{
    static const char name[] = "gbx_warm";
    JSStringRef key = JSStringCreateWithUTF8CString(name);

    JSObjectSetProperty(realm->ctx, realm->global, key, realm->preload_warm,
                        kJSPropertyAttributeDontEnum, NULL);
    if (code != NULL)
        (void)play(realm, GBX_FORM_SCRIPT, code, NULL, "{}");
    else
        (void)play(realm, GBX_FORM_FUNCTION, "async () => { await gbx_warm(0) }", NULL,
                   "{}");
    JSObjectDeleteProperty(realm->ctx, realm->global, key, NULL);
    JSStringRelease(key);
    gbx_host_forget(realm);
}

/* The engine implements Function.prototype.call in JavaScript: call it often enough to
 * compile it here. Otherwise that would happen in the middle of a worker, which on its
 * own calls it too rarely. */
#define PROVE_TIMES 30

/* Functions that the engine implements in JavaScript, each as often as it takes to
 * compile it. */
#define ARRAY_FUNCTIONS                                                                    \
    "(d) => { const a = Array.from({ length: 1000 }, (_, i) => i); const no = x => x < 0;" \
    " a.forEach(no); a.some(no); a.every(x => x >= 0); a.find(no); a.findIndex(no);"       \
    " a.findLast(no); a.findLastIndex(no); a.flatMap(x => [x]); a.reduceRight(no);"        \
    " return a.filter(x => x > 1).map(x => x + 1).reduce((sum, x) => sum + x, 0) }"

/* Typical code, and anything that opens a file or builds a table on first use. */
static const char *const sample_code[] = {
    "(d) => { const o = d.map(x => ({ id: x, name: 'n' + x, tags: ['a'] }));"
    " return JSON.parse(JSON.stringify(o)).filter(x => x.id > 1).sort((a, b) => b.id - a.id) }",
    "(d) => new Date(0).toString() + new Date(0).toLocaleString() + new Date().toISOString()",
    "(d) => new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'Europe/Berlin' })"
    ".format(0) + new Intl.NumberFormat('de').format(1234.5)"
    " + new Intl.PluralRules('en').select(1) + new Intl.RelativeTimeFormat('en').format(1, 'day')"
    " + new Intl.ListFormat('en').format(['a', 'b']) + (1234.5).toLocaleString()",
    "(d) => ['b', 'a', '\\u00e9'].sort(new Intl.Collator('en').compare).join()"
    " + 'a'.localeCompare('b') + '\\u00e9'.normalize('NFD') + 'I'.toLocaleLowerCase()",
    "(d) => [...new Intl.Segmenter('en', { granularity: 'word' }).segment('a b')].length",
    "(d) => 'abc-123'.replace(/[a-c]+|(?<n>\\d+)/gu, '$<n>').split(/\\s/).length"
    " + /\\p{Lu}/v.test('A') + [...'a1b2'.matchAll(/\\d/g)].length",
    "(d) => Object.entries(Object.groupBy(d, x => x % 2 ? 'odd' : 'even'))",
    "async (d) => { const m = new Map(d.map(x => [x, x])); await Promise.all([...m.values()]);"
    " return [...new Set(d)].map(x => m.get(x)).values().map(x => x * 2).toArray() }",
    "(d) => { console.log('%s %d', 'a', 1, { a: [1, { b: 2 }] }, new Error('x')) }",
    "(d) => d.none.length",
    "(d) => { throw new TypeError('x') }",
    "async (d) => { await null; throw new RangeError('x') }",
    "(d) => d.",
    "(d) => ({ m: new Map() })",
    "(d) => (2n ** 100n).toString() + (0.1).toFixed(3) + Math.random() + parseFloat('1.5')",
    "(d) => { class A { #x = 1; get x() { return this.#x } } function* g() { yield* d }"
    " return [new A().x, ...g(), `${d}`, d?.length ?? 0] }",
    ARRAY_FUNCTIONS,
    "(d) => encodeURIComponent('\\u00e9') + new Uint8Array(d).length + structured(d)",
};

/* The code that models write most often. The engine implements promises and
 * asynchronous functions in JavaScript, too. */
static const char *const common_code[] = {
    "async (d) => { const made = []; const later = async x => { await null; return x };"
    " for (let i = 0; i < 20; i++) made.push(new Promise(r => r(i)));"
    " const all = await Promise.all(made); const more = await Promise.all(d.map(x => later(x)));"
    " for (const x of d) await later(x); await new Promise(r => setTimeout(r, 0));"
    " return all.length + more.length }",
    "async (d) => { const all = await Promise.allSettled(d.map(x => Promise.reject(x)));"
    " const one = await Promise.race([Promise.resolve(1), new Promise(() => {})]);"
    " const two = await Promise.resolve(1).then(x => x + 1).catch(() => 0).finally(() => 0);"
    " try { await Promise.any([Promise.reject(1)]) } catch { return all.length + one + two } }",
    "(d) => { const all = d.map(x => ({ id: x, name: 'n' + x, tags: ['a'] })); const by = {};"
    " for (const { id, name } of all) if (name in by) by[name].push(id); else by[name] = [id];"
    " const text = Object.entries(by).filter(([key]) => key !== 'n1')"
    ".sort((a, b) => b[1][0] - a[1][0]).map(([key, ids]) => `${key}: ${ids.length}`).join(', ');"
    " return text.split(', ').reduce((sum, s) => sum + s.length, 0)"
    " + new Map(Object.entries(by)).size + new Set(d).size + all.find(x => x.id > 1).id }",
};

/* Work over many records makes this many new objects, strings and arrays. */
static const char many_code[] =
    "(d) => { const rows = []; for (let i = 0; i < 400; i++)"
    " rows.push({ id: i, name: 'n' + i, tags: [i] });"
    " return JSON.stringify(rows.filter(r => r.id > 3).map(r => `${r.name} ${r.id / 2}`)).length }";

/* Often enough to compile it. The second time, the engine only has to find free
 * blocks. */
#define COMMON_TIMES       5
#define COMMON_TIMES_AGAIN 4

/* A collection takes 0.4 ms of an engine's start. */
#define SAMPLES_A_COLLECTION 8

static void warm_common(gbx_realm *realm, int times)
{
    for (int i = 0; i < times; i++)
        for (size_t j = 0; j < GBX_COUNTOF(common_code); j++)
            run(realm, common_code[j], GBX_FORM_FUNCTION);
}

/* Replace each %s of shape with name. */
static void fill_shape(char *to, size_t size, const char *shape, const char *text)
{
    size_t used = 0;

    while (*shape != 0 && used + strlen(text) + 2 < size) {
        if (shape[0] == '%' && shape[1] == 's') {
            memcpy(to + used, text, strlen(text));
            used += strlen(text);
            shape += 2;
        } else {
            to[used++] = *shape++;
        }
    }
    to[used] = 0;
}

/* A name that neither this process nor its ancestors have seen. */
static void make_name(char to[static 32])
{
    static unsigned long made;
    unsigned long left = ++made;

    /* Not snprintf(): that uses eight pages of the C library that a call does not
     * need. */
    *to++ = 'd';
    for (; left > 0; left >>= 4)
        *to++ = "0123456789abcdef"[left & 15];
    *to = 0;
}

/* Uses new names: the engine's cache of code would recognise a text that it has
 * seen, and the first real call would pay for parser, generator and their page
 * faults. */
static bool run_new(gbx_realm *realm, const char *shape, const char *input,
                    const char *expected)
{
    gbx_realm_outcome outcome;
    char name[32];
    char code[128];

    make_name(name);
    fill_shape(code, sizeof code, shape, name);
    outcome = play(realm, GBX_FORM_FUNCTION, code, input, "{}");
    return outcome.ok && outcome.result.json.len == strlen(expected) &&
           memcmp(outcome.result.json.data, expected, strlen(expected)) == 0;
}

/* A script in the most common shape, with new names: as new to the engine as a call. */
#define SCRIPT_OF_TWICE(calls)                                                          \
    "let sum%s = 0; for (const one of [1, 2]) sum%s += one;"                            \
    " const all%s = await Promise.all(Array.from({ length: 2 }, () => gbx_warm(" #calls \
    "))); return { sum: sum%s, count: all%s.filter((one) => one !== null).length }"

/* One with enough host calls to run all that a script may do, and one with few. */
static const char whole_script[] = SCRIPT_OF_TWICE(10);
static const char short_script[] = SCRIPT_OF_TWICE(2);

static void warm_preloads(gbx_realm *realm, const char *shape)
{
    char name[32];
    char code[384];

    make_name(name);
    fill_shape(code, sizeof code, shape, name);
    gbx_warm_preloads(realm, code);
}

/* Clear RegExp.$1 and the like, which would show calls what has run before them. */
static void forget_match(gbx_realm *realm)
{
    run(realm, "() => /(?:)/.test('')", GBX_FORM_FUNCTION);
}

void gbx_realm_warm(gbx_realm *realm, int how_much)
{
    /* Opens the file of the time zone: in a sealed worker that would be fatal. */
    run(realm, "() => new Date(0).toString()", GBX_FORM_FUNCTION);
    if (how_much > 0) {
        for (size_t i = 0; i < GBX_COUNTOF(sample_code); i++) {
            run(realm, sample_code[i], GBX_FORM_FUNCTION);
            if (i % SAMPLES_A_COLLECTION == 0)
                JSSynchronousGarbageCollectForDebugging(realm->ctx);
        }
        run(realm, "const x = await 1; return params.length + x", GBX_FORM_BODY);
        warm_common(realm, COMMON_TIMES);
        /* For a template that is forked many times: compile what first uses run. */
        (void)JSObjectCallAsFunction(realm->ctx, realm->warm_helpers, NULL, 0, NULL,
                                     NULL);
        forget_match(realm);
    }
}

void gbx_realm_warm_own(gbx_realm *realm, int how_much)
{
    static const char json[] =
        "{\"status\":200,\"statusText\":\"OK\",\"url\":\"http://a.example/b\","
        "\"headers\":[[\"content-type\",\"application/json\"],[\"x\",\"y\"]],"
        "\"redirected\":false}";

    /* Run what calls with these capabilities run first. */
    if (how_much > 0 && realm->capabilities != 0) {
        for (size_t i = 0; i < GBX_COUNTOF(samples); i++)
            if ((samples[i].bit & realm->capabilities) != 0)
                (void)play(realm, GBX_FORM_FUNCTION, samples[i].code, NULL, json);
        gbx_host_forget(realm);
    }
    if (how_much > 0 && realm->preload_warm != NULL)
        gbx_warm_preloads(realm, NULL);
    if (how_much > 0)
        forget_match(realm);
}

void gbx_realm_settle(gbx_realm *realm, int how_much)
{
    gbx_garbage_collect(realm);
    /* After a collection, the first allocation of each kind sweeps a block, or
     * searches all blocks for one. Do it here, or every fork copies those pages. */
    if (how_much > 0) {
        run(realm, many_code, GBX_FORM_FUNCTION);
        warm_common(realm, COMMON_TIMES_AGAIN);
        (void)gbx_realm_rehearse(realm);
    }
    for (int i = 0; i < (how_much > 0 ? PROVE_TIMES : 1); i++)
        (void)gbx_realm_prove(realm);
}

bool gbx_realm_rehearse(gbx_realm *realm)
{
    /* Everything that a worker does, in its order: a call's memory comes after what
     * the worker has prepared. */
    if (realm->preload_warm != NULL) {
        (void)gbx_realm_prepare(realm);
        warm_preloads(realm, whole_script);
    }
    /* The shape of most calls: an object comes in, another goes out. It touches pages
     * that the proof does not. */
    return gbx_realm_prove(realm) &&
           run_new(realm, "(%s) => ({ sum: %s.a + %s.list[1] })",
                   "{\"a\":1,\"list\":[1,2]}", "{\"sum\":3}");
}

bool gbx_realm_prepare(gbx_realm *realm)
{
    if (realm->preload_warm != NULL)
        warm_preloads(realm, short_script);
    return gbx_realm_prove(realm);
}

bool gbx_realm_prove(gbx_realm *realm)
{
    return run_new(realm, "(%s) => %s.length", "[1,2,3]", "3");
}
