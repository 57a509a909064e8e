/* SPDX-License-Identifier: MIT */
/* mcp_doctor - `glovebox mcp doctor`: starts every server of a configuration at once,
 * and reports the outcome. Text from servers is printed escaped. */
#include "base/cleanup.h"

#include "base/json.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "mcp/rpc/rpc.h"
#include "mcp/rules/rules.h"
#include "mcp/upstream/oauth.h"
#include "mcp/upstream/upstream.h"
#include "policy/policy.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- patterns in rules that match no tool -------------------------------------- */

/*
 * A misspelt denial denies nothing, and only the servers' lists of tools can show that.
 * Rules about a server whose tools are unknown are not judged.
 */

static bool is_of_server(const gbx_gate_rule *rule, const char *server)
{
    for (size_t i = 0; i < rule->servers.count; i++)
        if (gbx_glob_name(rule->servers.items[i], server, GBX_GLOB_EXACT))
            return true;
    return rule->servers.count == 0;
}

static bool fits_tool_of(const char *pattern, gbx_glob_how how, gbx_view tools)
{
    char name[GBX_TOOL_NAME_MAX + 1];
    size_t cursor = 0;
    gbx_view none;
    gbx_view tool;

    while (gbx_view_next(tools, &cursor, &none, &tool))
        if (gbx_rpc_copy_text(gbx_view_member(tool, "name"), name, sizeof name) &&
            gbx_glob_name(pattern, name, how))
            return true;
    return false;
}

/* True if the pattern matches a tool, or may match an unknown one. */
static bool may_fit(const gbx_mcp_config *config, const gbx_view *tools,
                    const gbx_gate_rule *rule, const char *pattern)
{
    gbx_glob_how how = rule->action == GBX_GATE_ALLOW ? GBX_GLOB_EXACT : GBX_GLOB_WIDE;

    for (size_t i = 0; i < config->server_count; i++)
        if (is_of_server(rule, config->servers[i].name) &&
            (tools[i].at == NULL || fits_tool_of(pattern, how, tools[i])))
            return true;
    return false;
}

/* Call on_one for each pattern that matches no tool, with its rule's number from 1 on.
 * tools has one element per server, no value if its tools are unknown. */
static void gbx_mcp_idle_patterns(const gbx_mcp_config *config, const gbx_view *tools,
                                  void (*on_one)(void *user, size_t rule,
                                                 const char *pattern),
                                  void *user)
{
    const gbx_gate_rules *rules = config->rules;

    for (size_t i = 0; i < rules->count; i++)
        for (size_t k = 0; k < rules->items[i].tools.count; k++)
            if (!may_fit(config, tools, &rules->items[i],
                         rules->items[i].tools.items[k]))
                on_one(user, i + 1, rules->items[i].tools.items[k]);
}

typedef struct doctor_args {
    gbx_common_args common;
    const char *config;
    bool json;
    bool trust_files;
} doctor_args;

static const gbx_opt rows[] = {
    GBX_ROW_TEXT(
        doctor_args, config, "config", "FILE",
        "the servers; default: glovebox/mcp.json below $XDG_CONFIG_HOME or ~/.config"),
    GBX_ROW_FLAG(doctor_args, json, "json", "print one JSON object"),
    GBX_ROW_TRUST_FILES(doctor_args, trust_files),
    {0},
};

static const gbx_opt_group groups[] = {{"Options", rows, 0}, GBX_COMMON_GROUP, {0}};

/* The outcome for one server. */
typedef struct finding {
    struct examination *of;
    gbx_upstream_info info; /* once all have an outcome; borrowed from the upstreams */
    bool ok;
    size_t tools;
    size_t reading; /* of these, read-only as the server says */
    char fault[512];
} finding;

typedef struct examination {
    gbx_mcp_config *config;
    gbx_mcp_loop *loop;
    gbx_upstreams *upstreams;
    finding *findings; /* one per server */
    gbx_view *tools;   /* of each server, or no value */
    size_t open;
} examination;

