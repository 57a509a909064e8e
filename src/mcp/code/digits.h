/* SPDX-License-Identifier: MIT */
/*
 * digits - integers beyond 2^53 - 1, whose last digits a JavaScript Number loses.
 *
 * Code gets such integers as texts. A Number in outgoing arguments gets the original
 * digits back if only one known integer maps to it. A text becomes an integer where the
 * tool's schema wants one.
 */
#ifndef GBX_MCP_CODE_DIGITS_H
#define GBX_MCP_CODE_DIGITS_H

#include "base/json_view.h"

/* The known integers, by the Number that each would become. Zeroed, it is empty. */
typedef struct gbx_digits {
    struct gbx_digits_entry *entries; /* a hash table */
    size_t room;
    size_t count;
    uint64_t seed; /* so that senders cannot force collisions */
    bool is_full;  /* there were more: no lookup is certain */
    gbx_buf text;  /* of all of them */
} gbx_digits;

void gbx_digits_cleanup(gbx_digits *digits);

/* May the text have such integers? Cheap; if not, nothing else needs to be done. */
bool gbx_digits_are_in(const char *text, size_t len);

/* Remember such integers in a text, up to a bound. */
void gbx_digits_learn(gbx_digits *digits, const char *text, size_t len);

/* The same for JavaScript code. found is called with the position of each literal that
 * loses digits. Numbers with an exponent count as meant exactly so. */
void gbx_digits_learn_code(gbx_digits *digits, const char *code, size_t len,
                           void (*found)(void *user, size_t start, size_t end),
                           void *user);

/* Append a value in which such integers are texts. Returns how many there were; first
 * receives the path of the first one ("rows[0].id", from name on) and its digits. */
size_t gbx_digits_as_texts(gbx_view value, const char *name, gbx_buf *to,
                           gbx_buf *first);

/* Append arguments or another value in which Numbers have their digits back. exact: a
 * list of those that came from BigInts and are already right. False: one may have lost
 * its digits, and why names it. why NULL: leave such Numbers as they are. */
bool gbx_digits_as_integers(const gbx_digits *digits, gbx_view value, gbx_view exact,
                            gbx_buf *to, gbx_buf *why);

/* Append arguments in which such texts are integers where schema wants integers. */
void gbx_digits_fit(gbx_view args, gbx_view schema, gbx_buf *to);

#endif
