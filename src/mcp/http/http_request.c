/* SPDX-License-Identifier: MIT */
/* http_request - the grammar of RFC 9112, without the variants that it tolerates. */
#include "mcp/http/http.h"

#include "base/base64.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Fields that have an effect here: each may occur only once. */
static const char *const single_fields[] = {"authorization",
                                            "content-encoding",
                                            "content-length",
                                            "content-type",
                                            "expect",
                                            "host",
                                            "last-event-id",
                                            "mcp-method",
                                            "mcp-name",
                                            "mcp-session-id",
                                            "mcp-protocol-version",
                                            "origin",
                                            "transfer-encoding"};

void gbx_http_request_init(gbx_http_request *r)
{
    *r = (gbx_http_request){0};
    gbx_buf_init_secret(&r->head, GBX_HTTP_HEAD_MAX); /* it may hold a token */
    gbx_buf_init(&r->body, GBX_HTTP_BODY_MAX);
}

void gbx_http_request_cleanup(gbx_http_request *r)
{
    gbx_buf_cleanup(&r->head);
    gbx_buf_cleanup(&r->body);
}

const char *gbx_http_field_of(const gbx_http_request *r, const char *name)
{
    for (size_t i = 0; i < r->field_count; i++)
        if (strcasecmp(r->fields[i].name, name) == 0)
            return r->fields[i].value;
    return NULL;
}

/* ---- the head ------------------------------------------------------------------ */

/* Terminate the line at *at, and move *at behind it. NULL: it has a control character,
 * or its end is not CR and LF. */
static char *take_line(char **at)
{
    char *line = *at;
    char *c = line;

    while ((unsigned char)*c >= ' ' || *c == '\t')
        if (*c++ == 0x7f)
            return NULL;
    if (c[0] != '\r' || c[1] != '\n')
        return NULL;
    *c = '\0';
    *at = c + 2;
    return line;
}

/* METHOD SP /path?query SP HTTP/1.1 */
static int read_request_line(gbx_http_request *r, char *line)
{
    char *target = line != NULL ? strchr(line, ' ') : NULL;
    char *version = target != NULL ? strchr(target + 1, ' ') : NULL;
    char *query;

    if (version == NULL)
        return 400;
    *target++ = '\0';
    *version++ = '\0';
    if (!gbx_is_token(line, strlen(line)) || *target != '/' ||
        target[gbx_visible_len(target)] != '\0')
        return 400;
    r->is_1_0 = strcmp(version, "HTTP/1.0") == 0;
    if (!r->is_1_0 && strcmp(version, "HTTP/1.1") != 0)
        return strncmp(version, "HTTP/", 5) == 0 ? 505 : 400;
    query = strchr(target, '?');
    if (query != NULL)
        *query++ = '\0';
    r->query = query;
    r->method = line;
    r->path = target;
    return 0;
}

static bool is_doubled(const gbx_http_request *r, const char *name)
{
    for (size_t i = 0; i < GBX_COUNTOF(single_fields); i++)
        if (strcasecmp(single_fields[i], name) == 0)
            return gbx_http_field_of(r, name) != NULL;
    return false;
}

static int read_field(gbx_http_request *r, char *line)
{
    char *value = line != NULL ? strchr(line, ':') : NULL;
    size_t len;

    if (value == NULL)
        return 400;
    *value++ = '\0';
    /* White space before the colon, or a folded line: the name is not a token. */
    if (!gbx_is_token(line, strlen(line)) || is_doubled(r, line))
        return 400;
    if (r->field_count == GBX_HTTP_FIELDS_MAX)
        return 431;
    value += strspn(value, " \t");
    len = strlen(value);
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        value[--len] = '\0';
    r->fields[r->field_count++] = (gbx_http_field){line, value};
    return 0;
}

/* Read the length of the body. Returns 0 or an HTTP status. */
static int read_length(gbx_http_request *r)
{
    const char *length = gbx_http_field_of(r, "content-length");
    const char *coding = gbx_http_field_of(r, "transfer-encoding");
    size_t digits = length != NULL ? strspn(length, "0123456789") : 0;

    if (length != NULL && (coding != NULL || digits == 0 || length[digits] != '\0'))
        return 400;
    if (coding != NULL && r->is_1_0)
        return 400;
    if (digits > 18)
        return 413;
    if (coding != NULL && strcasecmp(coding, "chunked") != 0)
        return 501;
    if (gbx_http_field_of(r, "content-encoding") != NULL)
        return 415;
    r->is_chunked = coding != NULL;
    r->left = length != NULL ? strtoull(length, NULL, 10) : 0;
    return r->left > GBX_HTTP_BODY_MAX ? 413 : 0;
}

