/* SPDX-License-Identifier: MIT */
/*
 * json_view - look into JSON text without building anything.
 *
 * A view is one value inside text that gbx_view_open() has checked once; it borrows the
 * text. For a view of the wrong kind the functions find nothing.
 */
#ifndef GBX_BASE_JSON_VIEW_H
#define GBX_BASE_JSON_VIEW_H

#include "base/buf.h"

typedef struct gbx_view {
    const char *at; /* the value's first character; NULL: no value */
    size_t len;     /* to its last, without white space around it */
} gbx_view;

/* False if text is not JSON. */
bool gbx_view_open(const char *text, size_t len, gbx_view *ret);

/* The string whose first quote is at at, in text that is JSON. */
gbx_view gbx_view_string_at(const char *at);

/* '{', '[', '"', 't', 'f', 'n', '0' for every number, or 0 for no value. */
char gbx_view_kind(gbx_view view);

/* A string of just these characters, however they are written ("a\/b", "\u0061/b"). */
bool gbx_view_is_text(gbx_view view, const char *text);

/* The first member of that name of an object, as gbx_view_is_text(); no value if there is
 * none. */
gbx_view gbx_view_member(gbx_view object, const char *name);
/* The same for several different names, in one pass over text that may be long. */
void gbx_view_members(gbx_view object, const char *const *names, size_t count,
                      gbx_view *ret);

/*
 * Walk an array or an object: *cursor is 0 at first. *ret_name is the member's name as a
 * string view, or no value in an array. False at the end.
 */
bool gbx_view_next(gbx_view container, size_t *cursor, gbx_view *ret_name,
                   gbx_view *ret_value);

/* The number of an array's elements or an object's members; 0 for any other kind. */
size_t gbx_view_count(gbx_view container);

/* Append a value as it is written, with an unpaired surrogate replaced by the escape of
 * U+FFFD. */
bool gbx_view_append_json(gbx_view view, gbx_buf *to);

/* Append a string's characters, or any other value as it is written. */
bool gbx_view_append_text(gbx_view view, gbx_buf *to);

/* Append a string's characters. False for any other value, for an unpaired surrogate
 * and if the buffer has no room; what was appended is then of no use. */
bool gbx_view_take_text(gbx_view view, gbx_buf *to);

/* A string's characters, at most max bytes of them, to be freed; NULL: another value, or a
 * longer one, or one with NUL. */
char *gbx_view_string(gbx_view view, size_t max);

/* A string with an unpaired surrogate? */
bool gbx_view_has_half(gbx_view view);

bool gbx_view_is_true(gbx_view view);

/* Replace escapes of unpaired surrogates by that of U+FFFD, in place, for readers that
 * refuse such text. */
void gbx_json_mend_halves(char *json, size_t len);

/* Append JSON on one line that every reader accepts: line ends, which include a
 * carriage return, become blanks, and half a surrogate pair becomes U+FFFD. It must be
 * JSON; the length stays the same. */
bool gbx_json_append_line(gbx_buf *to, const char *json, size_t len);

/* The same behind its key; see gbx_json_put_key(). */
void gbx_json_put_json(gbx_buf *to, const char *key, const char *json, size_t len);

#endif
