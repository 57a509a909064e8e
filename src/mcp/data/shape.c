/* SPDX-License-Identifier: MIT */
/* shape - recursion is bounded by GBX_SHAPE_DEPTH_MAX, allocation by the other limits. */
#include "mcp/data/shape.h"

#include "mcp/data/describe_text.h"
#include "mcp/data/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often it is asked whether anybody still wants this. */
#define VALUES_AT_ONCE 65536

/* Names of an object below this are fields, whatever they are. */
#define HASHES_FIRST 64

/* All integers of so many digits are doubles. */
#define EXACT_DIGITS 15

typedef struct looking {
    const atomic_bool *stop;
    size_t nodes;
    uint32_t values;
    bool failed;
} looking;

static void look(looking *l, gbx_shape *s, gbx_view value, int depth);

static gbx_shape *node_new(looking *l)
{
    gbx_shape *s;

    if (l->nodes == GBX_SHAPE_NODES_MAX)
        return NULL;
    s = calloc(1, sizeof *s);
    if (s != NULL)
        s->tops = calloc(GBX_SHAPE_TOP_MAX, sizeof *s->tops);
    if (s == NULL || s->tops == NULL) {
        free(s);
        l->failed = true;
        return NULL;
    }
    l->nodes++;
    return s;
}

/* ---- values that are told apart --------------------------------------------------- */

