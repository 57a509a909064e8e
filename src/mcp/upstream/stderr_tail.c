/* SPDX-License-Identifier: MIT */
/* stderr_tail - see internal.h. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "policy/policy.h"

#include <string.h>

/* Limit of one line, so that others are seen, too. */
#define LINE_BYTES 150

/* A stack frame, a lone brace or an empty line: the reason comes before these, and
 * would be pushed out. */
static bool is_idle(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && (text[at] == ' ' || text[at] == '\t'))
        at++;
    if (at > 0 && len - at > 3 && memcmp(text + at, "at ", 3) == 0)
        return true;
    for (; at < len; at++)
        if ((unsigned char)text[at] > ' ' && strchr("{}[](),;^~", text[at]) == NULL)
            return false;
    return true;
}

/* The tail may begin inside a secret, whose rest would not be recognized. */
static gbx_span without_first_line(gbx_span text)
{
    const uint8_t *newline = memchr(text.data, '\n', text.len);
    size_t gone = newline != NULL ? (size_t)(newline - text.data) + 1 : text.len;

    return (gbx_span){text.data + gone, text.len - gone};
}

/* "Error: ...", "TypeError [CODE]: ...", "fatal error: ..." */
static bool names_fault(const char *line, size_t len)
{
    const char *end = line + len;

    while ((line = memmem(line, (size_t)(end - line), "rror", 4)) != NULL) {
        line += 4;
        if (line < end &&
            (*line == ':' || (end - line > 1 && memcmp(line, " [", 2) == 0)))
            return true;
    }
    return false;
}

/* The beginning of the line before. */
static const char *line_before(const char *text, const char *at)
{
    const char *line = at - 1;

    while (line > text && line[-1] != '\n')
        line--;
    return line;
}

static void print_lines(const char *from, const char *end, gbx_buf *to)
{
    const char *separator = "";

    while (from < end) {
        const char *newline = memchr(from, '\n', (size_t)(end - from));
        const char *stop = newline != NULL ? newline : end;

        if (!is_idle(from, (size_t)(stop - from))) {
            (void)gbx_buf_puts(to, separator);
            separator = " | ";
            (void)gbx_utf8_append_escaped(to, from,
                                          stop - from < LINE_BYTES
                                              ? (size_t)(stop - from)
                                              : LINE_BYTES,
                                          GBX_ESCAPE_LINE);
        }
        from = newline != NULL ? newline + 1 : end;
    }
}

/* The text after the reason (usage, members of an error) may be longer than the
 * limit. */
static void print_last(const char *text, size_t len, unsigned lines, gbx_buf *to)
{
    const char *end = text + len;
    const char *from = end; /* of the last lines */
    bool has_reason = false;

    for (unsigned found = 0; from > text && found < lines;) {
        const char *line = line_before(text, from);

        found += !is_idle(line, (size_t)(from - line));
        has_reason = has_reason || names_fault(line, (size_t)(from - line));
        from = line;
    }
    for (const char *at = from; at > text && !has_reason;) {
        const char *line = line_before(text, at);

        has_reason = names_fault(line, (size_t)(at - line));
        if (has_reason) {
            print_lines(line, at, to);
            (void)gbx_buf_puts(to, " | ... | ");
        }
        at = line;
    }
    print_lines(from, end, to);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_stderr_tail_add(gbx_stderr_tail *tail, const char *data, size_t len)
{
    size_t kept;

    tail->is_cut = tail->is_cut || tail->len + len > sizeof tail->bytes;
    if (len >= sizeof tail->bytes) {
        memcpy(tail->bytes, data + len - sizeof tail->bytes, sizeof tail->bytes);
        tail->len = sizeof tail->bytes;
        return;
    }
    kept = sizeof tail->bytes - len < tail->len ? sizeof tail->bytes - len : tail->len;
    memmove(tail->bytes, tail->bytes + tail->len - kept, kept);
    memcpy(tail->bytes + kept, data, len);
    tail->len = kept + len;
}

bool gbx_stderr_tail_print(const gbx_stderr_tail *tail, const gbx_policy *secrets,
                           unsigned lines, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {0};
    gbx_span text = {(const uint8_t *)tail->bytes, tail->len};
    bool changed;

    /* Redact before lines are cut: half a secret would not be found. */
    if (secrets != NULL && tail->is_cut)
        text = without_first_line(text);
    gbx_buf_init(&clean, (size_t)GBX_TAIL_BYTES * 8);
    if (!gbx_secrets_strip(secrets, GBX_SECRET_LINE, text, &clean, &changed))
        return false;
    if (changed)
        text = (gbx_span){clean.data, clean.len};
    print_last((const char *)text.data, text.len, lines, to);
    return !to->failed;
}
