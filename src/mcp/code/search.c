/* SPDX-License-Identifier: MIT */
/* search - standard BM25; a word in a name counts as much as three elsewhere. */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_MAX   24
#define TEXT_MAX    GBX_KIB(16) /* bytes of one description that are read */
#define MEMBERS_MAX 64

#define K1          1.2
#define B           0.75
#define NAME_WEIGHT 3.0
#define NEAR_WEIGHT 0.1 /* low, so that the word itself ranks first */

/* Letters that a prefix needs: of a query word, and of a tool's word, of which there
 * are many. */
#define BEGINNING_MIN 3
#define REMAINDER_MIN 4

struct term {
    gbx_search_word word;
    size_t docs;      /* tools that contain it */
    size_t near_docs; /* tools that contain it or a word near it */
};

struct query {
    struct term terms[TERMS_MAX];
    size_t count;
    bool takes_stops;   /* no other words */
    bool is_asked[256]; /* may a word with that first byte match one of them? */
};

/* The counts of the query's words in one tool. */
struct counts {
    double of[TERMS_MAX];
    double near[TERMS_MAX];
    double length;
};

/* ---- counting -------------------------------------------------------------------- */

struct counting {
    const struct query *query;
    gbx_buf text; /* of a string with escapes */
    double weight;
    struct counts *ret;
};

static bool begins(const gbx_search_word *word, const gbx_search_word *with)
{
    return word->len > with->len && memcmp(word->text, with->text, with->len) == 0;
}

/* "repo" and "repository" are near each other; so are a Chinese letter and its
 * pairs. */
static bool is_near(const gbx_search_word *term, const gbx_search_word *word)
{
    if (word->is_stop || term->is_dense != word->is_dense)
        return false;
    if (term->is_dense)
        return term->letters == 1 && strstr(word->text, term->text) != NULL;
    return (term->letters >= BEGINNING_MIN && begins(word, term)) ||
           (word->letters >= REMAINDER_MIN && begins(term, word));
}

static void count_word(void *user, const gbx_search_word *word)
{
    const struct counting *c = user;

    c->ret->length += c->weight;
    if (!c->query->is_asked[(unsigned char)word->text[0]])
        return;
    for (size_t i = 0; i < c->query->count; i++) {
        const gbx_search_word *term = &c->query->terms[i].word;

        if (term->len == word->len && memcmp(term->text, word->text, term->len) == 0)
            c->ret->of[i] += c->weight;
        else if (is_near(term, word))
            c->ret->near[i] += c->weight;
    }
}

/* Cut before unescaping; a last escape that is cut is read whole. */
static void count_view(struct counting *c, gbx_view view, double weight)
{
    if (gbx_view_kind(view) != '"')
        return;
    if (view.len > TEXT_MAX)
        view.len = TEXT_MAX;
    c->weight = weight;
    if (memchr(view.at, '\\', view.len) == NULL) {
        gbx_search_words(view.at + 1, view.len - 2, count_word, c);
        return;
    }
    c->text.len = 0;
    (void)gbx_view_append_text(view, &c->text);
    gbx_search_words((char *)c->text.data, c->text.len, count_word, c);
}

static void count_tool(struct counting *c, const gbx_search_doc *doc)
{
    gbx_view members =
        gbx_view_member(gbx_view_member(doc->tool, "inputSchema"), "properties");
    size_t cursor = 0;
    unsigned seen = 0;
    gbx_view name;
    gbx_view value;

    c->weight = 1;
    gbx_search_words(doc->server, strlen(doc->server), count_word, c);
    count_view(c, gbx_view_member(doc->tool, "name"), NAME_WEIGHT);
    count_view(c, gbx_view_member(doc->tool, "title"), 1);
    count_view(c, gbx_view_member(doc->tool, "description"), 1);
    while (gbx_view_kind(members) == '{' && seen++ < MEMBERS_MAX &&
           gbx_view_next(members, &cursor, &name, &value)) {
        count_view(c, name, 1);
        count_view(c, gbx_view_member(value, "description"), 0.5);
    }
}

/* ---- ranking --------------------------------------------------------------------- */

static void add_term(void *user, const gbx_search_word *word)
{
    struct query *q = user;

    if (q->count == TERMS_MAX || (word->is_stop && !q->takes_stops))
        return;
    for (size_t i = 0; i < q->count; i++)
        if (strcmp(q->terms[i].word.text, word->text) == 0)
            return;
    q->terms[q->count++] = (struct term){.word = *word};
    if (word->is_dense && word->letters == 1)
        memset(q->is_asked + 0x80, true, 0x80);
    else
        q->is_asked[(unsigned char)word->text[0]] = true;
}

static void read_query(const char *text, size_t len, struct query *ret)
{
    *ret = (struct query){.count = 0};
    gbx_search_words(text, len, add_term, ret);
    ret->takes_stops = ret->count == 0;
    if (ret->takes_stops)
        gbx_search_words(text, len, add_term, ret);
}

/* From 0 to K1 + 1: repetitions count less and less, as do words of a long text. */
static double weigh(double times, double length)
{
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length));
}

/* length: relative to the mean. */
static double score(const struct query *q, const struct counts *c, double docs,
                    double length)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++) {
        const struct term *t = &q->terms[i];
        double with = (double)(t->docs > 0 ? t->docs : t->near_docs);
        double rarity = log(1 + (docs - with + 0.5) / (with + 0.5));

        sum += rarity *
               (weigh(c->of[i], length) + NEAR_WEIGHT * weigh(c->near[i], length));
    }
    return sum;
}

/* Best first. No two compare equal, so the sort need not be stable. */
static int compare(const void *a, const void *b)
{
    const gbx_search_doc *one = a;
    const gbx_search_doc *other = b;

    if (one->score != other->score)
        return one->score > other->score ? -1 : 1;
    return one->place < other->place ? -1 : 1;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_search_rank(gbx_search_doc *docs, size_t count, const char *query, size_t len)
{
    struct counting c;
    struct counts *counts;
    struct query q;
    double total = 0;
    bool is_whole;

    read_query(query, len, &q);
    if (q.count == 0 || count == 0)
        return true;
    counts = calloc(count, sizeof *counts);
    if (counts == NULL)
        return false;
    c.query = &q;
    gbx_buf_init(&c.text, TEXT_MAX);
    for (size_t i = 0; i < count; i++) {
        c.ret = &counts[i];
        count_tool(&c, &docs[i]);
        total += counts[i].length;
        for (size_t k = 0; k < q.count; k++) {
            q.terms[k].docs += counts[i].of[k] > 0;
            q.terms[k].near_docs += counts[i].of[k] + counts[i].near[k] > 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        docs[i].place = i;
        docs[i].score = score(&q, &counts[i], (double)count,
                              total > 0 ? counts[i].length * (double)count / total : 1);
    }
    is_whole = !c.text.failed;
    gbx_buf_cleanup(&c.text);
    free(counts);
    qsort(docs, count, sizeof *docs, compare);
    return is_whole;
}
