/* SPDX-License-Identifier: MIT */
/*
 * telemetry - spans and counts of calls of tools. A call of a tool of ours is a span, and
 * so is each call of an upstream server's tool below it.
 *
 * Everything in a span comes from the host's tables: tools that are registered or that a
 * server lists, names of the configuration, codes, times and sizes. Code in the sandbox
 * decides only which calls it makes, and a call has a limited number of spans below it.
 *
 * Spans run on the loop's thread. Everything is bounded. Nothing here does I/O.
 */
#ifndef GBX_MCP_TELEMETRY_TELEMETRY_H
#define GBX_MCP_TELEMETRY_TELEMETRY_H

#include "base/buf.h"
#include "base/json_view.h"

#define GBX_CALL_CODE_SIZE 24

/* ---- metrics.c ------------------------------------------------------------------ */

/* Counts of calls, of this process and of those that it forks from now on. From any
 * thread. */
typedef struct gbx_metrics gbx_metrics;

/* NULL: out of memory. It lasts as long as the processes do. */
gbx_metrics *gbx_metrics_new(void);
/* A call of a tool of ours, or of a server's, has ended. */
void gbx_metrics_add_call(gbx_metrics *m, bool is_ours, const char *name,
                          const char *code, int64_t lasted_ns);
/* Append all, in the text format of Prometheus. */
void gbx_metrics_print(gbx_metrics *m, gbx_buf *to);
void gbx_metrics_put_gauge(gbx_buf *to, const char *name, const char *help,
                           uint64_t value);

/* ---- spans.c ------------------------------------------------------------------- */

/* A place in a trace: W3C Trace Context. Its ids are hexadecimal digits. */
typedef struct gbx_trace_context {
    char trace[33];
    char span[17];
    bool is_sampled;
} gbx_trace_context;

#define GBX_TRACEPARENT_SIZE 56

/* Read the header traceparent. text has a byte behind its end that is not a digit. False,
 * with *ret unchanged: it is not exactly in the format. */
bool gbx_traceparent_read(const char *text, size_t len, gbx_trace_context *ret);

typedef struct gbx_telemetry gbx_telemetry;

/* All is borrowed. metrics count the calls, if not NULL. service: name of this service;
 * NULL: calls have no spans. */
gbx_telemetry *gbx_telemetry_new(gbx_metrics *metrics, const char *service);
/* NULL is ignored. */
void gbx_telemetry_free(gbx_telemetry *telemetry);

/* A call, from its beginning to its end. Zeroed: it is not observed. */
typedef struct gbx_call_span {
    gbx_telemetry *telemetry; /* NULL: not observed, or ended */
    gbx_trace_context own;
    char parent[17];               /* "": none */
    bool is_continued;             /* the trace is the client's */
    bool is_left_out;              /* one too many below its parent */
    int64_t start_ns;              /* of gbx_clock_now_ns() */
    uint32_t calls;                /* below it */
    char code[GBX_CALL_CODE_SIZE]; /* of its failure, or "" */
    char tool[129];
} gbx_call_span;

/* Begin a call of a tool of ours. telemetry NULL: it is not observed. traceparent: what
 * the client says, or no value. */
void gbx_call_span_begin(gbx_call_span *span, gbx_telemetry *telemetry,
                         const char *tool, gbx_view traceparent);
/* Begin a call below another one, which may be unobserved or NULL. */
void gbx_call_span_begin_below(gbx_call_span *span, gbx_call_span *parent);
/* The context for whoever is called. False: the call has none. */
bool gbx_call_span_print(const gbx_call_span *span, char ret[GBX_TRACEPARENT_SIZE]);
/* Note the code of a failure that the call's end does not know. */
void gbx_call_span_note(gbx_call_span *span, const char *code);

/* How a call ended. The tool is copied; other texts last until spans are sent. */
typedef struct gbx_call_outcome {
    const char *code;     /* NULL: success, unless another code was noted */
    int rpc_code;         /* of a JSON-RPC error; 0: none */
    bool is_tool_error;   /* the result says isError */
    const char *version;  /* of the protocol, or NULL */
    const char *server;   /* NULL: a tool of ours */
    const char *tool;     /* of that server; NULL: it lists no such tool */
    const char *decision; /* of the rules, or NULL */
} gbx_call_outcome;

/* Ignored if the call is not observed or has ended. */
void gbx_call_span_end(gbx_call_span *span, const gbx_call_outcome *end);

/* ---- spans that wait to be sent; in spans.c ------------------------------------- */

#define GBX_SPANS_MAX 2048 /* the oldest are dropped beyond this */

/* Call added for each new span that waits; NULL: never. */
void gbx_telemetry_on_span(gbx_telemetry *telemetry, void (*added)(void *user),
                           void *user);
/* The number of spans that wait. */
size_t gbx_telemetry_waiting(const gbx_telemetry *telemetry);
/* Append a request of OTLP with the oldest waiting spans, at most max. Returns a number
 * that stands for them. */
uint64_t gbx_telemetry_put(gbx_telemetry *telemetry, size_t max, gbx_buf *to);
/* These spans wait no longer: they were sent, or are dropped. */
void gbx_telemetry_forget(gbx_telemetry *telemetry, uint64_t spans);

#endif
