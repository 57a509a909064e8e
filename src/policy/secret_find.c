/* SPDX-License-Identifier: MIT */
/* secret_find - see internal.h. */
#include "policy/internal.h"

#include <stdlib.h>
#include <string.h>

/* How often *stop is checked. */
#define STOP_BYTES 4096

typedef struct finder {
    const gbx_secret_forms *forms;
    gbx_span data;
    gbx_hits *hits;
    bool failed;        /* out of memory */
    uint32_t state;     /* for the data as it is */
    uint32_t unescaped; /* for the data without escapes */
    gbx_unescaper unescaper;
    size_t seen;    /* bytes without escapes, except those stepped over */
    size_t *starts; /* a ring: positions in the data of the last of them */
    size_t mask;
} finder;

/* ---- hits ------------------------------------------------------------------ */

static bool is_base64(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '+' || c == '/' || c == '-' || c == '_';
}

/* The n of \n: a line end of base64 that is a string of JSON. */
static bool is_escaped(gbx_span data, size_t at)
{
    return at > 0 && data.data[at - 1] == '\\' &&
           memchr("bfnrt", data.data[at], 5) != NULL;
}

static void append_hit(finder *f, const gbx_hit *hit)
{
    gbx_hits *hits = f->hits;

    if (hits->count == hits->capacity) {
        size_t capacity = hits->capacity > 0 ? hits->capacity * 2 : 64;
        gbx_hit *items = realloc(hits->items, capacity * sizeof *items);

        if (items == NULL) {
            f->failed = true;
            return;
        }
        hits->items = items;
        hits->capacity = capacity;
    }
    hits->items[hits->count++] = *hit;
}

static void found(finder *f, uint32_t form_number, size_t start, size_t end)
{
    const gbx_secret_form *form = &f->forms->forms[form_number - 1];
    gbx_hit hit = {.start = start, .end = end, .secret = form->secret};
    gbx_hit *last = f->hits->count > 0 ? &f->hits->items[f->hits->count - 1] : NULL;

    if ((form->edges & GBX_FORM_EDGE_BEFORE) != 0 && start > 0 &&
        is_base64(f->data.data[start - 1]) && !is_escaped(f->data, start - 1))
        hit.start--;
    if ((form->edges & GBX_FORM_EDGE_AFTER) != 0 && end < f->data.len &&
        is_base64(f->data.data[end]))
        hit.end++;
    /* Both searches may find the same hit, and a value may overlap itself for long. */
    if (last != NULL && hit.start < last->end && hit.end > last->start) {
        last->start = hit.start < last->start ? hit.start : last->start;
        last->end = hit.end > last->end ? hit.end : last->end;
        return;
    }
    append_hit(f, &hit);
}

static int by_start(const void *a, const void *b)
{
    size_t x = ((const gbx_hit *)a)->start;
    size_t y = ((const gbx_hit *)b)->start;

    return x < y ? -1 : x > y;
}

static void sort_and_merge(gbx_hits *hits)
{
    size_t kept = 0;

    if (hits->count == 0)
        return;
    qsort(hits->items, hits->count, sizeof hits->items[0], by_start);
    for (size_t i = 1; i < hits->count; i++) {
        gbx_hit *last = &hits->items[kept];
        const gbx_hit *next = &hits->items[i];

        if (next->start >= last->end)
            hits->items[++kept] = *next;
        else if (next->end > last->end)
            last->end = next->end;
    }
    hits->count = kept + 1;
}

/* ---- one pass ------------------------------------------------------------------ */

static void step(finder *f, size_t at)
{
    uint32_t form;

    f->state = gbx_forms_step(f->forms, f->state, f->data.data[at]);
    form = f->forms->nodes[f->state].form;
    if (form != 0)
        found(f, form, at + 1 - f->forms->forms[form - 1].len, at + 1);
}

static void on_unescaped(void *user, uint8_t byte, size_t start, size_t end)
{
    finder *f = user;
    uint32_t form;

    f->starts[f->seen++ & f->mask] = start;
    f->unescaped = gbx_forms_step(f->forms, f->unescaped, byte);
    form = f->forms->nodes[f->unescaped].form;
    if (form != 0)
        found(f, form, f->starts[(f->seen - f->forms->forms[form - 1].len) & f->mask],
              end);
}

/* Step over bytes of which no two look like a secret or an escape, as most do not.
 * Returns the position of the next relevant byte, or how far it came. */
static size_t step_over(const finder *f, size_t at, size_t limit)
{
    const uint8_t *data = f->data.data;

    if (f->state != 0 || f->unescaped != 0 || f->unescaper.waiting != 0)
        return at;
    while (at < limit && !gbx_forms_begin_so(f->forms, data[at], data[at + 1]))
        at++;
    return at;
}

static bool find(finder *f, const atomic_bool *stop)
{
    size_t limit = 0; /* the last byte has no successor, and is never stepped over */

    for (size_t at = 0; at < f->data.len && !f->failed;) {
        if (at == limit && stop != NULL && atomic_load(stop))
            return false;
        if (at == limit)
            limit = at + STOP_BYTES < f->data.len ? at + STOP_BYTES : f->data.len - 1;
        at = step_over(f, at, limit);
        if (at == limit && at + 1 < f->data.len)
            continue;
        step(f, at);
        gbx_unescape_take(&f->unescaper, f->data.data[at], at);
        at++;
    }
    gbx_unescape_end(&f->unescaper);
    return !f->failed;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_secret_find(const gbx_secret_forms *forms, gbx_span data,
                     const atomic_bool *stop, gbx_hits *ret)
{
    finder f = {.forms = forms, .data = data, .hits = ret};
    size_t ring = 1;
    bool done = false;

    *ret = (gbx_hits){0};
    while (ring < forms->longest)
        ring *= 2;
    f.mask = ring - 1;
    f.starts = malloc(ring * sizeof f.starts[0]);
    f.unescaper.emit = on_unescaped;
    f.unescaper.user = &f;
    if (f.starts != NULL)
        done = find(&f, stop);
    if (done)
        sort_and_merge(ret);
    free(f.starts);
    return done;
}
