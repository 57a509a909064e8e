/* SPDX-License-Identifier: MIT */
/*
 * link - the connection to one upstream server: a child process, or an HTTP address.
 *
 * Messages are sent and received whole. A lost link never recovers; create a new one.
 * Loop's thread only. Hooks are called from the loop, never from inside a function of
 * the link, except for log.
 */
#ifndef GBX_MCP_UPSTREAM_LINK_H
#define GBX_MCP_UPSTREAM_LINK_H

#include "mcp/upstream/upstream.h"

#include <stdint.h>

/* A longer message from a server is rejected as an answer. */
#define GBX_LINK_MESSAGE_MAX GBX_MIB(32)

/* Once a server has left this much unread, nothing more is sent to it. */
#define GBX_LINK_WAITING_MAX GBX_MIB(64)

/* What is known of a request that gets no answer. */
typedef enum gbx_unanswered {
    GBX_UNANSWERED,         /* nothing: the server may have acted on it */
    GBX_UNANSWERED_PASSING, /* it may have acted; it may answer a little later */
    GBX_UNANSWERED_ODD,     /* it may have acted; it is not an MCP server, and a person
                             * must fix that first */
    /* The server did nothing for the request, and it: */
    GBX_UNANSWERED_SPOKEN,  /* is there and answers, but not to this */
    GBX_UNANSWERED_LATER,   /* may accept it a little later */
    GBX_UNANSWERED_LASTING, /* will not accept it until a person has fixed something */
} gbx_unanswered;

typedef struct gbx_link_hooks {
    void *user;
    /* about: the id of our request that the message answers, if the transport
     * shows it, else 0. The text is borrowed until the hook returns. The hook may
     * leave the link. */
    void (*message)(void *user, const char *text, size_t len, int64_t about);
    /* A message was too long: its beginning and its end. */
    void (*too_long)(void *user, const char *head, size_t head_len, const char *tail,
                     size_t tail_len);
    /* Does anybody wait for the answer to this request? */
    bool (*awaits)(void *user, int64_t id);
    /* This request gets no answer. */
    void (*unanswered)(void *user, int64_t about, gbx_upstream_fault fault,
                       const char *why, gbx_unanswered how);
    /* The server has forgotten us or cannot be reached: send nothing more. Request
     * about (if not 0) gets no answer and had no effect; other requests may still be
     * answered. is_lasting: as for lost. */
    void (*forgotten)(void *user, int64_t about, const char *why, bool is_lasting);
    /* The server has closed its input: it reads no more than the first `written` bytes
     * of all that were sent. Answers may still come. */
    void (*deaf)(void *user, uint64_t written, const char *why);
    /* For a while, messages that the server sent unasked were not received. */
    void (*missed)(void *user);
    void (*log)(void *user, const char *line); /* hostile, but escaped */
    /* The link is freed, and no hook is called afterwards. is_lasting: a new link would
     * be lost, too, until a person has fixed something. */
    void (*lost)(void *user, const char *why, bool is_lasting);
} gbx_link_hooks;

/* One message to send. */
typedef struct gbx_link_message {
    const char *text; /* one line with its newline; copied */
    size_t len;
    int64_t id;         /* of a request of ours; else 0 */
    const char *method; /* of a request or a notification, else NULL */
    const char *name;   /* of the tool that it calls, or NULL */
    bool is_again;      /* the call was made before, without effect */
    bool is_repeatable; /* sending it twice does no harm */
    gbx_view schema;    /* of the tool's input, or no value */
    gbx_view args;      /* of the call */
} gbx_link_message;

typedef struct gbx_link gbx_link;

typedef struct gbx_link_ops {
    /* False: it cannot be sent now. */
    bool (*send)(gbx_link *link, const gbx_link_message *message);
    /* Nobody waits for the answer to this request any more. */
    void (*forget)(gbx_link *link, int64_t id);
    /* The agreed protocol version, borrowed until the function returns. */
    void (*agree)(gbx_link *link, const char *version, bool is_modern);
    /* Give up the link: no hook is called any more, and the pointer is invalid.
     * is_hopeless: do not end the server politely. */
    void (*leave)(gbx_link *link, bool is_hopeless);
    /* Append the server's last output about its state, if there is any. */
    void (*add_words)(const gbx_link *link, char *text, size_t size);
    /* What contains its processes, in words, once it is ready; constant, "" if
     * nothing does. */
    const char *(*containment)(const gbx_link *link);
    /* Are arguments sent as headers, too? Then only tools with sound annotations
     * can be called. */
    bool has_headers;
    /* It is a child process: its output besides messages is seen, and it may end. */
    bool is_process;
} gbx_link_ops;

struct gbx_link {
    const gbx_link_ops *ops;
};

struct gbx_yard;

/* ---- kinds ---------------------------------------------------------------- */

typedef struct gbx_link_options {
    gbx_mcp_loop *loop;
    struct gbx_yard *yard;
    const gbx_mcp_upstream_config *config; /* borrowed for the link's life */
    gbx_link_hooks hooks;
} gbx_link_options;

/* Streamable HTTP, and the HTTP+SSE transport before it. */
gbx_status gbx_link_http(const gbx_link_options *options, gbx_link **ret,
                         gbx_error *reterr) GBX_MUST_USE;

gbx_status gbx_link_stdio(const gbx_link_options *options, gbx_link **ret,
                          gbx_error *reterr) GBX_MUST_USE;

#endif
