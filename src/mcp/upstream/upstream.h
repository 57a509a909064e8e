/* SPDX-License-Identifier: MIT */
/*
 * upstream - other MCP servers, as functions: started when needed, stopped when idle.
 *
 * One object keeps all servers of a configuration. Everything runs on the loop's
 * thread. All input from a server is hostile: it is bounded and checked, and an answer
 * may never come.
 */
#ifndef GBX_MCP_UPSTREAM_UPSTREAM_H
#define GBX_MCP_UPSTREAM_UPSTREAM_H

#include "base/json_view.h"
#include "mcp/config/config.h"
#include "mcp/rpc/rpc.h"
#include "mcp/rules/rules.h"
#include "mcp/telemetry/telemetry.h"

#include <sys/queue.h>

/* Limits of one server; a tool with a longer name is left out. */
#define GBX_TOOLS_MAX     4096
#define GBX_TOOL_NAME_MAX 256

/* Progress extends the time of a call up to this many times its timeout. */
#define GBX_UPSTREAM_PROGRESS_TIMES 10

#define GBX_TOOLS_DROPPED_SIZE 160

typedef struct gbx_upstreams gbx_upstreams;
typedef struct gbx_upstream_call gbx_upstream_call;
typedef struct gbx_server gbx_server;
typedef struct gbx_session gbx_session;
typedef TAILQ_HEAD(gbx_call_list, gbx_upstream_call) gbx_call_list;

/* Why a call of an upstream server failed. */
typedef enum gbx_upstream_fault {
    GBX_UPSTREAM_OK = 0,
    GBX_UPSTREAM_UNKNOWN_TOOL,
    GBX_UPSTREAM_START, /* could not be started, or never spoke MCP */
    GBX_UPSTREAM_EXIT,  /* ended during the call */
    GBX_UPSTREAM_TIMEOUT,
    GBX_UPSTREAM_CANCELLED,
    GBX_UPSTREAM_OPEN,     /* the circuit is open: it failed too often just now */
    GBX_UPSTREAM_PROTOCOL, /* its answer is not valid */
    GBX_UPSTREAM_REFUSED,  /* a JSON-RPC error: code and message are the server's */
    GBX_UPSTREAM_BUSY,     /* too many calls wait for it */
    GBX_UPSTREAM_INPUT,    /* it asks for input, which code cannot give */
    GBX_UPSTREAM_CHANGED,  /* not sent: the server says now that the tool has changed */
} gbx_upstream_fault;

/* For printf(), with the names of a server and of a tool. */
#define GBX_NO_TOOL_FORMAT "the server '%.64s' has no tool '%.256s'"

/* The name that the author of the call sees, such as "UPSTREAM_TIMEOUT". */
const char *gbx_upstream_fault_name(gbx_upstream_fault fault);

/* Copy a server's text without values of secrets, cut between characters to fit size.
 * secrets NULL: none. If that fails, the copy is "". */
void gbx_redact_copy(const gbx_policy *secrets, const char *text, char *ret,
                     size_t size);

/* What has to happen before a call or a start that has failed can succeed. */
typedef enum gbx_remedy {
    GBX_REMEDY_NONE,    /* nothing that is known: it may succeed later */
    GBX_REMEDY_REPAIR,  /* a person must fix something, such as a missing command */
    GBX_REMEDY_SIGN_IN, /* a person must sign in to the server */
} gbx_remedy;

/* Borrowed until the callback returns. */
typedef struct gbx_upstream_reply {
    gbx_upstream_fault fault;
    int code;            /* JSON-RPC, with REFUSED */
    const char *message; /* for the author of the call; "" on success; hostile */
    gbx_view result;     /* the whole CallToolResult, on success */
    unsigned missing;    /* capabilities that the client must declare for that, with
                          * INPUT: bits of gbx_mcp_asking */
    bool was_not_begun;  /* the server is known to have done nothing for it */
    bool is_passing;     /* with REFUSED: the server may accept it a little later */
    bool is_reading;     /* the server says that the tool only reads, */
    bool is_repeatable;  /* or that a second call does no harm */
    gbx_remedy remedy;
} gbx_upstream_reply;

