/* SPDX-License-Identifier: MIT */
/*
 * secret_views - one pass for all views.
 *
 * While the views agree there is one state, and a position in the data is a position in
 * every view. At a byte that can begin an escape they part: each view undoes what it
 * undoes and steps by itself, remembering where in the data its bytes came from. They
 * are one again when all are in the same state and that state has seen nothing from
 * before the end of the last escape.
 */
#include "policy/secret_views.h"

#include "policy/unescape.h"

#include <stdlib.h>
#include <string.h>

#define STAGES 2

/* What is undone, first and then. The encodings that programs put into one another:
 * JSON in JSON, a URL or a page in JSON, JSON or a URL in a URL, lines of base64. */
static const uint8_t chains[][STAGES] = {
    {GBX_ESCAPING_NONE, GBX_ESCAPING_NONE},
    {GBX_ESCAPING_JSON, GBX_ESCAPING_NONE},
    {GBX_ESCAPING_PERCENT, GBX_ESCAPING_NONE},
    {GBX_ESCAPING_HTML, GBX_ESCAPING_NONE},
    {GBX_ESCAPING_LINES, GBX_ESCAPING_NONE},
    {GBX_ESCAPING_JSON, GBX_ESCAPING_JSON},
    {GBX_ESCAPING_JSON, GBX_ESCAPING_PERCENT},
    {GBX_ESCAPING_JSON, GBX_ESCAPING_HTML},
    {GBX_ESCAPING_JSON, GBX_ESCAPING_LINES},
    {GBX_ESCAPING_PERCENT, GBX_ESCAPING_JSON},
    {GBX_ESCAPING_PERCENT, GBX_ESCAPING_PERCENT},
    {GBX_ESCAPING_FORM, GBX_ESCAPING_NONE}, /* these two if a value has a space */
    {GBX_ESCAPING_JSON, GBX_ESCAPING_FORM},
};

#define CHAINS       (sizeof chains / sizeof chains[0])
#define CHAINS_PLAIN (CHAINS - 2)

/* Bytes that wait for the rest of an escape, and where in the data they come from. */
typedef struct stage {
    gbx_escaping how;
    size_t count;
    uint8_t bytes[GBX_ESCAPE_MAX];
    size_t starts[GBX_ESCAPE_MAX];
    size_t ends[GBX_ESCAPE_MAX];
} stage;

typedef struct view {
    uint32_t state;
    size_t seen;    /* bytes of this view */
    size_t *starts; /* a ring: where its last bytes come from */
    stage stages[STAGES];
    size_t depth; /* stages in use */
} view;

typedef struct finder {
    const gbx_secret_forms *forms;
    gbx_span data;
    gbx_hits *hits;
    bool failed; /* out of memory */
    size_t ring_mask;
    size_t *rings;
    view views[CHAINS];
    size_t view_count;
    size_t waiting;  /* bytes in all stages */
    bool parts[256]; /* views part at this byte */
} finder;

/* ---- hits ------------------------------------------------------------------ */

static bool is_base64(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '+' || c == '/' || c == '-' || c == '_';
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
        is_base64(f->data.data[start - 1]))
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

static void push(finder *f, view *v, size_t level, uint8_t byte, size_t start,
                 size_t end);

/* Pass on what is decided; at the end of the data everything is. */
static void settle(finder *f, view *v, size_t level, bool is_end)
{
    stage *s = &v->stages[level];

    while (s->count > 0) {
        gbx_unescaped u = {.bytes = {s->bytes[0]}, .count = 1, .taken = 1};
        size_t taken;

        if (gbx_unescape_begins(s->how, s->bytes[0])) {
            gbx_unescaped tried = gbx_unescape(s->how, s->bytes, s->count);

            if (tried.taken == 0 && !is_end)
                return;
            u = tried.taken > 0 ? tried : u;
        }
        taken = u.taken;
        for (size_t i = 0; i < u.count; i++)
            push(f, v, level + 1, u.bytes[i], s->starts[0], s->ends[taken - 1]);
        s->count -= taken;
        f->waiting -= taken;
        memmove(s->bytes, s->bytes + taken, s->count);
        memmove(s->starts, s->starts + taken, s->count * sizeof s->starts[0]);
        memmove(s->ends, s->ends + taken, s->count * sizeof s->ends[0]);
    }
}

static void push(finder *f, view *v, size_t level, uint8_t byte, size_t start,
                 size_t end)
{
    stage *s = &v->stages[level];

    if (level == v->depth) {
        see(f, v, byte, start, end);
        return;
    }
    if (s->count == 0 && !gbx_unescape_begins(s->how, byte)) {
        push(f, v, level + 1, byte, start, end);
        return;
    }
    s->bytes[s->count] = byte;
    s->starts[s->count] = start;
    s->ends[s->count++] = end;
    f->waiting++;
    settle(f, v, level, false);
}

