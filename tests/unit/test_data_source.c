/* SPDX-License-Identifier: MIT */
/* From --data to what the engine loads: specs and files. */
#include "base/cleanup.h"
#include "base/json.h"
#include "sources.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

TEST(specs__are_names_and_files)
{
    gbx_spec spec;

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

TEST(specs__that_are_none_say_why)
{
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

/* As it stands, for the engine to read. */
static void passes(const char *spec, const char *text, gbx_data_format format)
{
    gbx_source source;

    assert_int_equal(read_spec(spec, &source, NULL), GBX_OK);
    assert_int_equal(source.view.len, strlen(text));
    assert_memory_equal(source.view.at, text, strlen(text));
    assert_int_equal(source.data_format, format | GBX_DATA_UNFINISHED);
    gbx_source_cleanup(&source);
}

TEST(files__are_json_lines_or_tables)
{
    place *p = *state;

    becomes(write_file(p, "a.json", "\xef\xbb\xbf [1, 2]\n", 11), "[1, 2]");
    becomes(write_file(p, "a.ndjson", "{\"a\":1}\n\n2", 10), "[{\"a\":1},2]");
    passes(write_file(p, "a.csv",
                      "\xef\xbb\xbf"
                      "a\n1\n",
                      7),
           "a\n1\n", GBX_DATA_CSV);
    passes(write_file(p, "a.tsv", "a,b\tc\n1\t2\n", 10), "a,b\tc\n1\t2\n",
           GBX_DATA_TSV);
    passes(write_file(p, "guess1", "a\n1\n", 4), "a\n1\n", GBX_DATA_CSV);
    passes(write_file(p, "b.csv", "", 0), "", GBX_DATA_CSV);
    becomes(write_file(p, "guess2", " {\"a\":1}\n{\"a\":2}\n", 17),
            "[ {\"a\":1},{\"a\":2}]");
    becomes(write_file(p, "guess3", "{\"a\":\n1}", 8), "{\"a\":\n1}");
}

TEST(files__that_are_none_say_why)
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

TEST(files__of_other_encodings_say_which)
{
    static const struct {
        const char *text;
        size_t len;
        const char *message;
    } cases[] = {
        {"\xff\xfe\0\0a\0\0\0", 8, "line 1, column 1: UTF-32: convert"},
        {"\0\0\xfe\xff\0\0\0a", 8, "UTF-32"},
        {"\xfe\xff\0a", 4, "UTF-16: convert"},
        {"a\0,\0b\0", 6, "UTF-16: convert"},
        {"\0a\0,\0b", 6, "UTF-16: convert"},
        {"PK\3\4\24\0\6\0", 8, "an Excel workbook or a zip archive: save it as CSV"},
        {"\xd0\xcf\x11\xe0\xa1", 5, "an old Excel workbook"},
        {"\x1f\x8b\x08\0", 4, "compressed with gzip: unpack it"},
        {"\x28\xb5\x2f\xfd$", 5, "compressed with zstd"},
    };
    static const char *const names[] = {"a.csv", "b.json", "c.ndjson", "d"};

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++)
        for (size_t n = 0; n < GBX_COUNTOF(names); n++)
            refused(write_file(*state, names[n], cases[i].text, cases[i].len),
                    GBX_E_DATA, cases[i].message);
}

TEST(what_is_no_file__is_not_waited_for)
{
    place *p = *state;

    (void)snprintf(p->path, sizeof p->path, "%s/fifo", p->folder);
    assert_int_equal(mkfifo(p->path, 0600), 0);
    (void)snprintf(p->spec, sizeof p->spec, "a=csv:%s", p->path);
    refused(p->spec, GBX_E_OS, "is not a file");
    refused("a=json:/dev/zero", GBX_E_OS, "is not a file");
    refused("a=json:/tmp", GBX_E_OS, "is not a file");
}

static void check_lines(place *p, const char *name, const char *text, const char *json)
{
    gbx_source source;
    gbx_spec spec;

    assert_int_equal(gbx_spec_parse(write_file(p, name, text, strlen(text)), &spec,
                                    NULL),
                     GBX_OK);
    assert_int_equal(gbx_source_read(&spec, GBX_SOURCE_LINES, NULL, NULL, &source,
                                     NULL),
                     GBX_OK);
    assert_int_equal(source.view.len, strlen(json));
    assert_memory_equal(source.view.at, json, strlen(json));
    gbx_source_cleanup(&source);
    gbx_spec_cleanup(&spec);
}

TEST(a_file_that_is_written_to__is_read_to_its_last_whole_line)
{
    place *p = *state;

    check_lines(p, "a.ndjson", "{\"v\":1}\n{\"v\":2", "[{\"v\":1}]");
    check_lines(p, "b.ndjson", "1\n23", "[1]"); /* of 234, for all we know */
    check_lines(p, "c.ndjson", "1\n23\n", "[1,23]");
    check_lines(p, "e.json", "[1,\n2]", "[1,\n2]");
    becomes(write_file(p, "f.ndjson", "1\n23", 4), "[1,23]");
}

/* What is there is that JSON, and whether a line without an end was left out. */
static void reads(place *p, gbx_source_past *past, const char *name, const char *text,
                  const char *json, bool is_cut)
{
    gbx_source source;
    gbx_error error = {0};
    gbx_spec spec;

    assert_int_equal(gbx_spec_parse(write_file(p, name, text, strlen(text)), &spec,
                                    NULL),
                     GBX_OK);
    if (gbx_source_read(&spec, GBX_SOURCE_WHOLE, past, NULL, &source, &error) != GBX_OK)
        fail_msg("%s: %s", text, error.message);
    if (source.view.len != strlen(json) ||
        memcmp(source.view.at, json, strlen(json)) != 0)
        fail_msg("%s: %.*s", text, (int)source.view.len, source.view.at);
    assert_int_equal(source.is_cut, is_cut);
    gbx_source_cleanup(&source);
    gbx_spec_cleanup(&spec);
}

TEST(a_last_line_without_an_end__is_left_out_if_it_is_at_fault)
{
    place *p = *state;

    reads(p, NULL, "a.ndjson", "{\"v\":1}\n{\"v\":2", "[{\"v\":1}]", true);
    reads(p, NULL, "b.ndjson", "{\"v\":1}\n{\"v\":2}", "[{\"v\":1},{\"v\":2}]", false);
    refused(write_file(p, "i.ndjson", "{]\n{", 4), GBX_E_DATA, "line 1");
    refused(write_file(p, "j.ndjson", "{\"v\":", 5), GBX_E_DATA, "line 1");
}

static void check_format(place *p, gbx_source_past *past, const char *text,
                         gbx_data_format format)
{
    gbx_source source;
    gbx_spec spec;

    assert_int_equal(gbx_spec_parse(write_file(p, "a.csv", text, strlen(text)), &spec,
                                    NULL),
                     GBX_OK);
    assert_int_equal(gbx_source_read(&spec, GBX_SOURCE_WHOLE, past, NULL, &source,
                                     NULL),
                     GBX_OK);
    assert_int_equal(source.data_format, format);
    assert_int_equal(source.file_bytes, strlen(text));
    gbx_source_cleanup(&source);
    gbx_spec_cleanup(&spec);
}

TEST(a_table_that_was_longer_each_time__grows_until_another_takes_its_place)
{
    gbx_source_past past = {0};

    check_format(*state, &past, "a,b\n1,2\n3,4", GBX_DATA_CSV | GBX_DATA_UNFINISHED);
    check_format(*state, &past, "a,b\n1,2\n3,456", GBX_DATA_CSV | GBX_DATA_GROWS);
    check_format(*state, &past, "a,b\n1,2\n3,456", GBX_DATA_CSV | GBX_DATA_GROWS);
    check_format(*state, &past, "a,b\n5,6\n7,8", GBX_DATA_CSV | GBX_DATA_UNFINISHED);
}

TEST(lines_that_grow__are_whole_where_no_number_ends_them)
{
    place *p = *state;
    gbx_source_past past = {0};

    reads(p, &past, "a.ndjson", "{\"v\":1}\n", "[{\"v\":1}]", false);
    reads(p, &past, "a.ndjson", "{\"v\":1}\n{\"v\":2}", "[{\"v\":1},{\"v\":2}]", false);
    reads(p, &past, "a.ndjson", "{\"v\":1}\n{\"v\":2}\n34", "[{\"v\":1},{\"v\":2}]",
          true);
}

TEST_MAIN_EACH(enter_place, leave_place)
