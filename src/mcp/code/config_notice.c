/* SPDX-License-Identifier: MIT */
/* config_notice - edits of the configuration take effect only at the next start. Tell
 * the user and the model so, once each. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/code/code_mode.h"
#include "mcp/config/config.h"

#include <string.h>
#include <unistd.h>

/* The most that a writable pipe accepts in one write. */
#define LINE_MAX_BYTES 4096

static void put_change(const gbx_mcp_code *code, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "the configuration '");
    (void)gbx_utf8_append_escaped(to, code->config->path, strlen(code->config->path),
                                  GBX_ESCAPE_LINE);
    (void)gbx_buf_puts(to, "' has changed since this server started: restart it to use "
                           "it");
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_code_look_at_file(gbx_mcp_code *code)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line;

    gbx_buf_init(&line, LINE_MAX_BYTES);
    if (code->file_changed || !gbx_config_has_changed(code->config))
        return;
    code->file_changed = true;
    (void)gbx_buf_puts(&line, "glovebox: ");
    put_change(code, &line);
    if (gbx_buf_puts(&line, "\n"))
        (void)gbx_fd_offer(STDERR_FILENO, line.data, line.len, 0);
}

void gbx_code_say_changed(gbx_mcp_code *code, gbx_mcp_request *request,
                          const gbx_buf *text, bool is_error)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf both;

    gbx_code_look_at_file(code);
    gbx_buf_init(&both, text->len + GBX_KIB(64));
    if (code->file_changed && !code->change_told) {
        (void)gbx_buf_puts(&both, "[");
        put_change(code, &both);
        (void)gbx_buf_puts(&both, "]\n");
        code->change_told = gbx_buf_append(&both, text->data, text->len);
    }
    gbx_code_say(code, request, both.len > 0 && !both.failed ? &both : text, is_error);
}
