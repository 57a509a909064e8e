/* SPDX-License-Identifier: MIT */
/* search - the usual formula; a word in a name weighs as much as three elsewhere. */
#include "mcp/code/search.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_MAX   16
#define WORD_MAX    32
#define TEXT_MAX    GBX_KIB(16) /* of one description that is looked at */
#define MEMBERS_MAX 64

#define K1          1.2
#define B           0.75
#define NAME_WEIGHT 3.0

struct term {
    char word[WORD_MAX + 1];
    size_t docs; /* that have it */
};

struct query {
    struct term terms[TERMS_MAX];
    size_t count;
};

/* What one tool says of the query. */
struct counts {
    double of[TERMS_MAX];
    double length;
};

/* ---- words --------------------------------------------------------------------- */

struct cutter {
    const char *text;
    size_t len;
    size_t at;
};

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Between c and next begins a word: readFile, HTTPServer (before Server). */
static bool is_border(const char *text, size_t at, size_t len)
{
    bool was_upper = isupper((unsigned char)text[at - 1]) != 0;
    bool upper = isupper((unsigned char)text[at]) != 0;
    bool then_lower = at + 1 < len && islower((unsigned char)text[at + 1]);

    return (upper && !was_upper) || (upper && was_upper && then_lower);
}

static char lower(char c)
{
    return (char)tolower((unsigned char)c);
}

/* "files" and "file" are one word; "status" and "class" lose nothing that matters. */
static void stem(char *word, size_t len)
{
    if (len > 4 && strcmp(word + len - 3, "ies") == 0) {
        memcpy(word + len - 3, "y", 2);
    } else if (len > 3 && word[len - 1] == 's' && word[len - 2] != 's') {
        word[len - 1] = 0;
    }
}

/* The next word in lower case; false at the end. */
static bool next_word(struct cutter *c, char ret[WORD_MAX + 1])
{
    size_t n = 0;

    while (c->at < c->len && !is_letter(c->text[c->at]))
        c->at++;
    if (c->at >= c->len)
        return false;
    do {
        if (n < WORD_MAX)
            ret[n++] = lower(c->text[c->at]);
        c->at++;
    } while (c->at < c->len && is_letter(c->text[c->at]) &&
             !is_border(c->text, c->at, c->len));
    ret[n] = 0;
    stem(ret, n);
    return true;
}

/* ---- counting -------------------------------------------------------------------- */

static void count_words(const struct query *q, const char *text, size_t len,
                        double weight, struct counts *ret)
{
    struct cutter c = {text, len, 0};
    char word[WORD_MAX + 1];

    while (next_word(&c, word)) {
        ret->length += weight;
        for (size_t i = 0; i < q->count; i++)
            if (strcmp(q->terms[i].word, word) == 0)
                ret->of[i] += weight;
    }
}

/* A JSON string as it is written: escapes separate words as well as what they are. */
static void count_view(const struct query *q, gbx_view text, double weight,
                       struct counts *ret)
{
    if (gbx_view_kind(text) == '"')
        count_words(q, text.at + 1, text.len - 2 < TEXT_MAX ? text.len - 2 : TEXT_MAX,
                    weight, ret);
}

static void count_tool(const struct query *q, const gbx_search_doc *doc,
                       struct counts *ret)
{
    gbx_view members =
        gbx_view_member(gbx_view_member(doc->tool, "inputSchema"), "properties");
    size_t cursor = 0;
    unsigned seen = 0;
    gbx_view name;
    gbx_view value;

    *ret = (struct counts){.length = 0};
    count_words(q, doc->server, strlen(doc->server), 1, ret);
    count_view(q, gbx_view_member(doc->tool, "name"), NAME_WEIGHT, ret);
    count_view(q, gbx_view_member(doc->tool, "title"), 1, ret);
    count_view(q, gbx_view_member(doc->tool, "description"), 1, ret);
    while (gbx_view_kind(members) == '{' && seen++ < MEMBERS_MAX &&
           gbx_view_next(members, &cursor, &name, &value)) {
        count_view(q, name, 1, ret);
        count_view(q, gbx_view_member(value, "description"), 0.5, ret);
    }
}

static void read_query(const char *text, size_t len, struct query *ret)
{
    struct cutter c = {text, len, 0};
    char word[WORD_MAX + 1];

    ret->count = 0;
    while (ret->count < TERMS_MAX && next_word(&c, word)) {
        bool is_new = true;

        for (size_t i = 0; i < ret->count; i++)
            is_new = is_new && strcmp(ret->terms[i].word, word) != 0;
        if (!is_new)
            continue;
        memcpy(ret->terms[ret->count].word, word, sizeof word);
        ret->terms[ret->count++].docs = 0;
    }
}

static double score(const struct query *q, const struct counts *c, double docs,
                    double mean)
{
    double sum = 0;

    for (size_t i = 0; i < q->count; i++) {
        double with = (double)q->terms[i].docs;
        double rarity = log(1 + (docs - with + 0.5) / (with + 0.5));

        sum += rarity * c->of[i] * (K1 + 1) /
               (c->of[i] + K1 * (1 - B + B * c->length / mean));
    }
    return sum;
}

/* Stable, and quick enough: the table of a search is short or already in order. */
static void sort(gbx_search_doc *docs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        gbx_search_doc one = docs[i];
        size_t k = i;

        for (; k > 0 && docs[k - 1].score < one.score; k--)
            docs[k] = docs[k - 1];
        docs[k] = one;
    }
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_search_rank(gbx_search_doc *docs, size_t count, const char *query, size_t len)
{
    struct counts *counts;
    struct query q;
    double total = 0;

    read_query(query, len, &q);
    if (q.count == 0 || count == 0)
        return true;
    counts = calloc(count, sizeof *counts);
    if (counts == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        count_tool(&q, &docs[i], &counts[i]);
        total += counts[i].length;
        for (size_t k = 0; k < q.count; k++)
            q.terms[k].docs += counts[i].of[k] > 0;
    }
    for (size_t i = 0; i < count; i++)
        docs[i].score =
            score(&q, &counts[i], (double)count, total > 0 ? total / (double)count : 1);
    free(counts);
    sort(docs, count);
    return true;
}
