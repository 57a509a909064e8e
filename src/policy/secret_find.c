/* SPDX-License-Identifier: MIT */
/*
 * secret_find - makes all forms of a policy's secrets, and searches for them.
 *
 * The forms of a value are: itself; its hexadecimal digits in both cases; the part of
 * its base64, in both alphabets, that does not depend on its place in the encoded
 * bytes; and itself with every escape undone, since the search also reads text in that
 * form.
 */
#include "policy/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "policy/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the forms --------------------------------------------------------------- */

/*
 * One automaton (Aho-Corasick) has all forms of a policy's secrets and reads each byte
 * once. It is read-only once made, so any thread may use it. It holds values, so it is
 * in secret memory: one block, whose size is counted first, so that growing leaves no
 * copy behind.
 */

/* The base64 character before, or after, the match also holds bits of the value. */
#define EDGE_BEFORE 1u
#define EDGE_AFTER  2u

typedef struct secret_form {
    uint32_t secret; /* index in the policy */
    uint32_t len;
    uint32_t edges;
} secret_form;

/* State 0 is the root. A state's children are a list by sibling; few have more than
 * one. */
typedef struct secret_node {
    uint32_t child;
    uint32_t sibling;
    uint32_t fail;
    uint32_t form; /* 1 + the longest form that ends here; 0: none */
    uint16_t depth;
    uint8_t byte;
} secret_node;

struct gbx_secret_forms {
    size_t size; /* of the secret memory that holds all of it */
    secret_node *nodes;
    secret_form *forms;
    uint32_t node_count;
    uint32_t form_count;
    uint32_t longest;
    uint32_t first[256]; /* from the root, by byte */
    /* One bit for each pair of bytes that begins a form, or in which a byte begins an
     * escape. */
    uint8_t pairs[65536 / 8];
};

/* The state after one more byte. */
static uint32_t next_state(const gbx_secret_forms *f, uint32_t state, uint8_t byte)
{
    while (state != 0) {
        uint32_t child = f->nodes[state].child;

        while (child != 0 && f->nodes[child].byte != byte)
            child = f->nodes[child].sibling;
        if (child != 0)
            return child;
        state = f->nodes[state].fail;
    }
    return f->first[byte];
}

