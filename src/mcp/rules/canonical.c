/* SPDX-License-Identifier: MIT */
/*
 * canonical - refuses paths and URLs that can be read in more than one way, and writes
 * a text as the path that some program may make of it.
 */
#include "mcp/rules/rules.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "policy/policy.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define DECODE_MAX 4 /* levels: an escape of an escape counts as an escape, too */

static const char why_long[] = "it is longer than the 65536 bytes that a rule looks at";
static const char why_nul[] = "there is a NUL in it";
static const char why_space[] =
    "there is white space or a control character at its beginning or end, or a line end";
static const char why_dots[] = "write the path without '.' and '..'";
static const char why_slashes[] = "write the path with single slashes";
static const char why_nameless[] =
    "write the path with something before each ';', or without it";
static const char why_escaped[] = "write the path with '/', and without escapes";
static const char why_relative[] = "write the whole path, from '/' on";
static const char why_file[] = "write the path alone, without 'file:'";
static const char why_scheme[] = "write the address with '//' after its scheme";
static const char why_no_path[] = "write the address with '/' after its host";
static const char why_upper[] = "write the address with its scheme in lower case";
static const char why_bare[] = "write the whole address, from its scheme on";
static const char why_raw[] =
    "write in escapes what the rule has in escapes, such as '%20' for a space";
static const char why_drive[] = "write ':' after the letter of a drive";

static const char why_host[] =
    "write the address with its host alone, in lower case: no user, no escapes, no dot at "
    "its end, no port that goes without saying, and a number as four of them, in decimal, "
    "such as 192.0.2.1";
static const char why_none[] = "write the address with its host after two slashes";
static const char why_local[] = "write the file's address with three slashes, no host";
static const char why_port[] =
    "write the port as a number up to 65535, with no zero before it";
static const char why_v6[] =
    "write an IPv6 address in its short form and in lower case, and an IPv4 address "
    "without one around it";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- the host of a URL ------------------------------------------------------ */

/*
 * Refuses hosts of URLs that are not in canonical form.
 *
 * "0x7f.1", "2130706433", "[::ffff:7f00:1]" and "127.0.0.1:0080" are one address, but
 * a rule compares text. So all forms but one are refused, as in the sites of a policy.
 */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Checks the digits after the colon. */
static const char *check_port(const char *scheme, const char *port, size_t len)
{
    static const struct {
        const char *scheme;
        uint16_t port;
    } usual[] = {
        {"http:", 80}, {"https:", 443}, {"ws:", 80}, {"wss:", 443}, {"ftp:", 21}};
    uint16_t value;

    if (!gbx_port_parse(port, len, &value))
        return why_port;
    for (size_t i = 0; i < GBX_COUNTOF(usual); i++)
        if (value == usual[i].port && begins(scheme, usual[i].scheme))
            return why_host;
    return NULL;
}

/* Any address of these networks may be routed to the IPv4 address inside it. */
static bool holds_v4(const uint8_t address[16])
{
    static const struct {
        uint8_t prefix[12];
        size_t len;
    } around[] = {
        {{0}, 12},                                        /* compatible */
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}, 12}, /* mapped */
        {{0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0}, 12}, /* translated */
        {{0, 0x64, 0xFF, 0x9B}, 12},                      /* NAT64 */
        {{0, 0x64, 0xFF, 0x9B, 0, 1}, 6},                 /* NAT64, local use */
        {{0x20, 0x02}, 2},                                /* 6to4 */
    };

    if (memcmp(address, &in6addr_any, 16) == 0 ||
        memcmp(address, &in6addr_loopback, 16) == 0)
        return false;
    for (size_t i = 0; i < GBX_COUNTOF(around); i++)
        if (memcmp(address, around[i].prefix, around[i].len) == 0)
            return true;
    return false;
}

