/* SPDX-License-Identifier: MIT */
/* term - see cli.h. Only base/utf8 decides which characters steer a terminal. */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const codes[] = {
    [GBX_PAINT_NONE] = "",          [GBX_PAINT_BOLD] = "\x1b[1m",
    [GBX_PAINT_DIM] = "\x1b[2m",    [GBX_PAINT_RED] = "\x1b[1;31m",
    [GBX_PAINT_GREEN] = "\x1b[32m", [GBX_PAINT_YELLOW] = "\x1b[33m",
    [GBX_PAINT_CYAN] = "\x1b[36m",
};

gbx_term gbx_term_open(FILE *stream, gbx_color color)
{
    bool is_terminal = isatty(fileno(stream)) == 1;
    const char *no_color = getenv("NO_COLOR");
    const char *type = getenv("TERM");
    bool has_color = color == GBX_COLOR_ALWAYS;

    if (color == GBX_COLOR_AUTO)
        has_color = is_terminal && (no_color == NULL || *no_color == '\0') &&
                    (type == NULL || strcmp(type, "dumb") != 0);
    return (
        gbx_term){.stream = stream, .has_color = has_color, .is_terminal = is_terminal};
}

void gbx_term_paint(const gbx_term *term, gbx_paint paint, const char *format, ...)
{
    va_list args;

    if (term->has_color)
        (void)fputs(codes[paint], term->stream);
    va_start(args, format);
    (void)vfprintf(term->stream, format, args);
    va_end(args);
    if (term->has_color && paint != GBX_PAINT_NONE)
        (void)fputs("\x1b[0m", term->stream);
}

void gbx_term_foreign(const gbx_term *term, const char *text, size_t len,
                      gbx_escape how)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = len * 6 + 1};

    /* One byte becomes at most six: "\u{1b}". */
    if (!gbx_utf8_append_escaped(&buf, text, len, how))
        (void)fputs("[no memory to print this]", term->stream);
    else if (buf.len > 0)
        (void)fwrite(buf.data, 1, buf.len, term->stream);
}

void gbx_term_print(const gbx_term *term, const char *format, ...)
{
    size_t format_len = strlen(format);
    bool ends_line = format_len > 0 && format[format_len - 1] == '\n';
    char *text;
    va_list args;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);
    text = gbx_need(len >= 0 ? text : NULL);
    gbx_term_foreign(term, text, (size_t)len - ends_line, GBX_ESCAPE_LINE);
    if (ends_line)
        (void)fputc('\n', term->stream);
    free(text);
}

void gbx_term_block(const gbx_term *term, const char *text, int indent)
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");

        (void)fprintf(term->stream, "%*s", indent, "");
        gbx_term_foreign(term, text, len, GBX_ESCAPE_TEXT);
        (void)fputc('\n', term->stream);
        text += len + (text[len] == '\n' ? 1 : 0);
    }
}

void gbx_term_json(const gbx_term *term, const char *json, size_t len)
{
    if (term->is_terminal)
        gbx_term_foreign(term, json, len, GBX_ESCAPE_TEXT | GBX_ESCAPE_JSON);
    else
        (void)fwrite(json, 1, len, term->stream);
}

void gbx_term_json_line(const gbx_term *term, const gbx_buf *json)
{
    if (!json->failed)
        gbx_term_json(term, (const char *)json->data, json->len);
    (void)fputc('\n', term->stream);
}

void gbx_term_headline(const gbx_term *term, const char *what, const char *message)
{
    (void)fputs("glovebox: ", term->stream);
    if (what != NULL) {
        gbx_term_paint(term, GBX_PAINT_RED, "%s", what);
        (void)fputs(": ", term->stream);
    }
    gbx_term_print(term, "%s", message);
}
