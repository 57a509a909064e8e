/* SPDX-License-Identifier: MIT */
/* url_parser - the basic URL parser of the standard, state by state. */
#include "realm/internal.h"

#include "base/cleanup.h"

#include <string.h>

typedef enum state {
    NO_OVERRIDE,
    SCHEME_START,
    SCHEME,
    NO_SCHEME,
    SPECIAL_RELATIVE_OR_AUTHORITY,
    PATH_OR_AUTHORITY,
    RELATIVE,
    RELATIVE_SLASH,
    SPECIAL_AUTHORITY_SLASHES,
    SPECIAL_AUTHORITY_IGNORE_SLASHES,
    AUTHORITY,
    HOST,
    HOSTNAME,
    PORT,
    FILE_SCHEME,
    FILE_SLASH,
    FILE_HOST,
    PATH_START,
    PATH,
    OPAQUE_PATH,
    QUERY,
    FRAGMENT,
    STATE_COUNT
} state;

/* A state's decision about a character: consumed, to be looked at again, or the end
 * of parsing. */
typedef enum step { TAKEN, AGAIN, DONE, FAILED } step;

#define EOF_CHAR (-1)

typedef struct parser {
    gbx_parsed_url *url;
    const gbx_parsed_url *base;
    const uint8_t *text;
    size_t len, at;
    state state, override;
    gbx_buf buffer;
    bool has_at_sign, in_brackets, has_password;
} parser;

static const struct scheme {
    const char *name;
    int32_t port;
} special_schemes[] = {{"http", 80}, {"https", 443}, {"ws", 80},
                       {"wss", 443}, {"ftp", 21},    {"file", -1}};

/* ---- texts ------------------------------------------------------------------- */

static bool is(const gbx_buf *buf, const char *text)
{
    size_t len = strlen(text);

    return buf->len == len && memcmp(buf->data, text, len) == 0;
}

static const struct scheme *special(const gbx_buf *name)
{
    for (size_t i = 0; i < GBX_COUNTOF(special_schemes); i++)
        if (name->len > 0 && is(name, special_schemes[i].name))
            return &special_schemes[i];
    return NULL;
}

static bool is_special(const parser *p)
{
    return special(&p->url->scheme) != NULL;
}

static void clear(gbx_buf *buf)
{
    buf->len = 0;
}

static void copy(gbx_buf *to, const gbx_buf *from)
{
    clear(to);
    (void)gbx_buf_append(to, from->data, from->len);
}

static bool is_alpha(int c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' && c < 0x80 && c > 0;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static void keep(parser *p, int c)
{
    char byte = (char)c;

    (void)gbx_buf_append(&p->buffer, &byte, 1);
}

static int peek(const parser *p, size_t ahead)
{
    return p->len - p->at > ahead ? p->text[p->at + ahead] : EOF_CHAR;
}

/* "c:" or "c|" */
static bool is_drive(const uint8_t *text, size_t len, bool normal)
{
    return len == 2 && is_alpha(text[0]) &&
           (text[1] == ':' || (!normal && text[1] == '|'));
}

static bool begins_with_drive(const parser *p)
{
    int next = peek(p, 2);

    return p->len - p->at >= 2 && is_drive(p->text + p->at, 2, false) &&
           (next == EOF_CHAR || next == '/' || next == '\\' || next == '?' ||
            next == '#');
}

/* ---- paths ------------------------------------------------------------------- */

static void add_segment(gbx_parsed_url *url, const void *text, size_t len)
{
    (void)gbx_buf_append(&url->path, "/", 1);
    (void)gbx_buf_append(&url->path, text, len);
}

static void shorten(gbx_parsed_url *url)
{
    const uint8_t *slash;

    if (url->path.len == 0)
        return;
    slash = memrchr(url->path.data, '/', url->path.len);
    if (is(&url->scheme, "file") && slash == url->path.data &&
        is_drive(slash + 1, url->path.len - 1, true))
        return;
    url->path.len = slash != NULL ? (size_t)(slash - url->path.data) : 0;
}

/* How many dots the segment consists of: one or two; otherwise 0. */
static int dots_of(const gbx_buf *segment)
{
    int dots = 0;

    for (size_t i = 0; i < segment->len; i++) {
        const uint8_t *at = segment->data + i;

        if (segment->len - i >= 3 && at[0] == '%' && at[1] == '2' &&
            (at[2] | 0x20) == 'e')
            i += 2;
        else if (*at != '.')
            return 0;
        dots++;
    }
    return dots <= 2 ? dots : 0;
}

/* ---- the authority ------------------------------------------------------------- */

/* The buffer contains the host. */
static bool take_host(parser *p)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf host = {0};
    const gbx_buf *text = &p->buffer;
    bool ok;

    gbx_buf_init(&host, GBX_URL_TEXT_MAX);
    ok = gbx_url_host(text->data, text->len, is_special(p), &host);
    if (!ok || host.failed)
        return false;
    copy(&p->url->host, &host);
    p->url->has_host = true;
    return true;
}

