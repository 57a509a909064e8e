/* SPDX-License-Identifier: MIT */
/*
 * read_file - uses read(2), not mmap(2): if another program truncates a file while we
 * read it, that must give a message, not SIGBUS.
 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gbx_status too_large(const char *name, size_t max, gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_DATA, "'%s' is larger than %zu bytes", name, max);
}

static gbx_status cannot(const char *name, gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", name,
                    gbx_fail_reason(errno));
}

static gbx_file_text keep(gbx_buf *buf, const char *name)
{
    size_t len = 0;
    char *block = gbx_need(gbx_buf_take_string(buf, &len));
    size_t mark_len = len >= 3 && memcmp(block, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    return (gbx_file_text){.data = block + mark_len,
                           .len = len - mark_len,
                           .name = name,
                           .block = block};
}

gbx_status gbx_file_text_read(const char *path, size_t max, gbx_file_text *ret,
                              gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};
    GBX_CLEANUP(gbx_fd_close) int opened = -1;
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    struct stat st;

    if (!is_stdin)
        opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if ((!is_stdin && opened < 0) || fstat(is_stdin ? STDIN_FILENO : opened, &st) != 0)
        return cannot(name, reterr);
    if (S_ISDIR(st.st_mode))
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': it is a directory", name);
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
        return too_large(name, max, reterr);

    gbx_buf_init(&buf, max + 1); /* one byte more than max, to detect more */
    /* Reserve all at once; the byte more is for the read that finds the end. */
    if (S_ISREG(st.st_mode))
        (void)gbx_need(gbx_buf_reserve(&buf, (size_t)st.st_size + 1));
    if (!gbx_buf_read(&buf, is_stdin ? STDIN_FILENO : opened) && !buf.failed)
        return cannot(name, reterr);
    if (buf.len > max)
        return too_large(name, max, reterr);
    *ret = keep(&buf, name);
    return GBX_OK;
}

gbx_file_text gbx_file_text_borrow(char *data, const char *name)
{
    return (
        gbx_file_text){.data = data, .len = strlen(data), .name = name, .block = NULL};
}

gbx_status gbx_file_text_from_lines(gbx_file_text *text, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};
    gbx_json_fault fault = {0};
    gbx_file_text array;

    gbx_buf_init(&buf, text->len + 3); /* the brackets, and the final NUL */
    if (!gbx_json_from_lines(text->data, text->len, &buf, &fault) &&
        fault.message != NULL)
        return gbx_fail_at(reterr, GBX_E_DATA, fault.line, fault.column, "%s",
                           fault.message);
    array = keep(&buf, text->name);
    gbx_file_text_cleanup(text);
    *text = array;
    return GBX_OK;
}

gbx_status gbx_file_text_check_json(const gbx_file_text *text, gbx_error *reterr)
{
    gbx_json_fault fault = {0};

    if (gbx_json_check(text->data, text->len, GBX_JSON_DEPTH_MAX, &fault))
        return GBX_OK;
    return gbx_fail_at(reterr, GBX_E_DATA, fault.line, fault.column, "%s",
                       fault.message);
}

gbx_status gbx_file_text_check_utf8(const gbx_file_text *text, gbx_error *reterr)
{
    uint32_t line;
    uint32_t column;
    size_t bad;

    if (gbx_utf8_valid((const uint8_t *)text->data, text->len, &bad))
        return GBX_OK;
    gbx_utf8_position(text->data, text->len, bad, &line, &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line, column,
                       "this is not UTF-8: byte 0x%02x",
                       (unsigned)(uint8_t)text->data[bad]);
}

void gbx_file_text_cleanup(gbx_file_text *text)
{
    free(text->block);
    *text = (gbx_file_text){0};
}
