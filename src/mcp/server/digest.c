/* SPDX-License-Identifier: MIT */
/*
 * digest - members in the order of the digests of their names, strings as their characters,
 * numbers as their exact decimal value. Each part begins with what it is, and says or shows
 * where it ends: no other request makes the same bytes. Where something cannot be brought
 * into this form it is added as it is written, which no other form begins like.
 */
#include "mcp/server/digest.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each level is walked through by all those around it. */
#define DEPTH_MAX 64

/* Of an exponent: far beyond any double, far within an int64_t. */
#define EXPONENT_DIGITS 15

typedef struct member {
    uint8_t name[GBX_SHA256_SIZE];
    size_t place;
    gbx_view value;
} member;

static void add_tag(gbx_sha256 *s, char tag)
{
    gbx_sha256_add(s, &tag, 1);
}

/* JSON text without the white space between its tokens. */
static void add_written(gbx_sha256 *s, gbx_view value)
{
    bool in_string = false;
    size_t start = 0;
    size_t i;

    add_tag(s, 'w');
    for (i = 0; i < value.len; i++) {
        char c = value.at[i];

        if (in_string && c == '\\') {
            i++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) {
            gbx_sha256_add(s, value.at + start, i - start);
            start = i + 1;
        }
    }
    gbx_sha256_add(s, value.at + start, i - start);
    add_tag(s, '\0');
}

static void add_string(gbx_sha256 *s, gbx_view value)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = value.len};
    uint64_t len;

    if (!gbx_view_take_text(value, &text)) { /* half a character is none */
        add_written(s, value);
        return;
    }
    len = text.len;
    add_tag(s, '"');
    gbx_sha256_add(s, &len, sizeof len);
    gbx_sha256_add(s, text.data, text.len);
}

/* ---- numbers ------------------------------------------------------------------ */

/* False if it has too many digits. */
static bool read_exponent(const char *at, const char *end, int64_t *ret)
{
    bool is_negative = at < end && *at == '-';
    int64_t value = 0;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    while (at < end && *at == '0')
        at++;
    if (end - at > EXPONENT_DIGITS)
        return false;
    for (; at < end; at++)
        value = value * 10 + (*at - '0');
    *ret = is_negative ? -value : value;
    return true;
}

static bool is_digit_but_zero(char c)
{
    return c >= '1' && c <= '9';
}

/* Its digits without zeros at either end, and the power of ten of the last of them. The sign
 * of 0 is kept: it is another number to some. */
static void add_number(gbx_sha256 *s, gbx_view value)
{
    const char *end = value.at + value.len;
    const char *first = value.at + (value.at[0] == '-');
    const char *stop = first;
    const char *dot;
    const char *last;
    int64_t power = 0;
    char tail[32];

    while (stop < end && *stop != 'e' && *stop != 'E')
        stop++;
    if (stop < end && !read_exponent(stop + 1, end, &power)) {
        add_written(s, value);
        return;
    }
    dot = memchr(first, '.', (size_t)(stop - first));
    if (dot == NULL)
        dot = stop;
    last = stop - 1;
    while (first < stop && !is_digit_but_zero(*first))
        first++;
    while (last > first && !is_digit_but_zero(*last))
        last--;
    add_tag(s, value.at[0] == '-' ? '-' : '+');
    if (first == stop) {
        power = 0;
    } else if (dot > first && dot < last) {
        gbx_sha256_add(s, first, (size_t)(dot - first));
        gbx_sha256_add(s, dot + 1, (size_t)(last - dot));
    } else {
        gbx_sha256_add(s, first, (size_t)(last - first) + 1);
    }
    if (first < stop)
        power += last < dot ? dot - 1 - last : dot - last;
    gbx_sha256_add(s, tail,
                   (size_t)snprintf(tail, sizeof tail, "e%" PRId64 ";", power));
}

/* ---- what has others in it ------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const member *m = a;
    const member *n = b;
    int order = memcmp(m->name, n->name, sizeof m->name);

    if (order != 0)
        return order;
    return m->place < n->place ? -1 : 1; /* which of two counts, readers differ in */
}

static bool is_of_the_retry(gbx_view name)
{
    static const char *const members[] = {"_meta", "inputResponses", "requestState"};

    for (size_t i = 0; i < GBX_COUNTOF(members); i++)
        if (gbx_view_is_text(name, members[i]))
            return true;
    return false;
}

/* The members that are kept, in their order; free() them. NULL: memory is out. */
static member *members_of(gbx_view object, bool (*is_left_out)(gbx_view name),
                          size_t *ret_count)
{
    size_t count = 0;
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;
    member *all = calloc(gbx_view_count(object) + 1, sizeof *all);

    if (all == NULL)
        return NULL;
    while (gbx_view_next(object, &cursor, &name, &value)) {
        gbx_sha256 s;

        if (is_left_out != NULL && is_left_out(name))
            continue;
        gbx_sha256_init(&s);
        add_string(&s, name);
        gbx_sha256_end(&s, all[count].name);
        all[count].place = count;
        all[count++].value = value;
    }
    qsort(all, count, sizeof *all, compare);
    *ret_count = count;
    return all;
}

static void add_value(gbx_sha256 *s, gbx_view value, size_t depth);

static void add_object(gbx_sha256 *s, gbx_view object, size_t depth,
                       bool (*is_left_out)(gbx_view name))
{
    size_t count = 0;
    GBX_CLEANUP(gbx_free) member *all = members_of(object, is_left_out, &count);

    if (all == NULL) {
        add_written(s, object);
        return;
    }
    add_tag(s, '{');
    for (size_t i = 0; i < count; i++) {
        add_tag(s, ',');
        gbx_sha256_add(s, all[i].name, sizeof all[i].name);
        add_value(s, all[i].value, depth + 1);
    }
    add_tag(s, '}');
}

static void add_array(gbx_sha256 *s, gbx_view array, size_t depth)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    add_tag(s, '[');
    while (gbx_view_next(array, &cursor, &name, &value))
        add_value(s, value, depth + 1);
    add_tag(s, ']');
}

static void add_value(gbx_sha256 *s, gbx_view value, size_t depth)
{
    char kind = gbx_view_kind(value);

    if (depth >= DEPTH_MAX && (kind == '{' || kind == '['))
        add_written(s, value);
    else if (kind == '{')
        add_object(s, value, depth, NULL);
    else if (kind == '[')
        add_array(s, value, depth);
    else if (kind == '"')
        add_string(s, value);
    else if (kind == '0')
        add_number(s, value);
    else
        add_tag(s, kind);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_digest_request(const char *method, gbx_view params, gbx_mcp_digest *ret)
{
    gbx_sha256 s;

    gbx_sha256_init(&s);
    gbx_sha256_add(&s, method, strlen(method) + 1);
    add_object(&s, params, 0, is_of_the_retry);
    gbx_sha256_end(&s, ret->bytes);
}
