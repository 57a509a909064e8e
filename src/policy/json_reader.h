/* SPDX-License-Identifier: MIT */
/*
 * json_reader - read a policy or configuration by tables of keys; every refusal has a
 * position.
 */
#ifndef GBX_POLICY_JSON_READER_H
#define GBX_POLICY_JSON_READER_H

#include "base/json_view.h"
#include "policy/policy.h"

#include <sys/queue.h>

/* Maximum depth: {"glovebox": {"rules": [{"args": {"NAME": ["..."]}}]}}. */
#define GBX_POLICY_DEPTH 6

/* A member or element that is being read. */
typedef struct gbx_json_place {
    gbx_view name; /* no value: an element of an array */
    gbx_view value;
    const char *key; /* the name's characters */
    size_t index;
} gbx_json_place;

typedef struct gbx_json_reader {
    const char *text;
    size_t len;
    const char *base_dir;
    gbx_policy *policy;
    gbx_policy since; /* the counts before this change; zeros for a new one */
    gbx_error *err;   /* never NULL */
    size_t depth;     /* of the value being read */
    gbx_json_place path[GBX_POLICY_DEPTH];
    const struct gbx_json_key *row;        /* of the member being read */
    SLIST_HEAD(, gbx_json_string) strings; /* decoded */
} gbx_json_reader;

/* Add one element of an array of strings. Refuses with a position in text; the caller
 * adds its place. */
typedef gbx_status (*gbx_json_text_fn)(gbx_json_reader *r, const char *text, size_t len,
                                       void *target);

/* Read the current value into target. In the function of a row, r->row is that row
 * until it reads another object. */
typedef gbx_status (*gbx_json_value_fn)(gbx_json_reader *r, gbx_view value,
                                        void *target);

/* One key that an object may have. */
typedef struct gbx_json_key {
    const char *name;
    gbx_json_value_fn read;
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

/* Check r->text; *ret is its value. what names the text in the message that it is too
 * large. Readers must not go deeper than GBX_POLICY_DEPTH, whatever depth_max is. */
gbx_status gbx_json_open(gbx_json_reader *r, const char *what, size_t bytes_max,
                         size_t depth_max, gbx_view *ret);

/* Wipe and free the strings that were read. */
void gbx_json_end(gbx_json_reader *r);

/* *ret is the current value, a string, until gbx_json_end(). Other values are refused
 * with wanted, the kind of value that belongs there. A string with NUL or an unpaired
 * surrogate is refused. */
gbx_status gbx_json_read_text(gbx_json_reader *r, gbx_view value, const char *wanted,
                              const char **ret);

/* The same for true and false. */
gbx_status gbx_json_read_bool(gbx_json_reader *r, gbx_view value, bool *ret);

/* Read every member by its row in keys; a member without a row is refused. */
gbx_status gbx_json_read_object(gbx_json_reader *r, gbx_view value,
                                const gbx_json_key *keys, size_t count, void *target);

/* Read every member, in order; each is the current value meanwhile. A second one of the
 * same name is refused, but not by gbx_json_each_member(). */
typedef gbx_status (*gbx_json_member_fn)(gbx_json_reader *r, const char *key,
                                         gbx_view value, void *target);
gbx_status gbx_json_read_members(gbx_json_reader *r, gbx_view value,
                                 gbx_json_member_fn read, void *target);
gbx_status gbx_json_each_member(gbx_json_reader *r, gbx_view value,
                                gbx_json_member_fn read, void *target);

/* Read only the member of that name, if there is one; it may be there only once. */
gbx_status gbx_json_read_member(gbx_json_reader *r, gbx_view object, const char *name,
                                gbx_json_member_fn read, void *target);

/* Read every element of an array; each is the current value meanwhile. */
gbx_status gbx_json_read_items(gbx_json_reader *r, gbx_view value,
                               gbx_json_value_fn read, void *target);

/* Read every element of an array of strings. */
gbx_status gbx_json_read_texts(gbx_json_reader *r, gbx_view value, gbx_json_text_fn add,
                               void *target);

/* gbx_json_key.read for a non-empty array of strings; key->add gets each. */
gbx_status gbx_json_read_list(gbx_json_reader *r, gbx_view value, void *target);

/* gbx_json_key.read for a whole number within the key's bounds. */
gbx_status gbx_json_read_number(gbx_json_reader *r, gbx_view value, void *target);

/* Refuse the current value, or its key. */
gbx_status gbx_json_refuse(gbx_json_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
gbx_status gbx_json_refuse_key(gbx_json_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "'x' is a number: ..." */
gbx_status gbx_json_refuse_type(gbx_json_reader *r, gbx_view value, const char *wanted);

/* Refuse an object that lacks a required key. */
gbx_status gbx_json_require(gbx_json_reader *r, gbx_view value, const char *key,
                            const char *why);

/* Add position and name of the current value, or its key, to a GBX_E_POLICY in r->err
 * from a function that does not know the file. Returns status. */
gbx_status gbx_json_placed(gbx_json_reader *r, gbx_status status);
gbx_status gbx_json_placed_key(gbx_json_reader *r, gbx_status status);

/* ---- capability_grants.c ------------------------------------------------- */

/*
 * Add one item to r->policy; the last two add to target, a gbx_secret.
 *
 * A refusal has line 1 and a column in text, and nothing is added. An item that is
 * listed already is refused if it was added after r->since: twice in the same list is a
 * mistake. Else it is ignored.
 */

gbx_status gbx_grant_site(gbx_json_reader *r, const char *text, size_t len,
                          void *target);

/* A relative directory is below r->base_dir. */
gbx_status gbx_grant_root(gbx_json_reader *r, const char *text, size_t len,
                          void *target);

/* "db.query", "db.*", "*" */
gbx_status gbx_grant_function(gbx_json_reader *r, const char *text, size_t len,
                              void *target);

/* A variable of the host's environment. */
gbx_status gbx_grant_variable(gbx_json_reader *r, const char *text, size_t len,
                              void *target);

gbx_status gbx_grant_secret_site(gbx_json_reader *r, const char *text, size_t len,
                                 void *target);
gbx_status gbx_grant_secret_function(gbx_json_reader *r, const char *text, size_t len,
                                     void *target);

/* ---- policy_file.c ------------------------------------------------------- */

/* The directory that relative paths in the file at path start from; free() it. NULL as
 * path: the current one. NULL is returned if memory is out. */
char *gbx_directory_of(const char *path);

/*
 * Read one secret of r->policy: its value by "from", "file" or "value", and its targets
 * by lists, whose target is the gbx_secret. why_first says why the first list is
 * required; NULL if it is not.
 */
gbx_status gbx_policy_read_secret(gbx_json_reader *r, const char *name, gbx_view value,
                                  const gbx_json_key *lists, size_t list_count,
                                  const char *why_first);

#endif
