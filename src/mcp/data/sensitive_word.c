/* SPDX-License-Identifier: MIT */
/* sensitive_word - see sensitive_word.h. */
#include "mcp/data/sensitive_word.h"

#include "base/cleanup.h"

#include <ctype.h>
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

/* Does it stand at w->joined[at] where words begin, or at the end of one? A number that is
 * named in the plural is how many there are. */
static bool is_part_at(const gbx_words *w, size_t at, size_t len, bool is_number)
{
    size_t start = 0, end = 0, i = 0;
    bool is_plural, is_first;

    while (end <= at) {
        start = end;
        end += strlen(w->list[i++]);
    }
    is_first = at == start;
    if (!is_first && (at + len > end || is_device(w->joined + start)))
        return false;
    while (end < at + len)
        end += strlen(w->list[i++]);
    is_plural = at + len + 1 == end && w->joined[at + len] == 's';
    return is_plural ? !is_number : is_first || at + len == end;
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
        if (strcmp(w->list[i], word) == 0)
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
    for (size_t i = 0; i < count; i++)
        for (const char *at = w->joined; (at = strstr(at, parts[i])) != NULL; at++)
            if (is_part_at(w, (size_t)(at - w->joined), strlen(parts[i]), is_number))
                return true;
    return false;
}
