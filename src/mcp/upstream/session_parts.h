/* SPDX-License-Identifier: MIT */
/* session_parts - the insides of a session; for session*.c alone. */
#ifndef GBX_MCP_UPSTREAM_SESSION_PARTS_H
#define GBX_MCP_UPSTREAM_SESSION_PARTS_H

#include "mcp/rpc/message.h"
#include "mcp/upstream/session.h"

#define GBX_SESSION_WHY_MAX 2048 /* of why it is lost */

#define GBX_MODERN_VERSION "2026-07-28"

/* What one question of ours is about. */
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
    uint64_t end; /* of its message, among the bytes that were sent */
    void *user;
    void (*progress)(void *user, const char *message, size_t len);
    void (*answer)(void *user, const gbx_upstream_reply *reply);
} gbx_session_request;

typedef enum gbx_phase {
    GBX_PHASE_ASKING, /* which era it is of */
    GBX_PHASE_LISTING,
    GBX_PHASE_READY,
    GBX_PHASE_ENDING, /* forgotten by the server, but for the calls in flight */
    GBX_PHASE_LOST,
} gbx_phase;

struct gbx_session {
    gbx_session_options options;
    gbx_link *link; /* NULL: lost */
    gbx_phase phase;
    gbx_session_facts facts;
    gbx_tools tools;
    gbx_tools coming; /* pages of a list that is under way */
    unsigned pages;
    gbx_buf cursor; /* to one of them: if it comes again, there is no end to them */
    bool is_listing;
    int64_t page_id;   /* of the question for the page that is awaited */
    unsigned unlisted; /* lists without an answer, one after the other */
    bool is_stale;     /* the list was said to change while it was being read */
    bool tells_tools;  /* its capabilities say so */
    bool tells_changes;
    bool is_listening;        /* its changes are told: the stream of them is open */
    unsigned listen_failures; /* to open it, one after the other */
    uint32_t ttl_ms;          /* of the list, as it says itself */
    bool is_process;
    char refusal[256]; /* of initialize, by a process: it is asked the other question */
    bool was_asked_again; /* of its era: the first answer was lost */
    unsigned version;  /* of those before, by its place in the table: it is asked for */
    unsigned versions; /* a bit for each that was asked for */
    char stray
        [960]; /* the last line on its standard output that was no message: since it
                        * was ready, if it is */
    const char *misframed; /* why no message of it can be read; constant, or NULL */
    bool has_brace;        /* alone on its line: the rest of a message may follow */
    size_t indent;         /* of the members of that, 0 before the first of them */
    int64_t spread_id;     /* which it has */
    int64_t unread_id;     /* the last of them that was awaited */
    bool is_spread;        /* it has a result or an error */
    bool is_deaf;          /* it has closed its input: perhaps on its way to its end */
    gbx_session_request *pending;
    int64_t last_id;
    size_t calls;
    uint64_t sent_bytes;
    int64_t started_ns;
    int64_t asked_ns;  /* for the list that is under way */
    int64_t listed_ns; /* the same of the one that is known */
    int64_t log_burst_ns;
    unsigned log_left;
    int64_t says_burst_ns;
    unsigned says_left;
    struct event *start_timer;
    struct event *list_timer; /* so that a flood of changes is no flood of questions */
    struct event *page_timer; /* once it is ready: a page that does not come */
    struct event *listen_timer; /* the stream of changes has ended: once more, later */
    struct event *check_timer;
};

/* ---- session.c ------------------------------------------------------------ */

/* The end of the session, from whatever place of it. */
void gbx_session_lose(gbx_session *s, const char *why);
/* The server has forgotten it: the same, as soon as its calls have ended. */
void gbx_session_end(gbx_session *s, const char *why);

/* Send {"method", "params": {PARAMS, "_meta"}}: params are members without braces, or "".
 * The id, or 0: it cannot be sent. */
int64_t gbx_session_ask(gbx_session *s, gbx_ask ask, const char *method,
                        const char *params);
void gbx_session_notify(gbx_session *s, const char *method, const char *params);

/* Append the members of _meta that this era has on each request. */
void gbx_session_put_meta(const gbx_session *s, int64_t progress_token,
                          const char *more, gbx_buf *to);
bool gbx_session_send(gbx_session *s, const gbx_buf *text,
                      const gbx_link_message *about);
gbx_session_request *gbx_session_expect(gbx_session *s, gbx_ask ask);
/* The one of that id, taken out; NULL if nobody waits for it. free() it. */
gbx_session_request *gbx_session_take(gbx_session *s, int64_t id);
bool gbx_session_awaits(const gbx_session *s, int64_t id);
/* The moment is over in which an answer on several lines might have come on one, too. */
void gbx_session_on_spread(gbx_session *s);
/* Append what it wrote that was no message, if there is any. */
void gbx_session_add_stray(const gbx_session *s, char *why, size_t size);
void gbx_session_log(gbx_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- session_read.c ------------------------------------------------------- */

gbx_link_hooks gbx_session_hooks_of(gbx_session *s);

/* ---- session_says.c ------------------------------------------------------- */

/* A log message of the server's. */
void gbx_session_on_says(gbx_session *s, gbx_view params);

/* ---- session_start.c: eras ------------------------------------------------ */

bool gbx_session_begin(gbx_session *s);
void gbx_session_on_discover(gbx_session *s, const gbx_rpc_message *message);
void gbx_session_on_initialize(gbx_session *s, const gbx_rpc_message *message);
/* The question of the era has no answer, and will have none. */
void gbx_session_on_no_discover(gbx_session *s);
/* The same of what follows on it. */
void gbx_session_on_no_initialize(gbx_session *s, const char *why);
/* It has refused to begin, in these words. True: they name a version that it was not asked
 * for, and it is. */
bool gbx_session_ask_other_version(gbx_session *s, const char *words, size_t len);
/* The answer to this question of the era was there, and cannot be read. */
void gbx_session_on_lost(gbx_session *s, int64_t id);

/* ---- session_tools.c ------------------------------------------------------ */

void gbx_session_list(gbx_session *s);
void gbx_session_on_tools(gbx_session *s, const gbx_rpc_message *message);
/* A page has not come in time, or is none. That is its end before it is ready alone. */
void gbx_session_on_no_tools(gbx_session *s, const char *why);
/* The list that was asked for once more does not come: the known one stays. */
void gbx_session_keep_tools(gbx_session *s);
void gbx_session_listen(gbx_session *s);
/* The stream of changes is open: what was before it was not told. */
void gbx_session_on_acknowledged(gbx_session *s, gbx_view params);
/* It is not, or not any more; with what it was answered, or NULL. */
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
