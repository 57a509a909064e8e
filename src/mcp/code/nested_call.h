/* SPDX-License-Identifier: MIT */
/*
 * nested_call - one call that sandboxed code makes of an upstream server's tool.
 *
 * It waits for one of its run's places for that server, goes through the gate, and
 * answers the worker. It is kept until its run has reported it. upstream limits the
 * calls of all runs to a server.
 */
#ifndef GBX_MCP_CODE_NESTED_CALL_H
#define GBX_MCP_CODE_NESTED_CALL_H

#include "mcp/code/code_mode.h"

/* The code of a call that was given up before it was sent to its server. */
#define GBX_NESTED_NOT_SENT "NOT_SENT"

struct gbx_nested_call;

/* The calls of one run to one server. A server that does not answer, or a person who
 * takes time, delays only the calls queued behind it here. */
typedef struct gbx_nested_line {
    uint32_t flying; /* no longer queued: with the gate */
    struct gbx_nested_call *first;
    struct gbx_nested_call *last;
} gbx_nested_line;

typedef struct gbx_nested_call {
    gbx_mcp_code *code;
    struct gbx_code_run *run; /* NULL: freed when the gate lets go of it */
    gbx_request request;      /* of the worker */
    gbx_gate_call *passage;   /* NULL: queued, or ended */
    gbx_nested_line *queue;   /* of the run */
    char *server;
    char *tool;
    char *args;
    size_t args_len;
    uint32_t line;
    uint32_t timeout_ms;
    bool raw;
    bool gave_far;  /* integers that the code got as texts */
    bool gave_more; /* than its structured content, which is all the code got */
    bool is_waiting;
    bool is_over;
    bool was_open; /* when the code had ended: its result is reported, not answered */
    gbx_gate_fate fate;
    const char *failed; /* code of the error, or NULL */
    char code_text[32]; /* what failed points to, if not to a constant */
    char *message;      /* of the error */
    int64_t start_ns;
    double ms;
    size_t bytes;
    char gave[GBX_VALUE_SKETCH_SIZE]; /* or "" */
    struct gbx_nested_call *next;     /* of the run, in the order of the calls */
    struct gbx_nested_call *next_waiting;
} gbx_nested_call;

/* Takes ownership; its server is in the configuration. May answer the worker at
 * once. */
void gbx_nested_start(gbx_nested_call *nested);

/* Was it sent to its server? Then it may take effect, even if nobody waits for it. */
bool gbx_nested_is_sent(const gbx_nested_call *nested);

/* End it without an answer: at once if queued, else gbx_code_run_settled() follows. */
void gbx_nested_cancel(gbx_nested_call *nested);

void gbx_nested_free(gbx_nested_call *nested);

/* Answer the worker with an error; message is text. */
void gbx_nested_refuse(gbx_mcp_code *code, gbx_request request, const char *error_code,
                       const char *message, size_t len, bool retryable);

#endif