/* True if the same call may succeed a little later, and is safe to repeat. */
bool gbx_upstream_is_retryable(const gbx_upstream_reply *reply);

/* True if the server may have acted on the call, with an unknown result. */
bool gbx_upstream_may_have_acted(const gbx_upstream_reply *reply);

typedef void (*gbx_upstream_done_fn)(void *user, const gbx_upstream_reply *reply);

/* A server's question to a person, or to the client, of which only the form has been
 * checked. Borrowed until the callback returns. */
typedef struct gbx_upstream_question {
    unsigned number;     /* among those of all servers */
    gbx_mcp_asking what; /* one bit */
    gbx_view name;       /* that a modern server gave it, or no value */
    gbx_view message;
    gbx_view schema; /* of a form, flat; or: */
    gbx_view url;    /* printable ASCII, of https or of this machine; or: */
    gbx_view params; /* of sampling */
} gbx_upstream_question;

/* What a server declares that it has, and reports changes of; in bits. */
typedef enum gbx_upstream_has {
    GBX_HAS_RESOURCES = 1,
    GBX_HAS_PROMPTS = 2,
    GBX_HAS_COMPLETIONS = 4,
    GBX_TELLS_TOOLS = 8,
    GBX_TELLS_RESOURCES = 16,
    GBX_TELLS_PROMPTS = 32,
    GBX_TELLS_UPDATES = 64, /* of single resources */
    GBX_HAS_TASKS = 128,    /* it may answer calls later */
} gbx_upstream_has;

/* What a server has reported besides its tools. */
typedef enum gbx_upstream_news {
    GBX_NEWS_READY,     /* it is running: it may have more than was known of it */
    GBX_NEWS_RESOURCES, /* the list has changed, or that of templates */
    GBX_NEWS_PROMPTS,
    GBX_NEWS_UPDATED, /* a resource */
} gbx_upstream_news;

typedef struct gbx_upstream_hooks {
    void *user;
    /* The tools of a server have become known or have changed. May be NULL. */
    void (*tools_changed)(void *user, const char *server);
    /* uri: of GBX_NEWS_UPDATED, one of those that are wanted. As often as the server
     * likes. May be NULL. */
    void (*news)(void *user, const gbx_mcp_upstream_config *server,
                 gbx_upstream_news news, gbx_view uri);
    void (*log)(void *user, const char *server, const char *line); /* may be NULL */
    /* How a person can be asked, for servers of the legacy era, which learn it when they
     * start: bits of gbx_mcp_asking. NULL: not at all. */
    unsigned (*can_ask)(void *user);
} gbx_upstream_hooks;

/* config is borrowed and must outlive the object. Servers get the limit of descriptors
 * that this process has now, whenever they are started. */
gbx_upstreams *gbx_upstreams_new(gbx_mcp_loop *loop, const gbx_mcp_config *config,
                                 const gbx_upstream_hooks *hooks);

/* Call it once the loop has ended: no call is begun any more, and the servers are
 * notified of the end before slower parts are freed. Blocks for 200 ms at most, and
 * only if a server at an address has not yet accepted the message. NULL is ignored. */
void gbx_upstreams_part(gbx_upstreams *upstreams);

/* When this returns, all processes of all servers and all descendants have ended: asked
 * first, then killed, in bounded time. Calls in flight end as CANCELLED. */
void gbx_upstreams_free(gbx_upstreams *upstreams);

/* A server is named by its entry in the configuration. It must not be disabled. */
typedef const gbx_mcp_upstream_config gbx_upstream_id;

/* What the configuration lets it ask for: bits of gbx_mcp_asking. */
static inline unsigned gbx_upstream_may_ask(gbx_upstream_id *id)
{
    return GBX_MCP_ASK_PERSON | (id->sampling ? GBX_MCP_ASK_SAMPLING : 0u) |
           (id->roots ? GBX_MCP_ASK_ROOTS : 0u);
}