static bool has_credentials(const gbx_parsed_url *url)
{
    return url->username.len > 0 || url->password.len > 0;
}

/* ---- the states -------------------------------------------------------------------- */

static step to(parser *p, state next, step how)
{
    p->state = next;
    return how;
}

static step to_query(parser *p)
{
    clear(&p->url->query);
    p->url->has_query = true;
    return to(p, QUERY, TAKEN);
}

static step to_fragment(parser *p)
{
    clear(&p->url->fragment);
    p->url->has_fragment = true;
    return to(p, FRAGMENT, TAKEN);
}

static bool ends_host(const parser *p, int c)
{
    return c == EOF_CHAR || c == '/' || c == '?' || c == '#' ||
           (c == '\\' && is_special(p));
}

static bool is_slash(const parser *p, int c)
{
    return c == '/' || (c == '\\' && is_special(p));
}

static step on_scheme_start(parser *p, int c)
{
    if (is_alpha(c)) {
        keep(p, c | 0x20);
        return to(p, SCHEME, TAKEN);
    }
    return p->override == NO_OVERRIDE ? to(p, NO_SCHEME, AGAIN) : FAILED;
}

/* Replace the scheme of an address. */
static step set_scheme(parser *p)
{
    gbx_parsed_url *url = p->url;
    const struct scheme *now = special(&url->scheme);
    const struct scheme *next = special(&p->buffer);

    if ((now != NULL) != (next != NULL))
        return DONE;
    if ((has_credentials(url) || url->port >= 0) && is(&p->buffer, "file"))
        return DONE;
    if (is(&url->scheme, "file") && url->host.len == 0)
        return DONE;
    copy(&url->scheme, &p->buffer);
    if (next != NULL && url->port == next->port)
        url->port = -1;
    return DONE;
}

static step after_scheme(parser *p)
{
    copy(&p->url->scheme, &p->buffer);
    clear(&p->buffer);
    if (is(&p->url->scheme, "file"))
        return to(p, FILE_SCHEME, TAKEN);
    if (is_special(p)) {
        bool is_same =
            p->base != NULL && p->base->scheme.len == p->url->scheme.len &&
            memcmp(p->base->scheme.data, p->url->scheme.data, p->url->scheme.len) == 0;

        return to(p,
                  is_same ? SPECIAL_RELATIVE_OR_AUTHORITY : SPECIAL_AUTHORITY_SLASHES,
                  TAKEN);
    }
    if (peek(p, 1) == '/') {
        p->at++;
        return to(p, PATH_OR_AUTHORITY, TAKEN);
    }
    p->url->is_opaque = true;
    return to(p, OPAQUE_PATH, TAKEN);
}

static step on_scheme(parser *p, int c)
{
    if (is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.') {
        keep(p, is_alpha(c) ? c | 0x20 : c);
        return TAKEN;
    }
    if (c == ':')
        return p->override != NO_OVERRIDE ? set_scheme(p) : after_scheme(p);
    if (p->override != NO_OVERRIDE)
        return FAILED;
    clear(&p->buffer);
    p->at = 0;
    return to(p, NO_SCHEME, AGAIN);
}

