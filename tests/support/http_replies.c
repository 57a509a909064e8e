/* SPDX-License-Identifier: MIT */
/* http_replies - see http_replies.h. */
#include "http_replies.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define ZLIB_CONST
#include <zlib.h>

#define BLOCK 16384u

static const char zeros[BLOCK];

__attribute__((format(printf, 2, 3))) static bool say(channel *to, const char *format,
                                                      ...)
{
    char text[8192];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return channel_write(to, text, (size_t)len);
}

static void say_ok(channel *to, const char *rest)
{
    (void)say(to, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                  "X-Mark: one\r\nContent-Length: 5\r\n\r\nhello");
}

static bool say_zeros(channel *to, size_t count)
{
    for (; count > BLOCK; count -= BLOCK)
        if (!channel_write(to, zeros, BLOCK))
            return false;
    return channel_write(to, zeros, count);
}

static void say_bytes(channel *to, const char *rest)
{
    size_t count = strtoul(rest, NULL, 10);

    if (say(to, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", count))
        (void)say_zeros(to, count);
}

static void say_chunked(channel *to, const char *rest)
{
    size_t count = strtoul(rest, NULL, 10);
    bool alive = say(to, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");

    while (alive && count > 0) {
        size_t n = count < BLOCK ? count : BLOCK;

        alive = say(to, "%zx\r\n", n) && channel_write(to, zeros, n) && say(to, "\r\n");
        count -= n;
    }
    (void)(alive && say(to, "0\r\n\r\n"));
}

static void say_endless(channel *to, const char *rest)
{
    if (say(to, "HTTP/1.1 200 OK\r\n\r\n"))
        while (say_zeros(to, BLOCK))
            continue;
}

static void say_drip(channel *to, const char *rest)
{
    static const struct timespec pause = {0, 20000000};

    if (say(to, "HTTP/1.1 200 OK\r\n\r\n"))
        while (channel_write(to, "x", 1))
            (void)nanosleep(&pause, NULL);
}

static void say_nothing(channel *to, const char *rest)
{
    channel_hold(to);
}

/* Compress what there is of the input, and send it. */
static bool deflate_to(channel *to, z_stream *z, int flush)
{
    unsigned char out[BLOCK];
    int result;

    do {
        z->next_out = out;
        z->avail_out = sizeof out;
        result = deflate(z, flush);
        if (!channel_write(to, out, sizeof out - z->avail_out))
            return false;
    } while (z->avail_out == 0 && result != Z_STREAM_END);
    return true;
}

static void say_gzip(channel *to, const char *text, size_t zero_count)
{
    z_stream z = {0};
    bool alive = say(to, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");

    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    z.next_in = (const Bytef *)text;
    z.avail_in = (uInt)strlen(text);
    alive = alive && deflate_to(to, &z, Z_NO_FLUSH);
    while (alive && zero_count > 0) {
        z.avail_in = (uInt)(zero_count < BLOCK ? zero_count : BLOCK);
        z.next_in = (const Bytef *)zeros;
        zero_count -= z.avail_in;
        alive = deflate_to(to, &z, Z_NO_FLUSH);
    }
    (void)(alive && deflate_to(to, &z, Z_FINISH));
    (void)deflateEnd(&z);
}

static void say_bomb(channel *to, const char *rest)
{
    say_gzip(to, "", strtoul(rest, NULL, 10));
}

static void say_hello_gzip(channel *to, const char *rest)
{
    say_gzip(to, "hello", 0);
}

/* STATUS/WHERE */
static void say_redirect(channel *to, const char *rest)
{
    char where[8192];
    size_t len = 0;
    const char *at = strchr(rest, '/');

    if (at == NULL)
        return;
    for (at++; *at != '\0' && len + 1 < sizeof where; at++) {
        unsigned byte;

        if (*at == '%' && sscanf(at + 1, "%2x", &byte) == 1) {
            where[len++] = (char)byte;
            at += 2;
        } else {
            where[len++] = *at;
        }
    }
    where[len] = '\0';
    (void)say(to,
              "HTTP/1.1 %.3s Elsewhere\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
              rest, where);
}

static void say_chain(channel *to, const char *rest)
{
    unsigned long left = strtoul(rest, NULL, 10);

    if (left == 0)
        say_ok(to, "");
    else
        (void)say(to, "HTTP/1.1 302 Found\r\nLocation: /chain/%lu\r\n\r\n", left - 1);
}

static void say_raw(channel *to, const server_reply *reply)
{
    size_t len = reply->len > 0 ? reply->len : strlen(reply->bytes);
    size_t rest_len = reply->rest_len;

    if (!channel_write(to, reply->bytes, len))
        return;
    if (reply->then == THEN_HOLD)
        channel_hold(to);
    if (reply->then == THEN_REPEAT && rest_len == 0)
        rest_len = strlen(reply->rest);
    while (rest_len > 0 && channel_write(to, reply->rest, rest_len))
        continue;
}

static void say_echo(channel *to, const char *request)
{
    if (say(to, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", strlen(request)))
        (void)channel_write(to, request, strlen(request));
}

static const struct {
    const char *prefix;
    void (*say)(channel *to, const char *rest);
} paths[] = {
    {"/ok", say_ok},          {"/to/", say_redirect},     {"/chain/", say_chain},
    {"/bytes/", say_bytes},   {"/chunked/", say_chunked}, {"/endless", say_endless},
    {"/drip", say_drip},      {"/hold", say_nothing},     {"/bomb/", say_bomb},
    {"/gzip", say_hello_gzip}};

/* ---- public to the tests ------------------------------------------------- */

void reply_to(channel *to, const server_options *options, const char *request)
{
    char path[8192];

    if (sscanf(request, "%*s %8191s", path) != 1)
        return;
    for (size_t i = 0; i < options->reply_count; i++)
        if (strcmp(options->replies[i].path, path) == 0) {
            say_raw(to, &options->replies[i]);
            return;
        }
    if (strcmp(path, "/echo") == 0) {
        say_echo(to, request);
        return;
    }
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (strncmp(paths[i].prefix, path, strlen(paths[i].prefix)) == 0) {
            paths[i].say(to, path + strlen(paths[i].prefix));
            return;
        }
    (void)say(to, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}
