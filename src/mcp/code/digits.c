/* SPDX-License-Identifier: MIT */
/*
 * digits - rewrite values in one pass over their text, at any depth: the cost for
 * hostile input is linear.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST       16u /* digits of 2^53 - 1 */
#define MOST        40u /* the most digits of a known integer */
#define SAFE        9007199254740991.0
#define ENTRIES_MAX 65536u
#define CODE_MAX    GBX_KIB(64) /* of code parsed for literals */
#define PLACE_MAX   256u
#define SHOWN_MAX   64          /* digits shown */
#define SCHEMAS_MAX GBX_MIB(16) /* bytes of schemas visited for one call */
#define SCHEMA_DEEP 12u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- what is known --------------------------------------------------------------- */

struct integer {
    double key;            /* first: compare() reads it */
    char digits[MOST + 1]; /* "": those that JavaScript writes */
    bool is_ambiguous;
};

static int compare(const void *a, const void *b)
{
    const double *one = a;
    const double *two = b;

    return (*one > *two) - (*one < *two);
}

/* NULL: it is not known. */
static struct integer *find(const gbx_digits *d, double key)
{
    struct integer *const *found = tfind(&key, &d->tree, compare);

    return found != NULL ? *found : NULL;
}

static void know(gbx_digits *d, double key, const char *digits)
{
    struct integer *entry;

    if (key <= SAFE || d->is_full)
        return;
    entry = find(d, key);
    if (entry != NULL) {
        entry->is_ambiguous = entry->is_ambiguous || strcmp(entry->digits, digits) != 0;
        return;
    }
    d->is_full = d->count == ENTRIES_MAX;
    if (d->is_full)
        return;
    entry = gbx_need(calloc(1, sizeof *entry));
    entry->key = key;
    (void)snprintf(entry->digits, sizeof entry->digits, "%s", digits);
    (void)gbx_need(tsearch(entry, &d->tree, compare));
    d->count++;
}

/* Is it part of a name, a fraction or another number? In JSON a letter before it may
 * end an escape. */
static bool is_part(const char *text, size_t len, size_t start, size_t end)
{
    char before = start > 0 ? text[start - 1] : ' ';
    char after = end < len ? text[end] : ' ';

    if (start > 1 && text[start - 2] == '\\')
        before = ' ';
    return before == '.' || before == '_' || isalnum((unsigned char)before) != 0 ||
           after == '_' || (after != 'n' && isalpha((unsigned char)after) != 0) ||
           (after == '.' && end + 1 < len && is_digit(text[end + 1]));
}

/* The next run of at least so many digits. */
static bool next_run(const char *text, size_t len, size_t *start, size_t *end)
{
    size_t from = *end;

    for (size_t i = from + LEAST - 1; i < len;) {
        size_t first = i;
        size_t last = i;

        if (!is_digit(text[i])) {
            i += LEAST;
            continue;
        }
        while (first > from && is_digit(text[first - 1]))
            first--;
        while (last < len && is_digit(text[last]))
            last++;
        if (last - first >= LEAST) {
            *start = first;
            *end = last;
            return true;
        }
        i = last + LEAST - 1;
    }
    return false;
}

static void know_text(gbx_digits *d, const char *digits, size_t len)
{
    char text[MOST + 1];

    for (; len > 0 && *digits == '0'; len--)
        digits++;
    if (len < LEAST || len > MOST)
        return;
    memcpy(text, digits, len);
    text[len] = 0;
    know(d, strtod(text, NULL), text);
}

/* ---- the literals of code -------------------------------------------------------- */

struct literals {
    gbx_digits *digits;
    const char *code;
    size_t len;
    size_t start; /* of the parsed part */
    void (*found)(void *user, size_t start, size_t end);
    void *user;
};

/* Are these the digits that JavaScript writes for that Number, the fewest? */
static bool is_as_written(double key, const char *digits, size_t len)
{
    char text[40];
    size_t n = 0;

    for (int precision = 0; precision < 17; precision++) {
        (void)snprintf(text, sizeof text, "%.*e", precision, key);
        if (strtod(text, NULL) == key)
            break;
    }
    for (const char *c = text; *c != 0 && *c != 'e'; c++)
        if (is_digit(*c))
            text[n++] = *c;
    while (n > 0 && text[n - 1] == '0')
        n--;
    while (len > 0 && digits[len - 1] == '0')
        len--;
    return len == n && memcmp(text, digits, n) == 0;
}

