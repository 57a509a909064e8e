/* SPDX-License-Identifier: MIT */
/*
 * search - split texts into words, and rank tools by standard BM25; a word in a name
 * counts as much as three elsewhere.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/rules/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Split a text into the words that a search compares, without regard to case.
 *
 * Words end where a reader would split them: readTextFile, read_text_file and
 * read-text-file give the same three words. The joined word follows them, since GitHub
 * is also written github. Scripts without spaces between words (Chinese, Japanese,
 * Thai, ...) give overlapping pairs of letters; a single letter is a word.
 *
 * Keeps no state and allocates nothing: one pass, however long the text is. Letters are
 * classified by table, not by locale.
 */

#define WORD_MAX 64 /* bytes; longer words keep the beginning */

typedef struct search_word {
    char text[WORD_MAX + 1]; /* folded, see rules/rules.h; "files" is "FILE" */
    size_t len;
    size_t letters;
    bool is_stop;  /* "the", "of": too common to tell texts apart */
    bool is_dense; /* of a script without gaps */
} search_word;

/* The word is borrowed until the callback returns. */
typedef void (*word_fn)(void *user, const search_word *word);

typedef enum kind { GAP, JOINER, LOWER, UPPER, OTHER, DENSE } kind;

struct letter {
    char text[4]; /* folded */
    size_t len;
    kind kind;
};

struct cutter {
    word_fn each;
    void *user;
    search_word part;
    search_word whole;
    unsigned parts; /* parts of the whole word */
    kind was;
    bool is_in_pair; /* the part, a dense letter, was already in a pair */
};

/* ---- letters --------------------------------------------------------------------- */

/* Code points beyond ASCII that are not ordinary letters, in order: signs and
 * punctuation, and scripts without gaps. */
static const struct range {
    uint32_t first;
    uint32_t last;
    kind kind;
} ranges[] = {
    {0x80, 0xA9, GAP},         {0xAB, 0xB4, GAP},       {0xB6, 0xB9, GAP},
    {0xBB, 0xBF, GAP},         {0xD7, 0xD7, GAP},       {0xF7, 0xF7, GAP},
    {0x37E, 0x37E, GAP},       {0x387, 0x387, GAP},     {0x589, 0x58A, GAP},
    {0x5BE, 0x5BE, GAP},       {0x60C, 0x60D, GAP},     {0x61B, 0x61F, GAP},
    {0x66A, 0x66D, GAP},       {0x6D4, 0x6D4, GAP},     {0x964, 0x965, GAP},
    {0xE00, 0xEFF, DENSE},     {0x1000, 0x109F, DENSE}, {0x1100, 0x11FF, DENSE},
    {0x1780, 0x17FF, DENSE},   {0x2000, 0x206F, GAP},   {0x20A0, 0x20CF, GAP},
    {0x2190, 0x2BFF, GAP},     {0x2E00, 0x2E7F, GAP},   {0x2E80, 0x2FDF, DENSE},
    {0x2FF0, 0x3004, GAP},     {0x3005, 0x3007, DENSE}, {0x3008, 0x3020, GAP},
    {0x3021, 0x302F, DENSE},   {0x3030, 0x3030, GAP},   {0x3031, 0x309F, DENSE},
    {0x30A0, 0x30A0, GAP},     {0x30A1, 0x30FA, DENSE}, {0x30FB, 0x30FB, GAP},
    {0x30FC, 0x318F, DENSE},   {0x31A0, 0x31BF, DENSE}, {0x31C0, 0x31EF, GAP},
    {0x31F0, 0x31FF, DENSE},   {0x3200, 0x33FF, GAP},   {0x3400, 0x4DBF, DENSE},
    {0x4DC0, 0x4DFF, GAP},     {0x4E00, 0x9FFF, DENSE}, {0xA960, 0xA97F, DENSE},
    {0xAC00, 0xD7FF, DENSE},   {0xE000, 0xF8FF, GAP},   {0xF900, 0xFAFF, DENSE},
    {0xFE10, 0xFE1F, GAP},     {0xFE30, 0xFE6F, GAP},   {0xFEFF, 0xFEFF, GAP},
    {0xFF00, 0xFF0F, GAP},     {0xFF1A, 0xFF20, GAP},   {0xFF3B, 0xFF40, GAP},
    {0xFF5B, 0xFF65, GAP},     {0xFF66, 0xFFDC, DENSE}, {0xFFE0, 0xFFFF, GAP},
    {0x1AFF0, 0x1B16F, DENSE}, {0x1F000, 0x1FAFF, GAP}, {0x20000, 0x3FFFF, DENSE},
};

