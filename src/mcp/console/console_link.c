/* SPDX-License-Identifier: MIT */
/* console_link - reports to the hub what a server process does, and takes answers. */
#include "mcp/console/console.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of lines of the log that wait for a turn of the loop, in bytes. They have
 * numbers, which show a loss. */
#define LINES_MAX GBX_MIB(4)

/* How often the state of servers is looked at while somebody sees it. */
#define SERVERS_MS 500

struct gbx_console_link {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_child_set ends;
    gbx_child_link *end; /* NULL: the hub has ended */
    char address[80];
    bool is_watched;
    pthread_mutex_t lock;
    gbx_buf lines; /* under lock: not sent yet */
    gbx_mcp_post post;
    gbx_mcp_timer look;
    const gbx_mcp_config *config; /* NULL: no servers */
    const gbx_upstreams *upstreams;
    char *servers; /* as sent last, or NULL */
};

/* number 0: none. */
static void send_line(const gbx_console_link *link, char kind, uint64_t number,
                      const char *text)
{
    GBX_CLEANUP(gbx_free)
    char *line = number > 0 ? gbx_printed("%c%" PRIu64 "%s", kind, number, text)
                            : gbx_printed("%c%s", kind, text);

    if (link->end != NULL)
        (void)gbx_child_send(link->end, line, strlen(line));
}

/* ---- lines of the log ---------------------------------------------------------------- */

/* Send the lines of all threads. */
static void send_lines(void *user)
{
    gbx_console_link *link = user;
    gbx_buf lines;

    (void)pthread_mutex_lock(&link->lock);
    lines = link->lines;
    gbx_buf_init(&link->lines, LINES_MAX);
    (void)pthread_mutex_unlock(&link->lock);
    if (link->end != NULL && lines.len > 0)
        (void)gbx_child_send(link->end, lines.data, lines.len - 1);
    gbx_buf_cleanup(&lines);
}

void gbx_console_link_line(void *user, const char *line, size_t len)
{
    gbx_console_link *link = user;

    (void)pthread_mutex_lock(&link->lock);
    if (link->lines.len + len < LINES_MAX)
        (void)gbx_buf_printf(&link->lines, "%c%.*s", GBX_CONSOLE_EVENT, (int)len, line);
    (void)pthread_mutex_unlock(&link->lock);
    gbx_mcp_loop_post(link->loop, &link->post);
}

/* ---- servers ------------------------------------------------------------------------- */

static void put_server(gbx_buf *to, const gbx_console_link *link,
                       const gbx_mcp_upstream_config *config)
{
    static const char *const states[] = {
        [GBX_UPSTREAM_STOPPED] = "stopped",
        [GBX_UPSTREAM_STARTING] = "starting",
        [GBX_UPSTREAM_READY] = "ready",
        [GBX_UPSTREAM_BROKEN] = "broken",
    };
    gbx_upstream_info info = {.fault = ""};
    char fault[512] = "";

    if (!config->disabled)
        info = gbx_upstreams_info(link->upstreams, config);
    gbx_redact_copy(link->config->rules->secrets, info.fault, fault, sizeof fault);
    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_text(to, "name", config->name);
    gbx_json_put_text(to, "state", config->disabled ? "disabled" : states[info.state]);
    gbx_json_put_text(to, "protocol", info.era);
    gbx_json_put_text(to, "serverName", info.server_name);
    gbx_json_put_text(to, "version", info.version);
    if (info.tools.at != NULL)
        gbx_json_put_integer(to, "tools", (int64_t)gbx_view_count(info.tools));
    if (info.start_ms > 0)
        gbx_json_put_number(to, "startMs", info.start_ms);
    gbx_json_put_text(to, "fault", fault);
    (void)gbx_buf_puts(to, "}");
}