static const char standard[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Itself with and without escapes, hexadecimal digits in two cases, two base64
 * alphabets at three alignments. */
#define FORMS_EACH 10u

/* ---- the trie ------------------------------------------------------------ */

static uint32_t child_of(gbx_secret_forms *f, uint32_t state, uint8_t byte)
{
    uint32_t *link = state == 0 ? &f->first[byte] : &f->nodes[state].child;
    secret_node *node;

    while (*link != 0 && f->nodes[*link].byte != byte)
        link = &f->nodes[*link].sibling;
    if (*link == 0) {
        *link = f->node_count++;
        node = &f->nodes[*link];
        node->byte = byte;
        node->depth = (uint16_t)(f->nodes[state].depth + 1);
    }
    return *link;
}

/* Record a finished form in the state where it ends. If two secrets have the same form,
 * it is the first one's. */
static void end_form(gbx_secret_forms *f, uint32_t state, uint32_t secret,
                     uint32_t edges)
{
    secret_node *node = &f->nodes[state];

    if (state == 0 || node->form != 0)
        return;
    f->forms[f->form_count++] =
        (secret_form){.secret = secret, .len = node->depth, .edges = edges};
    node->form = f->form_count;
    if (node->depth > f->longest)
        f->longest = node->depth;
}

typedef struct path {
    gbx_secret_forms *forms;
    uint32_t state;
} path;

static void on_form_byte(void *user, uint8_t byte, size_t start, size_t end)
{
    path *p = user;

    (void)start, (void)end;
    p->state = child_of(p->forms, p->state, byte);
}

/* Without its escapes a value may be too short to search for. */
static void add_unescaped(gbx_secret_forms *f, const gbx_secret *s, uint32_t index)
{
    path p = {.forms = f};
    gbx_unescaper unescaper = {.emit = on_form_byte, .user = &p};

    for (size_t i = 0; i < s->value_len; i++)
        gbx_unescape_take(&unescaper, (uint8_t)s->value[i], i);
    gbx_unescape_end(&unescaper);
    if (f->nodes[p.state].depth >= GBX_SECRET_MIN)
        end_form(f, p.state, index, 0);
}

static void add_hex(gbx_secret_forms *f, const gbx_secret *s, uint32_t index,
                    const char *digits)
{
    uint32_t state = 0;

    for (size_t i = 0; i < s->value_len; i++) {
        uint8_t byte = (uint8_t)s->value[i];

        state = child_of(f, state, (uint8_t)digits[byte >> 4]);
        state = child_of(f, state, (uint8_t)digits[byte & 15]);
    }
    end_form(f, state, index, 0);
}

/* Add the base64 characters that the value alone determines if it follows `before`
 * other bytes. */
static void add_base64(gbx_secret_forms *f, const gbx_secret *s, uint32_t index,
                       size_t before, const char *alphabet)
{
    size_t end = (before + s->value_len) * 8;
    size_t bit = (before * 8 + 5) / 6 * 6;
    uint32_t state = 0;

    for (; bit + 6 <= end; bit += 6) {
        unsigned sextet = 0;

        for (size_t i = bit; i < bit + 6; i++) {
            uint8_t byte = (uint8_t)s->value[i / 8 - before];

            sextet = sextet << 1 | (byte >> (7 - i % 8) & 1u);
        }
        state = child_of(f, state, (uint8_t)alphabet[sextet]);
    }
    end_form(f, state, index,
             (before > 0 ? EDGE_BEFORE : 0) | (end % 6 != 0 ? EDGE_AFTER : 0));
}

/* Blanks at the ends of a value may get lost in transit: only what is between them is
 * searched for. A value that would be too short without them stays whole. */
static void add_secret(gbx_secret_forms *f, const gbx_secret *whole, uint32_t index)
{
    gbx_secret part = *whole;
    const gbx_secret *s = &part;
    uint32_t state = 0;

    while (part.value_len > 0 && *part.value == ' ') {
        part.value++;
        part.value_len--;
    }
    while (part.value_len > 0 && part.value[part.value_len - 1] == ' ')
        part.value_len--;
    if (part.value_len < GBX_SECRET_MIN)
        s = whole;
    for (size_t i = 0; i < s->value_len; i++)
        state = child_of(f, state, (uint8_t)s->value[i]);
    end_form(f, state, index, 0);
    add_unescaped(f, s, index);
    add_hex(f, s, index, "0123456789abcdef");
    add_hex(f, s, index, "0123456789ABCDEF");
    for (size_t before = 0; before < 3; before++) {
        add_base64(f, s, index, before, standard);
        add_base64(f, s, index, before, url_safe);
    }
}

/* ---- failure links, and pairs that may begin a form ---------------------------- */

static void note_pair(gbx_secret_forms *f, uint8_t a, uint8_t b)
{
    unsigned pair = (unsigned)a << 8 | b;

    f->pairs[pair >> 3] |= (uint8_t)(1u << (pair & 7));
}

/* With escapes undone, a space is a plus. */
static void note_pair_or_space(gbx_secret_forms *f, uint8_t a, uint8_t b)
{
    note_pair(f, a, b);
    note_pair(f, a == '+' ? ' ' : a, b);
    note_pair(f, a, b == '+' ? ' ' : b);
    note_pair(f, a == '+' ? ' ' : a, b == '+' ? ' ' : b);
}

/* Breadth first: a failure state is less deep than its state. queue has room for every
 * node. */
static void link_failures(gbx_secret_forms *f, uint32_t *queue)
{
    size_t count = 0;

    for (unsigned byte = 0; byte < 256; byte++)
        if (f->first[byte] != 0)
            queue[count++] = f->first[byte];
    for (size_t i = 0; i < count; i++) {
        secret_node *node = &f->nodes[queue[i]];

        if (node->form == 0)
            node->form = f->nodes[node->fail].form;
        for (uint32_t c = node->child; c != 0; c = f->nodes[c].sibling) {
            f->nodes[c].fail = next_state(f, node->fail, f->nodes[c].byte);
            if (node->depth == 1)
                note_pair_or_space(f, node->byte, f->nodes[c].byte);
            queue[count++] = c;
        }
    }
}

static gbx_secret_forms *room(const gbx_secret *secrets, size_t count)
{
    size_t nodes = 1;
    size_t size;
    gbx_secret_forms *f;

    /* All forms of a value have at most 2 + 2 * 2 + 6 * 4 / 3 times its size. */
    for (size_t i = 0; i < count; i++)
        nodes += secrets[i].value_len * 14 + 6;
    assert(nodes < UINT32_MAX);
    size = sizeof *f + nodes * sizeof f->nodes[0] +
           count * FORMS_EACH * sizeof f->forms[0];
    f = gbx_secret_memory_new(size);
    if (f == NULL)
        return NULL;
    f->size = size;
    f->nodes = (secret_node *)(f + 1);
    f->forms = (secret_form *)(f->nodes + nodes);
    f->node_count = 1;
    return f;
}

gbx_secret_forms *gbx_secret_forms_new(const gbx_secret *secrets, size_t count)
{
    GBX_CLEANUP(gbx_free) uint32_t *queue = NULL;
    gbx_secret_forms *f = room(secrets, count);

    if (f == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        add_secret(f, &secrets[i], (uint32_t)i);
    queue = malloc(f->node_count * sizeof *queue);
    if (queue == NULL) {
        gbx_secret_forms_free(f);
        return NULL;
    }
    link_failures(f, queue);
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            if (gbx_unescape_begins((uint8_t)a) || gbx_unescape_begins((uint8_t)b))
                note_pair(f, (uint8_t)a, (uint8_t)b);
    return f;
}

void gbx_secret_forms_free(gbx_secret_forms *forms)
{
    if (forms != NULL)
        gbx_secret_memory_free(forms, forms->size);
}

/* ---- the search -------------------------------------------------------------- */

/* Bytes between two checks of *stop. */
#define STOP_BYTES 4096

typedef struct finder {
    const gbx_secret_forms *forms;
    gbx_span data;
    gbx_hits *hits;
    bool failed;        /* out of memory */
    uint32_t state;     /* of the raw data */
    uint32_t unescaped; /* of the data without escapes */
    gbx_unescaper unescaper;
    size_t seen;    /* bytes without escapes, except those stepped over */
    size_t *starts; /* a ring: offsets in the data of the last of them */
    size_t mask;
} finder;

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
    const secret_form *form = &f->forms->forms[form_number - 1];
    gbx_hit hit = {.start = start, .end = end, .secret = form->secret};
    gbx_hit *last = f->hits->count > 0 ? &f->hits->items[f->hits->count - 1] : NULL;
    const uint8_t *data = f->data.data;
    /* The n of \n: an escaped line end in base64 in a JSON string. */
    bool is_escape = start > 1 && data[start - 2] == '\\' &&
                     memchr("bfnrt", data[start - 1], 5) != NULL;

    if ((form->edges & EDGE_BEFORE) != 0 && start > 0 && is_base64(data[start - 1]) &&
        !is_escape)
        hit.start--;
    if ((form->edges & EDGE_AFTER) != 0 && end < f->data.len && is_base64(data[end]))
        hit.end++;
    /* Both searches may find the same hit, and a value may overlap itself often. */
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

static void on_unescaped(void *user, uint8_t byte, size_t start, size_t end)
{
    finder *f = user;
    uint32_t form;

    f->starts[f->seen++ & f->mask] = start;
    f->unescaped = next_state(f->forms, f->unescaped, byte);
    form = f->forms->nodes[f->unescaped].form;
    if (form != 0)
        found(f, form, f->starts[(f->seen - f->forms->forms[form - 1].len) & f->mask],
              end);
}

/* Step over bytes at which neither a form nor an escape can begin, as at most. Returns
 * the offset of the next relevant byte, or limit. */
static size_t step_over(const finder *f, size_t at, size_t limit)
{
    const uint8_t *data = f->data.data;

    if (f->state != 0 || f->unescaped != 0 || f->unescaper.waiting != 0)
        return at;
    for (; at < limit; at++) {
        unsigned pair = (unsigned)data[at] << 8 | data[at + 1];

        /* A form can begin with the pair, or an escape with one of its bytes. */
        if ((f->forms->pairs[pair >> 3] >> (pair & 7) & 1) != 0)
            break;
    }
    return at;
}

static bool find(finder *f, const atomic_bool *stop)
{
    size_t limit = 0; /* the last byte has no successor, and is never stepped over */

    for (size_t at = 0; at < f->data.len && !f->failed;) {
        uint32_t form;

        if (at == limit && stop != NULL && atomic_load(stop))
            return false;
        if (at == limit)
            limit = at + STOP_BYTES < f->data.len ? at + STOP_BYTES : f->data.len - 1;
        at = step_over(f, at, limit);
        if (at == limit && at + 1 < f->data.len)
            continue;
        f->state = next_state(f->forms, f->state, f->data.data[at]);
        form = f->forms->nodes[f->state].form;
        if (form != 0)
            found(f, form, at + 1 - f->forms->forms[form - 1].len, at + 1);
        gbx_unescape_take(&f->unescaper, f->data.data[at], at);
        at++;
    }
    gbx_unescape_end(&f->unescaper);
    return !f->failed;
}

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
