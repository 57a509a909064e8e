/* SPDX-License-Identifier: MIT */
/*
 * term - what may reach a terminal, and in which colour.
 *
 * Text that guest code can choose never reaches a terminal unescaped. Colours are only
 * for a terminal, unless asked for by --color=always; NO_COLOR and TERM=dumb turn them
 * off.
 */
#ifndef GBX_CLI_TERM_H
#define GBX_CLI_TERM_H

#include "base/utf8.h"

#include <stdio.h>

typedef enum gbx_color {
    GBX_COLOR_AUTO = 0,
    GBX_COLOR_ALWAYS = 1,
    GBX_COLOR_NEVER = 2,
} gbx_color;

typedef enum gbx_paint {
    GBX_PAINT_NONE,
    GBX_PAINT_BOLD,
    GBX_PAINT_DIM,
    GBX_PAINT_RED,
    GBX_PAINT_GREEN,
    GBX_PAINT_YELLOW,
    GBX_PAINT_CYAN,
} gbx_paint;

/* A stream and whether it is painted. */
typedef struct gbx_term {
    FILE *stream;
    bool has_color;
    bool is_terminal;
} gbx_term;

gbx_term gbx_term_open(FILE *stream, gbx_color color);

/* Print text between the codes of a colour. The text must be ours. */
void gbx_term_paint(const gbx_term *term, gbx_paint paint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Print text of anybody's, escaped; GBX_ESCAPE_TEXT keeps newlines and tabs. */
void gbx_term_foreign(const gbx_term *term, const char *text, size_t len,
                      gbx_escape how);

/* The same, each line indented by some columns, the last with a newline. */
void gbx_term_block(const gbx_term *term, const char *text, int indent);

/* Print JSON: as it is to a file or pipe; to a terminal with the characters that could
 * steer it as \uXXXX, which is the same JSON. */
void gbx_term_json(const gbx_term *term, const char *json, size_t len);

/* `glovebox: WHAT: message`, escaped; what may be NULL. Without a newline. */
void gbx_term_headline(const gbx_term *term, const char *what, const char *message);

#endif
