/* SPDX-License-Identifier: MIT */
/*
 * link - the way to one upstream server: a process of ours, or an address.
 *
 * Messages go out and come in whole. A link that is lost is lost for ever; who wants
 * another makes one. Loop's thread only; hooks come from the loop, never from
 * inside, but for log.
 */
#ifndef GBX_MCP_UPSTREAM_LINK_H
#define GBX_MCP_UPSTREAM_LINK_H

#include "mcp/upstream/upstream.h"

#include <stdint.h>

/* A longer message from a server is no answer. */
#define GBX_LINK_MESSAGE_MAX GBX_MIB(32)

/* More that a server has not read, and it is told nothing more. */
#define GBX_LINK_WAITING_MAX GBX_MIB(64)

/* What is known of a request that gets no answer. */
typedef enum gbx_unanswered {
    GBX_UNANSWERED,         /* nothing: perhaps it was done */
    GBX_UNANSWERED_PASSING, /* perhaps it was; the server may answer a little later */
    GBX_UNANSWERED_ODD,     /* perhaps it was; it is no server of ours, until a person
                             * has mended something */
    /* Nothing was done for it, and the server: */
    GBX_UNANSWERED_SPOKEN,  /* is there and answers, but not to this */
    GBX_UNANSWERED_LATER,   /* may take it a little later */
    GBX_UNANSWERED_LASTING, /* will not take it until a person has mended something */
} gbx_unanswered;

typedef struct gbx_link_hooks {
    void *user;
    /* about: the request of ours that it came in answer to, as far as the way tells; or 0.
     * Borrowed until it returns, in which the link may be left. */
    void (*message)(void *user, const char *text, size_t len, int64_t about);
    /* One that was too long: how it begins, and how it ended. */
    void (*too_long)(void *user, const char *head, size_t head_len, const char *tail,
                     size_t tail_len);
    /* Does somebody wait for the answer to this request? */
    bool (*awaits)(void *user, int64_t id);
    /* This request gets no answer. */
    void (*unanswered)(void *user, int64_t about, gbx_upstream_fault fault,
                       const char *why, gbx_unanswered how);
    /* Neither does this one, if it is not 0, and nothing was done for it: the server has
     * forgotten us, or cannot be reached. Others may still be answered; nothing more is
     * worth sending. is_lasting: as of lost. */
    void (*forgotten)(void *user, int64_t about, const char *why, bool is_lasting);
    /* Of all the bytes that were sent, no more than these have come to be read, and no
     * others will; answers may still come. */
    void (*deaf)(void *user, uint64_t written, const char *why);
    /* What the server said unasked for a while was not heard. */
    void (*missed)(void *user);
    void (*log)(void *user, const char *line); /* hostile, but escaped */
    /* No hook is called after it, and the link is nobody's. is_lasting: so would another
     * be, until a person has mended something. */
    void (*lost)(void *user, const char *why, bool is_lasting);
} gbx_link_hooks;

/* One message on its way. */
typedef struct gbx_link_message {
    const char *text; /* a line, with its newline; copied */
    size_t len;
    int64_t id;         /* of a request of ours; else 0 */
    const char *method; /* of a request or a notification, else NULL */
    const char *name;   /* of the tool that it calls, or NULL */
    bool is_again;      /* that call was made before, and came to nothing */
    bool is_repeatable; /* it does no harm twice */
    gbx_view schema;    /* of the tool's input, or no value */
    gbx_view args;      /* of the call */
} gbx_link_message;

typedef struct gbx_link gbx_link;

typedef struct gbx_link_ops {
    /* False: it cannot be sent now. */
    bool (*send)(gbx_link *link, const gbx_link_message *message);
    /* Nobody waits for the answer to this request any more. */
    void (*forget)(gbx_link *link, int64_t id);
    /* What was agreed upon; version is borrowed until it returns. */
    void (*agree)(gbx_link *link, const char *version, bool is_modern);
    /* No hook is called any more, and the link is no longer yours. is_hopeless: it does
     * not deserve to be asked politely. */
    void (*leave)(gbx_link *link, bool is_hopeless);
    /* Append what the server has said last of how it is, if it can. */
    void (*add_words)(const gbx_link *link, char *text, size_t size);
    /* What holds its processes, in words, once it is ready; constant, "" for none. */
    const char *(*containment)(const gbx_link *link);
    /* Are arguments sent as headers, too? Then only sound tools can be called. */
    bool has_headers;
    /* A process of ours: what it writes beside messages is seen, and it may end. */
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

/* Streamable HTTP, and the transport before it. */
gbx_status gbx_link_http(const gbx_link_options *options, gbx_link **ret,
                         gbx_error *reterr) GBX_MUST_USE;

gbx_status gbx_link_stdio(const gbx_link_options *options, gbx_link **ret,
                          gbx_error *reterr) GBX_MUST_USE;

#endif
