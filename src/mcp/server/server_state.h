/* SPDX-License-Identifier: MIT */
/*
 * server_state - types that the files of this folder share: the server with its client,
 * and requests.
 *
 * A request is the work of a handler; the client waits for its `id`. A request loses
 * its id while the work continues if it is cancelled, if the client disconnects, and
 * while a modern client asks a person. Nothing is sent for a request without an id.
 */
#ifndef GBX_MCP_SERVER_SERVER_STATE_H
#define GBX_MCP_SERVER_SERVER_STATE_H

#include "audit/audit.h"
#include "mcp/rpc/rpc.h"
#include "mcp/server/server.h"

#include <sys/queue.h>

/* ---- server.c: the client ---------------------------------------------------- */

/* Messages in, messages out, no I/O inside. */

/* The longest line that a client may send. */
#define GBX_MCP_LINE_MAX ((size_t)16 * 1024 * 1024)

typedef struct gbx_mcp_client_hooks {
    void *user;
    /* Whole messages with their newlines; copied. False: no room, or the
     * client is gone. */
    bool (*send)(void *user, const void *data, size_t len);
    /* The client must not read the next message with earlier ones. May be NULL. */
    void (*part)(void *user);
    /* True if so much output waits that progress and logs are left out. */
    bool (*is_full)(void *user);
    /* A response could not be sent: the client does not read at all. */
    void (*give_up)(void *user);
    /* The last request in flight has ended. May be NULL. */
    void (*idle)(void *user);
} gbx_mcp_client_hooks;

/* Call it once: a server has only one client. */
void gbx_mcp_server_connect(gbx_mcp_server *server, const gbx_mcp_client_hooks *hooks);

/* One line that the client sent. */
void gbx_mcp_server_take(gbx_mcp_server *server, const char *line, size_t len);
/* A line that was longer than GBX_MCP_LINE_MAX. */
void gbx_mcp_server_take_too_long(gbx_mcp_server *server);

/* Append the method and name of the oldest request, escaped: "tools/call execute". */
void gbx_mcp_server_name_oldest(const gbx_mcp_server *server, gbx_buf *to);
/* Requests whose handlers have not finished, whether the client waits or not. */
size_t gbx_mcp_server_unfinished(const gbx_mcp_server *server);

/* End the session: close subscriptions with their results, and cancel everything in
 * flight. Nothing is received or sent afterwards. Requests exist until their handlers
 * end them. */
void gbx_mcp_server_end(gbx_mcp_server *server);

/* ---- registry.c ---------------------------------------------------------- */

/* The entries of one list of the protocol, in the order in which they were added. An
 * entry keeps its place when it is replaced. None is a prompt: hosts ask for that list,
 * and some show an error. */

/* More than any configuration needs; artifacts have limits of their own. */
#define GBX_MCP_ENTRIES_MAX 1000

typedef struct gbx_mcp_entry {
    char *key;   /* name; for a resource, its uri or fixed beginning */
    char *shown; /* JSON object, as sent in lists */
    gbx_mcp_tool_fn call;
    gbx_mcp_read_fn read;
    void *user;
    bool is_pending; /* of a resource */
} gbx_mcp_entry;

typedef struct gbx_mcp_registry {
    gbx_mcp_entry *entries;
    size_t count;
} gbx_mcp_registry;

/* Limit of one message, in or out. */
#define GBX_MCP_MESSAGE_MAX ((size_t)64 * 1024 * 1024)

#define GBX_MCP_REQUESTS_MAX   1024 /* in flight */
#define GBX_MCP_LISTENS_MAX    32
#define GBX_MCP_SUBSCRIBED_MAX 1024 /* URIs of a client or a subscription */
#define GBX_MCP_ASKS_MAX       32   /* open questions of a request */
#define GBX_MCP_URI_MAX        2048

/* Hexadecimal digits of 128 random bits, and the NUL. */
#define GBX_MCP_HANDLE_SIZE 33