/* Does text begin with a scheme, in any case, that needs a host, such as "https:"? */
static bool needs_host(const char *text, size_t len)
{
    static const char *const schemes[] = {"http:", "https:", "ws:", "wss:", "ftp:"};

    for (size_t i = 0; i < GBX_COUNTOF(schemes); i++)
        if (len >= strlen(schemes[i]) &&
            strncasecmp(text, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

/* NULL, or the objection; constant. scheme: a text that begins with "https:" or the
 * like; host: the text between the slashes, with its port. */
static const char *check_host(const char *scheme, const char *host, size_t len)
{
    gbx_hostport parts = {0};
    gbx_host parsed;

    if (begins(scheme, "file:") && strncmp(host, "localhost", len) == 0 && len == 9)
        return why_local;
    /* Browsers skip any number of slashes before the host. */
    if (len == 0)
        return needs_host(scheme, (size_t)(host - scheme)) ? why_none : NULL;
    if (gbx_hostport_split(host, len, &parts, NULL) != GBX_OK ||
        gbx_host_parse(parts.host, parts.host_len, parts.is_bracketed, &parsed, NULL) !=
            GBX_OK ||
        strlen(parsed.text) != parts.host_len ||
        memcmp(parsed.text, parts.host, parts.host_len) != 0 ||
        (parts.is_bracketed && holds_v4(parsed.address)))
        return host[0] == '[' ? why_v6 : why_host;
    return parts.port != NULL ? check_port(scheme, parts.port, parts.port_len) : NULL;
}

/* ---- paths and URLs --------------------------------------------------------- */

/* Length of "scheme:" at the beginning, or 0. */
static size_t scheme_len(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len &&
           (is_letter(text[n]) || (n > 0 && (is_digit(text[n]) || text[n] == '+' ||
                                             text[n] == '.' || text[n] == '-'))))
        n++;
    return n > 0 && n < len && text[n] == ':' ? n + 1 : 0;
}

/* The character at *at with all levels of percent escapes undone; *at moves past it. */
static char decoded(const char *text, size_t len, size_t *at)
{
    char c = text[*at];
    size_t next = *at + 1;

    for (int i = 0; i < DECODE_MAX && c == '%' && next + 1 < len &&
                    gbx_hex_digit((uint8_t)text[next]) >= 0 &&
                    gbx_hex_digit((uint8_t)text[next + 1]) >= 0;
         i++) {
        c = (char)(gbx_hex_digit((uint8_t)text[next]) << 4 |
                   gbx_hex_digit((uint8_t)text[next + 1]));
        next += 2;
    }
    *at = next;
    return c;
}

/* Programs that write escapes never escape these. */
static bool needs_no_escape(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '~' || c == '.';
}

/* The text between two slashes, which may be escaped. */
typedef struct part {
    size_t dots;
    size_t others;
    bool slash;   /* a slash follows */
    bool ended;   /* by ';' */
    bool escaped; /* it, or its slash, is escaped without need */
} part;

/* *at moves past the part and its slash. In a URL, many servers do not count ';' and
 * what follows it as the name: "..;" is "..". */
static part next_part(const char *text, size_t len, gbx_glob_kind kind, size_t *at)
{
    part p = {0};

    while (*at < len && !p.slash) {
        size_t from = *at;
        char c = decoded(text, len, at);

        p.slash = c == '/' || c == '\\';
        p.escaped = p.escaped || (p.slash && text[from] != '/') || c == '\0' ||
                    (*at - from > 1 && needs_no_escape(c));
        p.ended = p.ended || (kind == GBX_GLOB_URL && c == ';');
        p.dots += !p.ended && c == '.';
        p.others += !p.ended && !p.slash && c != '.';
    }
    return p;
}

/* Refuses parts of only dots, and empty parts except the first and the last. */
static const char *check_parts(const char *text, size_t len, gbx_glob_kind kind)
{
    size_t at = 0;
    bool first = true;

    for (;;) {
        part p = next_part(text, len, kind, &at);

        if (p.others == 0 && (p.dots == 1 || p.dots == 2))
            return why_dots;
        if (p.ended && p.dots + p.others == 0)
            return why_nameless;
        if (p.escaped)
            return why_escaped;
        if (p.slash && !first && p.dots + p.others == 0)
            return why_slashes;
        if (!p.slash)
            return NULL;
        first = false;
    }
}

/* Which characters a pattern has literally, and which escaped. */
typedef struct forms {
    bool plain[UINT8_MAX + 1];
    bool escaped[UINT8_MAX + 1];
} forms;

static forms forms_of(const char *pattern)
{
    size_t len = strlen(pattern);
    forms f = {0};

    for (size_t at = 0; at < len;) {
        size_t from = at;

        if (pattern[at] == '*' || pattern[at] == '?') {
            at++;
            continue;
        }
        if (pattern[at] == '\\' && at + 1 < len)
            from = ++at;
        uint8_t c = (uint8_t)decoded(pattern, len, &at);
        if (at - from > 1)
            f.escaped[c] = true;
        else
            f.plain[c] = true;
    }
    return f;
}

/* Most servers read a character in the other form as the same character. */
static const char *check_forms(const char *pattern, const char *text, size_t len)
{
    forms f = forms_of(pattern);

    for (size_t at = 0; at < len;) {
        size_t from = at;
        uint8_t c = (uint8_t)decoded(text, len, &at);

        if (at - from > 1 && f.plain[c])
            return why_escaped;
        if (at - from == 1 && f.escaped[c])
            return why_raw;
    }
    return NULL;
}

static const char *check_path(const char *pattern, const char *text, size_t len,
                              gbx_glob_how how)
{
    size_t scheme = scheme_len(text, len);
    const char *why;

    if (scheme == 5 && strncasecmp(text, "file:", 5) == 0)
        return why_file;
    if (gbx_canonical_has_scheme(text, len) && how == GBX_GLOB_EXACT)
        return NULL; /* no allowing path pattern matches it */
    if (gbx_canonical_is_remote(text, len)) {
        /* A program without schemes takes "https:" for a folder, which ".." leaves. */
        for (size_t at = 0; at < len;) {
            part p = next_part(text, len, GBX_GLOB_PATH, &at);

            if (p.others == 0 && p.dots == 2)
                return why_dots;
        }
        return NULL;
    }
    /* One letter is a drive, not a scheme. */
    if (gbx_canonical_has_scheme(text, len) && scheme > 2) {
        why = check_parts(text + scheme + 2, len - scheme - 2, GBX_GLOB_PATH);
        return why == NULL ? check_forms(pattern, text, len) : why;
    }
    if (how == GBX_GLOB_WIDE && pattern[0] == '/' && (len == 0 || text[0] != '/'))
        return why_relative;
    why = check_parts(text, len, GBX_GLOB_PATH);
    return why == NULL && how == GBX_GLOB_WIDE ? check_forms(pattern, text, len) : why;
}

/* Some programs add a missing scheme. Text that begins with one slash or with a dot is
 * a path to all of them. */
static const char *check_bare(const char *text, size_t len, gbx_glob_how how)
{
    bool slash = len > 0 && (text[0] == '/' || text[0] == '\\');

    if (slash && len > 1 && (text[1] == '/' || text[1] == '\\'))
        return why_scheme;
    if (how == GBX_GLOB_EXACT || len == 0 || text[0] == '/' || text[0] == '.')
        return NULL;
    return why_bare;
}

/* text: the part after the host, from its '/' on. In the pattern, '?' is any character;
 * a pattern with '\?' covers the query, too. */
static const char *check_rest(const char *pattern, const char *text, size_t len,
                              gbx_glob_how how)
{
    const char *host = strstr(pattern, "://");
    const char *rest = host != NULL ? strchr(host + 3, '/') : NULL;
    size_t path_len = 0;
    size_t query_len;
    const char *why;

    if (len > 0 && (text[0] == '?' || text[0] == '#'))
        return why_no_path;
    while (path_len < len && text[path_len] != '?' && text[path_len] != '#')
        path_len++;
    why = check_parts(text, path_len, GBX_GLOB_URL);
    if (why != NULL || how == GBX_GLOB_EXACT || rest == NULL)
        return why;
    for (query_len = path_len; query_len < len && text[query_len] != '#';)
        query_len++;
    return check_forms(rest, text, strstr(rest, "\\?") != NULL ? query_len : path_len);
}

static const char *check_url(const char *pattern, const char *text, size_t len,
                             gbx_glob_how how)
{
    size_t scheme = scheme_len(text, len);
    size_t host_len = 0;
    const char *host;
    const char *why;

    /* Browsers drop these characters everywhere. */
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\t' || text[i] == '\n' || text[i] == '\r')
            return why_space;
    if (scheme == 0)
        return check_bare(text, len, how);
    for (size_t i = 0; i < scheme; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            return why_upper;
    if (!gbx_canonical_has_scheme(text, len))
        return why_scheme;
    host = text + scheme + 2;
    len -= scheme + 2;
    while (host_len < len && strchr("/?#\\", host[host_len]) == NULL)
        host_len++;
    why = check_host(text, host, host_len);
    if (why != NULL)
        return why;
    if (strncmp(text, "file:", 5) == 0 && len - host_len > 2 &&
        is_letter(host[host_len + 1]) && host[host_len + 2] == '|')
        return why_drive;
    return check_rest(pattern, host + host_len, len - host_len, how);
}

/* Characters that some programs strip from the ends of a text: controls, the white
 * space of Unicode, the byte order mark. */
static bool is_blank(const char *text, size_t len)
{
    static const struct {
        uint32_t first;
        uint32_t last;
    } blanks[] = {{0x00, 0x20},     {0x7F, 0xA0},     {0x1680, 0x1680},
                  {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                  {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
    const uint8_t *data = (const uint8_t *)text;
    size_t n = gbx_utf8_sequence(data, len);
    uint32_t point = n > 0 ? gbx_utf8_decode(data, n) : UINT32_MAX;

    for (size_t i = 0; i < GBX_COUNTOF(blanks); i++)
        if (point >= blanks[i].first && point <= blanks[i].last)
            return true;
    return false;
}

static bool has_blank_end(const char *text, size_t len)
{
    size_t last = len - 1;

    while (last > 0 && ((uint8_t)text[last] & 0xC0) == 0x80)
        last--;
    return is_blank(text, len) || is_blank(text + last, len - last);
}

gbx_glob_kind gbx_glob_kind_of(const char *pattern)
{
    if (strchr(pattern, '/') == NULL)
        return GBX_GLOB_TEXT;
    return strstr(pattern, "://") != NULL ? GBX_GLOB_URL : GBX_GLOB_PATH;
}

bool gbx_canonical_is(char c, const char *text, size_t len)
{
    size_t at = 0;

    return len > 0 && decoded(text, len, &at) == c;
}

bool gbx_canonical_has_scheme(const char *text, size_t len)
{
    size_t n = scheme_len(text, len);

    return n > 0 && len >= n + 2 && text[n] == '/' && text[n + 1] == '/';
}

bool gbx_canonical_is_remote(const char *text, size_t len)
{
    return gbx_canonical_has_scheme(text, len) && needs_host(text, len);
}

const char *gbx_canonical_objection(const char *pattern, gbx_glob_kind kind,
                                    const char *text, size_t len, gbx_glob_how how)
{
    if (len > GBX_GLOB_TEXT_MAX)
        return why_long;
    if (memchr(text, '\0', len) != NULL)
        return why_nul;
    if (kind == GBX_GLOB_TEXT)
        return NULL;
    if (len > 0 && has_blank_end(text, len))
        return why_space;
    return kind == GBX_GLOB_URL ? check_url(pattern, text, len, how)
                                : check_path(pattern, text, len, how);
}

const char *gbx_canonical_pattern_objection(const char *pattern)
{
    gbx_glob_kind kind = gbx_glob_kind_of(pattern);
    size_t host =
        kind == GBX_GLOB_URL ? (size_t)(strstr(pattern, "://") - pattern) + 3 : 0;
    size_t host_end = host + strcspn(pattern + host, "/");
    size_t name_len = strcspn(pattern + host, ":/[");
    bool is_wild = strcspn(pattern + host, "*?") < name_len;
    char text[GBX_GLOB_MAX + 3] = "";
    size_t len = 0;

    for (size_t i = 0; i <= GBX_GLOB_MAX; i++) {
        char c = pattern[i];

        if (kind == GBX_GLOB_URL && is_wild && i == host + name_len) {
            text[len++] = '.'; /* keeps a wildcard host such as "10.*" from being a
                                * broken number */
            text[len++] = 'x';
        }
        if (c == '\0')
            break;
        if (c == '*' || c == '?')
            c = i < host ? 'x' : '1';
        else if (c == '\\' && pattern[i + 1] != '\0')
            c = pattern[++i];
        else if (kind == GBX_GLOB_URL && i < host_end && c >= 'A' && c <= 'Z')
            c += 'a' - 'A'; /* rules that ask or deny match any case */
        text[len++] = c;
    }
    return gbx_canonical_objection(pattern, kind, text, len, GBX_GLOB_EXACT);
}

/* ---- a text as a path ------------------------------------------------------- */

static bool is_slash(char c, gbx_path_slashes slashes)
{
    return c == '/' || (c == '\\' && slashes == GBX_RESOLVED_BOTH);
}

size_t gbx_path_forms(const char *text, size_t len, gbx_path_slashes slashes, char *ret)
{
    size_t out = 0;
    size_t keep;
    size_t n;
    bool is_whole = len > 0 && is_slash(text[0], slashes);

    if (is_whole)
        ret[out++] = text[0];
    keep = out;
    for (size_t at = 0; at < len; at += n + 1) {
        bool is_back;

        for (n = 0; at + n < len && !is_slash(text[at + n], slashes); n++)
            continue;
        is_back = n == 2 && memcmp(text + at, "..", 2) == 0;
        if (n == 0 || (n == 1 && text[at] == '.') ||
            (is_back && is_whole && out == keep))
            continue;
        if (is_back && out > keep) {
            while (out > keep && !is_slash(ret[out - 1], slashes))
                out--;
            out -= out > keep; /* the slash before the part */
            continue;
        }
        if (out > 0 && !is_slash(ret[out - 1], slashes))
            ret[out++] = text[at - 1];
        memcpy(ret + out, text + at, n);
        out += n;
        if (is_back)
            keep = out; /* the path now begins above an unknown folder */
    }
    if (out == 0 && len > 0)
        ret[out++] = '.';
    return out;
}
