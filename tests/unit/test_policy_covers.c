/* SPDX-License-Identifier: MIT */
/* covers - what a call's policy may have, and the first thing that it may not. */
#include "base/cleanup.h"
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* Of fetch in a call's policy, what must be like the engine's. */
#define FETCH(allow, rest)                                                  \
    "{\"fetch\": {\"allow\": [" allow "], \"nameservers\": [\"9.9.9.9\"], " \
    "\"maxBytes\": 1000, \"maxRequestBytes\": 100, \"timeoutMs\": 500, "    \
    "\"maxRedirects\": 2, " rest "}}"
#define GET "\"methods\": [\"GET\"]"
#define A   "\"a.example\""

static const struct {
    const char *narrow;
    const char *wider; /* NULL: it is covered */
} cases[] = {
    {"{}", NULL},
    {ENGINE, NULL},
    {"{\"console\": true}", NULL},
    {"{\"timers\": true}", "capability 'timers'"},
    {FETCH(A, GET), NULL},
    {FETCH("\"c.b.example\", \"*.c.b.example\"", GET), NULL},
    {FETCH("\"http://localhost:8080\"", GET), NULL},
    {FETCH("\"b.example\"", GET), "site 'https://b.example'"},
    {FETCH("\"a.example\", \"http://a.example\"", GET), "site 'http://a.example'"},
    {FETCH("\"*.a.example\"", GET), "site 'https://*.a.example'"},
    {FETCH("\"a.example:8443\"", GET), "site 'https://a.example:8443'"},
    {FETCH(A, GET ", \"networks\": [\"10.1.0.0/16\"]"), NULL},
    {FETCH(A, GET ", \"networks\": [\"10.0.0.0/7\"]"), "network '10.0.0.0/7'"},
    {FETCH(A, GET ", \"networks\": [\"fd00::/8\"]"), "network 'fd00::/8'"},
    {FETCH(A, "\"methods\": [\"GET\", \"DELETE\"]"), "method 'DELETE'"},
    {FETCH(A, "\"networks\": [\"10.0.0.0/8\"]"), "methods 'all'"},
    {"{\"fetch\": {\"allow\": [" A "], " GET "}}", "it differs in 'fetch.nameservers'"},
    {"{\"fetch\": {\"allow\": [" A "], " GET ", \"nameservers\": [\"8.8.8.8\"]}}",
     "it differs in 'fetch.nameservers'"},
    {"{\"fetch\": {\"allow\": [" A "], " GET ", \"nameservers\": [\"9.9.9.9\"]}}",
     "fetch.maxBytes is 10485760, not 1000 at most"},
    {"{\"fetch\": {\"allow\": [" A "], " GET ", \"nameservers\": [\"9.9.9.9\"],"
     "\"maxBytes\": 1}}",
     "fetch.maxRequestBytes is 1048576, not 100 at most"},
    {"{\"fetch\": {\"allow\": [" A "], " GET ", \"nameservers\": [\"9.9.9.9\"],"
     "\"maxBytes\": 1, \"maxRequestBytes\": 1}}",
     "fetch.timeoutMs is 30000, not 500 at most"},
    {"{\"fetch\": {\"allow\": [" A "], " GET ", \"nameservers\": [\"9.9.9.9\"],"
     "\"maxBytes\": 1, \"maxRequestBytes\": 1, \"timeoutMs\": 1}}",
     "fetch.maxRedirects is 5, not 2 at most"},
    {FETCH(A, GET ", \"caFile\": \"/etc/passwd\""), "it differs in 'fetch.caFile'"},
    {"{\"file\": {\"allow\": [\"/usr/lib\"], \"maxBytes\": 10}}", NULL},
    {"{\"file\": {\"allow\": [\"/usr/lib/pkgconfig/..\"], \"maxBytes\": 10}}", NULL},
    {"{\"file\": {\"allow\": [\"/usr\"], \"maxBytes\": 10}}", "directory '/usr'"},
    {"{\"file\": {\"allow\": [\"/usr/lib\", \"/usr/libexec\"], \"maxBytes\": 10}}",
     "directory '/usr/libexec'"},
    {"{\"file\": {\"allow\": [\"/usr/lib\"]}}",
     "file.maxBytes is 1048576, not 1000 at most"},
    {"{\"env\": {\"A\": \"2\"}}", "capability 'env'"},
    {"{\"functions\": [\"db.query\", \"db.sub.*\", \"now\"]}", NULL},
    {"{\"functions\": [\"db.*\"]}", NULL},
    {"{\"functions\": [\"d.*\"]}", "function 'd.*'"},
    {"{\"functions\": [\"now.*\"]}", "function 'now.*'"},
    {"{\"functions\": [\"*\"]}", "function '*'"},
    {"{\"secrets\": {\"S\": {\"value\": \"efghijkl\", \"sites\": [\"c.b.example\"],"
     "\"functions\": [\"db.query\"]}}}",
     NULL},
    {"{\"secrets\": {\"T\": {\"value\": \"efghijkl\", \"sites\": [\"c.b.example\"]}}}",
     "secret 'T'"},
    {"{\"secrets\": {\"S\": {\"value\": \"efghijkl\", \"sites\": [\"a.example\"]}}}",
     "site of a secret 'https://a.example'"},
    {"{\"secrets\": {\"S\": {\"value\": \"efghijkl\", \"functions\": [\"now\"]}}}",
     "function 'now'"},
    {"{\"limits\": {\"timeoutMs\": 1000}}", NULL},
    {"{\"limits\": {\"timeoutMs\": 1001}}",
     "limits.timeoutMs is 1001, not 1000 at most"},
};

