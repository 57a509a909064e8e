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

#define READ_SIZE GBX_KIB(256)

static gbx_status too_large(const char *name, size_t max, gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_DATA, "'%s' is larger than %zu bytes", name, max);
}

/* Read all of fd into buf; expected is its size if known, else an estimate. */
static gbx_status drain(int fd, const char *name, size_t expected, gbx_buf *buf,
                        gbx_error *reterr)
{
    size_t max = buf->ceiling - 1;

    for (;;) {
        size_t room = buf->ceiling - buf->len;
        bool is_known = expected > 0 && expected >= buf->len;
        size_t want = is_known ? expected - buf->len + 1 : READ_SIZE;
        uint8_t *to = gbx_buf_reserve(buf, want < room ? want : room);
        ssize_t n;

        if (to == NULL)
            return gbx_fail(reterr, GBX_E_NOMEM, "no memory to read '%s'", name);
        n = read(fd, to, want < room ? want : room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", name,
                            gbx_fail_reason(errno));
        if (n == 0)
            return GBX_OK;
        buf->len += (size_t)n;
        if (buf->len > max)
            return too_large(name, max, reterr);
    }
}

static gbx_status keep(gbx_buf *buf, const char *name, gbx_file_text *ret,
                       gbx_error *reterr)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t len = 0;
    char *block;

    block = gbx_buf_take_string(buf, &len);
    if (block == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory to hold '%s'", name);
    *ret = (gbx_file_text){.data = block, .len = len, .name = name, .block = block};
    if (len >= 3 && memcmp(block, mark, 3) == 0) {
        ret->data += 3;
        ret->len -= 3;
    }
    return GBX_OK;
}

gbx_status gbx_file_text_read(const char *path, size_t max, gbx_file_text *ret,
                              gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};
    GBX_CLEANUP(gbx_fd_close) int opened = -1;
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    struct stat st;
    int fd = STDIN_FILENO;
    gbx_status status;

    if (!is_stdin) {
        opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (opened < 0)
            return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", name,
                            gbx_fail_reason(errno));
        fd = opened;
    }
    if (fstat(fd, &st) != 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", name,
                        gbx_fail_reason(errno));
    if (S_ISDIR(st.st_mode))
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': it is a directory", name);
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
        return too_large(name, max, reterr);

    /* One byte more than max, to detect more; one for the final NUL. */
    gbx_buf_init(&buf, max + 1);
    status =
        drain(fd, name, S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, &buf, reterr);
    return status != GBX_OK ? status : keep(&buf, name, ret, reterr);
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
    gbx_status status;

    gbx_buf_init(&buf, text->len + 3); /* the brackets, and the final NUL */
    if (!gbx_json_from_lines(text->data, text->len, &buf, &fault)) {
        if (fault.message == NULL)
            return gbx_fail(reterr, GBX_E_NOMEM, "no memory to read '%s'", text->name);
        return gbx_fail_at(reterr, GBX_E_DATA, fault.line, fault.column, "%s",
                           fault.message);
    }
    status = keep(&buf, text->name, &array, reterr);
    if (status == GBX_OK) {
        gbx_file_text_cleanup(text);
        *text = array;
    }
    return status;
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
