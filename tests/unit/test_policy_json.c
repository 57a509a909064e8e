/* SPDX-License-Identifier: MIT */
/*
 * policy_json - every document of policy/documents.txt, and what good ones come to. The
 * schema is held against the same documents by schema.mjs.
 */
#include "documents.h"
#include "scratch.h"
#include "test.h"

#include "base/cleanup.h"
#include "policy/policy.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state)
{
    (void)umask(077);
    if (scratch_begin(state) != 0)
        return -1;
    scratch_folder("data");
    scratch_folder("other");
    scratch_write("data/one.json", "{}");
    scratch_write("data/token", "t0ken-in-a-file\r\n");
    (void)unsetenv("GBX_TEST_UNSET");
    return setenv("GBX_TEST_TOKEN", "t0ken-of-the-test", 1);
}

static gbx_policy *parse(const char *json)
{
    gbx_policy *policy = NULL;
    gbx_error error = {0};

    if (gbx_policy_parse(json, strlen(json), scratch, &policy, &error) != GBX_OK)
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
    return policy;
}

/* ---- the documents --------------------------------------------------------- */

static gbx_status try_text(const char *text, size_t len, gbx_error *reterr)
{
    gbx_policy *policy = NULL;
    gbx_status status = gbx_policy_parse(text, len, scratch, &policy, reterr);

    assert_int_equal(status == GBX_OK, policy != NULL);
    gbx_policy_free(policy);
    return status;
}

TEST(documents__are_taken_or_refused_at_their_places)
{
    documents_check("unit/policy/documents.txt", try_text, 140);
}

/* ---- what they come to ------------------------------------------------------- */

TEST(empty__allows_nothing_and_has_the_documented_defaults)
{
    gbx_policy *policy = parse("{}");

    assert_int_equal(policy->capabilities, GBX_CAP_HELPERS);
    assert_int_equal(policy->fetch.max_bytes, 10 << 20);
    assert_int_equal(policy->fetch.max_request_bytes, 1 << 20);
    assert_int_equal(policy->fetch.timeout_ms, 30000);
    assert_int_equal(policy->fetch.max_redirects, 5);
    assert_int_equal(policy->file.max_bytes, 1 << 20);
    assert_false(gbx_policy_allows_function(policy, "db.query"));
    assert_int_equal(policy->limits.timeout_ms, 0);
    gbx_policy_free(policy);
}

TEST(fetch__fills_every_field)
{
    gbx_policy *policy = parse(
        "{\"fetch\": {\"allow\": [\"*.Example.org:8443\"], \"networks\": [\"10.0.0.0/8\"],"
        "\"methods\": [\"GET\"], \"maxBytes\": 7, \"maxRequestBytes\": 8, \"timeoutMs\": 9,"
        "\"maxRedirects\": 0, \"nameservers\": [\"9.9.9.9\", \"[::1]:5353\"],"
        "\"caFile\": \"data/one.json\"}}");
    const gbx_fetch_policy *f = &policy->fetch;
    char text[GBX_SITE_TEXT_SIZE];

    assert_int_equal(policy->capabilities, GBX_CAP_FETCH | GBX_CAP_HELPERS);
    assert_int_equal(f->site_count, 1);
    assert_string_equal(gbx_site_print(&f->sites[0], text),
                        "https://*.example.org:8443");
    assert_int_equal(f->network_count, 1);
    assert_int_equal(f->networks[0].prefix_bits, 104);
    assert_int_equal(f->networks[0].address[12], 10);
    assert_int_equal(f->method_count, 1);
    assert_string_equal(f->methods[0], "GET");
    assert_int_equal(f->max_bytes, 7);
    assert_int_equal(f->max_request_bytes, 8);
    assert_int_equal(f->timeout_ms, 9);
    assert_int_equal(f->max_redirects, 0);
    assert_int_equal(f->nameserver_count, 2);
    assert_string_equal(f->nameservers[0], "9.9.9.9:53");
    assert_string_equal(f->nameservers[1], "[::1]:5353");
    assert_string_equal(f->ca_file, scratch_path("data/one.json"));
    gbx_policy_free(policy);
}

