/* SPDX-License-Identifier: MIT */
/* shell - see shell.h. */
#include "base/shell.h"

#include <string.h>

bool gbx_shell_append(gbx_buf *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:=@%+,";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0')
        return gbx_buf_printf(to, " %s", word);
    (void)gbx_buf_puts(to, " '");
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'')
            (void)gbx_buf_puts(to, "'\\''");
        else
            (void)gbx_buf_append(to, c, 1);
    return gbx_buf_puts(to, "'");
}
