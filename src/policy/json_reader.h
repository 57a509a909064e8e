/* SPDX-License-Identifier: MIT */
/*
 * json_reader - one policy file being read: objects by tables of keys, and refusals that
 * say where.
 */
#ifndef GBX_POLICY_JSON_READER_H
#define GBX_POLICY_JSON_READER_H

#include "policy/capability_grants.h"

#include <jansson.h>

/* {"secrets": {"NAME": {"sites": ["..."]}}} is the deepest there is. */
#define GBX_POLICY_DEPTH 6

typedef struct gbx_json_reader {
    const char *text;
    size_t len;
    const char *base_dir;
    gbx_policy *policy;
    gbx_error *err;                     /* never NULL */
    size_t depth;                       /* of the value being read */
    size_t path[GBX_POLICY_DEPTH];      /* its ordinals */
    const char *keys[GBX_POLICY_DEPTH]; /* its names; NULL: an element of an array */
} gbx_json_reader;

/* One element of an array of strings; refuses as capability_grants.h has it, without place. */
typedef gbx_status (*gbx_json_text_fn)(gbx_json_reader *r, const char *text, size_t len,
                                       void *target);

/* One key that an object may have. */
typedef struct gbx_json_key {
    const char *name;
    /* value is what stands there, target what the object fills. */
    gbx_status (*read)(gbx_json_reader *r, const json_t *value,
                       const struct gbx_json_key *key, void *target);
    gbx_json_text_fn add; /* for gbx_json_read_list() */
    size_t offset;        /* of a number's field in target */
    size_t size;          /* of that field: 4 or 8 bytes */
    uint64_t min;
    uint64_t max;
} gbx_json_key;

/* clang-format off */
#define GBX_JSON_NUMBER(key_name, type, field, least, most) \
    {.name = (key_name), .read = gbx_json_read_number, .offset = offsetof(type, field), \
     .size = sizeof(((type *)NULL)->field), .min = (least), .max = (most)}
/* clang-format on */

/* From now on the library of JSON wipes what it frees: its values and the text of its reader
 * may be secrets. It is for the start of a program, which has one such library. */
void gbx_json_wipe_freed(void);

/* r->text as values, no member twice; json_decref() it. what names the text where it is
 * too large. Where it is read deeper than GBX_POLICY_DEPTH, nothing may be refused. */
gbx_status gbx_json_decode(gbx_json_reader *r, const char *what, size_t bytes_max,
                           size_t depth_max, json_t **ret);

/* Every member by its row of keys; a member without one is refused. */
gbx_status gbx_json_read_object(gbx_json_reader *r, const json_t *value,
                                const gbx_json_key *keys, size_t count, void *target);

/* Every member, in order; each is the current value while it is read. */
typedef gbx_status (*gbx_json_member_fn)(gbx_json_reader *r, const char *key,
                                         const json_t *value, void *target);
gbx_status gbx_json_read_members(gbx_json_reader *r, const json_t *value,
                                 gbx_json_member_fn read, void *target);

/* Every element of an array; each is the current value while it is read. */
typedef gbx_status (*gbx_json_item_fn)(gbx_json_reader *r, const json_t *value,
                                       void *target);
gbx_status gbx_json_read_items(gbx_json_reader *r, const json_t *value,
                               gbx_json_item_fn read, void *target);

/* Every element of an array of strings. */
gbx_status gbx_json_read_texts(gbx_json_reader *r, const json_t *value,
                               gbx_json_text_fn add, void *target);

/* gbx_json_key.read of an array of strings that is not empty; key->add takes them. */
gbx_status gbx_json_read_list(gbx_json_reader *r, const json_t *value,
                              const gbx_json_key *key, void *target);

/* gbx_json_key.read of a whole number within the key's bounds. */
gbx_status gbx_json_read_number(gbx_json_reader *r, const json_t *value,
                                const gbx_json_key *key, void *target);

/* The current value, a number, as it is written; borrowed from r->text. */
const char *gbx_json_written(const gbx_json_reader *r, size_t *ret_len);

/* Refuse the current value, or its key. */
gbx_status gbx_json_refuse(gbx_json_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
gbx_status gbx_json_refuse_key(gbx_json_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "'x' is a number: ..." */
gbx_status gbx_json_refuse_type(gbx_json_reader *r, const json_t *value,
                                const char *wanted);

/* What an object must have: refused at the object. */
gbx_status gbx_json_require(gbx_json_reader *r, const json_t *value, const char *key,
                            const char *why);

/* The current value, or its key, was refused in r->err by who knows no file:
 * GBX_E_POLICY gets its position and name. Returns status. */
gbx_status gbx_json_placed(gbx_json_reader *r, gbx_status status);
gbx_status gbx_json_placed_key(gbx_json_reader *r, gbx_status status);

#endif
