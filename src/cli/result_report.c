/* SPDX-License-Identifier: MIT */
/* result_report - all output here may contain text of the sandboxed code: it goes through
 * gbx_term_foreign() or gbx_term_print(), or is a constant. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX GBX_KIB(64)

static void print_hint(const gbx_term *term, const char *hint)
{
    if (hint == NULL || *hint == '\0')
        return;
    gbx_term_paint(term, GBX_PAINT_CYAN, "  hint: ");
    gbx_term_print(term, "%s\n", hint);
}

static bool set(gbx_trouble *trouble, int exit, const char *name)
{
    trouble->exit = exit;
    trouble->code = NULL;
    trouble->name = name;
    return false;
}

bool gbx_trouble_host(gbx_trouble *trouble, gbx_status status)
{
    if (status == GBX_OK)
        return true;
    if (status == GBX_E_UNSUPPORTED)
        trouble->hint = "'glovebox doctor' names every layer and what would bring it";
    return set(trouble, gbx_status_exit(status), gbx_status_name(status));
}

bool gbx_trouble_input(gbx_trouble *trouble, gbx_status status)
{
    return status == GBX_E_OS ? set(trouble, GBX_CLI_EXIT_NO_INPUT, "NO_INPUT")
                              : gbx_trouble_host(trouble, status);
}

bool gbx_trouble_output(gbx_trouble *trouble, gbx_status status)
{
    return status == GBX_OK || set(trouble, GBX_CLI_EXIT_NO_OUTPUT, "NO_OUTPUT");
}

bool gbx_trouble_code(gbx_trouble *trouble, gbx_code code, const char *file)
{
    trouble->exit = gbx_code_exit(code);
    trouble->code = gbx_code_name(code);
    trouble->file = file;
    return false;
}

void gbx_trouble_print(const gbx_term *term, const gbx_trouble *trouble)
{
    const gbx_error *err = &trouble->err;
    char message[PATH_MAX + GBX_ERROR_MESSAGE_SIZE + 32];

    if (trouble->file != NULL && err->line != 0)
        (void)snprintf(message, sizeof message, "%s:%u:%u: %s", trouble->file,
                       err->line, err->column, err->message);
    else if (err->line != 0)
        (void)snprintf(message, sizeof message, "%s at line %u, column %u",
                       err->message, err->line, err->column);
    else
        (void)snprintf(message, sizeof message, "%s", err->message);
    gbx_term_headline(term, trouble->code, message);
    if (err->os_errno != 0 && trouble->exit != GBX_CLI_EXIT_NO_INPUT &&
        strstr(message, strerror(err->os_errno)) == NULL)
        (void)fprintf(term->stream, ": %s", strerror(err->os_errno));
    (void)fputc('\n', term->stream);
    print_hint(term, trouble->hint);
}

void gbx_trouble_print_json(const gbx_term *term, const gbx_trouble *trouble)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = JSON_MAX};
    const gbx_error *err = &trouble->err;

    (void)gbx_buf_puts(&buf, "{\"ok\":false");
    gbx_json_put_text(&buf, "code", trouble->code);
    gbx_json_put_text(&buf, "status", trouble->code == NULL ? trouble->name : NULL);
    gbx_json_put_text(&buf, "error", err->message);
    gbx_json_put_text(&buf, "file", trouble->file);
    if (err->line != 0)
        (void)gbx_buf_printf(&buf, ",\"location\":{\"line\":%u,\"column\":%u}",
                             err->line, err->column);
    (void)gbx_buf_puts(&buf, "}");
    gbx_term_json_line(term, &buf);
}

int gbx_trouble_report(const gbx_trouble *trouble, bool json, int color)
{
    const gbx_term term = gbx_term_open(json ? stdout : stderr, (gbx_color)color);

    if (json)
        gbx_trouble_print_json(&term, trouble);
    else
        gbx_trouble_print(&term, trouble);
    return trouble->exit;
}

void gbx_log_print(void *user, const gbx_log *log)
{
    const gbx_term *term = user;
    static const struct {
        const char *name;
        gbx_paint paint;
    } levels[] = {
        [GBX_LOG_DEBUG] = {"debug", GBX_PAINT_DIM},
        [GBX_LOG_LOG] = {"log", GBX_PAINT_DIM},
        [GBX_LOG_INFO] = {"info", GBX_PAINT_CYAN},
        [GBX_LOG_WARN] = {"warn", GBX_PAINT_YELLOW},
        [GBX_LOG_ERROR] = {"error", GBX_PAINT_RED},
    };
    size_t level = (size_t)log->level < GBX_COUNTOF(levels) ? log->level : GBX_LOG_LOG;

    gbx_term_paint(term, levels[level].paint, "[%s] ", levels[level].name);
    /* Newlines within a console line are kept, but what follows is indented, so that no
     * text can look like a separate line. */
    for (size_t at = 0; at <= log->text_len;) {
        const char *newline = memchr(log->text + at, '\n', log->text_len - at);
        size_t end = newline != NULL ? (size_t)(newline - log->text) : log->text_len;

        if (at > 0)
            (void)fputs("    ", term->stream);
        gbx_term_foreign(term, log->text + at, end - at, GBX_ESCAPE_TEXT);
        (void)fputc('\n', term->stream);
        at = end + 1;
    }
}

int gbx_status_exit(gbx_status status)
{
    static const struct {
        gbx_status status;
        int exit;
    } table[] = {
#define XX(name, number, exit, rpc, text) {GBX_##name, exit},
        GBX_STATUS_MAP(XX)
#undef XX
    };

    for (size_t i = 0; i < GBX_COUNTOF(table); i++)
        if (table[i].status == status)
            return table[i].exit;
    return 70; /* the library is newer than this program */
}

int gbx_result_print(const gbx_term *out, const gbx_term *err, gbx_result *result,
                     bool json, bool logs_shown)
{
    gbx_code code = gbx_result_code(result);
    size_t logs = gbx_result_log_count(result);
    size_t len = 0;

    if (json) {
        const char *text = gbx_need((void *)(uintptr_t)gbx_result_json(result, &len));

        gbx_term_json(out, text, len);
        (void)fputc('\n', out->stream);
    } else if (code == GBX_CODE_VALUE) {
        const char *value = gbx_result_value(result, &len);

        gbx_term_json(out, value, len);
        if (len > 0)
            (void)fputc('\n', out->stream);
        else /* it has no JSON */
            (void)fputs("  note: the function returned undefined\n", err->stream);
        print_hint(err, gbx_result_hint(result));
    } else {
        gbx_location at = gbx_result_location(result);

        gbx_term_headline(err, gbx_code_name(code), gbx_result_error(result));
        if (at.line != 0)
            (void)fprintf(err->stream, " at line %u, column %u", at.line, at.column);
        (void)fputc('\n', err->stream);
        gbx_term_block(err, at.frame, 2);
        print_hint(err, gbx_result_hint(result));
        if (!logs_shown && logs > 0)
            (void)fprintf(err->stream, "  note: %zu console line%s: --logs shows %s\n",
                          logs, logs == 1 ? "" : "s", logs == 1 ? "it" : "them");
    }
    return gbx_code_exit(code);
}