/* Questions to a person, of a legacy session or of a modern call. */
typedef struct gbx_questions {
    unsigned open; /* without an answer: timeouts stand still */
    struct gbx_question {
        unsigned number; /* among those of all servers; 0: none */
        gbx_mcp_asking what;
        char *id;     /* JSON: of the server's request, or its name in inputRequests */
        char *answer; /* JSON object, until the call is sent again; NULL: it is open */
    } list[8];
} gbx_questions;

/* One tools/call, or another request. Its author sets the first group of members and
 * zeroes the rest. The object and what it points to are borrowed until done is called:
 * exactly once, never from inside a function of this file. Then it may be started
 * again. */
struct gbx_upstream_call {
    gbx_upstream_id *server;
    const char *method;  /* that only reads, constant; NULL: tools/call */
    char *tool;          /* or what else it names, or ""; NULL: only learn the tools */
    const void *author;  /* waiting calls of different authors take turns */
    gbx_view args;       /* JSON object; with a method: all of its parameters */
    uint32_t timeout_ms; /* 0: the server's, which progress of the tool extends */
    char *meta;          /* JSON members for _meta without braces, or NULL */
    char traceparent[GBX_TRACEPARENT_SIZE]; /* over HTTP also a header; "": none */
    /* The hint that the caller relies on. The call is sent only to a process whose list
     * has this hint and is not known to be stale; UNKNOWN: to any. */
    gbx_gate_hint hint;
    void (*progress)(void *user, const char *message, size_t len); /* may be NULL */
    /* A log message that the server has sent while it had this call. May be NULL. */
    void (*says)(void *user, gbx_log_level level, const char *line);
    /* The server asks a person, or the client: bring the answer by gbx_upstream_answer(),
     * from inside or later, also if the call has ended: the server may ask for another
     * one. NULL: nobody can be asked. */
    void (*ask)(void *user, const gbx_upstream_question *question);
    unsigned can_ask; /* bits of gbx_mcp_asking */
    /* What the person was to do at an address is done. May be NULL. */
    void (*url_is_done)(void *user, unsigned number);
    gbx_upstream_done_fn done;
    void *user;

    /* Read-only for its author. */
    gbx_upstreams *all;
    bool is_open;  /* done is still to come */
    bool was_sent; /* the server has the call, or may have had it */

    /* For the files of this folder. */
    bool is_ours; /* freed after done */
    bool was_retried;
    bool was_extended;
    TAILQ_ENTRY(gbx_upstream_call) entry;
    gbx_call_list *list;  /* the list that holds it, or NULL */
    gbx_server *target;   /* the state of its server */
    gbx_session *session; /* that has it in flight, or NULL */
    int64_t id;           /* in the session */
    uint64_t end;         /* of its message, counted in bytes that the session sent */
    int64_t armed_ns;     /* when its timeout was started, or 0 */
    int64_t held_ns;      /* since when it stands still, or 0 */
    int64_t since_ns;     /* when it began to wait */
    size_t rank;          /* number of calls of its author that waited then */
    gbx_mcp_timer timer;
    gbx_upstream_fault fault; /* of a call that ends in the next turn of the loop */
    gbx_remedy remedy;
    char *message;
    gbx_questions questions;
    unsigned rounds;    /* how often it was answered by questions */
    bool is_refused;    /* the client did not give what only it has */
    char *server_state; /* requestState of that answer, JSON; or NULL */
    char *task;         /* id of the task that the server has made of it, or NULL */
    const char *task_method; /* of the last request about the task */
    bool is_task_over;       /* the next answer is that of the call */
    gbx_mcp_timer poll;
};

void gbx_upstream_start(gbx_upstreams *upstreams, gbx_upstream_call *call);
/* Notify the server and call done with CANCELLED. Do not call it after done. */
void gbx_upstream_cancel(gbx_upstream_call *call);
/* action: "accept", "decline" or "cancel"; NULL: the call is about to be cancelled, and must
 * not go on. content: the filled-in form, the result of the client, or no value. Ignored if the server does not wait
 * for it any more. */
