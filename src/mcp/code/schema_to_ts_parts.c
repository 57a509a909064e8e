/* SPDX-License-Identifier: MIT */
/*
 * schema_to_ts_parts - what a type consists of: names and comments, references within the
 * schema, joins of types, values of an enum, and notes on a parameter.
 */
#include "mcp/code/types_writer.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- strings, names and comments -------------------------------------------- */

/* A server wrote them: nothing in them can end their literal or comment, or disguise
 * it. */

#define NAME_MAX_LEN 60 /* of a name without quotes */

/* The length of the next character. *ret_plain: what a one-line comment must have in
 * its place, or 0. */
static size_t comment_step(const uint8_t *text, size_t left, char last, char *ret_plain)
{
    uint32_t point;
    size_t n = gbx_utf8_sequence(text, left);

    *ret_plain = 0;
    if (n == 0)
        n = 1;
    if (text[0] <= ' ' || gbx_utf8_is_steering(text, n, &point))
        *ret_plain = ' ';
    else if (text[0] == '/' && last == '*')
        *ret_plain = '|';
    return n;
}

void gbx_types_comment(gbx_buf *to, gbx_view text, size_t max)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf plain;
    size_t used = 0;
    char last = ' ';

    gbx_buf_init(&plain, max * 8 + 64);
    /* The text is cut anyway, so a cut escape at its end does not matter. */
    (void)gbx_view_append_text((gbx_view){text.at,
                                          text.len < max * 4 ? text.len : max * 4},
                               &plain);
    for (size_t i = 0; i < plain.len && used < max;) {
        char other;
        size_t n = comment_step(plain.data + i, plain.len - i, last, &other);

        if (other != ' ' || last != ' ') {
            (void)gbx_buf_append(to, other != 0 ? (const void *)&other : plain.data + i,
                                 other != 0 ? 1 : n);
            used += n;
        }
        last = (char)(other != 0 ? other : plain.data[i]);
        i += n;
        if (i >= plain.len)
            break;
        if (used >= max)
            (void)gbx_buf_puts(to, "...");
    }
}

bool gbx_types_string(gbx_buf *to, gbx_view string)
{
    const uint8_t *text = (const uint8_t *)string.at;
    size_t done = 0; /* everything before it was written */

    for (size_t i = 0, n; i < string.len; i += n) {
        uint32_t point;

        n = gbx_utf8_sequence(text + i, string.len - i);
        if (n == 0)
            n = 1;
        if (!gbx_utf8_is_steering(text + i, n, &point))
            continue;
        (void)gbx_buf_append(to, text + done, i - done);
        done = i + n;
        (void)gbx_buf_printf(to, "\\u{%x}", (unsigned)point);
    }
    return gbx_buf_append(to, text + done, string.len - done);
}

bool gbx_types_put_name(gbx_buf *to, gbx_view name)
{
    bool is_plain = name.len > 2 && name.len <= NAME_MAX_LEN;

    if (gbx_view_kind(name) != '"')
        return false;
    for (size_t i = 1; is_plain && i + 1 < name.len; i++) {
        char c = name.at[i];

        is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                   c == '$' || (i > 1 && c >= '0' && c <= '9');
    }
    return is_plain ? gbx_buf_append(to, name.at + 1, name.len - 2)
                    : gbx_types_string(to, name);
}

uint64_t gbx_types_hash(gbx_view name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, name.len * 3 + 1);
    (void)gbx_view_append_text(name, &text);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ text.data[i]) * UINT64_C(1099511628211);
    return hash;
}

void gbx_types_put(gbx_types_writer *w, const char *text)
{
    (void)gbx_buf_puts(w->to, text);
}

/* ---- references ------------------------------------------------------------- */

/* A reference within a schema is a JSON pointer (RFC 6901) in a URI fragment in a JSON
 * string. Each of the three has its own escapes. */

#define POINTER_MAX 200

static int hex(uint8_t c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = c != 0 ? strchr(digits, c) : NULL;

    return at == NULL ? -1 : (int)(at - digits) - (at - digits > 15 ? 6 : 0);
}

/* Turn "A%20b" into "A b", in place. */
static void decode_percent(gbx_buf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->len; i++) {
        bool is_escape = text->data[i] == '%' && i + 2 < text->len &&
                         hex(text->data[i + 1]) >= 0 && hex(text->data[i + 2]) >= 0;

        text->data[n++] =
            !is_escape
                ? text->data[i]
                : (uint8_t)(hex(text->data[i + 1]) * 16 + hex(text->data[i + 2]));
        i += is_escape ? 2 : 0;
    }
    text->len = n;
}

