/* SPDX-License-Identifier: MIT */
/*
 * servers - configured servers, their calls, and sessions with their processes.
 *
 *     gbx_upstreams -- gbx_server -- gbx_session -- gbx_link
 *                          |             |
 *                       waiting       in flight: gbx_upstream_call
 */
#ifndef GBX_MCP_UPSTREAM_SERVERS_H
#define GBX_MCP_UPSTREAM_SERVERS_H

#include "mcp/upstream/internal.h"

/* A list of URIs, each once. */
typedef struct gbx_uris {
    char **items;
    size_t count;
} gbx_uris;

/* ---- session_request.c: calls -------------------------------------------------------------- */

#define GBX_NO_ID (-1) /* the call has no request that the server could answer */

void gbx_call_enqueue(gbx_upstream_call *call);
void gbx_call_send(gbx_upstream_call *call, gbx_session *session, const gbx_tool *tool);
/* Start the call's timeout, unless it is running: the server now works for the call. */
void gbx_call_arm(gbx_upstream_call *call);

/* Give the answer. Do not use it inside the public functions. */
void gbx_call_end(gbx_upstream_call *call, gbx_upstream_reply reply);
/* The same in the next turn of the loop. */
void gbx_call_end_later(gbx_upstream_call *call, gbx_upstream_fault fault,
                        const char *message);

/* The extension of 2026-07-28 by which a server may answer a call later. */
#define GBX_TASKS "io.modelcontextprotocol/tasks"

/* For a call in flight: its answer, a reply in place of an answer, its progress. A call
 * that may be repeated is queued again. False: the answer is not the last one. */
bool gbx_call_on_answer(gbx_upstream_call *call, const gbx_rpc_message *message);
void gbx_call_answer(gbx_upstream_call *call, gbx_upstream_reply reply);
void gbx_call_on_progress(gbx_upstream_call *call, gbx_view params);
/* Its task works on. message: of the server, or no value. */
void gbx_call_on_task_progress(gbx_upstream_call *call, gbx_view message);
/* It is not awaited any more: notify the server. */
void gbx_call_withdraw(gbx_upstream_call *call, const char *reason);
/* Its timeout stands still until it is released. It is not repeated from here on: a person
 * would be asked again. */
void gbx_call_hold(gbx_upstream_call *call);
void gbx_call_release(gbx_upstream_call *call);
/* Send it again, with the answers to its questions. */
void gbx_call_send_again(gbx_upstream_call *call);
void gbx_question_forget(struct gbx_question *question);
void gbx_questions_forget(gbx_questions *questions);

/* ---- server_question.c ------------------------------------------------------ */

/* The latest call in flight, if all are of one author: messages of a server do not say
 * which call they are for. Else NULL. */
gbx_upstream_call *gbx_session_latest_call(const gbx_session *s);
/* A server of the legacy era asks a person. */
/* False: the request asks for nothing. */
bool gbx_session_on_question(gbx_session *s, const gbx_rpc_message *message);
void gbx_session_on_page_done(gbx_session *s, gbx_view params);
void gbx_session_on_cancelled(gbx_session *s, gbx_view params);
/* The answer is a modern server's questions: ask them, or fail the call. */
void gbx_call_on_questions(gbx_upstream_call *call, gbx_view result);

/* ---- call_task.c ------------------------------------------------------------- */

/* An answer that is not the last one: of a task, or questions. */
void gbx_call_go_on(gbx_upstream_call *call, gbx_view result);

/* ---- session.c ------------------------------------------------------------- */

/*
 * The conversation with one running server: its era, its tools, and requests.
 *
 * Both eras look the same from outside. A session is ready once it knows the tools. It
 * is lost when its link is, or when it fails to become ready. Loop's thread only. It
 * reports all this to its gbx_server, from the loop.
 */

#define GBX_VERSION_TEXT_MAX 32

/* What a session knows of its server. */
typedef struct gbx_session_facts {
    char version[GBX_VERSION_TEXT_MAX]; /* of the protocol */
    char server_name[129];              /* without secrets, as all texts here */
    char server_version[65];
    const char *containment; /* constant */
    unsigned has;            /* bits of gbx_upstream_has */
    double start_ms;
} gbx_session_facts;

#define GBX_SESSION_WHY_MAX 2048 /* of the reason why it is lost */

/* JSON: who we are. */
#define GBX_CLIENT_INFO "{\"name\":\"glovebox\",\"version\":\"" GBX_VERSION "\"}"

/* The purpose of a request of ours. Except for calls, one of each is open at a time. */
typedef enum gbx_ask {
    GBX_ASK_DISCOVER,
    GBX_ASK_INITIALIZE,
    GBX_ASK_TOOLS,
    GBX_ASK_LISTEN,
    GBX_ASK_CHECK,
    GBX_ASK_CALL,
    GBX_ASK_NOTHING,
} gbx_ask;

