/* SPDX-License-Identifier: MIT */
/*
 * mcp_serve - makes and frees the parts of the server. The process ends within a second
 * of the end of its input, even if calls are running.
 */
#include "cli/mcp_serve.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "base/utf8.h"
#include "mcp/code/code.h"
#include "mcp/config/config.h"
#include "mcp/console/console.h"
#include "mcp/data/data.h"
#include "mcp/proxy/proxy.h"
#include "mcp/rules/rules.h"
#include "mcp/server/server.h"
#include "mcp/telemetry/telemetry.h"

#include <errno.h>
#include <fcntl.h>
#include <glovebox/version.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- the servers of code mode -------------------------------------------------- */

/*
 * The configuration, its upstream servers, the gate before them, and the tools over
 * them, made in this order: each needs the one before.
 */

/* Zeroed: no servers. */
typedef struct servers_of_code {
    const gbx_mcp_server *server;
    gbx_mcp_config *config;
    gbx_upstreams *upstreams;
    gbx_gate *gate;
    gbx_mcp_code *code;
    gbx_otlp_sender *traces;
    gbx_proxy *proxy;
} servers_of_code;

static void on_tools(void *user, const char *server)
{
    servers_of_code *servers = user;

    if (servers->code != NULL)
        gbx_mcp_code_tools_changed(servers->code, server);
}

static void on_news(void *user, const gbx_mcp_upstream_config *server,
                    gbx_upstream_news news, gbx_view uri)
{
    const servers_of_code *servers = user;

    if (servers->proxy != NULL)
        gbx_proxy_on_news(servers->proxy, server, news, uri);
}

static unsigned can_ask(void *user)
{
    const servers_of_code *servers = user;

    return gbx_mcp_server_can_ask(servers->server);
}

static void on_log(void *user, const char *server, const char *line)
{
    const servers_of_code *servers = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {.ceiling = GBX_KIB(64)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(64)};

    if (servers->gate != NULL &&
        gbx_gate_redact(servers->gate, line, strlen(line), &clean) &&
        gbx_utf8_append_escaped(&text, clean.data, clean.len, GBX_ESCAPE_LINE))
        gbx_mcp_warn("%s: %.*s", server, (int)text.len, (const char *)text.data);
}

