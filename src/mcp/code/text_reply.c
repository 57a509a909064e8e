/* SPDX-License-Identifier: MIT */
/* text_reply - replies that consist of text alone. */
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/code/code.h"
#include "mcp/code/code_mode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The text, and a link to the whole text. */
static void write_blocks(const gbx_buf *shown, const gbx_excerpt *cut, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "[{\"type\":\"text\",\"text\":");
    (void)gbx_json_append_shown(to, shown->data, shown->len);
    (void)gbx_buf_puts(to, "}");
    gbx_reply_link(to, cut->uri, "reply", "text/plain", cut->total);
    (void)gbx_buf_puts(to, "]");
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_code_say(gbx_mcp_code *code, gbx_mcp_request *request, const gbx_buf *text,
                  bool is_error)
{
    size_t cap = (size_t)code->settings->reply_bytes;
    gbx_excerpt cut =
        gbx_excerpt_text((char *)text->data, text->len, cap, code->artifacts, "reply",
                         "text/plain", gbx_clock_now_ns());
    gbx_mcp_result result = {.is_error = is_error};
    gbx_buf shown;
    gbx_buf blocks;

    gbx_buf_init(&shown, GBX_CUT_SHOWN_MAX * cap + 1024);
    gbx_buf_init(&blocks, GBX_CUT_JSON_MAX * cap + 16384);
    gbx_excerpt_say(&cut, "reply", cap, &shown);
    gbx_excerpt_append(&cut, GBX_ESCAPE_TEXT, &shown);
    if (shown.failed ||
        (is_error && shown.len == 0)) { /* memory was out for the text */
        gbx_mcp_fail(request, GBX_MCP_INTERNAL_ERROR, "memory is out");
        gbx_buf_cleanup(&shown);
        return;
    }
    result.text = shown.data != NULL ? (char *)shown.data : "";
    result.text_len = shown.len;
    if (cut.uri[0] != 0 && gbx_mcp_takes_links(request)) {
        write_blocks(&shown, &cut, &blocks);
        result.content = blocks.failed ? NULL : (char *)blocks.data;
        result.content_len = blocks.len;
    }
    gbx_mcp_finish(request, &result);
    gbx_buf_cleanup(&shown);
    gbx_buf_cleanup(&blocks);
}

void gbx_code_say_wrong(gbx_mcp_code *code, gbx_mcp_request *request,
                        const char *format, ...)
{
    char text[1024];
    gbx_buf buf = {.data = (uint8_t *)text};
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf.len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    gbx_code_say(code, request, &buf, true);
}

void gbx_code_say_progress(gbx_mcp_request *request, const char *server,
                           const char *tool, const char *message, size_t len)
{
    gbx_buf line;

    gbx_buf_init(&line, GBX_KIB(8) + (size_t)GBX_CODE_PROGRESS_MAX * 6);
    (void)gbx_buf_printf(&line, "%s.", server);
    (void)gbx_utf8_append_escaped(&line, tool, strlen(tool), GBX_ESCAPE_LINE);
    (void)gbx_buf_puts(&line, ": ");
    (void)gbx_utf8_append_escaped(&line, message,
                                  gbx_artifacts_border(message, len,
                                                       GBX_CODE_PROGRESS_MAX),
                                  GBX_ESCAPE_LINE);
    if (!line.failed)
        gbx_mcp_progress(request, -1, (char *)line.data, line.len);
    gbx_buf_cleanup(&line);
}
