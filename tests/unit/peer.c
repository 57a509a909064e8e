/* SPDX-License-Identifier: MIT */
/* peer - see peer.h. */
#include "peer.h"
#include "base/cleanup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void peer_init(peer *p, uint64_t output_max, uint32_t log_max)
{
    gbx_limits limits = {.output_bytes = output_max, .log_bytes = log_max};

    p->result = gbx_result_new();
    assert(p->result != NULL);
    gbx_exchange_init(&p->x, GOLDEN_CALL_ID, &limits, p->result);
}

void peer_cleanup(peer *p)
{
    gbx_exchange_cleanup(&p->x);
    gbx_result_free(p->result);
}

void peer_frame(gbx_buf *to, uint32_t body_len, uint8_t type, uint64_t call_id,
                const void *body, size_t len)
{
    uint8_t header[GBX_FRAME_HEADER_SIZE] = {[4] = type};

    for (size_t i = 0; i < 4; i++)
        header[i] = (uint8_t)(body_len >> (8 * i));
    for (size_t i = 0; i < 8; i++)
        header[8 + i] = (uint8_t)(call_id >> (8 * i));
    (void)gbx_buf_append(to, header, sizeof header);
    (void)gbx_buf_append(to, body, len);
    assert(!to->failed);
}

void peer_feed(peer *p, const void *data, size_t len, size_t piece)
{
    const uint8_t *at = data;

    while (len > 0) {
        size_t n = len < piece ? len : piece;
        uint8_t *copy = malloc(n); /* of its own size: reading past it is seen */

        assert(copy != NULL);
        memcpy(copy, at, n);
        gbx_exchange_feed(&p->x, copy, n, 0);
        free(copy);
        at += n;
        len -= n;
    }
}

void peer_say(peer *p, uint8_t type, const void *body, size_t len)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

    gbx_buf_init(&buf, len + GBX_FRAME_HEADER_SIZE);
    peer_frame(&buf, (uint32_t)len, type, GOLDEN_CALL_ID, body, len);
    peer_feed(p, buf.data, buf.len, GBX_EXCHANGE_FEED_MAX);
}

void peer_say_golden(peer *p, uint8_t type)
{
    const golden *g = golden_of((gbx_msg_type)type);

    if (g != NULL)
        peer_say(p, type, g->body, g->len);
    else
        peer_say(p, type, NULL, 0);
}
