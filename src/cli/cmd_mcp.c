/* SPDX-License-Identifier: MIT */
/* cmd_mcp - `glovebox mcp`: its options, and the processes that it needs. */
#include "cli/mcp_serve.h"

#include "mcp/config/config.h"
#include "mcp/console/console.h"
#include "mcp/data/data.h"
#include "mcp/telemetry/telemetry.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char *const examples[] = {"patterns", "values", "none", NULL};

static const gbx_opt served_rows[] = {
    GBX_ROW_LIST(gbx_mcp_args, data, "data", "NAME=FILE",
                 "compute over FILE (JSON, NDJSON, CSV), or over rows of a database: "
                 "NAME=sqlite:FILE?query=SELECT...; repeatable"),
    GBX_ROW_CHOICE(
        gbx_mcp_args, examples, "examples", "HOW", GBX_EXAMPLES_PATTERNS, examples,
        "what a model sees of records before it computes: patterns (default): three with "
        "letters as x and digits as 0 or 9; values: three as they are, with choices and "
        "figures; none"),
    GBX_ROW_LIST(
        gbx_mcp_args, show, "show", "NAME.FIELD",
        "show the values of this field of dataset NAME, and of all below it; NAME alone: "
        "of every field; repeatable"),
    GBX_ROW_LIST(
        gbx_mcp_args, preloads, "preload", "FILE",
        "run FILE, a script of yours such as a library, before the data is loaded; all code "
        "finds what it declares; repeatable"),
    GBX_ROW_TEXT(
        gbx_mcp_args, config, "config", "FILE",
        "code mode: scripts over the servers that FILE lists in \"mcpServers\", as hosts do"),
    {0},
};

static const gbx_opt http_rows[] = {
    GBX_ROW_TEXT(gbx_http_options, address, "http", "[ADDR:]PORT",
                 "serve over Streamable HTTP at this address instead of standard input "
                 "and output; ADDR is 127.0.0.1 unless given, PORT 0 any free one; "
                 "'systemd': at the sockets of its unit"),
    GBX_ROW_TEXT(gbx_http_options, socket, "socket", "PATH",
                 "serve over HTTP at this socket file, which its owner alone may use"),
    GBX_ROW_TEXT(gbx_http_options, path, "path", "PATH",
                 "serve at this path (default: /mcp)"),
    GBX_ROW_TEXT(
        gbx_http_options, token_file, "token-file", "FILE",
        "serve only requests with the token in FILE, as Authorization: Bearer"),
    GBX_ROW_TEXT(
        gbx_http_options, oauth_file, "oauth", "FILE",
        "serve only requests with an access token of the issuer in FILE, whose "
        "scopes say what their clients may use"),
    GBX_ROW_TEXT(
        gbx_http_options, tls_cert, "tls-cert", "FILE",
        "serve by TLS with the certificate and its chain in FILE (PEM): ADDR may "
        "be reached by other machines; needs --tls-key, and --oauth or "
        "--token-file"),
    GBX_ROW_TEXT(gbx_http_options, tls_key, "tls-key", "FILE",
                 "the key of --tls-cert (PEM, readable by its owner alone)"),
    GBX_ROW_FLAG(gbx_http_options, is_behind_proxy, "behind-proxy",
                 "a proxy with TLS is in front: any Host is accepted, and ADDR may be "
                 "reached by other machines; needs --oauth or --token-file"),
    {0},
};

static const gbx_opt output_rows[] = {
    GBX_ROW_TEXT(
        gbx_mcp_args, console, "console", "PORT",
        "serve a page at this port of 127.0.0.1 that shows calls, log and servers and "
        "asks you about calls; standard error has its address; PORT 0: any free one"),
    GBX_ROW_TEXT(
        gbx_mcp_args, security_log, "security-log", "FILE",
        "append to FILE what the code did and which requests were refused, one JSON object a line; "
        "'-' is standard error"),
    GBX_ROW_TEXT(
        gbx_mcp_args, otlp, "otlp", "URL",
        "send a trace of each call of a tool to the collector at URL, by OTLP over HTTP"),
    {0},
};