typedef struct gbx_mcp_method gbx_mcp_method;

/* Rate limit of progress and logs: a burst, then what a person can read per second. */
#define GBX_MCP_RATE_BURST      100
#define GBX_MCP_RATE_PER_SECOND 50

/* The initial value of `progress`: any figure is an increase. */
#define GBX_MCP_NO_PROGRESS (-1.0)

/* Send a keep-alive for requests that asked for progress and got none for beat_ms. */
void gbx_mcp_beat(gbx_mcp_server *server);

/* What a request declares: version, capabilities, level of logs. */
typedef struct gbx_mcp_era {
    bool is_modern;
    unsigned can_ask; /* bits of gbx_mcp_asking */
    int log_level;    /* for gbx_mcp_level_name(); -1: none */
} gbx_mcp_era;

#define GBX_MCP_KEY_SIZE 65

/* A question to a person, or to the client. */
typedef struct gbx_mcp_ask_entry {
    TAILQ_ENTRY(gbx_mcp_ask_entry) entry;
    gbx_mcp_request *request; /* NULL: it has ended */
    gbx_mcp_asking what;      /* one bit */
    uint32_t number;          /* among the request's questions */
    char key
        [GBX_MCP_KEY_SIZE]; /* its name for a modern client: "ask-NUMBER", or given */
    uint64_t shown;         /* its number on the page; 0: it is not there */
    bool is_local;          /* the page alone asks it */
    int64_t rpc_id;         /* legacy: of our request to the client */
    char *params;           /* members as sent */
    bool is_sent;           /* legacy: to the client; modern: in an input_required;
                               * or to the page alone */
    bool is_answered;       /* but done has not been called yet */
    gbx_mcp_answer answer;
    char *content; /* JSON, or NULL */
    void (*done)(void *user, gbx_mcp_answer answer, gbx_view content);
    void *user;
    int64_t until_ns; /* legacy, or of the page alone: when we stop waiting */
} gbx_mcp_ask_entry;

struct gbx_mcp_request {
    LIST_ENTRY(gbx_mcp_request) entry; /* newest first */
    gbx_mcp_server *server;
    const gbx_mcp_method *method;
    char *text; /* the message; params is in it */
    size_t text_len;
    gbx_view params;
    gbx_view meta; /* of params */
    gbx_mcp_era era;
    char *id;
    size_t id_len; /* 0: the client does not wait */
    char token[GBX_RPC_ID_MAX];
    size_t token_len;   /* 0: progress is not wanted */
    double progress;    /* last sent */
    int64_t bound_ns;   /* since when the client waits with this id */
    int64_t said_ns;    /* when progress was last sent, or the wait began */
    gbx_bucket rate;    /* of progress and logs */
    bool is_held;       /* its handler has not been called yet */
    bool is_cancelled;  /* by the client, or because the client is gone */
    bool is_cancel_due; /* cancel is still to be called */
    void (*cancel)(void *user);
    void *cancel_user;
    uint32_t asked;                   /* questions so far */
    uint32_t ask_count;               /* of them, without a delivered answer */
    uint32_t round;                   /* number of input_required results so far */
    char handle[GBX_MCP_HANDLE_SIZE]; /* that the client must return with */
    int64_t retry_until_ns;           /* while it has no id: when to stop waiting
                                       * for the client */
    bool is_parked;                   /* waits for the client's return; not counted
                                       * as in flight */
    gbx_buf outcome;    /* "result":... or "error":..., until the client returns */
    bool is_finished;   /* outcome is set; the handler has finished */
    gbx_call_span span; /* of a call of a tool */
};

/* A set without duplicates. */
typedef struct gbx_mcp_uris {
    char **items;
    size_t count;
} gbx_mcp_uris;

