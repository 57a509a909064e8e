/* SPDX-License-Identifier: MIT */
/*
 * tools - describes the four tools to models, and implements `execute`. Each word costs
 * tokens in every conversation. The same configuration gives the same bytes, since
 * hosts cache them.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES     120 /* bytes of one server's description */
#define DECLARED_MAX   32  /* tools whose declarations may be in the description */
#define NAME_SIZE      80
#define DATASETS_BYTES 100 /* bytes of the listed datasets */
#define GRANTED_MAX    100 /* bytes of sites or variables that are named */

/* ---- what the policy grants ------------------------------------------------- */

/* Directories and values belong to the host and are not shown. */

/* Append the name at index i; false if there is no room. start: where names begin. */
static bool put_granted(const char *name, size_t i, size_t start, gbx_buf *to)
{
    if (to->len + strlen(name) > start + GRANTED_MAX) {
        (void)gbx_buf_puts(to, i > 0 ? " and others" : "some");
        return false;
    }
    return gbx_buf_puts(to, i > 0 ? ", " : "") && gbx_buf_puts(to, name);
}

static void say_sites(const gbx_policy *policy, gbx_buf *to)
{
    const gbx_fetch_policy *fetch = &policy->fetch;
    char text[GBX_SITE_TEXT_SIZE];
    size_t start = to->len;

    for (size_t i = 0; i < fetch->site_count; i++)
        if (!put_granted(gbx_site_print(&fetch->sites[i], text), i, start, to))
            break;
    (void)gbx_buf_puts(to, ".\n");
}

static void say_env(const gbx_policy *policy, gbx_buf *to)
{
    size_t start = to->len;

    for (size_t i = 0; i < policy->env_count; i++)
        if (!put_granted(policy->env[i].name, i, start, to))
            break;
    (void)gbx_buf_puts(to, ".\n");
}

static const struct sentence {
    gbx_capability capability;
    const char *text;
    void (*say)(const gbx_policy *policy, gbx_buf *to); /* or NULL: text is complete */
} sentences[] = {
    {GBX_CAP_FETCH, "await fetch(url) reaches these sites and no others: ", say_sites},
    {GBX_CAP_FILE,
     "await fs.readFile(path, 'utf8') reads the files that are allowed; nothing "
     "writes.\n",
     NULL},
    {GBX_CAP_CRYPTO, "crypto has createHash, createHmac, randomUUID and the like.\n",
     NULL},
    {GBX_CAP_ENV, "env has: ", say_env},
};

bool gbx_granted(const gbx_policy *policy, gbx_capability capability)
{
    if (policy == NULL)
        return capability == GBX_CAP_CONSOLE || capability == GBX_CAP_TIMERS;
    /* An empty list grants nothing, even with the capability. */
    if ((capability == GBX_CAP_FETCH && policy->fetch.site_count == 0) ||
        (capability == GBX_CAP_FILE && policy->file.root_count == 0) ||
        (capability == GBX_CAP_ENV && policy->env_count == 0))
        return false;
    return (policy->capabilities & (uint32_t)capability) != 0;
}

bool gbx_granted_writes(const gbx_policy *policy)
{
    if (!gbx_granted(policy, GBX_CAP_FETCH))
        return false;
    if (policy->fetch.method_count == 0)
        return true; /* all of them */
    for (size_t i = 0; i < policy->fetch.method_count; i++) {
        const char *method = policy->fetch.methods[i];

        if (!gbx_text_is_listed("GET HEAD OPTIONS", method, strlen(method)))
            return true;
    }
    return false;
}

void gbx_granted_say(const gbx_policy *policy, const char *prefix, gbx_buf *to)
{
    for (size_t i = 0; i < GBX_COUNTOF(sentences); i++) {
        if (!gbx_granted(policy, sentences[i].capability))
            continue;
        (void)gbx_buf_puts(to, prefix);
        (void)gbx_buf_puts(to, sentences[i].text);
        if (sentences[i].say != NULL)
            sentences[i].say(policy, to);
    }
}

/* ---- the description of execute --------------------------------------------- */

static const char what[] =
    "Run JavaScript (types are allowed) that calls tools of other servers. Only what it "
    "returns is shown to you: filter, join and count in the code. Do the whole task in "
    "one call, independent calls at once by Promise.all.\n";

static const char how[] =
    "In the code:\n"
    "- await servers.NAME.call(\"tool\", args) or servers.NAME.tool(args): its structured "
    "content, else its text, parsed if JSON. Throws ToolError {server, tool, code, "
    "message, retryable}\n"
    "- await servers.NAME.tools(query), await discover(query): what there is\n"
    "- input; ";

