/* SPDX-License-Identifier: MIT */
/* allow - the words of the flag --allow, secrets by hand, and the life of a policy. */
#include "base/cleanup.h"
#include "policy/policy.h"
#include "table.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state)
{
    (void)unsetenv("GBX_TEST_UNSET");
    *state = NULL;
    return setenv("GBX_TEST_TOKEN", "t0ken-of-the-test", 1);
}

static const struct {
    const char *grant;
    uint32_t capabilities;
    size_t sites, roots, env, functions;
} good[] = {
    {"console", GBX_CAP_CONSOLE, 0, 0, 0, 0},
    {"timers", GBX_CAP_TIMERS, 0, 0, 0, 0},
    {"crypto", GBX_CAP_CRYPTO, 0, 0, 0, 0},
    {"fetch=api.example.com", GBX_CAP_FETCH, 1, 0, 0, 0},
    {"fetch=api.example.com,*.example.org,http://localhost:8080", GBX_CAP_FETCH, 3, 0,
     0, 0},
    {"file=/usr", GBX_CAP_FILE, 0, 1, 0, 0},
    {"file=/usr,/etc,.", GBX_CAP_FILE, 0, 3, 0, 0},
    {"env=GBX_TEST_TOKEN", GBX_CAP_ENV, 0, 0, 1, 0},
    {"env=GBX_TEST_TOKEN,A=b,EMPTY=,EQ=a=b", GBX_CAP_ENV, 0, 0, 4, 0},
    {"functions=db.query", 0, 0, 0, 0, 1},
    {"functions=db.query,tools.*,$f", 0, 0, 0, 0, 3},
};

TEST(good__is_added)
{
    for (size_t i = 0; i < GBX_COUNTOF(good); i++) {
        gbx_policy *policy = gbx_policy_new();
        gbx_error error = {0};

        assert_non_null(policy);
        if (gbx_policy_allow(policy, good[i].grant, &error) != GBX_OK)
            fail_msg("'%s': %s", good[i].grant, error.message);
        assert_int_equal(policy->capabilities, good[i].capabilities | GBX_CAP_HELPERS);
        assert_int_equal(policy->fetch.site_count, good[i].sites);
        assert_int_equal(policy->file.root_count, good[i].roots);
        assert_int_equal(policy->env_count, good[i].env);
        assert_int_equal(policy->function_count, good[i].functions);
        gbx_policy_free(policy);
    }
}

static bool refuses(const char *grant, unsigned column, const char *message)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_error e = {0};
    bool is_right;

    assert_non_null(policy);
    is_right = gbx_policy_allow(policy, grant, &e) == GBX_E_POLICY && e.line == 1 &&
               e.column == column && strncmp(e.message, message, strlen(message)) == 0;
    if (!is_right)
        print_error("'%s': column %u: %s\n", grant, e.column, e.message);
    assert_int_equal(policy->capabilities, GBX_CAP_HELPERS);
    assert_int_equal(policy->fetch.site_count, 0);
    assert_int_equal(policy->file.root_count, 0);
    assert_int_equal(policy->env_count, 0);
    assert_int_equal(policy->function_count, 0);
    gbx_policy_free(policy);
    return is_right;
}

static bool check_lines(char *head, char *text, size_t len)
{
    bool is_right = len > 0 && strcmp(head, "refused") == 0;

    while (*text != '\0') {
        char *line = table_word(&text, "\n");
        unsigned column = (unsigned)strtoul(table_word(&line, " "), NULL, 10);
        const char *grant = table_word(&line, " | ");

        is_right = refuses(grant, column, line) && is_right;
    }
    return is_right;
}

TEST(bad__is_refused_at_its_column_and_changes_nothing)
{
    table_check("unit/policy/grants.txt", check_lines, 1);
    assert_true(refuses("\x1b[31m", 1, "unknown capability '\\u{1b}[31m'"));
    assert_true(refuses("env=A=\xff", 5, "the value is not UTF-8"));
}

TEST(again__is_no_slip_in_another_flag)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_error error = {0};

    for (int i = 0; i < 2; i++) {
        assert_int_equal(gbx_policy_allow(policy, "fetch=a.example", &error), GBX_OK);
        assert_int_equal(gbx_policy_allow(policy, "file=/usr", &error), GBX_OK);
        assert_int_equal(gbx_policy_allow(policy, "env=A=b", &error), GBX_OK);
        assert_int_equal(gbx_policy_allow(policy, "functions=f", &error), GBX_OK);
    }
    assert_int_equal(policy->fetch.site_count, 1);
    assert_int_equal(policy->file.root_count, 1);
    assert_int_equal(policy->env_count, 1);
    assert_int_equal(policy->function_count, 1);
    assert_int_equal(gbx_policy_allow(policy, "env=A=c", &error), GBX_E_POLICY);
    gbx_policy_free(policy);
}