/* subscriptions/listen */
typedef struct gbx_mcp_listen {
    LIST_ENTRY(gbx_mcp_listen) entry;
    char id[GBX_RPC_ID_MAX];
    size_t id_len;
    bool lists[GBX_MCP_LISTS]; /* templates are resources */
    gbx_mcp_uris uris;
} gbx_mcp_listen;

struct gbx_mcp_server {
    gbx_mcp_registry lists[GBX_MCP_LISTS];
    bool is_changed[GBX_MCP_LISTS]; /* since the last announcement */
    char *info;                     /* JSON object: serverInfo */
    char *instructions;             /* or NULL */
    uint32_t ask_ms;
    unsigned holds;
    bool is_impatient; /* hold_ms has passed: holds are ignored */
    uint32_t hold_ms;
    uint32_t beat_ms;
    bool (*offers)(const void *user, const char *tool);
    const void *offers_user;
    void (*advise)(void *user, const char *name, gbx_buf *to); /* or NULL */
    void *advise_user;
    gbx_telemetry *telemetry; /* or NULL */
    gbx_mcp_page page;
    uint64_t last_shown;
    const gbx_mcp_proxy *proxy; /* or NULL */
    gbx_mcp_timer patience;
    gbx_mcp_timer settle; /* runs work that must not run from inside a call */
    gbx_mcp_timer expiry; /* of questions */
    LIST_HEAD(, gbx_mcp_request) requests;
    TAILQ_HEAD(gbx_mcp_ask_list, gbx_mcp_ask_entry) asks; /* in order */
    /* The client. */
    gbx_mcp_client_hooks hooks;
    bool is_ended;
    char version[16];      /* legacy: what was agreed on; "" before */
    gbx_mcp_era era;       /* legacy: of every request */
    gbx_mcp_era latest;    /* of the latest request */
    gbx_mcp_listen legacy; /* lists it has requested, resources/subscribe; no id */
    LIST_HEAD(, gbx_mcp_listen) listens;
    size_t listen_count;
    size_t request_count; /* that have an id */
    size_t request_bytes; /* of all requests except parked ones */
    int64_t last_rpc_id;  /* of our requests to the client */
};

/* ---- client_request.c ------------------------------------------------------------ */

/* text is copied. */
gbx_mcp_request *gbx_mcp_request_new(gbx_mcp_server *server, const char *text,
                                     size_t len);
void gbx_mcp_request_free(gbx_mcp_request *request);
/* The client waits for it with this id from now on. */
void gbx_mcp_request_bind(gbx_mcp_request *request, gbx_view id, gbx_view meta);
gbx_mcp_request *gbx_mcp_request_find(gbx_mcp_server *server, gbx_view id);
void gbx_mcp_request_cancel(gbx_mcp_request *request);
/* Call the cancel functions that are due. */
void gbx_mcp_request_settle(gbx_mcp_server *server);
/* Run the server's deferred work in the next turn of the loop. */
void gbx_mcp_settle_soon(gbx_mcp_server *server);

/* End the question without waiting for the person: done is called in the next turn of
 * the loop. */
void gbx_mcp_ask_end(gbx_mcp_ask_entry *ask, gbx_mcp_answer how);
/* The same for every open question of the request. */
void gbx_mcp_asks_end(gbx_mcp_request *request, gbx_mcp_answer how);

/* Begin a result in `to` (initialised here), without its closing brace. meta: JSON
 * object of further _meta, or NULL. */
void gbx_mcp_reply_begin(gbx_buf *to, gbx_mcp_request *request, const char *result_type,
                         const char *meta);
