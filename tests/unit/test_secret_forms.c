/* SPDX-License-Identifier: MIT */
/*
 * secret_forms - values are stripped from what comes back, in whatever way a program may
 * have written them.
 */
#include "base/cleanup.h"
#include "secret_values.h"
#include "table.h"
#include "test.h"

#include "base/json.h"

/* ---- stripping ---------------------------------------------------------------- */

static bool strips(gbx_secret_text kind, const char *in, const char *out)
{
    gbx_buf buf;
    bool changed;
    bool as_expected;

    gbx_buf_init(&buf, GBX_KIB(64));
    assert_true(gbx_secrets_strip(policy, kind, gbx_span_of(in), NULL, &buf, &changed));
    if (out == NULL)
        as_expected = !changed && buf.len == 0;
    else
        as_expected =
            changed && buf.len == strlen(out) && memcmp(buf.data, out, buf.len) == 0;
    if (!as_expected)
        print_message("%s\n  became %.*s\n", in, changed ? (int)buf.len : 9,
                      changed ? (const char *)buf.data : "no other");
    gbx_buf_cleanup(&buf);
    return as_expected;
}

static bool check_form(char *head, char *text, size_t len)
{
    bool is_json = strcmp(table_word(&head, " "), "json") == 0;
    char *end = strrchr(text, '\n');
    const char *out;
    bool was;
    bool is_right;

    assert_true(len > 0 && end != NULL);
    *end++ = '\0';
    out = strncmp(end, "-> ", 3) == 0 ? end + 3 : NULL;
    was = is_json && gbx_json_check(text, strlen(text), 100, NULL);
    is_right = strips(is_json ? GBX_SECRET_DATA : GBX_SECRET_LINE, text, out);
    if (is_json)
        is_right = gbx_json_check(out, strlen(out), 100, NULL) == was && is_right;
    if (!is_right)
        print_error("  which was: %s\n", head);
    return is_right;
}

TEST(text__loses_every_form_of_a_value)
{
    table_check("unit/policy/secret_forms.txt", check_form, 66);
    assert_true(strips(GBX_SECRET_LINE, "dG9rLTRmO\r\nWEwYzc3\nZTFiMg==",
                       "{{secret:TOKEN}}==")); /* base64 in lines */
}

TEST(empty_and_unprepared__pass_nothing_unlooked)
{
    gbx_policy *bare = gbx_policy_new();
    struct gbx_secret_forms *forms = policy->secret_forms;
    gbx_buf buf;
    bool changed = true;
    gbx_buf_init(&buf, 100);

    assert_true(gbx_secrets_strip(bare, GBX_SECRET_DATA, gbx_span_of("tok"), NULL, &buf,
                                  &changed));
    assert_false(changed);
    assert_true(gbx_secrets_strip(NULL, GBX_SECRET_DATA, gbx_span_of("tok"), NULL, &buf,
                                  &changed));
    assert_true(gbx_secrets_strip(policy, GBX_SECRET_DATA, gbx_span_of(""), NULL, &buf,
                                  &changed));
    policy->secret_forms = NULL;
    assert_false(gbx_secrets_strip(policy, GBX_SECRET_DATA, gbx_span_of("x"), NULL,
                                   &buf, &changed));
    policy->secret_forms = forms;

    gbx_policy_free(bare);
}

TEST(strip__that_does_not_fit_says_so)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    bool changed;
    gbx_buf_init(&buf, 20);

    assert_false(gbx_secrets_strip(policy, GBX_SECRET_DATA,
                                   gbx_span_of("tok-4f9a0c77e1b2, tok-4f9a0c77e1b2"),
                                   NULL, &buf, &changed));
}

/* A value that repeats itself is found in every way it can lie. */
TEST(strip__of_what_overlaps_itself_takes_all_of_it)
{
    gbx_policy *own = gbx_policy_new();
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    bool changed;
    assert_int_equal(gbx_policy_secret(own, "A", "abababab", "a.b", NULL, NULL),
                     GBX_OK);
    assert_int_equal(gbx_policy_secret(own, "B", "bababababa", "a.b", NULL, NULL),
                     GBX_OK);
    gbx_buf_init(&buf, 1000);

    assert_true(gbx_secrets_strip(own, GBX_SECRET_LINE,
                                  gbx_span_of("x-ababababababab-x"), NULL, &buf,
                                  &changed));

    assert_true(changed);
    assert_int_equal(buf.len, strlen("x-{{secret:A}}-x"));
    assert_memory_equal(buf.data, "x-{{secret:A}}-x", buf.len);
    gbx_policy_free(own);
}

/* Many a program takes them off. */
TEST(strip__of_a_value_with_blanks_at_its_ends_does_without_them)
{
    gbx_policy *own = gbx_policy_new();
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    bool changed;
    assert_int_equal(gbx_policy_secret(own, "A", " of-blanks-1 ", "a.b", NULL, NULL),
                     GBX_OK);
    assert_int_equal(gbx_policy_secret(own, "B", "  short  ", "a.b", NULL, NULL),
                     GBX_OK);
    gbx_buf_init(&buf, 1000);

    assert_true(gbx_secrets_strip(own, GBX_SECRET_LINE,
                                  gbx_span_of("[of-blanks-1][short][  short  ]"), NULL,
                                  &buf, &changed));

    assert_true(changed);
    assert_true(gbx_buf_append(&buf, "", 1));
    assert_string_equal((const char *)buf.data, "[{{secret:A}}][short][{{secret:B}}]");
    gbx_policy_free(own);
}

/* In forms a plus is written for a space, and read as one. */
TEST(strip__of_a_value_that_begins_with_a_plus_finds_a_space)
{
    gbx_policy *own = gbx_policy_new();
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    bool changed;
    assert_int_equal(gbx_policy_secret(own, "A", "+1-555-0100", "a.b", NULL, NULL),
                     GBX_OK);
    gbx_buf_init(&buf, 1000);

    assert_true(gbx_secrets_strip(own, GBX_SECRET_LINE, gbx_span_of("call 1-555-0100"),
                                  NULL, &buf, &changed));

    assert_true(changed);
    assert_true(gbx_buf_append(&buf, "", 1));
    assert_string_equal((const char *)buf.data, "call{{secret:A}}");
    gbx_policy_free(own);
}

TEST_MAIN(secret_values_begin, secret_values_end)
