/* SPDX-License-Identifier: MIT */
/* covers - what a call's policy may have, and the first thing that it may not. */
#include "base/cleanup.h"
#include "policy/policy.h"
#include "table.h"
#include "test.h"

#define ENGINE                                                                         \
    "{\"console\": true, \"crypto\": true,"                                            \
    "\"fetch\": {\"allow\": [\"a.example\", \"*.b.example\", \"http://localhost:*\"]," \
    "\"networks\": [\"10.0.0.0/8\"], \"methods\": [\"GET\", \"POST\"],"                \
    "\"nameservers\": [\"9.9.9.9\"], \"maxBytes\": 1000, \"maxRequestBytes\": 100,"    \
    "\"timeoutMs\": 500, \"maxRedirects\": 2},"                                        \
    "\"file\": {\"allow\": [\"/usr/lib\"], \"maxBytes\": 1000},"                       \
    "\"env\": {\"A\": \"1\"},"                                                         \
    "\"secrets\": {\"S\": {\"value\": \"abcdefgh\", \"sites\": [\"*.b.example\"],"     \
    "\"functions\": [\"db.*\"]}},"                                                     \
    "\"functions\": [\"db.*\", \"now\"], \"limits\": {\"timeoutMs\": 1000}}"

static gbx_policy *parse(const char *json)
{
    gbx_policy *policy = NULL;
    gbx_error error = {0};

    if (gbx_policy_parse(json, strlen(json), NULL, &policy, &error) != GBX_OK)
        fail_msg("%s: %u: %s", json, error.column, error.message);
    return policy;
}

static gbx_policy *engine(void)
{
    gbx_policy *policy = parse(ENGINE);

    policy->capabilities &= ~(uint32_t)GBX_CAP_ENV;
    return policy;
}

static bool check_narrow(char *head, char *json, size_t len)
{
    static const char lead[] = "the call's policy is wider than the engine's: ";
    bool is_wider = strcmp(table_word(&head, " "), "wider") == 0;
    gbx_policy *wide = engine();
    gbx_policy *narrow = parse(json);
    gbx_error error = {0};
    bool covers = gbx_policy_covers(wide, narrow, &error);
    bool is_right = len > 0 && covers != is_wider;

    if (!covers)
        is_right = is_right && error.status == GBX_E_POLICY &&
                   strncmp(error.message, lead, sizeof lead - 1) == 0 &&
                   strcmp(error.message + sizeof lead - 1, head) == 0;
    if (!is_right)
        print_error("%s: %s\n", json, error.message);
    gbx_policy_free(narrow);
    gbx_policy_free(wide);
    return is_right;
}

TEST(a_call__gets_no_more_than_its_engine)
{
    gbx_policy *wide = engine();
    gbx_policy *same = engine();

    assert_true(gbx_policy_covers(wide, same, NULL));
    gbx_policy_free(same);
    gbx_policy_free(wide);
    table_check("unit/policy/covers.txt", check_narrow, 39);
}

TEST(variables__are_those_of_the_engine)
{
    gbx_policy *wide = parse("{\"env\": {\"A\": \"1\", \"B\": \"2\"}}");
    gbx_policy *same = parse("{\"env\": {\"B\": \"another value\"}}");
    gbx_policy *other = parse("{\"env\": {\"C\": \"2\"}}");
    gbx_error error = {0};

    assert_true(gbx_policy_covers(wide, same, &error));
    assert_false(gbx_policy_covers(wide, other, &error));
    assert_non_null(strstr(error.message, "variable 'C'"));
    gbx_policy_free(wide);
    gbx_policy_free(same);
    gbx_policy_free(other);
}

TEST(all_functions__cover_every_pattern)
{
    gbx_policy *wide = parse("{\"functions\": [\"*\"]}");
    gbx_policy *narrow = parse("{\"functions\": [\"a\", \"b.*\", \"*\"]}");

    assert_true(gbx_policy_covers(wide, narrow, NULL));
    gbx_policy_free(wide);
    gbx_policy_free(narrow);
}

TEST_MAIN(NULL, NULL)