static void copy_path(parser *p)
{
    copy(&p->url->path, &p->base->path);
    p->url->is_opaque = p->base->is_opaque;
    copy(&p->url->query, &p->base->query);
    p->url->has_query = p->base->has_query;
}

static void copy_authority(parser *p)
{
    copy(&p->url->username, &p->base->username);
    copy(&p->url->password, &p->base->password);
    copy(&p->url->host, &p->base->host);
    p->url->has_host = p->base->has_host;
    p->url->port = p->base->port;
}

static step on_no_scheme(parser *p, int c)
{
    if (p->base == NULL || (p->base->is_opaque && c != '#'))
        return FAILED;
    if (p->base->is_opaque) {
        copy(&p->url->scheme, &p->base->scheme);
        copy_path(p);
        return to_fragment(p);
    }
    return to(p, is(&p->base->scheme, "file") ? FILE_SCHEME : RELATIVE, AGAIN);
}

static step on_special_relative_or_authority(parser *p, int c)
{
    if (c == '/' && peek(p, 1) == '/') {
        p->at++;
        return to(p, SPECIAL_AUTHORITY_IGNORE_SLASHES, TAKEN);
    }
    return to(p, RELATIVE, AGAIN);
}

static step on_path_or_authority(parser *p, int c)
{
    return c == '/' ? to(p, AUTHORITY, TAKEN) : to(p, PATH, AGAIN);
}

/* Parse the rest of a relative address, with the path of its base. */
static step after_base_path(parser *p, int c, bool keeps_path)
{
    if (c == '?')
        return to_query(p);
    if (c == '#')
        return to_fragment(p);
    if (c == EOF_CHAR)
        return TAKEN;
    clear(&p->url->query);
    p->url->has_query = false;
    if (keeps_path)
        shorten(p->url);
    else
        clear(&p->url->path);
    return to(p, PATH, AGAIN);
}

static step on_relative(parser *p, int c)
{
    copy(&p->url->scheme, &p->base->scheme);
    if (is_slash(p, c))
        return to(p, RELATIVE_SLASH, TAKEN);
    copy_authority(p);
    copy_path(p);
    return after_base_path(p, c, true);
}

static step on_relative_slash(parser *p, int c)
{
    if (is_special(p) && (c == '/' || c == '\\'))
        return to(p, SPECIAL_AUTHORITY_IGNORE_SLASHES, TAKEN);
    if (c == '/')
        return to(p, AUTHORITY, TAKEN);
    copy_authority(p);
    return to(p, PATH, AGAIN);
}

static step on_special_authority_slashes(parser *p, int c)
{
    if (c == '/' && peek(p, 1) == '/') {
        p->at++;
        return to(p, SPECIAL_AUTHORITY_IGNORE_SLASHES, TAKEN);
    }
    return to(p, SPECIAL_AUTHORITY_IGNORE_SLASHES, AGAIN);
}

static step on_special_authority_ignore_slashes(parser *p, int c)
{
    return c == '/' || c == '\\' ? TAKEN : to(p, AUTHORITY, AGAIN);
}

/* The buffer contains the text before an @. */
static void take_credentials(parser *p)
{
    gbx_parsed_url *url = p->url;

    if (p->has_at_sign)
        (void)gbx_buf_puts(p->has_password ? &url->password : &url->username, "%40");
    p->has_at_sign = true;
    for (size_t i = 0; i < p->buffer.len; i++) {
        if (p->buffer.data[i] == ':' && !p->has_password)
            p->has_password = true;
        else
            gbx_url_put(p->has_password ? &url->password : &url->username,
                        p->buffer.data[i], GBX_URL_IN_USERINFO);
    }
    clear(&p->buffer);
}