/* Report the servers if anything has changed. */
static void look_at_servers(void *user)
{
    gbx_console_link *link = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = GBX_MIB(4)};

    if (link->config == NULL || !link->is_watched)
        return;
    gbx_mcp_timer_set(&link->look, SERVERS_MS);
    (void)gbx_buf_puts(&to, "[");
    for (size_t i = 0; i < link->config->server_count; i++)
        put_server(&to, link, &link->config->servers[i]);
    if (!gbx_buf_append(&to, "]", 2) ||
        (link->servers != NULL && strcmp(link->servers, (const char *)to.data) == 0))
        return;
    free(link->servers);
    link->servers = gbx_need(gbx_buf_take_string(&to, NULL));
    send_line(link, GBX_CONSOLE_SERVERS, 0, link->servers);
}

void gbx_console_link_servers(gbx_console_link *link, const gbx_mcp_config *config,
                              const gbx_upstreams *upstreams)
{
    link->config = config;
    link->upstreams = upstreams;
}

/* ---- questions and answers ----------------------------------------------------------- */

static bool is_watched(const void *user)
{
    const gbx_console_link *link = user;

    return link->is_watched;
}

static void show(void *user, uint64_t number, const char *json)
{
    send_line(user, GBX_CONSOLE_SHOW, number, json);
}

static void hide(void *user, uint64_t number)
{
    send_line(user, GBX_CONSOLE_HIDE, number, "");
}

static void set_watched(gbx_console_link *link, bool is)
{
    bool was = link->is_watched;

    link->is_watched = is;
    if (was && !is)
        gbx_mcp_page_left(link->server);
    free(link->servers); /* the browser may be a new one */
    link->servers = NULL;
    gbx_mcp_timer_fire(&link->look);
}

static void on_line(void *user, const char *line, size_t len)
{
    gbx_console_link *link = user;
    GBX_CLEANUP(gbx_free) char *text = gbx_need(strndup(line + 1, len - 1));
    char *rest;
    uint64_t number = strtoull(text, &rest, 10);
    gbx_view answer;

    if (line[0] == GBX_CONSOLE_ADDRESS)
        (void)snprintf(link->address, sizeof link->address, "%s/", text);
    else if (line[0] == GBX_CONSOLE_WATCHED)
        set_watched(link, number == 1);
    else if (line[0] == GBX_CONSOLE_ANSWER &&
             gbx_view_open(rest, strlen(rest), &answer))
        gbx_mcp_page_answer(link->server, number, answer);
}

static void on_ended(void *user)
{
    gbx_console_link *link = user;

    gbx_child_free(link->end);
    link->end = NULL;
    link->address[0] = '\0';
    set_watched(link, false);
}

gbx_console_link *gbx_console_link_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                                       int fd)
{
    gbx_console_link *link = gbx_need(calloc(1, sizeof *link));
    const gbx_child_hooks hooks = {.user = link, .line = on_line, .ended = on_ended};
    const gbx_mcp_page page = {.user = link,
                               .is_watched = is_watched,
                               .show = show,
                               .hide = hide};

    link->loop = link->ends.loop = loop;
    link->server = server;
    link->post = (gbx_mcp_post){.run = send_lines, .arg = link};
    (void)pthread_mutex_init(&link->lock, NULL);
    gbx_buf_init(&link->lines, LINES_MAX);
    gbx_mcp_timer_init(&link->look, loop, look_at_servers, link);
    link->end = gbx_child_adopt(&link->ends, fd, &hooks);
    gbx_mcp_server_set_page(server, &page);
    return link;
}

void gbx_console_link_free(gbx_console_link *link)
{
    if (link == NULL)
        return;
    gbx_mcp_server_set_page(link->server, NULL);
    gbx_child_set_drop(&link->ends);
    gbx_mcp_timer_cleanup(&link->look);
    gbx_buf_cleanup(&link->lines);
    (void)pthread_mutex_destroy(&link->lock);
    free(link->servers);
    free(link);
}

const char *gbx_console_link_address(const gbx_console_link *link)
{
    return link->address;
}
