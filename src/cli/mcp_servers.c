/* SPDX-License-Identifier: MIT */
/* mcp_servers - opens the parts in the order in which each needs the one before. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/import/import.h"
#include "mcp/rules/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A writable pipe accepts so much at once. */
#define LINE_BYTES ((size_t)4096)

static void on_tools(void *user, const char *server)
{
    gbx_mcp_servers *servers = user;

    if (servers->code != NULL)
        gbx_mcp_code_tools_changed(servers->code, server);
}

/* Print for a person, who may not be reading: a line that would block is dropped, since
 * everything else would wait too. */
static void say(gbx_buf *text)
{
    text->len = text->len < LINE_BYTES ? text->len : LINE_BYTES - 1;
    if (gbx_buf_append(text, "\n", 1))
        (void)gbx_fd_offer(STDERR_FILENO, text->data, text->len, 0);
}

static void on_log(void *user, const char *server, const char *line)
{
    const gbx_mcp_servers *servers = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&clean, GBX_KIB(64));
    gbx_buf_init(&text, GBX_KIB(64));
    (void)gbx_buf_printf(&text, "glovebox: %s: ", server);
    if (servers->gate != NULL &&
        gbx_gate_redact(servers->gate, line, strlen(line), &clean) &&
        gbx_utf8_append_escaped(&text, clean.data, clean.len, GBX_ESCAPE_LINE))
        say(&text);
}

/* Not an error: a host may start us before the first server is there. */
static void say_none(const char *path)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, GBX_KIB(64));
    (void)gbx_buf_printf(&text,
                         "glovebox: no servers in '%s': they belong under "
                         "\"mcpServers\", or \"servers\", at its top",
                         path);
    say(&text);
}

/* Report what differs from the configuration. */
static void say_trouble(gbx_mcp_servers *servers)
{
    char line[512];

    for (size_t i = 0; i < servers->config->server_count; i++) {
        const gbx_mcp_upstream_config *one = &servers->config->servers[i];

        if (one->fault != NULL)
            on_log(servers, one->name, one->fault);
        if (one->unsent_headers == NULL || one->disabled)
            continue;
        (void)snprintf(line, sizeof line, GBX_MCP_UNSENT_FORMAT, one->unsent_headers);
        on_log(servers, one->name, line);
    }
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_mcp_own_config(char path[PATH_MAX], gbx_error *reterr)
{
    return gbx_host_own_path(path)
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_USAGE,
                          "no home directory: give the file by '--config'");
}

gbx_status gbx_mcp_whole_path(const char *path, char out[PATH_MAX], gbx_error *reterr)
{
    char here[PATH_MAX] = "";
    struct stat st;
    int error = path[0] == '\0' ? ENOENT : 0;

    if (error == 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        error = EISDIR;
    if (error == 0 && realpath(path, out) != NULL)
        return GBX_OK;
    if (error == 0 && path[0] != '/' && getcwd(here, sizeof here) == NULL)
        error = errno;
    if (error == 0 && snprintf(out, PATH_MAX, "%s%s%s", here, path[0] != '/' ? "/" : "",
                               path) >= PATH_MAX)
        error = ENAMETOOLONG;
    return error == 0
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_OS, "cannot read the configuration '%s': %s",
                          path, gbx_fail_reason(error));
}

gbx_status gbx_mcp_servers_read(gbx_mcp_servers *servers, const char *path,
                                gbx_trust trust, gbx_error *reterr)
{
    gbx_status status;

    if (path != NULL)
        gbx_cli_hide_memory();
    status = gbx_mcp_config_load(path, trust, &servers->config, reterr);
    if (status != GBX_OK)
        return status;
    if (servers->config->server_count == 0)
        say_none(path);
    gbx_policy_print_warnings(servers->config->rules->secrets);
    return GBX_OK;
}

gbx_status gbx_mcp_servers_open(gbx_mcp_servers *servers, gbx_mcp_loop *loop,
                                gbx_mcp_server *server, gbx_security_log *log,
                                gbx_options *options, gbx_error *reterr)
{
    gbx_upstream_hooks hooks = {.user = servers,
                                .tools_changed = on_tools,
                                .log = on_log};
    gbx_status status = GBX_OK;

    if (!log->is_open && servers->config->settings.audit_path != NULL)
        status = gbx_security_log_open(log, servers->config->settings.audit_path,
                                       GBX_LOG_DROPS_LINES, reterr);
    if (status == GBX_OK)
        status = gbx_upstreams_new(loop, servers->config, &hooks, &servers->upstreams,
                                   reterr);
    if (status == GBX_OK)
        status = gbx_gate_new(loop, servers->config, servers->upstreams, &servers->gate,
                              reterr);
    if (status != GBX_OK)
        return status;
    say_trouble(servers);
    gbx_security_log_use(log, options);
    if (options->on_audit != NULL)
        gbx_gate_on_audit(servers->gate, options->on_audit, options->audit_user);
    return gbx_mcp_code_new(loop, server, servers->config, servers->upstreams,
                            servers->gate, options, &servers->code, reterr);
}

void gbx_mcp_servers_close(gbx_mcp_servers *servers)
{
    gbx_upstreams_part(servers->upstreams);
    gbx_mcp_code_free(servers->code);
    gbx_gate_free(servers->gate);
    servers->gate = NULL; /* servers may still send messages */
    gbx_upstreams_free(servers->upstreams);
    gbx_mcp_config_free(servers->config);
    servers->code = NULL;
    servers->upstreams = NULL;
    servers->config = NULL;
}
