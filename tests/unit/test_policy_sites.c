/* SPDX-License-Identifier: MIT */
/* site - what may be listed, in which one form it is kept, and what it then matches. */
#include "base/cleanup.h"
#include "policy/policy.h"
#include "table.h"
#include "test.h"

static bool is_kept(char *line)
{
    const char *entry = table_word(&line, " -> ");
    gbx_site site = {0};
    gbx_error error = {0};
    char text[GBX_SITE_TEXT_SIZE];
    bool loopback = *line == '!';
    bool is_right;

    if (gbx_site_parse(entry, strlen(entry), &site, &error) != GBX_OK)
        fail_msg("'%s': %s", entry, error.message);
    is_right = strcmp(gbx_site_print(&site, text), line + loopback) == 0 &&
               site.loopback == loopback;
    if (!is_right)
        print_error("'%s' is kept as %s\n", entry, text);
    free(site.host);
    return is_right;
}

static bool refuses(const char *entry, unsigned column, const char *message)
{
    size_t len = strlen(entry);
    char *copy = malloc(len + 1); /* of its own size: a step past it is seen */
    gbx_site site = {0};
    gbx_error e = {0};
    bool is_right;

    assert_non_null(copy);
    memcpy(copy, entry, len);
    is_right = gbx_site_parse(copy, len, &site, &e) == GBX_E_POLICY && e.line == 1 &&
               e.column == column && strncmp(e.message, message, strlen(message)) == 0;
    if (!is_right)
        print_error("'%s': column %u: %s\n", entry, e.column, e.message);
    assert_null(site.host);
    free(copy);
    return is_right;
}

static bool is_refused(char *line)
{
    unsigned column = (unsigned)strtoul(table_word(&line, " "), NULL, 10);
    const char *entry = table_word(&line, " | ");

    return refuses(entry, column, line);
}

static gbx_site site_of(const char *entry)
{
    gbx_site site = {0};

    assert_int_equal(gbx_site_parse(entry, strlen(entry), &site, NULL), GBX_OK);
    return site;
}

static bool is_matched(char *line)
{
    bool wanted = strcmp(table_word(&line, " "), "yes") == 0;
    const char *entry = table_word(&line, " ");
    gbx_site site = site_of(entry);
    bool is_https = strcmp(table_word(&line, " "), "https") == 0;
    const char *host = table_word(&line, " ");
    bool got = gbx_site_matches(&site, strcmp(host, "-") == 0 ? "" : host,
                                (uint16_t)strtoul(line, NULL, 10),
                                is_https ? GBX_SCHEME_HTTPS : GBX_SCHEME_HTTP);

    if (got != wanted)
        print_error("'%s' and '%s'\n", entry, host);
    free(site.host);
    return got == wanted;
}

static bool is_covered(char *line)
{
    bool wanted = strcmp(table_word(&line, " "), "yes") == 0;
    gbx_site wide = site_of(table_word(&line, " "));
    gbx_site narrow = site_of(line);
    bool got = gbx_site_covers(&wide, &narrow);

    if (got != wanted)
        print_error("'%s' and '%s'\n", wide.host, line);
    free(wide.host);
    free(narrow.host);
    return got == wanted;
}

static bool check_lines(char *head, char *text, size_t len)
{
    bool (*check)(char *line) = strcmp(head, "kept") == 0      ? is_kept
                                : strcmp(head, "refused") == 0 ? is_refused
                                : strcmp(head, "matches") == 0 ? is_matched
                                                               : is_covered;
    bool is_right = len > 0;

    while (*text != '\0')
        is_right = check(table_word(&text, "\n")) && is_right;
    return is_right;
}

TEST(sites__are_kept_refused_and_matched_as_the_table_says)
{
    table_check("unit/policy/sites.txt", check_lines, 4);
}

TEST(sites__with_bytes_that_a_table_cannot_show_are_refused)
{
    assert_true(refuses("example.com\n", 12, "a host has no white space"));
    assert_true(refuses("example\x01.com", 8, "a host has no control characters"));
    assert_true(refuses("example\x7f.com", 8, "a host has no control characters"));
    assert_true(refuses("\xff.example", 1, "a host is ASCII"));
}

/* Loopback is said by the entry itself: a wide one that does not say it covers none. */
TEST(covering__does_not_open_loopback)
{
    gbx_site wide = {0};
    gbx_site narrow = {0};

    assert_int_equal(gbx_site_parse("a.example", 9, &wide, NULL), GBX_OK);
    assert_int_equal(gbx_site_parse("a.example", 9, &narrow, NULL), GBX_OK);
    narrow.loopback = true;
    assert_false(gbx_site_covers(&wide, &narrow));
    free(wide.host);
    free(narrow.host);
}

TEST_MAIN(NULL, NULL)
