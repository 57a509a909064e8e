/* SPDX-License-Identifier: MIT */
/* From --data to what the engine loads: specs and files. */
#include "base/cleanup.h"
#include "scratch.h"
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
    refused("a=csv:x?header=yes", GBX_E_USAGE, "'header=yes' is not an option");
    refused("a=csv:x?skip=", GBX_E_USAGE, "skip=LINES");
    refused("a=tsv:x?skip=65536", GBX_E_USAGE, "skip=LINES");
    refused("a=tsv:x?skip=1&skip=2", GBX_E_USAGE, "'skip=2' is not an option");
    refused("a=tsv:x?skip=1&", GBX_E_USAGE, "'' is not an option");
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
    assert_int_equal(source.text.len, strlen(text));
    assert_memory_equal(source.text.data, text, strlen(text));
    assert_int_equal(gbx_source_data_format(&source),
                     format == GBX_DATA_JSON ? format : format | GBX_DATA_UNFINISHED);
    gbx_source_cleanup(&source);
}

TEST(files__pass_as_they_stand)
{
    static const struct {
        const char *name;
        const char *text;
        gbx_data_format format;
    } cases[] = {
        {"a.json", " [1, 2]\n", GBX_DATA_JSON},
        {"a.ndjson", "{\"a\":1}\n\n2", GBX_DATA_NDJSON},
        {"a.csv", "a\n1\n", GBX_DATA_CSV},
        {"a.tsv", "a,b\tc\n1\t2\n", GBX_DATA_TSV},
        {"guess1", "a\n1\n", GBX_DATA_CSV},
        {"guess2", " {\"a\":1}\n{\"a\":2}\n", GBX_DATA_JSON},
        {"guess3", "\n[", GBX_DATA_JSON},
        {"b.csv", "", GBX_DATA_CSV},
    };
    char text[64] = "\xef\xbb\xbf";

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        size_t len = strlen(cases[i].text);

        passes(write_file(cases[i].name, cases[i].text, len), cases[i].text,
               cases[i].format);
        strcpy(text + 3, cases[i].text);
        passes(write_file(cases[i].name, text, len + 3), cases[i].text,
               cases[i].format);
    }
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
            refused(write_file(names[n], cases[i].text, cases[i].len), GBX_E_DATA,
                    cases[i].message);
}

TEST(what_is_no_file__is_not_waited_for)
{
    char spec[64];

    assert_int_equal(mkfifo(scratch_path("fifo"), 0600), 0);
    (void)snprintf(spec, sizeof spec, "a=csv:%s/fifo", scratch);
    refused(spec, GBX_E_OS, "is not a file");
    refused("a=json:/dev/zero", GBX_E_OS, "is not a file");
    refused("a=json:/tmp", GBX_E_OS, "is not a file");
}

static void check_format(gbx_source_past *past, const char *text,
                         gbx_data_format format)
{
    gbx_source source;
    gbx_spec spec;

    assert_int_equal(gbx_spec_parse(write_file("a.csv", text, strlen(text)), &spec,
                                    NULL),
                     GBX_OK);
    assert_int_equal(gbx_source_read(NULL, &spec, GBX_SOURCE_WHOLE, past, NULL, &source,
                                     NULL),
                     GBX_OK);
    assert_int_equal(gbx_source_data_format(&source), format);
    assert_int_equal(source.file_bytes, strlen(text));
    gbx_source_cleanup(&source);
    gbx_spec_cleanup(&spec);
}

TEST(a_table_that_was_longer_each_time__grows_until_another_takes_its_place)
{
    gbx_source_past past = {0};

    check_format(&past, "a,b\n1,2\n3,4", GBX_DATA_CSV | GBX_DATA_UNFINISHED);
    check_format(&past, "a,b\n1,2\n3,456", GBX_DATA_CSV | GBX_DATA_GROWS);
    check_format(&past, "a,b\n1,2\n3,456", GBX_DATA_CSV | GBX_DATA_GROWS);
    check_format(&past, "a,b\n5,6\n7,8", GBX_DATA_CSV | GBX_DATA_UNFINISHED);
}

TEST_MAIN_EACH(scratch_begin, scratch_end)