static gbx_view element(gbx_view array, const char *index)
{
    size_t cursor = 0;
    size_t left = strlen(index) < 5 ? (size_t)strtoul(index, NULL, 10) : SIZE_MAX;
    gbx_view name;
    gbx_view value;

    if (index[0] != 0 && strspn(index, "0123456789") == strlen(index))
        while (gbx_view_next(array, &cursor, &name, &value))
            if (left-- == 0)
                return value;
    return (gbx_view){NULL, 0};
}

/* One step of the pointer: "a~1b" means "a/b". */
static gbx_view step(gbx_view at, const char *part, size_t len)
{
    char name[POINTER_MAX + 1];
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        bool is_escape = part[i] == '~' && i + 1 < len;

        name[n++] = (char)(!is_escape ? part[i] : part[i + 1] == '1' ? '/' : '~');
        i += is_escape;
    }
    name[n] = 0;
    return gbx_view_kind(at) == '[' ? element(at, name) : gbx_view_member(at, name);
}

/* The definition whose keyword has that name. */
static gbx_view find_named(gbx_view root, const char *keyword, const char *wanted)
{
    static const char *const places[] = {"$defs", "definitions"};

    for (size_t i = 0; i < GBX_COUNTOF(places); i++) {
        gbx_view defs = gbx_view_member(root, places[i]);
        size_t cursor = 0;
        gbx_view name;
        gbx_view value;

        while (gbx_view_kind(defs) == '{' &&
               gbx_view_next(defs, &cursor, &name, &value))
            if (gbx_view_is_text(gbx_view_member(value, keyword), wanted))
                return value;
    }
    return (gbx_view){NULL, 0};
}

/* The fragment, if the address before it is empty or the root's own. */
static const char *fragment_of(gbx_view root, char *text)
{
    char *hash = strchr(text, '#');
    bool is_own;

    if (hash == NULL || hash == text)
        return hash;
    *hash = 0;
    is_own = gbx_view_is_text(gbx_view_member(root, "$id"), text);
    *hash = '#';
    return is_own ? hash : NULL;
}

static gbx_view walk(gbx_view root, const char *part)
{
    gbx_view at = root;

    while (*part != 0 && at.at != NULL) {
        size_t len;

        if (*part++ != '/')
            return (gbx_view){NULL, 0};
        len = strcspn(part, "/");
        at = step(at, part, len);
        part += len;
    }
    return at;
}

