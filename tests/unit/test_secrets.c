/* SPDX-License-Identifier: MIT */
/* secrets - which values can be one, where they lie, and whom they are filled in for. */
#include "base/cleanup.h"
#include "secret_values.h"
#include "table.h"
#include "test.h"

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
/* "https://api.example.com:443", or the name of a function; what it points to is the text's. */
static gbx_secret_target target_of(const char *text, char *host, size_t size)
{
    gbx_secret_target target = {.function = text};
    unsigned port;
    char scheme[8];

    assert_true(strlen(text) < size);
    if (sscanf(text, "%7[a-z]://%[^:]:%u", scheme, host, &port) == 3)
        target = (gbx_secret_target){.host = host,
                                     .port = (uint16_t)port,
                                     .scheme = strcmp(scheme, "https") == 0
                                                   ? GBX_SCHEME_HTTPS
                                                   : GBX_SCHEME_HTTP};
    return target;
}

/* filled: NULL if it is refused, with that message. */
static void check_fill(const char *to, const char *text, const char *filled,
                       const char *message)
{
    char host[64];
    gbx_secret_target target = target_of(to, host, sizeof host);
    gbx_error error = {0};
    gbx_status status;
    gbx_buf out;

    gbx_buf_init(&out, 1000);
    status = gbx_secrets_fill(policy, &target, gbx_span_of(text), &out, &error);
    if (filled == NULL) {
        assert_int_equal(status, GBX_E_POLICY);
        assert_string_equal(error.message, message);
        assert_int_equal(out.len, 0);
    } else {
        assert_int_equal(status, GBX_OK);
        assert_int_equal(out.len, strlen(filled));
        if (out.len > 0)
            assert_memory_equal(out.data, filled, out.len);
        assert_true(out.capacity <= out.len + 64); /* it never grew */
    }
    gbx_buf_cleanup(&out);
    assert_null(out.data);
}

TEST(fill__gives_a_value_to_whom_it_is_listed_for_alone)
{
    const table_line *rows;
    size_t count = table_lines("unit/policy/secret_fills.txt", "fills", true, &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        bool is_filled = strcmp(cell[2], "OK") == 0;

        print_message("line %u\n", rows[i].number);
        check_fill(cell[0], cell[1], is_filled ? cell[3] : NULL, cell[3]);
    }
    check_fill("https://odd.example:8443", "{{secret:ODD}}", ODD, NULL);
}

TEST(fill__that_does_not_fit_leaves_nothing)
{
    const gbx_secret_target to = API;
    gbx_error error = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out;
    gbx_buf_init(&out, 20);

    assert_int_equal(gbx_secrets_fill(policy, &to,
                                      gbx_span_of("Bearer {{secret:TOKEN}}"), &out,
                                      &error),
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
                                  gbx_span_of("a tok-4f9a0c77e1b2 b"), NULL, &out,
                                  &changed));
    assert_true(gbx_secrets_are_in((gbx_span){out.data, out.len}));
    assert_int_equal(gbx_secrets_fill(policy, &to, (gbx_span){out.data, out.len}, &back,
                                      NULL),
                     GBX_OK);

    assert_memory_equal(back.data, "a tok-4f9a0c77e1b2 b", back.len);
    assert_false(gbx_secrets_are_in((gbx_span){back.data, back.len}));
}

TEST_MAIN(secret_values_begin, secret_values_end)
