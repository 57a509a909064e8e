/* SPDX-License-Identifier: MIT */
/*
 * glob - matches patterns, and folds the case of letters for them.
 *
 * It tracks the set of positions in the pattern that the text can reach: the time is
 * bounded by pattern length times text length.
 */
#include "mcp/rules/rules.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/rules/letters_table.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* ---- letters ---------------------------------------------------------------- */

static uint32_t fold_point(uint32_t point)
{
    size_t low = 0;
    size_t high = GBX_COUNTOF(letters_table);

    while (low < high) {
        size_t middle = (low + high) / 2;
        const letters *l = &letters_table[middle];

        if (point > l->last)
            low = middle + 1;
        else if (point < l->first)
            high = middle;
        else
            return (point - l->first) % l->step == 0 ? point - l->back : point;
    }
    return point;
}

/* ---- places of a pattern ---------------------------------------------------- */

/* Reachable places: a flag for each byte of the pattern. */
typedef struct places {
    bool any;
    bool at[GBX_GLOB_MAX + 2];
} places;

typedef struct matching {
    char pattern[GBX_GLOB_MAX + 1]; /* folded if the text is */
    size_t len;
    size_t host;     /* where the host of a URL pattern begins; 0: none */
    size_t host_end; /* and ends */
    gbx_glob_kind kind;
    gbx_glob_how how;
    bool is_anywhere; /* the match may begin at any slash of the text */
} matching;

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Length of the star at place i: 2 for '**'. */
static size_t star_len(const matching *m, size_t i)
{
    return i + 1 < m->len && m->pattern[i + 1] == '*' ? 2 : 1;
}

/* May the wildcard at place i match c? */
static bool wild_takes(const matching *m, size_t i, size_t stars, char c)
{
    if (m->host != 0 && i >= m->host && i < m->host_end)
        return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.';
    return m->kind == GBX_GLOB_TEXT || stars == 2 || c != '/';
}

/* Place i is reached. If a star is there, it may be empty, so the place after it is
 * reached, too. */
static void reach(const matching *m, places *p, size_t i)
{
    p->any = true;
    while (!p->at[i]) {
        p->at[i] = true;
        if (i < m->len && m->pattern[i] == '*')
            i += star_len(m, i);
        /* "/data/" followed by "**" also matches the folder itself, with or
         * without its slash. */
        else if (m->kind != GBX_GLOB_TEXT && i + 3 == m->len &&
                 strncmp(m->pattern + i,
                         "/"
                         "**",
                         3) == 0)
            i += 3;
    }
}

static void step(const matching *m, const places *from, places *to, char c)
{
    to->any = false;
    memset(to->at, 0, m->len + 1);
    for (size_t i = 0; i < m->len; i++) {
        char want = m->pattern[i];

        if (!from->at[i])
            continue;
        if (want == '*') {
            if (wild_takes(m, i, star_len(m, i), c))
                reach(m, to, i);
        } else if (want == '?') {
            if (wild_takes(m, i, 1, c) && ((uint8_t)c & 0xC0) != 0x80)
                reach(m, to, i + 1);
        } else if (want == '\\' && i + 1 < m->len) {
            if (m->pattern[i + 1] == c)
                reach(m, to, i + 2);
        } else if (want == c) {
            reach(m, to, i + 1);
        }
    }
}

/* The next character of the text, folded if need be; returns its length in the text. */
static size_t take(const matching *m, const char *text, size_t len, char ret[4],
                   size_t *ret_len)
{
    if (m->how == GBX_GLOB_WIDE)
        return gbx_letter_fold(text, len, ret, ret_len);
    ret[0] = text[0];
    *ret_len = 1;
    return 1;
}

static void feed(const matching *m, places *at, char c)
{
    places from;

    memcpy(from.at, at->at, m->len + 1);
    step(m, &from, at, c);
    if (((uint8_t)c & 0xC0) != 0x80)
        return;
    /* A '?' that matched the first byte of a character also matches its other bytes. */
    for (size_t i = 1; i <= m->len; i++)
        if (from.at[i] && m->pattern[i - 1] == '?')
            reach(m, at, i);
}

/* Also matches a URL without its parameters: "/a;x=1/b" is "/a/b" to many servers. Only
 * for rules that ask or deny. */
typedef struct detour {
    bool is_path; /* not in the query yet */
    bool is_open; /* inside parameters */
    places from;  /* the places before the parameters */
} detour;

/* Called before each character is fed, and at the end with len 0. */
static void turn(const matching *m, detour *d, places *at, const char *text, size_t len)
{
    bool is_end = len == 0 || *text == '/' || *text == '?' || *text == '#';

    if (!d->is_path)
        return;
    if (d->is_open && is_end) {
        at->any = at->any || d->from.any;
        for (size_t i = 0; i <= m->len; i++)
            at->at[i] = at->at[i] || d->from.at[i];
    } else if (!d->is_open && gbx_canonical_is(';', text, len)) {
        d->from = *at;
    } else {
        return;
    }
    d->is_open = !d->is_open;
}

static bool match(const matching *m, const char *text, size_t len)
{
    places a = {.any = false};
    detour d = {.is_path = m->kind == GBX_GLOB_URL && m->how == GBX_GLOB_WIDE};
    char some[4];
    size_t some_len;

    reach(m, &a, 0);
    if (m->kind == GBX_GLOB_PATH && strncmp(m->pattern,
                                            "**"
                                            "/",
                                            3) == 0)
        reach(m, &a, 3); /* the "**" before the slash may be empty */
    for (size_t i = 0; i < len;) {
        if (m->is_anywhere && text[i] == '/')
            reach(m, &a, 0);
        turn(m, &d, &a, text + i, len - i);
        d.is_path = d.is_path && text[i] != '?' && text[i] != '#';
        i += take(m, text + i, len - i, some, &some_len);
        for (size_t k = 0; k < some_len; k++)
            feed(m, &a, some[k]);
        if (!a.any && !m->is_anywhere && !d.is_open)
            return false;
    }
    turn(m, &d, &a, text + len, 0);
    return a.at[m->len];
}

