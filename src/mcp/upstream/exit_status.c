/* SPDX-License-Identifier: MIT */
/* exit_status - see internal.h. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define LAST_LINES 5

/* What may help if a command is not found. */
static const char *hint_of(const gbx_exit_status *e)
{
    if (e->no_command != ENOENT)
        return "";
    if (strchr(e->command, ' ') != NULL)
        return ": \"command\" is the program alone, and its arguments are \"args\"";
    return strchr(e->command, '/') == NULL
               ? ": it is not in PATH; a program beside the configuration is \"./NAME\""
               : "";
}

static void print_cause(const gbx_exit_status *e, char *text, size_t size)
{
    if (e->no_directory != 0)
        (void)snprintf(text, size, "its directory '%s' cannot be entered: %s",
                       e->directory, strerror(e->no_directory));
    else if (e->no_command != 0)
        (void)snprintf(text, size, "its command '%s' cannot be executed: %s%s",
                       e->command, strerror(e->no_command), hint_of(e));
    else if (e->was_stopped && e->output_closed)
        (void)snprintf(text, size, "it closed its output and went on running");
    else if (e->has_status && WIFSIGNALED(e->status))
        (void)snprintf(text, size, "it was killed by signal %d (%s)",
                       WTERMSIG(e->status), strsignal(WTERMSIG(e->status)));
    else if (e->has_status)
        (void)snprintf(text, size, "it ended with status %d", WEXITSTATUS(e->status));
    else if (e->output_closed)
        (void)snprintf(text, size, "it closed its output");
    else
        (void)snprintf(text, size, "it ended");
}

/* Whole characters only. */
static size_t fit(const uint8_t *data, size_t len, size_t room)
{
    size_t n = 0;

    while (n < len) {
        size_t step = gbx_utf8_sequence(data + n, len - n);

        if (step == 0 || n + step > room)
            break;
        n += step;
    }
    return n;
}

/* ---- public to other modules -------------------------------------------- */

gbx_stop_step gbx_stop_harder(gbx_stop_step step)
{
    return step < GBX_STOP_KEEPER ? (gbx_stop_step)(step + 1) : GBX_STOP_KEEPER;
}

bool gbx_exit_status_is_lasting(const gbx_exit_status *ending)
{
    static const int lasting[] = {ENOENT, EACCES, ENOTDIR, ENOEXEC};
    int error = ending->no_directory != 0 ? ending->no_directory : ending->no_command;

    for (size_t i = 0; i < GBX_COUNTOF(lasting); i++)
        if (error == lasting[i])
            return true;
    return false;
}

void gbx_exit_status_name(gbx_exit_status *ending, const char *command,
                          const char *directory)
{
    (void)snprintf(ending->command, sizeof ending->command, "%s", command);
    (void)snprintf(ending->directory, sizeof ending->directory, "%s",
                   directory != NULL ? directory : "");
}

void gbx_exit_status_note(gbx_exit_status *ending, const gbx_keeper_report *report)
{
    if (report->said == GBX_KEEPER_CONTAINED)
        ending->containment = (gbx_containment)report->value;
    else if (report->said == GBX_KEEPER_NO_DIRECTORY)
        ending->no_directory = report->value;
    else if (report->said == GBX_KEEPER_NO_COMMAND)
        ending->no_command = report->value;
    else if (report->said == GBX_KEEPER_ENDED) {
        ending->has_status = true;
        ending->status = report->value;
    }
}

void gbx_exit_status_add_words(const gbx_stderr_tail *errors, const gbx_policy *secrets,
                               char *text, size_t size)
{
    size_t len = strlen(text);
    gbx_buf words;
    size_t n;

    gbx_buf_init(&words, (size_t)GBX_TAIL_BYTES * 12);
    (void)gbx_buf_puts(&words, "; its last words: ");
    n = words.len;
    if (gbx_stderr_tail_print(errors, secrets, LAST_LINES, &words) && words.len > n) {
        n = fit(words.data, words.len, size - 1 - len);
        memcpy(text + len, words.data, n);
        text[len + n] = 0;
    }
    gbx_buf_cleanup(&words);
}

void gbx_exit_status_print(const gbx_exit_status *ending, const gbx_stderr_tail *errors,
                           const gbx_policy *secrets, char *text, size_t size)
{
    print_cause(ending, text, size);
    gbx_exit_status_add_words(errors, secrets, text, size);
}
