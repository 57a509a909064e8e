/* SPDX-License-Identifier: MIT */
/*
 * args_ambiguity - refuses arguments of a call that parsers may read differently.
 *
 * If a member occurs twice, some parsers take the first and others the last. They also
 * differ on numbers that are too large, half a surrogate pair, and "__proto__". No
 * values are built: hostile text may hold millions of them. One pass over the text
 * keeps the positions of the members' names of each open object, and sorts them at the
 * object's end.
 *
 * An error names the argument and says what to write instead: the author of the call
 * cannot guess which text was cut inside a character.
 */
#include "mcp/rules/rules.h"

#include "base/cleanup.h"
#include "base/json_view.h"
#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX    GBX_MIB(16)
#define DEPTH_MAX   200
#define MEMBERS_MAX GBX_MIB(32) /* more than 16 MiB of text can have */
#define WHERE_MAX   512         /* a longer path is left out */
#define STEPS_MAX   16 /* deeper steps are left out: each level is parsed again */

typedef struct member {
    uint32_t hash; /* of the name's characters */
    uint32_t at;   /* position of its quote in the text */
} member;

typedef struct reading {
    const char *text;
    size_t len;
    gbx_buf members;          /* of all open objects, the innermost last */
    size_t starts[DEPTH_MAX]; /* where the members of each object begin */
    size_t depth;
    const char *fault;
    size_t fault_at;
} reading;

static void object_to(reading *r, const char *at, const char *fault)
{
    r->fault = fault;
    r->fault_at = (size_t)(at - r->text);
}

/* ---- names --------------------------------------------------------------------- */

static uint32_t hash_of(const void *data, size_t len)
{
    const uint8_t *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool has_escapes(gbx_view name)
{
    return memchr(name.at, '\\', name.len) != NULL;
}

static int compare_bytes(const void *a, size_t a_len, const void *b, size_t b_len)
{
    size_t both = a_len < b_len ? a_len : b_len;
    int order = both > 0 ? memcmp(a, b, both) : 0;

    return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

/* Equal names become neighbours; the order is otherwise irrelevant. */
static int compare(const void *a, const void *b, void *text)
{
    const member *first = a;
    const member *second = b;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf one = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf other = {0};
    gbx_view name, other_name;

    if (first->hash != second->hash)
        return first->hash < second->hash ? -1 : 1;
    name = gbx_view_string_at((const char *)text + first->at);
    other_name = gbx_view_string_at((const char *)text + second->at);
    if (!has_escapes(name) && !has_escapes(other_name))
        return compare_bytes(name.at, name.len, other_name.at, other_name.len);
    one.ceiling = name.len;
    other.ceiling = other_name.len;
    (void)gbx_view_append_text(name, &one);
    (void)gbx_view_append_text(other_name, &other);
    return compare_bytes(one.data, one.len, other.data, other.len);
}

static void close_object(reading *r)
{
    size_t start = r->starts[--r->depth];
    size_t count = (r->members.len - start) / sizeof(member);
    member *members;

    if (count < 2) {
        r->members.len = start;
        return;
    }
    members = (member *)(void *)(r->members.data + start);
    qsort_r(members, count, sizeof *members, compare, (void *)(uintptr_t)r->text);
    for (size_t i = 1; i < count && r->fault == NULL; i++)
        if (compare(&members[i - 1], &members[i], (void *)(uintptr_t)r->text) == 0)
            object_to(r,
                      r->text + (members[i].at > members[i - 1].at ? members[i].at
                                                                   : members[i - 1].at),
                      "is there twice");
    r->members.len = start;
}

static void read_name(reading *r, gbx_view name)
{
    member m = {.at = (uint32_t)(name.at - r->text)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = name.len};

    if (gbx_view_is_text(name, "__proto__")) {
        object_to(r, name.at, "cannot have that name");
        return;
    }
    m.hash = hash_of(name.at + 1, name.len - 2);
    if (has_escapes(name)) {
        (void)gbx_need(gbx_view_append_text(name, &text) ? r : NULL);
        if (text.len > 0 && memchr(text.data, '\0', text.len) != NULL)
            object_to(r, name.at, "has NUL in its name");
        m.hash = hash_of(text.data, text.len);
    }
    (void)gbx_need(gbx_buf_append(&r->members, &m, sizeof m) ? r : NULL);
}

/* ---- values -------------------------------------------------------------------- */

/* A string, which is a name if a colon follows; returns the position after it. */
static size_t read_string(reading *r, size_t at)
{
    gbx_view string = gbx_view_string_at(r->text + at);
    size_t after = at + string.len;

    if (gbx_view_has_half(string))
        object_to(r, string.at,
                  "holds half of a character: where a text is cut, cut whole ones, "
                  "[...text].slice(0, n).join(\"\"), or send text.toWellFormed()");
    while (after < r->len && strchr(" \n\t\r", r->text[after]) != NULL)
        after++;
    if (r->fault == NULL && after < r->len && r->text[after] == ':')
        read_name(r, string);
    return after;
}

/* An integer must fit into 64 bits; any other number must be finite. */
static bool is_in_range(const char *text, size_t len)
{
    bool whole = true;
    bool scaled = false;

    for (size_t i = 0; i < len; i++) {
        whole &= text[i] == '-' || (text[i] >= '0' && text[i] <= '9');
        scaled |= text[i] == 'e' || text[i] == 'E';
    }
    errno = 0;
    if (whole)
        return len <= 18 || ((void)strtoll(text, NULL, 10), errno != ERANGE);
    return (!scaled && len <= 300) || isfinite(strtod(text, NULL));
}

static size_t read_token(reading *r, size_t at)
{
    char c = r->text[at];
    size_t len = 1;

    if (c == '"')
        return read_string(r, at);
    if (c == '-' || (c >= '0' && c <= '9')) {
        while (at + len < r->len &&
               strchr("+-.eE0123456789", r->text[at + len]) != NULL)
            len++;
        if (!is_in_range(r->text + at, len))
            object_to(
                r, r->text + at,
                "is a number that not every program reads alike: send it as text");
        return at + len;
    }
    if (c == '{')
        r->starts[r->depth++] = r->members.len;
    else if (c == '}')
        close_object(r);
    return at + 1;
}

/* ---- what is wrong, and where ------------------------------------------------ */

static bool holds_place(gbx_view view, const char *place)
{
    return view.at != NULL && place >= view.at && place < view.at + view.len;
}

static void put_step(gbx_view name, size_t index, gbx_buf *path)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = WHERE_MAX};

    if (name.at == NULL) {
        (void)gbx_buf_printf(path, "[%zu]", index);
        return;
    }
    if (!gbx_view_append_text(name, &text))
        path->failed = true;
    (void)gbx_buf_puts(path, path->len > 0 ? "." : "");
    (void)gbx_utf8_append_escaped(path, text.data, text.len, GBX_ESCAPE_LINE);
}

