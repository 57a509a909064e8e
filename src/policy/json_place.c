/* SPDX-License-Identifier: MIT */
/* json_place - no step goes past the end, whatever the text is. */
#include "policy/internal.h"

#include <string.h>

typedef struct walk {
    const char *text;
    size_t at;
    size_t len;
} walk;

static char here(const walk *w)
{
    if (w->at < w->len)
        return w->text[w->at];
    return '\0';
}

static void skip_any(walk *w, const char *bytes)
{
    while (w->at < w->len && w->text[w->at] != '\0' &&
           strchr(bytes, w->text[w->at]) != NULL)
        w->at++;
}

static void skip_space(walk *w)
{
    skip_any(w, " \t\r\n");
}

static void skip_string(walk *w)
{
    for (w->at++; w->at < w->len && w->text[w->at] != '"'; w->at++)
        if (w->text[w->at] == '\\')
            w->at++;
    w->at = w->at < w->len ? w->at + 1 : w->len;
}

/* Skip a string, one of the six marks, or a number or word. */
static void skip_token(walk *w)
{
    char c = here(w);

    if (c == '"') {
        skip_string(w);
    } else if (c != '\0' && strchr("[]{},:", c) != NULL) {
        w->at++;
    } else {
        w->at++; /* advances even if this is not JSON */
        while (w->at < w->len && strchr(" \t\r\n[]{},:\"", w->text[w->at]) == NULL)
            w->at++;
    }
}

static void skip_value(walk *w)
{
    size_t depth = 0;

    do {
        char c;

        skip_space(w);
        c = here(w);
        if (c == '[' || c == '{')
            depth++;
        else if ((c == ']' || c == '}') && depth > 0)
            depth--;
        skip_token(w);
    } while (depth > 0 && w->at < w->len);
}

/* Go from the beginning of an object or array to the key or value of its member n. */
static void enter(walk *w, size_t n, bool is_key)
{
    bool is_object = here(w) == '{';

    w->at++;
    for (;; n--) {
        skip_space(w);
        if (is_object && !(n == 0 && is_key)) {
            skip_token(w);
            skip_space(w);
            skip_token(w); /* the colon */
            skip_space(w);
        }
        if (n == 0 || w->at >= w->len)
            return;
        skip_value(w);
        skip_space(w);
        skip_token(w); /* the comma */
    }
}

/* ---- public to other modules -------------------------------------------- */

size_t gbx_json_place(const char *text, size_t len, const size_t *path, size_t depth,
                      bool is_key)
{
    walk w = {text, 0, len};

    skip_space(&w);
    for (size_t i = 0; i < depth && w.at < len; i++)
        enter(&w, path[i], is_key && i + 1 == depth);
    return w.at < len ? w.at : len;
}

size_t gbx_json_token_before(const char *text, size_t len, size_t end)
{
    walk w = {text, 0, len};
    size_t last = 0;

    for (;;) {
        skip_space(&w);
        if (w.at >= end || w.at >= len)
            return last;
        last = w.at;
        skip_token(&w);
    }
}
