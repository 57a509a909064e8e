/* SPDX-License-Identifier: MIT */
/* exit_status - why a server has ended, in words, and its last lines on stderr. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* ---- the last lines ---------------------------------------------------------- */

/* Limit of one line, so that others are seen, too. */
#define LINE_BYTES 150

/* True for a stack frame, a lone brace or an empty line: these follow the reason, and
 * would push it out. */
static bool is_idle(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && (text[at] == ' ' || text[at] == '\t'))
        at++;
    if (at > 0 && len - at > 3 && memcmp(text + at, "at ", 3) == 0)
        return true;
    for (; at < len; at++)
        if ((unsigned char)text[at] > ' ' && strchr("{}[](),;^~", text[at]) == NULL)
            return false;
    return true;
}

/* Several lines, since members of an error or a usage text may follow the reason. */
#define LAST_LINES 8

static void print_last(gbx_span text, gbx_buf *to)
{
    gbx_span kept[LAST_LINES];
    size_t count = 0;
    gbx_span line;

    while (gbx_span_line(&text, &line))
        if (!is_idle((const char *)line.data, line.len))
            kept[count++ % LAST_LINES] =
                (gbx_span){line.data, line.len < LINE_BYTES ? line.len : LINE_BYTES};
    for (size_t i = count > LAST_LINES ? count - LAST_LINES : 0, first = i; i < count;
         i++) {
        (void)gbx_buf_puts(to, i > first ? " | " : "");
        (void)gbx_utf8_append_escaped(to, kept[i % LAST_LINES].data,
                                      kept[i % LAST_LINES].len, GBX_ESCAPE_LINE);
    }
}

void gbx_stderr_tail_add(gbx_stderr_tail *tail, const char *data, size_t len)
{
    size_t kept;

    tail->is_cut = tail->is_cut || tail->len + len > sizeof tail->bytes;
    if (len >= sizeof tail->bytes) {
        memcpy(tail->bytes, data + len - sizeof tail->bytes, sizeof tail->bytes);
        tail->len = sizeof tail->bytes;
        return;
    }
    kept = sizeof tail->bytes - len < tail->len ? sizeof tail->bytes - len : tail->len;
    memmove(tail->bytes, tail->bytes + tail->len - kept, kept);
    memcpy(tail->bytes + kept, data, len);
    tail->len = kept + len;
}

bool gbx_stderr_tail_print(const gbx_stderr_tail *tail, const gbx_policy *secrets,
                           gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf clean = {.ceiling = (size_t)GBX_TAIL_BYTES * 8};
    gbx_span text = {(const uint8_t *)tail->bytes, tail->len};
    gbx_span line;

    /* Redact before lines are cut: half a secret would not be found. The first line may
     * begin inside one. */
    if (secrets != NULL && tail->is_cut)
        (void)gbx_span_line(&text, &line);
    if (!gbx_secrets_append_clean(secrets, GBX_SECRET_LINE, text, &clean))
        return false;
    print_last((gbx_span){clean.data, clean.len}, to);
    return !to->failed;
}

/* ---- the reason -------------------------------------------------------------- */

void gbx_exit_status_add_words(const gbx_exit_status *ending, char *text, size_t size)
{
    size_t len = strlen(text);
    gbx_buf words = {.ceiling = (size_t)GBX_TAIL_BYTES * 12};
    size_t n;

    (void)gbx_buf_puts(&words, "; its last words: ");
    n = words.len;
    if (gbx_stderr_tail_print(&ending->errors, ending->secrets, &words) &&
        words.len > n) {
        n = gbx_utf8_cut(words.data, words.len, size - 1 - len);
        memcpy(text + len, words.data, n);
        text[len + n] = 0;
    }
    gbx_buf_cleanup(&words);
}

void gbx_exit_status_print(const gbx_exit_status *ending, char *text, size_t size)
{
    const char *hint = ""; /* why the command was not found */

    if (ending->no_command == ENOENT) {
        if (strchr(ending->config->command, ' ') != NULL)
            hint = ": \"command\" is the program alone, and its arguments are \"args\"";
        else if (strchr(ending->config->command, '/') == NULL)
            hint = ": it is not in PATH; a program beside the configuration is "
                   "\"./NAME\"";
    }
    if (ending->no_directory != 0)
        (void)snprintf(text, size, "its directory '%.255s' cannot be entered: %s",
                       ending->config->cwd, strerror(ending->no_directory));
    else if (ending->no_command != 0)
        (void)snprintf(text, size, "its command '%.255s' cannot be executed: %s%s",
                       ending->config->command, strerror(ending->no_command), hint);
    else if (ending->was_stopped && ending->output_closed)
        (void)snprintf(text, size, "it closed its output and went on running");
    else if (ending->has_status && WIFSIGNALED(ending->status))
        (void)snprintf(text, size, "it was killed by signal %d (%s)",
                       WTERMSIG(ending->status), strsignal(WTERMSIG(ending->status)));
    else if (ending->has_status)
        (void)snprintf(text, size, "it ended with status %d",
                       WEXITSTATUS(ending->status));
    else if (ending->output_closed)
        (void)snprintf(text, size, "it closed its output");
    else
        (void)snprintf(text, size, "it ended");
    gbx_exit_status_add_words(ending, text, size);
}
