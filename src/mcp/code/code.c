/* SPDX-License-Identifier: MIT */
/* code - assembles the parts of code mode, and frees them after the loop has ended. */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

/* servers.js, and the scripts whose functions it uses */
extern const char gbx_script_servers[], gbx_script_discover[],
    gbx_script_declarations[], gbx_script_digits[];

bool gbx_code_preload(gbx_buf *to, const char *const *names, size_t count,
                      uint32_t sleep_ms)
{
    gbx_buf_puts(to, gbx_script_servers);
    gbx_buf_puts(to, "([");
    for (size_t i = 0; i < count; i++)
        gbx_json_put_text(to, NULL, names[i]);
    gbx_buf_printf(to, "],\"" GBX_CODE_HOST_NAME "\",{sleepMs:%u},(", sleep_ms);
    gbx_buf_puts(to, gbx_script_discover);
    gbx_buf_puts(to, ")(");
    gbx_buf_puts(to, gbx_script_declarations);
    gbx_buf_puts(to, "),(");
    gbx_buf_puts(to, gbx_script_digits);
    gbx_buf_puts(to, ")(");
    gbx_buf_puts(to, gbx_script_declarations);
    return gbx_buf_puts(to, "));");
}

#define SERVERS_MAX 1000
#define LOG_MAX     GBX_MIB(64)
#define CODE_MAX    GBX_MIB(1)
#define OUTPUT_MAX  GBX_MIB(256)
#define TIMEOUT_MAX 600000

/* ---- artifacts ------------------------------------------------------------------- */

static void answer_artifact(void *user, gbx_mcp_request *request, const char *uri)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf contents = {.ceiling = GBX_MIB(512)};
    gbx_artifacts *store = user;

    if (gbx_artifacts_read(store, uri, gbx_clock_now_ns(), &contents))
        gbx_mcp_finish_resource(request, (const char *)contents.data, contents.len);
    else
        gbx_mcp_fail_no_resource(request, uri, gbx_artifacts_fault(store, uri));
}

bool gbx_artifacts_offer(gbx_mcp_server *server, gbx_artifacts *store)
{
    gbx_mcp_resource resource = {
        .uri = GBX_ARTIFACT_SCHEME,
        .uri_template = GBX_ARTIFACT_SCHEME "{origin}/{number}{?offset,length}",
        .name = "artifact",
        .title = "What was too long to be shown, or kept by code",
        .description = "Pages by offset and length in bytes; kept for a while",
        .mime_type = "application/octet-stream",
        .read = answer_artifact,
        .user = store};

    return gbx_mcp_server_set_resource(server, &resource);
}

/* ---- the box --------------------------------------------------------------------- */

static uint64_t at_most(uint64_t value, uint64_t max)
{
    return value < max ? value : max;
}

/* Enough for all hot code of the engine; the workers of one engine share them. */
#define HUGE_PAGES 16

/* Limits of a run. We enforce those of tool calls; the engine's are far higher. */
static void set_limits(const gbx_mcp_settings *s, gbx_limits *limits)
{
    *limits = (gbx_limits)GBX_LIMITS_INIT;
    limits->timeout_ms = TIMEOUT_MAX; /* script_run.c has that of the run */
    limits->cpu_ms = (uint32_t)at_most(s->timeout_ms, TIMEOUT_MAX);
    limits->memory_bytes = s->memory_bytes;
    limits->output_bytes = at_most(s->output_bytes, OUTPUT_MAX);
    limits->log_bytes = (uint32_t)at_most(s->output_bytes, LOG_MAX);
    limits->code_bytes = (uint32_t)CODE_MAX;
    limits->host_calls =
        (uint32_t)at_most((uint64_t)s->calls * 2 + 1000 + GBX_CODE_TOLD_MAX, 1000000);
    limits->host_out_bytes = GBX_MIB(256);
    limits->host_in_bytes = GBX_MIB(1024);
}

static bool start_box(gbx_mcp_code *code, const gbx_options *options)
{
    const char *names[SERVERS_MAX];
    gbx_options own = *options;
    size_t count = 0;
    char *source;
    size_t len;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_MIB(1)};

    for (size_t i = 0; i < code->config->server_count && count < SERVERS_MAX; i++)
        if (gbx_code_is_listed(&code->config->servers[i]))
            names[count++] = code->config->servers[i].name;
    (void)gbx_code_preload(&text, names, count, code->settings->sleep_ms);
    source = gbx_buf_take_string(&text, &len);
    if (source == NULL)
        return false;
    set_limits(code->settings, &code->limits);
    /* The engine's own limits are at least those of scripts. */
