/* SPDX-License-Identifier: MIT */
/* From --data to JSON: specs and files. */
#include "base/cleanup.h"
#include "base/json.h"
#include "sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_specs__are_names_and_files(void **state)
{
    gbx_spec spec;
    (void)state;

    assert_int_equal(gbx_spec_parse("a=b.csv", &spec, NULL), GBX_OK);
    assert_string_equal(spec.name, "a");
    assert_string_equal(spec.path, "b.csv");
    assert_int_equal(spec.format, GBX_SPEC_CSV);
    gbx_spec_cleanup(&spec);
    assert_int_equal(gbx_spec_parse("$_1=tsv:x=y", &spec, NULL), GBX_OK);
    assert_string_equal(spec.path, "x=y");
    assert_int_equal(spec.format, GBX_SPEC_TSV);
    gbx_spec_cleanup(&spec);
    assert_int_equal(
        gbx_spec_parse("d=sqlite:/x.db?query=SELECT%20*%20FROM t WHERE a LIKE '%25x'",
                       &spec, NULL),
        GBX_OK);
    assert_string_equal(spec.path, "/x.db");
    assert_string_equal(spec.query, "SELECT * FROM t WHERE a LIKE '%x'");
    gbx_spec_cleanup(&spec);
}

static void test_specs__that_are_none_say_why(void **state)
{
    (void)state;

    refused("orders.csv", GBX_E_USAGE, "NAME=FILE");
    refused("=x.csv", GBX_E_USAGE, "the name of a dataset");
    refused("1a=x.csv", GBX_E_USAGE, "the name of a dataset");
    refused("a-b=x.csv", GBX_E_USAGE, "the name of a dataset");
    refused("class=x.csv", GBX_E_USAGE, "'class' is a word of JavaScript");
    refused("let=x.csv", GBX_E_USAGE, "write 'let_'");
    refused("a=", GBX_E_USAGE, "has no file");
    refused("a=csv:", GBX_E_USAGE, "has no file");
    refused("a=x.db", GBX_E_USAGE, "a=sqlite:FILE?query=SELECT");
    refused("a=sqlite:x.db", GBX_E_USAGE, "say what to read");
    refused("a=sqlite:x?query=SELECT '%x'", GBX_E_USAGE, "%25");
    refused("a=sqlite:x?query=%00", GBX_E_USAGE, "%25");
    refused("a=sqlite:x?query=%ff", GBX_E_USAGE, "%25");
    refused("a=/nowhere/x.csv", GBX_E_OS, "cannot read 'x.csv'");
}

static void test_files__are_json_lines_or_tables(void **state)
{
    place *p = *state;

    becomes(write_file(p, "a.json", "\xef\xbb\xbf [1, 2]\n", 11), "[1, 2]");
    becomes(write_file(p, "a.ndjson", "{\"a\":1}\n\n2", 10), "[{\"a\":1},2]");
    becomes(write_file(p, "a.csv",
                       "\xef\xbb\xbf"
                       "a\n1\n",
                       7),
            "[{\"a\":1}]");
    becomes(write_file(p, "a.tsv", "a,b\tc\n1\t2\n", 10), "[{\"a,b\":1,\"c\":2}]");
    becomes(write_file(p, "guess1", "a\n1\n", 4), "[{\"a\":1}]");
    becomes(write_file(p, "guess2", " {\"a\":1}\n{\"a\":2}\n", 17),
            "[ {\"a\":1},{\"a\":2}]");
    becomes(write_file(p, "guess3", "{\"a\":\n1}", 8), "{\"a\":\n1}");
}

static void test_files__that_are_none_say_why(void **state)
{
    place *p = *state;
    char bomb[4000];

    refused(write_file(p, "a.json", "{\"a\":1}\n{\"a\":2}", 15), GBX_E_DATA,
            "line 2, column 1: unexpected text after the JSON value (one value a line "
            "is NAME=ndjson:FILE)");
    refused(write_file(p, "b.json", "", 0), GBX_E_DATA, "line 1, column 1");
    refused(write_file(p, "c.ndjson", "1\n{]\n", 5), GBX_E_DATA, "line 2, column 2");
    refused(write_file(p, "d.csv",
                       "\xff\xfe"
                       "a\0",
                       4),
            GBX_E_DATA, "UTF-16");
    refused(write_file(p, "e.json", "\"\xff\"", 3), GBX_E_DATA, "invalid UTF-8");
    refused(write_file(p, "f.json", "\"\0\"", 3), GBX_E_DATA, "control character");
    memset(bomb, '[', sizeof bomb);
    refused(write_file(p, "g.json", bomb, sizeof bomb), GBX_E_DATA, "nested too deep");
    refused(write_file(p, "h.ndjson", bomb, sizeof bomb), GBX_E_DATA,
            "nested too deep");
}

static void test_what_is_no_file__is_not_waited_for(void **state)
{
    place *p = *state;

    (void)snprintf(p->path, sizeof p->path, "%s/fifo", p->folder);
    assert_int_equal(mkfifo(p->path, 0600), 0);
    (void)snprintf(p->spec, sizeof p->spec, "a=csv:%s", p->path);
    refused(p->spec, GBX_E_OS, "is not a file");
    refused("a=json:/dev/zero", GBX_E_OS, "is not a file");
    refused("a=json:/tmp", GBX_E_OS, "is not a file");
}

static void test_sizes__are_of_what_was_read(void **state)
{
    gbx_source source;

    assert_int_equal(read_spec(write_file(*state, "x.csv", "a,b\n1,2\n", 8), &source,
                               NULL),
                     GBX_OK);
    assert_int_equal(source.file_bytes, 8);
    assert_int_equal(source.view.len, strlen("[{\"a\":1,\"b\":2}]"));
    gbx_source_cleanup(&source);
}

static void check_lines(place *p, const char *name, const char *text, const char *json)
{
    gbx_source source;
    gbx_spec spec;

    assert_int_equal(gbx_spec_parse(write_file(p, name, text, strlen(text)), &spec,
                                    NULL),
                     GBX_OK);
    assert_int_equal(gbx_source_read(&spec, GBX_SOURCE_LINES, NULL, &source, NULL),
                     GBX_OK);
    assert_int_equal(source.view.len, strlen(json));
    assert_memory_equal(source.view.at, json, strlen(json));
    gbx_source_cleanup(&source);
    gbx_spec_cleanup(&spec);
}

static void test_a_file_that_is_written_to__is_read_to_its_last_whole_line(void **state)
{
    place *p = *state;

    check_lines(p, "a.ndjson", "{\"v\":1}\n{\"v\":2", "[{\"v\":1}]");
    check_lines(p, "b.ndjson", "1\n23", "[1]"); /* of 234, for all we know */
    check_lines(p, "c.ndjson", "1\n23\n", "[1,23]");
    check_lines(p, "d.csv", "a,b\n1,2\n3,45", "[{\"a\":1,\"b\":2}]");
    check_lines(p, "e.json", "[1,\n2]", "[1,\n2]");
    becomes(write_file(p, "f.ndjson", "1\n23", 4), "[1,23]");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_place, leave_place)
        TEST(test_specs__are_names_and_files),
        TEST(test_specs__that_are_none_say_why),
        TEST(test_files__are_json_lines_or_tables),
        TEST(test_files__that_are_none_say_why),
        TEST(test_what_is_no_file__is_not_waited_for),
        TEST(test_sizes__are_of_what_was_read),
        TEST(test_a_file_that_is_written_to__is_read_to_its_last_whole_line),
#undef TEST
    };

    return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