TEST(secret__is_for_sites_and_functions)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_error error = {0};

    assert_int_equal(gbx_policy_secret(policy, "TOKEN", "hunter2hunter2",
                                       "a.example,*.b.example", "db.query,tools.*",
                                       &error),
                     GBX_OK);
    assert_int_equal(policy->capabilities, GBX_CAP_HELPERS);
    assert_int_equal(policy->secret_count, 1);
    assert_string_equal(policy->secrets[0].value, "hunter2hunter2");
    assert_int_equal(policy->secrets[0].value_len, 14);
    assert_int_equal(policy->secrets[0].site_count, 2);
    assert_int_equal(policy->secrets[0].function_count, 2);
    gbx_policy_free(policy);
}

static const struct {
    const char *name, *value, *sites, *functions;
    gbx_status status;
    unsigned column;
    const char *message;
} bad_secrets[] = {
    {"TOKEN", "hunter2hunter2", NULL, NULL, GBX_E_USAGE, 0, "a secret is for sites"},
    {NULL, "hunter2hunter2", "a.example", NULL, GBX_E_USAGE, 0,
     "policy, name or value is NULL"},
    {"TOKEN", NULL, "a.example", NULL, GBX_E_USAGE, 0, "policy, name or value is NULL"},
    {"", "hunter2hunter2", "a.example", NULL, GBX_E_POLICY, 1, "the name is missing"},
    {"A B", "hunter2hunter2", "a.example", NULL, GBX_E_POLICY, 2,
     "'A B' is not a name"},
    {"A", "abc", "a.example", NULL, GBX_E_POLICY, 1, "the value of a secret has from"},
    {"A", "hunter2hunter2\r\nX: y", "a.example", NULL, GBX_E_POLICY, 1,
     "the value of a secret"},
    {"A", "hunter2hunter2", "", NULL, GBX_E_POLICY, 1, "the site is missing"},
    {"A", "hunter2hunter2", "a.example,", NULL, GBX_E_POLICY, 11,
     "the site is missing"},
    {"A", "hunter2hunter2", "a.example,*", NULL, GBX_E_POLICY, 11,
     "'*' would allow every"},
    {"A", "hunter2hunter2", "a.example,a.example", NULL, GBX_E_POLICY, 11,
     "'a.example' is list"},
    {"A", "hunter2hunter2", NULL, "", GBX_E_POLICY, 1, "the name is missing"},
    {"A", "hunter2hunter2", "a.example", "db.query,db.", GBX_E_POLICY, 13,
     "'db.' is not a name"},
    {"OLD", "hunter2hunter2", "a.example", NULL, GBX_E_POLICY, 1,
     "'OLD' is listed twice"},
};

TEST(bad_secret__is_not_kept)
{
    static char too_long[GBX_SECRET_MAX + 2];
    gbx_policy *policy = gbx_policy_new();

    assert_int_equal(gbx_policy_secret(policy, "OLD", "hunter2hunter2", "a.example",
                                       NULL, NULL),
                     GBX_OK);
    for (size_t i = 0; i < GBX_COUNTOF(bad_secrets); i++) {
        gbx_error e = {0};

        assert_int_equal(gbx_policy_secret(policy, bad_secrets[i].name,
                                           bad_secrets[i].value, bad_secrets[i].sites,
                                           bad_secrets[i].functions, &e),
                         bad_secrets[i].status);
        assert_int_equal(e.column, bad_secrets[i].column);
        if (strncmp(e.message, bad_secrets[i].message, strlen(bad_secrets[i].message)))
            fail_msg("row %zu: %s", i, e.message);
        assert_null(strstr(e.message, "hunter2hunter2"));
        assert_int_equal(policy->secret_count, 1);
    }
    memset(too_long, 'v', GBX_SECRET_MAX + 1);
    assert_int_equal(gbx_policy_secret(policy, "A", too_long, "a.example", NULL, NULL),
                     GBX_E_POLICY);
    gbx_policy_free(policy);
}