#define RAISE(field, name, standard, least, most) \
    if (own.limits.field < code->limits.field)    \
        own.limits.field = code->limits.field;
    GBX_LIMIT_MAP(RAISE)
#undef RAISE
    own.huge_pages = HUGE_PAGES;
    code->box = gbx_box_new(code->loop, &own, source, len);
    return code->box != NULL;
}

/* ---- servers that start with us -------------------------------------------------- */

static void on_eager(void *user, const gbx_upstream_reply *failure)
{
    gbx_mcp_code *code = user;

    (void)failure; /* a request for all servers has no failure */
    code->is_held = true;
    gbx_code_declare(code);
}

gbx_status gbx_mcp_code_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const gbx_mcp_config *config, gbx_upstreams *upstreams,
                            gbx_gate *gate, const gbx_options *options,
                            gbx_mcp_code **ret, gbx_error *reterr)
{
    gbx_policy *policy = options->policy;
    gbx_status status = GBX_OK;
    gbx_mcp_code *code;

    /* Allow the host function of servers.js in the command's policy, which no engine has
     * yet. Otherwise code would have no servers. References to secrets pass unchanged:
     * the policy lacks the secrets of the configuration, which are filled in only after
     * the rules have decided. */
    if (policy != NULL) {
        policy->self_filling = GBX_CODE_HOST_NAME;
        if (!gbx_policy_allows_function(policy, GBX_CODE_HOST_NAME))
            status = gbx_policy_allow(policy, "functions=" GBX_CODE_HOST_NAME, reterr);
    }
    if (status != GBX_OK)
        return status;
    code = gbx_need(calloc(1, sizeof *code));
    code->loop = loop;
    code->server = server;
    code->config = config;
    code->settings = &config->settings;
    code->policy = policy;
    code->upstreams = upstreams;
    code->gate = gate;
    gbx_code_list_tools_begin(code);
    code->artifacts = gbx_artifacts_new(config->settings.artifact_bytes,
                                        config->settings.artifact_ms);
    if (start_box(code, options) && gbx_code_register(code) &&
        gbx_artifacts_offer(server, code->artifacts)) {
        /* The description of `execute` has their tools: the first tools/list waits. */
        if (gbx_code_is_eager(code)) {
            gbx_mcp_server_hold(code->server);
            gbx_code_list_tools(code, NULL, false, NULL, on_eager, NULL, code);
        }
        gbx_mcp_server_on_unknown_tool(server, gbx_code_advise_call, code);
        *ret = code;
        return GBX_OK;
    }
    status = gbx_fail(reterr, GBX_E_OS, "cannot start code mode");
    gbx_mcp_code_free(code);
    return status;
}

void gbx_mcp_code_use_data(gbx_mcp_code *code, const gbx_code_data *data)
{
    code->data = *data;
    (void)gbx_code_register(code);
}

gbx_box *gbx_mcp_code_box(const gbx_mcp_code *code)
{
    return code->box;
}

gbx_artifacts *gbx_mcp_code_artifacts(const gbx_mcp_code *code)
{
    return code->artifacts;
}

void gbx_mcp_code_tools_changed(gbx_mcp_code *code, const char *server)
{
    const gbx_mcp_upstream_config *c = gbx_mcp_config_server(code->config, server);

    /* The descriptions have no tools of other servers. */
    if (c != NULL && c->eager)
        gbx_code_declare(code);
}

void gbx_mcp_code_free(gbx_mcp_code *code)
{
    if (code == NULL)
        return;
    gbx_mcp_server_on_unknown_tool(code->server, NULL, NULL);
    gbx_box_free(code->box); /* borrows from runs */
    gbx_code_list_tools_end(code);
    while (!LIST_EMPTY(&code->calls))
        gbx_code_call_abandon(LIST_FIRST(&code->calls));
    while (!LIST_EMPTY(&code->runs))
        gbx_code_run_abandon(LIST_FIRST(&code->runs));
    gbx_code_discover_end(code);
    free(code->declared);
    gbx_artifacts_free(code->artifacts);
    free(code);
}