typedef enum gbx_phase {
    GBX_PHASE_ASKING, /* for its era */
    GBX_PHASE_LISTING,
    GBX_PHASE_READY,
    GBX_PHASE_ENDING, /* no new calls are sent; those in flight go on */
    GBX_PHASE_LOST,
} gbx_phase;

/* Called from the loop. They may do anything but free the session. */
typedef struct gbx_session_hooks {
    void (*ready)(gbx_server *server, gbx_session *session);
    /* The list of tools was read again, or reading it has failed. */
    void (*listed)(gbx_server *server, gbx_session *session);
    /* Nothing more is sent. It is lost once the calls in flight have ended. */
    void (*ending)(gbx_server *server, gbx_session *session, const char *why);
    /* After ending. Calls in flight have been answered with GBX_UPSTREAM_EXIT. */
    void (*lost)(gbx_server *server, gbx_session *session, const char *why);
} gbx_session_hooks;

struct gbx_session {
    gbx_server *server;
    const gbx_session_hooks *hooks;
    gbx_link *link; /* NULL: lost */
    gbx_phase phase;
    gbx_session_facts facts;
    bool is_process;
    bool is_modern;
    unsigned may_ask;  /* legacy: bits of gbx_mcp_asking that were declared */
    gbx_remedy remedy; /* without it a new session would be lost, too */

    int64_t last_id;
    int64_t asked[GBX_ASK_CALL]; /* ids of our own open requests, or 0 */
    gbx_call_list calls;         /* in flight */
    size_t call_count;
    uint64_t sent_bytes;

    char refusal[256]; /* why a process refused initialize; discover follows */
    unsigned version;  /* index in the table of legacy versions, of the one asked for */
    unsigned versions; /* a bit for each version that was asked for */

    gbx_tools *tools;  /* NULL: not known yet */
    gbx_tools *coming; /* pages of the list being read, or NULL */
    unsigned pages;
    gbx_buf cursor; /* of an earlier page: if it recurs, the pages form a cycle */
    bool is_listing;
    bool is_stale;     /* a change was announced while the list was being read */
    bool tells_tools;  /* its capabilities declare tools */
    bool is_listening; /* the stream of changes is open, and has those of tools */
    unsigned unlisted; /* consecutive lists without an answer */
    unsigned listen_failures; /* consecutive failures to open that stream */
    uint32_t ttl_ms;          /* how long the list is valid, as the server says */
    int64_t asked_ns;         /* when the list being read was asked for */
    int64_t listed_ns;        /* the same for the known list */

    char stray
        [960]; /* the last line of its standard output that was not a message; once it
                * is ready, only lines since then */
    bool is_deaf; /* it has closed its input, and may be about to end */

    int64_t started_ns;
    gbx_bucket logged; /* lines of ours in our log */
    gbx_bucket said;   /* the server's */
    gbx_questions questions;
    char *page; /* id of the last address that it asked a person to open, or NULL */
    unsigned page_number; /* of that question */
    gbx_mcp_timer start_timer;
    gbx_mcp_timer list_timer;   /* limits how often changes make us read the list */
    gbx_mcp_timer page_timer;   /* once it is ready: the next page is late */
    gbx_mcp_timer listen_timer; /* reopens the stream of changes after a pause */
    gbx_mcp_timer check_timer;
};

gbx_status gbx_session_new(gbx_server *server, const gbx_session_hooks *hooks,
                           gbx_session **ret, gbx_error *reterr) GBX_MUST_USE;

/* No call may be in flight. Do not call it from a hook. */
void gbx_session_free(gbx_session *session);

/* Check that the server is alive: without an answer in time, the session is lost. */
void gbx_session_check(gbx_session *s);

/* ---- session_send.c, session_request.c ------------------------------------------ */

/* id 0: a notification. name: what the request names, or NULL. */
bool gbx_session_send_method(gbx_session *s, int64_t id, const char *method,
                             const char *name, const char *params);
/* call: NULL for other requests. */
void gbx_session_put_meta(const gbx_session *s, const gbx_upstream_call *call,
                          gbx_buf *to);

/* End the session; may be called from anywhere. */
void gbx_session_lose(gbx_session *s, const char *why);
/* Send no new calls, and end the session when those in flight have ended. */
void gbx_session_end(gbx_session *s, const char *why);
void gbx_call_fail(gbx_upstream_call *call, gbx_upstream_fault fault, const char *why,
                   bool was_not_begun);

/* Send {"method", "params": {PARAMS, "_meta"}}: params are members without braces, or
 * "". False: it cannot be sent. */
bool gbx_session_ask(gbx_session *s, gbx_ask ask, const char *method,
                     const char *params);