static const char more[] =
    "progress(text); await artifact(name, value) keeps what is large, "
    "await artifact.read(uri) reads it; await show(image)\n";

static const char examples[] =
    "return the value, or end with an expression.\n"
    "Examples:\n"
    "const pages = await Promise.all(input.ids.map(id => servers.wiki.get({id})));\n"
    "return pages.filter(p => p.words > 900).map(p => p.title);\n"
    "\n"
    "const {issues} = await servers.tracker.list({state: \"open\"});\n"
    "const late = issues.filter(i => i.due < input.today);\n"
    "return {late: late.length, first: late.slice(0, 5).map(i => i.title)};\n";

static void write_server(const gbx_mcp_upstream_config *c, bool is_short, gbx_buf *to)
{
    (void)gbx_buf_printf(to, is_short ? "%s" : "- %s", c->name);
    if (!is_short && c->description != NULL && c->description[0] != 0) {
        size_t len = strlen(c->description);
        size_t shown = gbx_utf8_cut(c->description, len, LINE_BYTES);

        (void)gbx_buf_puts(to, ": ");
        for (size_t i = 0; i < shown; i++)
            (void)gbx_buf_append(to,
                                 c->description[i] < ' ' && c->description[i] >= 0
                                     ? " "
                                     : &c->description[i],
                                 1);
    }
    (void)gbx_buf_puts(to, is_short ? ", " : "\n");
}

/* False: the text would get too long without is_short, and is unchanged. */
static bool write_servers(const gbx_mcp_code *code, bool is_short, gbx_buf *to)
{
    const size_t mark = sizeof "and 10000 more\n";
    size_t start = to->len, left = 0;

    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *c = &code->config->servers[i];
        size_t before = to->len;

        if (c->disabled)
            continue;
        if (left == 0)
            write_server(c, is_short, to);
        if (left > 0 || gbx_utf16_units((const char *)to->data, to->len) + mark >
                            GBX_MCP_TOLD_MAX) {
            to->len = before;
            left++;
        }
    }
    if (left > 0 && !is_short) {
        to->len = start;
        return false;
    }
    if (left > 0)
        (void)gbx_buf_printf(to, "and %zu more\n", left);
    else if (is_short && to->len > start)
        to->len -= 2;
    if (to->len == start)
        (void)gbx_buf_puts(to, "none is configured\n");
    return true;
}

/* Append the tools of all servers, if they are eager and the tools are few. Others are
 * unknown until first use, and would change the description then. */
static bool put_eager_docs(const gbx_mcp_code *code, gbx_buf *to)
{
    size_t count = 0;

    if (!gbx_code_is_eager(code))
        return false;
    gbx_json_put_open(to, NULL, '[');
    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *c = &code->config->servers[i];
        gbx_view tools = gbx_upstreams_info(code->upstreams, c).tools;
        size_t cursor = 0;
        gbx_view key;
        gbx_view tool;

        while (!c->disabled && gbx_view_next(tools, &cursor, &key, &tool)) {
            if (count++ == DECLARED_MAX)
                return false;
            gbx_code_put_doc(code, c->name, tool, to);
        }
    }
    return count > 0 && gbx_buf_puts(to, "]");
}

/* text NULL: code mode ends. */
static void on_declared(void *user, gbx_buf *text, bool is_text)
{
    gbx_mcp_code *code = user;

    if (text == NULL)
        return;
    code->is_declaring = false;
    if (code->is_declared_late) {
        gbx_code_declare(code);
        return;
    }
    free(code->declared);
    code->declared = NULL;
    if (is_text && text->len <= GBX_MCP_TOLD_MAX)
        code->declared = gbx_buf_take_string(text, NULL);
    (void)gbx_code_register(code);
    if (code->is_held)
        gbx_mcp_server_release(code->server);
    code->is_held = false;
}

void gbx_code_declare(gbx_mcp_code *code)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf none = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf docs = {.ceiling = GBX_MIB(64)};

    code->is_declared_late = code->is_declaring;
    if (code->is_declaring)
        return;
    code->is_declaring = true;
    if (put_eager_docs(code, &docs) && !docs.failed)
        gbx_code_ask_discover(code, GBX_DISCOVER_JS ".declare(input)", &docs,
                              on_declared, code);
    else
        on_declared(code, &none, false);
}

