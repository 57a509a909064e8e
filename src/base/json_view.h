/* SPDX-License-Identifier: MIT */
/*
 * json_view - read values in JSON text without building a tree.
 *
 * A view is one value inside text that gbx_view_open() has checked once; it borrows the
 * text. For a view of the wrong kind the functions find nothing.
 */
#ifndef GBX_BASE_JSON_VIEW_H
#define GBX_BASE_JSON_VIEW_H

#include "base/buf.h"

typedef struct gbx_view {
    const char *at; /* the value's first character; NULL: no value */
    size_t len;     /* in bytes, without white space around it */
} gbx_view;

/* False if text is not JSON, or nested deeper than GBX_JSON_DEPTH_MAX. */
bool gbx_view_open(const char *text, size_t len, gbx_view *ret);
/* The same with another depth. */
bool gbx_view_open_within(const char *text, size_t len, size_t max_depth,
                          gbx_view *ret);

/* The string whose opening quote is *at, in valid JSON text. */
gbx_view gbx_view_string_at(const char *at);

/* '{', '[', '"', 't', 'f', 'n', '0' for every number, or 0 for no value. */
char gbx_view_kind(gbx_view view);

/* True for a string of just these characters, with any escapes ("a\/b", "\u0061"). */
bool gbx_view_is_text(gbx_view view, const char *text);

/* The object's first member of that name, compared by gbx_view_is_text(); no value if
 * there is none. */
gbx_view gbx_view_member(gbx_view object, const char *name);
/* The same for several different names, in one pass. */
void gbx_view_members(gbx_view object, const char *const *names, size_t count,
                      gbx_view *ret);
/* The same; false if one of them is there twice. */
bool gbx_view_once(gbx_view object, const char *const *names, size_t count,
                   gbx_view *ret);

/*
 * Walk an array or an object: *cursor is 0 at first. *ret_name is the member's name as a
 * string view, or no value in an array. False at the end.
 */
bool gbx_view_next(gbx_view container, size_t *cursor, gbx_view *ret_name,
                   gbx_view *ret_value);

/* The number of an array's elements or an object's members; 0 for any other kind. */
size_t gbx_view_count(gbx_view container);

/* Append a value's JSON text. The escape of an unpaired surrogate becomes that of
 * U+FFFD. */
bool gbx_view_append_json(gbx_view view, gbx_buf *to);

/* Append a string's characters, or any other value's JSON text. */
bool gbx_view_append_text(gbx_view view, gbx_buf *to);

/* Append a string's characters. False for any other value, for an unpaired surrogate
 * and if the buffer is full; ignore what was appended then. */
bool gbx_view_take_text(gbx_view view, gbx_buf *to);

/* A string's characters; free() them. NULL for any other value, and for a string with
 * NUL or of more than max bytes. */
char *gbx_view_string(gbx_view view, size_t max);

/* True for a string with an unpaired surrogate. */
bool gbx_view_has_half(gbx_view view);

bool gbx_view_is_true(gbx_view view);

/* Replace the escape of each unpaired surrogate by that of U+FFFD, in place, since some
 * readers refuse them. */
void gbx_json_mend_halves(char *json, size_t len);

/* Append JSON on one line that every reader accepts: newlines and carriage returns
 * become blanks, and the escape of an unpaired surrogate becomes that of U+FFFD. The
 * text must be valid JSON; its length does not change. */
bool gbx_json_append_line(gbx_buf *to, const char *json, size_t len);

/* The same after a key; see gbx_json_put_key(). */
void gbx_json_put_json(gbx_buf *to, const char *key, const char *json, size_t len);

#endif
