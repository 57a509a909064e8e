/* SPDX-License-Identifier: MIT */
/* nats_identity - keys and tokens for a nats-server, as the programs nk and nsc make them. */
#ifndef GBX_TESTS_NATS_IDENTITY_H
#define GBX_TESTS_NATS_IDENTITY_H

#include <stddef.h>

#define NATS_KEY_SIZE 57 /* a public key, its NUL included */

/* A new user; its seed and its public key are written to that file of the scratch folder, as
 * `nk -gen user -pubout` prints them. */
void nats_identity_nkey(const char *name, char public_key[NATS_KEY_SIZE]);

/* A new operator with one account, as lines for the server. */
void nats_identity_operator(char *options, size_t size);

/* A new user of that account whose token is valid for some seconds, as a file of credentials. */
void nats_identity_creds(const char *name, int seconds);

#endif
