/* SPDX-License-Identifier: MIT */
/*
 * secret_views - one pass for all views.
 *
 * Views are a tree: what is below a view undoes one thing more. A view that has had
 * nothing to undo for a while is in the state of the one above it, and follows it without
 * work; at a byte that can begin one of its escapes it becomes active, remembering where
 * in the data its bytes come from, until it is in the same state again and that state
 * has seen nothing but bytes that were the same in both.
 */
#include "policy/secret_views.h"

#include "policy/unescape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is undone in what else has been undone, as programs put encodings into one
 * another: JSON in JSON, a URL, a page or lines of base64 in JSON, JSON or a URL in a
 * URL. A list ends in NONE; FORM counts if a value has a space.
 */
static const gbx_escaping within[][6] = {
    [GBX_ESCAPING_NONE] = {GBX_ESCAPING_JSON, GBX_ESCAPING_PERCENT, GBX_ESCAPING_HTML,
                           GBX_ESCAPING_LINES, GBX_ESCAPING_FORM}, /* the data */
    [GBX_ESCAPING_JSON] = {GBX_ESCAPING_JSON, GBX_ESCAPING_PERCENT, GBX_ESCAPING_HTML,
                           GBX_ESCAPING_LINES, GBX_ESCAPING_FORM},
    [GBX_ESCAPING_PERCENT] = {GBX_ESCAPING_JSON, GBX_ESCAPING_PERCENT},
    [GBX_ESCAPING_LINES] = {GBX_ESCAPING_NONE},
};

#define VIEWS_MAX 17

/* Is it to be stopped? It is looked at so rarely. */
#define STOP_BYTES 4096

typedef struct view {
    gbx_escaping how;
    bool is_active;
    bool wakes[256]; /* it becomes active at this byte */
    uint32_t state;
    size_t seen;    /* bytes of this view since it became active, and before */
    size_t *starts; /* a ring: where in the data its last bytes come from */
    size_t plain;   /* bytes since the last escape */
    struct view *below;
    size_t below_count;
    /* Bytes that wait for the rest of an escape, and where they come from. */
    size_t waiting;
    uint8_t bytes[GBX_ESCAPE_MAX];
    size_t from[GBX_ESCAPE_MAX];
    size_t to[GBX_ESCAPE_MAX];
} view;