static step on_authority(parser *p, int c)
{
    if (c == '@') {
        take_credentials(p);
        return TAKEN;
    }
    if (!ends_host(p, c)) {
        keep(p, c);
        return TAKEN;
    }
    if (p->has_at_sign && p->buffer.len == 0)
        return FAILED;
    p->at -= p->buffer.len;
    clear(&p->buffer);
    return to(p, HOST, AGAIN);
}

static step on_host(parser *p, int c)
{
    if (p->override != NO_OVERRIDE && is(&p->url->scheme, "file"))
        return to(p, FILE_HOST, AGAIN);
    if (c == ':' && !p->in_brackets) {
        if (p->buffer.len == 0 || p->override == HOSTNAME || !take_host(p))
            return FAILED;
        clear(&p->buffer);
        return to(p, PORT, TAKEN);
    }
    if (ends_host(p, c)) {
        if (p->buffer.len == 0 &&
            (is_special(p) || (p->override != NO_OVERRIDE &&
                               (has_credentials(p->url) || p->url->port >= 0))))
            return FAILED;
        if (!take_host(p))
            return FAILED;
        clear(&p->buffer);
        return p->override != NO_OVERRIDE ? DONE : to(p, PATH_START, AGAIN);
    }
    if (c == '[' || c == ']')
        p->in_brackets = c == '[';
    keep(p, c);
    return TAKEN;
}

static step on_port(parser *p, int c)
{
    const struct scheme *scheme = special(&p->url->scheme);
    int32_t port = 0;

    if (is_digit(c)) {
        keep(p, c);
        return TAKEN;
    }
    if (!ends_host(p, c) && p->override == NO_OVERRIDE)
        return FAILED;
    for (size_t i = 0; i < p->buffer.len; i++) {
        port = port * 10 + p->buffer.data[i] - '0';
        if (port > 65535)
            return FAILED;
    }
    if (p->buffer.len > 0) {
        p->url->port = scheme != NULL && scheme->port == port ? -1 : port;
        clear(&p->buffer);
        if (p->override != NO_OVERRIDE)
            return DONE;
    }
    return p->override != NO_OVERRIDE ? FAILED : to(p, PATH_START, AGAIN);
}

static bool has_file_base(const parser *p)
{
    return p->base != NULL && is(&p->base->scheme, "file");
}

static step on_file(parser *p, int c)
{
    clear(&p->url->scheme);
    (void)gbx_buf_puts(&p->url->scheme, "file");
    clear(&p->url->host);
    p->url->has_host = true;
    if (c == '/' || c == '\\')
        return to(p, FILE_SLASH, TAKEN);
    if (!has_file_base(p))
        return to(p, PATH, AGAIN);
    copy(&p->url->host, &p->base->host);
    copy_path(p);
    return after_base_path(p, c, !begins_with_drive(p));
}

static step on_file_slash(parser *p, int c)
{
    const gbx_buf *path = p->base != NULL ? &p->base->path : NULL;

    if (c == '/' || c == '\\')
        return to(p, FILE_HOST, TAKEN);
    if (has_file_base(p)) {
        copy(&p->url->host, &p->base->host);
        if (!begins_with_drive(p) && path->len >= 3 &&
            is_drive(path->data + 1, 2, true) &&
            (path->len == 3 || path->data[3] == '/'))
            add_segment(p->url, path->data + 1, 2);
    }
    return to(p, PATH, AGAIN);
}

static step on_file_host(parser *p, int c)
{
    if (c != EOF_CHAR && strchr("/\\?#", c) == NULL) {
        keep(p, c);
        return TAKEN;
    }
    /* The drive stays in the buffer: it is the first segment. */
    if (p->override == NO_OVERRIDE && is_drive(p->buffer.data, p->buffer.len, false))
        return to(p, PATH, AGAIN);
    if (p->buffer.len == 0) {
        clear(&p->url->host);
        p->url->has_host = true;
    } else {
        if (!take_host(p))
            return FAILED;
        if (is(&p->url->host, "localhost"))
            clear(&p->url->host);
    }
    clear(&p->buffer);
    return p->override != NO_OVERRIDE ? DONE : to(p, PATH_START, AGAIN);
}

