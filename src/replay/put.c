/* SPDX-License-Identifier: MIT */
/* put - see replay.h. A buffer's failure is checked once, at the end of the line. */
#include "replay/replay.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/utf8.h"

#include <string.h>

static void put_name(gbx_buf *to, const char *name)
{
    (void)gbx_buf_printf(to, ",\"%s\":", name);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_put_line(gbx_buf *to, const char *what)
{
    (void)gbx_buf_printf(to, "{\"what\":\"%s\"", what);
}

bool gbx_put_line_end(gbx_buf *to)
{
    return gbx_buf_puts(to, "}\n");
}

void gbx_put_text(gbx_buf *to, const char *name, gbx_span text)
{
    put_name(to, name);
    if (gbx_utf8_valid(text.data, text.len, NULL)) {
        (void)gbx_json_append_safe(to, text.data, text.len);
        return;
    }
    (void)gbx_buf_puts(to, "{\"base64\":\"");
    (void)gbx_base64_append(to, text.data, text.len);
    (void)gbx_buf_puts(to, "\"}");
}

void gbx_put_string(gbx_buf *to, const char *name, const char *text)
{
    gbx_put_text(to, name, (gbx_span){(const uint8_t *)text, strlen(text)});
}

void gbx_put_bytes(gbx_buf *to, const char *name, gbx_span bytes)
{
    put_name(to, name);
    (void)gbx_buf_puts(to, "\"");
    (void)gbx_base64_append(to, bytes.data, bytes.len);
    (void)gbx_buf_puts(to, "\"");
}

void gbx_put_uint(gbx_buf *to, const char *name, uint64_t value)
{
    put_name(to, name);
    (void)gbx_buf_printf(to, "%llu", (unsigned long long)value);
}

void gbx_put_true(gbx_buf *to, const char *name, bool value)
{
    if (!value)
        return;
    put_name(to, name);
    (void)gbx_buf_puts(to, "true");
}

void gbx_put_digest(gbx_buf *to, const char *name, const uint8_t *digest)
{
    char text[GBX_SHA256_HEX_SIZE];

    gbx_sha256_print(digest, text);
    put_name(to, name);
    (void)gbx_buf_printf(to, "\"%s\"", text);
}

void gbx_put_ms(gbx_buf *to, const char *name, double ms)
{
    put_name(to, name);
    (void)gbx_json_append_number(to, ms);
}
