/* SPDX-License-Identifier: MIT */
/* sensitive_word - see sensitive_word.h. */
#include "mcp/data/sensitive_word.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + ('a' - 'A'));
    return c;
}

/* Nr, Kontonr: Nummer, Kontonummer. */
static void spell_number(char *word, size_t *len)
{
    static const char full[] = "ummer";

    if (*len < 2 || memcmp(word + *len - 2, "nr", 2) != 0 ||
        *len - 1 + strlen(full) >= GBX_WORD_SIZE)
        return;
    memcpy(word + *len - 1, full, strlen(full));
    *len += strlen(full) - 1;
}

static void add_letter(gbx_words *w, char letter)
{
    char *word = w->list[w->count - 1];
    size_t len = strlen(word);

    if (len + 1 == GBX_WORD_SIZE)
        return;
    word[len] = w->joined[w->joined_len++] = letter;
    word[len + 1] = w->joined[w->joined_len] = 0;
    w->ends[w->count - 1] = w->joined_len;
}

/* Of address2 that is address. */
static void end_word(gbx_words *w, char *word, size_t *len)
{
    size_t plain = *len;
    bool is_letter = *len == 1 && isalpha((unsigned char)word[0]);

    while (plain > 0 && isdigit((unsigned char)word[plain - 1]))
        plain--;
    *len = plain > 0 ? plain : *len;
    spell_number(word, len);
    if (*len > 0 && is_letter && w->is_spelled) {
        add_letter(w, word[0]);
    } else if (*len > 0 && w->count < GBX_WORDS_MAX) {
        word[*len] = 0;
        memcpy(w->list[w->count++], word, *len + 1);
        memcpy(w->joined + w->joined_len, word, *len + 1);
        w->joined_len += *len;
        w->ends[w->count - 1] = w->joined_len;
        w->is_spelled = is_letter;
    }
    *len = 0;
}

/* What is behind 0xc3 in UTF-8, without its accent; a blank for what is no letter. */
static char plain_letter(unsigned char second)
{
    static const char letters[] = "AAAAAAACEEEEIIIIDNOOOOO OUUUUYTs"
                                  "aaaaaaaceeeeiiiidnooooo ouuuuyty";

    return second >= 0x80 && second <= 0xbf ? letters[second - 0x80] : ' ';
}

/* Things that end as a phone does. */
static bool is_device(const char *word)
{
    static const char *const devices[] = {
        "headphone", "earphone", "microphone", "megaphone", "smartphone", "saxophone",
    };

    for (size_t i = 0; i < GBX_COUNTOF(devices); i++)
        if (strncmp(word, devices[i], strlen(devices[i])) == 0)
            return true;
    return false;
}

/* At the beginning of that word, perhaps into others. A number that is named in the plural
 * is how many there are. */
static bool begins_at(const gbx_words *w, size_t word, const char *part, size_t len,
                      bool is_number)
{
    size_t start = word > 0 ? w->ends[word - 1] : 0;

    if (w->joined[start] != part[0] || strncmp(w->joined + start, part, len) != 0)
        return false;
    while (w->ends[word] < start + len)
        word++;
    return !is_number || start + len + 1 != w->ends[word] ||
           w->joined[start + len] != 's';
}

/* Inside of that word, up to its end or to that of its singular. */
static bool ends_at(const gbx_words *w, size_t word, const char *part, size_t len,
                    bool is_number)
{
    size_t start = word > 0 ? w->ends[word - 1] : 0;
    size_t end = w->ends[word];
    bool is_plural = !is_number && w->joined[end - 1] == 's';

    for (int i = 0; i <= is_plural; i++, end--)
        if (end > start + len && w->joined[end - 1] == part[len - 1] &&
            strncmp(w->joined + end - len, part, len) == 0)
            return !is_device(w->joined + start);
    return false;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_words_take(const char *name, size_t len, gbx_words *w)
{
    char word[GBX_WORD_SIZE];
    unsigned char last = 0;
    size_t n = 0;

    *w = (gbx_words){.count = 0};
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        bool is_new;

        if (c == 0xc3 && i + 1 < len)
            c = (unsigned char)plain_letter((unsigned char)name[++i]);
        is_new = islower(last) && isupper(c);
        if (is_new || !isalnum(c))
            end_word(w, word, &n);
        if (isalnum(c) && n < GBX_WORD_SIZE - 1)
            word[n++] = lower((char)c);
        last = c;
    }
    end_word(w, word, &n);
}

bool gbx_words_has(const gbx_words *w, const char *word)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->list[i][0] == word[0] && strcmp(w->list[i], word) == 0)
            return true;
    return false;
}

bool gbx_words_have_any(const gbx_words *w, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (gbx_words_has(w, list[i]))
            return true;
    return false;
}

bool gbx_words_are_any(const gbx_words *w, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(w->joined, list[i]) == 0)
            return true;
    return false;
}

bool gbx_words_have_part(const gbx_words *w, const char *const *parts, size_t count,
                         bool is_number)
{
    bool has[UCHAR_MAX + 1] = {false}; /* most parts begin with what it has not */

    for (size_t i = 0; i < w->joined_len; i++)
        has[(unsigned char)w->joined[i]] = true;
    for (size_t i = 0; i < count; i++) {
        size_t len = has[(unsigned char)parts[i][0]] ? strlen(parts[i]) : SIZE_MAX;

        if (len > w->joined_len)
            continue;
        for (size_t word = 0; word < w->count; word++)
            if (begins_at(w, word, parts[i], len, is_number) ||
                ends_at(w, word, parts[i], len, is_number))
                return true;
    }
    return false;
}
