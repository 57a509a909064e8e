/* SPDX-License-Identifier: MIT */
/* buf - see buf.h. Only gbx_buf_reserve() grows a buffer, and only wipe() wipes one.
 * Keep it that way. gbx_secret_memory_new() is for secrets outside a buffer. */
#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_SIZE 16384

static void wipe(const gbx_buf *buf, size_t from, size_t to)
{
    if (from < to)
        explicit_bzero(buf->data + from, to - from);
}

/* Like realloc(), but leaves no copy of a secret behind. */
static uint8_t *move_secret(const gbx_buf *buf, size_t capacity)
{
    uint8_t *data = malloc(capacity);

    if (data == NULL || buf->data == NULL)
        return data;
    memcpy(data, buf->data, buf->len);
    wipe(buf, 0, buf->capacity);
    free(buf->data);
    return data;
}

gbx_span gbx_span_of(const char *text)
{
    return (gbx_span){(const uint8_t *)text, strlen(text)};
}

bool gbx_span_line(gbx_span *rest, gbx_span *ret)
{
    const uint8_t *newline;

    if (rest->len == 0)
        return false;
    newline = memchr(rest->data, '\n', rest->len);
    *ret = (gbx_span){rest->data,
                      newline != NULL ? (size_t)(newline - rest->data) : rest->len};
    rest->data += ret->len + (newline != NULL);
    rest->len -= ret->len + (newline != NULL);
    return true;
}

void gbx_buf_init(gbx_buf *buf, size_t ceiling)
{
    *buf = (gbx_buf){.ceiling = ceiling};
}

void gbx_buf_init_secret(gbx_buf *buf, size_t ceiling)
{
    *buf = (gbx_buf){.ceiling = ceiling, .is_secret = true};
}

void gbx_buf_cleanup(gbx_buf *buf)
{
    if (buf->is_secret)
        wipe(buf, 0, buf->capacity);
    free(buf->data);
    *buf = (gbx_buf){.ceiling = buf->ceiling, .is_secret = buf->is_secret};
}

uint8_t *gbx_buf_reserve(gbx_buf *buf, size_t n)
{
    size_t capacity = buf->capacity;
    uint8_t *data;

    if (buf->failed || buf->len > buf->ceiling || n > buf->ceiling - buf->len) {
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
        data =
            buf->is_secret ? move_secret(buf, capacity) : realloc(buf->data, capacity);
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
    va_list args;
    bool ok;

    va_start(args, format);
    ok = gbx_buf_vprintf(buf, format, args);
    va_end(args);
    return ok;
}

bool gbx_buf_vprintf(gbx_buf *buf, const char *format, va_list args)
{
    char small[512];
    char *text = small;
    va_list again;
    bool ok;
    int n;

    va_copy(again, args);
    n = vsnprintf(small, sizeof small, format, args);
    assert(n >= 0); /* our formats never fail */
    if ((size_t)n >= sizeof small)
        text = malloc((size_t)n + 1);
    if (text != NULL && text != small)
        (void)vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    if (text == NULL) {
        buf->failed = true;
        return false;
    }
    ok = gbx_buf_append(buf, text, (size_t)n);
    if (buf->is_secret)
        explicit_bzero(text, (size_t)n);
    if (text != small)
        /* cppcheck-suppress autovarInvalidDeallocation */
        free(text);
    return ok;
}

bool gbx_buf_read(gbx_buf *buf, int fd)
{
    while (buf->len < buf->ceiling) {
        size_t left = buf->ceiling - buf->len;
        size_t spare = buf->capacity - buf->len;
        size_t most = spare > 0 ? spare : READ_SIZE;
        size_t room = left < most ? left : most;
        uint8_t *to = gbx_buf_reserve(buf, room);
        ssize_t n = to != NULL ? read(fd, to, room) : 0;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 && to != NULL;
        buf->len += (size_t)n;
    }
    return !buf->failed;
}

void gbx_buf_consume(gbx_buf *buf, size_t n)
{
    assert(n <= buf->len);
    if (n == 0)
        return;
    memmove(buf->data, buf->data + n, buf->len - n);
    buf->len -= n;
    if (buf->is_secret)
        wipe(buf, buf->len, buf->len + n);
}

char *gbx_buf_take_string(gbx_buf *buf, size_t *ret_len)
{
    gbx_buf taken = *buf;
    char *string;

    *buf = (gbx_buf){.ceiling = buf->ceiling, .is_secret = buf->is_secret};
    taken.ceiling = taken.len + 1; /* the NUL is not part of the contents */
    string = (char *)gbx_buf_reserve(&taken, 1);
    if (string == NULL) {
        gbx_buf_cleanup(&taken);
        return NULL;
    }
    taken.data[taken.len] = 0;
    if (ret_len != NULL)
        *ret_len = taken.len;
    return (char *)taken.data;
}

/* ---- memory for secrets ------------------------------------------------------ */

/* Whole pages, so that their settings affect nothing else. */
void *gbx_secret_memory_new(size_t size)
{
    void *data = mmap(NULL, size > 0 ? size : 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (data == MAP_FAILED)
        return NULL;
    (void)madvise(data, size > 0 ? size : 1, MADV_DONTDUMP);
    return data;
}

void gbx_secret_memory_free(void *data, size_t size)
{
    if (data == NULL)
        return;
    explicit_bzero(data, size);
    (void)munmap(data, size > 0 ? size : 1);
}

bool gbx_text_is_listed(const char *words, const char *text, size_t len)
{
    for (;;) {
        size_t word = strcspn(words, " ");

        if (word == len && memcmp(words, text, len) == 0)
            return true;
        if (words[word] == 0)
            return false;
        words += word + 1;
    }
}

bool gbx_is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
              (c >= 'a' && c <= 'z') ||
              (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL)))
            return false;
    }
    return len > 0;
}

size_t gbx_visible_len(const char *text)
{
    size_t len = 0;

    while (text[len] > ' ' && text[len] <= '~')
        len++;
    return len;
}
