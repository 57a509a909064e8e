/* SPDX-License-Identifier: MIT */
/*
 * exchange - the protocol of one call with its worker, without I/O: the caller feeds
 * bytes in and collects bytes to send.
 *
 * The worker is hostile from its first byte. Lengths are checked before data is stored.
 * A message outside the table in exchange.c ends the exchange, for good.
 */
#ifndef GBX_ENGINE_EXCHANGE_H
#define GBX_ENGINE_EXCHANGE_H

#include "engine/result.h"
#include "wire/messages.h"

#define GBX_EXCHANGE_FEED_MAX GBX_KIB(64)

typedef enum gbx_exchange_state {
    GBX_EXCHANGE_RUNNING,
    GBX_EXCHANGE_WAITING, /* the worker has nothing to do for wake_ms */
    GBX_EXCHANGE_VALUE,   /* ended: RESULT; the value is in the result */
    GBX_EXCHANGE_ERROR,   /* ended: ERROR; failure and error are set */
    GBX_EXCHANGE_BROKEN,  /* ended: the worker broke the protocol; see reason */
    GBX_EXCHANGE_STOPPED, /* ended: by a replay, which filled the result */
} gbx_exchange_state;

/* A part of the code that was sent, as byte offsets; from the worker, unchecked. */
typedef struct gbx_code_place {
    uint32_t start;
    uint32_t end;
} gbx_code_place;

typedef struct gbx_exchange {
    gbx_exchange_state state;
    uint64_t call_id;
    uint64_t output_max;
    uint32_t log_max;
    gbx_result *result; /* logs and value go here; borrowed */
    uint32_t host_calls_left;
    uint32_t host_open; /* requests whose answer is not queued yet */
    uint32_t host_open_max;
    uint32_t last_request; /* the worker's ids must grow */
    uint64_t host_out_left;
    uint64_t host_out_max;
    void (*on_request)(void *user, const gbx_msg_hostcall *msg);
    void (*on_cancel)(void *user, uint32_t id);
    void (*on_limited)(void *user, uint8_t limit); /* each limit once */
    /* A message that was accepted, with its header; may be NULL. */
    void (*on_frame)(void *user, gbx_span frame);
    void *request_user;
    int64_t start_ns; /* log times are relative to this */
    int64_t now_ns;   /* arrival of the bytes that are being read */
    gbx_log_fn on_log;
    void *log_user;
    uint32_t wake_ms;    /* in state WAITING */
    bool was_refused;    /* REFUSED was received */
    uint8_t limited;     /* bits 1u << limit: LIMITED was received for it */
    bool is_nomem;       /* the host is out of memory */
    gbx_failure failure; /* in state ERROR */
    bool is_out_of_memory;
    uint32_t hint;        /* in states VALUE and ERROR: row of the table of hints */
    gbx_code_place place; /* the code that the hint refers to */
    char field[64];       /* the field that it refers to, as one printable line */
    char reason[160];     /* in state BROKEN */
    gbx_buf in;           /* an incomplete frame */
    gbx_buf head;         /* sent first */
    size_t head_sent;
    gbx_span tail; /* sent next; borrowed */
    size_t tail_sent;
} gbx_exchange;

void gbx_exchange_init(gbx_exchange *x, uint64_t call_id, const gbx_limits *limits,
                       gbx_result *result);
void gbx_exchange_cleanup(gbx_exchange *x);

/* Queue the CALL; msg->input is borrowed until the exchange has ended. */
bool gbx_exchange_call(gbx_exchange *x, const gbx_msg_call *msg);

/* Queue an answer; only in state WAITING. */
bool gbx_exchange_answer(gbx_exchange *x, const gbx_msg_answer *msg);

/* End the exchange: the worker broke a rule that the message's receiver checks. */
void gbx_exchange_break(gbx_exchange *x, const char *what, unsigned type);

/* Queue a WAKE; only in state WAITING. The state becomes RUNNING. */
bool gbx_exchange_wake(gbx_exchange *x);

/* End of input: an unfinished console line is reported, and the logs count as cut. */
void gbx_exchange_end(gbx_exchange *x);

/* Feed at most GBX_EXCHANGE_FEED_MAX bytes from the worker, received at now_ns. After
 * the end they are ignored. */
void gbx_exchange_feed(gbx_exchange *x, const uint8_t *data, size_t len,
                       int64_t now_ns);

/* The bytes to send next; len 0: none. */
static inline gbx_span gbx_exchange_output(const gbx_exchange *x)
{
    if (x->head_sent < x->head.len)
        return (gbx_span){x->head.data + x->head_sent, x->head.len - x->head_sent};
    if (x->tail_sent < x->tail.len)
        return (gbx_span){x->tail.data + x->tail_sent, x->tail.len - x->tail_sent};
    return (gbx_span){0};
}

static inline void gbx_exchange_sent(gbx_exchange *x, size_t len)
{
    if (x->head_sent < x->head.len)
        x->head_sent += len;
    else
        x->tail_sent += len;
}

static inline bool gbx_exchange_has_ended(const gbx_exchange *x)
{
    return x->state >= GBX_EXCHANGE_VALUE;
}

#endif
