/* SPDX-License-Identifier: MIT */
/* secrets - which values can be one, where they lie, and whom they are filled in for. */
#include "base/cleanup.h"
#include "secret_values.h"
#include "test.h"

static gbx_policy *policy;

static int set_up(void **state)
{
    policy = secret_values_policy();
    return policy != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    gbx_policy_free(policy);
    return 0;
}

/* ---- which values can be secrets --------------------------------------------------- */

TEST(value__of_seven_bytes_is_no_secret_and_in_no_message)
{
    gbx_policy *own = gbx_policy_new();
    gbx_error error = {0};

    assert_int_equal(gbx_policy_secret(own, "A", "hunter2", "a.b", NULL, &error),
                     GBX_E_POLICY);

    assert_null(strstr(error.message, "hunter2"));
    assert_int_equal(own->secret_count, 0);
    assert_int_equal(gbx_policy_secret(own, "A", "hunter22", "a.b", NULL, &error),
                     GBX_OK);
    gbx_policy_free(own);
}

TEST(values__of_more_than_256_kib_are_refused_together)
{
    static char value[GBX_SECRET_MAX + 1];
    gbx_policy *own = gbx_policy_new();
    gbx_error error = {0};
    char name[16];
    gbx_status status = GBX_OK;
    unsigned taken = 0;
    memset(value, 'v', GBX_SECRET_MAX);

    while (status == GBX_OK && taken < 100) {
        (void)snprintf(name, sizeof name, "S%u", taken);
        memcpy(value, name, strlen(name));
        status = gbx_policy_secret(own, name, value, "a.b", NULL, &error);
        taken += status == GBX_OK;
    }

    assert_int_equal(status, GBX_E_POLICY);
    assert_int_equal(taken, GBX_SECRETS_BYTES_MAX / GBX_SECRET_MAX);
    assert_int_equal(own->secret_count, taken);
    gbx_policy_free(own);
}

/* The flags of the mapping that holds address, in /proc/self/smaps. */
static bool is_dumped(const void *address)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512];
    bool is_it = false;
    bool dumped = true;

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long start;
        unsigned long end;

        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            is_it = (uintptr_t)address >= start && (uintptr_t)address < end;
        else if (is_it && strncmp(line, "VmFlags:", 8) == 0)
            dumped = strstr(line, " dd") == NULL;
    }
    (void)fclose(maps);
    return dumped;
}

TEST(values__are_in_no_core_dump)
{
    assert_true(is_dumped(policy));
    assert_false(is_dumped(policy->secrets[0].value));
    assert_false(is_dumped(policy->secret_forms));
}

/* ---- filling in ----------------------------------------------------------------------- */

#define API                                                                \
    {                                                                      \
        .host = "api.example.com", .port = 443, .scheme = GBX_SCHEME_HTTPS \
    }
#define NO_REFERENCE "'{{secret:' is not followed by a name and '}}'"

