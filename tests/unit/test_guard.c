/* SPDX-License-Identifier: MIT */
/*
 * test_guard - which code is refused, where and why, and which is not: guard/found.txt. It
 * depends on what the code will find: capabilities, functions of the host, what the
 * caller binds, and the sites of the policy.
 */
#include "base/cleanup.h"
#include "guard/guard.h"
#include "policy/policy.h"
#include "table.h"
#include "test.h"

#define LIMIT 65536
#define ALL   (GBX_CAP_FETCH | GBX_CAP_FILE | GBX_CAP_CRYPTO | GBX_CAP_ENV)

static gbx_policy *policy; /* of some sites */

static int set_up(void **state)
{
    policy = gbx_policy_new();
    return gbx_policy_allow(policy,
                            "fetch=api.example.com,*.example.org,http://localhost:8080",
                            NULL);
}

static int tear_down(void **state)
{
    gbx_policy_free(policy);
    return 0;
}

/* ---- what the code will find --------------------------------------------------- */

/* The host has fs.list, crypto.sign, axios() and net.income. */
static bool has_some(void *user, const char *name)
{
    return strcmp(name, "fs") == 0 || strcmp(name, "crypto") == 0 ||
           strcmp(name, "axios") == 0 || strcmp(name, "net") == 0;
}

static bool may_fetch(void *user, const char *url, size_t len,
                      char site[GBX_GUARD_SITE_SIZE])
{
    return gbx_policy_may_fetch(user, url, len, site);
}

static uint32_t capability_of(const char *word)
{
    static const struct {
        const char *word;
        uint32_t bits;
    } words[] = {{"off", 0},
                 {"all", ALL},
                 {"fetch", GBX_CAP_FETCH},
                 {"file", GBX_CAP_FILE},
                 {"crypto", GBX_CAP_CRYPTO},
                 {"env", GBX_CAP_ENV},
                 {"console", GBX_CAP_CONSOLE},
                 {"timers", GBX_CAP_TIMERS},
                 {"helpers", GBX_CAP_HELPERS}};

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (strcmp(word, words[i].word) == 0)
            return words[i].bits;
    fail_msg("no capability: %s", word);
    return 0;
}

/* CAPABILITY,...:WHAT ELSE */
static gbx_guard_world world_of(char *words)
{
    gbx_guard_world world = {0};
    char *capabilities = table_word(&words, ":");

    while (*capabilities != '\0')
        world.capabilities |= capability_of(table_word(&capabilities, ","));
    world.may_bind = strcmp(words, "may-bind") == 0;
    if (strcmp(words, "host") == 0)
        world.has_name = has_some;
    if (strcmp(words, "sites") == 0) {
        world.may_fetch = may_fetch;
        world.user = policy;
    }
    return world;
}

static gbx_form form_of(const char *word)
{
    return strcmp(word, "function") == 0  ? GBX_FORM_FUNCTION
           : strcmp(word, "execute") == 0 ? GBX_FORM_EXECUTE
           : strcmp(word, "body") == 0    ? GBX_FORM_BODY
                                          : GBX_FORM_SCRIPT;
}

/* ---- what is found --------------------------------------------------------------- */

static gbx_report *look(const char *code, gbx_form form, const gbx_guard_world *world,
                        gbx_guard_span *ret_span)
{
    gbx_report *report = NULL;

    assert_int_equal(gbx_guard_check(code, strlen(code), form, LIMIT, world, ret_span,
                                     &report, NULL),
                     GBX_OK);
    return report;
}

static bool is_found(const char *code, gbx_form form, const gbx_guard_world *world,
                     const char *wanted)
{
    gbx_guard_span span;
    gbx_report *report = look(code, form, world, &span);
    char found[512] = "nothing";
    size_t at = 0;

    for (size_t i = 0; i < gbx_report_count(report); i++) {
        gbx_violation v = gbx_report_get(report, i);

        at += (size_t)snprintf(found + at, sizeof found - at, "%s%u:%u %s",
                               i > 0 ? ", " : "", v.line, v.column, v.rule);
        assert_true(at < sizeof found);
    }
    gbx_report_free(report);
    if (strcmp(found, wanted) != 0)
        print_error("%s\n found: %s\n", code, found);
    return strcmp(found, wanted) == 0;
}

