/* SPDX-License-Identifier: MIT */
/* mcp_stage - a gate between a server and a person that the test plays. */
#ifndef GBX_TESTS_MCP_STAGE_H
#define GBX_TESTS_MCP_STAGE_H

#include "base/cleanup.h"
#include "mcp/approval/gate.h"

#define CALLS_MAX 64

/* A call that has reached the server. */
struct gbx_upstream_call {
    struct event *event;
    gbx_upstream_request request;
    bool is_learning;
    bool cancelled;
    bool held; /* is never answered */
    gbx_gate_hint hint;
    char *args;
    char *meta;
};

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
    size_t started;
    size_t learned;
    gbx_upstream_call *calls[CALLS_MAX];
};

extern gbx_upstreams played;

/* The person behind a request. */
struct gbx_mcp_request {
    bool can_ask;
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

/* Who accepts, with that content. */
gbx_mcp_request person(const char *answer);

#define ONCE    "{\"answer\":\"allow this call\"}"
#define SAME    "{\"answer\":\"allow for this run, with the same arguments\"}"
#define RUN     "{\"answer\":\"allow for this run\"}"
#define SESSION "{\"answer\":\"allow for this session\"}"
#define ALWAYS  "{\"answer\":\"always allow\"}"

/* What the first rule does not ask about is denied. */
#define ASK_THEN_DENY                                                              \
    "\"rules\": [{\"action\": \"ask\", \"tool\": \"plain\", \"args\": {\"path\": " \
    "\"/srv/**\"}}, {\"action\": \"deny\", \"tool\": \"plain\"}]"

typedef struct outcome {
    size_t count;
    char code[32];
    char message[8192];
    char result[1024];
    char end[64]; /* of the result, from its last comma on */
    char progress[64];
    bool retryable;
} outcome;

extern gbx_gate *gate;
extern char lines[16384]; /* of the security log */
extern char path[64];     /* of the configuration */

/* A gate over a configuration whose own key holds what is given. */
void open_gate(const char *ours);
void close_gate(void);
void write_config(const char *text);
/* What was granted for good. */
void forget_grants(void);

gbx_tool_call *start(outcome *to, gbx_mcp_request *request, const char *tool,
                     const char *args, const char *run);
/* Until nothing happens any more. */
void settle(void);
/* One call to its end. */
outcome call(gbx_mcp_request *request, const char *tool, const char *args,
             const char *run);

int stage_setup(void **state);
int stage_teardown(void **state);

#endif
