/* SPDX-License-Identifier: MIT */
/*
 * gate - the one way to an upstream tool, for direct and nested calls alike.
 *
 * rule (allow, ask, deny) -> perhaps a person -> secrets filled in -> the call -> secrets
 * taken out of the answer -> one line of the security log. All of it is outside the box.
 */
#ifndef GBX_MCP_APPROVAL_GATE_H
#define GBX_MCP_APPROVAL_GATE_H

#include "mcp/server/server.h"
#include "mcp/upstream/upstream.h"

typedef struct gbx_gate gbx_gate;
typedef struct gbx_gate_call gbx_gate_call;

/* What is known of the effect of a call. */
typedef enum gbx_gate_fate {
    GBX_GATE_NOT_SENT,
    GBX_GATE_ANSWERED,
    GBX_GATE_HARMLESS, /* sent, its answer is missing, and its tool only reads */
    GBX_GATE_DOUBTFUL, /* sent, and its answer is missing */
} gbx_gate_fate;

/* To be said of each call whose fate that is, in these words. */
#define GBX_GATE_DOUBT "it may have taken effect: look before you repeat it"

/* How a passage ended; beyond OK every one becomes a ToolError with this code. */
typedef struct gbx_gate_reply {
    const char *code;    /* NULL on success; "DENIED", "NEEDS_APPROVAL", "INVALID_ARGS",
                            "NOT_FOUND", "UPSTREAM_TIMEOUT", ...; constant */
    const char *message; /* for who wrote the call, with what to do */
    bool retryable;
    gbx_gate_fate fate;
    gbx_view
        result; /* the CallToolResult without secrets; isError is still to be read */
} gbx_gate_reply;

typedef void (*gbx_gate_done_fn)(void *user, const gbx_gate_reply *reply);

typedef struct gbx_gate_ask {
    const char *server;
    const char *tool;
    const char *args; /* JSON object; hostile; copied */
    size_t args_len;
    uint32_t timeout_ms;
    gbx_mcp_request *request; /* on whose behalf: for questions, cancellation, trace */
    const char *run;          /* call id of the run, or "" for a direct call */
    uint32_t line;            /* of the script, 0: none; the script's own word */
    void (*progress)(void *user, const char *message, size_t len); /* may be NULL */
    /* The server is known to have no tool of that name: which one was meant, or NULL.
     * Borrowed until it returns to the loop; called once, and may be NULL. */
    const char *(*other_name)(void *user);
    /* Append the arguments as the tool is to have them, by the schema of its input; they are
     * judged and sent so. Called once, when its tools are known; may be NULL. */
    void (*fit_args)(void *user, gbx_view args, gbx_view schema, gbx_buf *to);
} gbx_gate_ask;

/* Everything is borrowed. The loop and the upstream servers are freed after the gate:
 * calls in flight end with the code "ABORTED" when it is freed. */
gbx_status gbx_gate_new(gbx_mcp_loop *loop, const gbx_mcp_config *config,
                        gbx_upstreams *upstreams, gbx_gate **ret, gbx_error *reterr);
void gbx_gate_free(gbx_gate *gate);

/* Lines of the security log go to on_line, on the loop's thread; default: nowhere. */
void gbx_gate_on_audit(gbx_gate *gate,
                       void (*on_line)(void *user, const char *line, size_t len),
                       void *user);

/* done is called exactly once, never from inside. NULL if memory is out; done is not
 * called then. */
gbx_gate_call *gbx_gate_start(gbx_gate *gate, const gbx_gate_ask *ask,
                              gbx_gate_done_fn done, void *user);
/* Not after done; done is called with the code "ABORTED". */
void gbx_gate_cancel(gbx_gate_call *call);

/* Does its server have it, or may it have had it? Not after done. */
bool gbx_gate_was_sent(const gbx_gate_call *call);

/* Does it wait for a person? Not after done. */
bool gbx_gate_is_asking(const gbx_gate_call *call);

/* No call of this run will come: the log hears what it has not been told of it. */
void gbx_gate_end_run(gbx_gate *gate, const char *run);

/* What a caller should know of a tool, as tools/list has it, before it is called: "denied",
 * "asks a person", "depends on arguments", or "": it is called. Constant. */
const char *gbx_gate_mark(const gbx_gate *gate, const char *server, gbx_view tool);

/* Append text without values of secrets, for what leaves us otherwise (logs, results of
 * runs). False: it could not be looked through, and must not be passed on. */
bool gbx_gate_redact(const gbx_gate *gate, const char *text, size_t len, gbx_buf *to);

/* A text that was looked through on a thread: borrowed until it returns. */
typedef struct gbx_gate_sifted {
    gbx_view text; /* without values of secrets */
    bool done; /* false: it could not be looked through, and must not be passed on */
    bool changed;
} gbx_gate_sifted;

/* sifted: as many as were given, in their order. */
typedef void (*gbx_gate_sifted_fn)(void *user, const gbx_gate_sifted *sifted);

typedef struct gbx_gate_sift gbx_gate_sift;

/* The same of what may take long, while others are served. The texts are copied; tell is
 * called once, never from inside, at the latest by gbx_gate_free(). NULL: it takes no
 * time, or there is no thread for it: that is gbx_gate_redact()'s. */
gbx_gate_sift *gbx_gate_redact_later(gbx_gate *gate, const gbx_view *texts,
                                     size_t count, gbx_gate_sifted_fn tell, void *user);
/* tell is not called any more. NULL is ignored. */
void gbx_gate_forget(gbx_gate_sift *sift);

#endif
