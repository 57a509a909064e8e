/* SPDX-License-Identifier: MIT */
/* search_words - see code_mode.h. Letters are classified by table, not by locale. */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/rules/rules.h"

#include <stdlib.h>
#include <string.h>

typedef enum kind { GAP, JOINER, LOWER, UPPER, OTHER, DENSE } kind;

struct letter {
    char text[4]; /* folded */
    size_t len;
    kind kind;
};

struct cutter {
    gbx_word_fn each;
    void *user;
    gbx_search_word part;
    gbx_search_word whole;
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

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_stop(const gbx_search_word *word)
{
    static const char words[][6] = {
        "A",     "AN",   "AND",   "ARE",  "AS",   "AT",    "BE",   "BY",    "CAN",
        "DO",    "DOES", "FOR",   "FROM", "HAS",  "HAVE",  "HOW",  "I",     "IF",
        "IN",    "INTO", "IS",    "IT",   "ITS",  "ME",    "MY",   "OF",    "ON",
        "OR",    "OUR",  "SO",    "THAT", "THE",  "THEIR", "THEM", "THERE", "THESE",
        "THEY",  "THIS", "THOSE", "TO",   "WAS",  "WE",    "WHAT", "WHEN",  "WHERE",
        "WHICH", "WHO",  "WHY",   "WILL", "WITH", "YOU",   "YOUR",
    };

    return word->len < sizeof words[0] && bsearch(word->text, words, GBX_COUNTOF(words),
                                                  sizeof words[0], compare) != NULL;
}

static void clear(gbx_search_word *word)
{
    word->len = 0;
    word->letters = 0;
}

/* "files" and "file" become one word; "status" and "class" lose nothing important. */
static void stem(gbx_search_word *word)
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
static void tell(struct cutter *c, gbx_search_word *word)
{
    word->text[word->len] = '\0';
    word->is_stop = is_stop(word);
    if (!word->is_dense)
        stem(word);
    c->each(c->user, word);
    clear(word);
}

static void append(gbx_search_word *word, const struct letter *letter)
{
    if (letter->len > GBX_WORD_MAX - word->len)
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

/* ---- public to other files of this folder --------------------------------- */

void gbx_search_words(const char *text, size_t len, gbx_word_fn each, void *user)
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