TEST(file__opens_the_directories)
{
    gbx_policy *policy =
        parse("{\"file\": {\"allow\": [\"./data\"], \"maxBytes\": 3}}");
    struct stat by_path;
    struct stat by_fd;
    const char *path = scratch_path("data");

    assert_int_equal(policy->capabilities, GBX_CAP_FILE | GBX_CAP_HELPERS);
    assert_int_equal(policy->file.root_count, 1);
    assert_string_equal(policy->file.roots[0].path, path);
    assert_string_equal(policy->file.roots[0].name, "./data");
    assert_int_equal(policy->file.max_bytes, 3);
    assert_int_equal(stat(path, &by_path), 0);
    assert_int_equal(fstat(policy->file.roots[0].fd, &by_fd), 0);
    assert_int_equal(by_path.st_ino, by_fd.st_ino);
    gbx_policy_free(policy);
}

TEST(values__come_from_the_file_and_from_the_environment)
{
    gbx_policy *policy =
        parse("{\"env\": {\"A\": \"x\", \"B\": {\"from\": \"GBX_TEST_TOKEN\"}},"
              "\"secrets\": {\"S\": {\"functions\": [\"db.*\"], \"sites\": "
              "[\"a.example\", \"b.example\"], \"from\": \"GBX_TEST_TOKEN\"}}}");

    assert_int_equal(policy->capabilities, GBX_CAP_ENV | GBX_CAP_HELPERS);
    assert_int_equal(policy->env_count, 2);
    assert_string_equal(policy->env[0].name, "A");
    assert_string_equal(policy->env[0].value, "x");
    assert_string_equal(policy->env[1].value, "t0ken-of-the-test");
    assert_int_equal(policy->env[1].value_len, 17);
    assert_int_equal(policy->secret_count, 1);
    assert_string_equal(policy->secrets[0].name, "S");
    assert_string_equal(policy->secrets[0].value, "t0ken-of-the-test");
    assert_int_equal(policy->secrets[0].site_count, 2);
    assert_int_equal(policy->secrets[0].function_count, 1);
    gbx_policy_free(policy);
}

TEST(a_file__gives_its_secret_and_is_never_read_by_code)
{
    gbx_policy *policy = parse("{\"secrets\": {\"S\": {\"file\": \"data/token\","
                               "\"sites\": [\"a.example\"]}}}");
    struct stat st;

    assert_int_equal(stat(scratch_path("data/token"), &st), 0);
    assert_string_equal(policy->secrets[0].value, "t0ken-in-a-file");
    assert_int_equal(policy->file.own_count, 1);
    assert_int_equal(policy->file.own[0].inode, st.st_ino);
    gbx_policy_free(policy);
}

TEST(limits_and_switches__are_kept)
{
    gbx_policy *policy = parse(
        "{\"console\": true, \"timers\": false, \"crypto\": true, \"functions\": [\"*\"],"
        "\"helpers\": false,"
        "\"limits\": {\"timeoutMs\": 1, \"cpuMs\": 2, \"memoryBytes\": 8388608,"
        "\"outputBytes\": 4, \"codeBytes\": 5, \"logBytes\": 6}}");

    assert_int_equal(policy->capabilities, GBX_CAP_CONSOLE | GBX_CAP_CRYPTO);
    assert_true(gbx_policy_allows_function(policy, "any.thing"));
    assert_int_equal(policy->limits.timeout_ms, 1);
    assert_int_equal(policy->limits.cpu_ms, 2);
    assert_int_equal(policy->limits.memory_bytes, 8388608);
    assert_int_equal(policy->limits.output_bytes, 4);
    assert_int_equal(policy->limits.code_bytes, 5);
    assert_int_equal(policy->limits.log_bytes, 6);
    gbx_policy_free(policy);
}

/* ---- hostile text ------------------------------------------------------------- */

TEST(every_truncation__is_refused_with_a_position)
{
    static const char good[] =
        "{\"fetch\": {\"allow\": [\"b\\u00fccher.example\"], \"maxBytes\": 12},"
        "\"file\": {\"allow\": [\"data\"]}, \"env\": {\"A\": {\"from\": "
        "\"GBX_TEST_TOKEN\"}}}";

    for (size_t len = 0; len < sizeof good - 1; len++) {
        /* Of its own size, so that a step past the end is seen. */
        char *copy = malloc(len + 1);
        gbx_policy *policy = NULL;
        gbx_error error = {0};

        assert_non_null(copy);
        memcpy(copy, good, len);
        assert_int_equal(gbx_policy_parse(copy, len, scratch, &policy, &error),
                         GBX_E_POLICY);
        assert_int_equal(error.line, 1);
        assert_in_range(error.column, 1, len + 1);
        free(copy);
    }
}