static const struct {
    gbx_secret_target target;
    const char *text;
    const char *filled; /* NULL: refused */
    const char *message;
} fills[] = {
    {API, "no secret at all", "no secret at all", NULL},
    {API, "", "", NULL},
    {API, "Bearer {{secret:TOKEN}}", "Bearer tok-4f9a0c77e1b2", NULL},
    {API, "{{secret:TOKEN}}{{secret:TOKEN}}", "tok-4f9a0c77e1b2tok-4f9a0c77e1b2", NULL},
    {API, "{{{secret:TOKEN}}}", "{tok-4f9a0c77e1b2}", NULL},
    {API, "{{ secret:TOKEN }} {secret:TOKEN}", "{{ secret:TOKEN }} {secret:TOKEN}",
     NULL},
    {API, "{{SECRET:TOKEN}}", "{{SECRET:TOKEN}}", NULL},
    {API, "{{secret:NOTHING}}", NULL, "unknown secret 'NOTHING'"},
    {API, "{{secret:token}}", NULL, "unknown secret 'token'"},
    {API, "{{secret:TOKE}}", NULL, "unknown secret 'TOKE'"},
    {API, "{{secret:TOKENS}}", NULL, "unknown secret 'TOKENS'"},
    {API, "{{secret:}}", NULL, NO_REFERENCE},
    {API, "{{secret:TOKEN}", NULL, NO_REFERENCE},
    {API, "{{secret:TOKEN", NULL, NO_REFERENCE},
    {API, "{{secret:", NULL, NO_REFERENCE},
    {API, "{{secret:TO KEN}}", NULL, NO_REFERENCE},
    {API, "{{secret:{{secret:TOKEN}}}}", NULL, NO_REFERENCE},
    {API, "{{secret:TOKEN\x1B}}", NULL, NO_REFERENCE},
    {API, "{{secret:ODD}}", NULL,
     "the secret 'ODD' is not for 'https://api.example.com:443'"},
    {API, "{{secret:TOKEN}} {{secret:ODD}}", NULL,
     "the secret 'ODD' is not for 'https://api.example.com:443'"},
    {API, "{{secret:BLOB}}", NULL,
     "the secret 'BLOB' is not for 'https://api.example.com:443'"},
    {{"a.b.example.org", 443, GBX_SCHEME_HTTPS, NULL},
     "{{secret:TOKEN}}",
     "tok-4f9a0c77e1b2",
     NULL},
    {{"example.org", 443, GBX_SCHEME_HTTPS, NULL},
     "{{secret:TOKEN}}",
     NULL,
     "the secret 'TOKEN' is not for 'https://example.org:443'"},
    {{"api.example.com", 8443, GBX_SCHEME_HTTPS, NULL},
     "{{secret:TOKEN}}",
     NULL,
     "the secret 'TOKEN' is not for 'https://api.example.com:8443'"},
    {{"api.example.com", 80, GBX_SCHEME_HTTP, NULL},
     "{{secret:TOKEN}}",
     NULL,
     "the secret 'TOKEN' is not for 'http://api.example.com:80'"},
    {{"odd.example", 8443, GBX_SCHEME_HTTPS, NULL}, "{{secret:ODD}}", ODD, NULL},
    {{"pin.example", 80, GBX_SCHEME_HTTP, NULL}, "{{secret:PIN}}", "8675309124", NULL},
    {{.function = "db.query"}, "{{secret:TOKEN}}", "tok-4f9a0c77e1b2", NULL},
    {{.function = "tools.any.thing"}, "{{secret:TOKEN}}", "tok-4f9a0c77e1b2", NULL},
    {{.function = "tools"},
     "{{secret:TOKEN}}",
     NULL,
     "the secret 'TOKEN' is not for 'tools'"},
    {{.function = "db.query2"},
     "{{secret:TOKEN}}",
     NULL,
     "the secret 'TOKEN' is not for 'db.query2'"},
    {{.function = "api.example.com"},
     "{{secret:TOKEN}}",
     NULL,
     "the secret 'TOKEN' is not for 'api.example.com'"},
    {{.function = "x"}, "{{secret:PIN}}", NULL, "the secret 'PIN' is not for 'x'"},
};

TEST(fill__gives_a_value_to_whom_it_is_listed_for_alone)
{
    for (size_t i = 0; i < GBX_COUNTOF(fills); i++) {
        gbx_error error = {0};
        gbx_buf out;
        gbx_status status;

        gbx_buf_init(&out, 1000);
        status = gbx_secrets_fill(policy, &fills[i].target, span_of(fills[i].text),
                                  &out, &error);

        if (fills[i].filled == NULL) {
            assert_int_equal(status, GBX_E_POLICY);
            assert_string_equal(error.message, fills[i].message);
            assert_int_equal(out.len, 0);
        } else {
            assert_int_equal(status, GBX_OK);
            assert_int_equal(out.len, strlen(fills[i].filled));
            if (out.len > 0)
                assert_memory_equal(out.data, fills[i].filled, out.len);
            assert_true(out.capacity <= out.len + 64); /* it never grew */
        }
        gbx_buf_cleanup(&out);
        assert_null(out.data);
    }
}

TEST(fill__that_does_not_fit_leaves_nothing)
{
    const gbx_secret_target to = API;
    gbx_error error = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out;
    gbx_buf_init(&out, 20);

    assert_int_equal(gbx_secrets_fill(policy, &to, span_of("Bearer {{secret:TOKEN}}"),
                                      &out, &error),
                     GBX_E_NOMEM);

    assert_int_equal(out.len, 0);
}

TEST(fill__of_the_stripped_gives_it_back)
{
    const gbx_secret_target to = API;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf back;
    bool changed;
    gbx_buf_init(&out, 100);
    gbx_buf_init(&back, 100);

    assert_true(gbx_secrets_strip(policy, GBX_SECRET_LINE,
                                  span_of("a tok-4f9a0c77e1b2 b"), &out, &changed));
    assert_true(gbx_secrets_are_in((gbx_span){out.data, out.len}));
    assert_int_equal(gbx_secrets_fill(policy, &to, (gbx_span){out.data, out.len}, &back,
                                      NULL),
                     GBX_OK);

    assert_memory_equal(back.data, "a tok-4f9a0c77e1b2 b", back.len);
    assert_false(gbx_secrets_are_in((gbx_span){back.data, back.len}));
}

TEST_MAIN(set_up, tear_down)