/* Data behind the head is taken out of the buffer again. */
static int feed_head(gbx_http_request *r, const char *data, size_t len, size_t *used)
{
    size_t before = r->head.len;
    size_t room = GBX_HTTP_HEAD_MAX - before;
    size_t seam = before < 3 ? before : 3; /* the empty line may begin there */
    const uint8_t *end;
    char *at;
    char *empty; /* the empty line */
    int status;

    *used = len;
    if (!gbx_buf_append(&r->head, data, len < room ? len : room))
        return 431;
    end = memmem(r->head.data + before - seam, r->head.len - before + seam, "\r\n\r\n",
                 4);
    if (end == NULL)
        return r->head.len < GBX_HTTP_HEAD_MAX ? 0 : 431;
    r->head.len = (size_t)(end - r->head.data) + 4;
    *used = r->head.len - before;
    if (r->head.len == GBX_HTTP_HEAD_MAX)
        return 431;
    at = (char *)r->head.data;
    empty = at + r->head.len - 2;
    status = read_request_line(r, take_line(&at));
    while (status == 0 && at < empty)
        status = read_field(r, take_line(&at));
    if (status == 0 && (at != empty || gbx_http_field_of(r, "host") == NULL))
        status = 400;
    if (status == 0)
        status = read_length(r);
    if (status == 0)
        r->part = r->is_chunked || r->left > 0 ? GBX_HTTP_IN_BODY : GBX_HTTP_COMPLETE;
    return status;
}

/* ---- the body -------------------------------------------------------------------- */

/* States of a chunked body. */
enum { SIZE, SIZE_LF, DATA, DATA_CR, DATA_LF, LAST_CR, LAST_LF };

/* Each size has at most this many digits, so no sum can overflow. */
#define SIZE_DIGITS_MAX 8

static int feed_size(gbx_http_request *r, char c)
{
    int digit = gbx_hex_digit((uint8_t)c);

    if (c == '\r' && r->digits > 0) {
        r->chunk = SIZE_LF;
        return 0;
    }
    if (digit < 0 || ++r->digits > SIZE_DIGITS_MAX)
        return 400;
    r->left = r->left * 16 + (size_t)digit;
    return 0;
}

/* Read one byte of the framing around chunks. */
static int feed_frame(gbx_http_request *r, char c)
{
    static const char wanted[] = {[SIZE_LF] = '\n',
                                  [DATA_CR] = '\r',
                                  [DATA_LF] = '\n',
                                  [LAST_CR] = '\r',
                                  [LAST_LF] = '\n'};

    if (r->chunk == SIZE)
        return feed_size(r, c);
    if (c != wanted[r->chunk])
        return 400;
    switch (r->chunk) {
    case SIZE_LF: r->chunk = r->left > 0 ? DATA : LAST_CR; break;
    case DATA_CR: r->chunk = DATA_LF; break;
    case LAST_CR: r->chunk = LAST_LF; break;
    case LAST_LF: r->part = GBX_HTTP_COMPLETE; break;
    default:
        r->chunk = SIZE;
        r->digits = 0;
        break;
    }
    return 0;
}

static int feed_body(gbx_http_request *r, const char *data, size_t len, size_t *used)
{
    size_t n = len < r->left ? len : r->left;

    *used = 1;
    if (r->is_chunked && r->chunk != DATA)
        return feed_frame(r, *data);
    *used = n;
    if (!gbx_buf_append(&r->body, data, n))
        return 413;
    r->left -= n;
    if (r->left == 0 && r->is_chunked)
        r->chunk = DATA_CR;
    else if (r->left == 0)
        r->part = GBX_HTTP_COMPLETE;
    return 0;
}

int gbx_http_request_feed(gbx_http_request *r, const char *data, size_t len,
                          size_t *used)
{
    gbx_http_part part = r->part;
    size_t step = 0;
    int status = 0;

    for (*used = 0;
         status == 0 && *used < len && r->part == part && part != GBX_HTTP_COMPLETE;
         *used += step)
        status = part == GBX_HTTP_IN_HEAD
                     ? feed_head(r, data + *used, len - *used, &step)
                     : feed_body(r, data + *used, len - *used, &step);
    return status;
}

/* ---- lists ---------------------------------------------------------------------- */

bool gbx_http_is_last(const gbx_http_request *r)
{
    for (size_t i = 0; i < r->field_count; i++) {
        const char *at = r->fields[i].value;

        if (strcasecmp(r->fields[i].name, "connection") != 0)
            continue;
        while (*(at += strspn(at, " \t,")) != '\0') {
            if (strcspn(at, " \t,") == 5 && strncasecmp(at, "close", 5) == 0)
                return true;
            at += strcspn(at, ",");
        }
    }
    return r->is_1_0;
}

bool gbx_http_accepts(const char *list, const char *type)
{
    size_t major = (size_t)(strchr(type, '/') - type) + 1;

    while (list != NULL && *list != '\0') {
        size_t len;

        list += strspn(list, " \t,");
        /* A media range without its parameters: the type, or a wildcard for it. */
        len = strcspn(list, ",;");
        while (len > 0 && (list[len - 1] == ' ' || list[len - 1] == '\t'))
            len--;
        if ((len == strlen(type) && strncasecmp(list, type, len) == 0) ||
            (len == 3 && memcmp(list, "*/*", 3) == 0) ||
            (len == major + 1 && strncasecmp(list, type, major) == 0 &&
             list[major] == '*'))
            return true;
        list += strcspn(list, ",");
    }
    return false;
}