gbx_view gbx_types_follow(gbx_view root, gbx_view ref)
{
    static const gbx_view nothing = {NULL, 0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    const char *fragment;

    gbx_buf_init(&text, POINTER_MAX);
    if (!gbx_view_take_text(ref, &text) || text.len == 0)
        return nothing;
    decode_percent(&text);
    if (memchr(text.data, 0, text.len) != NULL || !gbx_buf_append(&text, "", 1))
        return nothing;
    fragment = fragment_of(root, (char *)text.data);
    if (fragment == NULL)
        return find_named(root, "$id", (const char *)text.data);
    if (fragment[1] == 0 || fragment[1] == '/')
        return walk(root, fragment + 1);
    return find_named(root, "$anchor", fragment + 1);
}

/* ---- joins ------------------------------------------------------------------ */

/* A part gets parentheses only where needed; that is known after it was written. */

#define BETWEEN_LEN 3

static bool is_all(const gbx_types_join *j)
{
    return j->between[1] == '&';
}

static void insert(gbx_types_writer *w, size_t at, char c)
{
    if (!gbx_buf_append(w->to, &c, 1))
        return;
    memmove(w->to->data + at + 1, w->to->data + at, w->to->len - 1 - at);
    w->to->data[at] = (uint8_t)c;
}

static void wrap(gbx_types_writer *w, size_t start, size_t end)
{
    insert(w, end, ')');
    insert(w, start, '(');
}

/* Does the last part repeat an earlier one? */
static bool is_again(const gbx_types_writer *w, const gbx_types_join *j)
{
    size_t start = j->starts[j->count];
    size_t len = w->to->len - start;

    for (unsigned i = 0; i < j->count; i++) {
        size_t from = j->starts[i];
        size_t end = i + 1 < j->count ? j->starts[i + 1] - BETWEEN_LEN : j->end;
        bool is_wrapped = end - from == len + 2 && w->to->data[from] == '(';

        if (end - from == len + (is_wrapped ? 2 : 0) &&
            memcmp(w->to->data + from + is_wrapped, w->to->data + start, len) == 0)
            return true;
    }
    return false;
}

static bool is_many(gbx_types_kind kind)
{
    return kind == GBX_TYPES_CHOICE || kind == GBX_TYPES_OPEN;
}

void gbx_types_join_begin(gbx_types_writer *w, gbx_types_join *j)
{
    assert(j->count < GBX_TYPES_PARTS_MAX);
    j->end = w->to->len;
    gbx_types_put(w, j->count > 0 ? j->between : "");
    j->starts[j->count] = w->to->len;
}

void gbx_types_join_add(gbx_types_writer *w, gbx_types_join *j, gbx_types_kind kind)
{
    if (w->to->failed)
        return;
    j->is_open = j->is_open || kind == GBX_TYPES_OPEN ||
                 (kind == GBX_TYPES_NOTHING && !is_all(j));
    if ((kind == GBX_TYPES_NOTHING && is_all(j)) || is_again(w, j)) {
        w->to->len = j->end;
        return;
    }
    if (j->count == 0)
        j->first = kind;
    else if (is_all(j) && is_many(kind))
        wrap(w, j->starts[j->count], w->to->len);
    if (j->count == 1 && is_all(j) && is_many(j->first)) {
        wrap(w, j->starts[0], j->end);
        j->starts[1] += 2;
    }
    j->nothing += kind == GBX_TYPES_NOTHING;
    j->count++;
}

gbx_types_kind gbx_types_join_end(gbx_types_writer *w, gbx_types_join *j)
{
    if (j->count == j->nothing) {
        if (j->count > 0)
            w->to->len = j->starts[0];
        gbx_types_put(w, "unknown");
        return GBX_TYPES_NOTHING;
    }
    if (j->count == 1)
        return j->first;
    if (is_all(j))
        return GBX_TYPES_ONE;
    return j->is_open ? GBX_TYPES_OPEN : GBX_TYPES_CHOICE;
}

/* ---- values of an enum ------------------------------------------------------ */

/* Values left out of a list remain in the type as their kind; otherwise valid arguments
 * would be refused. */

#define LITERAL_MAX 60
#define NUMBER_MAX  15
#define VALUE_MEAN  16 /* mean bytes of a value in a list of any number */
#define DEFAULT_MAX 40
#define FORMAT_MAX  24

/* The kinds of the values that were left out. */
static const struct {
    char kind;
    const char *type;
} kinds[] = {{'"', "string"},        {'0', "number"},
             {'t', "boolean"},       {'f', "boolean"},
             {'n', "null"},          {'{', "{ [key: string]: unknown }"},
             {'[', "Array<unknown>"}};

/* JSON strings and short numbers are valid TypeScript. */
static bool write_literal(gbx_buf *to, gbx_view value)
{
    char kind = gbx_view_kind(value);

    if ((kind == '"' && value.len > LITERAL_MAX) ||
        (kind == '0' && value.len > NUMBER_MAX) || kind == '{' || kind == '[' ||
        kind == 0)
        return false;
    /* 1e999 is not a number in TypeScript. */
    if (kind == '0' && (memchr(value.at, 'e', value.len) != NULL ||
                        memchr(value.at, 'E', value.len) != NULL))
        return false;
    return kind == '"' ? gbx_types_string(to, value)
                       : gbx_buf_append(to, value.at, value.len);
}

static unsigned kind_bit(gbx_view value)
{
    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++)
        if (gbx_view_kind(value) == kinds[i].kind)
            return 1U << i;
    return 0;
}

static unsigned write_kinds(gbx_types_writer *w, unsigned left_out, unsigned count)
{
    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++) {
        /* true and false share the kind boolean. */
        bool is_again =
            kinds[i].kind == 'f' && i > 0 && (left_out & 1U << (i - 1)) != 0;

        if ((left_out & 1U << i) == 0 || is_again)
            continue;
        gbx_types_put(w, count++ > 0 ? " | " : "");
        gbx_types_put(w, kinds[i].type);
    }
    return count;
}

gbx_types_kind gbx_types_write_constant(gbx_types_writer *w, gbx_view value)
{
    if (!write_literal(w->to, value))
        (void)write_kinds(w, kind_bit(value), 0);
    return GBX_TYPES_ONE;
}

