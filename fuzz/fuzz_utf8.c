/* SPDX-License-Identifier: MIT */
/* fuzz_utf8 - what goes out is valid, whatever came in, and steers no terminal. */
#include "fuzz.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <string.h>

/* Valid text, and the same as what came in exactly if that was valid. */
static void check_lossy(const uint8_t *data, size_t size)
{
    size_t bad = SIZE_MAX;
    bool valid = gbx_utf8_valid(data, size, &bad);
    gbx_buf buf;

    gbx_buf_init(&buf, size * 3);
    assert(gbx_utf8_append_lossy(&buf, data, size));
    assert(gbx_utf8_valid(buf.data, buf.len, NULL));
    assert(valid == (bad == SIZE_MAX));
    assert(valid || bad < size);
    if (valid)
        assert(buf.len == size && (size == 0 || memcmp(buf.data, data, size) == 0));
    gbx_buf_cleanup(&buf);
}

static void check_escaped(const uint8_t *data, size_t size, gbx_escape how)
{
    gbx_buf buf;

    gbx_buf_init(&buf, size * 6);
    assert(gbx_utf8_append_escaped(&buf, data, size, how));
    assert(gbx_utf8_valid(buf.data, buf.len, NULL));
    for (size_t i = 0; i < buf.len; i++) {
        assert(buf.data[i] != 0x7F);
        assert(buf.data[i] >= 0x20 ||
               (how == GBX_ESCAPE_TEXT &&
                (buf.data[i] == '\n' || buf.data[i] == '\t' ||
                 (buf.data[i] == '\r' && i + 1 < buf.len && buf.data[i + 1] == '\n'))));
        assert(buf.data[i] != 0xC2 || buf.data[i + 1] >= 0xA0); /* no C1 */
    }
    gbx_buf_cleanup(&buf);
}

static void check_utf16(const uint8_t *data, size_t size)
{
    uint16_t units[64];
    size_t count = size / 2 < GBX_COUNTOF(units) ? size / 2 : GBX_COUNTOF(units);
    gbx_buf buf;

    memcpy(units, data, count * 2);
    gbx_buf_init(&buf, count * 3);
    assert(gbx_utf8_append_utf16(&buf, units, count));
    assert(gbx_utf8_valid(buf.data, buf.len, NULL));
    gbx_buf_cleanup(&buf);
}

static void check_positions(const uint8_t *data, size_t size)
{
    uint32_t line = 1;

    for (size_t at = 0; at <= size && at < 256; at++) {
        uint32_t next_line;
        uint32_t column;

        gbx_utf8_position((const char *)data, size, at, &next_line, &column);
        assert(next_line >= line && next_line <= line + 1 && column >= 1);
        line = next_line;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    check_lossy(data, size);
    check_escaped(data, size, GBX_ESCAPE_LINE);
    check_escaped(data, size, GBX_ESCAPE_TEXT);
    check_utf16(data, size);
    check_positions(data, size);
    return 0;
}