TEST(a_policy__is_at_most_a_mebibyte)
{
    size_t len = GBX_MIB(1);
    char *text = malloc(len + 1);
    gbx_policy *policy = NULL;
    gbx_error error = {0};

    assert_non_null(text);
    memset(text, ' ', len + 1);
    text[0] = '{';
    text[1] = '}';
    assert_int_equal(gbx_policy_parse(text, len, scratch, &policy, &error), GBX_OK);
    gbx_policy_free(policy);
    assert_int_equal(gbx_policy_parse(text, len + 1, scratch, &policy, &error),
                     GBX_E_POLICY);
    assert_string_equal(error.message, "the policy is larger than 1048576 bytes");
    free(text);
}

TEST(a_list__has_at_most_a_thousand_entries)
{
    static const struct {
        const char *begin, *before, *after, *end; /* before and after a number */
        const char *message;
    } rows[] = {
        {"{\"fetch\": {\"allow\": [", "\"h", ".example\"", "]}}",
         "fetch.allow[1000]: there are more than 1000 sites"},
        {"{\"fetch\": {\"networks\": [", "\"fd00::", "\"", "]}}",
         "fetch.networks[1000]: there are more than 1000 networks"},
        {"{\"fetch\": {\"nameservers\": [", "\"[fd00::", "]\"", "]}}",
         "fetch.nameservers[1000]: there are more than 1000 name servers"},
        {"{\"functions\": [", "\"f", "\"", "]}",
         "functions[1000]: there are more than 1000 functions"},
        {"{\"env\": {", "\"V", "\": \"\"", "}}",
         "env.V1000: there are more than 1000 variables"},
        {"{\"secrets\": {", "\"S",
         "\": {\"value\": \"abcdefgh\", \"sites\": [\"a.b\"]}", "}}",
         "secrets.S1000: there are more than 1000 secrets"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json;
        gbx_policy *policy = NULL;
        gbx_error error = {0};

        gbx_buf_init(&json, GBX_MIB(1));
        for (int n = 0; n < 1001; n++)
            (void)gbx_buf_printf(&json, "%s%s%d%s", n == 0 ? rows[i].begin : ",",
                                 rows[i].before, n, rows[i].after);
        assert_true(gbx_buf_puts(&json, rows[i].end));
        assert_int_equal(gbx_policy_parse((char *)json.data, json.len, scratch, &policy,
                                          &error),
                         GBX_E_POLICY);
        assert_string_equal(error.message, rows[i].message);
    }
}

TEST(variables__are_bounded_each_and_together)
{
    static const struct {
        int len; /* of each value */
        int count;
        const char *message; /* "": they are taken */
    } rows[] = {
        {65536, 1, ""},
        {65537, 1, "env.V0: the value is not UTF-8, or longer than 65536 bytes"},
        {65534, 2, ""},
        {65535, 2, "env.V1: the variables are longer than 131072 bytes together"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json;
        gbx_policy *policy = NULL;
        gbx_error error = {0};

        gbx_buf_init(&json, GBX_MIB(1));
        for (int v = 0; v < rows[i].count; v++)
            (void)gbx_buf_printf(&json, "%s\"V%d\": \"%0*d\"",
                                 v == 0 ? "{\"env\": {" : ",", v, rows[i].len, 0);
        assert_true(gbx_buf_puts(&json, "}}"));
        assert_int_equal(gbx_policy_parse((char *)json.data, json.len, scratch, &policy,
                                          &error),
                         rows[i].message[0] == '\0' ? GBX_OK : GBX_E_POLICY);
        assert_string_equal(error.message, rows[i].message);
        gbx_policy_free(policy);
    }
}

TEST(a_value__never_enters_a_message)
{
    static const char *const documents[] = {
        "{\"secrets\": {\"T\": {\"value\": \"hunter2hunter2\\n\", \"sites\": [\"a.b\"]}}}",
        "{\"secrets\": {\"T\": {\"value\": \"hunter2hunter2\", \"sites\": [\"*\"]}}}",
        "{\"secrets\": {\"T\": {\"value\": \"hunter2hunter2\", \"from\": \"X\"}}}",
        "{\"env\": {\"1\": \"hunter2hunter2\"}}",
        "{\"secrets\": {\"T\": {\"value\": [\"hunter2hunter2\"]}}}",
    };

    for (size_t i = 0; i < GBX_COUNTOF(documents); i++) {
        gbx_policy *policy = NULL;
        gbx_error error = {0};

        assert_int_equal(gbx_policy_parse(documents[i], strlen(documents[i]), scratch,
                                          &policy, &error),
                         GBX_E_POLICY);
        assert_null(strstr(error.message, "hunter2"));
    }
}

/* ---- from a file --------------------------------------------------------------- */

TEST(load__begins_at_the_files_own_directory)
{
    gbx_policy *policy = NULL;
    gbx_error error = {0};
    struct stat st;
    const char *path = scratch_path("policy.json");

    scratch_write("policy.json", "{\"file\": {\"allow\": [\"data\"]}}");
    assert_int_equal(gbx_policy_load(path, &policy, &error), GBX_OK);
    assert_int_equal(policy->file.root_count, 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(policy->file.own_count, 1);
    assert_int_equal(policy->file.own[0].inode, st.st_ino);
    gbx_policy_free(policy);
}

TEST(load__says_what_cannot_be_read)
{
    gbx_policy *policy = NULL;
    gbx_error error = {0};

    assert_int_equal(gbx_policy_load(scratch_path("missing.json"), &policy, &error),
                     GBX_E_OS);
    assert_int_equal(gbx_policy_load(scratch, &policy, &error), GBX_E_OS);
    assert_int_equal(gbx_policy_load("/dev/zero", &policy, &error), GBX_E_POLICY);
    assert_string_equal(error.message,
                        "the policy '/dev/zero' is larger than 1048576 bytes");
    assert_null(policy);
}

/* A policy and what it names, each in a file that others can change. */
TEST(load__refuses_files_that_others_can_change)
{
    static const char *const texts[] = {
        "{}",
        "{\"secrets\": {\"S\": {\"file\": \"data/token\", \"sites\": [\"a.b\"]}}}",
        "{\"fetch\": {\"allow\": [\"a.b\"], \"caFile\": \"data/one.json\"}}"};
    static const char *const open_to_others[] = {"policy.json", "data/token",
                                                 "data/one.json"};

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        gbx_policy *policy = NULL;
        gbx_error error = {0};
        const char *path = scratch_path("policy.json");
        const char *other = scratch_path(open_to_others[i]);

        scratch_write("policy.json", texts[i]);
        assert_int_equal(chmod(other, 0622), 0);
        assert_int_equal(gbx_policy_load(path, &policy, &error),
                         i == 0 ? GBX_E_OS : GBX_E_POLICY);
        assert_int_equal(error.os_errno, i == 0 ? EPERM : 0);
        assert_non_null(strstr(error.message, other));
        assert_non_null(strstr(error.message, " is refused, since others may "));
        assert_int_equal(gbx_policy_load_with(path, GBX_POLICY_TRUST_FILES, &policy,
                                              &error),
                         GBX_OK);
        gbx_policy_free(policy);
        assert_int_equal(chmod(other, 0600), 0);
        assert_int_equal(gbx_policy_load(path, &policy, &error), GBX_OK);
        assert_null(gbx_policy_warning(policy, 0));
        gbx_policy_free(policy);
    }
}

TEST(flags__that_mean_nothing_are_wrong_use)
{
    gbx_policy *policy = NULL;

    assert_int_equal(gbx_policy_load_with(scratch_path("policy.json"), 2, &policy,
                                          NULL),
                     GBX_E_USAGE);
    assert_int_equal(gbx_policy_parse_with("{}", 2, NULL, 3, &policy, NULL),
                     GBX_E_USAGE);
    assert_null(policy);
}

TEST_MAIN(setup, scratch_end)
