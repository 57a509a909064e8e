/* SPDX-License-Identifier: MIT */
/* mcp_rules - what calls a rule fits, and every way that was thought of to pass one by. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/config/config.h"
#include "mcp/rules/glob.h"
#include "mcp/rules/letters.h"
#include "mcp/rules/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What becomes of a call. */
typedef enum answer { ALLOW, ASK, DENY, FAULT, NO_ARGS } answer;

static const char *const answers[] = {"allow", "ask", "deny", "fault", "no arguments"};

typedef struct row {
    const char *rules; /* the array without its brackets */
    const char *call;  /* "server/tool {args}" */
    answer wanted;
} row;

static gbx_mcp_config *config_of(const char *rules)
{
    gbx_mcp_config *config = NULL;
    gbx_error error = {0};
    char text[2048];

    (void)snprintf(text, sizeof text,
                   "{\"mcpServers\":{\"files\":{\"command\":\"x\"},"
                   "\"git.hub\":{\"command\":\"x\"},\"web\":{\"command\":\"x\"}},"
                   "\"glovebox\":{\"rules\":[%s]}}",
                   rules);
    if (gbx_mcp_config_parse(text, strlen(text), NULL, &config, &error) != GBX_OK)
        fail_msg("%s: %s", rules, error.message);
    return config;
}

static answer ask_with(const gbx_gate_rules *rules, const char *call,
                       gbx_gate_hint hint)
{
    char server[64];
    char tool[64];
    int at = 0;
    json_t *args;
    const char *why;
    gbx_gate_verdict verdict;

    assert_int_equal(sscanf(call, "%63[^/]/%63[^ ] %n", server, tool, &at), 2);
    if (!gbx_gate_args_open(call + at, strlen(call + at), &args, &why)) {
        assert_non_null(why);
        return NO_ARGS;
    }
    verdict = gbx_gate_decide(rules, server, tool, args, hint);
    json_decref(args);
    assert_false(verdict.needs_hint);
    return verdict.fault != NULL ? FAULT : (answer)verdict.action;
}

static void check(const row *rows, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        gbx_mcp_config *config = config_of(rows[i].rules);
        answer got = ask_with(config->rules, rows[i].call, GBX_GATE_HINT_OTHER);

        if (got != rows[i].wanted) {
            print_error("%s\n    %s: %s, not %s\n", rows[i].rules, rows[i].call,
                        answers[got], answers[rows[i].wanted]);
            wrong++;
        }
        gbx_mcp_config_free(config);
    }
    assert_int_equal(wrong, 0);
}

#define ALLOW_DATA \
    "{\"action\":\"allow\",\"server\":\"files\",\"args\":{\"path\":\"/data/**\"}}"
#define DENY_ETC \
    "{\"action\":\"deny\",\"args\":{\"path\":\"/etc/**\"}},{\"action\":\"allow\"}"
#define ALLOW_API \
    "{\"action\":\"allow\",\"args\":{\"url\":\"https://*.example.com/v1/**\"}}"
#define DENY_EVIL \
    "{\"action\":\"deny\",\"args\":{\"url\":\"https://evil.example/**\"}},{\"action\":\"allow\"}"