gbx_types_kind gbx_types_write_values(gbx_types_writer *w, gbx_view list)
{
    size_t start = w->to->len;
    size_t cursor = 0;
    unsigned max = w->form->values_max;
    unsigned left_out = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(list, &cursor, &name, &value)) {
        size_t before = w->to->len;

        if (count >= max && before - start >= (size_t)max * VALUE_MEAN) {
            left_out |= kind_bit(value);
            continue;
        }
        gbx_types_put(w, count > 0 ? " | " : "");
        if (write_literal(w->to, value)) {
            count++;
            continue;
        }
        w->to->len = before;
        left_out |= kind_bit(value);
    }
    count = write_kinds(w, left_out, count);
    if (left_out != 0)
        (void)gbx_buf_printf(w->to, " /* one of %zu: see tools() */",
                             gbx_view_count(list));
    if (count == 0)
        gbx_types_put(w, "never");
    return count > 1 ? GBX_TYPES_CHOICE : GBX_TYPES_ONE;
}

/* ---- notes ------------------------------------------------------------------- */

static bool is_short_number(gbx_view view)
{
    return gbx_view_kind(view) == '0' && view.len <= NUMBER_MAX;
}

static void put_fact(gbx_types_writer *w, bool *has_fact, const char *text)
{
    gbx_types_put(w, *has_fact ? ", " : "");
    gbx_types_put(w, text);
    *has_fact = true;
}

static void write_bound(gbx_types_writer *w, gbx_view schema, const char *keyword,
                        const char *sign, bool *has_fact)
{
    gbx_view value = gbx_view_member(schema, keyword);

    if (!is_short_number(value))
        return;
    put_fact(w, has_fact, sign);
    (void)gbx_buf_append(w->to, value.at, value.len);
}

static void write_range(gbx_types_writer *w, gbx_view schema, bool *has_fact)
{
    gbx_view least = gbx_view_member(schema, "minimum");
    gbx_view most = gbx_view_member(schema, "maximum");

    if (is_short_number(least) && is_short_number(most)) {
        put_fact(w, has_fact, "");
        (void)gbx_buf_append(w->to, least.at, least.len);
        gbx_types_put(w, "..");
        (void)gbx_buf_append(w->to, most.at, most.len);
    } else {
        write_bound(w, schema, "minimum", ">= ", has_fact);
        write_bound(w, schema, "maximum", "<= ", has_fact);
    }
    write_bound(w, schema, "exclusiveMinimum", "> ", has_fact);
    write_bound(w, schema, "exclusiveMaximum", "< ", has_fact);
}

/* A default of null usually means a missing value. */
static void write_default(gbx_types_writer *w, gbx_view schema, bool *has_fact)
{
    gbx_view value = gbx_view_member(schema, "default");
    char kind = gbx_view_kind(value);

    if (value.len > DEFAULT_MAX || kind == 0 || strchr("\"0tf", kind) == NULL)
        return;
    put_fact(w, has_fact, kind == '"' ? "@default \"" : "@default ");
    gbx_types_comment(w->to, value, DEFAULT_MAX);
    gbx_types_put(w, kind == '"' ? "\"" : "");
}

static void write_facts(gbx_types_writer *w, gbx_view schema)
{
    gbx_view format = gbx_view_member(schema, "format");
    bool has_fact = false;

    write_default(w, schema, &has_fact);
    write_range(w, schema, &has_fact);
    if (gbx_view_kind(format) == '"' && format.len > 2 && format.len <= FORMAT_MAX) {
        put_fact(w, &has_fact, "");
        gbx_types_comment(w->to, format, FORMAT_MAX);
    }
}

void gbx_types_write_note(gbx_types_writer *w, gbx_view schema)
{
    gbx_view text = gbx_view_member(schema, "description");
    size_t before = w->to->len;
    size_t start;

    gbx_types_put(w, "/** ");
    start = w->to->len;
    if (gbx_view_kind(text) == '"' && text.len > 2)
        gbx_types_comment(w->to, text, w->form->describe_max);
    if (w->to->len > start) {
        size_t described;

        gbx_types_put(w, " ");
        described = w->to->len;
        write_facts(w, schema);
        if (w->to->len == described)
            w->to->len--;
    } else {
        write_facts(w, schema);
    }
    if (w->to->len == start)
        w->to->len = before;
    else
        gbx_types_put(w, " */ ");
}