/* An integer in decimal digits; is_number: not a BigInt. */
static void take_integer(struct literals *l, const char *digits, bool is_number,
                         size_t start, size_t end)
{
    size_t len = strlen(digits);
    double key = strtod(digits, NULL);

    know_text(l->digits, digits, len);
    if (is_number && key > SAFE && !is_as_written(key, digits, len))
        l->found(l->user, start, end);
}

/* 0x1F, 0o17 and 0b1: integers of at most 64 bits. */
static void take_radix(struct literals *l, const char *text, size_t start, size_t end)
{
    int mark = tolower((unsigned char)text[1]);
    char digits[MOST + 1];
    char *rest;
    uint64_t value;

    errno = 0;
    value = strtoull(text + 2, &rest, mark == 'x' ? 16 : mark == 'o' ? 8 : 2);
    if (errno != 0)
        return;
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    take_integer(l, digits, *rest != 'n', start, end);
}

static void take_literal(struct literals *l, const gbx_node *node)
{
    size_t start = l->start + node->start;
    size_t end = l->start + node->end;
    char text[140];
    size_t n = 0;
    bool is_number;

    for (size_t i = start; i < end && n + 1 < sizeof text; i++)
        if (l->code[i] != '_')
            text[n++] = l->code[i];
    text[n] = 0;
    if (n > 2 && text[0] == '0' && !is_digit(text[1]) && text[1] != '.' &&
        tolower((unsigned char)text[1]) != 'e') {
        take_radix(l, text, start, end);
        return;
    }
    is_number = text[n - 1] != 'n';
    text[n - !is_number] = 0;
    if (strspn(text, "0123456789") < strlen(text))
        know(l->digits, strtod(text, NULL), "");
    else
        take_integer(l, text, is_number, start, end);
}

/* Does a word begin with a digit and possibly exceed 2^53 - 1? */
static bool is_far_word(const char *code, size_t len)
{
    char text[140];
    size_t n = 0;

    for (size_t i = 0; i < len && n + 1 < sizeof text; i++)
        if (code[i] != '_')
            text[n++] = code[i];
    text[n] = 0;
    return strtod(text, NULL) > SAFE || (n > LEAST && *text == '0');
}

/* A cheap test that saves most code from being parsed. */
static bool has_far_words(const char *code, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t start = i;

        while (i < len && (isalnum((unsigned char)code[i]) != 0 || code[i] == '_' ||
                           code[i] == '$' || code[i] == '.' ||
                           (code[i] == '+' && i > start &&
                            tolower((unsigned char)code[i - 1]) == 'e')))
            i++;
        if (i - start > 3 && is_digit(code[start]) &&
            is_far_word(code + start, i - start))
            return true;
        i += i == start;
    }
    return false;
}

static void find_literals(void *user)
{
    struct literals *l = user;
    gbx_tree t;

    if (l->len == 0 || !gbx_tree_parse(&t, l->code + l->start, l->len))
        return;
    gbx_tree_flatten(&t);
    for (uint32_t i = 0; i < t.count; i++)
        if (t.nodes[i].kind == GBX_NODE_NUMBER && t.nodes[i].end - t.nodes[i].start > 2)
            take_literal(l, &t.nodes[i]);
}

/* ---- a value, rewritten ---------------------------------------------------------- */

struct frame {
    bool is_list;
    size_t index;
    gbx_view name;
    gbx_view schema; /* of the container */
};

struct rewriting {
    gbx_buf *to;
    const char *name; /* of the value */
    struct frame *frames;
    size_t depth;
    /* Append a scalar, changed or not. False: stop. */
    bool (*scalar)(struct rewriting *r, gbx_view scalar);
    const gbx_digits *digits;
    gbx_view exact; /* digits of BigInts, as JSON strings */
    gbx_buf *words;
    size_t count;
    gbx_view schema; /* of the whole value, or not a value */
    size_t schemas_left;
};