static void test_rules__the_first_that_fits_decides(void **state)
{
    static const row rows[] = {
        {"", "files/read {}", ASK},
        {"{\"action\":\"allow\"}", "files/read {}", ALLOW},
        {"{\"action\":\"deny\"},{\"action\":\"allow\"}", "files/read {}", DENY},
        {"{\"action\":\"allow\",\"tool\":\"read_*\"}", "files/read_file {}", ALLOW},
        {"{\"action\":\"allow\",\"tool\":\"read_*\"}", "files/read_ {}", ALLOW},
        {"{\"action\":\"allow\",\"tool\":\"read_*\"}", "files/Read_file {}", ASK},
        {"{\"action\":\"allow\",\"tool\":\"read_*\"}", "files/xread_file {}", ASK},
        {"{\"action\":\"allow\",\"tool\":[\"a\",\"b?\"]}", "files/bc {}", ALLOW},
        {"{\"action\":\"allow\",\"tool\":[\"a\",\"b?\"]}", "files/b {}", ASK},
        {"{\"action\":\"allow\",\"tool\":\"a\\\\*\"}", "files/a* {}", ALLOW},
        {"{\"action\":\"allow\",\"tool\":\"a\\\\*\"}", "files/ab {}", ASK},
        {"{\"action\":\"allow\",\"server\":\"files\"}", "web/read {}", ASK},
        {"{\"action\":\"allow\",\"server\":\"git.hub\"}", "gitxhub/read {}", ASK},
        {"{\"action\":\"allow\",\"server\":\"*\"}", "web/read {}", ALLOW},
        {"{\"action\":\"allow\",\"readOnly\":false}", "web/read {}", ALLOW},
        {"{\"action\":\"allow\",\"readOnly\":true}", "web/read {}", ASK},
        {"{\"action\":\"deny\",\"tool\":\"constructor\"}", "web/constructor {}", DENY},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

static void test_paths__are_fitted_by_their_plain_form_alone(void **state)
{
    static const row rows[] = {
        {ALLOW_DATA, "files/r {\"path\":\"/data/x\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/a/b.txt\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/\\u0061\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/...\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/.hidden\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data2/x\"}", ASK},
        {ALLOW_DATA, "files/r {\"path\":\"/DATA/x\"}", ASK},
        {ALLOW_DATA, "files/r {\"path\":\"data/x\"}", ASK},
        {ALLOW_DATA, "files/r {\"path\":\"\"}", ASK},
        {ALLOW_DATA, "files/r {}", ASK},
        {ALLOW_DATA, "files/r {\"path\":\"/data/../etc/passwd\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/..\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/./x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data//x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/\\u002e\\u002e/x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/..\\\\etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data\\\\..\\\\etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/%2e%2e/etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/%252e%252e/etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/%2E./etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/..%2fetc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x%2f..%2f..%2fetc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x\\u0000/../../etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x%00.txt\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\" /data/x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x\\n\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"file:///data/x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"https://x/data/y\"}", ASK},
        {DENY_ETC, "files/r {\"path\":\"/etc/passwd\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/etc\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/etc/\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/ETC/passwd\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/etc/passwd/\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/etcetera\"}", ALLOW},
        {DENY_ETC, "files/r {\"path\":\"/home/x\"}", ALLOW},
        {DENY_ETC, "files/r {\"path\":\"/data/../etc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"//etc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"/./etc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"etc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"~/x\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"/%65tc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"\\\\etc\\\\passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"FILE:/etc/passwd\"}", FAULT},
        {"{\"action\":\"deny\",\"args\":{\"path\":\"/etc/passwd\"}},{\"action\":\"allow\"}",
         "files/r {\"path\":\"/etc/passwd//\"}", FAULT},
        {"{\"action\":\"deny\",\"args\":{\"path\":\"**/.ssh/**\"}},{\"action\":\"allow\"}",
         "files/r {\"path\":\"/home/u/.ssh/id\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"path\":\"**/.ssh/**\"}},{\"action\":\"allow\"}",
         "files/r {\"path\":\".ssh\"}", DENY},
        {"{\"action\":\"allow\",\"args\":{\"path\":\"/data/*\"}}",
         "files/r {\"path\":\"/data/a/b\"}", ASK},
        {"{\"action\":\"allow\",\"args\":{\"path\":\"/data/?.txt\"}}",
         "files/r {\"path\":\"/data/\\u00e9.txt\"}", ALLOW},
        {"{\"action\":\"allow\",\"args\":{\"path\":\"/data/?.txt\"}}",
         "files/r {\"path\":\"/data//.txt\"}", FAULT},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

static void test_urls__are_fitted_by_their_plain_form_alone(void **state)
{
    static const row rows[] = {
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1/x?y=z/../\"}",
         ALLOW},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v2/x\"}", ASK},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com/.example.com/v1/x\"}", ASK},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com?.example.com/v1/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com#.example.com/v1/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com:1.example.com/v1/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com\\\\.example.com/v1/x\"}",
         FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://u@api.example.com/v1/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1/../x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1/%2e%2e/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1\\\\..\\\\x\"}",
         FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1/\\tx\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"http://api.example.com/v1/x\"}", ASK},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example/x\"}", DENY},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example\"}", DENY},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example?x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://good.example/\"}", ALLOW},
        {DENY_EVIL, "web/get {\"url\":\"https://EVIL.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"HTTPS://evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https:evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https:\\\\\\\\evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"//evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example./x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example:443/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example:/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://u:p@evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://%65vil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://e\\u00advil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"\\thttps://evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"ht\\ntps://evil.example/x\"}", FAULT},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

#define DENY_META                                                            \
    "{\"action\":\"deny\",\"args\":{\"url\":[\"http://169.254.169.254/**\"," \
    "\"http://[2001:db8::1]/**\",\"file:///etc/**\"]}},{\"action\":\"allow\"}"

static void test_hosts__are_told_in_one_way_alone(void **state)
{
    static const row rows[] = {
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254/x\"}", DENY},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254:8080/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.253/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://2852039166/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://0251.0376.0251.0376/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.0376/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://0xa9fea9fe/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://0x/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254.43518/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://a.b.0x7f/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://a.b.0x7g/\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://1.example/\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254:0080/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254:65616/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254:8x/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http:///169.254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http:////169.254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254..169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169\\u3002254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[::ffff:a9fe:a9fe]/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[::ffff:169.254.169.254]/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[::a9fe:a9fe]/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[64:ff9b::a9fe:a9fe]/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::1]/x\"}", DENY},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::2]/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://[::1]/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::0001]/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8:0:0:0:0:0:1]/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::1]:80/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::1]8/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::1/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"file:///etc/x\"}", DENY},
        {DENY_META, "web/get {\"url\":\"file://localhost/etc/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"file:////etc/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"file:///e|/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"169.254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"\\\\\\\\169.254.169.254\\\\x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"/\\\\169.254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"./x\"}", ALLOW},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

#define DENY_PAGE(path)                                               \
    "{\"action\":\"deny\",\"args\":{\"url\":\"https://a.example" path \
    "\"}},{\"action\":\"allow\"}"

static void test_pages__are_denied_in_every_spelling(void **state)
{
    static const row rows[] = {
        {DENY_PAGE("/"), "web/get {\"url\":\"https://a.example\"}", DENY},
        {DENY_PAGE("/"), "web/get {\"url\":\"https://a.example/b\"}", ALLOW},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/b#c\"}", DENY},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/b?\"}", DENY},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/b/?c=d#e\"}", DENY},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/bc?d\"}", ALLOW},
        {DENY_PAGE("/b/**"), "web/get {\"url\":\"https://a.example/b?c\"}", DENY},
        {DENY_PAGE("/b c"), "web/get {\"url\":\"https://a.example/b c\"}", DENY},
        {DENY_PAGE("/b c"), "web/get {\"url\":\"https://a.example/b%20c\"}", FAULT},
        {DENY_PAGE("/b%20c"), "web/get {\"url\":\"https://a.example/b%20c\"}", DENY},
        {DENY_PAGE("/b%20c"), "web/get {\"url\":\"https://a.example/b c\"}", FAULT},
        {DENY_PAGE("/b@c"), "web/get {\"url\":\"https://a.example/b%40c\"}", FAULT},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/b%40c\"}", ALLOW},
        {DENY_PAGE("/\u00fc"), "web/get {\"url\":\"https://a.example/%C3%BC\"}", FAULT},
        {DENY_PAGE("/b\\\\?c=d"), "web/get {\"url\":\"https://a.example/b?c=d\"}",
         DENY},
        {DENY_PAGE("/b\\\\?c=d"), "web/get {\"url\":\"https://a.example/b?%63=d\"}",
         FAULT},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/x?u=a%3A%2F%2Fb\"}",
         ALLOW},
        {"{\"action\":\"deny\",\"args\":{\"path\":\"/b c/**\"}},{\"action\":\"allow\"}",
         "files/r {\"path\":\"/b%20c/x\"}", FAULT},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

#define DENY_TRUE \
    "{\"action\":\"deny\",\"args\":{\"force\":true}},{\"action\":\"allow\"}"
#define ALLOW_DRY "{\"action\":\"allow\",\"args\":{\"dry\":true,\"n\":3}}"
#define DENY_TEXT \
    "{\"action\":\"deny\",\"args\":{\"q\":\"drop*\"}},{\"action\":\"allow\"}"
#define ALLOW_EACH "{\"action\":\"allow\",\"args\":{\"e[].p\":\"a*\"}}"
#define DENY_EACH \
    "{\"action\":\"deny\",\"args\":{\"e[].p\":\"a*\"}},{\"action\":\"allow\"}"

static void test_types__cannot_be_played_with(void **state)
{
    static const row rows[] = {
        {DENY_TRUE, "files/x {\"force\":true}", DENY},
        {DENY_TRUE, "files/x {\"force\":false}", ALLOW},
        {DENY_TRUE, "files/x {}", ALLOW},
        {DENY_TRUE, "files/x {\"force\":1}", DENY},
        {DENY_TRUE, "files/x {\"force\":\"true\"}", DENY},
        {DENY_TRUE, "files/x {\"force\":[true]}", DENY},
        {DENY_TRUE, "files/x {\"force\":null}", DENY},
        {ALLOW_DRY, "files/x {\"dry\":true,\"n\":3}", ALLOW},
        {ALLOW_DRY, "files/x {\"dry\":true,\"n\":3.0}", ALLOW},
        {ALLOW_DRY, "files/x {\"dry\":true,\"n\":\"3\"}", ASK},
        {ALLOW_DRY, "files/x {\"dry\":\"true\",\"n\":3}", ASK},
        {ALLOW_DRY, "files/x {\"dry\":true}", ASK},
        {DENY_TEXT, "files/x {\"q\":\"drop table\"}", DENY},
        {DENY_TEXT, "files/x {\"q\":\"DROP table\"}", DENY},
        {DENY_TEXT, "files/x {\"q\":[\"drop table\"]}", DENY},
        {DENY_TEXT, "files/x {\"q\":{\"toString\":\"x\"}}", DENY},
        {DENY_TEXT, "files/x {\"q\":5}", DENY},
        {DENY_TEXT, "files/x {\"q\":\"select\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":[\"/data/x\"]}", ASK},
        {ALLOW_DATA, "files/r {\"path\":{\"0\":\"/data/x\"}}", ASK},
        {ALLOW_DATA, "files/r {\"path\":null}", ASK},
        {ALLOW_EACH, "files/x {\"e\":[{\"p\":\"ab\"},{\"p\":\"ac\"}]}", ALLOW},
        {ALLOW_EACH, "files/x {\"e\":[{\"p\":\"ab\"},{\"p\":\"b\"}]}", ASK},
        {ALLOW_EACH, "files/x {\"e\":[{\"p\":\"ab\"},{}]}", ASK},
        {ALLOW_EACH, "files/x {\"e\":[]}", ASK},
        {ALLOW_EACH, "files/x {\"e\":{\"p\":\"ab\"}}", ASK},
        {DENY_EACH, "files/x {\"e\":[{\"p\":\"b\"},{\"p\":\"ab\"}]}", DENY},
        {DENY_EACH, "files/x {\"e\":[{\"p\":\"b\"}]}", ALLOW},
        {DENY_EACH, "files/x {\"e\":{\"p\":\"ab\"}}", DENY},
        {DENY_EACH, "files/x {\"e\":[[{\"p\":\"ab\"}]]}", DENY},
        {DENY_EACH, "files/x {\"e\":\"[]\"}", DENY},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

static void test_members__are_what_every_parser_finds(void **state)
{
    static const row rows[] = {
        {DENY_ETC, "files/r {\"path\":\"/etc/x\",\"path\":\"/data/x\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/data/x\",\"\\u0070ath\":\"/etc/x\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"\\u0070\\u0061th\":\"/etc/x\"}", DENY},
        {DENY_ETC, "files/r {\"Path\":\"/etc/x\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"/data/x\",\"PATH\":\"/etc/x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x\",\"pATH\":\"/etc/x\"}", FAULT},
        {ALLOW_DRY, "files/x {\"dry\":true,\"n\":3,\"N\":4}", FAULT},
        {"{\"action\":\"deny\",\"args\":{\"pass\":\"x\"}},{\"action\":\"allow\"}",
         "files/x {\"pa\\u017fs\":\"x\"}", FAULT},
        {"{\"action\":\"deny\",\"args\":{\"key\":\"x\"}},{\"action\":\"allow\"}",
         "files/x {\"\\u212aey\":\"x\"}", FAULT},
        {DENY_ETC, "files/r {\"__proto__\":{\"path\":\"/etc/x\"}}", NO_ARGS},
        {DENY_ETC, "files/r {\"a\":[{\"\\u005f_proto__\":{\"path\":1}}]}", NO_ARGS},
        {DENY_ETC, "files/r {\"path\\u0000\":\"/etc/x\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/etc/\\ud800\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/etc/\xC0\xAF\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"n\":1e999}", NO_ARGS},
        {DENY_ETC, "files/r {\"n\":123456789012345678901234567890}", NO_ARGS},
        {DENY_ETC, "files/r [\"/etc/x\"]", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/data/x\"} x", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/data/x\",}", NO_ARGS},
        {DENY_ETC, "files/r {'path':1}", NO_ARGS},
        {DENY_ETC, "files/r  ", NO_ARGS},
        {"{\"action\":\"deny\",\"args\":{\"a\\\\.b\":\"x\"}},{\"action\":\"allow\"}",
         "files/x {\"a.b\":\"x\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"a\\\\.b\":\"x\"}},{\"action\":\"allow\"}",
         "files/x {\"a\":{\"b\":\"x\"}}", ALLOW},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

/* A rule that is read and then never fits would seem to hold. */
static void test_patterns__with_stars_are_not_taken_for_broken_ones(void **state)
{
    static const row rows[] = {
        {"{\"action\":\"deny\",\"args\":{\"url\":\"http://10.*/**\"}},{\"action\":\"allow\"}",
         "web/get {\"url\":\"http://10.1.2.3/x\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"url\":\"http://h:*/**\"}},{\"action\":\"allow\"}",
         "web/get {\"url\":\"http://h:8080/x\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"url\":\"http://[2001:db8::*]/**\"}},{\"action\":\"allow\"}",
         "web/get {\"url\":\"http://[2001:db8::7]/x\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"url\":\"**://EVIL.example/**\"}},{\"action\":\"allow\"}",
         "web/get {\"url\":\"wss://evil.example/x\"}", DENY},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

static void test_hint__is_asked_for_where_it_matters_alone(void **state)
{
    gbx_mcp_config *config = config_of("{\"action\":\"allow\",\"tool\":\"a\"},"
                                       "{\"action\":\"deny\",\"readOnly\":false}");
    json_t *args = json_object();
    gbx_gate_verdict verdict;
    (void)state;

    verdict = gbx_gate_decide(config->rules, "files", "a", args, GBX_GATE_HINT_UNKNOWN);
    assert_false(verdict.needs_hint);
    assert_int_equal(verdict.rule, 0);
    verdict = gbx_gate_decide(config->rules, "files", "b", args, GBX_GATE_HINT_UNKNOWN);
    assert_true(verdict.needs_hint);
    verdict = gbx_gate_decide(config->rules, "files", "b", args, GBX_GATE_HINT_OTHER);
    assert_int_equal(verdict.action, GBX_GATE_DENY);
    assert_int_equal(verdict.rule, 1);
    verdict = gbx_gate_decide(config->rules, "files", "b", args, GBX_GATE_HINT_READS);
    assert_int_equal(verdict.action, GBX_GATE_ALLOW);
    assert_int_equal(verdict.rule, GBX_GATE_NO_RULE);
    json_decref(args);
    gbx_mcp_config_free(config);
}

#define DENIED(args)  "{\"action\":\"deny\",\"args\":{" args "}},{\"action\":\"allow\"}"
#define ALLOWED(args) "{\"action\":\"allow\",\"args\":{" args "}}"

static void test_letters__of_every_script_are_denied_in_every_case(void **state)
{
    static const row rows[] = {
        {DENIED("\"name\":\"MÜLLER\""), "web/x {\"name\":\"müller\"}", DENY},
        {DENIED("\"name\":\"müller\""), "web/x {\"name\":\"MÜLLER\"}", DENY},
        {DENIED("\"name\":\"müller\""), "web/x {\"name\":\"möller\"}", ALLOW},
        {DENIED("\"name\":\"*ΣΟΦΟΣ*\""), "web/x {\"name\":\"ο σοφος.\"}", DENY},
        {DENIED("\"name\":\"*σοφος*\""), "web/x {\"name\":\"ο σοφοσ.\"}", DENY},
        {DENIED("\"name\":\"приказ?\""), "web/x {\"name\":\"ПРИКАЗЫ\"}", DENY},
        {DENIED("\"name\":\"приказ?\""), "web/x {\"name\":\"ПРИКАЗ\"}", ALLOW},
        {DENIED("\"name\":\"東京\""), "web/x {\"name\":\"大阪\"}", ALLOW},
        {DENIED("\"name\":\"select *\""), "web/x {\"name\":\"ſELECT 1\"}", DENY},
        {DENIED("\"name\":\"KELVIN\""), "web/x {\"name\":\"\\u212aelvin\"}", DENY},
        {DENIED("\"name\":\"drop table titles\""),
         "web/x {\"name\":\"DROP TABLE T\\u0130TLES\"}", DENY},
        {DENIED("\"name\":\"titles\""), "web/x {\"name\":\"t\\u0131tles\"}", DENY},
        {DENIED("\"path\":\"/srv/Été/**\""), "web/x {\"path\":\"/SRV/été/x\"}", DENY},
        {DENIED("\"path\":\"/srv/Été/**\""), "web/x {\"path\":\"/srv/etes/x\"}", ALLOW},
        {DENIED("\"path\":\"/srv/\\\\é/**\""), "web/x {\"path\":\"/srv/É/x\"}", DENY},
        {DENIED("\"clé\":\"x\""), "web/x {\"CLÉ\":\"x\"}", FAULT},
        {DENIED("\"a.clé\":\"x\""), "web/x {\"a\":{\"clÉ\":\"x\"}}", FAULT},
        {DENIED("\"clé\":\"x\""), "web/x {\"clè\":\"x\"}", ALLOW},
        {ALLOWED("\"name\":\"MÜLLER\""), "web/x {\"name\":\"MÜLLER\"}", ALLOW},
        {ALLOWED("\"name\":\"MÜLLER\""), "web/x {\"name\":\"müller\"}", ASK},
        {ALLOWED("\"name\":\"m?ller\""), "web/x {\"name\":\"müller\"}", ALLOW},
    };
    (void)state;

    check(rows, GBX_COUNTOF(rows));
}

/* Every letter, as a pattern is folded: none becomes longer, and the form of the form is
 * the form. */
static void test_letters__have_one_form_that_is_no_longer(void **state)
{
    size_t changed = 0;
    (void)state;

    for (uint32_t point = 0; point < 0x110000; point++) {
        char one[4];
        char form[4];
        char again[4];
        size_t len = gbx_utf8_encode(point, (uint8_t *)one);
        size_t form_len;
        size_t again_len;

        if (point >= 0xD800 && point < 0xE000)
            continue;
        assert_int_equal(gbx_letter_fold(one, len, form, &form_len), len);
        assert_true(form_len <= len);
        assert_int_equal(gbx_letter_fold(form, form_len, again, &again_len), form_len);
        assert_memory_equal(form, again, form_len);
        changed += form_len != len || memcmp(one, form, len) != 0;
    }
    assert_true(changed > 1400);
}

/* The time is that of the pattern times the text, not more. */
static void test_globs__that_are_all_stars_end(void **state)
{
    char pattern[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
    char text[5000];
    const char *why;
    (void)state;

    memset(text, 'a', sizeof text);
    assert_false(gbx_glob_value(pattern, text, sizeof text, GBX_GLOB_EXACT, &why));
    assert_null(why);
}

/* What is made for a call that the rules ask about; "" if nothing is. */
static void make_rule(const char *rules, const char *tool, const char *call,
                      gbx_gate_hint hint, char to[256])
{
    gbx_mcp_config *config = config_of(rules);
    gbx_gate_verdict verdict;
    json_t *args;
    const char *why;
    gbx_buf buf;

    gbx_buf_init(&buf, 256);
    assert_true(gbx_gate_args_open(call, strlen(call), &args, &why));
    verdict = gbx_gate_decide(config->rules, "files", tool, args, hint);
    assert_int_equal(verdict.action, GBX_GATE_ASK);
    if (!gbx_gate_rule_for(config->rules, &verdict, "files", tool, args, &buf))
        buf.len = 0;
    (void)snprintf(to, 256, "%.*s", (int)buf.len, (char *)buf.data);
    json_decref(args);
    gbx_buf_cleanup(&buf);
    gbx_mcp_config_free(config);
}

static void test_rule_for__fits_the_very_tool(void **state)
{
    gbx_mcp_config *config;
    char rule[256];
    (void)state;

    make_rule("", "a*\\?\"", "{}", GBX_GATE_HINT_OTHER, rule);
    config = config_of(rule);
    assert_int_equal(ask_with(config->rules, "files/a*\\?\" {}", GBX_GATE_HINT_OTHER),
                     ALLOW);
    assert_int_equal(ask_with(config->rules, "files/ab\\?\" {}", GBX_GATE_HINT_OTHER),
                     ASK);
    assert_int_equal(ask_with(config->rules, "web/a*\\?\" {}", GBX_GATE_HINT_OTHER),
                     ASK);
    gbx_mcp_config_free(config);
}

#define ASK_ABOUT "{\"action\":\"ask\",\"tool\":\"w*\",\"reason\":\"x\","
#define ALLOW_W   "{\"action\":\"allow\",\"server\":\"files\",\"tool\":\"w\""

static void test_rule_for__looks_at_what_the_rule_that_asked_looks_at(void **state)
{
    static const struct {
        const char *rules;
        const char *call;
        const char *wanted;
    } rows[] = {
        {ASK_ABOUT "\"args\":{\"path\":\"/srv/**\",\"n\":1}}",
         "{\"path\":\"/srv/x\",\"n\":1}",
         ALLOW_W ",\"args\":{\"path\":\"/srv/**\",\"n\":1}}"},
        {ASK_ABOUT "\"readOnly\":false}", "{}", ALLOW_W ",\"readOnly\":false}"},
        {ASK_ABOUT "\"readOnly\":false,\"args\":{\"a\":[\"x\",\"y\"]}}",
         "{\"a\":\"y\"}",
         ALLOW_W ",\"args\":{\"a\":[\"x\",\"y\"]},\"readOnly\":false}"},
        {ASK_ABOUT "\"server\":\"*\"}", "{}", ALLOW_W "}"},
        /* What only may be meant is not allowed by what allows. */
        {ASK_ABOUT "\"args\":{\"path\":\"/srv/**\"}}", "{\"path\":\"/SRV/x\"}", ""},
        {ASK_ABOUT "\"args\":{\"n\":1}}", "{\"n\":\"1\"}", ""},
    };
    char rule[256];
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        make_rule(rows[i].rules, "w", rows[i].call, GBX_GATE_HINT_OTHER, rule);
        assert_string_equal(rule, rows[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules__the_first_that_fits_decides),
        cmocka_unit_test(test_paths__are_fitted_by_their_plain_form_alone),
        cmocka_unit_test(test_urls__are_fitted_by_their_plain_form_alone),
        cmocka_unit_test(test_hosts__are_told_in_one_way_alone),
        cmocka_unit_test(test_pages__are_denied_in_every_spelling),
        cmocka_unit_test(test_types__cannot_be_played_with),
        cmocka_unit_test(test_members__are_what_every_parser_finds),
        cmocka_unit_test(test_patterns__with_stars_are_not_taken_for_broken_ones),
        cmocka_unit_test(test_hint__is_asked_for_where_it_matters_alone),
        cmocka_unit_test(test_letters__of_every_script_are_denied_in_every_case),
        cmocka_unit_test(test_letters__have_one_form_that_is_no_longer),
        cmocka_unit_test(test_globs__that_are_all_stars_end),
        cmocka_unit_test(test_rule_for__fits_the_very_tool),
        cmocka_unit_test(test_rule_for__looks_at_what_the_rule_that_asked_looks_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