static uint64_t hash_of(gbx_view v)
{
    uint64_t h = v.len * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = 0;

    for (uint64_t word; i + 8 <= v.len; i += 8) {
        memcpy(&word, v.at + i, 8);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 29;
    }
    for (; i < v.len; i++)
        h = (h ^ (uint8_t)v.at[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 29;
    return h == 0 ? 1 : h;
}

/* False if it was there. */
static bool put_hash(uint64_t *hashes, size_t room, uint64_t h)
{
    size_t i = (size_t)h & (room - 1);

    while (hashes[i] != 0 && hashes[i] != h)
        i = (i + 1) & (room - 1);
    if (hashes[i] == h)
        return false;
    hashes[i] = h;
    return true;
}

static bool grow_hashes(gbx_shape *s)
{
    size_t room = s->hash_room == 0 ? HASHES_FIRST : s->hash_room * 2;
    uint64_t *grown = calloc(room, sizeof *grown);

    if (grown == NULL)
        return false;
    for (size_t i = 0; i < s->hash_room; i++)
        if (s->hashes[i] != 0)
            (void)put_hash(grown, room, s->hashes[i]);
    free(s->hashes);
    s->hashes = grown;
    s->hash_room = room;
    return true;
}

static void count_top(gbx_shape *s, gbx_view value, uint64_t h)
{
    for (size_t i = 0; i < s->top_count; i++)
        if (s->tops[i].hash == h) {
            s->tops[i].count++;
            return;
        }
    if (s->top_count == GBX_SHAPE_TOP_MAX) {
        free(s->tops);
        s->tops = NULL;
        return;
    }
    s->tops[s->top_count++] = (gbx_shape_top){h, value, 1};
}

/* seen: its bytes, or those of what code sees of it. */
static void tell_apart(looking *l, gbx_shape *s, gbx_view value, gbx_view seen)
{
    uint64_t h;

    if (s->is_distinct_more)
        return;
    h = hash_of(seen);
    if (s->tops != NULL)
        count_top(s, value, h);
    if (s->distinct * 2 >= s->hash_room && !grow_hashes(s)) {
        l->failed = true;
        return;
    }
    s->distinct += put_hash(s->hashes, s->hash_room, h);
    if (s->distinct <= GBX_SHAPE_DISTINCT_MAX)
        return;
    s->distinct = GBX_SHAPE_DISTINCT_MAX;
    s->is_distinct_more = true;
    free(s->hashes);
    s->hashes = NULL;
    s->hash_room = 0;
}

/* ---- scalars ------------------------------------------------------------------------ */

static bool is_integer(gbx_view v)
{
    return memchr(v.at, '.', v.len) == NULL && memchr(v.at, 'e', v.len) == NULL &&
           memchr(v.at, 'E', v.len) == NULL;
}

/* Numbers are told apart as code sees them: many a text is the same one. */
static void look_at_number(looking *l, gbx_shape *s, gbx_view v)
{
    double n = gbx_number_read(v.at, v.len) + 0.0; /* there is one zero */
    bool is_whole = is_integer(v);

    tell_apart(l, s, v, (gbx_view){(const char *)&n, sizeof n});
    s->kinds |= is_whole ? GBX_SHAPE_INTEGER : GBX_SHAPE_NUMBER;
    if (!isfinite(n)) {
        s->infinite++;
        return;
    }
    s->inexact += is_whole && v.len > EXACT_DIGITS && !gbx_number_is_kept(v.at, v.len);
    s->min = s->numbers == 0 || n < s->min ? n : s->min;
    s->max = s->numbers == 0 || n > s->max ? n : s->max;
    s->sum += n;
    s->numbers++;
}

/* "2024-05-01" and what may follow it: a time. */
static bool is_date(gbx_view v)
{
    static const char form[] = "dddd-dd-dd";

    if (v.len < 12 || v.len > 37)
        return false;
    for (size_t i = 0; form[i] != 0; i++)
        if (form[i] == 'd' ? v.at[i + 1] < '0' || v.at[i + 1] > '9'
                           : v.at[i + 1] != form[i])
            return false;
    return v.at[11] == '"' || v.at[11] == 'T' || v.at[11] == ' ';
}

static bool is_before(gbx_view a, gbx_view b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);

    return order < 0 || (order == 0 && a.len < b.len);
}

static void look_at_string(gbx_shape *s, gbx_view v)
{
    s->kinds |= GBX_SHAPE_STRING;
    if (v.len > s->longest)
        s->longest = v.len;
    if (!is_date(v))
        return;
    if (s->dates == 0 || is_before(v, s->first_date))
        s->first_date = v;
    if (s->dates == 0 || is_before(s->last_date, v))
        s->last_date = v;
    s->dates++;
}

/* ---- objects and arrays --------------------------------------------------------------- */

static bool has_name(const gbx_shape_field *f, gbx_view name)
{
    return f->name.len == name.len && memcmp(f->name.at, name.at, name.len) == 0;
}

/* From too many fields to any of them: what the first looked like stands for all. */
static void make_map(gbx_shape *s)
{
    s->is_map = true;
    gbx_shape_free(s->keyed);
    s->keyed = NULL;
    if (s->element == NULL)
        s->element = s->fields[0].shape;
    else
        gbx_shape_free(s->fields[0].shape);
    for (size_t i = 1; i < s->field_count; i++)
        gbx_shape_free(s->fields[i].shape);
    free(s->fields);
    s->fields = NULL;
    s->field_count = s->field_room = 0;
}

static gbx_shape *add_field(looking *l, gbx_shape *s, gbx_view name)
{
    gbx_shape *made;

    if (s->field_count == GBX_SHAPE_FIELDS_MAX) {
        make_map(s);
        return s->element;
    }
    if (s->field_count == s->field_room) {
        size_t room = s->field_room == 0 ? 8 : s->field_room * 2;
        gbx_shape_field *grown = realloc(s->fields, room * sizeof *grown);

        l->failed |= grown == NULL;
        if (grown == NULL)
            return NULL;
        s->fields = grown;
        s->field_room = room;
    }
    made = node_new(l);
    s->has_more |= made == NULL;
    if (made != NULL)
        s->fields[s->field_count++] = (gbx_shape_field){name, made};
    return made;
}

/* A field would be told by name, which is nobody's business: one stands for all. */
static gbx_shape *find_keyed(looking *l, gbx_shape *s, gbx_view name)
{
    if (s->keyed == NULL) {
        s->keyed = node_new(l);
        s->key = name;
        s->has_more |= s->keyed == NULL;
    }
    return s->keyed;
}

/* Records have the same members in the same order, more often than not. */
static gbx_shape *find_field(looking *l, gbx_shape *s, gbx_view name)
{
    if (s->is_map)
        return s->element;
    for (size_t i = 0; i < s->field_count; i++) {
        size_t at = s->next + i;

        at -= at >= s->field_count ? s->field_count : 0;
        if (has_name(&s->fields[at], name)) {
            s->next = at + 1 < s->field_count ? at + 1 : 0;
            return s->fields[at].shape;
        }
    }
    if (gbx_describe_is_sensitive_value(name))
        return find_keyed(l, s, name);
    if (s->has_more)
        return NULL;
    s->next = 0;
    return add_field(l, s, name);
}

static void look_at_members(looking *l, gbx_shape *s, gbx_view object, int depth)
{
    size_t cursor = 0;
    gbx_view name, value;

    s->kinds |= GBX_SHAPE_OBJECT;
    s->objects++;
    if (depth == GBX_SHAPE_DEPTH_MAX)
        return;
    while (!l->failed && gbx_view_next(object, &cursor, &name, &value)) {
        gbx_shape *field = find_field(l, s, name);

        if (field != NULL)
            look(l, field, value, depth + 1);
    }
}

static void look_at_elements(looking *l, gbx_shape *s, gbx_view array, int depth)
{
    size_t cursor = 0;
    gbx_view name, value;

    s->kinds |= GBX_SHAPE_ARRAY;
    if (depth == GBX_SHAPE_DEPTH_MAX)
        return;
    while (!l->failed && gbx_view_next(array, &cursor, &name, &value)) {
        s->elements++;
        if (s->element == NULL)
            s->element = node_new(l);
        if (s->element == NULL)
            return;
        look(l, s->element, value, depth + 1);
    }
}

static void look(looking *l, gbx_shape *s, gbx_view value, int depth)
{
    s->count++;
    if (++l->values % VALUES_AT_ONCE == 0 && l->stop != NULL)
        l->failed |= atomic_load(l->stop);
    switch (gbx_view_kind(value)) {
    case '{': look_at_members(l, s, value, depth); return;
    case '[': look_at_elements(l, s, value, depth); return;
    case 'n':
        s->kinds |= GBX_SHAPE_NULL;
        s->nulls++;
        return;
    case 't':
    case 'f': s->kinds |= GBX_SHAPE_BOOLEAN; break;
    case '"': look_at_string(s, value); break;
    default: look_at_number(l, s, value); return;
    }
    tell_apart(l, s, value, value);
}

/* ---- public to other modules -------------------------------------------- */

gbx_shape *gbx_shape_of(gbx_view view, const atomic_bool *stop)
{
    looking l = {.stop = stop};
    gbx_shape *s = node_new(&l);

    if (s != NULL)
        look(&l, s, view, 0);
    if (!l.failed)
        return s;
    gbx_shape_free(s);
    return NULL;
}

void gbx_shape_free(gbx_shape *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->field_count; i++)
        gbx_shape_free(s->fields[i].shape);
    gbx_shape_free(s->element);
    gbx_shape_free(s->keyed);
    free(s->fields);
    free(s->hashes);
    free(s->tops);
    free(s);
}
