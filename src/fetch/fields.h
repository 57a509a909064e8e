/* SPDX-License-Identifier: MIT */
/*
 * fields - header fields: a short list of names and values that HTTP allows.
 *
 * A line break in a value would start a second header, or a second request: only
 * gbx_fields_add() adds to a list, and it refuses them. Values are wiped when freed:
 * they may be credentials.
 */
#ifndef GBX_FETCH_FIELDS_H
#define GBX_FETCH_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbx_field {
    char *name;
    char *value;    /* ends in NUL, which it does not contain */
    bool is_secret; /* holds a secret: goes only to the origin it was filled in for */
} gbx_field;

typedef struct gbx_fields {
    gbx_field *items;
    size_t count;
    size_t bytes; /* of names and values */
} gbx_fields;

typedef enum gbx_field_fault {
    GBX_FIELD_FINE = 0,
    GBX_FIELD_BAD_NAME,  /* not a token */
    GBX_FIELD_BAD_VALUE, /* a control character */
    GBX_FIELD_TOO_MANY,  /* more than the ceilings */
    GBX_FIELD_NO_MEMORY,
} gbx_field_fault;

/* Both are copied; white space around value is dropped, as the standards require. */
gbx_field_fault gbx_fields_add(gbx_fields *fields, const char *name, size_t name_len,
                               const char *value, size_t value_len, size_t max_count,
                               size_t max_bytes);

/* The first value of that name in any case, or NULL. */
const char *gbx_fields_get(const gbx_fields *fields, const char *name);

/* Remove every field of that name. */
void gbx_fields_remove(gbx_fields *fields, const char *name);

/* Remove every field that holds a secret. */
void gbx_fields_remove_secret(gbx_fields *fields);

void gbx_fields_cleanup(gbx_fields *fields);

/* Is text an HTTP token, as names of methods and headers must be? */
bool gbx_is_token(const char *text, size_t len);

#endif
