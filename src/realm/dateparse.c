/* SPDX-License-Identifier: MIT */
/*
 * dateparse - spellings of dates that Node reads and the engine does not.
 *
 * The language leaves all but ISO 8601 to the engine. Ours reads 2/29/2024 and most
 * others, but not 2024-02-29 10:00 UTC, 2024.02.29 or Feb 2024. Such a date is changed
 * to a spelling that the engine reads, and its own parser does the rest.
 *
 * The program that links this file overrides the engine's WTF::parseDate(), which is
 * called after the parser for ISO 8601.
 */
#include "realm/internal.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* WTF::parseDate(std::span<const unsigned char>, bool &) */
#define ENGINES_NAME "_ZN3WTF9parseDateESt4spanIKhLm18446744073709551615EERb"

#define TEXT_MAX 128 /* longer ones are left to the engine */
#define DAYS_MAX 31  /* a larger number is a year */

typedef double (*parse_fn)(const uint8_t *text, size_t len, bool *ret_is_local);

double gbx_parse_date(const uint8_t *text, size_t len,
                      bool *ret_is_local) __asm__(ENGINES_NAME);

static parse_fn engines;

/* Copy text without leading blanks. No-break spaces, which toLocaleString() puts before
 * PM, become plain ones. False if the text does not fit, or has a NUL. */
static bool copy_text(const uint8_t *text, size_t len, char to[static TEXT_MAX])
{
    size_t used = 0;

    for (size_t i = 0; i < len; i++) {
        size_t wide = len - i >= 3 && memcmp(text + i, "\u202f", 3) == 0   ? 3
                      : len - i >= 2 && memcmp(text + i, "\u00a0", 2) == 0 ? 2
                                                                           : 0;
        char c = wide > 0 ? ' ' : (char)text[i];

        if (used == TEXT_MAX - 1 || c == 0)
            return false;
        if (used > 0 || c != ' ')
            to[used++] = c;
        i += wide > 0 ? wide - 1 : 0;
    }
    to[used] = 0;
    return true;
}

/* A number of up to four digits, or a word, and the separator after it. */
typedef struct part {
    int number; /* -1: a word */
    char word[10];
    char separator; /* the character after it */
    size_t end;     /* offset in the text, before separators */
} part;

/* Returns how many of the date's parts text begins with. */
static size_t read_parts(const char *text, part p[static 3])
{
    size_t at = 0, count = 0;

    for (; count < 3; count++) {
        part *one = &p[count];
        size_t digits = strspn(text + at, "0123456789");
        size_t letters = 0;

        while ((text[at + letters] | 0x20) >= 'a' && (text[at + letters] | 0x20) <= 'z')
            letters++;
        if (digits + letters == 0 || digits > 4 || letters >= sizeof one->word)
            break;
        memcpy(one->word, text + at, letters);
        one->word[letters] = 0;
        one->number = digits > 0 ? (int)strtol(text + at, NULL, 10) : -1;
        at += digits + letters;
        one->end = at;
        one->separator = text[at];
        at += strspn(text + at, "-./, ");
    }
    return count;
}

static bool is_year(const part *p)
{
    return p->number > DAYS_MAX;
}

static bool is_joined(const part *p)
{
    return p->number >= 0 && p->separator != 0 && strchr("-./", p->separator) != NULL;
}

/* Rewrite the date that text begins with in a spelling that the engine reads. Returns
 * the date's length in text, or 0 if it has none of the forms below. */
static size_t write_date(const char *text, char *to, size_t size)
{
    part p[3];
    size_t count = read_parts(text, p);
    bool is_numeric = count >= 2 && is_joined(&p[0]) && p[1].number >= 0;

    if (is_numeric && count == 3 && is_joined(&p[1]) && p[2].number >= 0) {
        const part *month = &p[is_year(&p[0]) ? 1 : 0];

        (void)snprintf(to, size, "%d/%d/%d", month->number, month[1].number,
                       p[is_year(&p[0]) ? 0 : 2].number);
        return p[2].end;
    }
    if (is_numeric && is_year(&p[0]) &&
        (p[1].separator == 0 || p[1].separator == ' ')) {
        (void)snprintf(to, size, "%d/1/%d", p[1].number, p[0].number);
        return p[1].end;
    }
    if (count >= 2 && p[0].number < 0 && is_year(&p[1])) {
        (void)snprintf(to, size, "%s 1 %d", p[0].word, p[1].number);
        return p[1].end;
    }
    if (count == 3 && is_year(&p[0]) && p[1].number < 0 && p[2].number >= 0) {
        (void)snprintf(to, size, "%s %d %d", p[1].word, p[2].number, p[0].number);
        return p[2].end;
    }
    return 0;
}

/* Cut the fraction of a second out of the text after a date, which the engine's parser
 * does not know. Returns its whole milliseconds. */
static int cut_fraction(char *text)
{
    char *point = strchr(text, '.');
    size_t digits = point != NULL ? strspn(point + 1, "0123456789") : 0;
    int ms = 0;

    if (digits == 0 || memchr(text, ':', (size_t)(point - text)) == NULL)
        return 0;
    for (size_t i = 1; i <= 3; i++)
        ms = ms * 10 + (i <= digits ? point[i] - '0' : 0);
    memmove(point, point + 1 + digits, strlen(point + 1 + digits) + 1);
    return ms;
}

/* ---- public to other files of this folder, and to the engine ----------------- */

__attribute__((visibility("default"))) double gbx_parse_date(const uint8_t *text,
                                                             size_t len,
                                                             bool *ret_is_local)
{
    char given[TEXT_MAX + sizeof " UTC"], date[48], made[sizeof given + sizeof date];
    size_t end, len_given;
    int ms;

    if (engines == NULL)
        return NAN;
    if (!copy_text(text, len, given))
        return engines(text, len, ret_is_local);
    end = write_date(given, date, sizeof date);
    ms = cut_fraction(given + end);
    /* The engine reads a final Z as a zone only in ISO 8601. */
    len_given = strlen(given);
    if (end > 0 && len_given > end && given[len_given - 1] == 'Z')
        memcpy(given + len_given - 1, " UTC", sizeof " UTC");
    (void)snprintf(made, sizeof made, "%s%s", end > 0 ? date : "", given + end);
    return ms + engines((const uint8_t *)made, strlen(made), ret_is_local);
}

void gbx_dates_learn(void)
{
    void *found = dlsym(RTLD_NEXT, ENGINES_NAME);

    memcpy(&engines, &found, sizeof found);
}