/* The answer to this request is not awaited any more: notify the server. */
void gbx_session_cancel(gbx_session *s, int64_t id, const char *reason);
bool gbx_session_send(gbx_session *s, const gbx_buf *text, gbx_link_message about);

/* The purpose of the request with this id; *ret_call is the call, or NULL. */
gbx_ask gbx_session_find(const gbx_session *s, int64_t id,
                         gbx_upstream_call **ret_call);
/* The same, and close the request unless it is a call. */
gbx_ask gbx_session_take(gbx_session *s, int64_t id, gbx_upstream_call **ret_call);
bool gbx_session_awaits(const gbx_session *s, int64_t id);

void gbx_server_log(const gbx_server *server, const char *line);
void gbx_session_log(gbx_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A text for a person is read to its end. */
void gbx_blank_nuls(gbx_buf *text);

/* ---- session_start.c: eras ------------------------------------------------ */

bool gbx_session_begin(gbx_session *s);
void gbx_session_on_discover(gbx_session *s, const gbx_rpc_message *message);
void gbx_session_on_initialize(gbx_session *s, const gbx_rpc_message *message);
/* The request that finds out the era gets no answer. */
void gbx_session_on_no_discover(gbx_session *s);
/* The same for initialize, which follows it. */
void gbx_session_on_no_initialize(gbx_session *s, const char *why);
/* The server refused to begin with these words. True: they name a version that was not
 * tried yet, and it is now asked for. */
bool gbx_session_ask_other_version(gbx_session *s, const char *words, size_t len);

/* ---- session_tools.c ------------------------------------------------------ */

void gbx_session_list(gbx_session *s);
/* A call waits for the list: request it in the next turn, unless it is being read. */
void gbx_session_list_now(gbx_session *s);
/* True if its tools have changed since they were read, or are being read. */
bool gbx_session_is_stale(const gbx_session *s);

void gbx_session_on_tools(gbx_session *s, const gbx_rpc_message *message);
/* A page is late or invalid. A session that is not ready yet is lost; one that is ready
 * ends after two such failures in a row. */
void gbx_session_on_no_tools(gbx_session *s, const char *why);
/* The repeated request for the list failed: keep the known tools. */
void gbx_session_keep_tools(gbx_session *s);
void gbx_session_listen(gbx_session *s);
/* Open it again, for the resources that are wanted now. */
void gbx_session_listen_anew(gbx_session *s);
/* The stream of changes is open: changes before this were not announced. */
void gbx_session_on_acknowledged(gbx_session *s, gbx_view params);
/* The stream failed to open, or ended; message is the answer, or NULL. */
void gbx_session_on_listen_end(gbx_session *s, const gbx_rpc_message *message);
void gbx_session_on_change(gbx_session *s);

/* ---- upstream_server.c -------------------------------------------------- */

/*
 * One configured server: its sessions, its waiting calls, and whether it may be
 * started.
 *
 *     STOPPED -- a call --> STARTING -- tools known --> READY -- idle --> STOPPED
 *                              |                          |
 *                              +-- lost --> BROKEN <------+   tried again after a while
 */

#define GBX_PROCESSES_MAX 64u

struct gbx_server {
    gbx_upstreams *all;
    const gbx_mcp_upstream_config *config;
    gbx_uris wanted;                          /* resources whose updates are wanted */
    gbx_session *sessions[GBX_PROCESSES_MAX]; /* lost ones are freed in the next turn */
    size_t session_count;
    gbx_call_list waiting; /* by rank */
    size_t waiting_count;
    size_t in_flight;
    unsigned failures; /* consecutive */
    int64_t retry_ns;  /* no try before this */
    int64_t started_ns;
    gbx_mcp_timer retry;
    gbx_mcp_timer idle;
    char fault[1024];        /* of the last failure, or "" */
    gbx_remedy remedy;       /* of that failure */
    gbx_session_facts facts; /* of the last session that was ready */
    gbx_tools *tools;        /* of the last session that has listed them, or NULL */
    int64_t tools_until_ns;  /* when they expire; 0: when the server says so */
};

struct gbx_upstreams {
    gbx_mcp_loop *loop;
    const gbx_mcp_config *config;
    gbx_upstream_hooks hooks;
    gbx_yard yard;
    gbx_server *servers;
    size_t count;
    size_t in_flight;
    size_t starts_at_once; /* limit for programs that no call waits for */
    size_t next_server;    /* served first in the next turn: round robin */
    gbx_call_list ended;   /* end in the next turn */
    unsigned asked;        /* questions to a person */
    bool is_closing;
    gbx_mcp_timer turn;
};

/* Do the deferred work in the next turn of the loop. */
static inline void gbx_upstreams_wake(gbx_upstreams *all)
{
    gbx_mcp_timer_fire(&all->turn);
}

#endif
