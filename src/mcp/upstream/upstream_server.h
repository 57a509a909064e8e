/* SPDX-License-Identifier: MIT */
/*
 * upstream_server - one configured server: its sessions, its waiting calls, and whether
 * it is worth trying.
 *
 *     STOPPED -- a call --> STARTING -- tools known --> READY -- idle --> STOPPED
 *                              |                          |
 *                              +-- lost --> BROKEN <------+   tried again after a while
 *
 * For src/mcp/upstream alone.
 */
#ifndef GBX_MCP_UPSTREAM_UPSTREAM_SERVER_H
#define GBX_MCP_UPSTREAM_UPSTREAM_SERVER_H

#include "mcp/upstream/internal.h"

#define GBX_PROCESSES_MAX 64u

typedef struct gbx_server gbx_server;

/* A call of a tool, or a request for the tools, until it is answered. */
struct gbx_upstream_call {
    gbx_upstream_call *next;
    gbx_upstream_call **link;
    gbx_upstreams *all;
    gbx_server *server;   /* NULL: no server has that name */
    gbx_session *session; /* that has it in flight, or NULL */
    int64_t id;           /* in the session */
    char *tool;           /* NULL: the call asks for the list of tools */
    gbx_buf args;
    char *meta;
    uint32_t timeout_ms;
    gbx_upstream_trust trust;
    int64_t armed_ns; /* when its time began */
    bool was_extended;
    int64_t since_ns; /* when it began to wait */
    bool was_retried;
    bool was_sent; /* and may have had an effect */
    struct event *timer;
    void (*progress)(void *user, const char *message, size_t len);
    gbx_upstream_done_fn done;
    void *user;
    gbx_upstream_fault fault; /* of a call that ends in the next turn of the loop */
    bool is_lasting;
    char *message;
};

struct gbx_server {
    gbx_upstreams *all;
    const gbx_mcp_upstream_config *config;
    gbx_session *sessions[GBX_PROCESSES_MAX];
    size_t session_count;
    gbx_session *dead[GBX_PROCESSES_MAX]; /* lost; freed in the next turn */
    size_t dead_count;
    gbx_upstream_call *waiting; /* in order */
    gbx_upstream_call **waiting_end;
    size_t waiting_count;
    size_t waiting_bytes;
    size_t in_flight;
    unsigned failures; /* consecutive */
    int64_t retry_ns;  /* no try before this */
    int64_t started_ns;
    struct event *retry;
    struct event *idle;
    char fault[1024]; /* of the last failure, or "" */
    bool is_lasting;  /* of that failure: trying again is useless */
    size_t left_out;  /* of the tools that it has listed */
    char left_out_why[GBX_TOOLS_DROPPED_SIZE];
    gbx_session_facts facts; /* of the last session that was ready; text is owned */
    gbx_tools tools;
    bool knows_tools;
    int64_t tools_until_ns; /* when they expire; 0: when the server says so */
};

struct gbx_upstreams {
    gbx_mcp_loop *loop;
    const gbx_mcp_config *config;
    gbx_upstream_hooks hooks;
    gbx_yard yard;
    gbx_server *servers;
    size_t count;
    size_t in_flight;
    size_t starts_at_once;     /* limit for programs that no call waits for */
    size_t next_server;        /* gets the next chance to go on: round robin */
    gbx_upstream_call *flying; /* in flight, of all servers */
    gbx_upstream_call *ended;  /* ended in the next turn, in order */
    gbx_upstream_call **ended_end;
    bool is_closing;
    struct event *turn;
};

/* ---- upstream_server.c -------------------------------------------------- */

bool gbx_server_init(gbx_server *server, gbx_upstreams *all,
                     const gbx_mcp_upstream_config *config);
/* Free the lost sessions; only from the turn of the loop. */
void gbx_server_bury(gbx_server *server);
/* End its sessions; waiting calls go on waiting. */
void gbx_server_stop(gbx_server *server);
void gbx_server_cleanup(gbx_server *server);

/* Send what can be sent, start what must be started. */
void gbx_server_pump(gbx_server *server);
void gbx_server_start(gbx_server *server);
bool gbx_server_may_start(const gbx_server *server);
gbx_upstream_state gbx_server_state(const gbx_server *server);
uint32_t gbx_server_retry_ms(const gbx_server *server);

/* One of its calls has ended with this fault. */
void gbx_server_note_end(gbx_server *server, gbx_session *session,
                         gbx_upstream_fault fault);

void gbx_server_log(const gbx_server *server, const char *line);

/* ---- server_tools.c ------------------------------------------------------- */

/* Adopt the tools that this session's process has listed. */
void gbx_server_take_tools(gbx_server *server, const gbx_session *session);
/* Is the process's list current? True also if it was read after the call came: nothing
 * newer can be known, and no call waits for ever. */
bool gbx_server_is_current(const gbx_server *server, const gbx_session *session,
                           const gbx_upstream_call *call);
/* A call that asks only for the list: answer it, or ask for the list if it
 * may be stale. */
void gbx_server_learn(gbx_server *server, gbx_upstream_call *call);
/* Is it running, and might its tools differ from the known ones? */
bool gbx_server_is_dated(const gbx_server *server);

/* ---- starts.c ------------------------------------------------------------- */

/* How many programs this machine can start at once without harm. */
size_t gbx_starts_at_once(void);
/* Start it now or as soon as it may be: after its pause, and once one of the starting
 * servers is ready, has ended, or takes long. */
void gbx_server_start_in_turn(gbx_server *server);

/* ---- calls.c -------------------------------------------------------------- */

void gbx_call_enqueue(gbx_upstream_call *call);
void gbx_call_send(gbx_upstream_call *call, gbx_session *session);
/* Begin the call's time, unless it has begun: the server is now asked on its behalf. */
void gbx_call_arm(gbx_upstream_call *call);

/* Give the answer and free the call. Not from inside the public functions. */
void gbx_call_end(gbx_upstream_call *call, const gbx_upstream_reply *reply);
/* The same in the next turn of the loop. */
void gbx_call_end_later(gbx_upstream_call *call, gbx_upstream_fault fault,
                        const char *message);
/* The server has no such tool: end the call in the next turn of the loop. */
void gbx_call_refuse_unknown(gbx_upstream_call *call);
/* Remove it from whatever list it is in. */
void gbx_call_unlink(gbx_upstream_call *call);

/* Do the deferred work in the next turn of the loop. */
void gbx_upstreams_wake(gbx_upstreams *all);

#endif
