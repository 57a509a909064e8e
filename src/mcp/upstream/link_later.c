/* SPDX-License-Identifier: MIT */
/* link_later - messages that must not overtake the one that begins the session. */
#include "mcp/upstream/link_http.h"

#include <stdlib.h>
#include <string.h>

static void free_waiting(gbx_http_waiting *w)
{
    free(w->method);
    free(w->name);
    free(w);
}

/* ---- the rest of the link ------------------------------------------------- */

bool gbx_http_later(gbx_http *h, const gbx_link_message *message)
{
    gbx_http_waiting *w = calloc(1, sizeof *w + message->len);
    gbx_http_waiting **at = &h->later;

    if (w == NULL)
        return false;
    w->id = message->id;
    w->len = message->len;
    w->is_again = message->is_again;
    memcpy(w->text, message->text, message->len);
    w->method = message->method != NULL ? strdup(message->method) : NULL;
    w->name = message->name != NULL ? strdup(message->name) : NULL;
    while (*at != NULL)
        at = &(*at)->next;
    *at = w;
    return true;
}

void gbx_http_send_later(gbx_http *h)
{
    while (h->later != NULL) {
        gbx_http_waiting *w = h->later;
        gbx_link_message message = {.text = w->text,
                                    .len = w->len,
                                    .id = w->id,
                                    .method = w->method,
                                    .name = w->name,
                                    .is_again = w->is_again};

        h->later = w->next;
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