static void on_learned(void *user, const gbx_upstream_reply *reply)
{
    finding *f = user;
    examination *e = f->of;
    char clean[sizeof f->fault];

    f->ok = reply->fault == GBX_UPSTREAM_OK;
    if (!f->ok) {
        /* The server's last output may contain the secrets that it was given. */
        gbx_redact_copy(e->config->rules->secrets, reply->message, clean, sizeof clean);
        (void)snprintf(f->fault, sizeof f->fault, "%s: %.480s",
                       gbx_upstream_fault_name(reply->fault), clean);
    }
    if (--e->open == 0)
        gbx_mcp_loop_stop(e->loop, 0);
}

static gbx_status examine(examination *e, gbx_error *reterr)
{
    const gbx_upstream_hooks hooks = {.user = NULL};

    e->loop = gbx_mcp_loop_new();
    if (e->loop == NULL)
        return gbx_fail(reterr, GBX_E_OS, "cannot make an event loop: %s",
                        strerror(errno));
    e->findings = gbx_need(calloc(e->config->server_count + 1, sizeof *e->findings));
    e->tools = gbx_need(calloc(e->config->server_count + 1, sizeof *e->tools));
    e->upstreams = gbx_upstreams_new(e->loop, e->config, &hooks);
    for (size_t i = 0; i < e->config->server_count; i++) {
        e->findings[i].of = e;
        if (e->config->servers[i].fault != NULL)
            (void)snprintf(e->findings[i].fault, sizeof e->findings[i].fault, "%s",
                           e->config->servers[i].fault);
        if (e->config->servers[i].disabled)
            continue;
        gbx_upstream_learn(e->upstreams, &e->config->servers[i], on_learned,
                           &e->findings[i]);
        e->open++;
    }
    if (e->open > 0)
        (void)gbx_mcp_loop_run(e->loop);
    for (size_t i = 0; i < e->config->server_count; i++) {
        finding *f = &e->findings[i];
        gbx_view name, tool;

        f->info = gbx_upstreams_info(e->upstreams, &e->config->servers[i]);
        if (!f->ok)
            continue;
        e->tools[i] = f->info.tools;
        for (size_t at = 0; gbx_view_next(f->info.tools, &at, &name, &tool); f->tools++)
            f->reading += gbx_view_is_true(
                gbx_view_member(gbx_view_member(tool, "annotations"), "readOnlyHint"));
    }
    return GBX_OK;
}

static void release(examination *e)
{
    gbx_upstreams_free(e->upstreams);
    gbx_mcp_loop_free(e->loop);
    free(e->findings);
    free(e->tools);
    gbx_mcp_config_free(e->config);
}

/* ---- printing --------------------------------------------------------------------- */

static void pad(const gbx_term *out, const char *text, int width)
{
    gbx_term_print(out, "%s%*s", text,
                   (int)strlen(text) < width ? width - (int)strlen(text) : 1, "");
}

/* True if the server was disabled on purpose. */
static bool is_off(const gbx_mcp_upstream_config *server)
{
    return server->disabled && server->fault == NULL;
}

/* The end of a sign-in: "2026-11-30 14:05 UTC" or "an unknown time"; "" if no person
 * has signed in. */
static void find_sign_in(const gbx_mcp_upstream_config *server, gbx_trust trust,
                         char out[40])
{
    json_t *kept = NULL;
    gbx_error err = {0};
    time_t end;
    struct tm utc;

    out[0] = '\0';
    if (server->url == NULL ||
        gbx_oauth_read(server->url, trust, &kept, &err) != GBX_OK || kept == NULL)
        return;
    end = (time_t)json_integer_value(json_object_get(kept, "expires"));
    if (end == 0 || gmtime_r(&end, &utc) == NULL ||
        strftime(out, 40, "%Y-%m-%d %H:%M UTC", &utc) == 0)
        (void)snprintf(out, 40, "an unknown time");
    json_decref(kept);
}