/* ---- all views ------------------------------------------------------------------ */

/* The views part before position at: each has come as far as the one state they were. */
static void part(finder *f, uint32_t state, size_t at)
{
    size_t depth = f->forms->nodes[state].depth;

    for (size_t i = 0; i < f->view_count; i++) {
        view *v = &f->views[i];

        v->state = state;
        v->seen = depth;
        for (size_t k = 0; k < depth; k++)
            v->starts[k & f->ring_mask] = at - depth + k;
    }
}

/* Are the views one again, at position at, plain since that position? */
static bool agree(const finder *f, size_t plain_since, size_t at)
{
    uint32_t state = f->views[0].state;

    if (f->waiting > 0 || f->forms->nodes[state].depth > at - plain_since)
        return false;
    for (size_t i = 1; i < f->view_count; i++)
        if (f->views[i].state != state)
            return false;
    return true;
}

/* From position at on, where the views part, until they agree: the position. */
static size_t apart(finder *f, uint32_t *state, size_t at)
{
    size_t plain_since = at;

    part(f, *state, at);
    while (at < f->data.len) {
        uint8_t byte = f->data.data[at];
        bool was_waiting = f->waiting > 0;

        for (size_t i = 0; i < f->view_count; i++)
            push(f, &f->views[i], 0, byte, at, at + 1);
        at++;
        if (was_waiting || f->parts[byte])
            plain_since = at;
        if (agree(f, plain_since, at)) {
            *state = f->views[0].state;
            return at;
        }
    }
    for (size_t i = 0; i < f->view_count; i++)
        for (size_t k = 0; k < f->views[i].depth; k++)
            settle(f, &f->views[i], k, true);
    return at;
}

static void find(finder *f)
{
    const gbx_secret_forms *forms = f->forms;
    const uint8_t *data = f->data.data;
    uint32_t state = 0;

    for (size_t at = 0; at < f->data.len && !f->failed;) {
        uint8_t byte = data[at];

        if (f->parts[byte] && !(state == 0 && (byte == '\n' || byte == '\r'))) {
            at = apart(f, &state, at);
            continue;
        }
        at++;
        /* Most of all bytes: not even two of them look like a secret. */
        if (state == 0 && at < f->data.len && !f->parts[data[at]] &&
            !gbx_forms_begin_so(forms, byte, data[at]))
            continue;
        state = gbx_forms_step(forms, state, byte);
        if (forms->nodes[state].form != 0) {
            uint32_t form = forms->nodes[state].form;

            found(f, form, at - forms->forms[form - 1].len, at);
        }
    }
}

/* Views that cannot differ from another in these bytes are left out. */
static void choose_views(finder *f)
{
    size_t chain_count = f->forms->has_space ? CHAINS : CHAINS_PLAIN;
    bool has[256] = {false};

    for (size_t i = 0; i < f->data.len; i++)
        has[f->data.data[i]] = true;
    for (size_t c = 0; c < chain_count; c++) {
        view *v = &f->views[f->view_count];
        bool differs = chains[c][0] == GBX_ESCAPING_NONE;

        for (unsigned byte = 0; byte < 256; byte++)
            if (has[byte] && gbx_unescape_begins(chains[c][0], (uint8_t)byte))
                differs = f->parts[byte] = true;
        if (!differs)
            continue;
        *v = (view){.starts = f->rings + f->view_count * (f->ring_mask + 1)};
        while (v->depth < STAGES && chains[c][v->depth] != GBX_ESCAPING_NONE) {
            v->stages[v->depth].how = chains[c][v->depth];
            v->depth++;
        }
        f->view_count++;
    }
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_secret_find(const gbx_secret_forms *forms, gbx_span data, gbx_hits *ret)
{
    finder *f = calloc(1, sizeof *f);
    size_t ring = 1;
    bool done = false;

    *ret = (gbx_hits){0};
    while (ring < forms->longest)
        ring *= 2;
    if (f != NULL)
        f->rings = malloc(CHAINS * ring * sizeof f->rings[0]);
    if (f != NULL && f->rings != NULL) {
        f->forms = forms;
        f->data = data;
        f->hits = ret;
        f->ring_mask = ring - 1;
        choose_views(f);
        find(f);
        done = !f->failed;
        sort_and_merge(ret);
    }
    if (f != NULL)
        free(f->rings);
    free(f);
    return done;
}
