/* SPDX-License-Identifier: MIT */
/*
 * dateparse - dates in words: the texts besides ISO 8601 that Date.parse() accepts.
 *
 * The language leaves them to the engine. People write for Node, so the rules are those
 * of its engine, V8. Numbers are a date, unless a colon or a sign makes them a time or
 * an offset. Words before the first number and text in parentheses are ignored. The
 * engine's own parser may still accept what these rules refuse.
 *
 * The program that links this file overrides the engine's function of that name, which
 * is called after the one for ISO 8601.
 */
#include "realm/internal.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

/* WTF::parseDate(std::span<const unsigned char>, bool &) */
#define ENGINES_NAME "_ZN3WTF9parseDateESt4spanIKhLm18446744073709551615EERb"

#define NONE       INT32_MIN
#define TEXT_MAX   256 /* longer ones are left to the engine */
#define DIGITS_MAX 9
#define MS_A_DAY   86400000.0
#define TIME_MAX   8.64e15

typedef double (*parse_fn)(const uint8_t *text, size_t len, bool *ret_is_local);

double gbx_parse_date(const uint8_t *text, size_t len,
                      bool *ret_is_local) __asm__(ENGINES_NAME);

static parse_fn engines;

typedef enum token_kind { END, NUMBER, SYMBOL, WORD, SPACE, OTHER } token_kind;
typedef enum word_kind { UNKNOWN, MONTH, HALF_DAY, ZONE, SEPARATOR } word_kind;

typedef struct token {
    token_kind kind;
    int value; /* of a number or word; the character of a symbol */
    int len;   /* digits of a number */
    word_kind word;
} token;

/* What has been read so far; index is the number of entries in list. */
typedef struct date {
    const char *at;
    token next;
    int day[3], day_count, month;
    int time[4], time_count, half; /* 12: afternoon */
    int sign, hour, minute;        /* of the offset from UTC */
    bool is_iso;
    bool has_number;
} date;

/* ---- tokens ------------------------------------------------------------------ */

