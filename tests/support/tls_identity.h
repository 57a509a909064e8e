/* SPDX-License-Identifier: MIT */
/* tls_identity - a certificate authority and a server's certificate, made when asked for. */
#ifndef GBX_TESTS_TLS_IDENTITY_H
#define GBX_TESTS_TLS_IDENTITY_H

#include <stdbool.h>

struct ssl_ctx_st;

typedef struct tls_identity tls_identity;

/* A certificate for the name, signed by an authority of its own; expired: since a day. */
tls_identity *identity_new(const char *name, bool expired);
void identity_free(tls_identity *identity);

/* A file with the authority's certificate, until the identity is freed. */
const char *identity_ca_file(const tls_identity *identity);

/* Write the server's certificate and its key to one file. */
void identity_write(const tls_identity *identity, const char *path);

struct ssl_ctx_st *identity_context(const tls_identity *identity);

#endif