/* The path of a place in the text: "items[3].name". */
static void find_path(const char *text, size_t len, size_t place, gbx_buf *path)
{
    gbx_view at;
    gbx_view name = {0};
    gbx_view value;

    if (!gbx_view_open(text, len, &at))
        return;
    for (size_t step = 0; step < STEPS_MAX && !holds_place(name, text + place);
         step++) {
        size_t cursor = 0;
        size_t index = 0;

        do {
            if (!gbx_view_next(at, &cursor, &name, &value))
                return;
            index++;
        } while (!holds_place(name, text + place) && !holds_place(value, text + place));
        put_step(name, index - 1, path);
        at = value;
    }
}

bool gbx_gate_args_open(const char *text, size_t len, gbx_view *ret, gbx_buf *why)
{
    reading r = {.fault = NULL};
    gbx_view args;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf path = {.ceiling = WHERE_MAX};

    if (len > ARGS_MAX) {
        (void)gbx_buf_puts(why, "the arguments are larger than 16 MiB");
        return false;
    }
    if (!gbx_view_open_within(text, len, DEPTH_MAX, &args)) {
        (void)gbx_buf_puts(why,
                           "the arguments are not JSON, or are nested deeper than 200");
        return false;
    }
    if (gbx_view_kind(args) != '{') {
        (void)gbx_buf_puts(why, "the arguments are not an object");
        return false;
    }
    r.text = args.at;
    r.len = args.len;
    gbx_buf_init(&r.members, MEMBERS_MAX);
    for (size_t at = 0; at < r.len && r.fault == NULL;)
        at = read_token(&r, at);
    gbx_buf_cleanup(&r.members);
    if (r.fault == NULL) {
        *ret = args;
        return true;
    }
    find_path(r.text, r.len, r.fault_at, &path);
    if (path.failed || path.len == 0)
        (void)gbx_buf_printf(why, "an argument %s", r.fault);
    else
        (void)gbx_buf_printf(why, "the argument '%.*s' %s", (int)path.len,
                             (char *)path.data, r.fault);
    return false;
}
