/* SPDX-License-Identifier: MIT */
/* buf - growth happens in exactly one place, gbx_buf_reserve(). Keep it that way. */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- public to other modules -------------------------------------------- */

void gbx_buf_init(gbx_buf *buf, size_t ceiling)
{
    *buf = (gbx_buf){.ceiling = ceiling};
}

void gbx_buf_cleanup(gbx_buf *buf)
{
    free(buf->data);
    *buf = (gbx_buf){.ceiling = buf->ceiling};
}

uint8_t *gbx_buf_reserve(gbx_buf *buf, size_t n)
{
    size_t capacity = buf->capacity;
    uint8_t *data;

    if (buf->failed || n > buf->ceiling - buf->len) {
        buf->failed = true;
        return NULL;
    }
    if (n > capacity - buf->len) {
        size_t need = buf->len + n;

        capacity = capacity < need / 2 ? need : capacity * 2;
        if (capacity < need)
            capacity = need;
        if (capacity < 64)
            capacity = 64;
        if (capacity > buf->ceiling)
            capacity = buf->ceiling;
        data = realloc(buf->data, capacity);
        if (data == NULL) {
            buf->failed = true;
            return NULL;
        }
        buf->data = data;
        buf->capacity = capacity;
    }
    return buf->data != NULL ? buf->data + buf->len : NULL;
}

bool gbx_buf_append(gbx_buf *buf, const void *data, size_t len)
{
    uint8_t *to;

    if (len == 0)
        return !buf->failed;
    to = gbx_buf_reserve(buf, len);
    if (to == NULL)
        return false;
    memcpy(to, data, len);
    buf->len += len;
    return true;
}

bool gbx_buf_puts(gbx_buf *buf, const char *text)
{
    return gbx_buf_append(buf, text, strlen(text));
}

bool gbx_buf_printf(gbx_buf *buf, const char *format, ...)
{
    char small[512];
    char *text = small;
    va_list args;
    bool ok;
    int n;

    va_start(args, format);
    n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    assert(n >= 0); /* no format of ours has a value that cannot be printed */
    if ((size_t)n >= sizeof small) {
        text = malloc((size_t)n + 1);
        if (text == NULL) {
            buf->failed = true;
            return false;
        }
        va_start(args, format);
        (void)vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
    }
    ok = gbx_buf_append(buf, text, (size_t)n);
    if (text != small)
        /* cppcheck-suppress autovarInvalidDeallocation */
        free(text);
    return ok;
}

void gbx_buf_consume(gbx_buf *buf, size_t n)
{
    assert(n <= buf->len);
    if (n == 0)
        return;
    memmove(buf->data, buf->data + n, buf->len - n);
    buf->len -= n;
}

char *gbx_buf_take_string(gbx_buf *buf, size_t *ret_len)
{
    gbx_buf taken = *buf;
    char *string;

    *buf = (gbx_buf){.ceiling = buf->ceiling};
    taken.ceiling = taken.len + 1; /* the NUL is not part of the contents */
    string = (char *)gbx_buf_reserve(&taken, 1);
    if (string == NULL) {
        free(taken.data);
        return NULL;
    }
    taken.data[taken.len] = 0;
    if (ret_len != NULL)
        *ret_len = taken.len;
    return (char *)taken.data;
}
