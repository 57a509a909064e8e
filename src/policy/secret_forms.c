/* SPDX-License-Identifier: MIT */
/*
 * secret_forms - see internal.h. Sizes are counted before anything is made: a
 * single vault holds all, so growing leaves no copy of a value behind.
 */
#include "policy/internal.h"

#include "base/cleanup.h"
#include "base/secret_memory.h"
#include "policy/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char standard[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Itself with and without escapes, hexadecimal digits in two cases, two base64
 * alphabets at three alignments. */
#define FORMS_EACH 10u

/* Bytes of all forms of a value: 2 + 2 * 2 + 6 * 4 / 3 times its size. */
static size_t forms_bytes(size_t value_len)
{
    return value_len * 14 + 6;
}

/* ---- the trie ------------------------------------------------------------ */

static uint32_t child_of(gbx_secret_forms *f, uint32_t state, uint8_t byte)
{
    uint32_t *link = state == 0 ? &f->first[byte] : &f->nodes[state].child;
    gbx_secret_node *node;

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
    gbx_secret_node *node = &f->nodes[state];

    if (state == 0 || node->form != 0)
        return;
    f->forms[f->form_count++] =
        (gbx_secret_form){.secret = secret, .len = node->depth, .edges = edges};
    node->form = f->form_count;
    if (node->depth > f->longest)
        f->longest = node->depth;
}

static void add_itself(gbx_secret_forms *f, const gbx_secret *s, uint32_t index)
{
    uint32_t state = 0;

    for (size_t i = 0; i < s->value_len; i++)
        state = child_of(f, state, (uint8_t)s->value[i]);
    end_form(f, state, index, 0);
}

typedef struct path {
    gbx_secret_forms *forms;
    uint32_t state;
} path;

static void on_unescaped(void *user, uint8_t byte, size_t start, size_t end)
{
    path *p = user;

    (void)start, (void)end;
    p->state = child_of(p->forms, p->state, byte);
}

/* The rest may be too short to search for. */
static void add_unescaped(gbx_secret_forms *f, const gbx_secret *s, uint32_t index)
{
    path p = {.forms = f};
    gbx_unescaper unescaper = {.emit = on_unescaped, .user = &p};

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

/* Six bits, from that bit on, of `before` unknown bytes followed by the value. */
static unsigned sextet(const gbx_secret *s, size_t bit, size_t before)
{
    unsigned bits = 0;

    for (size_t i = bit; i < bit + 6; i++) {
        uint8_t byte = (uint8_t)s->value[i / 8 - before];

        bits = bits << 1 | (byte >> (7 - i % 8) & 1u);
    }
    return bits;
}

/* Add the base64 characters that the value alone determines if it follows so many other
 * bytes. */
static void add_base64(gbx_secret_forms *f, const gbx_secret *s, uint32_t index,
                       size_t before, const char *alphabet)
{
    size_t end = (before + s->value_len) * 8;
    size_t bit = (before * 8 + 5) / 6 * 6;
    uint32_t state = 0;

    for (; bit + 6 <= end; bit += 6)
        state = child_of(f, state, (uint8_t)alphabet[sextet(s, bit, before)]);
    end_form(f, state, index,
             (before > 0 ? GBX_FORM_EDGE_BEFORE : 0) |
                 (end % 6 != 0 ? GBX_FORM_EDGE_AFTER : 0));
}

/* The part of a value to search for: blanks at its ends may get lost on the way. A
 * value that would be too short without them stays whole. */
static gbx_secret between_blanks(const gbx_secret *s)
{
    gbx_secret part = *s;

    while (part.value_len > 0 && *part.value == ' ') {
        part.value++;
        part.value_len--;
    }
    while (part.value_len > 0 && part.value[part.value_len - 1] == ' ')
        part.value_len--;
    return part.value_len >= GBX_SECRET_MIN ? part : *s;
}

static void add_secret(gbx_secret_forms *f, const gbx_secret *s, uint32_t index)
{
    add_itself(f, s, index);
    add_unescaped(f, s, index);
    add_hex(f, s, index, "0123456789abcdef");
    add_hex(f, s, index, "0123456789ABCDEF");
    for (size_t before = 0; before < 3; before++) {
        add_base64(f, s, index, before, standard);
        add_base64(f, s, index, before, url_safe);
    }
}

/* ---- where to go on after a byte that does not fit --------------------------- */

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

static void note_escapes(gbx_secret_forms *f)
{
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            if (gbx_unescape_begins((uint8_t)a) || gbx_unescape_begins((uint8_t)b))
                note_pair(f, (uint8_t)a, (uint8_t)b);
}

/* Breadth first: a state's failure state is less deep than itself. queue has room for
 * every node. */
static void link_failures(gbx_secret_forms *f, uint32_t *queue)
{
    size_t count = 0;

    for (unsigned byte = 0; byte < 256; byte++)
        if (f->first[byte] != 0)
            queue[count++] = f->first[byte];
    for (size_t i = 0; i < count; i++) {
        gbx_secret_node *node = &f->nodes[queue[i]];

        if (node->form == 0)
            node->form = f->nodes[node->fail].form;
        for (uint32_t c = node->child; c != 0; c = f->nodes[c].sibling) {
            f->nodes[c].fail = gbx_forms_step(f, node->fail, f->nodes[c].byte);
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

    for (size_t i = 0; i < count; i++)
        nodes += forms_bytes(secrets[i].value_len);
    assert(nodes < UINT32_MAX);
    size = sizeof *f + nodes * sizeof f->nodes[0] +
           count * FORMS_EACH * sizeof f->forms[0];
    f = gbx_secret_memory_new(size);
    if (f == NULL)
        return NULL;
    f->size = size;
    f->nodes = (gbx_secret_node *)(f + 1);
    f->forms = (gbx_secret_form *)(f->nodes + nodes);
    f->node_count = 1;
    return f;
}

/* ---- public to other modules -------------------------------------------- */

gbx_secret_forms *gbx_secret_forms_new(const gbx_secret *secrets, size_t count)
{
    GBX_CLEANUP(gbx_free) uint32_t *queue = NULL;
    gbx_secret_forms *f = room(secrets, count);

    if (f == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        gbx_secret part = between_blanks(&secrets[i]);

        add_secret(f, &part, (uint32_t)i);
    }
    queue = malloc(f->node_count * sizeof *queue);
    if (queue == NULL) {
        gbx_secret_forms_free(f);
        return NULL;
    }
    link_failures(f, queue);
    note_escapes(f);
    return f;
}

void gbx_secret_forms_free(gbx_secret_forms *forms)
{
    if (forms != NULL)
        gbx_secret_memory_free(forms, forms->size);
}