void gbx_mcp_reply_cacheable(gbx_buf *to, const gbx_mcp_request *request);
/* Send the begun result, which is moved in, and end the request. */
void gbx_mcp_reply_end(gbx_mcp_request *request, gbx_buf *to);
/* Send the begun result: the client's request is answered, but the work goes on. */
void gbx_mcp_reply_interim(gbx_mcp_request *request, gbx_buf *to);
/* Send a result without members. */
void gbx_mcp_reply_empty(gbx_mcp_request *request);
/* Send the kept outcome under the request's present id. */
void gbx_mcp_reply_outcome(gbx_mcp_request *request);
/* Send a message that belongs to no request, if there is room for it. */
void gbx_mcp_send(gbx_mcp_server *server, gbx_buf *message);
/* Send an error for a message that did not become a request. */
void gbx_mcp_refuse(gbx_mcp_server *server, gbx_view id, int code, const char *message,
                    const char *data);

/* ---- protocol_version.c ------------------------------------------------- */

/* False: its version or its _meta is not valid, and the request was refused. */
bool gbx_mcp_era_read(gbx_mcp_server *server, const gbx_rpc_message *message,
                      gbx_mcp_era *ret);
const char *gbx_mcp_level_name(int level);

void gbx_mcp_on_initialize(gbx_mcp_request *request);
void gbx_mcp_on_discover(gbx_mcp_request *request);
void gbx_mcp_on_set_level(gbx_mcp_request *request);

/* ---- listen.c ------------------------------------------------------------- */

void gbx_mcp_on_subscribe(gbx_mcp_request *request);
void gbx_mcp_on_unsubscribe(gbx_mcp_request *request);
void gbx_mcp_on_listen(gbx_mcp_request *request);

/* Notify the client of changed lists, if it is interested. */
void gbx_mcp_announce(gbx_mcp_server *server);
/* False: no subscription has that id. */
bool gbx_mcp_listen_cancel(gbx_mcp_server *server, gbx_view id);
/* NULL: no subscription has that id. */
gbx_mcp_listen *gbx_mcp_listen_find(const gbx_mcp_server *server, gbx_view id);
/* Close all subscriptions with their results. */
void gbx_mcp_listens_end(gbx_mcp_server *server);
void gbx_mcp_uris_free(gbx_mcp_uris *uris);

/* ---- registry.c: methods ----------------------------------------------------- */

void gbx_mcp_on_list(gbx_mcp_request *request);
void gbx_mcp_on_call(gbx_mcp_request *request);
/* prompts/get, completion/complete */
void gbx_mcp_on_prompt(gbx_mcp_request *request);
void gbx_mcp_on_read(gbx_mcp_request *request);
/* Is the resource that it names pending? */
bool gbx_mcp_read_is_pending(const gbx_mcp_request *request);

/* ---- server.c: methods --------------------------------------------- */

/* The eras of the protocol that have a method. */
typedef enum gbx_mcp_eras {
    GBX_MCP_IN_LEGACY = 1,
    GBX_MCP_IN_MODERN = 2,
    GBX_MCP_IN_BOTH = GBX_MCP_IN_LEGACY | GBX_MCP_IN_MODERN,
} gbx_mcp_eras;

struct gbx_mcp_method {
    const char *name;
    gbx_mcp_eras eras;
    void (*run)(gbx_mcp_request *request);
    gbx_mcp_list list;
    /* True if it must wait while the server is held. NULL: never. */
    bool (*waits)(const gbx_mcp_request *request);
    bool is_stateful; /* may be answered with input_required */
};

/* ---- elicitation.c ---------------------------------------------------------- */

/* Deliver the answers, and send the questions that were not sent yet. */
void gbx_mcp_asks_settle(gbx_mcp_server *server);
/* End questions and suspended requests that have timed out. */
void gbx_mcp_asks_expire(gbx_mcp_server *server);
/* A response from a legacy client. */
void gbx_mcp_ask_response(gbx_mcp_server *server, const gbx_rpc_message *message);
/* Handle a modern request that returns with a state. True: it was handled. */
bool gbx_mcp_retry_take(gbx_mcp_server *server, const gbx_mcp_method *method,
                        const gbx_rpc_message *message, const gbx_mcp_era *era);

#endif