/* "args.rows[0].id" */
static void put_place(const struct rewriting *r, gbx_buf *to)
{
    (void)gbx_buf_puts(to, r->name);
    for (size_t i = 0; i < r->depth && to->len < PLACE_MAX; i++) {
        const struct frame *f = &r->frames[i];
        bool is_name = !f->is_list && f->name.len > 2 && f->name.len < PLACE_MAX / 2;

        for (size_t c = 1; is_name && c + 1 < f->name.len; c++)
            is_name = (unsigned char)f->name.at[c] < 0x80 &&
                      gbx_text_is_name((unsigned char)f->name.at[c]) &&
                      (c > 1 || !is_digit(f->name.at[c]));
        if (f->is_list)
            (void)gbx_buf_printf(to, "[%zu]", f->index);
        else if (is_name)
            (void)gbx_buf_printf(to, "%s%.*s", to->len > 0 ? "." : "",
                                 (int)f->name.len - 2, f->name.at + 1);
        else if (f->name.len < PLACE_MAX / 2)
            (void)gbx_buf_printf(to, "[%.*s]", (int)f->name.len, f->name.at);
        else
            (void)gbx_buf_puts(to, "[...]");
    }
}

/* The schema of a property, by name, or of an item; not a value if unspecified. */
static gbx_view schema_below(struct rewriting *r, gbx_view schema,
                             const struct frame *f, unsigned depth);

static gbx_view resolve(struct rewriting *r, gbx_view schema)
{
    for (unsigned i = 0; i < SCHEMA_DEEP; i++) {
        gbx_view ref = gbx_view_member(schema, "$ref");

        if (ref.at == NULL || r->schemas_left < r->schema.len)
            break;
        r->schemas_left -= r->schema.len;
        schema = gbx_schema_follow(r->schema, ref);
    }
    return schema;
}

static gbx_view property_of(gbx_view properties, gbx_view name)
{
    size_t cursor = 0;
    gbx_view key;
    gbx_view value;

    while (gbx_view_next(properties, &cursor, &key, &value))
        if (key.len == name.len && memcmp(key.at, name.at, key.len) == 0)
            return value;
    return (gbx_view){NULL, 0};
}

static gbx_view item_of(gbx_view schema, size_t index)
{
    gbx_view first = gbx_view_member(schema, "prefixItems");
    gbx_view items = gbx_view_member(schema, "items");
    size_t cursor = 0;
    gbx_view none;
    gbx_view value;

    if (gbx_view_kind(items) == '[')
        first = items;
    while (gbx_view_next(first, &cursor, &none, &value))
        if (index-- == 0)
            return value;
    return gbx_view_kind(items) == '{' ? items : (gbx_view){NULL, 0};
}

static const char *const choices[] = {"anyOf", "oneOf", "allOf"};

static gbx_view schema_of_choices(struct rewriting *r, gbx_view schema,
                                  const struct frame *f, unsigned depth)
{
    gbx_view found = {NULL, 0};

    for (size_t i = 0; i < GBX_COUNTOF(choices) && found.at == NULL; i++) {
        gbx_view list = gbx_view_member(schema, choices[i]);
        size_t cursor = 0;
        gbx_view none;
        gbx_view one;

        while (found.at == NULL && gbx_view_kind(list) == '[' &&
               gbx_view_next(list, &cursor, &none, &one))
            found = schema_below(r, one, f, depth + 1);
    }
    return found;
}

static gbx_view schema_below(struct rewriting *r, gbx_view schema,
                             const struct frame *f, unsigned depth)
{
    gbx_view found;

    if (schema.at == NULL || depth > SCHEMA_DEEP || r->schemas_left < schema.len)
        return (gbx_view){NULL, 0};
    r->schemas_left -= schema.len;
    schema = resolve(r, schema);
    if (f->is_list) {
        found = item_of(schema, f->index);
    } else {
        found = property_of(gbx_view_member(schema, "properties"), f->name);
        if (found.at == NULL)
            found = gbx_view_member(schema, "additionalProperties");
    }
    if (gbx_view_kind(found) != '{')
        found = schema_of_choices(r, schema, f, depth);
    return found;
}

/* The kinds of scalars that a schema allows and such a text could be. */
enum { TAKES_INTEGER = 1, TAKES_TEXT = 2 };

static unsigned takes_type(gbx_view type)
{
    if (gbx_view_is_text(type, "integer") || gbx_view_is_text(type, "number"))
        return TAKES_INTEGER;
    return gbx_view_is_text(type, "string") ? TAKES_TEXT : 0;
}

