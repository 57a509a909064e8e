/* SPDX-License-Identifier: MIT */
/* traceparent - the header of W3C Trace Context: VERSION-TRACE-SPAN-FLAGS. */
#include "mcp/telemetry/telemetry.h"

#include <string.h>

#define SAMPLED  1 /* bit of the flags */
#define FLAGS_AT 53
#define TEXT_LEN 55

static const char digits[] = "0123456789abcdef";

/* Lower case alone, as the format wants it. */
static bool read_hex(const char *text, uint8_t *ret, size_t len)
{
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++) {
        const char *high = memchr(digits, text[2 * i], 16);
        const char *low = memchr(digits, text[2 * i + 1], 16);

        if (high == NULL || low == NULL)
            return false;
        ret[i] = (uint8_t)((high - digits) << 4 | (low - digits));
        any |= ret[i];
    }
    return any != 0 || len == 1;
}

/* Later versions may append fields, and begin as version 00 does. */
bool gbx_traceparent_read(const char *text, size_t len, gbx_trace_context *ret)
{
    gbx_trace_context read = {0};
    uint8_t version;
    uint8_t flags;

    if (len < TEXT_LEN || text[2] != '-' || text[35] != '-' || text[52] != '-' ||
        !read_hex(text, &version, 1) || version == 0xff ||
        !read_hex(text + 3, read.trace, sizeof read.trace) ||
        !read_hex(text + 36, read.span, sizeof read.span) ||
        !read_hex(text + FLAGS_AT, &flags, 1) ||
        (len > TEXT_LEN && (version == 0 || text[TEXT_LEN] != '-')))
        return false;
    read.is_sampled = (flags & SAMPLED) != 0;
    *ret = read;
    return true;
}

static char *print_hex(char *to, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    return to;
}

void gbx_traceparent_print(const gbx_trace_context *context,
                           char ret[GBX_TRACEPARENT_SIZE])
{
    char *at = ret;

    memcpy(at, "00-", 3);
    at = print_hex(at + 3, context->trace, sizeof context->trace);
    *at++ = '-';
    at = print_hex(at, context->span, sizeof context->span);
    memcpy(at, context->is_sampled ? "-01" : "-00", 4);
}

void gbx_hex_append(gbx_buf *to, const uint8_t *bytes, size_t len)
{
    char *at = (char *)gbx_buf_reserve(to, 2 * len);

    if (at == NULL)
        return;
    (void)print_hex(at, bytes, len);
    to->len += 2 * len;
}