/* Scripts with upper and lower case: Latin to Armenian and their further blocks,
 * without combining marks. */
static bool has_cases(uint32_t point)
{
    return (point < 0x58B && (point < 0x300 || point > 0x36F)) ||
           (point >= 0x1E00 && point <= 0x1FFF);
}

static kind kind_of(uint32_t point, bool is_folded)
{
    size_t low = 0;
    size_t high = GBX_COUNTOF(ranges);

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (point > ranges[middle].last)
            low = middle + 1;
        else if (point < ranges[middle].first)
            high = middle;
        else
            return ranges[middle].kind;
    }
    if (!is_folded)
        return LOWER;
    return has_cases(point) ? UPPER : OTHER;
}

/* Read the first letter of text; returns its length in bytes. */
static size_t read_letter(const char *text, size_t len, struct letter *ret)
{
    unsigned char c = (unsigned char)text[0];
    bool is_folded;
    size_t n;

    if (c < 0x80) {
        bool is_lower = c >= 'a' && c <= 'z';

        ret->text[0] = (char)(is_lower ? c - 'a' + 'A' : c);
        ret->len = 1;
        ret->kind = is_lower               ? LOWER
                    : c >= 'A' && c <= 'Z' ? UPPER
                    : c >= '0' && c <= '9' ? OTHER
                    : c == '_' || c == '-' ? JOINER
                                           : GAP;
        return 1;
    }
    n = gbx_letter_fold(text, len, ret->text, &ret->len);
    is_folded = ret->len == n && memcmp(ret->text, text, n) == 0;
    ret->kind =
        n == 1 ? GAP : kind_of(gbx_utf8_decode((const uint8_t *)text, n), is_folded);
    return n;
}

/* ---- words ----------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_stop(const search_word *word)
{
    static const char words[][6] = {
        "A",     "AN",   "AND",   "ARE",  "AS",   "AT",    "BE",   "BY",    "CAN",
        "DO",    "DOES", "FOR",   "FROM", "HAS",  "HAVE",  "HOW",  "I",     "IF",
        "IN",    "INTO", "IS",    "IT",   "ITS",  "ME",    "MY",   "OF",    "ON",
        "OR",    "OUR",  "SO",    "THAT", "THE",  "THEIR", "THEM", "THERE", "THESE",
        "THEY",  "THIS", "THOSE", "TO",   "WAS",  "WE",    "WHAT", "WHEN",  "WHERE",
        "WHICH", "WHO",  "WHY",   "WILL", "WITH", "YOU",   "YOUR",
    };

    return word->len < sizeof words[0] &&
           bsearch(word->text, words, GBX_COUNTOF(words), sizeof words[0],
                   compare_words) != NULL;
}

static void clear(search_word *word)
{
    word->len = 0;
    word->letters = 0;
}

/* "files" and "file" become one word; "status" and "class" lose nothing important. */
static void stem(search_word *word)
{
    char *end = word->text + word->len;

    if (word->len > 4 && memcmp(end - 3, "IES", 3) == 0) {
        end[-3] = 'Y';
        word->len -= 2;
        word->letters -= 2;
    } else if (word->len > 3 && end[-1] == 'S' && end[-2] != 'S') {
        word->len--;
        word->letters--;
    }
    word->text[word->len] = '\0';
}

/* The word is empty afterwards. */
static void tell(struct cutter *c, search_word *word)
{
    word->text[word->len] = '\0';
    word->is_stop = is_stop(word);
    if (!word->is_dense)
        stem(word);
    c->each(c->user, word);
    clear(word);
}

