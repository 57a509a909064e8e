/* SPDX-License-Identifier: MIT */
/* text - files of every kind, at the bound and one past it. */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
    char path[64];
} fixture;

static int make_file(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    int fd;

    if (f == NULL)
        return -1;
    (void)strcpy(f->path, "/tmp/glovebox-test-XXXXXX");
    fd = mkstemp(f->path);
    *state = f;
    return fd >= 0 ? close(fd) : -1;
}

static int remove_file(void **state)
{
    fixture *f = *state;

    (void)unlink(f->path);
    free(f);
    return 0;
}

static void fill(const fixture *f, const char *data, size_t len)
{
    FILE *file = fopen(f->path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

TEST_WITH(make_file, remove_file, a_file__is_read_up_to_its_bound)
{
    const fixture *f = *state;
    gbx_file_text text = {0};
    gbx_error err;

    fill(f, "12345678", 8);

    assert_int_equal(gbx_file_text_read(f->path, 8, &text, &err), GBX_OK);
    assert_int_equal(text.len, 8);
    assert_memory_equal(text.data, "12345678", 8);
    gbx_file_text_cleanup(&text);
    assert_int_equal(gbx_file_text_read(f->path, 7, &text, &err), GBX_E_DATA);
    assert_null(text.data);
}

TEST_WITH(make_file, remove_file, an_empty_file__is_empty_text)
{
    const fixture *f = *state;
    gbx_file_text text = {0};
    gbx_error err;

    assert_int_equal(gbx_file_text_read(f->path, 8, &text, &err), GBX_OK);
    assert_int_equal(text.len, 0);
    assert_non_null(text.data);
    gbx_file_text_cleanup(&text);
}

TEST_WITH(make_file, remove_file, a_byte_order_mark__is_left_out)
{
    const fixture *f = *state;
    gbx_file_text text = {0};
    gbx_error err;

    fill(f, "\xEF\xBB\xBF[]", 5);

    assert_int_equal(gbx_file_text_read(f->path, 100, &text, &err), GBX_OK);
    assert_int_equal(text.len, 2);
    assert_memory_equal(text.data, "[]", 2);
    gbx_file_text_cleanup(&text);
}

TEST(what_cannot_be_read__is_named)
{
    gbx_file_text text = {0};
    gbx_error err;

    assert_int_equal(gbx_file_text_read("/nowhere/x", 8, &text, &err), GBX_E_OS);
    assert_string_equal(err.message, "cannot read '/nowhere/x': no such file");
    assert_int_equal(gbx_file_text_read("/tmp", 8, &text, &err), GBX_E_OS);
    assert_string_equal(err.message, "cannot read '/tmp': it is a directory");
}

TEST(a_stream_without_end__is_read_no_further)
{
    gbx_file_text text = {0};
    gbx_error err;

    assert_int_equal(gbx_file_text_read("/dev/zero", 1000, &text, &err), GBX_E_DATA);
    assert_null(text.data);
}

TEST_WITH(make_file, remove_file, lines__become_an_array)
{
    const fixture *f = *state;
    gbx_file_text text = {0};
    gbx_error err;

    fill(f, "{\"a\":1}\r\n\n 2\n\"x\"", 16);
    assert_int_equal(gbx_file_text_read(f->path, 100, &text, &err), GBX_OK);

    assert_int_equal(gbx_file_text_from_lines(&text, &err), GBX_OK);
    assert_int_equal(gbx_file_text_check_json(&text, &err), GBX_OK);
    assert_string_equal(text.name, f->path);
    gbx_file_text_cleanup(&text);
}

TEST_WITH(make_file, remove_file, a_bad_line__has_its_position)
{
    const fixture *f = *state;
    gbx_file_text text = {0};
    gbx_error err;

    fill(f, "1\n\n{\"a\":}\n", 10);
    assert_int_equal(gbx_file_text_read(f->path, 100, &text, &err), GBX_OK);

    assert_int_equal(gbx_file_text_from_lines(&text, &err), GBX_E_DATA);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 6);
    gbx_file_text_cleanup(&text);
}

TEST(bytes_that_are_not_utf8__have_their_position)
{
    char data[] = "a\n\xC3\xA9\xFF";
    gbx_file_text text = gbx_file_text_borrow(data, "x");
    gbx_error err;

    assert_int_equal(gbx_file_text_check_utf8(&text, &err), GBX_E_DATA);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 2);
    assert_string_equal(err.message, "this is not UTF-8: byte 0xff");
}

TEST_MAIN(NULL, NULL)