static const gbx_opt_group groups[] = {
    {"What is served", served_rows, 0},
    {"HTTP", http_rows, offsetof(gbx_mcp_args, http)},
    {"Policy", gbx_policy_rows, offsetof(gbx_mcp_args, policy)},
    {"Limits", gbx_limit_rows, offsetof(gbx_common_args, options)},
    {"Engine", gbx_engine_rows, offsetof(gbx_common_args, options)},
    {"Output", output_rows, 0},
    GBX_COMMON_GROUP,
    {0},
};

static const gbx_command *const subcommands[] = {&gbx_command_mcp_allow,
                                                 &gbx_command_mcp_deny,
                                                 &gbx_command_mcp_login,
                                                 &gbx_command_mcp_logout,
                                                 &gbx_command_mcp_import,
                                                 &gbx_command_mcp_doctor,
                                                 NULL};

/* ---- the processes --------------------------------------------------------------- */

/* Serve in the process that listens. */
static gbx_status serve_front(gbx_mcp_args *args, int spawner, gbx_error *err)
{
    gbx_status status = GBX_OK;

    if (args->http.oauth_file != NULL)
        status = gbx_access_new(&args->access, &args->http.access, err);
    if (args->console != NULL) {
        args->page = gbx_console_new(args->console);
        args->http.console = args->page;
    }
    if (status == GBX_OK)
        status = gbx_http_serve(&args->http, spawner, err);
    gbx_console_free(args->page);
    gbx_access_free(args->http.access);
    return status;
}

static bool is_http(const gbx_mcp_args *args)
{
    return args->http.address != NULL || args->http.socket != NULL;
}

/* Serve with children. Returns in the front when it ends, and in each child when its
 * client is served. */
static int serve_by_children(gbx_mcp_args *args)
{
    gbx_trouble trouble = {0};
    gbx_term err = gbx_term_open(stderr, (gbx_color)args->common.color);
    gbx_http_caller caller = {0};
    gbx_status status;
    int spawner = -1;

    args->http.trust = args->policy.trust_files ? GBX_TRUST_ALL : GBX_TRUST_OWN;
    if (args->http.path == NULL)
        args->http.path = "/mcp";
    if (gbx_http_check(&args->http, &trouble.err) != GBX_OK)
        return gbx_command_misuse(&gbx_command_mcp, false, trouble.err.message);
    trouble.file = args->http.oauth_file; /* children need it, too */
    if (trouble.file != NULL &&
        !gbx_trouble_input(&trouble, gbx_access_read(trouble.file, args->http.trust,
                                                     &args->access, &trouble.err))) {
        gbx_trouble_print(&err, &trouble);
        return trouble.exit;
    }
    trouble.file = NULL;
    args->http.metrics = gbx_need(gbx_metrics_new());
    status = gbx_spawner_start(&spawner, &caller, &args->page_fd, &trouble.err);
    if (status == GBX_OK && spawner < 0)
        return args->http.oauth_file != NULL ? gbx_mcp_serve_granted(args, &caller)
                                             : gbx_mcp_serve(args);
    if (args->http.token_file != NULL || args->http.tls_key != NULL ||
        args->console != NULL)
        gbx_cli_hide_memory();
    if (status == GBX_OK && !is_http(args)) {
        int served;

        /* Serve over stdio, and the page, whose own calls are served by children. */
        args->page = gbx_console_new(args->console);
        args->spawner = spawner;
        served = gbx_mcp_serve(args);
        gbx_console_free(args->page);
        (void)close(spawner);
        return served;
    }
    gbx_mcp_raise_descriptors();
    if (!gbx_trouble_host(&trouble, status) ||
        !gbx_trouble_input(&trouble, gbx_http_read_token(&args->http, &trouble.err)) ||
        !gbx_trouble_host(&trouble, serve_front(args, spawner, &trouble.err)))
        gbx_trouble_print(&err, &trouble);
    return trouble.exit;
}

