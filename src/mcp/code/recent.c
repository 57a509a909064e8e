/* SPDX-License-Identifier: MIT */
/* recent - a lookup compares sixteen lengths, and text only where the length
 * matches. */
#include "mcp/code/code.h"

#include <stdlib.h>
#include <string.h>

static bool copy(const gbx_script *from, gbx_script *ret)
{
    char *code = malloc(from->code_len + 1);

    if (code == NULL)
        return false;
    memcpy(code, from->code, from->code_len + 1);
    *ret = *from;
    ret->code = code;
    return true;
}

static const gbx_script *find(const gbx_recent *recent, const char *text, size_t len)
{
    for (size_t i = 0; i < GBX_RECENT_MAX; i++) {
        const struct gbx_recent_script *k = &recent->kept[i];

        if (k->text != NULL && k->len == len && memcmp(k->text, text, len) == 0)
            return &k->script;
    }
    return NULL;
}

static void forget(struct gbx_recent_script *kept)
{
    free(kept->text);
    gbx_script_cleanup(&kept->script);
    *kept = (struct gbx_recent_script){.text = NULL};
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_recent_find(const gbx_recent *recent, const char *text, size_t len,
                     gbx_script *ret)
{
    const gbx_script *known = find(recent, text, len);

    return known != NULL && copy(known, ret);
}

void gbx_recent_keep(gbx_recent *recent, const char *text, size_t len,
                     const gbx_script *script)
{
    struct gbx_recent_script *place = &recent->kept[recent->next];
    char *own;

    if (len == 0 || len > GBX_RECENT_TEXT_MAX || find(recent, text, len) != NULL)
        return;
    own = malloc(len);
    if (own == NULL)
        return;
    forget(place);
    if (!copy(script, &place->script)) {
        free(own);
        return;
    }
    memcpy(own, text, len);
    place->text = own;
    place->len = len;
    recent->next = (recent->next + 1) % GBX_RECENT_MAX;
}

void gbx_recent_cleanup(gbx_recent *recent)
{
    for (size_t i = 0; i < GBX_RECENT_MAX; i++)
        forget(&recent->kept[i]);
}
