/* SPDX-License-Identifier: MIT */
/*
 * hints - what a model should write instead. It can change its code but not settings: it
 * cannot start the command with another policy, and its script reaches only the servers
 * and the data. These texts point it there.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "syntax/tree.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- in place of the guard's hints ------------------------------------------------ */

/* The globals that exist only in code mode. */
#define OURS "servers glovebox discover artifact show progress ToolError"

#define THERE                                                                          \
    "servers, discover, artifact, progress, sleep and input are there already: leave " \
    "this line out"

static const struct {
    const char *words; /* separated by single spaces */
    const char *hint;
} topics[] = {
    {"fetch axios XMLHttpRequest WebSocket EventSource Request Response Headers http https "
     "http2 undici net tls dns dgram",
     "code has no network: call a tool that has it, servers.NAME.tool(args); "
     "await discover(\"fetch url\") finds one"},
    {"fs fsPromises readFileSync writeFileSync promises readFile",
     "code has no files: call a tool that has them, servers.NAME.tool(args); "
     "await discover(\"read file\") finds one, and await artifact(name, value) keeps a value"},
    {"crypto createHash createHmac",
     "no hashes are computed in the code: call a tool that does, if await "
     "discover(\"hash\") finds one"},
    {"AbortController AbortSignal",
     "a call is bounded by its options, servers.NAME.tool(args, { timeoutMs: 5000 }), and "
     "the first of several is await Promise.race([...])"},
    {"btoa atob",
     "new Uint8Array(bytes).toBase64() and Uint8Array.fromBase64(text) are there; await "
     "artifact(name, bytes) keeps bytes as they are"},
    {"env process", "give the value to the code as its input"},
};

#define OTHERWISE                                                                       \
    "call a tool of a server for it, servers.NAME.tool(args); await discover(\"...\") " \
    "finds one"

#define OTHER_SITE \
    "ask a site that is allowed, or call a tool of a server, servers.NAME.tool(args)"

/* Hints that only the operator of the server could follow, and what they mean for a
 * script. In order: specific ones before general ones. */
static const struct {
    const char *part;
    const char *told;
} settings[] = {
    {"--allow fetch=SITE", "ask a site that is allowed, or do without this request"},
    {"--allow fetch", "fetch is off here: use the tools and data that there are"},
    {"--allow file", "files are off here: use the tools and data that there are"},
    {"--allow crypto", "hashing is off here: do without it"},
    {"--allow env", "variables are off here: write the value into the code"},
    {"base64 is not built in",
     "new Uint8Array(bytes).toBase64() and Uint8Array.fromBase64(text) are there"},
    {"or load the data as a dataset", "give the code less data at once"},
    {"raise the memory limit",
     "use less memory: work on the data in smaller pieces, and keep only what is needed"},
    {"loop that does not end", "look for a loop that does not end, or do less at once"},
    {"or raise the limit", "the host did not answer in time: try again"},
    {"the host lacks", "whoever runs this server must free some of what is lacking, or "
                       "raise its limit"},
    {"find who killed it", "the server's process for the code was killed: try again"},
    {"run fewer calls at once",
     "the server is busy: run fewer calls at once, or try later"},
};

/* Does the text use one of the words (separated by single spaces) as a name? */
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

static const char *topic_of(const char *text, size_t len)
{
    for (size_t i = 0; i < GBX_COUNTOF(topics); i++)
        if (has_one_of(topics[i].words, text, len))
            return topics[i].hint;
    return NULL;
}

const char *gbx_advice_for_hint(const char *hint)
{
    for (size_t i = 0; i < GBX_COUNTOF(settings); i++)
        if (strstr(hint, settings[i].part) != NULL)
            return settings[i].told;
    return hint;
}

const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len)
{
    bool is_module =
        strncmp(message, "'import", 7) == 0 || strncmp(message, "'require", 8) == 0;
    const char *found;

    /* The line imports or requires a global that exists anyway. */
    if (is_module && has_one_of(OURS, line, line_len))
        return THERE;
    if (strstr(hint, "--allow") == NULL && strstr(hint, "outside") == NULL)
        return gbx_advice_for_hint(hint);
    if (strstr(hint, "ask a site") != NULL)
        found = OTHER_SITE;
    else if (is_module)
        found = topic_of(line, line_len);
    else
        found = topic_of(message, strlen(message));
    return found != NULL ? found : OTHERWISE;
}

/* ---- habits from other hosts ----------------------------------------------------- */