/* Append what the policy gives code besides the servers, and what it denies. */
static void write_how(const gbx_mcp_code *code, gbx_buf *to)
{
    const gbx_policy *policy = code->policy;
    const gbx_code_data *data = &code->data;
    size_t named = 0, end;
    bool has_net = gbx_granted(policy, GBX_CAP_FETCH);
    bool has_files = gbx_granted(policy, GBX_CAP_FILE);

    (void)gbx_buf_puts(to, how);
    (void)gbx_buf_puts(to, gbx_granted(policy, GBX_CAP_TIMERS) ? "sleep(ms); " : "");
    (void)gbx_buf_puts(to, gbx_granted(policy, GBX_CAP_CONSOLE) ? "console.log; " : "");
    (void)gbx_buf_puts(to, more);
    for (end = to->len + DATASETS_BYTES; named < data->count && to->len < end; named++)
        (void)gbx_buf_printf(to, "%s%s", named > 0 ? ", datasets." : "- datasets.",
                             data->name(data->user, named));
    if (data->count > 0)
        (void)gbx_buf_printf(to, "%s: those of compute\n",
                             named < data->count ? ", ..." : "");
    gbx_granted_say(policy, "- ", to);
    (void)gbx_buf_puts(to, "Nothing else: no ");
    (void)gbx_buf_puts(to, has_net ? "" : has_files ? "network or " : "network, ");
    (void)gbx_buf_puts(to, has_files ? "" : "files or ");
    (void)gbx_buf_puts(to, "modules. ");
    (void)gbx_buf_puts(to, examples);
}

static char *describe_execute(const gbx_mcp_code *code)
{
    const gbx_mcp_settings *s = code->settings;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = GBX_MIB(1)};
    size_t start;

    (void)gbx_buf_puts(&to, what);
    write_how(code, &to);
    (void)gbx_buf_printf(
        &to,
        "Limits: %llu bytes of code, %.0f s, %g s a sleep, %u calls; of more than "
        "%llu bytes of reply the middle is kept as a resource.\n",
        (unsigned long long)s->code_bytes, s->timeout_ms / 1e3, s->sleep_ms / 1e3,
        s->calls, (unsigned long long)s->reply_bytes);
    start = to.len;
    (void)gbx_buf_puts(&to, "Servers:\n");
    if (code->declared != NULL && write_servers(code, false, &to) &&
        gbx_buf_puts(&to, code->declared) &&
        gbx_utf16_units((const char *)to.data, to.len) <= GBX_MCP_TOLD_MAX)
        return gbx_buf_take_string(&to, NULL);
    to.len = start;
    (void)gbx_buf_printf(&to,
                         "Look tools up with %sdiscover before their first use. "
                         "Servers:\n",
                         s->tool_prefix);
    if (!write_servers(code, false, &to))
        (void)write_servers(code, true, &to);
    return gbx_buf_take_string(&to, NULL);
}

void gbx_mcp_code_put_instructions(const gbx_mcp_code *code, gbx_buf *to)
{
    const char *prefix = code->settings->tool_prefix;
    size_t start, named = 0;

    (void)gbx_buf_printf(to,
                         "%sexecute runs JavaScript that calls tools of other servers",
                         prefix);
    start = to->len;
    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *c = &code->config->servers[i];

        if (!c->disabled && to->len < start + GBX_CODE_NAMES_BYTES)
            (void)gbx_buf_printf(to, "%s%s", named++ == 0 ? ": " : ", ", c->name);
    }
    (void)gbx_buf_printf(
        to,
        "%s. Do a whole task in one call: filter, join and count in the code, since only "
        "what it returns is shown. %sdiscover finds tools and their types.\n",
        to->len < start + GBX_CODE_NAMES_BYTES ? "" : ", ...", prefix);
}

/* ---- execute ---------------------------------------------------------------- */

/* Read its arguments and start a run, which ends the request. */

static void wrong(gbx_mcp_code *code, gbx_mcp_request *request, const char *error_code,
                  const char *message, const char *hint)
{
    gbx_script_reply_error error = {
        .code = error_code, .name = "", .message = message, .frame = "", .hint = hint};

    gbx_code_run_refuse(code, request, &error);
}

/* The code as text. False: the request has ended. */
static bool take_code(gbx_mcp_code *code, gbx_mcp_request *request, gbx_view given,
                      gbx_buf *ret)
{
    size_t max = (size_t)code->settings->code_bytes;
    char message[120];

    if (gbx_view_kind(given) == '"' && given.len == 2) {
        wrong(code, request, "INVALID_CODE", "the code is empty",
              "write at least one statement");
        return false;
    }
    if (gbx_view_kind(given) != '"') {
        wrong(code, request, "INVALID_ARGS", "'code' is a string of JavaScript",
              "give {\"code\": \"return 1 + 1\"}");
        return false;
    }
    /* JSON needs at most six bytes per character: longer input exceeds the limit. */
    if (given.len / 6 <= max && gbx_view_append_text(given, ret) && ret->len <= max)
        return true;
    (void)snprintf(message, sizeof message, "the code is longer than %zu bytes", max);
    wrong(code, request, "INVALID_CODE", message,
          "shorten it; data goes into 'input', not into the code");
    return false;
}

