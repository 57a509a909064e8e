/* SPDX-License-Identifier: MIT */
/* child_link - lines to and from a child. A freed child still counts until it ends or
 * is silent for three seconds, so reconnecting clients cannot pile up processes. */
#include "mcp/http/http.h"

#include "base/cleanup.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <unistd.h>

/* A child's answers have at most 64 MiB; a longer line is dropped. */
#define LINE_MAX_BYTES GBX_MIB(65)
/* Bytes that may wait for a child, which reads until it reaches its own limits. */
#define INPUT_MAX GBX_MIB(66)

/* How long a freed child may write nothing. It usually ends sooner. */
#define END_MS 3000

struct gbx_child_link {
    LIST_ENTRY(gbx_child_link) entry;
    gbx_child_set *owner;
    gbx_child_hooks hooks; /* zeroed: it has ended, or is asked to */
    struct bufferevent *bev;
    gbx_mcp_line_reader lines;
    bool is_freed;
};

static void drop_link(gbx_child_link *child)
{
    LIST_REMOVE(child, entry);
    child->owner->count--;
    bufferevent_free(child->bev);
    gbx_mcp_line_reader_cleanup(&child->lines);
    free(child);
}

static void on_input(struct bufferevent *bev, void *arg)
{
    struct evbuffer *input = bufferevent_get_input(bev);
    gbx_child_link *child = arg;
    char chunk[16384];
    gbx_mcp_line_kind kind;
    const char *line;
    size_t len;
    int n;

    while ((n = evbuffer_remove(input, chunk, sizeof chunk)) > 0) {
        if (child->is_freed)
            continue;
        gbx_mcp_line_reader_feed(&child->lines, chunk, (size_t)n);
        while ((kind = gbx_mcp_line_reader_next(&child->lines, &line, &len)) !=
               GBX_MCP_LINE_NONE) {
            if (child->is_freed)
                continue;
            if (kind == GBX_MCP_LINE)
                child->hooks.line(child->hooks.user, line, len);
            else
                gbx_mcp_warn("a server process has sent too long a line");
        }
    }
}

/* The child has ended, or was freed and has written nothing for END_MS. */
static void on_event(struct bufferevent *bev, short what, void *arg)
{
    gbx_child_link *child = arg;
    gbx_child_hooks hooks = child->hooks;

    child->hooks = (gbx_child_hooks){0};
    (void)bufferevent_disable(bev, EV_READ);
    if (child->is_freed)
        drop_link(child);
    else if (hooks.ended != NULL)
        hooks.ended(hooks.user);
}

gbx_child_link *gbx_child_adopt(gbx_child_set *children, int fd,
                                const gbx_child_hooks *hooks)
{
    gbx_child_link *child = gbx_need(calloc(1, sizeof *child));

    child->owner = children;
    child->hooks = *hooks;
    gbx_mcp_line_reader_init(&child->lines, LINE_MAX_BYTES);
    child->bev = gbx_need(bufferevent_socket_new(gbx_mcp_loop_base(children->loop), fd,
                                                 BEV_OPT_CLOSE_ON_FREE));
    bufferevent_setcb(child->bev, on_input, NULL, on_event, child);
    (void)bufferevent_enable(child->bev, EV_READ | EV_WRITE);
    LIST_INSERT_HEAD(&children->links, child, entry);
    children->count++;
    return child;
}

gbx_child_link *gbx_child_new(gbx_child_set *children, const gbx_http_caller *caller,
                              const gbx_child_hooks *hooks)
{
    gbx_http_console *console = children->console;
    int fd;

    if (children->count >= GBX_CHILDREN_MAX) {
        errno = EAGAIN;
        return NULL;
    }
    return gbx_spawner_fork(children->spawner, caller,
                            console != NULL ? console->join(console) : -1, &fd)
               ? gbx_child_adopt(children, fd, hooks)
               : NULL;
}

bool gbx_child_send(gbx_child_link *child, const void *line, size_t len)
{
    struct evbuffer *output = bufferevent_get_output(child->bev);

    return evbuffer_get_length(output) + len < INPUT_MAX &&
           evbuffer_add(output, line, len) == 0 && evbuffer_add(output, "\n", 1) == 0;
}

void gbx_child_free(gbx_child_link *child)
{
    const struct timeval limit = {.tv_sec = END_MS / 1000};

    if (child == NULL)
        return;
    child->is_freed = true;
    if (child->hooks.ended == NULL) { /* it has ended */
        drop_link(child);
        return;
    }
    child->hooks = (gbx_child_hooks){0};
    (void)shutdown(bufferevent_getfd(child->bev), SHUT_WR);
    bufferevent_set_timeouts(child->bev, &limit, NULL);
    (void)bufferevent_enable(child->bev, EV_READ);
    (void)bufferevent_disable(child->bev, EV_WRITE);
}

void gbx_child_set_drop(gbx_child_set *children)
{
    while (!LIST_EMPTY(&children->links))
        drop_link(LIST_FIRST(&children->links));
}