/* The engine's messages also fit many other mistakes: give a hint only where the text
 * leaves no doubt. */

#define UNKNOWN "Can't find variable: "

/* Functions and objects by which other hosts call tools. */
#define CALLERS                                                                       \
    "call callTool call_tool callMcpTool callMCPTool call_mcp_tool useTool use_tool " \
    "useMcpTool use_mcp_tool invokeTool invoke_tool runTool run_tool executeTool "    \
    "execute_tool"
#define CLIENTS "mcp mcpClient mcp_client client session tools"

#define LEAVE_OUT                                                                      \
    "servers, discover, artifact, progress, sleep and input are there already: leave " \
    "the parameter out"

#define A_TEXT                                                                \
    "input is a text: give the value itself in the argument 'input', or use " \
    "JSON.parse(input)"

#define NO_INPUT "no input was given: send it in the argument 'input'"

#define THE_CONTENT                                                                     \
    "a call gives the content itself, without .content or .structuredContent: use the " \
    "value; servers.NAME.tool(args, { raw: true }) has them"

/* Parts of the patterns, which are extended regular expressions. */
#define NO_OBJECT "is not an object \\(evaluating '"
#define MISSING   "undefined " NO_OBJECT
#define NAME      "[^] '.([]*"
#define WRAPPER   "(content|structuredContent)"
#define PARAMETER "\\( *\\{[^}]*\\<"

typedef enum habit_when {
    ALWAYS,
    INPUT_IS_TEXT,
    WITHOUT_INPUT,
    AFTER_CALLS, /* of which none gave a member with a wrapper's name */
} habit_when;

/* The first that fits counts. */
static const struct {
    habit_when when;
    const char *message;
    const char *line; /* that failed; or NULL, as is code: anything */
    const char *code;
    const char *hint; /* NULL: how tools are called */
} habits[] = {
    /* servers("NAME") or servers.NAME("tool", ...) */
    {ALWAYS, "^TypeError: servers(\\." NAME ")? is not a function", NULL, NULL, NULL},
    /* servers, a member of it, or a member of that name: the global exists. */
    {ALWAYS,
     NO_OBJECT "(" NAME "\\.servers'|servers(\\." NAME ")?('|\\[|\\." NAME "'))", NULL,
     NULL, LEAVE_OUT},
    /* ({ servers }) => ... */
    {ALWAYS, "cannot be destructured",
     PARAMETER "(servers|glovebox|discover|artifact|show|progress|ToolError)\\>", NULL,
     LEAVE_OUT},
    /* ({ input }) => ... as if input were a member. The argument is the input itself,
     * null at worst. */
    {ALWAYS, MISSING "input['.[]", NULL, PARAMETER "input\\>", LEAVE_OUT},
    {INPUT_IS_TEXT, "'input\\.", NULL, NULL, A_TEXT},
    {WITHOUT_INPUT, NO_OBJECT "input\\>", NULL, NULL, NO_INPUT},
    {WITHOUT_INPUT, "cannot be destructured", "= input", NULL, NO_INPUT},
    /* r.content[0], content[0], content.map or (await f()).content, but not deeper: a
     * member of an item of an answer may really be missing. */
    {AFTER_CALLS,
     MISSING "(\\(await .*\\)\\." WRAPPER "\\>|" WRAPPER "(\\." NAME
             "'|[^.A-Za-z0-9_$])|" NAME "\\." WRAPPER "\\>)",
     NULL, NULL, THE_CONTENT},
    /* { content: [x] } = ..., ({ content: [x] }) => ... or (... of content). The message
     * names only the pattern, the call before it, or nothing. */
    {AFTER_CALLS, "cannot be destructured|" MISSING "(\\[|.*\\)'\\)$)",
     "\\{[^;]*\\<" WRAPPER "\\>[^;]*\\} *\\)? *=| of content\\)", NULL, THE_CONTENT},
};

/* The code may be long and hostile: its beginning must do. */
#define LOOKED_MAX 2048

static bool is_like(const char *text, size_t len, const char *pattern)
{
    char looked[LOOKED_MAX + 1];
    regex_t regex;
    bool is;

    if (pattern == NULL)
        return true;
    len = len < LOOKED_MAX ? len : LOOKED_MAX;
    memcpy(looked, text, len);
    looked[len] = 0;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    is = regexec(&regex, looked, 0, NULL, 0) == 0;
    regfree(&regex);
    return is;
}

