/* SPDX-License-Identifier: MIT */
/*
 * typo_check - finds misspelt names of our members.
 *
 * Unknown members belong to hosts and are skipped. A misspelt one would be skipped,
 * too: rules would have no effect, or a server would stay enabled.
 */
#include "mcp/config/config_reader.h"

#include "base/edit_distance.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#define WORDS_MAX 20
#define LOOSE_MIN \
    6 /* shorter names are matched only if one letter is missing or extra */

/* "MCP-Servers" becomes "mcpservers". A longer name is cut, and then
 * resembles no word. */
static void plain_of(const char *name, char ret[GBX_NEAREST_WORD_MAX + 2])
{
    size_t len = 0;

    for (; *name != '\0' && len <= GBX_NEAREST_WORD_MAX; name++)
        if (strchr("_- ", *name) == NULL)
            ret[len++] = (char)tolower((unsigned char)*name);
    ret[len] = '\0';
}

static bool has_one_letter_more(const char *longer, const char *shorter)
{
    while (*shorter != '\0' && *longer == *shorter) {
        longer++;
        shorter++;
    }
    return *longer != '\0' && strcmp(longer + 1, shorter) == 0;
}

static const char *nearest_of(const char *plain, const char *const *list, size_t count)
{
    if (strlen(plain) >= LOOSE_MIN)
        return gbx_nearest(plain, list, count);
    for (size_t i = 0; i < count; i++)
        if (has_one_letter_more(plain, list[i]) || has_one_letter_more(list[i], plain))
            return list[i];
    return NULL;
}

const char *gbx_mcp_typo_of(const char *name, const char *const *words, size_t count,
                            size_t loose)
{
    char plain[GBX_NEAREST_WORD_MAX + 2];
    char own[WORDS_MAX][GBX_NEAREST_WORD_MAX + 2];
    const char *list[WORDS_MAX];
    const char *nearest;

    assert(count <= WORDS_MAX && loose <= count);
    plain_of(name, plain);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, words[i]) == 0)
            return NULL;
        plain_of(words[i], own[i]);
        list[i] = own[i];
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(plain, own[i]) == 0)
            return words[i];
    nearest = nearest_of(plain, list, loose);
    for (size_t i = 0; nearest != NULL && i < loose; i++)
        if (list[i] == nearest)
            return words[i];
    return NULL;
}
