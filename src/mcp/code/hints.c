/* SPDX-License-Identifier: MIT */
/*
 * hints - advice for a model on what to write instead. It can change its code but not
 * the settings or the policy, and its script reaches only the servers and the data.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "syntax/hint_table.h"
#include "syntax/tree.h"

#include <stdlib.h>
#include <string.h>

/* The globals that exist only in code mode. */
#define OURS "servers glovebox discover artifact show progress ToolError"

/* True if the text uses one of the words (separated by single spaces) as a name. */
static bool has_one_of(const char *words, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t start = i;

        while (i < len && gbx_text_is_name((unsigned char)text[i]))
            i++;
        if (i > start && gbx_text_is_listed(words, text + start, i - start))
            return true;
        i += i == start;
    }
    return false;
}

const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len)
{
    bool is_module =
        strncmp(message, "'import", 7) == 0 || strncmp(message, "'require", 8) == 0;

    if (is_module && has_one_of(OURS, line, line_len))
        return "servers, discover, artifact, progress, sleep and input are there "
               "already: leave this line out";
    return gbx_hint_for_code(hint, true);
}

/* ---- names of servers and tools -------------------------------------------------- */

#define UNKNOWN "Can't find variable: "

char *gbx_code_name_meant(const gbx_code_run *run, const char *message,
                          const char *hint)
{
    const char *unknown = strstr(message, UNKNOWN);
    const char *name = unknown != NULL ? unknown + strlen(UNKNOWN) : "";
    GBX_CLEANUP(gbx_free)
    char *word = gbx_need(strndup(name, gbx_text_name_length(name)));
    const char *server = word[0] != 0 ? gbx_code_meant_server(run->code, word) : NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = GBX_KIB(8)};

    if (server != NULL)
        return gbx_printed(server[gbx_text_name_length(server)] == 0
                               ? "did you mean servers.%s?"
                               : "did you mean servers[\"%s\"]?",
                           server);
    if (strcmp(hint, gbx_hint_row_of(GBX_HINT_TOOLS)->hint) == 0) {
        (void)gbx_buf_printf(&to, "%s (", hint);
        gbx_code_put_servers(run->code, &to);
        (void)gbx_buf_puts(&to, ")");
    } else if (strcmp(hint, gbx_hint_row_of(GBX_HINT_UNKNOWN_CALL)->hint) == 0 &&
               strlen(word) <= GBX_TOOL_NAME_MAX) {
        /* get_user, tracker__get_user or mcp__tracker__get_user, as in other hosts */
        gbx_code_put_call(run->code, word, false, &to);
    }
    return to.len > 0 ? gbx_buf_take_string(&to, NULL) : NULL;
}