static void print_notes(const gbx_term *out, const gbx_mcp_upstream_config *server,
                        gbx_trust trust)
{
    char until[40];

    find_sign_in(server, trust, until);
    if (until[0] != '\0')
        gbx_term_print(out, "  (signed in until %s)", until);
    for (size_t i = 0; i < server->hidden_count; i++)
        gbx_term_print(out, "%s%s",
                       i > 0 ? ", " : "  (removed from answers: ", server->hidden[i]);
    (void)fputs(server->hidden_count > 0 ? ")" : "", out->stream);
    (void)fputc('\n', out->stream);
}

static void print_row(const gbx_term *out, const gbx_mcp_upstream_config *server,
                      const finding *f)
{
    const gbx_upstream_info *info = &f->info;

    pad(out, server->name, 18);
    if (is_off(server)) {
        gbx_term_paint(out, GBX_PAINT_DIM, "disabled\n");
        return;
    }
    if (!f->ok) {
        gbx_term_paint(out, GBX_PAINT_RED, "fails   ");
        gbx_term_print(out, "%s", f->fault);
        print_notes(out, server, f->of->config->trust);
        return;
    }
    gbx_term_paint(out, GBX_PAINT_GREEN, "serves  ");
    pad(out, info->era, 12);
    gbx_term_print(out, "%3zu tools (%zu only read)  %6.0f ms  %s%s%s", f->tools,
                   f->reading, info->start_ms, info->server_name,
                   info->version[0] != '\0' ? " " : "", info->version);
    if (info->containment[0] != '\0' && strcmp(info->containment, "pid namespace") != 0)
        gbx_term_print(out, "  (%s)", info->containment);
    if (info->left_out_why[0] != '\0')
        gbx_term_print(out, "  (%s)", info->left_out_why);
    print_notes(out, server, f->of->config->trust);
}

static void print_idle(void *user, size_t rule, const char *pattern)
{
    const gbx_term *out = user;

    gbx_term_paint(out, GBX_PAINT_YELLOW, "rule");
    gbx_term_print(out, " %zu: no tool fits '%s'\n", rule, pattern);
}

static void put_idle(void *user, size_t rule, const char *pattern)
{
    gbx_buf *to = user;

    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_integer(to, "rule", (int64_t)rule);
    gbx_json_put_text(to, "tool", pattern);
    (void)gbx_buf_puts(to, "}");
}

static void put_finding(gbx_buf *to, const gbx_mcp_upstream_config *server,
                        const finding *f)
{
    char until[40];
    char name[256];

    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_text(to, "name", server->name);
    gbx_json_put_text(to, "state",
                      is_off(server) ? "disabled"
                      : f->ok        ? "serves"
                                     : "fails");
    if (f->ok) {
        (void)snprintf(name, sizeof name, "%s%s%s", f->info.server_name,
                       f->info.version[0] != '\0' ? " " : "", f->info.version);
        gbx_json_put_text(to, "era", f->info.era);
        gbx_json_put_text(to, "server", name);
        gbx_json_put_text(to, "containment", f->info.containment);
        gbx_json_put_integer(to, "tools", (int64_t)f->tools);
        gbx_json_put_integer(to, "readOnlyTools", (int64_t)f->reading);
        gbx_json_put_integer(to, "leftOutTools", (int64_t)f->info.left_out);
        if (f->info.left_out_why[0] != '\0')
            gbx_json_put_text(to, "leftOut", f->info.left_out_why);
        gbx_json_put_number(to, "startMs", f->info.start_ms);
    } else if (!is_off(server)) {
        gbx_json_put_text(to, "error", f->fault);
    }
    find_sign_in(server, f->of->config->trust, until);
    if (until[0] != '\0')
        gbx_json_put_text(to, "signedInUntil", until);
    if (server->hidden_count > 0) {
        gbx_json_put_open(to, "removedFromAnswers", '[');
        for (size_t i = 0; i < server->hidden_count; i++)
            gbx_json_put_text(to, NULL, server->hidden[i]);
        (void)gbx_buf_puts(to, "]");
    }
    (void)gbx_buf_puts(to, "}");
}

