/* SPDX-License-Identifier: MIT */
/*
 * hints - what a model should write instead. It can change its code but not settings: it
 * cannot start the command with another policy, and its script reaches only the servers
 * and the data. These texts point it there.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "syntax/tree.h"

#include <string.h>

/* ---- in place of the guard's hints ------------------------------------------------ */

/* The globals that exist only in code mode. */
#define OURS "servers glovebox discover artifact progress ToolError"

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

#define MISSING   "undefined is not an object (evaluating '"
#define UNKNOWN   "Can't find variable: "
#define NO_OBJECT "is not an object (evaluating '"

/* Functions and objects by which other hosts call tools. */
#define CALLERS                                                                       \
    "call callTool call_tool callMcpTool callMCPTool call_mcp_tool useTool use_tool " \
    "useMcpTool use_mcp_tool invokeTool invoke_tool runTool run_tool executeTool "    \
    "execute_tool"
#define CLIENTS "mcp mcpClient mcp_client client session tools"

#define PATTERN_MAX 256 /* bytes of { ... }; a line may be long, and full of braces */

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

/* servers("NAME") or servers.NAME("tool", ...) */
static bool is_server_called(const char *message)
{
    static const char before[] = "TypeError: servers";
    const char *at = strstr(message, " is not a function");

    if (strncmp(message, before, sizeof before - 1) != 0 || at == NULL)
        return false;
    message += sizeof before - 1;
    if (*message == '.')
        message += 1 + gbx_text_name_length(message + 1);
    return message == at;
}

/* Missing is "servers", a member of it, or a member of that name: the global exists. */
static bool is_servers_missing(const char *message)
{
    const char *at = strstr(message, NO_OBJECT);
    size_t n;

    if (at == NULL)
        return false;
    at += strlen(NO_OBJECT);
    n = gbx_text_name_length(at);
    if (at[n] == '.' && !(n == strlen("servers") && memcmp(at, "servers", n) == 0)) {
        at += n + 1;
        n = gbx_text_name_length(at);
        return n == strlen("servers") && memcmp(at, "servers", n) == 0 && at[n] == '\'';
    }
    if (n != strlen("servers") || memcmp(at, "servers", n) != 0)
        return false;
    if (at[n] == '.')
        n += 1 + gbx_text_name_length(at + n + 1);
    return at[n] == '\'' || at[n] == '[' ||
           (at[n] == '.' && at[n + 1 + gbx_text_name_length(at + n + 1)] == '\'');
}

/* ({ servers }) => ..., with one of the words. */
static bool has_pattern(const char *words, const char *text, size_t len)
{
    const char *end = text + len;

    for (const char *at = text; (at = memchr(at, '(', (size_t)(end - at))) != NULL;) {
        const char *close;

        at++;
        while (at < end && *at == ' ')
            at++;
        close = at < end && *at == '{' ? memchr(at, '}', (size_t)(end - at)) : NULL;
        if (close != NULL && has_one_of(words, at, (size_t)(close - at)))
            return true;
    }
    return false;
}

/* ({ input }) => ... as if input were a member. The argument is the input itself, null
 * at worst. */
static bool is_input_inside(const char *message, const char *text, size_t len)
{
    const char *at = strstr(message, MISSING "input");
    char after = at != NULL ? at[strlen(MISSING "input")] : 0;

    return (after == '.' || after == '[' || after == '\'') &&
           has_pattern("input", text, len);
}

/* input.ids, of input or { ids } = input */
static bool is_input_missing(const char *message, const char *line, size_t line_len)
{
    static const char evaluated[] = NO_OBJECT "input";
    const char *at = strstr(message, evaluated);

    if (at == NULL)
        return strstr(message, "cannot be destructured") != NULL &&
               memmem(line, line_len, "= input", strlen("= input")) != NULL;
    return !gbx_text_is_name((unsigned char)at[sizeof evaluated - 1]);
}

static bool is_wrapper(const char *text, size_t len)
{
    return has_one_of("content structuredContent", text, len);
}

/* Does a tool's result have such a member of its own? */
static bool is_wrapper_given(const gbx_code_run *run)
{
    for (const gbx_code_call *n = run->calls; n != NULL; n = n->next)
        if (is_wrapper(n->gave, strlen(n->gave)))
            return true;
    return false;
}

/* r.content[0], content[0], content.map or (await f()).content, but not deeper: a
 * member of an item of an answer may really be missing. */
static bool is_wrapper_missing(const char *message)
{
    const char *at = strstr(message, MISSING);
    size_t n;

    if (at == NULL)
        return false;
    at += strlen(MISSING);
    n = gbx_text_name_length(at);
    if (strncmp(at, "(await ", 7) == 0) {
        const char *close = strstr(at, ").");

        at = close != NULL ? close + 2 : at;
    } else if (at[n] == '.') {
        if (is_wrapper(at, n))
            return at[n + 1 + gbx_text_name_length(at + n + 1)] == '\'';
        at += n + 1;
    }
    return is_wrapper(at, gbx_text_name_length(at));
}

/* The engine's message for destructuring names only the pattern, the call before it, or
 * nothing. */
static bool is_taken_apart(const char *message)
{
    const char *at = strstr(message, MISSING);
    size_t len = strlen(message);

    if (at == NULL)
        return strstr(message, "cannot be destructured") != NULL;
    return at[strlen(MISSING)] == '[' ||
           (len > 3 && strcmp(message + len - 3, ")')") == 0);
}

/* The end of the pattern that the brace at `at` opens; NULL: too far away, or on
 * another line. */
static const char *closing_brace(const char *at, const char *end)
{
    size_t depth = 0;

    if (end - at > PATTERN_MAX)
        end = at + PATTERN_MAX;
    for (; at < end; at++) {
        depth += *at == '{';
        depth -= *at == '}';
        if (depth == 0)
            return at;
    }
    return NULL;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* { content: [x] } = ..., ({ content: [x] }) => ... or (... of content). */
static bool takes_wrapper_apart(const char *line, size_t len)
{
    static const char loop[] = " of content)";
    const char *end = line + len;

    for (const char *at = line; (at = memchr(at, '{', (size_t)(end - at))) != NULL;
         at++) {
        const char *close = closing_brace(at, end);
        const char *next = close != NULL ? skip_blanks(close + 1, end) : end;

        if (next < end && *next == ')')
            next = skip_blanks(next + 1, end);
        if (next < end && *next == '=' && is_wrapper(at, (size_t)(close - at)))
            return true;
    }
    return memmem(line, len, loop, sizeof loop - 1) != NULL;
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
    if (is_server_called(message))
        return name_calls(run);
    if (is_servers_missing(message) ||
        is_input_inside(message, run->text, run->text_len) ||
        (strstr(message, "cannot be destructured") != NULL &&
         has_pattern(OURS, line, line_len)))
        return strdup(LEAVE_OUT);
    if (gbx_view_kind(run->input) == '"' && strstr(message, "'input.") != NULL)
        return strdup(A_TEXT);
    if (gbx_view_kind(run->input) == 'n' && is_input_missing(message, line, line_len))
        return strdup(NO_INPUT);
    if (run->call_count > 0 && !is_wrapper_given(run) &&
        (is_wrapper_missing(message) ||
         (is_taken_apart(message) && takes_wrapper_apart(line, line_len))))
        return strdup(THE_CONTENT);
    return NULL;
}
