/* SPDX-License-Identifier: MIT */
/* refuse - see policy.h. */
#include "policy/policy.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CUT "..."

static uint32_t column_of(const char *text, size_t offset)
{
    uint32_t line;
    uint32_t column;

    gbx_utf8_position(text, offset, offset, &line, &column);
    return column;
}

/* ---- public to other modules -------------------------------------------- */

const char *gbx_quote(char out[GBX_QUOTE_SIZE], const char *text, size_t len)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    size_t at = 0;

    gbx_buf_init(&buf, GBX_QUOTE_SIZE - sizeof CUT);
    while (at < len) {
        size_t n = gbx_utf8_sequence((const uint8_t *)text + at, len - at);

        n = n == 0 ? 1 : n;
        if (!gbx_utf8_append_escaped(&buf, text + at, n, GBX_ESCAPE_LINE))
            break;
        at += n;
    }
    (void)snprintf(out, GBX_QUOTE_SIZE, "%.*s%s", (int)buf.len,
                   buf.data != NULL ? (const char *)buf.data : "", at < len ? CUT : "");
    return out;
}

gbx_status gbx_refuse(gbx_error *reterr, const char *text, size_t offset,
                      const char *format, ...)
{
    char message[GBX_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return gbx_fail_at(reterr, GBX_E_POLICY, 1, column_of(text, offset), "%s", message);
}

void gbx_refused_within(gbx_error *err, const char *text, size_t offset)
{
    if (err->column > 0)
        err->column += column_of(text, offset) - 1;
}
