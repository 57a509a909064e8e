/* SPDX-License-Identifier: MIT */
/* session_parts - the internals of a session; for session*.c alone. */
#ifndef GBX_MCP_UPSTREAM_SESSION_PARTS_H
#define GBX_MCP_UPSTREAM_SESSION_PARTS_H

#include "mcp/rpc/rpc.h"
#include "mcp/upstream/internal.h"

#define GBX_SESSION_WHY_MAX 2048 /* of the text why it is lost */

#define GBX_MODERN_VERSION "2026-07-28"

/* The purpose of a request of ours. */
typedef enum gbx_ask {
    GBX_ASK_DISCOVER,
    GBX_ASK_INITIALIZE,
    GBX_ASK_TOOLS,
    GBX_ASK_LISTEN,
    GBX_ASK_CHECK,
    GBX_ASK_CALL,
} gbx_ask;

typedef struct gbx_session_request {
    struct gbx_session_request *next;
    int64_t id;
    gbx_ask ask;
    uint64_t end; /* of its message, counted in sent bytes */
    void *user;
    void (*progress)(void *user, const char *message, size_t len);
    void (*answer)(void *user, const gbx_upstream_reply *reply);
} gbx_session_request;

typedef enum gbx_phase {
    GBX_PHASE_ASKING, /* for its era */
    GBX_PHASE_LISTING,
    GBX_PHASE_READY,
    GBX_PHASE_ENDING, /* the server has forgotten it; calls in flight go on */
    GBX_PHASE_LOST,
} gbx_phase;

struct gbx_session {
    gbx_session_options options;
    gbx_link *link; /* NULL: lost */
    gbx_phase phase;
    gbx_session_facts facts;
    gbx_tools tools;
    gbx_tools coming; /* pages of the list being read */
    unsigned pages;
    gbx_buf cursor; /* of an earlier page: if it comes again, the pages go in a
                     * circle */
    bool is_listing;
    int64_t page_id;   /* id of the request for the awaited page */
    unsigned unlisted; /* consecutive lists without an answer */
    bool is_stale;     /* a change was announced while the list was being read */
    bool tells_tools;  /* its capabilities declare tools */
    bool tells_changes;
    bool is_listening;        /* the stream of changes is open */
    unsigned listen_failures; /* consecutive failures to open that stream */
    uint32_t ttl_ms;          /* of the list, as the server says */
    bool is_process;
    char refusal[256];    /* of initialize, by a process: discover is tried next */
    bool was_asked_again; /* for its era: the first answer was lost */
    unsigned version;  /* index in the table of legacy versions, of the one asked for */
    unsigned versions; /* a bit for each version that was asked for */
    char stray
        [960]; /* the last line of its standard output that was not a message; once it
                * is ready, only lines since then */
    const char *misframed; /* why its messages cannot be read; constant, or NULL */
    bool has_brace;        /* a lone brace: the rest of a message may follow */
    size_t indent;         /* of that message's members, 0 before the first */
    int64_t spread_id;     /* that message's id */
    int64_t unread_id;     /* id of the last such message that was awaited */
    bool is_spread;        /* it has a result or an error */
    bool is_deaf;          /* it has closed its input, and may be about to end */
    gbx_session_request *pending;
    int64_t last_id;
    size_t calls;
    uint64_t sent_bytes;
    int64_t started_ns;
    int64_t asked_ns;  /* when the list being read was asked for */
    int64_t listed_ns; /* the same for the known list */
    int64_t log_burst_ns;
    unsigned log_left;
    int64_t says_burst_ns;
    unsigned says_left;
    struct event *start_timer;
    struct event *list_timer;   /* limits how often changes make us read the list */
    struct event *page_timer;   /* once it is ready: the next page is late */
    struct event *listen_timer; /* reopens the stream of changes after a pause */
    struct event *check_timer;
};

/* ---- session.c ------------------------------------------------------------ */

/* End the session; may be called from anywhere. */
void gbx_session_lose(gbx_session *s, const char *why);
/* The server has forgotten it: end it as soon as its calls have ended. */
void gbx_session_end(gbx_session *s, const char *why);

/* Send {"method", "params": {PARAMS, "_meta"}}: params are members without braces, or
 * "". Returns the id, or 0: it cannot be sent. */
int64_t gbx_session_ask(gbx_session *s, gbx_ask ask, const char *method,
                        const char *params);
void gbx_session_notify(gbx_session *s, const char *method, const char *params);

/* Append the members of _meta that this era has on each request. */
void gbx_session_put_meta(const gbx_session *s, int64_t progress_token,
                          const char *more, gbx_buf *to);
bool gbx_session_send(gbx_session *s, const gbx_buf *text,
                      const gbx_link_message *about);
gbx_session_request *gbx_session_expect(gbx_session *s, gbx_ask ask);
/* Take out the request of that id; NULL if nobody waits for it. free() it. */
gbx_session_request *gbx_session_take(gbx_session *s, int64_t id);
bool gbx_session_awaits(const gbx_session *s, int64_t id);
/* An answer spread over several lines might also have come on one line; the time to
 * wait for that is over. */
void gbx_session_on_spread(gbx_session *s);
/* Append its last output that was not a message, if there is any. */
void gbx_session_add_stray(const gbx_session *s, char *why, size_t size);
void gbx_session_log(gbx_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- session_read.c ------------------------------------------------------- */

gbx_link_hooks gbx_session_hooks_of(gbx_session *s);

/* ---- session_says.c ------------------------------------------------------- */

/* A log message from the server. */
void gbx_session_on_says(gbx_session *s, gbx_view params);

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
/* The answer to this request about the era arrived, but cannot be read. */
void gbx_session_on_lost(gbx_session *s, int64_t id);

/* ---- session_tools.c ------------------------------------------------------ */

void gbx_session_list(gbx_session *s);
void gbx_session_on_tools(gbx_session *s, const gbx_rpc_message *message);
/* A page is late or invalid. This loses the session only before it is ready. */
void gbx_session_on_no_tools(gbx_session *s, const char *why);
/* The repeated request for the list failed: keep the known tools. */
void gbx_session_keep_tools(gbx_session *s);
void gbx_session_listen(gbx_session *s);
/* The stream of changes is open: changes before this were not announced. */
void gbx_session_on_acknowledged(gbx_session *s, gbx_view params);
/* The stream failed to open, or ended; message is the answer, or NULL. */
void gbx_session_on_listen_end(gbx_session *s, const gbx_rpc_message *message);
void gbx_session_on_change(gbx_session *s);

/* ---- session_call.c ------------------------------------------------------- */

/* Give the answer, and free the pending call. */
void gbx_session_on_call(gbx_session *s, gbx_session_request *p,
                         const gbx_rpc_message *message);
void gbx_session_answer_call(gbx_session_request *p, const gbx_upstream_reply *reply);
void gbx_session_fail_call(gbx_session *s, gbx_session_request *p,
                           gbx_upstream_fault fault, const char *why,
                           bool was_not_begun);
void gbx_session_on_progress(gbx_session *s, gbx_view params);

#endif
