/* SPDX-License-Identifier: MIT */
/* mcp_stage - a server and a person for the gate, both played: what they do is in `played` and
 * in the request. */
#ifndef GBX_TESTS_MCP_STAGE_H
#define GBX_TESTS_MCP_STAGE_H

#include "mcp/approval/gate.h"
#include "mcp/upstream/oauth.h"

#define CALLS_MAX 128

/* A call that has reached the server. */
typedef struct played_sending {
    struct event *event;     /* NULL: it was answered */
    gbx_upstream_call *call; /* NULL: a question for the tools */
    gbx_upstream_done_fn done;
    void *user;
    bool cancelled;
    bool held; /* is never answered */
    gbx_gate_hint hint;
    char *args;
    char *meta;
} played_sending;

/* The server "files"; it has read_file, write_file, lies and plain. */
struct gbx_upstreams {
    struct event_base *base;
    bool known; /* its tools */
    bool learns_nothing;
    gbx_view tools;
    const char *result; /* or the message of fault */
    gbx_upstream_fault fault;
    /* read_file is said to do more by now, when a call of it comes. */
    bool changes;
    bool hold;
    /* The call is refused until a person has signed in; the sign-in goes on when this can be
     * read: "y" is a success. */
    bool wants_sign_in;
    bool wants_another; /* and again after that */
    int signing[2];
    size_t signed_in;
    size_t started;
    size_t learned;
    played_sending *calls[CALLS_MAX];
};

extern gbx_upstreams played;

/* The person behind a request. */
struct gbx_mcp_request {
    unsigned can_ask;
    gbx_mcp_answer how;
    const char *content;
    size_t asked;
    size_t open;
    size_t most_open;
    char message[8192];
    char schema[1024];
    char told[1024]; /* as progress */
    char logged[1024];
    bool is_deaf; /* to progress */
};

#endif
