/* SPDX-License-Identifier: MIT */
/*
 * nested_call - one call that code in the box makes of another server's tool.
 *
 * It takes a place among those of its run to that server that are under way, goes through
 * the gate, and answers the box. It is kept until its run has told of it. How many calls
 * servers have at once, over all runs, is the concern of upstream.
 */
#ifndef GBX_MCP_CODE_NESTED_CALL_H
#define GBX_MCP_CODE_NESTED_CALL_H

#include "mcp/code/code_mode.h"

/* The code of a call that was given up before its server had it. */
#define GBX_NESTED_NOT_SENT "NOT_SENT"

struct gbx_nested_call;

/* Calls of one run to one server: a server that does not answer, or a person who thinks,
 * stops nothing but what is behind them here. */
typedef struct gbx_nested_line {
    uint32_t flying; /* beyond the line: with the gate */
    struct gbx_nested_call *first;
    struct gbx_nested_call *last;
} gbx_nested_line;

typedef struct gbx_nested_call {
    gbx_mcp_code *code;
    struct gbx_code_run *run; /* NULL: it is freed when the gate lets go of it */
    gbx_request request;      /* of the box */
    gbx_gate_call *passage;   /* NULL: waits, or has ended */
    gbx_nested_line *queue;   /* of the run */
    char *server;
    char *tool;
    char *args;
    size_t args_len;
    uint32_t line;
    uint32_t timeout_ms;
    bool raw;
    bool gave_far;  /* integers that are texts in the code */
    bool gave_more; /* than its structured content, which the code has alone */
    bool is_waiting;
    bool is_over;
    bool was_open; /* when the code had ended: what came of it is told, not answered */
    gbx_gate_fate fate;
    const char *failed; /* code of the error, or NULL */
    char code_text[32]; /* what failed points to, where it is no constant */
    char *message;      /* of the error */
    int64_t start_ns;
    double ms;
    size_t bytes;
    char gave[GBX_VALUE_SKETCH_SIZE]; /* or "" */
    struct gbx_nested_call *next;     /* of the run, in the order of the calls */
    struct gbx_nested_call *next_waiting;
} gbx_nested_call;

/* Takes all of it over; its server is one of the configuration. May answer the box at
 * once. */
void gbx_nested_start(gbx_nested_call *nested);

/* Does its server have it? Then it may have an effect, whoever waits for it. */
bool gbx_nested_is_sent(const gbx_nested_call *nested);

/* Ends without an answer: at once if it waits, else gbx_code_run_settled() follows. */
void gbx_nested_cancel(gbx_nested_call *nested);

void gbx_nested_free(gbx_nested_call *nested);

/* Answer the box with an error; message is text. */
void gbx_nested_refuse(gbx_mcp_code *code, gbx_request request, const char *error_code,
                       const char *message, size_t len, bool retryable);

#endif
