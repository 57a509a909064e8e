/* SPDX-License-Identifier: MIT */
/*
 * ids - finds the id of an answer in the outermost object only: an id inside the result
 * is the tool's, and must not be taken for another call's.
 */
#include "mcp/upstream/internal.h"

#include <string.h>

/* A banner may also look like the beginning of an answer. */
#define BEHIND_TRIES 8

typedef struct found {
    int64_t id; /* -1: the object has two */
    int depth;  /* at the end of the text */
    bool has_version;
    bool has_method;
} found;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Skip the string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* Read the digits of an integer as we write them; *ret is 0 if there are none. */
static const char *read_digits(const char *at, const char *end, int64_t *ret)
{
    const char *first = at;

    *ret = 0;
    if (at < end && *at == '0')
        return at;
    for (; at < end && *at >= '0' && *at <= '9' && at - first < 18; at++)
        *ret = *ret * 10 + (*at - '0');
    return at;
}

/* Skip a fraction that is all zeros. */
static const char *skip_zeros(const char *at, const char *end)
{
    if (end - at < 2 || at[0] != '.' || at[1] != '0')
        return at;
    for (at++; at < end && *at == '0';)
        at++;
    return at;
}

/* The id must end before a comma, a brace or the like: otherwise it may be cut off. */
static int64_t id_at(const char *at, const char *end)
{
    int64_t id;
    bool is_text;

    at = skip_blanks(at, end);
    is_text = at < end && *at == '"';
    at = read_digits(at + is_text, end, &id);
    at = is_text ? at : skip_zeros(at, end);
    return at < end && memchr("0123456789.eE", *at, 13) == NULL ? id : 0;
}

static void note_member(found *f, const char *name, size_t len, const char *value,
                        const char *end)
{
    int64_t id;

    if (len == 9 && memcmp(name, "\"jsonrpc\"", len) == 0)
        f->has_version = true;
    if (len == 8 && memcmp(name, "\"method\"", len) == 0)
        f->has_method = true;
    if (len != 4 || memcmp(name, "\"id\"", len) != 0)
        return;
    id = id_at(value, end);
    f->id = f->id != 0 && f->id != id ? -1 : id;
}

/* depth: how many braces and brackets are open where the text begins. */
static found scan(const char *text, size_t len, int depth)
{
    const char *end = text + len;
    found f = {.depth = depth};

    for (const char *at = text; at < end; at++) {
        const char *name = at;
        const char *after;

        f.depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        if (*at != '"')
            continue;
        at = skip_string(name, end);
        after = skip_blanks(at, end);
        if (f.depth == 1 && after < end && *after == ':')
            note_member(&f, name, (size_t)(at - name), after + 1, end);
        at--;
    }
    return f;
}

/* A log line may hold a message, too; an answer begins with its brace. */
static bool is_object(const char *text, size_t len)
{
    size_t at = 0;

    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    while (at < len && (unsigned char)text[at] <= ' ')
        at++;
    return at < len && text[at] == '{';
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_id_read(gbx_view view, int64_t *ret)
{
    bool is_text = gbx_view_kind(view) == '"';
    const char *end;
    const char *at;
    int64_t id;

    if (!is_text && gbx_view_kind(view) != '0')
        return false;
    end = view.at + view.len - is_text;
    at = read_digits(view.at + is_text, end, &id);
    if ((is_text ? at : skip_zeros(at, end)) != end || id == 0)
        return false;
    *ret = id;
    return true;
}

int64_t gbx_id_find(const char *text, size_t len)
{
    found f = scan(text, len, 0);

    return is_object(text, len) && f.has_version && !f.has_method && f.id > 0 ? f.id
                                                                              : 0;
}

int64_t gbx_id_find_behind(const char *text, size_t len)
{
    const char *end = text + len;
    int64_t id = 0;

    for (unsigned tries = 0; id == 0 && tries < BEHIND_TRIES; tries++) {
        const char *at = len > 0 ? memmem(text, (size_t)(end - text), "{\"", 2) : NULL;

        if (at == NULL)
            return 0;
        id = gbx_id_find(at, (size_t)(end - at));
        text = at + 1;
    }
    return id;
}

int64_t gbx_id_find_in_head(const char *text, size_t len)
{
    found f = scan(text, len, 0);

    return is_object(text, len) && !f.has_method && f.id > 0 ? f.id : 0;
}

int64_t gbx_id_find_in_tail(const char *text, size_t len)
{
    for (size_t at = len; at-- > 0;) {
        found f;

        if (len - at < 4 || memcmp(text + at, "\"id\"", 4) != 0)
            continue;
        /* After a member of the outermost object, only that object is open. */
        f = scan(text + at, len - at, 1);
        return f.depth == 0 && !f.has_method && f.id > 0 ? f.id : 0;
    }
    return 0;
}
