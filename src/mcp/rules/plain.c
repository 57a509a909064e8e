/* SPDX-License-Identifier: MIT */
/* plain - see plain.h. */
#include "mcp/rules/plain.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define DECODE_MAX 4 /* an escape of an escape of an escape is no plain text either */

static const char why_long[] = "it is longer than the 65536 bytes that a rule looks at";
static const char why_nul[] = "there is a NUL in it";
static const char why_space[] =
    "there is white space or a control character at its beginning or end, or a line end";
static const char why_dots[] = "write the path without '.' and '..'";
static const char why_slashes[] = "write the path with single slashes";
static const char why_escaped[] = "write the path without escapes";
static const char why_relative[] = "write the whole path, from '/' on";
static const char why_file[] = "write the path alone, without 'file:'";
static const char why_scheme[] = "write the address with '//' after its scheme";
static const char why_no_path[] = "write the address with '/' after its host";
static const char why_host[] =
    "write the address with its host alone, in lower case: no "
    "user, no escapes, no dot at its end, no port that goes "
    "without saying";

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Bytes of "scheme:" at the beginning, or 0. */
static size_t scheme_len(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && (is_letter(text[n]) ||
                       (n > 0 && ((text[n] >= '0' && text[n] <= '9') ||
                                  text[n] == '+' || text[n] == '.' || text[n] == '-'))))
        n++;
    return n > 0 && n < len && text[n] == ':' ? n + 1 : 0;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character at *at after all percent escapes are undone; *at moves past it. */
static char decoded(const char *text, size_t len, size_t *at)
{
    char c = text[*at];
    size_t next = *at + 1;

    for (int i = 0; i < DECODE_MAX && c == '%' && next + 1 < len &&
                    hex(text[next]) >= 0 && hex(text[next + 1]) >= 0;
         i++) {
        c = (char)(hex(text[next]) << 4 | hex(text[next + 1]));
        next += 2;
    }
    *at = next;
    return c;
}

/* No program that writes escapes writes these. */
static bool needs_no_escape(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '~' ||
           c == '.';
}

/* Parts between slashes, of which some may hide: no dots alone, none empty but before
 * the first slash and after the last. */
static const char *check_parts(const char *text, size_t len)
{
    size_t at = 0;
    bool escaped = false;
    bool first = true;

    for (;;) {
        size_t dots = 0;
        size_t others = 0;
        bool slash = false;

        while (at < len && !slash) {
            size_t from = at;
            char c = decoded(text, len, &at);

            slash = c == '/' || c == '\\';
            escaped = escaped || (slash && text[from] != '/') || c == '\0' ||
                      (at - from > 1 && needs_no_escape(c));
            dots += c == '.';
            others += !slash && c != '.';
        }
        if (others == 0 && (dots == 1 || dots == 2))
            return why_dots;
        if (escaped)
            return why_escaped;
        if (slash && !first && dots + others == 0)
            return why_slashes;
        if (!slash)
            return NULL;
        first = false;
    }
}

static const char *check_path(const char *pattern, const char *text, size_t len,
                              gbx_glob_how how)
{
    if (scheme_len(text, len) == 5 && strncasecmp(text, "file:", 5) == 0)
        return why_file;
    if (gbx_plain_has_scheme(text, len))
        return NULL; /* a URL is below no folder */
    if (how == GBX_GLOB_WIDE && pattern[0] == '/' && (len == 0 || text[0] != '/'))
        return why_relative;
    return check_parts(text, len);
}

static const char *check_host(const char *scheme, const char *host, size_t len)
{
    static const struct {
        const char *scheme;
        const char *port;
    } usual[] = {{"http:", ":80"},
                 {"https:", ":443"},
                 {"ws:", ":80"},
                 {"wss:", ":443"}};

    for (size_t i = 0; i < len; i++) {
        char c = host[i];

        if ((uint8_t)c <= 0x20 || (uint8_t)c >= 0x7F || (c >= 'A' && c <= 'Z') ||
            strchr("@%\\", c) != NULL)
            return why_host;
        if (c == '.' && (i + 1 == len || host[i + 1] == ':'))
            return why_host;
    }
    if (len > 0 && host[len - 1] == ':')
        return why_host;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        size_t n = strlen(usual[i].port);

        if (strncmp(scheme, usual[i].scheme, strlen(usual[i].scheme)) == 0 &&
            len >= n && memcmp(host + len - n, usual[i].port, n) == 0)
            return why_host;
    }
    return NULL;
}

static const char *check_url(const char *text, size_t len)
{
    size_t scheme = scheme_len(text, len);
    size_t host_len = 0;
    size_t path_len = 0;
    const char *why;

    /* Browsers leave these out, wherever they stand. */
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\t' || text[i] == '\n' || text[i] == '\r')
            return why_space;
    if (scheme == 0)
        return len > 1 && text[0] == '/' && text[1] == '/' ? why_scheme : NULL;
    for (size_t i = 0; i < scheme; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            return why_host;
    if (!gbx_plain_has_scheme(text, len))
        return why_scheme;
    text += scheme + 2;
    len -= scheme + 2;
    while (host_len < len && strchr("/?#\\", text[host_len]) == NULL)
        host_len++;
    why = check_host(text - scheme - 2, text, host_len);
    if (why != NULL)
        return why;
    if (host_len < len && (text[host_len] == '?' || text[host_len] == '#'))
        return why_no_path;
    while (host_len + path_len < len && text[host_len + path_len] != '?' &&
           text[host_len + path_len] != '#')
        path_len++;
    return check_parts(text + host_len, path_len);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_plain_has_scheme(const char *text, size_t len)
{
    size_t n = scheme_len(text, len);

    return n > 0 && len >= n + 2 && text[n] == '/' && text[n + 1] == '/';
}

const char *gbx_plain_objection(const char *pattern, gbx_glob_kind kind,
                                const char *text, size_t len, gbx_glob_how how)
{
    if (len > GBX_GLOB_TEXT_MAX)
        return why_long;
    if (memchr(text, '\0', len) != NULL)
        return why_nul;
    if (kind == GBX_GLOB_TEXT)
        return NULL;
    if (len > 0 && ((uint8_t)text[0] <= 0x20 || (uint8_t)text[len - 1] <= 0x20))
        return why_space;
    return kind == GBX_GLOB_URL ? check_url(text, len)
                                : check_path(pattern, text, len, how);
}