void gbx_upstream_answer(gbx_upstreams *upstreams, unsigned number, const char *action,
                         gbx_view content);

/* ---- state of a server --------------------------------------------------- */

typedef enum gbx_upstream_state {
    GBX_UPSTREAM_STOPPED,
    GBX_UPSTREAM_STARTING,
    GBX_UPSTREAM_READY,
    GBX_UPSTREAM_BROKEN, /* waits before the next try */
} gbx_upstream_state;

/* Borrowed until the next turn of the loop. */
typedef struct gbx_upstream_info {
    const char *name;
    gbx_upstream_state state;
    const char *era;          /* protocol version, "2026-07-28", or "" */
    const char *server_name;  /* its name for itself, or "" */
    const char *version;      /* or "" */
    const char *fault;        /* why it is or was BROKEN, or "" */
    uint32_t retry_ms;        /* time until the next try */
    double start_ms;          /* spawn to the first list of tools */
    const char *containment;  /* what contains its processes, in words, or "" */
    unsigned has;             /* bits of gbx_upstream_has; 0 while unknown */
    gbx_view tools;           /* JSON array of all pages; no value while unknown */
    size_t left_out;          /* listed tools that cannot be called */
    const char *left_out_why; /* "2 left out, the first one with no name", or "" */
} gbx_upstream_info;

gbx_upstream_info gbx_upstreams_info(const gbx_upstreams *upstreams,
                                     gbx_upstream_id *id);

/* The hint for a tool in the last list of a server; UNKNOWN: no list is known. */
gbx_gate_hint gbx_upstreams_tool(const gbx_upstreams *upstreams,
                                 gbx_upstream_id *server, const char *tool);
/* True if the server is running, and its list has expired or is known to have
 * changed. */
bool gbx_upstreams_is_dated(const gbx_upstreams *upstreams, gbx_upstream_id *server);
/* The most similar name of a tool, or NULL. Borrowed, as gbx_upstream_info is. */
const char *gbx_upstreams_nearest_tool(const gbx_upstreams *upstreams,
                                       gbx_upstream_id *server, const char *tool);

/* Start the server if need be and learn its tools; reply.result is the array of
 * tools. */
void gbx_upstream_learn(gbx_upstreams *upstreams, gbx_upstream_id *server,
                        gbx_upstream_done_fn done, void *user);

/* The resources whose updates are wanted from now on; each once. While there are any, the
 * server is started and not stopped. The list and its items are taken over. */
void gbx_upstream_subscribe(gbx_upstreams *upstreams, gbx_upstream_id *server,
                            char **uris, size_t count);

/* A person has signed in: sessions with the token of before, or with none, end, and the next
 * call starts another one at once. */
void gbx_upstream_signed_in(gbx_upstreams *upstreams, gbx_upstream_id *server);

/* Restart a failed server as soon as it may be, although no call waits for it. Cheap,
 * even when called often. */
void gbx_upstream_retry(gbx_upstreams *upstreams, gbx_upstream_id *server);

/* ---- otlp_sender.c -------------------------------------------------------------- */

/* Sends spans to a collector: OTLP over HTTP, as JSON. */
typedef struct gbx_otlp_sender gbx_otlp_sender;

/* Send the spans of telemetry, which must outlive the sender, from the loop. /v1/traces
 * is added to the collector's URL unless it ends so. GBX_E_USAGE: the variable
 * OTEL_EXPORTER_OTLP_HEADERS is not valid. */
gbx_status gbx_otlp_sender_new(gbx_mcp_loop *loop, gbx_telemetry *telemetry,
                               const char *collector, gbx_otlp_sender **ret,
                               gbx_error *reterr) GBX_MUST_USE;
/* Call it once the loop has ended and all calls have: the last spans are sent, within
 * GBX_TIMEOUT_LAST_SPANS. NULL is ignored. */
void gbx_otlp_sender_free(gbx_otlp_sender *sender);

#endif