static bool is_said(const char *code, gbx_form form, const gbx_guard_world *world,
                    const char *message, const char *hint)
{
    gbx_guard_span span;
    gbx_report *report = look(code, form, world, &span);
    gbx_violation first = gbx_report_get(report, 0);
    bool is_right = report != NULL && strstr(first.message, message) != NULL &&
                    strstr(first.hint, hint) != NULL;

    if (!is_right)
        print_error("%s\n got: %s | %s\n", code, first.message, first.hint);
    gbx_report_free(report);
    return is_right;
}

static bool is_handed_over(const char *code, const char *wanted)
{
    unsigned line, column;
    int at;
    gbx_guard_span span;

    assert_int_equal(sscanf(wanted, "%u:%u %n", &line, &column, &at), 2);
    wanted += at;
    assert_null(look(code, GBX_FORM_FUNCTION, NULL, &span));
    if (span.line == line && span.column == column && span.len == strlen(wanted) &&
        memcmp(code + span.start, wanted, span.len) == 0)
        return true;
    print_error("%s\n %u:%u, %zu bytes\n", code, span.line, span.column, span.len);
    return false;
}

/* ---- the table ------------------------------------------------------------------- */

static void put_line_ends(char *code)
{
    static const char sign[] = "\xE2\x90\xA4";
    char *at;

    while ((at = strstr(code, sign)) != NULL) {
        *at = '\n';
        memmove(at + 1, at + strlen(sign), strlen(at + strlen(sign)) + 1);
    }
}

static bool check_line(const char *kind, gbx_form form, const gbx_guard_world *world,
                       char *line)
{
    char *first = table_word(&line, " | ");
    const char *hint = strcmp(kind, "says") == 0 ? table_word(&line, " | ") : NULL;

    put_line_ends(line);
    put_line_ends(first);
    if (hint != NULL)
        return is_said(line, form, world, first, hint);
    return strcmp(kind, "span") == 0 ? is_handed_over(line, first)
                                     : is_found(line, form, world, first);
}

static bool check_case(char *head, char *text, size_t len)
{
    gbx_form form = form_of(table_word(&head, " "));
    char *words = table_word(&head, " ");
    bool is_told = strcmp(words, "-") != 0;
    gbx_guard_world world = is_told ? world_of(words) : (gbx_guard_world){0};
    bool is_right = len > 0;

    while (*text != '\0') {
        char *line = table_word(&text, "\n");

        is_right = check_line(head, form, is_told ? &world : NULL, line) && is_right;
    }
    return is_right;
}

TEST(guard__finds_what_is_in_the_table)
{
    table_check("unit/guard/found.txt", check_case, 90);
}

TEST(guard__takes_blanks_that_a_table_cannot_show)
{
    static const struct {
        const char *code;
        const char *span;
    } spans[] = {{"  (d) => 1;", "1:3 (d) => 1"},
                 {"\xEF\xBB\xBF(d) => 1", "1:2 (d) => 1"},
                 {"// a\r\n(d) => 1\r\n", "2:1 (d) => 1"},
                 {"```js\r\n(d) => 1\r\n```\r\n", "2:1 (d) => 1"}};

    for (size_t i = 0; i < GBX_COUNTOF(spans); i++)
        assert_true(is_handed_over(spans[i].code, spans[i].span));
    assert_true(is_found(" \n\t ", GBX_FORM_FUNCTION, NULL, "1:1 form"));
    assert_true(is_found(" // nothing", GBX_FORM_SCRIPT, NULL, "1:1 form"));
    assert_true(is_found("(d) =>\r\n  eval(d)", GBX_FORM_FUNCTION, NULL, "2:3 eval"));
    assert_true(is_found("\t(d) => eval(d)", GBX_FORM_FUNCTION, NULL, "1:9 eval"));
}

TEST_MAIN(set_up, tear_down)
