/* SPDX-License-Identifier: MIT */
/* recent - sixteen comparisons of lengths, and one of the whole text, find it. */
#include "mcp/code/recent.h"

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

/* Without memory for it, it is parsed again the next time. */
static void keep(gbx_recent *recent, const char *text, size_t len,
                 const gbx_script *script)
{
    struct gbx_recent_script *place = &recent->kept[recent->next];
    char *own = malloc(len);

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

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_recent_make(gbx_recent *recent, const char *text, size_t len,
                           const char *arguments, gbx_script *ret, gbx_error *reterr)
{
    const gbx_script *known = find(recent, text, len);
    gbx_status status;

    if (known != NULL && copy(known, ret))
        return GBX_OK;
    status = gbx_script_make(text, len, arguments, ret, reterr);
    if (status == GBX_OK && known == NULL && len > 0 && len <= GBX_RECENT_TEXT_MAX)
        keep(recent, text, len, ret);
    return status;
}

void gbx_recent_cleanup(gbx_recent *recent)
{
    for (size_t i = 0; i < GBX_RECENT_MAX; i++)
        forget(&recent->kept[i]);
}
