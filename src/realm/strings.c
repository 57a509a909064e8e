/* SPDX-License-Identifier: MIT */
/*
 * strings - the characters of a string without a copy.
 *
 * The engine keeps most text as one byte a character and widens all of it when the API
 * is asked for its characters: for 10 MB of text 20 MB and 4 ms. Their position is
 * learned from samples at the start, as in cell.c; if it cannot be learned, text goes
 * through the API.
 */
#include "realm/internal.h"

#include <string.h>

/* The API's string has a pointer to the engine's, ... */
#define IMPL 8
/* ... which has its length, a pointer to its characters, and flags. */
#define LENGTH     4
#define CHARACTERS 8
#define FLAGS      16

static const uint8_t *impl_of(JSStringRef text)
{
    const uint8_t *impl;

    memcpy(&impl, (const uint8_t *)text + IMPL, sizeof impl);
    return impl;
}

static uint32_t word_at(const uint8_t *impl, size_t at)
{
    uint32_t word;

    memcpy(&word, impl + at, sizeof word);
    return word;
}

static const uint8_t *characters_of(const uint8_t *impl)
{
    const uint8_t *at;

    memcpy(&at, impl + CHARACTERS, sizeof at);
    return at;
}

/* A sample's flags; false if its layout is unexpected. */
static bool look(const JSChar *units, size_t count, bool is_narrow, uint32_t *ret_flags)
{
    JSStringRef wide = JSStringCreateWithCharacters(units, count);
    char text[64];
    JSStringRef made;
    const uint8_t *impl;
    bool ok;

    (void)JSStringGetUTF8CString(wide, text, sizeof text);
    JSStringRelease(wide);
    made = JSStringCreateWithUTF8CString(text);
    impl = impl_of(made);
    ok = word_at(impl, LENGTH) == count &&
         memcmp(characters_of(impl),
                is_narrow ? (const void *)text : (const void *)units,
                is_narrow ? count : count * sizeof *units) == 0;
    *ret_flags = word_at(impl, FLAGS);
    JSStringRelease(made);
    return ok;
}

/* ---- public to other files of this folder ----------------------------------- */

void gbx_strings_learn(gbx_strings *ret)
{
    static const JSChar samples[][8] = {
        {'o', 'n', 'e', ' ', 'b', 'y', 't', 'e'},
        {'a', 'n', 'o', 't', 'h', 'e', 'r', '!'},
        {'t', 'w', 'o', 0x20AC, 'b', 'y', 't', 'e'},
        {0x4E00, 0x4E8C, 0x4E09, 0x56DB, 0x4E94, 0x516D, 0x4E03, 0x516B},
    };
    uint32_t narrow = UINT32_MAX, wide = 0;

    ret->known = false;
    for (size_t i = 0; i < GBX_COUNTOF(samples); i++) {
        uint32_t flags;

        if (!look(samples[i], 6 + i % 3, i < 2, &flags))
            return;
        if (i < 2)
            narrow &= flags;
        else
            wide |= flags;
    }
    /* Some higher bits belong to a hash; the lower ones are the kind of the string. */
    ret->narrow_bit = narrow & ~wide & 0xFF;
    ret->known = ret->narrow_bit != 0 && (ret->narrow_bit & (ret->narrow_bit - 1)) == 0;
}

const uint8_t *gbx_string_narrow(const gbx_strings *strings, JSStringRef text)
{
    const uint8_t *impl = strings->known ? impl_of(text) : NULL;

    if (impl == NULL || (word_at(impl, FLAGS) & strings->narrow_bit) == 0)
        return NULL;
    return characters_of(impl);
}