static void print_json(const gbx_term *out, const examination *e, bool ok)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = GBX_MIB(1)};

    gbx_json_put_open(&buf, NULL, '{');
    gbx_json_put_bool(&buf, "ok", ok);
    gbx_json_put_open(&buf, "servers", '[');
    for (size_t i = 0; i < e->config->server_count; i++)
        put_finding(&buf, &e->config->servers[i], &e->findings[i]);
    (void)gbx_buf_puts(&buf, "]");
    gbx_json_put_open(&buf, "idlePatterns", '[');
    gbx_mcp_idle_patterns(e->config, e->tools, put_idle, &buf);
    if (gbx_buf_puts(&buf, "]}") &&
        gbx_utf8_escape(&buf, 0, GBX_ESCAPE_JSON | GBX_ESCAPE_ALL))
        gbx_term_json(out, (const char *)buf.data, buf.len);
    (void)fputc('\n', out->stream);
}

static int report(const doctor_args *args, const examination *e)
{
    gbx_term out = gbx_term_open(stdout, (gbx_color)args->common.color);
    bool ok = true;

    for (size_t i = 0; i < e->config->server_count; i++)
        ok = ok && (is_off(&e->config->servers[i]) || e->findings[i].ok);
    if (args->json) {
        print_json(&out, e, ok);
    } else if (e->config->server_count == 0) {
        (void)fputs("the configuration has no servers\n", out.stream);
    } else {
        for (size_t i = 0; i < e->config->server_count; i++)
            print_row(&out, &e->config->servers[i], &e->findings[i]);
        gbx_mcp_idle_patterns(e->config, e->tools, print_idle, &out);
    }
    return ok ? 0 : gbx_status_exit(GBX_E_UNSUPPORTED);
}

static int doctor_main(void *parsed)
{
    const doctor_args *args = parsed;
    GBX_CLEANUP(release) examination e = {.config = NULL};
    gbx_trouble trouble = {0};
    char own[PATH_MAX];
    const char *path = args->config;
    gbx_status status = GBX_OK;

    (void)signal(SIGPIPE, SIG_IGN); /* if a server is gone, write() fails */
    if (path == NULL) {
        status = gbx_mcp_config_path(NULL, own, &trouble.err);
        path = own;
    }
    if (status == GBX_OK) {
        trouble.file = path;
        gbx_cli_hide_memory();
        status =
            gbx_mcp_config_load(path, args->trust_files ? GBX_TRUST_ALL : GBX_TRUST_OWN,
                                &e.config, &trouble.err);
    }
    if (status == GBX_OK) {
        gbx_policy_print_warnings(e.config->rules->secrets);
        status = examine(&e, &trouble.err);
        (void)gbx_trouble_host(&trouble, status);
    } else {
        (void)gbx_trouble_input(&trouble, status);
        if (args->config == NULL && trouble.err.os_errno == ENOENT)
            trouble.hint = "'glovebox mcp import' makes one of the servers that hosts "
                           "have";
    }
    if (status == GBX_OK)
        return report(args, &e);
    return gbx_trouble_report(&trouble, args->json, args->common.color);
}

const gbx_command gbx_command_mcp_doctor = {
    .name = "mcp doctor",
    .summary = "start every server of a configuration, and say what it has",
    .usage = "mcp doctor [options]",
    .description =
        "Starts every server that is not disabled, all at once, and prints the version of\n"
        "the protocol that it speaks, its tools, and the time until they were known, and\n"
        "which patterns of the rules fit no tool. Exit status 69 if a server fails.",
    .examples = "glovebox mcp doctor\n"
                "glovebox mcp doctor --config ./mcp.json --json",
    .groups = groups,
    .args_size = sizeof(doctor_args),
    .run = doctor_main,
};