static step on_path_start(parser *p, int c)
{
    if (is_special(p))
        return to(p, PATH, c == '/' || c == '\\' ? TAKEN : AGAIN);
    if (p->override == NO_OVERRIDE && c == '?')
        return to_query(p);
    if (p->override == NO_OVERRIDE && c == '#')
        return to_fragment(p);
    if (c != EOF_CHAR)
        return to(p, PATH, c == '/' ? TAKEN : AGAIN);
    if (p->override != NO_OVERRIDE && !p->url->has_host)
        add_segment(p->url, "", 0);
    return TAKEN;
}

static void take_segment(parser *p, bool is_last)
{
    int dots = dots_of(&p->buffer);

    if (dots == 2)
        shorten(p->url);
    if (dots > 0) {
        if (is_last)
            add_segment(p->url, "", 0);
    } else {
        if (is(&p->url->scheme, "file") && p->url->path.len == 0 &&
            is_drive(p->buffer.data, p->buffer.len, false))
            p->buffer.data[1] = ':';
        add_segment(p->url, p->buffer.data, p->buffer.len);
    }
    clear(&p->buffer);
}

static step on_path(parser *p, int c)
{
    bool is_end =
        c == EOF_CHAR || (p->override == NO_OVERRIDE && (c == '?' || c == '#'));

    if (!is_end && !is_slash(p, c)) {
        gbx_url_put(&p->buffer, c, GBX_URL_IN_PATH);
        return TAKEN;
    }
    take_segment(p, !is_slash(p, c));
    return c == '?' ? to_query(p) : c == '#' ? to_fragment(p) : TAKEN;
}

static step on_opaque_path(parser *p, int c)
{
    int next = peek(p, 1);

    if (c == '?')
        return to_query(p);
    if (c == '#')
        return to_fragment(p);
    if (c == ' ' && (next == '?' || next == '#'))
        (void)gbx_buf_puts(&p->url->path, "%20");
    else if (c != EOF_CHAR)
        gbx_url_put(&p->url->path, c, GBX_URL_IN_CONTROL);
    return TAKEN;
}

static step on_query(parser *p, int c)
{
    if (p->override == NO_OVERRIDE && c == '#')
        return to_fragment(p);
    if (c != EOF_CHAR)
        gbx_url_put(&p->url->query, c,
                    is_special(p) ? GBX_URL_IN_SPECIAL_QUERY : GBX_URL_IN_QUERY);
    return TAKEN;
}

static step on_fragment(parser *p, int c)
{
    if (c != EOF_CHAR)
        gbx_url_put(&p->url->fragment, c, GBX_URL_IN_FRAGMENT);
    return TAKEN;
}

static step (*const states[STATE_COUNT])(parser *p, int c) = {
    [SCHEME_START] = on_scheme_start,
    [SCHEME] = on_scheme,
    [NO_SCHEME] = on_no_scheme,
    [SPECIAL_RELATIVE_OR_AUTHORITY] = on_special_relative_or_authority,
    [PATH_OR_AUTHORITY] = on_path_or_authority,
    [RELATIVE] = on_relative,
    [RELATIVE_SLASH] = on_relative_slash,
    [SPECIAL_AUTHORITY_SLASHES] = on_special_authority_slashes,
    [SPECIAL_AUTHORITY_IGNORE_SLASHES] = on_special_authority_ignore_slashes,
    [AUTHORITY] = on_authority,
    [HOST] = on_host,
    [HOSTNAME] = on_host,
    [PORT] = on_port,
    [FILE_SCHEME] = on_file,
    [FILE_SLASH] = on_file_slash,
    [FILE_HOST] = on_file_host,
    [PATH_START] = on_path_start,
    [PATH] = on_path,
    [OPAQUE_PATH] = on_opaque_path,
    [QUERY] = on_query,
    [FRAGMENT] = on_fragment,
};

