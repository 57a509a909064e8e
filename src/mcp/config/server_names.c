/* SPDX-License-Identifier: MIT */
/* server_names - what a server may be called: rules, code and messages say it without quotes. */
#include "mcp/config/config.h"

#include <string.h>

static bool is_letter(char c)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_.-";

    return c != '\0' && strchr(letters, c) != NULL;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_mcp_is_name(const char *name)
{
    size_t len = 0;

    while (is_letter(name[len]))
        len++;
    return len > 0 && len <= GBX_MCP_NAME_MAX && name[len] == '\0';
}

void gbx_mcp_clean_name(const char *name, char out[GBX_MCP_NAME_MAX + 1])
{
    size_t len = 0;

    for (; *name != '\0' && len < GBX_MCP_NAME_MAX; name++)
        if (is_letter(*name))
            out[len++] = *name;
        else if (len > 0 && out[len - 1] != '-')
            out[len++] = '-';
    out[len] = '\0';
    if (len == 0)
        memcpy(out, "server", sizeof "server");
}
