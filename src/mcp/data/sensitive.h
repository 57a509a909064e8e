/* SPDX-License-Identifier: MIT */
/*
 * sensitive - which values must not be shown as they are, by the name of their field or
 * by their looks, and what is shown instead: letters become x or X, digits become 0, all
 * else stays, so that their shape is still that.
 *
 * This is a courtesy to whoever's data it is, in a description that leaves the machine
 * before anybody has asked a question; what code may compute is not decided here.
 */
#ifndef GBX_MCP_DATA_SENSITIVE_H
#define GBX_MCP_DATA_SENSITIVE_H

#include "base/buf.h"

/* password, apiKey, customer_email, card-number, iban, ...: names as words. A number may
 * be how many there are: prompt_tokens, password_length, email_sent. */
bool gbx_sensitive_name(const char *name, size_t len, bool is_number);

/* Of these, what opens something: a password, a key, a token. */
bool gbx_sensitive_is_secret(const char *name, size_t len, bool is_number);

/* What a value is by the names on the way to it. */
typedef enum gbx_sensitive_place {
    GBX_SENSITIVE_NOTHING,
    GBX_SENSITIVE_PERSON,   /* of a person, where a "name" is nobody's business */
    GBX_SENSITIVE_SOMEBODY, /* the person: the same, and as a text it is their name */
    GBX_SENSITIVE_ALL,      /* is to be masked, and what is in it */
} gbx_sensitive_place;

/* What the member of that name is, in an object that is `place`. */
gbx_sensitive_place gbx_sensitive_below(gbx_sensitive_place place, const char *name,
                                        size_t len, bool is_number);

/* Is what has a member of that name a person, so that its "name" is theirs: does it have
 * an e-mail address, a date of birth, a salary? */
bool gbx_sensitive_is_personal(const char *name, size_t len, bool is_number);

/* Is it, or does it contain, an e-mail address, a key or token, a secret behind its name
 * (Password=...;), the number of a card, an account or a phone, an IP address? */
bool gbx_sensitive_looks(const char *text, size_t len);

/* Append with all letters and digits masked. text: UTF-8. */
bool gbx_sensitive_mask(const char *text, size_t len, gbx_buf *to);

/* Append with only what looks sensitive masked. */
bool gbx_sensitive_mask_parts(const char *text, size_t len, gbx_buf *to);

#endif