static void execute(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"code", "input", "timeout_ms", NULL};
    gbx_mcp_code *code = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};
    gbx_view timeout = gbx_view_member(arguments, "timeout_ms");
    uint32_t timeout_ms = code->settings->timeout_ms;
    bool has_timeout = timeout.at != NULL && gbx_view_kind(timeout) != 'n';
    gbx_buf text;

    if (gbx_view_kind(timeout) == '"' && timeout.len > 2) /* "5000", as models write */
        timeout = (gbx_view){timeout.at + 1, timeout.len - 2};
    gbx_code_look_at_file(code);
    if (!gbx_code_check_names(arguments, names, &message)) {
        wrong(code, request, "INVALID_ARGS", gbx_rpc_string(&message),
              "values for the code go into 'input'");
        return;
    }
    gbx_buf_init(&text, (size_t)code->settings->code_bytes * 6 + 6);
    if (has_timeout &&
        (!gbx_code_take_count(timeout, code->settings->timeout_ms, &timeout_ms) ||
         timeout_ms == 0))
        wrong(code, request, "INVALID_ARGS", "'timeout_ms' is a number of milliseconds",
              "leave it out for the longest that there is");
    else if (take_code(code, request, gbx_view_member(arguments, "code"), &text))
        gbx_code_run_start(code, request, &text, gbx_view_member(arguments, "input"),
                           timeout_ms);
    gbx_buf_cleanup(&text);
}

/* ---- the four tools -------------------------------------------------------------- */

/* Unknown arguments are refused. */
#define CLOSED "\"additionalProperties\":false}"

static const struct row {
    const char *name;
    const char *title;
    const char *description; /* NULL: that of execute */
    const char *input;
    const char *output;
    const char *annotations;
    gbx_mcp_tool_fn call;
} rows[] = {
    {"execute", "Run code over servers", NULL,
     "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},\"input\":{"
     "\"description\":\"any JSON; the code's variable input\"},\"timeout_ms\":{\"type\":"
     "\"integer\",\"minimum\":1}},\"required\":[\"code\"]," CLOSED,
     GBX_REPLY_SCHEMA,
     "{\"readOnlyHint\":false,\"destructiveHint\":true,\"openWorldHint\":true}",
     execute},
    {"discover", "Find tools",
     "Find tools of the servers by keywords, or list all, those of a server, or one. "
     "detail: names, summary, or types (TypeScript declarations).",
     "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\"},\"server\":{"
     "\"type\":\"string\"},\"tool\":{\"type\":\"string\"},\"detail\":{\"enum\":[\"names\","
     "\"summary\",\"types\"]}}," CLOSED,
     NULL, "{\"readOnlyHint\":true,\"openWorldHint\":false}", gbx_code_discover},
    {"call", "Call one tool",
     "Call one tool of a server. For more than one call, or to read part of a large "
     "result, run a script.",
     "{\"type\":\"object\",\"properties\":{\"server\":{\"type\":\"string\"},\"tool\":{"
     "\"type\":\"string\"},\"args\":{\"type\":\"object\"}},\"required\":[\"server\","
     "\"tool\"]," CLOSED,
     NULL, "{\"readOnlyHint\":false,\"destructiveHint\":true,\"openWorldHint\":true}",
     gbx_code_call_tool},
    {"provision", "Start a server",
     "Start a configured server and list its tools. Never installs anything.",
     "{\"type\":\"object\",\"properties\":{\"server\":{\"type\":\"string\"}},\"required\":"
     "[\"server\"]," CLOSED,
     NULL,
     "{\"readOnlyHint\":false,\"destructiveHint\":false,\"idempotentHint\":true,"
     "\"openWorldHint\":false}",
     gbx_code_provision},
};

static bool set_tool(gbx_mcp_code *code, const struct row *row, const char *description)
{
    char name[NAME_SIZE];
    gbx_mcp_tool tool = {.name = name,
                         .title = row->title,
                         .description = description,
                         .input_schema = row->input,
                         .output_schema = row->output,
                         .annotations = row->annotations,
                         .call = row->call,
                         .user = code};

    (void)snprintf(name, sizeof name, "%.60s%s", code->settings->tool_prefix,
                   row->name);
    return gbx_mcp_server_set_tool(code->server, &tool);
}

bool gbx_code_register(gbx_mcp_code *code)
{
    char *described = describe_execute(code);
    bool ok = described != NULL;

    for (size_t i = 0; ok && i < GBX_COUNTOF(rows); i++)
        ok = set_tool(code, &rows[i],
                      rows[i].description != NULL ? rows[i].description : described);
    free(described);
    return ok;
}