static unsigned takes(struct rewriting *r, gbx_view schema, unsigned depth)
{
    gbx_view type;
    unsigned sum = 0;
    size_t cursor = 0;
    gbx_view none;
    gbx_view one;

    if (depth > SCHEMA_DEEP || r->schemas_left < schema.len)
        return 0;
    r->schemas_left -= schema.len;
    schema = resolve(r, schema);
    type = gbx_view_member(schema, "type");
    if (gbx_view_kind(type) == '"')
        return takes_type(type);
    while (gbx_view_kind(type) == '[' && gbx_view_next(type, &cursor, &none, &one))
        sum |= takes_type(one);
    for (size_t i = 0; i < GBX_COUNTOF(choices) && type.at == NULL; i++) {
        gbx_view list = gbx_view_member(schema, choices[i]);

        cursor = 0;
        while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &none, &one))
            sum |= takes(r, one, depth + 1);
    }
    return sum;
}

static gbx_view schema_here(struct rewriting *r)
{
    const struct frame *f = r->depth > 0 ? &r->frames[r->depth - 1] : NULL;

    return f != NULL ? schema_below(r, f->schema, f, 0) : r->schema;
}

static void push(struct rewriting *r, bool is_list)
{
    gbx_view schema = r->schema.at != NULL ? schema_here(r) : r->schema;

    r->frames[r->depth++] = (struct frame){.is_list = is_list, .schema = schema};
}

/* The token that begins there. */
static gbx_view token_at(const char *at, const char *end)
{
    size_t len = 0;

    if (*at == '"')
        return gbx_view_string_at(at);
    while (at + len < end && strchr(",]} \t\r\n", at[len]) == NULL)
        len++;
    return (gbx_view){at, len};
}

/* value is JSON. False if memory is out or the scalar callback stopped. */
static bool rewrite(struct rewriting *r, gbx_view value)
{
    struct frame frames[GBX_JSON_DEPTH_MAX + 1];
    const char *end = value.at + value.len;
    bool is_name = false;
    bool goes_on = true;

    r->frames = frames;
    for (const char *at = value.at; goes_on && at < end;) {
        gbx_view token = {at, 1};
        struct frame *f;

        switch (*at) {
        case '{':
        case '[':
            if (r->depth > GBX_JSON_DEPTH_MAX)
                return false;
            push(r, *at == '[');
            is_name = *at == '{';
            goes_on = gbx_buf_append(r->to, at, 1);
            break;
        case '}':
        case ']':
            r->depth--;
            is_name = false;
            goes_on = gbx_buf_append(r->to, at, 1);
            break;
        case ',':
            f = &r->frames[r->depth - 1];
            f->index++;
            is_name = !f->is_list;
            goes_on = gbx_buf_append(r->to, at, 1);
            break;
        case ':': goes_on = gbx_buf_append(r->to, at, 1); break;
        case ' ':
        case '\t':
        case '\r':
        case '\n': break;
        default:
            token = token_at(at, end);
            if (is_name)
                r->frames[r->depth - 1].name = token;
            goes_on = is_name ? gbx_buf_append(r->to, token.at, token.len)
                              : r->scalar(r, token);
            is_name = false;
            break;
        }
        at += token.len;
    }
    return goes_on;
}

/* ---- the scalars ----------------------------------------------------------------- */

/* Is it an integer beyond 2^53 - 1 in full digits, possibly with a sign? */
static bool is_far(const char *text, size_t len, bool *is_negative)
{
    *is_negative = len > 0 && *text == '-';
    text += *is_negative;
    len -= *is_negative;
    if (len < LEAST || *text == '0')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_digit(text[i]))
            return false;
    return len > LEAST || memcmp(text, "9007199254740991", LEAST) > 0;
}

static bool put_as_text(struct rewriting *r, gbx_view scalar)
{
    bool is_negative;

    if (!is_far(scalar.at, scalar.len, &is_negative))
        return gbx_buf_append(r->to, scalar.at, scalar.len);
    if (r->count++ == 0) {
        put_place(r, r->words);
        (void)gbx_buf_printf(r->words,
                             scalar.len > SHOWN_MAX ? " is \"%.*s...\""
                                                    : " is \"%.*s\"",
                             scalar.len > SHOWN_MAX ? SHOWN_MAX : (int)scalar.len,
                             scalar.at);
    }
    return gbx_buf_puts(r->to, "\"") && gbx_buf_append(r->to, scalar.at, scalar.len) &&
           gbx_buf_puts(r->to, "\"");
}

static void put_why(const struct rewriting *r, gbx_view scalar)
{
    put_place(r, r->words);
    (void)gbx_buf_printf(r->words,
                         " is %.*s, and a Number beyond 2^53 - 1 has lost digits: "
                         "write them as 123n or as a text",
                         scalar.len < MOST ? (int)scalar.len : (int)MOST, scalar.at);
}