/* Folding never makes a letter longer, nor turns it into a special character. */
static matching open(const char *pattern, gbx_glob_kind kind, gbx_glob_how how)
{
    matching m = {.kind = kind, .how = how};
    size_t len = strlen(pattern);
    size_t some_len;

    assert(len <= GBX_GLOB_MAX);
    for (size_t i = 0; i < len; m.len += some_len)
        i += take(&m, pattern + i, len - i, m.pattern + m.len, &some_len);
    if (m.kind == GBX_GLOB_URL) {
        m.host = (size_t)(strstr(m.pattern, "://") - m.pattern) + 3;
        m.host_end = m.host + strcspn(m.pattern + m.host, "/");
    }
    /* "https://a/" and "https://a" are equal, but "/" and "file:///" need their
     * slash. */
    if (how == GBX_GLOB_WIDE && m.kind != GBX_GLOB_TEXT)
        while (m.len > m.host_end + (m.host_end == m.host ? 1 : 0) &&
               m.pattern[m.len - 1] == '/' && m.pattern[m.len - 2] != '\\')
            m.len--;
    return m;
}

static size_t before(const char *text, size_t len, char end)
{
    const char *at = memchr(text, end, len);

    return at != NULL ? (size_t)(at - text) : len;
}

static size_t without_slashes(const char *text, size_t len)
{
    while (len > 1 && text[len - 1] == '/')
        len--;
    return len;
}

/* Also match without slashes at the end and, for an address, without the fragment and
 * then without the query: these lead to the same path or page. */
static bool match_wide(const matching *m, const char *text, size_t len)
{
    if (match(m, text, len) || match(m, text, without_slashes(text, len)))
        return true;
    if (m->kind != GBX_GLOB_URL && !m->is_anywhere)
        return false;
    len = before(text, len, '#');
    if (match(m, text, without_slashes(text, len)))
        return true;
    len = before(text, len, '?');
    return match(m, text, without_slashes(text, len));
}

/* Match the normalized path, if that differs from the text. */
static bool match_form(const matching *m, const char *text, size_t len,
                       gbx_path_slashes slashes)
{
    char form[GBX_GLOB_TEXT_MAX];
    size_t form_len = gbx_path_forms(text, len, slashes, form);

    return (form_len != len || memcmp(form, text, len) != 0) &&
           match(m, form, form_len);
}

size_t gbx_letter_fold(const char *text, size_t len, char ret[4], size_t *ret_len)
{
    const uint8_t *data = (const uint8_t *)text;
    size_t n = gbx_utf8_sequence(data, len);

    if (n == 0) {
        ret[0] = text[0];
        *ret_len = 1;
        return 1;
    }
    *ret_len = gbx_utf8_encode(fold_point(gbx_utf8_decode(data, n)), (uint8_t *)ret);
    return n;
}

bool gbx_casefold_same(const char *a, const char *b)
{
    const char *a_end = a + strlen(a);
    const char *b_end = b + strlen(b);

    while (a < a_end && b < b_end) {
        char one[4];
        char other[4];
        size_t one_len;
        size_t other_len;

        a += gbx_letter_fold(a, (size_t)(a_end - a), one, &one_len);
        b += gbx_letter_fold(b, (size_t)(b_end - b), other, &other_len);
        if (one_len != other_len || memcmp(one, other, one_len) != 0)
            return false;
    }
    return a == a_end && b == b_end;
}

bool gbx_glob_is_any(const char *pattern)
{
    return strcmp(pattern, "**") == 0 || strcmp(pattern, "*") == 0;
}

bool gbx_glob_name(const char *pattern, const char *name, gbx_glob_how how)
{
    matching m = open(pattern, GBX_GLOB_TEXT, how);

    return match(&m, name, strlen(name));
}

bool gbx_glob_value(const char *pattern, const char *text, size_t len, gbx_glob_how how,
                    const char **ret_why)
{
    matching m = open(pattern, gbx_glob_kind_of(pattern), how);

    *ret_why = NULL;
    if (gbx_glob_is_any(pattern))
        return true;
    *ret_why = gbx_canonical_objection(pattern, m.kind, text, len, how);
    if (*ret_why != NULL)
        return false;
    /* An address is never below a folder, but programs take some schemes for files. */
    if (m.kind == GBX_GLOB_PATH && gbx_canonical_has_scheme(text, len)) {
        if (how == GBX_GLOB_EXACT || gbx_canonical_is_remote(text, len))
            return false;
        m.is_anywhere = true;
    }
    if (how == GBX_GLOB_EXACT)
        return match(&m, text, len);
    if (m.kind == GBX_GLOB_TEXT)
        return match(&m, text, len) || match_form(&m, text, len, GBX_RESOLVED_ONE) ||
               match_form(&m, text, len, GBX_RESOLVED_BOTH);
    if (match_wide(&m, text, len))
        return true;
    /* The pattern itself may consist of what was cut off, such as the root's slash. */
    m = open(pattern, m.kind, GBX_GLOB_EXACT);
    return match(&m, text, len);
}