static bool is_when(habit_when when, const gbx_code_run *run)
{
    if (when == INPUT_IS_TEXT)
        return gbx_view_kind(run->input) == '"';
    if (when == WITHOUT_INPUT)
        return gbx_view_kind(run->input) == 'n';
    for (const gbx_code_call *n = run->calls; when == AFTER_CALLS && n != NULL;
         n = n->next)
        if (has_one_of("content structuredContent", n->gave, strlen(n->gave)))
            return false;
    return when == ALWAYS || run->call_count > 0;
}

/* callTool(...), mcp.callTool(...) or await tools.name(...)? */
static bool is_call_of_host(const char *name, const char *line, size_t len)
{
    size_t n = gbx_text_name_length(name);
    const char *at = memmem(line, len, name, n);
    const char *end = line + len;

    if (has_one_of(CALLERS, name, n))
        return true;
    if (at == NULL || !has_one_of(CLIENTS, name, n) || at + n == end || at[n] != '.')
        return false;
    return (at - line >= 6 && memcmp(at - 6, "await ", 6) == 0) ||
           has_one_of(CALLERS, at + n + 1, gbx_text_name_length(at + n + 1));
}

static char *name_server(const gbx_code_run *run, const char *name)
{
    GBX_CLEANUP(gbx_free) char *word = strndup(name, gbx_text_name_length(name));
    const char *meant = word != NULL ? gbx_code_meant_server(run->code, word) : NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf hint;

    gbx_buf_init(&hint, GBX_KIB(1));
    if (meant == NULL)
        return NULL;
    if (meant[gbx_text_name_length(meant)] == 0)
        (void)gbx_buf_printf(&hint, "did you mean servers.%s?", meant);
    else
        (void)gbx_buf_printf(&hint, "did you mean servers[\"%s\"]?", meant);
    return gbx_buf_take_string(&hint, NULL);
}

static bool is_called(const char *name, size_t n, const char *line, size_t len)
{
    const char *end = line + len;

    for (const char *at = line;
         (at = memmem(at, (size_t)(end - at), name, n)) != NULL && at + n < end; at++)
        if (at[n] == '(' && (at == line || !gbx_text_is_name((unsigned char)at[-1])))
            return true;
    return false;
}

/* get_user, tracker__get_user or mcp__tracker__get_user: names of a tool in other
 * hosts. */
static char *name_tool(const gbx_code_run *run, const char *name, const char *line,
                       size_t line_len)
{
    size_t n = gbx_text_name_length(name);
    GBX_CLEANUP(gbx_free) char *word = strndup(name, n);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf hint;

    gbx_buf_init(&hint, GBX_KIB(1));
    if (word == NULL || n == 0 || n > GBX_TOOL_NAME_MAX ||
        !is_called(name, n, line, line_len))
        return NULL;
    gbx_code_put_call(run->code, word, &hint);
    return hint.len > 0 ? gbx_buf_take_string(&hint, NULL) : NULL;
}

static char *name_calls(const gbx_code_run *run)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf hint;

    gbx_buf_init(&hint, GBX_KIB(4));
    (void)gbx_buf_puts(&hint, "tools are called by their server: "
                              "servers[\"NAME\"].call(\"tool\", { name: value }) (");
    gbx_code_put_servers(run->code, &hint);
    (void)gbx_buf_puts(&hint, ")");
    return gbx_buf_take_string(&hint, NULL);
}

/* Suggest a replacement for an undefined variable. */
static char *name_other(const gbx_code_run *run, const char *name, const char *line,
                        size_t line_len)
{
    char *server = name_server(run, name);

    if (server != NULL)
        return server;
    return is_call_of_host(name, line, line_len) ? name_calls(run)
                                                 : name_tool(run, name, line, line_len);
}

char *gbx_code_message_hint(const gbx_code_run *run, const char *message,
                            const char *line, size_t line_len)
{
    const char *unknown = strstr(message, UNKNOWN);

    if (unknown != NULL)
        return name_other(run, unknown + strlen(UNKNOWN), line, line_len);
    for (size_t i = 0; i < GBX_COUNTOF(habits); i++)
        if (is_when(habits[i].when, run) &&
            is_like(message, strlen(message), habits[i].message) &&
            is_like(line, line_len, habits[i].line) &&
            is_like(run->text, run->text_len, habits[i].code))
            return habits[i].hint != NULL ? gbx_need(strdup(habits[i].hint))
                                          : name_calls(run);
    return NULL;
}
