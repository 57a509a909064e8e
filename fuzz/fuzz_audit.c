/* SPDX-License-Identifier: MIT */
/* fuzz_audit - a line of the security log is one line, JSON, bounded, and harmless to
 * print, whatever is written into it and in whatever order. */
#include "fuzz.h"

#include "audit/audit.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Nothing in it that is escaped for a terminal. */
static void check_plain(const uint8_t *data, size_t len)
{
    gbx_buf again;

    gbx_buf_init(&again, len * 10 + 1);
    assert(gbx_utf8_valid(data, len, NULL));
    assert(gbx_utf8_append_escaped(&again, data, len, GBX_ESCAPE_LINE));
    assert(again.len == len && (len == 0 || memcmp(again.data, data, len) == 0));
    gbx_buf_cleanup(&again);
}

static void write_field(gbx_log_line *line, fuzz_input *in, size_t *depth)
{
    uint8_t kind = fuzz_u8(in);
    gbx_span text = fuzz_bytes(in, fuzz_u8(in) * 4u);

    switch (kind % 8) {
    case 0: gbx_log_line_count(line, "count", kind); break;
    case 1: gbx_log_line_number(line, "number", kind / 7.0); break;
    case 2: gbx_log_line_bool(line, "bool", kind > 127); break;
    case 3:
        if (*depth < GBX_LINE_DEPTH_MAX) {
            gbx_log_line_open(line, "open", '{');
            ++*depth;
        }
        break;
    case 4:
        if (*depth > 0) {
            gbx_log_line_close(line);
            --*depth;
        }
        break;
    default: gbx_log_line_text(line, "text", text.data, text.len); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_log_line_head head = {.event = "host.call", .engine = "9f3a61c2"};
    gbx_log_line line;
    fuzz_input in;
    size_t depth = 0;
    size_t len;
    const char *text;
    char small[64];

    in = (fuzz_input){data, size};
    head.call_id = fuzz_u8(&in) % 2 == 0 ? "9f3a61c2-1" : NULL;
    gbx_log_line_begin(&line, &head);
    while (in.left > 0)
        write_field(&line, &in, &depth);
    while (depth-- > 0)
        gbx_log_line_close(&line);
    text = gbx_log_line_end(&line, &len);
    assert(len <= GBX_LINE_MAX && text[len - 1] == '\n' && text[len] == 0);
    assert(gbx_json_check(text, len, 8, NULL));
    check_plain((const uint8_t *)text, len - 1);
    len = gbx_log_line_escape(data, size, small, sizeof small);
    assert(len < sizeof small && small[len] == 0);
    check_plain((const uint8_t *)small, len);
    return 0;
}