/* Removes tabs and newlines anywhere, and white space at both ends. */
static void clean(gbx_buf *to, const uint8_t *text, size_t len, bool trims)
{
    while (trims && len > 0 && *text <= ' ') {
        text++;
        len--;
    }
    while (trims && len > 0 && text[len - 1] <= ' ')
        len--;
    for (size_t i = 0; i < len; i++)
        if (text[i] != '\t' && text[i] != '\n' && text[i] != '\r')
            (void)gbx_buf_append(to, text + i, 1);
}

static bool run(gbx_parsed_url *url, const gbx_parsed_url *base, const char *text,
                size_t len, state override)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf cleaned = {0};
    parser p = {.url = url,
                .base = base,
                .state = override != NO_OVERRIDE ? override : SCHEME_START,
                .override = override};
    step how;

    gbx_buf_init(&cleaned, len);
    gbx_buf_init(&p.buffer, GBX_URL_TEXT_MAX);
    clean(&cleaned, (const uint8_t *)text, len, override == NO_OVERRIDE);
    p.text = cleaned.data;
    p.len = cleaned.len;
    do {
        int c = peek(&p, 0);

        how = states[p.state](&p, c);
        if (how == TAKEN && c == EOF_CHAR)
            how = DONE;
        p.at += how == TAKEN;
    } while (how == TAKEN || how == AGAIN);
    gbx_buf_cleanup(&p.buffer);
    return how == DONE;
}

/* ---- setters ------------------------------------------------------------------------ */

static void set_encoded(gbx_buf *part, const char *text, size_t len)
{
    clear(part);
    for (size_t i = 0; i < len; i++)
        gbx_url_put(part, (unsigned char)text[i], GBX_URL_IN_USERINFO);
}

/* text may begin with the delimiter; without text the part is removed. */
static void set_tail(gbx_parsed_url *url, gbx_buf *part, bool *has, char mark,
                     const char *text, size_t len, state override)
{
    clear(part);
    *has = len > 0;
    if (len > 0 && text[0] == mark) {
        text++;
        len--;
    }
    if (*has)
        (void)run(url, NULL, text, len, override);
}

static void set_port(gbx_parsed_url *url, const char *text, size_t len)
{
    if (len == 0)
        url->port = -1;
    else
        (void)run(url, NULL, text, len, PORT);
}

bool gbx_url_parse(gbx_parsed_url *url, const gbx_parsed_url *base, const char *text,
                   size_t len)
{
    return run(url, base, text, len, NO_OVERRIDE);
}

void gbx_url_set(gbx_parsed_url *url, gbx_url_part part, const char *text, size_t len)
{
    bool has_authority =
        url->has_host && url->host.len > 0 && !is(&url->scheme, "file");

    switch (part) {
    case GBX_URL_PROTOCOL: {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf with_colon = {0};

        gbx_buf_init(&with_colon, len + 1);
        (void)gbx_buf_append(&with_colon, text, len);
        (void)gbx_buf_append(&with_colon, ":", 1);
        (void)run(url, NULL, (const char *)with_colon.data, with_colon.len,
                  SCHEME_START);
        break;
    }
    case GBX_URL_USERNAME:
        if (has_authority)
            set_encoded(&url->username, text, len);
        break;
    case GBX_URL_PASSWORD:
        if (has_authority)
            set_encoded(&url->password, text, len);
        break;
    case GBX_URL_HOST:
    case GBX_URL_HOSTNAME:
        if (!url->is_opaque)
            (void)run(url, NULL, text, len, part == GBX_URL_HOST ? HOST : HOSTNAME);
        break;
    case GBX_URL_PORT:
        if (has_authority)
            set_port(url, text, len);
        break;
    case GBX_URL_PATHNAME:
        if (!url->is_opaque) {
            clear(&url->path);
            (void)run(url, NULL, text, len, PATH_START);
        }
        break;
    case GBX_URL_SEARCH:
        set_tail(url, &url->query, &url->has_query, '?', text, len, QUERY);
        break;
    case GBX_URL_HASH:
        set_tail(url, &url->fragment, &url->has_fragment, '#', text, len, FRAGMENT);
        break;
    }
}