static void append(search_word *word, const struct letter *letter)
{
    if (letter->len > WORD_MAX - word->len)
        return;
    memcpy(word->text + word->len, letter->text, letter->len);
    word->len += letter->len;
    word->letters++;
    word->is_dense = letter->kind == DENSE;
}

static void end_part(struct cutter *c)
{
    if (c->part.len == 0)
        return;
    c->parts += !c->part.is_dense;
    if (c->is_in_pair)
        clear(&c->part);
    else
        tell(c, &c->part);
    c->is_in_pair = false;
}

static void end_whole(struct cutter *c)
{
    end_part(c);
    if (c->parts > 1)
        tell(c, &c->whole);
    else
        clear(&c->whole);
    c->parts = 0;
}

static void take_dense(struct cutter *c, const struct letter *letter)
{
    if (c->was != DENSE)
        end_whole(c);
    append(&c->part, letter);
    if (c->part.letters < 2)
        return;
    tell(c, &c->part);
    append(&c->part, letter);
    c->is_in_pair = true;
}

/* Does a part begin at text? readFile; HTTPServer, before Server. */
static bool is_border(const struct cutter *c, const struct letter *letter,
                      const char *after, size_t len)
{
    struct letter next;

    if (letter->kind != UPPER || c->was == GAP || c->was == JOINER)
        return false;
    if (c->was != UPPER)
        return true;
    if (len == 0)
        return false;
    (void)read_letter(after, len, &next);
    return next.kind == LOWER;
}

/* Invalid UTF-8 separates words. */
static void cut_words(const char *text, size_t len, word_fn each, void *user)
{
    struct cutter c = {.each = each, .user = user, .was = GAP};
    struct letter letter;
    size_t n;

    for (size_t at = 0; at < len; at += n) {
        n = read_letter(text + at, len - at, &letter);
        if (letter.kind == GAP || (letter.kind == JOINER && c.was == JOINER)) {
            end_whole(&c);
        } else if (letter.kind == JOINER) {
            end_part(&c);
        } else if (letter.kind == DENSE) {
            take_dense(&c, &letter);
        } else {
            if (c.was == DENSE)
                end_whole(&c);
            else if (is_border(&c, &letter, text + at + n, len - at - n))
                end_part(&c);
            append(&c.part, &letter);
            append(&c.whole, &letter);
        }
        c.was = letter.kind;
    }
    end_whole(&c);
}

/* ---- the query ------------------------------------------------------------------- */

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
    search_word word;
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

static bool begins(const search_word *word, const search_word *with)
{
    return word->len > with->len && memcmp(word->text, with->text, with->len) == 0;
}

/* "repo" and "repository" are near each other; so are a Chinese letter and its
 * pairs. */
static bool is_near(const search_word *term, const search_word *word)
{
    if (word->is_stop || term->is_dense != word->is_dense)
        return false;
    if (term->is_dense)
        return term->letters == 1 && strstr(word->text, term->text) != NULL;
    return (term->letters >= BEGINNING_MIN && begins(word, term)) ||
           (word->letters >= REMAINDER_MIN && begins(term, word));
}

static void count_word(void *user, const search_word *word)
{
    const struct counting *c = user;

    c->ret->length += c->weight;
    if (!c->query->is_asked[(unsigned char)word->text[0]])
        return;
    for (size_t i = 0; i < c->query->count; i++) {
        const search_word *term = &c->query->terms[i].word;

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
        cut_words(view.at + 1, view.len - 2, count_word, c);
        return;
    }
    c->text.len = 0;
    (void)gbx_view_append_text(view, &c->text);
    cut_words((char *)c->text.data, c->text.len, count_word, c);
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
    cut_words(doc->server, strlen(doc->server), count_word, c);
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

static void add_term(void *user, const search_word *word)
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
    cut_words(text, len, add_term, ret);
    ret->takes_stops = ret->count == 0;
    if (ret->takes_stops)
        cut_words(text, len, add_term, ret);
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
