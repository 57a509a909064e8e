/* SPDX-License-Identifier: MIT */
/* A policy for which memory runs out at any moment: refused as that, nothing half kept,
 * nothing left behind (which a sanitizer and valgrind see). */
#include "policy/policy.h"
#include "support/failing_malloc.h"
#include "test.h"

#include <glovebox/policy.h>

static bool only_nomem(gbx_status status, const gbx_error *error)
{
    if (status != GBX_OK && status != GBX_E_NOMEM)
        fail_msg("%d: %u:%u: %s", status, error->line, error->column, error->message);
    assert_int_equal(error->status, status);
    return status == GBX_OK;
}

static bool parse(void)
{
    static const char json[] =
        "{\"console\": true, \"fetch\": {\"allow\": [\"a.example\", \"b\\u002dc.example\"],"
        "\"networks\": [\"10.0.0.0/8\"], \"methods\": [\"GET\"],"
        "\"nameservers\": [\"9.9.9.9\"], \"caFile\": \"/etc/passwd\"},"
        "\"file\": {\"allow\": [\"/usr\", \"/etc\"]}, \"env\": {\"A\": \"b\"},"
        "\"secrets\": {\"S\": {\"value\": \"a secret\", \"sites\": [\"a.example\"],"
        "\"functions\": [\"db.*\"]}}, \"functions\": [\"db.query\", \"*\"]}";
    gbx_policy *policy = NULL;
    gbx_error error = {.status = GBX_OK};
    gbx_status status = gbx_policy_parse(json, strlen(json), NULL, &policy, &error);

    gbx_policy_free(policy);
    return only_nomem(status, &error);
}

static bool refuse(void)
{
    static const char json[] = "{\"fetch\": {\"allow\": [\"a.example\", \"*\"]}}";
    gbx_policy *policy = NULL;
    gbx_error error = {.status = GBX_OK};
    gbx_status status = gbx_policy_parse(json, strlen(json), NULL, &policy, &error);

    assert_null(policy);
    assert_true(status == GBX_E_POLICY || status == GBX_E_NOMEM);
    return status == GBX_E_POLICY;
}

static bool add(void)
{
    static const char *const grants[] = {"fetch=a.example,*.b.example",
                                         "file=/usr,/etc", "env=A=b,C=d",
                                         "functions=f,g.*", "crypto"};
    gbx_policy *policy = gbx_policy_new();
    gbx_error error = {.status = GBX_OK};
    bool ok = policy != NULL;

    for (size_t i = 0; ok && i < sizeof grants / sizeof grants[0]; i++)
        ok = only_nomem(gbx_policy_allow(policy, grants[i], &error), &error);
    if (ok)
        ok = only_nomem(gbx_policy_secret(policy, "S", "a secret",
                                          "a.example,b.example", "f,g.*", &error),
                        &error);
    gbx_policy_free(policy);
    return ok;
}

static bool load(void)
{
    gbx_policy *policy = NULL;
    gbx_error error = {.status = GBX_OK};
    gbx_status status =
        gbx_policy_load_with(POLICY_EXAMPLE, GBX_POLICY_TRUST_FILES, &policy, &error);

    gbx_policy_free(policy);
    return only_nomem(status, &error);
}

/* What is kept is what was written: a name that has lost a letter is another. */
static bool keep_names(void)
{
    static const char name[] = "a.function.whose.name.is.long";
    static const char json[] =
        "{\"functions\": [\"a.function.whose.name.is.long\"], \"limits\": "
        "{\"hostOutBytes\": 10000000}}";
    gbx_policy *policy = NULL;
    gbx_error error = {.status = GBX_OK};
    gbx_status status = gbx_policy_parse(json, strlen(json), NULL, &policy, &error);

    if (status == GBX_OK)
        assert_true(gbx_policy_allows_function(policy, name));
    gbx_policy_free(policy);
    return only_nomem(status, &error);
}

/* The first, the second, ... allocation fails, until there is none to fail. */
static void sweep(bool (*work)(void))
{
    bool failed = true;

    for (size_t nth = 1; failed; nth++) {
        bool ok;

        failing_malloc_arm(nth, FAIL_FROM_THEN_ON);
        ok = work();
        failed = failing_malloc_disarm();
        assert_true(ok || failed); /* what a message quotes may be gone without */
        assert_true(!ok || !failed || work == refuse);
        failing_malloc_arm(nth, FAIL_ONCE);
        (void)work();
        (void)failing_malloc_disarm();
        assert_true(nth < 10000);
    }
}

TEST(parsing__is_refused_cleanly)
{
    sweep(parse);
}

TEST(parsing__keeps_names_whole_or_not_at_all)
{
    sweep(keep_names);
}

TEST(refusing__is_refused_cleanly)
{
    sweep(refuse);
}

TEST(adding__is_refused_cleanly)
{
    sweep(add);
}

TEST(loading__is_refused_cleanly)
{
    sweep(load);
}

TEST_MAIN(NULL, NULL)
