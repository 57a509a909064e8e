/* SPDX-License-Identifier: MIT */
/* http_channel - one connection of the test server, with TLS or without. */
#ifndef GBX_TESTS_HTTP_CHANNEL_H
#define GBX_TESTS_HTTP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_identity;

typedef struct channel {
    int fd;
    struct ssl_st *tls; /* NULL: none */
} channel;

/* False if the handshake failed; close it in either case. fd stays the caller's. */
bool channel_open(channel *c, int fd, const struct tls_identity *identity);
void channel_close(channel *c);

ssize_t channel_read(channel *c, void *data, size_t len);

/* All of it, or false: the client is gone. */
bool channel_write(channel *c, const void *data, size_t len);

/* Until the client goes. */
void channel_hold(channel *c);

#endif
