/* SPDX-License-Identifier: MIT */
/* nearest - which of the words that there are may have been meant. */
#include "base/edit_distance.h"
#include "test.h"

#include "base/cleanup.h"

static const char *const tools[] = {
    "read_text_file",           "list_directory",
    "create_entities",          "get-sum",
    "\xe6\x97\xa5\xe6\x9c\xac", "list_repository_vulnerability_alerts_for_organization",
};

static const char *name_near(const char *name)
{
    return gbx_nearest_name(name, tools, GBX_COUNTOF(tools));
}

TEST(name__case_and_what_is_between_words_do_not_count)
{
    assert_string_equal(name_near("readTextFil"), "read_text_file");
    assert_string_equal(name_near("READ-TXT-FILE"), "read_text_file");
    assert_string_equal(name_near("getSumm"), "get-sum");
}

TEST(name__a_long_one_may_differ_in_more)
{
    assert_string_equal(name_near("create_entity"), "create_entities");
    assert_string_equal(name_near("list_directories"), "list_directory");
    assert_string_equal(name_near(
                            "list_repository_vulnerability_alert_for_organisation"),
                        tools[5]);
}

TEST(name__another_one_is_not_near)
{
    assert_null(name_near("delete_branch"));
    assert_null(name_near("sum"));
    assert_null(name_near(""));
    assert_null(name_near("_"));
    assert_null(
        name_near("-----------------------------------------"
                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
}

TEST(name__what_was_begun_is_near)
{
    assert_string_equal(name_near("readText"), "read_text_file");
    assert_string_equal(name_near("\xe6\x97\xa5"), tools[4]);
}

TEST(word__is_near_by_two_edits_and_its_case_counts)
{
    static const char *const words[] = {"timeoutMs", "calls"};

    assert_string_equal(gbx_nearest("timeoutms", words, 2), "timeoutMs");
    assert_string_equal(gbx_nearest("cals", words, 2), "calls");
    assert_null(gbx_nearest("TIMEOUTMS", words, 2));
}

/* Names that are given up early hide none behind them. */
TEST(word__the_nearest_is_found_wherever_it_stands)
{
    static const char *const words[] = {"abcdefgh", "xbcdefg", "abcdefx", "cdefg"};

    assert_string_equal(gbx_nearest("abcdefgy", words, 4), "abcdefgh");
    assert_string_equal(gbx_nearest("xbcdefz", words, 4), "xbcdefg");
    assert_string_equal(gbx_nearest("bcdefx", words, 4), "abcdefx");
    assert_string_equal(gbx_nearest("cdxfg", words, 4), "cdefg");
    assert_null(gbx_nearest("zzcdefgzz", words, 4));
}

TEST_MAIN(NULL, NULL)
