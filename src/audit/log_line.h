/* SPDX-License-Identifier: MIT */
/*
 * log_line - one line of the security log: one JSON object that no text can break out
 * of.
 *
 * Text comes from sandboxed code and from servers. It is cut. Anything that could end a
 * line or control a terminal is escaped twice: in the line's bytes, and again in the
 * string that a JSON parser makes of them, so that printing that string is harmless
 * too.
 *
 * A line is never longer than what a pipe accepts in one piece. A field that does not
 * fit is omitted together with all later ones, and the line says so: put what matters
 * first. The only memory used is the caller's stack.
 */
#ifndef GBX_AUDIT_LOG_LINE_H
#define GBX_AUDIT_LOG_LINE_H

#include "base/buf.h"

/* With the newline at its end. */
#define GBX_LINE_MAX 4096

/* At most this many bytes of a text are used; fewer if they need many escapes. */
#define GBX_LINE_TEXT_MAX 256

#define GBX_LINE_DEPTH_MAX 4

typedef struct gbx_log_line {
    gbx_buf buf; /* over space: never grows */
    bool is_cut; /* something did not fit: later fields are dropped */
    size_t depth;
    char closers[GBX_LINE_DEPTH_MAX]; /* NUL: not opened, for lack of room */
    uint8_t space[GBX_LINE_MAX + 1];
} gbx_log_line;

/* The start of every line; call_id may be NULL. */
typedef struct gbx_log_line_head {
    int64_t wall_ms; /* since 1970 */
    uint64_t seq;
    const char *event;
    const char *engine;
    const char *call_id;
} gbx_log_line_head;

/* line must not move until it has been ended. */
void gbx_log_line_begin(gbx_log_line *line, const gbx_log_line_head *head);

/* Fields of the innermost open object; with key NULL, elements of an array. */
void gbx_log_line_text(gbx_log_line *line, const char *key, const void *text,
                       size_t len);
void gbx_log_line_puts(gbx_log_line *line, const char *key, const char *text);
void gbx_log_line_count(gbx_log_line *line, const char *key, uint64_t number);
void gbx_log_line_number(gbx_log_line *line, const char *key, double number);
void gbx_log_line_bool(gbx_log_line *line, const char *key, bool value);

/* '{' or '['; closed in the reverse order, every one. */
void gbx_log_line_open(gbx_log_line *line, const char *key, char bracket);
void gbx_log_line_close(gbx_log_line *line);

/* The whole line, with its newline, then NUL; *ret_len is without the NUL. */
const char *gbx_log_line_end(gbx_log_line *line, size_t *ret_len);

/* The start of hostile text as one line, escaped as in the log; NUL-terminates `to`.
 * Returns the length. */
size_t gbx_log_line_escape(const void *text, size_t len, char *to, size_t size);

#endif
