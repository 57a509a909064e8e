/* SPDX-License-Identifier: MIT */
/*
 * list_tools - servers start when a request for tools needs them. A server that does
 * not come up delays the answer for a limited time. A server whose last start failed
 * does not delay it at all; it is started again for later requests.
 */
#include "mcp/code/code_mode.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#define PATIENCE_S 15

struct learning {
    gbx_mcp_request *request; /* ends the wait when it is cancelled; or NULL */
    gbx_learnt_fn done;
    void (*drop)(void *user);
    void *user;
    struct learning *next; /* in the list of code */
    struct learning **link;
    struct event *timer;
    unsigned pending; /* servers that have not answered yet */
    bool is_of_one;
    bool is_short; /* memory was out, so one could not be asked */
    bool is_told;
};

static void detach(struct learning *l)
{
    l->is_told = true;
    if (l->request != NULL)
        gbx_mcp_on_cancel(l->request, NULL, NULL);
    event_free(l->timer);
    *l->link = l->next;
    if (l->next != NULL)
        l->next->link = l->link;
}

/* Report once; freed when the last server has answered. */
static void tell(struct learning *l, const gbx_upstream_reply *failure)
{
    if (!l->is_told) {
        detach(l);
        l->done(l->user, l->is_of_one ? failure : NULL);
    }
    if (l->pending == 0)
        free(l);
}

static void on_learnt(void *user, const gbx_upstream_reply *reply)
{
    struct learning *l = user;

    if (--l->pending == 0)
        tell(l, reply->fault != GBX_UPSTREAM_OK ? reply : NULL);
}

/* The time is up, or no server had to be asked. */
static void on_timer(evutil_socket_t fd, short what, void *user)
{
    static const gbx_upstream_reply late = {.fault = GBX_UPSTREAM_START,
                                            .message = "it has not started yet"};
    static const gbx_upstream_reply lack = {.fault = GBX_UPSTREAM_BUSY,
                                            .message = "no memory is left to ask it"};
    struct learning *l = user;

    (void)fd;
    (void)what;
    tell(l, l->pending > 0 ? &late : l->is_short ? &lack : NULL);
}

static void on_cancel(void *user)
{
    tell(user, NULL);
}

/* Are its tools known, even if outdated, and is it running if it must be? */
static bool is_known(const gbx_mcp_code *code, const char *server, bool starts)
{
    gbx_upstream_info info;

    return !gbx_code_info(code, server, &info) ||
           ((!starts || info.state == GBX_UPSTREAM_READY) &&
            gbx_view_kind(info.tools) == '[');
}

/* A failed server was waited for once already. */
static bool has_failed(const gbx_mcp_code *code, const char *server)
{
    gbx_upstream_info info;

    return gbx_code_info(code, server, &info) && info.fault[0] != 0;
}

static bool is_asked_for(const gbx_mcp_upstream_config *config, const char *server)
{
    return !config->disabled && (server == NULL || strcmp(config->name, server) == 0);
}

static void ask(struct learning *l, gbx_mcp_code *code, const char *server)
{
    if (!l->is_of_one && has_failed(code, server)) {
        gbx_upstream_retry(code->upstreams, server);
        return;
    }
    if (gbx_upstream_learn(code->upstreams, server, on_learnt, l))
        l->pending++;
    else
        l->is_short = true;
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_code_list_tools(gbx_mcp_code *code, const char *server, bool starts,
                         gbx_mcp_request *request, gbx_learnt_fn done,
                         void (*drop)(void *user), void *user)
{
    struct learning *l = calloc(1, sizeof *l);
    struct timeval wait = {PATIENCE_S, 0};

    if (l == NULL)
        return false;
    l->request = request;
    l->done = done;
    l->drop = drop;
    l->user = user;
    l->is_of_one = server != NULL;
    l->timer = event_new(gbx_mcp_loop_base(code->loop), -1, 0, on_timer, l);
    if (l->timer == NULL) {
        free(l);
        return false;
    }
    l->next = code->learning;
    l->link = &code->learning;
    if (l->next != NULL)
        l->next->link = &l->next;
    code->learning = l;
    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *c = &code->config->servers[i];

        if (!is_asked_for(c, server))
            continue;
        if (!is_known(code, c->name, starts)) {
            ask(l, code, c->name);
        } else if (gbx_upstreams_is_dated(code->upstreams, c->name)) {
            l->is_of_one = false; /* known tools suffice */
            ask(l, code, c->name);
        }
    }
    if (l->pending == 0)
        wait.tv_sec = 0;
    (void)event_add(l->timer, &wait);
    if (request != NULL)
        gbx_mcp_on_cancel(request, on_cancel, l);
    return true;
}

void gbx_code_list_tools_end(gbx_mcp_code *code)
{
    while (code->learning != NULL) {
        struct learning *l = code->learning;

        detach(l);
        if (l->drop != NULL)
            l->drop(l->user);
        if (l->pending == 0)
            free(l);
    }
}
