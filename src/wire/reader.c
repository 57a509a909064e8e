/* SPDX-License-Identifier: MIT */
/*
 * reader - only take() checks bounds. Keep it that way.
 */
#include "wire/reader.h"

/* The next n bytes, or NULL if there are fewer; after that NULL for ever. */
static const uint8_t *take(gbx_reader *r, size_t n)
{
    const uint8_t *at = r->next;

    if (r->failed || n > r->left) {
        r->failed = true;
        return NULL;
    }
    if (n > 0) {
        r->next += n;
        r->left -= n;
    }
    return at;
}

static uint64_t take_le(gbx_reader *r, size_t width)
{
    const uint8_t *at = take(r, width);
    uint64_t value = 0;

    if (at == NULL)
        return 0;
    for (size_t i = width; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_reader_init(gbx_reader *r, const void *data, size_t len)
{
    *r = (gbx_reader){.next = data, .left = len};
}

void gbx_read_u8(gbx_reader *r, uint8_t *ret)
{
    *ret = (uint8_t)take_le(r, sizeof *ret);
}

void gbx_read_u32(gbx_reader *r, uint32_t *ret)
{
    *ret = (uint32_t)take_le(r, sizeof *ret);
}

void gbx_read_u64(gbx_reader *r, uint64_t *ret)
{
    *ret = take_le(r, sizeof *ret);
}

void gbx_read_span(gbx_reader *r, size_t max, gbx_span *ret)
{
    uint32_t len;

    *ret = (gbx_span){0};
    gbx_read_u32(r, &len);
    if (len > max)
        r->failed = true;

    const uint8_t *at = take(r, len);
    if (at != NULL)
        *ret = (gbx_span){.data = at, .len = len};
}

bool gbx_reader_done(const gbx_reader *r)
{
    return !r->failed && r->left == 0;
}
