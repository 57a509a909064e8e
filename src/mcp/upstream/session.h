/* SPDX-License-Identifier: MIT */
/*
 * session - the conversation with one running server: its era, its tools, and requests.
 *
 * Both eras look the same from outside. A session is ready once it knows the tools. It
 * is lost when its link is, or when it fails to become ready. Loop's thread only. Hooks
 * and answers come from the loop; they may do anything but free the session.
 */
#ifndef GBX_MCP_UPSTREAM_SESSION_H
#define GBX_MCP_UPSTREAM_SESSION_H

#include "mcp/upstream/link.h"
#include "mcp/upstream/tools.h"

#define GBX_VERSION_TEXT_MAX 32

typedef struct gbx_session gbx_session;

typedef struct gbx_session_hooks {
    void *user;
    void (*ready)(void *user, gbx_session *session);
    /* The list of tools was read again, or reading it has failed. */
    void (*listed)(void *user, gbx_session *session);
    /* The server has answered the check. */
    void (*checked)(void *user, gbx_session *session);
    void (*log)(void *user, const char *line);
    /* The server has forgotten the session or cannot be reached: nothing more is sent.
     * The session is lost once the calls in flight have ended. */
    void (*ending)(void *user, gbx_session *session, const char *why);
    /* Requests in flight have been answered with GBX_UPSTREAM_EXIT. */
    void (*lost)(void *user, gbx_session *session, const char *why);
} gbx_session_hooks;

typedef struct gbx_session_options {
    gbx_mcp_loop *loop;
    struct gbx_yard *yard;
    const gbx_mcp_upstream_config *config; /* borrowed for the session's life */
    uint32_t start_ms;
    gbx_session_hooks hooks;
} gbx_session_options;

/* What a session knows of its server; borrowed from it. */
typedef struct gbx_session_facts {
    char version[GBX_VERSION_TEXT_MAX]; /* of the protocol */
    bool is_modern;
    char server_name[129];
    char server_version[65];
    char *instructions;      /* never NULL once it is ready */
    const char *containment; /* constant */
    double start_ms;
    uint32_t tools_ttl_ms; /* how long the list is valid, or 0: until it changes */
    bool is_lasting;       /* it was lost, and a new one would be for the same reason */
} gbx_session_facts;

gbx_status gbx_session_new(const gbx_session_options *options, gbx_session **ret,
                           gbx_error *reterr) GBX_MUST_USE;

/* Pending answers are dropped. Do not call it from a hook. NULL is ignored. */
void gbx_session_free(gbx_session *session);

bool gbx_session_is_ready(const gbx_session *session);
bool gbx_session_is_lost(const gbx_session *session);
const gbx_session_facts *gbx_session_facts_of(const gbx_session *session);
const gbx_tools *gbx_session_tools(const gbx_session *session);

/* ---- calling -------------------------------------------------------------- */

typedef struct gbx_session_call {
    const char *tool;
    const char *args; /* JSON object */
    size_t args_len;
    const char *meta; /* members of _meta without braces, or NULL */
    bool is_again;    /* it was made before, without effect */
    void *user;
    void (*progress)(void *user, const char *message, size_t len); /* or NULL */
    void (*answer)(void *user, const gbx_upstream_reply *reply);
} gbx_session_call;

/* The id of the call, or 0: it cannot be sent. The call's text is copied. */
int64_t gbx_session_start_call(gbx_session *session, const gbx_session_call *call);

/* Notify the server; answer is not called any more. */
void gbx_session_drop_call(gbx_session *session, int64_t id, const char *reason);

size_t gbx_session_calls(const gbx_session *session); /* in flight */

/* Check that the server is alive: if it says nothing within a while, it is lost. */
void gbx_session_check(gbx_session *session);
/* Is such a check still unanswered? */
bool gbx_session_is_checked(const gbx_session *session);

/* Has it said that its tools have changed since they were read? */
bool gbx_session_is_stale(const gbx_session *session);
/* When the known tools were asked for. */
int64_t gbx_session_listed_ns(const gbx_session *session);
/* A call waits for its tools: ask in the next turn, unless a list is under way. */
void gbx_session_list_now(gbx_session *session);

#endif