static bool put_as_integer(struct rewriting *r, gbx_view scalar)
{
    const char *at = scalar.at + (*scalar.at == '-');
    size_t len = scalar.len - (*scalar.at == '-');
    const struct integer *known;
    char text[64];
    double key;

    if (gbx_view_kind(scalar) != '0' || len < 4 || len >= sizeof text ||
        (len < LEAST && memchr(at, 'e', len) == NULL && memchr(at, 'E', len) == NULL))
        return gbx_buf_append(r->to, scalar.at, scalar.len);
    memcpy(text, at, len);
    text[len] = 0;
    key = strtod(text, NULL);
    /* Exact unless the Number would have these very digits. */
    if (key <= SAFE ||
        (strspn(text, "0123456789") == len && !is_as_written(key, text, len)))
        return gbx_buf_append(r->to, scalar.at, scalar.len);
    known = find(r->digits, key);
    if (r->exact.len > len + 1 && memmem(r->exact.at, r->exact.len, text, len) != NULL)
        return gbx_buf_append(r->to, scalar.at, scalar.len);
    if (known == NULL || known->is_ambiguous || r->digits->is_full) {
        if (r->words == NULL)
            return gbx_buf_append(r->to, scalar.at, scalar.len);
        put_why(r, scalar);
        return false;
    }
    if (known->digits[0] == 0)
        return gbx_buf_append(r->to, scalar.at, scalar.len);
    return gbx_buf_append(r->to, scalar.at, (size_t)(at - scalar.at)) &&
           gbx_buf_puts(r->to, known->digits);
}

static bool put_fitting(struct rewriting *r, gbx_view scalar)
{
    bool is_negative;
    bool is_integer = gbx_view_kind(scalar) == '"' && scalar.len > 2 &&
                      is_far(scalar.at + 1, scalar.len - 2, &is_negative) &&
                      takes(r, schema_here(r), 0) == TAKES_INTEGER;

    return gbx_buf_append(r->to, scalar.at + is_integer,
                          scalar.len - (is_integer ? 2 : 0));
}

void gbx_digits_cleanup(gbx_digits *digits)
{
    tdestroy(digits->tree, free);
    *digits = (gbx_digits){0};
}

bool gbx_digits_are_in(const char *text, size_t len)
{
    size_t start;
    size_t end = 0;

    return next_run(text, len, &start, &end);
}

void gbx_digits_learn(gbx_digits *digits, const char *text, size_t len)
{
    size_t start;
    size_t end = 0;

    while (!digits->is_full && next_run(text, len, &start, &end))
        if (!is_part(text, len, start, end))
            know_text(digits, text + start, end - start);
}

void gbx_digits_learn_code(gbx_digits *digits, const char *code, size_t len,
                           void (*found)(void *user, size_t start, size_t end),
                           void *user)
{
    gbx_region region = gbx_text_region(code, len);
    struct literals l = {.digits = digits,
                         .code = code,
                         .len = region.end - region.start,
                         .start = region.start,
                         .found = found,
                         .user = user};

    gbx_digits_learn(digits, code, len);
    if (len <= CODE_MAX && has_far_words(code, len) &&
        gbx_utf8_valid((const uint8_t *)code, len, NULL))
        (void)gbx_arena_run(GBX_MIB(16) + 160 * len, find_literals, &l);
}

size_t gbx_digits_as_texts(gbx_view value, const char *name, gbx_buf *to,
                           gbx_buf *first)
{
    struct rewriting r = {.to = to,
                          .name = name,
                          .scalar = put_as_text,
                          .words = first};

    if (!rewrite(&r, value))
        to->failed = true;
    return r.count;
}

bool gbx_digits_as_integers(const gbx_digits *digits, gbx_view value, gbx_view exact,
                            gbx_buf *to, gbx_buf *why)
{
    struct rewriting r = {.to = to,
                          .name = "args",
                          .scalar = put_as_integer,
                          .digits = digits,
                          .exact = exact,
                          .words = why};

    return rewrite(&r, value);
}

void gbx_digits_fit(gbx_view args, gbx_view schema, gbx_buf *to)
{
    struct rewriting r = {.to = to,
                          .name = "args",
                          .scalar = put_fitting,
                          .schema = schema,
                          .schemas_left = SCHEMAS_MAX};

    if (!rewrite(&r, args))
        to->failed = true;
}