typedef struct finder {
    const gbx_secret_forms *forms;
    gbx_span data;
    gbx_hits *hits;
    const atomic_bool *stop; /* or NULL */
    bool failed;             /* out of memory, or stopped */
    uint32_t state;          /* of the data as it is */
    size_t ring_mask;
    size_t *rings;
    view *families;
    size_t family_count;
    view views[VIEWS_MAX];
    size_t view_count;
    bool parts[256]; /* some family becomes active at this byte */
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
    /* Views find the same again, and a value may overlap itself for long. */
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

/* ---- one view ----------------------------------------------------------------- */

static void see(finder *f, view *v, uint8_t byte, size_t start, size_t end)
{
    uint32_t form;

    v->starts[v->seen++ & f->ring_mask] = start;
    v->state = gbx_forms_step(f->forms, v->state, byte);
    form = f->forms->nodes[v->state].form;
    if (form != 0) {
        size_t first = v->seen - f->forms->forms[form - 1].len;

        found(f, form, v->starts[first & f->ring_mask], end);
    }
}

/* v begins where the view above it is; NULL is the data itself, before position at. */
static void activate(const finder *f, view *v, const view *above, size_t at)
{
    uint32_t state = above != NULL ? above->state : f->state;
    size_t depth = f->forms->nodes[state].depth;

    for (size_t i = 0; i < depth; i++)
        v->starts[i & f->ring_mask] =
            above != NULL ? above->starts[(above->seen - depth + i) & f->ring_mask]
                          : at - depth + i;
    v->is_active = true;
    v->state = state;
    v->seen = depth;
    v->plain = 0;
}

/* Back to following, if nothing makes v differ from the view above in that state. */
static void settle_down(const finder *f, view *v, uint32_t above_state)
{
    if (v->waiting > 0 || v->state != above_state ||
        f->forms->nodes[v->state].depth > v->plain)
        return;
    for (size_t i = 0; i < v->below_count; i++)
        if (v->below[i].is_active)
            return;
    v->is_active = false;
}

static void take(finder *f, view *v, uint8_t byte, size_t start, size_t end);

/* A byte of v that is decided: for the views below, then for v itself. */
static void emit(finder *f, view *v, uint8_t byte, size_t start, size_t end)
{
    for (size_t i = 0; i < v->below_count; i++) {
        view *b = &v->below[i];

        if (!b->is_active && !b->wakes[byte])
            continue;
        if (!b->is_active)
            activate(f, b, v, 0);
        take(f, b, byte, start, end);
    }
    see(f, v, byte, start, end);
    for (size_t i = 0; i < v->below_count; i++)
        if (v->below[i].is_active)
            settle_down(f, &v->below[i], v->state);
}

/* Emit what can be told; at the end of the data everything can. */
static void undo(finder *f, view *v, bool is_end)
{
    while (v->waiting > 0) {
        gbx_unescaped u = {.bytes = {v->bytes[0]}, .count = 1, .taken = 1};
        size_t taken;

        if (gbx_unescape_begins(v->how, v->bytes[0])) {
            gbx_unescaped tried = gbx_unescape(v->how, v->bytes, v->waiting);

            if (tried.taken == 0 && !is_end)
                return;
            u = tried.taken > 0 ? tried : u;
        }
        taken = u.taken;
        for (size_t i = 0; i < u.count; i++)
            emit(f, v, u.bytes[i], v->from[0], v->to[taken - 1]);
        v->waiting -= taken;
        memmove(v->bytes, v->bytes + taken, v->waiting);
        memmove(v->from, v->from + taken, v->waiting * sizeof v->from[0]);
        memmove(v->to, v->to + taken, v->waiting * sizeof v->to[0]);
    }
}

/* The next byte of the view above. */
static void take(finder *f, view *v, uint8_t byte, size_t start, size_t end)
{
    if (v->waiting == 0 && !gbx_unescape_begins(v->how, byte)) {
        v->plain++;
        emit(f, v, byte, start, end);
        return;
    }
    v->plain = 0;
    v->bytes[v->waiting] = byte;
    v->from[v->waiting] = start;
    v->to[v->waiting++] = end;
    undo(f, v, false);
}

/* ---- all views ------------------------------------------------------------------ */

static void step(finder *f, size_t at)
{
    uint32_t form;

    /* Now and then; of bytes that are not stepped over there are soon no more. */
    if (at % STOP_BYTES == 0 && f->stop != NULL && atomic_load(f->stop))
        f->failed = true;

    f->state = gbx_forms_step(f->forms, f->state, f->data.data[at]);
    form = f->forms->nodes[f->state].form;
    if (form != 0)
        found(f, form, at + 1 - f->forms->forms[form - 1].len, at + 1);
}

/* From position at on, where a family becomes active, until none is: the position. */
static size_t apart(finder *f, size_t at)
{
    bool is_any = true;

    for (; is_any && at < f->data.len && !f->failed; at++) {
        uint8_t byte = f->data.data[at];

        for (size_t i = 0; i < f->family_count; i++) {
            view *v = &f->families[i];

            if (!v->is_active && !v->wakes[byte])
                continue;
            if (!v->is_active)
                activate(f, v, NULL, at);
            take(f, v, byte, at, at + 1);
        }
        step(f, at);
        is_any = false;
        for (size_t i = 0; i < f->family_count; i++) {
            view *v = &f->families[i];

            if (v->is_active)
                settle_down(f, v, f->state);
            is_any = is_any || v->is_active;
        }
    }
    return at;
}

/* There is no more: what waits is decided, the upper view's first. */
static void end(finder *f, view *v)
{
    undo(f, v, true);
    for (size_t i = 0; i < v->below_count; i++)
        end(f, &v->below[i]);
}

static void find(finder *f)
{
    const uint8_t *data = f->data.data;

    for (size_t at = 0; at < f->data.len && !f->failed;) {
        uint8_t byte = data[at];

        if (f->parts[byte]) {
            at = apart(f, at);
            continue;
        }
        /* Most of all bytes: not even two of them look like a secret. */
        if (f->state != 0 || at + 1 == f->data.len || f->parts[data[at + 1]] ||
            gbx_forms_begin_so(f->forms, byte, data[at + 1]))
            step(f, at);
        at++;
    }
    for (size_t i = 0; i < f->family_count; i++)
        end(f, &f->families[i]);
}

static bool counts(const finder *f, gbx_escaping how)
{
    return how != GBX_ESCAPING_NONE &&
           (how != GBX_ESCAPING_FORM || f->forms->has_space);
}

static void add_view(finder *f, gbx_escaping how)
{
    view *v = &f->views[f->view_count];

    assert(f->view_count < VIEWS_MAX);
    v->how = how;
    v->starts = f->rings + f->view_count++ * (f->ring_mask + 1);
    for (const char *byte = GBX_ESCAPE_BEGINS; *byte != 0; byte++)
        v->wakes[(uint8_t)*byte] = gbx_unescape_begins(how, (uint8_t)*byte);
}

/* What is below a view that follows would sleep through its escapes: so a view wakes for
 * those too. */
static void wake_for(view *v, const view *below)
{
    for (const char *byte = GBX_ESCAPE_BEGINS; *byte != 0; byte++)
        v->wakes[(uint8_t)*byte] |= below->wakes[(uint8_t)*byte];
}

/*
 * The views of what is within v, which undoes so many; first those of one level. It is
 * two at once; and in JSON in JSON one more, since a tool gives JSON as the text of a
 * message, which is JSON.
 */
static void plant(finder *f, view *v, unsigned undone)
{
    v->below = &f->views[f->view_count];
    for (const gbx_escaping *how = within[v->how]; counts(f, *how); how++) {
        add_view(f, *how);
        v->below_count++;
    }
    for (size_t i = 0; i < v->below_count; i++) {
        view *b = &v->below[i];
        bool is_json = v->how == GBX_ESCAPING_JSON && b->how == GBX_ESCAPING_JSON;

        if (undone == 0 || (undone == 1 && is_json))
            plant(f, b, undone + 1);
        wake_for(v, b);
    }
}

/* All views are below the data as it is. */
static void plant_all(finder *f)
{
    view data = {.how = GBX_ESCAPING_NONE};

    plant(f, &data, 0);
    f->families = data.below;
    f->family_count = data.below_count;
    memcpy(f->parts, data.wakes, sizeof f->parts);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_secret_find(const gbx_secret_forms *forms, gbx_span data,
                     const atomic_bool *stop, gbx_hits *ret)
{
    finder *f = calloc(1, sizeof *f);
    size_t ring = 1;
    bool done = false;

    *ret = (gbx_hits){0};
    while (ring < forms->longest)
        ring *= 2;
    if (f != NULL)
        f->rings = malloc(VIEWS_MAX * ring * sizeof f->rings[0]);
    if (f != NULL && f->rings != NULL) {
        f->forms = forms;
        f->data = data;
        f->hits = ret;
        f->stop = stop;
        f->ring_mask = ring - 1;
        plant_all(f);
        find(f);
        done = !f->failed;
        sort_and_merge(ret);
    }
    if (f != NULL)
        free(f->rings);
    free(f);
    return done;
}