/* The name of a limit option that is set, or NULL. */
static const char *given_limit(const gbx_limits *limits)
{
    return limits->timeout_ms > 0     ? "timeout"
           : limits->cpu_ms > 0       ? "cpu"
           : limits->memory_bytes > 0 ? "memory"
           : limits->output_bytes > 0 ? "max-output"
                                      : NULL;
}

static int mcp_main(void *parsed)
{
    gbx_mcp_args *args = parsed;
    gbx_error err = {0};
    const char *limit = given_limit(&args->common.options.limits);
    char message[160];
    int status;

    args->spawner = args->page_fd = -1;
    if (args->console != NULL && gbx_console_check(args->console, &err) != GBX_OK)
        return gbx_command_misuse(&gbx_command_mcp, false, err.message);
    if (!is_http(args) &&
        (args->http.path != NULL || args->http.token_file != NULL ||
         args->http.oauth_file != NULL || args->http.tls_cert != NULL ||
         args->http.tls_key != NULL || args->http.is_behind_proxy))
        return gbx_command_misuse(&gbx_command_mcp, false,
                                  "'--path', '--token-file', '--oauth', '--tls-cert', "
                                  "'--tls-key' and '--behind-proxy' need --http or "
                                  "--socket");
    if (!is_http(args) &&
        (!gbx_fd_is_open(STDIN_FILENO) || !gbx_fd_is_open(STDOUT_FILENO)))
        return gbx_command_misuse(&gbx_command_mcp, false,
                                  "standard input or output is closed");
    if (args->data.count == 0 && args->config == NULL)
        return gbx_command_misuse(&gbx_command_mcp, false,
                                  "there is nothing to serve: give --data or --config");
    /* Refuse a limit without effect: the user would believe that it applies to
     * scripts. */
    if (args->data.count == 0 && limit != NULL) {
        (void)snprintf(message, sizeof message,
                       "'--%s' is a limit of --data: those of scripts are \"limits\" "
                       "under \"glovebox\" in the file of --config",
                       limit);
        return gbx_command_misuse(&gbx_command_mcp, false, message);
    }
    if (args->data.count == 0 &&
        (args->show.count > 0 || args->examples != GBX_EXAMPLES_PATTERNS))
        return gbx_command_misuse(&gbx_command_mcp, false,
                                  "'--show' and '--examples' are about --data");
    if (args->otlp != NULL && strncmp(args->otlp, "http://", 7) != 0 &&
        strncmp(args->otlp, "https://", 8) != 0)
        return gbx_command_misuse(&gbx_command_mcp, false,
                                  "'--otlp' is a URL of http or https");
    (void)signal(SIGPIPE, SIG_IGN); /* if the client is gone, write() fails */
    status = is_http(args) || args->console != NULL ? serve_by_children(args)
                                                    : gbx_mcp_serve(args);
    gbx_access_file_cleanup(&args->access);
    return status;
}

const gbx_command gbx_command_mcp = {
    .name = "mcp",
    .summary = "serve the Model Context Protocol",
    .usage = "mcp [--data NAME=FILE]... [--config FILE] [options]",
    .description =
        "Serves models: one JSON-RPC message a line on standard input and output, in\n"
        "2026-07-28 as in the versions from 2024-11-05 on. Nothing else is ever written\n"
        "to standard output. It ends with its input, or by SIGTERM, within a second. With\n"
        "--http it listens at an address instead.",
    .examples =
        "claude mcp add orders -- glovebox mcp --data orders=\"$PWD/orders.csv\"\n"
        "claude mcp add servers -- glovebox mcp --config \"$PWD/servers.json\"",
    .groups = groups,
    .args_size = sizeof(gbx_mcp_args),
    .subcommands = subcommands,
    .run = mcp_main,
};
