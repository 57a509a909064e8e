/* SPDX-License-Identifier: MIT */
/*
 * vectors - the tables of tests/unit/crypto, a line at a time. Each line is handed over
 * with its data as bytes; what the function is given is borrowed until it returns.
 */
#ifndef GBX_TESTS_VECTORS_H
#define GBX_TESTS_VECTORS_H

#include <stddef.h>
#include <stdint.h>

typedef struct vector {
    const char *name; /* of the algorithm */
    const char *data_text;
    const uint8_t *key; /* of macs.txt */
    size_t key_len;
    const uint8_t *data;
    size_t data_len;
    const char *value; /* in hex */
    size_t value_len;  /* in bytes */
} vector;

/* Returns how many lines there are. */
size_t each_hash(void (*fn)(void *user, const vector *v), void *user);
size_t each_mac(void (*fn)(void *user, const vector *v), void *user);

/* Hex of len bytes; to has room for 2 * len + 1. */
void to_hex(const uint8_t *data, size_t len, char *to);

#endif
