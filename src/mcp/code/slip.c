/* SPDX-License-Identifier: MIT */
/*
 * slip - see slip.h. The engine's words for these are true of many other mistakes: a hint
 * is given only where the text leaves no other.
 */
#include "mcp/code/slip.h"

#include "base/cleanup.h"
#include "guard/text.h"
#include "mcp/code/advice.h"
#include "mcp/code/inner.h"

#include <string.h>

#define MISSING   "undefined is not an object (evaluating '"
#define UNKNOWN   "Can't find variable: "
#define NO_OBJECT "is not an object (evaluating '"

#define LEAVE_OUT                                                                      \
    "servers, discover, artifact, progress, sleep and input are there already: leave " \
    "the parameter out"

#define THE_CONTENT                                                                     \
    "a call gives the content itself, without .content or .structuredContent: use the " \
    "value; servers.NAME.tool(args, { raw: true }) has them"

static size_t name_length(const char *text)
{
    size_t n = 0;

    while (gbx_text_is_name((unsigned char)text[n]))
        n++;
    return n;
}

/* What is missing is "servers", or a member of that name: it is there without. */
static bool is_servers_missing(const char *message)
{
    const char *at = strstr(message, NO_OBJECT);
    size_t n;

    if (at == NULL)
        return false;
    at += strlen(NO_OBJECT);
    n = name_length(at);
    if (at[n] == '.' && !(n == strlen("servers") && memcmp(at, "servers", n) == 0)) {
        at += n + 1;
        n = name_length(at);
        return n == strlen("servers") && memcmp(at, "servers", n) == 0 && at[n] == '\'';
    }
    if (n != strlen("servers") || memcmp(at, "servers", n) != 0)
        return false;
    if (at[n] == '.')
        n += 1 + name_length(at + n + 1);
    return at[n] == '\'' || at[n] == '[';
}

/* ({ servers }) => ..., which is given nothing. */
static bool has_our_pattern(const char *line, size_t len)
{
    const char *end = line + len;

    for (const char *at = line; (at = memchr(at, '(', (size_t)(end - at))) != NULL;) {
        const char *close;

        at++;
        while (at < end && *at == ' ')
            at++;
        close = at < end && *at == '{' ? memchr(at, '}', (size_t)(end - at)) : NULL;
        if (close != NULL && gbx_code_names_ours(at, (size_t)(close - at)))
            return true;
    }
    return false;
}

/* r.content[0], content[0] or (await f()).content, without more before it: a member of an
 * item of an answer may really be missing. */
static bool is_wrapper_missing(const char *message)
{
    const char *at = strstr(message, MISSING);

    if (at == NULL)
        return false;
    at += strlen(MISSING);
    if (strncmp(at, "(await ", 7) == 0) {
        const char *close = strstr(at, ").");

        at = close != NULL ? close + 2 : at;
    } else if (at[name_length(at)] == '.') {
        at += name_length(at) + 1;
    }
    return (strncmp(at, "content", 7) == 0 &&
            !gbx_text_is_name((unsigned char)at[7])) ||
           strncmp(at, "structuredContent", 17) == 0;
}

static char *name_server(const gbx_code_run *run, const char *name)
{
    GBX_CLEANUP(gbx_free) char *word = strndup(name, name_length(name));
    const char *meant = word != NULL ? gbx_code_meant_server(run->code, word) : NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf hint;

    gbx_buf_init(&hint, GBX_KIB(1));
    if (meant == NULL)
        return NULL;
    if (meant[name_length(meant)] == 0)
        (void)gbx_buf_printf(&hint, "did you mean servers.%s?", meant);
    else
        (void)gbx_buf_printf(&hint, "did you mean servers[\"%s\"]?", meant);
    return gbx_buf_take_string(&hint, NULL);
}

/* ---- public to other files of this folder --------------------------------- */

char *gbx_code_slip(const gbx_code_run *run, const char *message, const char *line,
                    size_t line_len)
{
    const char *unknown = strstr(message, UNKNOWN);

    if (unknown != NULL)
        return name_server(run, unknown + strlen(UNKNOWN));
    if (is_servers_missing(message) ||
        (strstr(message, "cannot be destructured") != NULL &&
         has_our_pattern(line, line_len)))
        return strdup(LEAVE_OUT);
    if (run->call_count > 0 && is_wrapper_missing(message))
        return strdup(THE_CONTENT);
    return NULL;
}
