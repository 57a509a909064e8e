/* SPDX-License-Identifier: MIT */
/* What a server says of itself and at its end, once it was looked through for secrets. */
#include "base/cleanup.h"
#include "mcp/upstream/internal.h"
#include "test.h"

/* Of one secret, KEY. */
static gbx_policy *secret(void)
{
    gbx_policy *policy = gbx_policy_new();

    assert_int_equal(gbx_policy_secret(policy, "KEY", "t0ken-of-the-test", NULL, "a",
                                       NULL),
                     GBX_OK);
    return policy;
}

static void drop_tools(gbx_tools **tools)
{
    gbx_tools_drop(*tools);
}

TEST(tools__are_told_without_secrets)
{
    static const char told[] =
        "[{\"name\":\"a\",\"description\":\"t0ken-of-the-test\",\"inputSchema\":{"
        "\"type\":\"object\",\"properties\":{\"t0ken-of-the-test\":{\"const\":"
        "\"dDBrZW4tb2YtdGhlLXRlc3Q=\"}}}},{\"name\":\"t0ken-of-the-test\"},5]";
    gbx_policy *policy = secret();
    GBX_CLEANUP(drop_tools) gbx_tools *ours = gbx_tools_new();

    assert_true(gbx_tools_add(ours, (gbx_view){told, sizeof told - 1}, false, policy));
    gbx_tools_close(ours);

    assert_int_equal(ours->count, 1);
    assert_string_equal(ours->dropped_why,
                        "2 left out, the first one with a secret in the name");
    assert_true(gbx_buf_append(&ours->json, "", 1));
    assert_null(strstr((char *)ours->json.data, "t0ken"));
    assert_null(strstr((char *)ours->json.data, "dDBr"));
    gbx_policy_free(policy);
}

/* A secret's name may be longer than its value. */
TEST(tools__that_grow_too_long_are_left_out)
{
    gbx_policy *policy = gbx_policy_new();
    GBX_CLEANUP(drop_tools) gbx_tools *ours = gbx_tools_new();
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf list;

    assert_int_equal(gbx_policy_secret(policy, "A_RATHER_LONG_NAME_OF_A_SHORT_VALUE",
                                       "k9.x7-q2", NULL, "a", NULL),
                     GBX_OK);
    gbx_buf_init(&list, GBX_MIB(8));
    (void)gbx_buf_puts(&list, "[{\"name\":\"long\",\"description\":\"");
    for (int i = 0; i < 400000; i++)
        (void)gbx_buf_puts(&list, "k9.x7-q2 ");
    assert_true(gbx_buf_puts(&list, "\"},{\"name\":\"short\"}]"));
    assert_true(gbx_tools_add(ours, (gbx_view){(const char *)list.data, list.len},
                              false, policy));
    gbx_tools_close(ours);

    assert_non_null(gbx_tools_find(ours, "short"));
    assert_string_equal(ours->dropped_why,
                        "1 left out, one with which the list is longer than 16 MiB");
    gbx_policy_free(policy);
}

TEST(text__is_cut_after_it_was_looked_through)
{
    gbx_policy *policy = secret();
    char text[12];

    gbx_redact_copy(policy, "abt0ken-of-the-test", text, sizeof text);
    assert_string_equal(text, "ab{{secret:");
    gbx_redact_copy(NULL, "abcdefghij\xc3\xbc", text, sizeof text);
    assert_string_equal(text, "abcdefghij");
    gbx_policy_free(policy);
}

static void print_tail(const gbx_stderr_tail *tail, const gbx_policy *secrets,
                       gbx_buf *to)
{
    gbx_buf_init(to, GBX_KIB(64));
    assert_true(gbx_stderr_tail_print(tail, secrets, to));
    assert_true(gbx_buf_append(to, "", 1));
}

TEST(tail__shows_no_half_of_a_secret)
{
    gbx_policy *policy = secret();
    static const char value[] = "t0ken-of-the-test";

    /* Where a line is cut, and where the tail begins. */
    for (size_t filler = 130; filler < 160; filler++) {
        gbx_stderr_tail tail = {.len = 0};
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

        for (size_t i = 0; i < filler; i++)
            gbx_stderr_tail_add(&tail, "x", 1);
        gbx_stderr_tail_add(&tail, value, sizeof value - 1);
        print_tail(&tail, policy, &text);
        assert_null(strstr((char *)text.data, "t0"));
    }
    for (size_t cut = 1; cut < sizeof value - 1; cut++) {
        gbx_stderr_tail tail = {.len = 0};
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

        gbx_stderr_tail_add(&tail, value, sizeof value - 1);
        for (size_t i = sizeof value - 1; i < GBX_TAIL_BYTES + cut - 6; i++)
            gbx_stderr_tail_add(&tail, " ", 1);
        gbx_stderr_tail_add(&tail, "\nended", 6);
        print_tail(&tail, policy, &text);
        assert_string_equal((char *)text.data, "ended");
    }
    gbx_policy_free(policy);
}

TEST_MAIN(NULL, NULL)
