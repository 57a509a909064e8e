/* SPDX-License-Identifier: MIT */
/*
 * http_server - an HTTP server on loopback that behaves as badly as it is told.
 *
 * What it does is decided by the request's path alone: first by the test's own table of
 * raw replies, then by the paths below. A thread a connection, blocking sockets.
 *
 *   /ok                 200, "hello"
 *   /echo               200, and the request as it arrived, head and body
 *   /to/STATUS/WHERE    a redirect to WHERE, in which %XX is decoded
 *   /chain/N            redirects to /chain/N-1; /chain/0 is /ok
 *   /bytes/N            200, N bytes and their length
 *   /chunked/N          200, N bytes in chunks
 *   /endless            200, a body without end
 *   /drip               200, a byte of body every 20 ms, without end
 *   /hold               reads the request, says nothing, waits for the client to go
 *   /bomb/N             200, gzip, N bytes of zeros when decompressed
 *   /gzip               200, gzip, "hello"
 *
 * Anything else is 404.
 */
#ifndef GBX_TESTS_HTTP_SERVER_H
#define GBX_TESTS_HTTP_SERVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct server server;

typedef enum server_then {
    THEN_CLOSE,  /* close */
    THEN_HOLD,   /* wait for the client to go */
    THEN_REPEAT, /* send the rest again and again until the client goes */
} server_then;

/* A path, and the bytes that answer it. */
typedef struct server_reply {
    const char *path;
    const char *bytes;
    size_t len; /* 0: up to the NUL */
    server_then then;
    const char *rest; /* for THEN_REPEAT */
    size_t rest_len;  /* 0: up to the NUL */
} server_reply;

struct tls_identity;

typedef struct server_options {
    const char *address;         /* NULL: 127.0.0.1 */
    const server_reply *replies; /* borrowed until the server is stopped */
    size_t reply_count;
    const struct tls_identity *identity; /* NULL: plain HTTP; borrowed likewise */
} server_options;

/* Listens when it returns; fails the test if it cannot. options may be NULL. */
server *server_start(const server_options *options);

/* Every connection is closed and every thread gone when it returns. */
void server_stop(server *s);

uint16_t server_port(const server *s);

/* Connections accepted so far. */
unsigned server_connections(server *s);

/* The last request's head and body, ending in NUL, in a buffer of the caller's. */
void server_last_request(server *s, char *text, size_t size);

#endif
