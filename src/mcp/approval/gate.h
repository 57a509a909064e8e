/* SPDX-License-Identifier: MIT */
/*
 * gate - the only way to an upstream tool, for direct and nested calls alike.
 *
 *     rule (allow, ask, deny) -> perhaps a person -> secrets filled in -> the call
 *         -> secrets taken out of the answer -> one line of the security log
 *
 * All of it runs outside the worker process.
 */
#ifndef GBX_MCP_APPROVAL_GATE_H
#define GBX_MCP_APPROVAL_GATE_H

#include "mcp/server/server.h"
#include "mcp/upstream/upstream.h"
#include "policy/policy.h"

typedef struct gbx_gate gbx_gate;
typedef struct gbx_gate_call gbx_gate_call;

/* What is known of the effect of a call. */
typedef enum gbx_gate_fate {
    GBX_GATE_NOT_SENT,
    GBX_GATE_ANSWERED,
    GBX_GATE_HARMLESS, /* sent without an answer; the tool only reads */
    GBX_GATE_DOUBTFUL, /* sent without an answer */
} gbx_gate_fate;

/* Add these words to the report of each doubtful call. */
#define GBX_GATE_DOUBT "it may have taken effect: look before you repeat it"

/* How a call ended; any code but NULL becomes a ToolError with that code. */
typedef struct gbx_gate_reply {
    const char *code;    /* NULL on success; "DENIED", "NEEDS_APPROVAL", "INVALID_ARGS",
                          * "NOT_FOUND", "UPSTREAM_TIMEOUT", ...; constant */
    const char *message; /* for the author of the call, with what to do */
    bool retryable;
    gbx_gate_fate fate;
    gbx_view result; /* the CallToolResult without secrets; check its isError */
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
    uint32_t line;            /* in the script, as the script says; 0: none */
    void (*progress)(void *user, const char *message, size_t len); /* may be NULL */
    /* The server does not have this tool: returns the name that was meant, or NULL. The
     * name is borrowed until the gate returns to the loop. Called once; may be NULL. */
    const char *(*other_name)(void *user);
    /* Append the arguments as the tool needs them, by the schema of its input;
     * they are judged and sent in that form. Called once, when the tools are
     * known; may be NULL. */
    void (*fit_args)(void *user, gbx_view args, gbx_view schema, gbx_buf *to);
} gbx_gate_ask;

/* Everything is borrowed. Free the gate before the loop and the upstream servers: that
 * ends calls in flight with the code "ABORTED". */
gbx_status gbx_gate_new(gbx_mcp_loop *loop, const gbx_mcp_config *config,
                        gbx_upstreams *upstreams, gbx_gate **ret, gbx_error *reterr);
void gbx_gate_free(gbx_gate *gate);

/* Send the lines of the security log to on_line, on the loop's thread;
 * default: nowhere. */
void gbx_gate_on_audit(gbx_gate *gate,
                       void (*on_line)(void *user, const char *line, size_t len),
                       void *user);

/* done is called exactly once, never from inside. NULL if memory is out; done is not
 * called then. */
gbx_gate_call *gbx_gate_start(gbx_gate *gate, const gbx_gate_ask *ask,
                              gbx_gate_done_fn done, void *user);
/* done is called with the code "ABORTED". Do not call it after done. */
void gbx_gate_cancel(gbx_gate_call *call);

/* Does the server have the call, or may it have had it? Do not call it after done. */
bool gbx_gate_was_sent(const gbx_gate_call *call);

/* Does it wait for a person? Do not call it after done. */
bool gbx_gate_is_asking(const gbx_gate_call *call);

/* The run makes no further calls: write the rest of its log. */
void gbx_gate_end_run(gbx_gate *gate, const char *run);

/* What a caller should know before it calls a tool of tools/list: "denied", "asks a
 * person", "depends on arguments", or "": it is simply called. Constant. */
const char *gbx_gate_mark(const gbx_gate *gate, const char *server, gbx_view tool);

/* Append text without values of secrets, for other output of ours (logs, results of
 * runs). False: it could not be redacted, and must not be passed on. */
bool gbx_gate_redact(const gbx_gate *gate, const char *text, size_t len, gbx_buf *to);

/* A text that a thread has redacted; borrowed until the callback returns. */
typedef struct gbx_gate_sifted {
    gbx_view text; /* without values of secrets */
    bool done;     /* false: it could not be redacted, and must not be passed on */
    bool changed;
} gbx_gate_sifted;

/* sifted: as many as were given, in the same order. */
typedef void (*gbx_gate_sifted_fn)(void *user, const gbx_gate_sifted *sifted);

typedef struct gbx_gate_sift gbx_gate_sift;

/* The same on a thread, for texts that take long. The texts are copied; tell is called
 * once, never from inside, at the latest by gbx_gate_free(). NULL: the texts are short,
 * or a thread could not be started: use gbx_gate_redact(). */
gbx_gate_sift *gbx_gate_redact_later(gbx_gate *gate, const gbx_view *texts,
                                     size_t count, gbx_gate_sifted_fn tell, void *user);
/* Do not call tell any more. NULL is ignored. */
void gbx_gate_forget(gbx_gate_sift *sift);

/* ---- grants.c ---------------------------------------------------------------- */

/*
 * A person's permanent answers about single tools, in a file of our own:
 * glovebox/grants.json below $XDG_STATE_HOME or ~/.local/state.
 *
 *     {"/home/you/mcp.json": {"SERVER": {"TOOL": "allow", "OTHER": "deny",
 *                                        "THIRD": [{"rule": {...}, "asked": {...}}]}}}
 *
 * "allow" and "deny" cover every call of that tool by servers of that configuration.
 * "deny" also covers names that differ only in case, '_' and '-'. A rule covers the
 * calls that it allows among those that the rule `asked` asks about (without `asked`:
 * the default). A grant is in effect for the next call, without a restart. Calls that
 * the rules deny stay denied.
 */

typedef enum gbx_grant {
    GBX_GRANT_NONE,
    GBX_GRANT_ALLOW,
    GBX_GRANT_DENY,
} gbx_grant;

typedef struct gbx_grants_file gbx_grants_file;

/* For the configuration at that path, which is resolved. Without a path or a home
 * directory, the object has no grants. NULL if memory is out. */
gbx_grants_file *gbx_grants_file_new(const char *config, gbx_trust trust);
void gbx_grants_file_free(gbx_grants_file *grants);

/* Write a grant and replace those for the same tool. Waits for other writers. */
gbx_status gbx_grants_file_put(gbx_grants_file *grants, const char *server,
                               const char *tool, gbx_grant grant, gbx_error *reterr);

/* Where the file is, or would be; "": no home directory. */
const char *gbx_grants_file_path(const gbx_grants_file *grants);

#endif