static gbx_status own_config(char path[PATH_MAX], gbx_error *reterr)
{
    const char *folder = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int n = PATH_MAX;

    if (folder != NULL && folder[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/glovebox/mcp.json", folder);
    else if (home != NULL && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.config/glovebox/mcp.json", home);
    return n < PATH_MAX ? GBX_OK
                        : gbx_fail(reterr, GBX_E_USAGE,
                                   "no home directory: give the file by '--config'");
}

gbx_status gbx_mcp_config_path(const char *path, char out[PATH_MAX], gbx_error *reterr)
{
    char here[PATH_MAX] = "";
    struct stat st;
    int error = 0;

    if (path == NULL)
        return own_config(out, reterr);
    if (path[0] == '\0')
        error = ENOENT;
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

/* Call after the loop has ended, before the server is freed and the log is closed. */
static void close_servers(servers_of_code *servers)
{
    gbx_upstreams_part(servers->upstreams);
    gbx_mcp_code_free(servers->code);
    gbx_proxy_free(servers->proxy);
    servers->proxy = NULL;
    gbx_gate_free(servers->gate);
    servers->gate = NULL; /* for on_log(): servers may still send messages */
    gbx_otlp_sender_free(servers->traces);
    gbx_upstreams_free(servers->upstreams);
    gbx_mcp_config_free(servers->config);
    servers->code = NULL;
    servers->upstreams = NULL;
    servers->config = NULL;
}

/* ---- the process ---------------------------------------------------------------- */

/* Time to free everything after GBX_MCP_STDIO_END_MS. Together they leave time of the
 * second for a busy machine. */
#define FREE_MS 200

/* Most scripts only wait, for servers or people; each costs 2 MB and six
 * descriptors. */
#define WORKERS_MAX 256

/* Everything that must be undone, in the order in which it was done. */
typedef struct serving {
    gbx_mcp_args *args;
    gbx_term err;
    int in_fd;
    int out_fd;
    gbx_security_log security_log;
    gbx_policy *policy;
    gbx_file_text preload_texts[GBX_OPT_LIST_MAX];
    gbx_preload preloads[GBX_OPT_LIST_MAX];
    gbx_options options;
    gbx_mcp_loop *loop;
    gbx_telemetry *telemetry;
    gbx_mcp_server *server;
    gbx_mcp_stdio *stdio;
    gbx_console_link *page; /* or NULL */
    gbx_mcp_data *data;
    servers_of_code servers;
    gbx_trouble trouble;
} serving;

/* ---- descriptors ------------------------------------------------------------ */

bool gbx_fd_is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/*
 * The protocol gets separate descriptors: stray output of this process, or of one that
 * it starts, cannot end up in the middle of a message.
 */
static bool take_descriptors(serving *s)
{
    GBX_CLEANUP(gbx_fd_close) int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    s->in_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    s->out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (null_fd < 0 || s->in_fd < 0 || s->out_fd < 0 ||
        dup2(null_fd, STDIN_FILENO) < 0 ||
        dup2(gbx_fd_is_open(STDERR_FILENO) ? STDERR_FILENO : null_fd, STDOUT_FILENO) <
            0)
        return gbx_trouble_host(&s->trouble,
                                gbx_fail(&s->trouble.err, GBX_E_OS,
                                         "cannot prepare standard input and output"));
    return true;
}

/* ---- parts -------------------------------------------------------------------- */

static bool open_security_log(serving *s, const char *path)
{
    gbx_status status = GBX_OK;

    if (path != NULL && !s->security_log.is_open)
        status = gbx_security_log_open(&s->security_log, path, GBX_LOG_DROPS_LINES,
                                       &s->trouble.err);
    if (s->args->client != NULL && s->args->client->name[0] != '\0')
        s->security_log.client = s->args->client->name;
    return gbx_trouble_output(&s->trouble, status);
}

/* ---- the rights of an OAuth client ------------------------------------------------ */

/* A function of gbx_gate_rules_select(). Without OAuth a client has no scope. */
static bool has_scope(const void *user, const char *scope)
{
    const gbx_mcp_args *args = user;

    for (size_t i = 0; args->client != NULL && i < args->access.scope_count; i++)
        if ((args->client->rights >> i & 1) != 0 &&
            strcmp(args->access.scopes[i].name, scope) == 0)
            return true;
    return false;
}

/* gbx_mcp_server_options.offers */
static bool offers(const void *user, const char *tool)
{
    const gbx_mcp_args *args = user;

    return args->client == NULL ||
           gbx_access_gives_tool(&args->access, args->client->rights, tool);
}

/* Keep the items about datasets that the client may use; each begins with a name. */
static void keep_datasets(const gbx_mcp_args *args, gbx_opt_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        char *name = gbx_need(strndup(list->item[i], strcspn(list->item[i], "=.")));

        if (gbx_access_gives_dataset(&args->access, args->client->rights, name))
            list->item[kept++] = list->item[i];
        free(name);
    }
    list->count = kept;
}

/* Read the file with mcpServers. Reading a FIFO may block, so signals must still have
 * their default actions. */
static bool read_servers(serving *s)
{
    const char *path = s->args->config;
    gbx_trust trust = s->args->policy.trust_files ? GBX_TRUST_ALL : GBX_TRUST_OWN;
    gbx_status status;

    if (path == NULL)
        return true;
    gbx_cli_hide_memory();
    status = gbx_mcp_config_load(path, trust, &s->servers.config, &s->trouble.err);
    s->trouble.file = path;
    if (!gbx_trouble_input(&s->trouble, status))
        return false;
    s->trouble.file = NULL;
    gbx_gate_rules_select(s->servers.config->rules, has_scope, s->args);
    if (s->servers.config->server_count == 0) /* a host may start us before the first */
        gbx_mcp_warn("no servers in '%s': they belong under \"mcpServers\", or "
                     "\"servers\", at its top",
                     path);
    gbx_policy_print_warnings(s->servers.config->rules->secrets);
    return true;
}

/* Start the servers that were read. The log is set first: engines copy the options. */
static gbx_status start_servers(serving *s)
{
    servers_of_code *servers = &s->servers;
    /* At a public address, the person is elsewhere. */
    bool is_here = s->args->client == NULL && !gbx_http_is_public(&s->args->http);
    gbx_options options;
    gbx_gate_options gate_options;
    gbx_upstream_hooks hooks = {.user = servers,
                                .tools_changed = on_tools,
                                .news = on_news,
                                .log = on_log,
                                .can_ask = can_ask};

    servers->server = s->server;
    servers->upstreams = gbx_upstreams_new(s->loop, servers->config, &hooks);
    gbx_security_log_use(&s->security_log, &s->options);
    gate_options = (gbx_gate_options){
        .on_line = s->options.on_audit,
        .on_line_user = s->options.audit_user,
        .page = s->page != NULL && is_here ? gbx_console_link_address(s->page) : NULL,
        .takes_sign_ins = is_here,
        .keeps_no_answers = s->args->client != NULL,
    };
    servers->gate =
        gbx_gate_new(s->loop, servers->config, servers->upstreams, &gate_options);
    /* Whoever may not call servers may not read them, either. */
    if (offers(s->args, "call"))
        servers->proxy = gbx_proxy_new(s->loop, s->server, servers->config,
                                       servers->upstreams, servers->gate);
    for (size_t i = 0; i < servers->config->server_count; i++) {
        const gbx_mcp_upstream_config *one = &servers->config->servers[i];

        if (one->fault != NULL)
            on_log(servers, one->name, one->fault);
    }
    if (s->page != NULL)
        gbx_console_link_servers(s->page, servers->config, servers->upstreams);
    options = s->options;
    if (s->args->data.count > 0)
        options.limits = gbx_mcp_data_limits(&s->options);
    return gbx_mcp_code_new(s->loop, s->server, servers->config, servers->upstreams,
                            servers->gate, &options, &servers->code, &s->trouble.err);
}

static gbx_status start_telemetry(serving *s)
{
    const gbx_http_options *http = &s->args->http;
    const char *service = getenv("OTEL_SERVICE_NAME");

    if (s->args->otlp == NULL)
        service = NULL;
    else if (service == NULL || *service == '\0')
        service = "glovebox";
    if (service != NULL || http->metrics != NULL)
        s->telemetry = gbx_telemetry_new(http->metrics, service);
    if (service == NULL)
        return GBX_OK;
    gbx_cli_hide_memory(); /* headers may hold a key */
    return gbx_otlp_sender_new(s->loop, s->telemetry, s->args->otlp, &s->servers.traces,
                               &s->trouble.err);
}

/* Connect to the page, which over stdio this process serves itself. */
static bool join_page(serving *s)
{
    static const gbx_http_caller everybody = {0};
    gbx_mcp_args *args = s->args;
    gbx_status status = GBX_OK;

    if (args->page != NULL)
        status = args->page->start(args->page, s->loop, args->spawner, &everybody,
                                   &s->trouble.err);
    if (args->page != NULL && status == GBX_OK)
        args->page_fd = args->page->join(args->page);
    if (args->page_fd < 0)
        return gbx_trouble_host(&s->trouble, status);
    s->page = gbx_console_link_new(s->loop, s->server, gbx_fd_take(&args->page_fd));
    s->security_log.also = gbx_console_link_line;
    s->security_log.also_user = s->page;
    return true;
}

static bool start_server(serving *s)
{
    gbx_mcp_server_options about = {
        .name = "glovebox",
        .title = "Glovebox",
        .version = GBX_VERSION,
        .description = "Runs JavaScript in sealed, single-use processes: computation "
                       "over data that is never shown, and scripts over other servers",
        .offers = offers,
        .offers_user = s->args,
    };
    gbx_status status;

    s->options = s->args->common.options;
    s->options.policy = s->policy;
    s->options.preloads = s->preloads;
    s->options.preload_count =
        gbx_preloads_of(&s->args->preloads, s->preload_texts, s->preloads);
    s->options.max_workers = WORKERS_MAX;
    s->loop = gbx_mcp_loop_new();
    if (s->loop == NULL)
        return gbx_trouble_host(&s->trouble, gbx_fail(&s->trouble.err, GBX_E_OS,
                                                      "cannot make an event loop: %s",
                                                      strerror(errno)));
    if (!gbx_trouble_host(&s->trouble, start_telemetry(s)))
        return false;
    about.telemetry = s->telemetry;
    s->server = gbx_mcp_server_new(s->loop, &about);
    status = gbx_mcp_stdio_new(s->loop, s->server, s->in_fd, s->out_fd, &s->stdio,
                               &s->trouble.err);
    if (!gbx_trouble_host(&s->trouble, status) || !join_page(s))
        return false;
    gbx_security_log_use(&s->security_log, &s->options);
    if (s->args->config == NULL)
        return true;
    s->trouble.file = s->args->config;
    if (s->options.runner_name == NULL)
        s->options.runner_name = s->servers.config->settings.runner;
    /* The log that the file names is used only without --security-log. */
    if (!open_security_log(s, s->servers.config->settings.audit_path) ||
        !gbx_trouble_host(&s->trouble, start_servers(s)))
        return false;
    s->trouble.file = NULL;
    return true;
}

/* An unreadable file affects only its dataset: calls that use it get the error. If all
 * are unreadable, there is nothing to serve. */
static bool probe_data(serving *s)
{
    const gbx_opt_list *data = &s->args->data;
    bool has_any = s->args->config != NULL;
    gbx_status status = GBX_OK;

    for (size_t i = 0; i < data->count && (status == GBX_OK || status == GBX_E_OS);
         i++) {
        status = gbx_mcp_data_probe(data->item[i], &s->trouble.err);
        has_any = has_any || status == GBX_OK;
    }
    return (status == GBX_E_OS && has_any) || gbx_trouble_input(&s->trouble, status);
}

static bool offer_data(serving *s)
{
    const gbx_opt_list *data = &s->args->data;
    const gbx_shown shown = {.examples = (gbx_examples)s->args->examples,
                             .fields = s->args->show.item,
                             .count = s->args->show.count};
    gbx_status status;

    if (data->count == 0)
        return true;
    if (!probe_data(s))
        return false;
    status = gbx_mcp_data_new(s->loop, s->server, data->item, data->count, &s->options,
                              &shown, s->servers.code, &s->data, &s->trouble.err);
    return gbx_trouble_host(&s->trouble, status);
}

static void instruct(const serving *s)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(64)};

    if (s->servers.code != NULL && offers(s->args, "execute"))
        gbx_mcp_code_put_instructions(s->servers.code, &text);
    if (s->data != NULL && offers(s->args, "compute"))
        gbx_mcp_data_put_instructions(s->data, &text);
    if (s->servers.code != NULL && s->data != NULL && offers(s->args, "execute"))
        (void)gbx_buf_puts(&text,
                           "Code of execute finds the datasets, too, as "
                           "datasets.NAME: join them there with what tools give.\n");
    if (gbx_buf_append(&text, "", 1))
        gbx_mcp_server_set_instructions(s->server, (const char *)text.data);
}

/* For on_alarm(). */
static volatile sig_atomic_t exit_status;

static void on_alarm(int number)
{
    /* The kernel kills workers and upstream servers when this process ends. */
    _exit(exit_status);
}

static void cleanup(serving *s)
{
    gbx_console_link_free(s->page);
    if (s->args->page != NULL)
        s->args->page->stop(s->args->page);
    gbx_mcp_stdio_free(s->stdio);
    gbx_mcp_server_free(s->server);
    gbx_telemetry_free(s->telemetry);
    gbx_mcp_loop_free(s->loop);
    gbx_policy_free(s->policy);
    gbx_preloads_cleanup(s->preload_texts);
    gbx_fd_close(&s->in_fd);
    gbx_fd_close(&s->out_fd);
}

static int lose_lines(serving *s, gbx_trouble *trouble)
{
    (void)gbx_trouble_output(trouble, GBX_E_OS);
    exit_status = trouble->exit; /* the print may block */
    gbx_trouble_print(&s->err, trouble);
    return trouble->exit;
}

/* Report a failure of input or output that ended the server. */
static int look_at_the_end(serving *s, int status)
{
    gbx_trouble trouble = {0};
    int read_errno = gbx_mcp_stdio_read_errno(s->stdio);
    int write_errno = gbx_mcp_stdio_write_errno(s->stdio);

    if (read_errno != 0) {
        (void)gbx_fail(&trouble.err, GBX_E_OS, "cannot read standard input: %s",
                       gbx_fail_reason(read_errno));
        (void)gbx_trouble_input(&trouble, GBX_E_OS);
        gbx_trouble_print(&s->err, &trouble);
        return trouble.exit;
    }
    if (write_errno == 0)
        return status;
    (void)gbx_fail(&trouble.err, GBX_E_OS, "cannot write to standard output: %s",
                   gbx_fail_reason(write_errno));
    return lose_lines(s, &trouble);
}

/* Lost lines are reported before anything is freed, which may take too long. */
static int look_at_the_log(serving *s, int status,
                           gbx_status (*look)(gbx_security_log *, gbx_error *))
{
    gbx_trouble trouble = {0};

    if (look(&s->security_log, &trouble.err) == GBX_OK)
        return status;
    return lose_lines(s, &trouble);
}

/* Each call needs some descriptors, and the usual limit is for programs that use
 * select(). Upstream servers keep the old limit: gbx_upstreams_new() has read it. */
void gbx_mcp_raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int gbx_mcp_serve(gbx_mcp_args *args)
{
    serving s = {.args = args, .in_fd = -1, .out_fd = -1};
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {0};
    uint32_t spans_ms = 0;
    int status;

    s.err = gbx_term_open(stderr, (gbx_color)args->common.color);
    if (gbx_policy_args_make(&args->policy, &s.policy, &s.trouble) &&
        gbx_preloads_read(&args->preloads, s.preload_texts, &s.trouble) &&
        open_security_log(&s, args->security_log) && take_descriptors(&s) &&
        read_servers(&s) && start_server(&s) && offer_data(&s)) {
        instruct(&s);
        gbx_mcp_raise_descriptors();
        status = look_at_the_end(&s, gbx_mcp_loop_run(s.loop));
        /* Exit then, freed or not: a client that waits would kill us anyway. */
        if (s.servers.traces != NULL)
            spans_ms = gbx_timeout_ms(GBX_TIMEOUT_LAST_SPANS);
        timer.it_value = gbx_clock_timeval(FREE_MS + spans_ms);
        exit_status = status;
        (void)sigaction(SIGALRM, &action, NULL);
        (void)setitimer(ITIMER_REAL, &timer, NULL);
        status = look_at_the_log(&s, status, gbx_security_log_check);
    } else {
        gbx_trouble_print(&s.err, &s.trouble);
        status = s.trouble.exit;
    }
    gbx_mcp_data_free(s.data); /* its threads load datasets for scripts, too */
    close_servers(&s.servers);
    cleanup(&s);
    return look_at_the_log(&s, status, gbx_security_log_close);
}

/* Serve the client of this process as its rights allow. */
int gbx_mcp_serve_granted(gbx_mcp_args *args, const gbx_http_caller *client)
{
    args->client = client;
    keep_datasets(args, &args->data);
    keep_datasets(args, &args->show);
    return gbx_mcp_serve(args);
}
