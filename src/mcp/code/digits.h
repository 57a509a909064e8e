/* SPDX-License-Identifier: MIT */
/*
 * digits - integers beyond 2^53 - 1, whose last digits a Number of JavaScript loses.
 *
 * Those that come in are handed to code as texts. A Number that goes out gets back the
 * digits that have come in, if there is one such integer alone; a text, where the schema of
 * the tool wants an integer, becomes one.
 */
#ifndef GBX_MCP_CODE_DIGITS_H
#define GBX_MCP_CODE_DIGITS_H

#include "base/json_view.h"

/* What is known of, by the Number that it would be. Zeroed, it knows nothing. */
typedef struct gbx_digits {
    struct gbx_digits_entry *entries; /* a hash table */
    size_t room;
    size_t count;
    uint64_t seed; /* whoever sends integers cannot make them collide */
    bool is_full;  /* there were more: nothing is certain any more */
    gbx_buf text;  /* of all of them */
} gbx_digits;

void gbx_digits_cleanup(gbx_digits *digits);

/* May there be any? Cheap; if not, nothing else is to be done. */
bool gbx_digits_are_in(const char *text, size_t len);

/* Know the integers in a text, up to a bound. */
void gbx_digits_learn(gbx_digits *digits, const char *text, size_t len);

/* The same of JavaScript; found is called with the place of each literal whose digits are
 * lost. Numbers that are written with an exponent are known to be meant as they are. */
void gbx_digits_learn_code(gbx_digits *digits, const char *code, size_t len,
                           void (*found)(void *user, size_t start, size_t end),
                           void *user);

/* Append a value, in which they are texts; how many there were, and where the first is
 * ("rows[0].id", from name on), with its digits. */
size_t gbx_digits_as_texts(gbx_view value, const char *name, gbx_buf *to,
                           gbx_buf *first);

/* Append arguments or another value, in which Numbers have their digits back; exact: a list
 * of those of BigInts, which are right already. False: one may have lost its digits; why
 * names it. why NULL: that stays as it is. */
bool gbx_digits_as_integers(const gbx_digits *digits, gbx_view value, gbx_view exact,
                            gbx_buf *to, gbx_buf *why);

/* Append arguments, in which they are integers where schema wants those. */
void gbx_digits_fit(gbx_view args, gbx_view schema, gbx_buf *to);

#endif
