/* SPDX-License-Identifier: MIT */
/*
 * http_send_queue - orders messages: none may overtake the one that begins the session.
 * Replies and notifications, whose answers nobody waits for, are sent a few at a time:
 * with a server that never accepts them, they would hold connections and memory.
 */
#include "mcp/upstream/link_http.h"

#include <stdlib.h>
#include <string.h>

/* Messages without an id: the limits of those under way and of those that wait. */
#define ASIDES_AT_ONCE 4
#define ASIDES_WAITING 64

static void free_waiting(gbx_http_waiting *w)
{
    gbx_buf_cleanup(&w->text);
    free(w->method);
    free(w->name);
    free(w);
}

static unsigned count_asides(const gbx_http *h)
{
    unsigned count = 0;

    for (const gbx_http_waiting *w = h->later; w != NULL; w = w->next)
        count += w->id == 0;
    return count;
}

static void say_dropped(gbx_http *h)
{
    if (!h->has_dropped_asides)
        h->hooks.log(h->hooks.user,
                     "it is slow to take replies and notifications: those "
                     "that are too many are dropped");
    h->has_dropped_asides = true;
}

/* ---- the rest of the link ------------------------------------------------- */

bool gbx_http_may_go(const gbx_http *h, const gbx_link_message *message)
{
    bool is_nowhere = h->is_sse && h->endpoint == NULL;

    return !is_nowhere && h->settling == NULL &&
           (message->id != 0 || h->asides < ASIDES_AT_ONCE);
}

bool gbx_http_later(gbx_http *h, const gbx_link_message *message)
{
    gbx_http_waiting **at = &h->later;
    gbx_http_waiting *w;

    if (message->id == 0 && count_asides(h) == ASIDES_WAITING) {
        say_dropped(h);
        return false;
    }
    w = calloc(1, sizeof *w);
    if (w == NULL)
        return false;
    gbx_buf_init_secret(&w->text, message->len);
    if (!gbx_buf_append(&w->text, message->text, message->len)) {
        free_waiting(w);
        return false;
    }
    w->id = message->id;
    w->is_again = message->is_again;
    w->is_repeatable = message->is_repeatable;
    w->method = message->method != NULL ? strdup(message->method) : NULL;
    w->name = message->name != NULL ? strdup(message->name) : NULL;
    while (*at != NULL)
        at = &(*at)->next;
    *at = w;
    return true;
}

void gbx_http_send_later(gbx_http *h)
{
    gbx_http_waiting **at = &h->later;

    while (*at != NULL) {
        gbx_http_waiting *w = *at;
        gbx_link_message message = {.text = (const char *)w->text.data,
                                    .len = w->text.len,
                                    .id = w->id,
                                    .method = w->method,
                                    .name = w->name,
                                    .is_again = w->is_again,
                                    .is_repeatable = w->is_repeatable};

        if (!gbx_http_may_go(h, &message)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        (void)gbx_http_post(h, &message);
        free_waiting(w);
    }
}

void gbx_http_drop_later(gbx_http *h, int64_t id)
{
    gbx_http_waiting **at = &h->later;

    while (*at != NULL) {
        gbx_http_waiting *w = *at;

        if (id != 0 && w->id != id) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        free_waiting(w);
    }
}
