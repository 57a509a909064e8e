/* SPDX-License-Identifier: MIT */
/*
 * slips - names of members that are nearly ours.
 *
 * A member that is not known is the hosts', and passed over. One that was misspelt would
 * be too: rules that look as if they held, a server that is not switched off.
 */
#include "mcp/config/parts.h"

#include "base/nearest.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#define WORDS_MAX 16
#define LOOSE_MIN 6 /* shorter names are near to too much */

/* "MCP-Servers" is "mcpservers". A longer name is cut, to what is near to nothing. */
static void plain_of(const char *name, char ret[GBX_NEAREST_WORD_MAX + 2])
{
    size_t len = 0;

    for (; *name != '\0' && len <= GBX_NEAREST_WORD_MAX; name++)
        if (strchr("_- ", *name) == NULL)
            ret[len++] = (char)tolower((unsigned char)*name);
    ret[len] = '\0';
}

/* ---- for the other parts ---------------------------------------------------- */

const char *gbx_mcp_slip_of(const char *name, const char *const *words, size_t count,
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
    nearest = strlen(plain) >= LOOSE_MIN ? gbx_nearest(plain, list, loose) : NULL;
    for (size_t i = 0; nearest != NULL && i < loose; i++)
        if (list[i] == nearest)
            return words[i];
    return NULL;
}
