/* SPDX-License-Identifier: MIT */
/* http_channel - see http_channel.h. */
#include "http_channel.h"

#include "tls_identity.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

/* ---- public to the tests ------------------------------------------------- */

bool channel_open(channel *c, int fd, const struct tls_identity *identity)
{
    *c = (channel){.fd = fd};
    if (identity == NULL)
        return true;
    c->tls = SSL_new(identity_context(identity));
    return c->tls != NULL && SSL_set_fd(c->tls, fd) == 1 && SSL_accept(c->tls) == 1;
}

void channel_close(channel *c)
{
    if (c->tls != NULL) {
        (void)SSL_shutdown(c->tls);
        SSL_free(c->tls);
    }
    *c = (channel){.fd = -1};
}

ssize_t channel_read(channel *c, void *data, size_t len)
{
    return c->tls != NULL ? SSL_read(c->tls, data, (int)len)
                          : recv(c->fd, data, len, 0);
}

bool channel_write(channel *c, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = c->tls != NULL ? SSL_write(c->tls, at, (int)len)
                                   : send(c->fd, at, len, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

void channel_hold(channel *c)
{
    char byte;

    while (channel_read(c, &byte, 1) > 0)
        continue;
}