TEST(secret_from__reads_a_variable_or_a_file)
{
    char path[] = "/tmp/gbx-secret-XXXXXX";
    int fd = mkstemp(path);
    gbx_policy *policy = gbx_policy_new();
    gbx_error error = {0};

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "in-a-file\n", 10), 10);
    assert_int_equal(close(fd), 0);
    assert_int_equal(gbx_policy_secret_from(policy, "A", "GBX_TEST_TOKEN", "a.b", NULL,
                                            &error),
                     GBX_OK);
    assert_int_equal(gbx_policy_secret_from(policy, "B", path, "a.b", NULL, &error),
                     GBX_OK);
    assert_string_equal(policy->secrets[0].value, "t0ken-of-the-test");
    assert_string_equal(policy->secrets[1].value, "in-a-file");
    assert_int_equal(policy->file.own_count, 1);
    assert_int_equal(gbx_policy_secret_from(policy, "C", "GBX_TEST_UNSET", "a.b", NULL,
                                            &error),
                     GBX_E_POLICY);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(gbx_policy_secret_from(policy, "C", path, "a.b", NULL, &error),
                     GBX_E_POLICY);
    assert_int_equal(gbx_policy_secret_from(policy, "C", "/dev/zero", "a.b", NULL,
                                            &error),
                     GBX_E_POLICY);
    assert_int_equal(policy->secret_count, 2);
    gbx_policy_free(policy);
}

TEST(secret_from__refuses_a_file_that_others_can_read)
{
    char path[] = "/tmp/gbx-secret-XXXXXX";
    int fd = mkstemp(path);
    gbx_policy *policy = gbx_policy_new();
    gbx_policy *trusting = NULL;
    gbx_error error = {0};
    bool is_roots = geteuid() == 0; /* then it is taken */

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "in-a-file\n", 10), 10);
    assert_int_equal(fchmod(fd, 0604), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(gbx_policy_secret_from(policy, "A", path, "a.b", NULL, &error),
                     is_roots ? GBX_OK : GBX_E_POLICY);
    if (is_roots)
        assert_non_null(strstr(gbx_policy_warning(policy, 0), path));
    assert_null(gbx_policy_warning(policy, is_roots));
    assert_int_equal(chmod(path, 0606), 0);
    assert_int_equal(gbx_policy_secret_from(policy, "B", path, "a.b", NULL, &error),
                     GBX_E_POLICY);
    assert_non_null(strstr(error.message, "chmod go-rw /tmp/gbx-secret-"));
    assert_int_equal(gbx_policy_parse_with("{}", 2, NULL, GBX_POLICY_TRUST_FILES,
                                           &trusting, &error),
                     GBX_OK);
    assert_int_equal(gbx_policy_secret_from(trusting, "B", path, "a.b", NULL, &error),
                     GBX_OK);
    assert_int_equal(unlink(path), 0);
    gbx_policy_free(trusting);
    gbx_policy_free(policy);
}

TEST(a_policy_in_use__is_not_changed)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_error error = {0};

    assert_ptr_equal(gbx_policy_ref(policy), policy);
    assert_int_equal(gbx_policy_allow(policy, "crypto", &error), GBX_E_USAGE);
    assert_int_equal(gbx_policy_secret(policy, "A", "hunter2hunter2", "a.b", NULL,
                                       &error),
                     GBX_E_USAGE);
    assert_int_equal(policy->capabilities, GBX_CAP_HELPERS);
    gbx_policy_free(policy);
    assert_int_equal(gbx_policy_allow(policy, "crypto", &error), GBX_OK);
    gbx_policy_free(policy);
    gbx_policy_free(NULL);
}

static const struct {
    const char *pattern;
    const char *name;
    bool allowed;
} functions[] = {
    {"db.query", "db.query", true}, {"db.query", "db.query2", false},
    {"db.query", "db", false},      {"db.query", "db.quer", false},
    {"db.*", "db.query", true},     {"db.*", "db.sub.query", true},
    {"db.*", "db", false},          {"db.*", "db.", false},
    {"db.*", "dbx.query", false},   {"*", "now", true},
    {"*", "db.query", true},        {"now", "now", true},
    {"now", "now.then", false},     {"now", "", false},
};

TEST(functions__are_named_one_by_one_or_below_a_name)
{
    for (size_t i = 0; i < GBX_COUNTOF(functions); i++) {
        gbx_policy *policy = gbx_policy_new();
        char grant[64] = "functions=";

        strcat(grant, functions[i].pattern);
        assert_int_equal(gbx_policy_allow(policy, grant, NULL), GBX_OK);
        if (gbx_policy_allows_function(policy, functions[i].name) !=
            functions[i].allowed)
            fail_msg("'%s' and '%s'", functions[i].pattern, functions[i].name);
        gbx_policy_free(policy);
    }
    assert_false(gbx_policy_allows_function(NULL, "now"));
}

TEST_MAIN(setup, NULL)