static gbx_policy *parse(const char *json)
{
    gbx_policy *policy = NULL;
    gbx_error error = {0};

    if (gbx_policy_parse(json, strlen(json), NULL, &policy, &error) != GBX_OK)
        fail_msg("%s: %u: %s", json, error.column, error.message);
    return policy;
}

static void test_a_call__gets_no_more_than_its_engine(void **state)
{
    static const char lead[] = "the call's policy is wider than the engine's: ";
    gbx_policy *wide = parse(ENGINE);
    (void)state;

    wide->capabilities &= ~(uint32_t)GBX_CAP_ENV;
    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        gbx_policy *narrow = parse(cases[i].narrow);
        gbx_error error = {0};
        bool covers;

        if (strcmp(cases[i].narrow, ENGINE) == 0)
            narrow->capabilities &= ~(uint32_t)GBX_CAP_ENV;
        covers = gbx_policy_covers(wide, narrow, &error);
        if (covers != (cases[i].wider == NULL))
            fail_msg("%s: %s", cases[i].narrow, error.message);
        if (!covers) {
            assert_int_equal(error.status, GBX_E_POLICY);
            assert_memory_equal(error.message, lead, sizeof lead - 1);
            assert_string_equal(error.message + sizeof lead - 1, cases[i].wider);
        }
        gbx_policy_free(narrow);
    }
    gbx_policy_free(wide);
}

static void test_variables__are_those_of_the_engine(void **state)
{
    gbx_policy *wide = parse("{\"env\": {\"A\": \"1\", \"B\": \"2\"}}");
    gbx_policy *same = parse("{\"env\": {\"B\": \"another value\"}}");
    gbx_policy *other = parse("{\"env\": {\"C\": \"2\"}}");
    gbx_error error = {0};
    (void)state;

    assert_true(gbx_policy_covers(wide, same, &error));
    assert_false(gbx_policy_covers(wide, other, &error));
    assert_non_null(strstr(error.message, "variable 'C'"));
    gbx_policy_free(wide);
    gbx_policy_free(same);
    gbx_policy_free(other);
}

static void test_all_functions__cover_every_pattern(void **state)
{
    gbx_policy *wide = parse("{\"functions\": [\"*\"]}");
    gbx_policy *narrow = parse("{\"functions\": [\"a\", \"b.*\", \"*\"]}");
    (void)state;

    assert_true(gbx_policy_covers(wide, narrow, NULL));
    gbx_policy_free(wide);
    gbx_policy_free(narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call__gets_no_more_than_its_engine),
        cmocka_unit_test(test_variables__are_those_of_the_engine),
        cmocka_unit_test(test_all_functions__cover_every_pattern),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