static const struct word {
    char text[4];
    word_kind kind;
    int value;
} words[] = {
    {"jan", MONTH, 1},   {"feb", MONTH, 2},    {"mar", MONTH, 3},   {"apr", MONTH, 4},
    {"may", MONTH, 5},   {"jun", MONTH, 6},    {"jul", MONTH, 7},   {"aug", MONTH, 8},
    {"sep", MONTH, 9},   {"oct", MONTH, 10},   {"nov", MONTH, 11},  {"dec", MONTH, 12},
    {"am", HALF_DAY, 0}, {"pm", HALF_DAY, 12}, {"ut", ZONE, 0},     {"utc", ZONE, 0},
    {"z", ZONE, 0},      {"gmt", ZONE, 0},     {"cdt", ZONE, -5},   {"cst", ZONE, -6},
    {"edt", ZONE, -4},   {"est", ZONE, -5},    {"mdt", ZONE, -6},   {"mst", ZONE, -7},
    {"pdt", ZONE, -7},   {"pst", ZONE, -8},    {"t", SEPARATOR, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_in_word(char c)
{
    return (unsigned char)c >= 'A';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static token read_number(date *d)
{
    token t = {.kind = NUMBER};
    int digits = 0;

    for (; is_digit(*d->at); d->at++, t.len++) {
        if (digits < DIGITS_MAX && (digits > 0 || *d->at != '0'))
            t.value = t.value * 10 + *d->at - '0';
        digits += digits > 0 || *d->at != '0';
    }
    return t;
}

/* By its first three letters; only months may be longer. */
static token read_word(date *d)
{
    token t = {.kind = WORD};
    char head[4] = "";
    size_t len = 0;

    for (; is_in_word(*d->at); d->at++, len++)
        if (len < 3)
            head[len] = (char)(*d->at | 0x20);
    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (strcmp(words[i].text, head) == 0 && (len <= 3 || words[i].kind == MONTH)) {
            t.word = words[i].kind;
            t.value = words[i].value;
        }
    return t;
}

static token read_parentheses(date *d)
{
    int depth = 0;

    do {
        depth += *d->at == '(' ? 1 : *d->at == ')' ? -1 : 0;
        d->at++;
    } while (depth > 0 && *d->at != 0);
    return (token){.kind = OTHER};
}

static token scan(date *d)
{
    char c = *d->at;

    if (c == 0)
        return (token){.kind = END};
    if (is_digit(c))
        return read_number(d);
    if (c == '(')
        return read_parentheses(d);
    if (is_in_word(c))
        return read_word(d);
    d->at++;
    if (strchr(":-+.)", c) != NULL)
        return (token){.kind = SYMBOL, .value = c};
    return (token){.kind = is_space(c) ? SPACE : OTHER};
}

/* Consume the lookahead token. */
static token take(date *d)
{
    token t = d->next;

    d->next = scan(d);
    return t;
}

static bool is_symbol(const token *t, char c)
{
    return t->kind == SYMBOL && t->value == c;
}

static bool is_sign(const token *t)
{
    return is_symbol(t, '+') || is_symbol(t, '-');
}

static bool is_fixed(const token *t, int len)
{
    return t->kind == NUMBER && t->len == len;
}

static bool skip(date *d, char c)
{
    bool found = is_symbol(&d->next, c);

    if (found)
        (void)take(d);
    return found;
}

/* ---- parts --------------------------------------------------------------------- */

static bool is_between(int value, int from, int to)
{
    return value >= from && value <= to;
}

static bool add_day(date *d, int value)
{
    if (d->day_count == 3)
        return false;
    d->day[d->day_count++] = value;
    return true;
}

static bool add_time(date *d, int value)
{
    if (d->time_count == 4)
        return false;
    d->time[d->time_count++] = value;
    return true;
}

static void end_time(date *d, int value)
{
    while (add_time(d, value))
        value = 0;
}

static bool is_next_of_time(const date *d, int value)
{
    return (is_between(d->time_count, 1, 2) && is_between(value, 0, 59)) ||
           (d->time_count == 3 && is_between(value, 0, 999));
}

static void set_zone(date *d, int hours)
{
    d->sign = hours < 0 ? -1 : 1;
    d->hour = hours < 0 ? -hours : hours;
    d->minute = 0;
}

/* A fraction of a second of any length. */
static int milliseconds(const token *t)
{
    int value = t->value;

    for (int len = t->len; len < 3; len++)
        value *= 10;
    for (int len = t->len < DIGITS_MAX ? t->len : DIGITS_MAX; len > 3; len--)
        value /= 10;
    return value;
}

/* ---- a date that begins as ISO 8601 does ------------------------------------------- */

/* Reads as much as it can; ret is the next token. False if nothing else can follow:
 * after a T. (All of ISO 8601 has been tried before, so text with a T is not a date
 * here.) */
static bool read_iso_date(date *d, token *ret)
{
    *ret = (token){.kind = END};
    if (is_sign(&d->next)) {
        token sign = take(d);

        *ret = sign;
        if (!is_fixed(&d->next, 6))
            return true;
        add_day(d, (sign.value == '-' ? -1 : 1) * take(d).value);
    } else if (is_fixed(&d->next, 4)) {
        add_day(d, take(d).value);
    } else {
        *ret = take(d);
        return true;
    }
    for (int i = 0; i < 2 && skip(d, '-'); i++) {
        if (!is_fixed(&d->next, 2) || !is_between(d->next.value, 1, i == 0 ? 12 : 31))
            break;
        add_day(d, take(d).value);
    }
    d->is_iso = d->next.kind == END;
    if (d->next.kind == WORD && d->next.word == SEPARATOR)
        return false;
    *ret = take(d);
    return true;
}

/* ---- the rest ------------------------------------------------------------------------- */

static bool read_time(date *d, int value)
{
    if (skip(d, ':')) { /* "10::" leaves the minutes out */
        if (d->time_count > 0)
            return false;
        return add_time(d, value) && add_time(d, 0);
    }
    if (!add_time(d, value))
        return false;
    (void)skip(d, '.');
    return true;
}

static bool read_fraction(date *d, int seconds)
{
    token t = take(d);

    if (t.kind != NUMBER || !add_time(d, seconds))
        return false;
    end_time(d, milliseconds(&t));
    return true;
}

static bool take_number(date *d, int value)
{
    const token *next = &d->next;

    d->has_number = true;
    if (skip(d, ':'))
        return read_time(d, value);
    if (skip(d, '.') && is_next_of_time(d, value))
        return read_fraction(d, value);
    if (d->hour != NONE && d->minute == NONE && is_between(value, 0, 59)) {
        d->minute = value;
        return true;
    }
    if (is_next_of_time(d, value)) {
        end_time(d, value);
        return next->kind == END || next->kind == SPACE || is_sign(next) ||
               (next->kind == WORD && next->word == ZONE && next->value == 0);
    }
    if (!add_day(d, value))
        return false;
    (void)skip(d, '-');
    return true;
}

static bool take_word(date *d, const token *t)
{
    if (t->word == HALF_DAY && d->time_count > 0) {
        d->half = t->value;
    } else if (t->word == MONTH) {
        d->month = t->value;
        (void)skip(d, '-');
    } else if (t->word == ZONE && d->has_number) {
        set_zone(d, t->value);
    } else {
        return !d->has_number && d->next.kind != NUMBER;
    }
    return true;
}

static bool take_offset(date *d, char sign)
{
    token t = {.kind = NUMBER};

    d->sign = sign == '-' ? -1 : 1;
    d->has_number = true;
    if (d->next.kind == NUMBER)
        t = take(d);
    d->hour = t.value;
    if (is_symbol(&d->next, ':')) {
        d->minute = NONE;
        return true;
    }
    d->minute = 0;
    if (t.len > 2) {
        d->hour = t.value / 100;
        d->minute = t.value % 100;
    }
    return is_between(t.len, 1, 4);
}

static bool take_one(date *d, const token *t)
{
    bool is_utc = d->hour == 0 && d->minute == 0;

    if (t->kind == NUMBER)
        return take_number(d, t->value);
    if (t->kind == WORD)
        return take_word(d, t);
    if (is_sign(t) && (is_utc || d->time_count > 0))
        return take_offset(d, (char)t->value);
    return !((is_sign(t) || is_symbol(t, ')')) && d->has_number);
}

/* ---- the value --------------------------------------------------------------------------- */

/* Decides which number is which; a missing one is 1. */
static bool choose_day(const date *d, int *year, int *month, int *day)
{
    int n[3] = {1, 1, 1};

    if (d->day_count < 1)
        return false;
    memcpy(n, d->day, (size_t)d->day_count * sizeof *n);
    if (d->month != NONE) {
        bool is_day_first = is_between(n[0], 1, 31);

        *month = d->month;
        *day = is_day_first ? n[0] : n[1];
        *year = is_day_first ? n[1] : n[0];
    } else if (d->is_iso || !is_between(n[0], 1, 31)) {
        *year = n[0];
        *month = n[1];
        *day = n[2];
    } else {
        *month = n[0];
        *day = n[1];
        *year = n[2];
    }
    if (!d->is_iso && is_between(*year, 0, 99))
        *year += *year < 50 ? 2000 : 1900;
    return is_between(*month, 1, 12) && is_between(*day, 1, 31);
}

/* Days from 1970 to a day, which may be past the end of the month. */
static double days_to(int year, int month, int day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return (double)(era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
                    719468);
}

static bool check_time(date *d)
{
    const int *t = d->time;

    if (d->half != NONE) {
        if (!is_between(t[0], 0, 12))
            return false;
        d->time[0] = t[0] % 12 + d->half;
    }
    if (t[0] == 24)
        return t[1] == 0 && t[2] == 0 && t[3] == 0;
    return is_between(t[0], 0, 23) && is_between(t[1], 0, 59) &&
           is_between(t[2], 0, 59) && is_between(t[3], 0, 999);
}

static double value_of(date *d, bool *ret_is_local)
{
    int year, month, day;
    double ms;

    if (!choose_day(d, &year, &month, &day) || !check_time(d))
        return NAN;
    ms = days_to(year, month, day) * MS_A_DAY + d->time[0] * 3600000.0 +
         d->time[1] * 60000.0 + d->time[2] * 1000.0 + d->time[3];
    *ret_is_local = d->sign == NONE;
    if (d->sign != NONE)
        ms -= d->sign * ((d->hour == NONE ? 0 : d->hour) * 3600000.0 +
                         (d->minute == NONE ? 0 : d->minute) * 60000.0);
    return fabs(ms) <= TIME_MAX ? ms : NAN;
}

/* text ends in NUL; its white space is ASCII only. */
static double parse(const char *text, bool *ret_is_local)
{
    date d = {.at = text,
              .month = NONE,
              .half = NONE,
              .sign = NONE,
              .hour = NONE,
              .minute = NONE};
    token t;

    d.next = scan(&d);
    if (!read_iso_date(&d, &t))
        return NAN;
    d.has_number = d.day_count > 0;
    for (; t.kind != END; t = take(&d))
        if (!take_one(&d, &t))
            return NAN;
    return value_of(&d, ret_is_local);
}

/* The length of a space beyond ASCII at text, which is UTF-8; 0: none. */
static size_t space_len(const uint8_t *text, size_t len)
{
    static const char *const spaces[] = {"\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\xAF",
                                         "\xE2\x81\x9F", "\xE3\x80\x80", "\xEF\xBB\xBF",
                                         "\xE2\x80\xA8", "\xE2\x80\xA9"};

    for (size_t i = 0; i < GBX_COUNTOF(spaces); i++)
        if (len >= strlen(spaces[i]) && memcmp(text, spaces[i], strlen(spaces[i])) == 0)
            return strlen(spaces[i]);
    return len >= 3 && memcmp(text, "\xE2\x80", 2) == 0 && text[2] >= 0x80 &&
                   text[2] <= 0x8A
               ? 3
               : 0;
}

/* False if it does not fit, or has a NUL. */
static bool copy_text(const uint8_t *text, size_t len, char to[static TEXT_MAX + 1])
{
    size_t used = 0;

    for (size_t i = 0; i < len; used++) {
        size_t space = text[i] >= 0x80 ? space_len(text + i, len - i) : 0;

        if (used == TEXT_MAX || text[i] == 0)
            return false;
        to[used] = space > 0 ? ' ' : (char)text[i];
        i += space > 0 ? space : 1;
    }
    to[used] = 0;
    return true;
}

/* ---- public to other files of this folder, and to the engine ----------------- */

__attribute__((visibility("default"))) double gbx_parse_date(const uint8_t *text,
                                                             size_t len,
                                                             bool *ret_is_local)
{
    char copy[TEXT_MAX + 1];
    double value = NAN;

    if (copy_text(text, len, copy))
        value = parse(copy, ret_is_local);
    if (isnan(value) && engines != NULL)
        value = engines(text, len, ret_is_local);
    return value;
}

void gbx_dates_learn(void)
{
    void *found = dlsym(RTLD_NEXT, ENGINES_NAME);

    memcpy(&engines, &found, sizeof found);
}
