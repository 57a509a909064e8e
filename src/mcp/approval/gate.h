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

#include "mcp/rules/rules.h"
#include "mcp/server/server.h"
#include "mcp/upstream/upstream.h"
#include "policy/policy.h"

#include <sys/queue.h>

typedef struct gbx_gate gbx_gate;
typedef struct gbx_gate_sift gbx_gate_sift;
typedef struct gbx_tool_call gbx_tool_call;

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
    gbx_view result; /* the CallToolResult without secrets; check its isError */
} gbx_gate_reply;

/* The step that a call has reached. */
typedef enum gbx_tool_call_state {
    GBX_TOOL_CALL_NEW,
    GBX_TOOL_CALL_LISTING, /* waits for the server's list of tools */
    GBX_TOOL_CALL_WAITING, /* another question of the same request is open */
    GBX_TOOL_CALL_ASKING,
    GBX_TOOL_CALL_SENT,
    GBX_TOOL_CALL_UNDECIDED, /* its tool has changed: decided again, from the loop */
    GBX_TOOL_CALL_DONE,
} gbx_tool_call_state;

#define GBX_TOOL_CALL_RUN_SIZE 40

/* One call of a tool, from its author to the server and back. Its author makes it as the
 * first member of a larger object, zeroed but for what is listed first. */
struct gbx_tool_call {
    const gbx_mcp_upstream_config *server;
    char *tool;      /* allocated, as is args_text: the call frees them */
    char *args_text; /* JSON object; hostile */
    size_t args_len;
    uint32_t timeout_ms;
    gbx_mcp_request *request; /* on whose behalf: for questions, cancellation, trace */
    char run[GBX_TOOL_CALL_RUN_SIZE]; /* call id of the run, or "" for a direct call */
    uint32_t line;                    /* in the script, as the script says; 0: none */
    unsigned holders;                 /* 1: its author; see gbx_tool_call_release() */
    /* Called exactly once, never from inside gbx_gate_start(). */
    void (*done)(gbx_tool_call *call, const gbx_gate_reply *reply);
    void (*drop)(gbx_tool_call *call); /* nobody holds it: free the object */
    /* May be NULL. */
    void (*progress)(gbx_tool_call *call, const char *message, size_t len);
    /* The server does not have this tool: the name that was meant, allocated, or NULL.
     * Called once; may be NULL. */
    char *(*other_name)(gbx_tool_call *call);

    /* Of the gate; others only read them. */
    gbx_gate *gate; /* NULL once it is done */
    gbx_tool_call_state state;
    gbx_gate_fate fate;
    TAILQ_ENTRY(gbx_tool_call) in_gate;
    gbx_mcp_timer later; /* begins or ends the call from the loop */
    char *called;   /* the name it was called by, if that was another one; or NULL */
    gbx_view args;  /* into args_text, once that was checked */
    gbx_buf filled; /* the same with values of secrets, while upstream has it */
    char *meta;     /* the trace of the request; or NULL */
    gbx_upstream_call *upstream;
    gbx_gate_sift *sift; /* redacts its answer; or NULL */
    gbx_gate_verdict verdict;
    bool decided;       /* the verdict is final */
    unsigned changes;   /* of the server's statement about the tool, since the
                         * decision */
    unsigned offered;   /* bits of the answers that a person may choose */
    char *rule;         /* that "always" writes, as shown; NULL: not offered */
    const char *answer; /* the person's, for the log; constant, or NULL */
    bool retryable;
    bool cancelled;
    int64_t start_ns;
    uint64_t result_bytes;
};

/* Everything is borrowed. Free the gate before the loop and the upstream servers: that
 * ends calls in flight with the code "ABORTED". */
gbx_gate *gbx_gate_new(gbx_mcp_loop *loop, const gbx_mcp_config *config,
                       gbx_upstreams *upstreams);
void gbx_gate_free(gbx_gate *gate);

/* Send the lines of the security log to on_line, on the loop's thread;
 * default: nowhere. */
void gbx_gate_on_audit(gbx_gate *gate,
                       void (*on_line)(void *user, const char *line, size_t len),
                       void *user);

void gbx_gate_start(gbx_gate *gate, gbx_tool_call *call);
/* done is called later, with the code "ABORTED", unless it was already. */
void gbx_gate_cancel(gbx_tool_call *call);
/* Its author, or a callback, needs it no longer. */
void gbx_tool_call_release(gbx_tool_call *call);

/* Does the server have the call, or may it have had it? */
bool gbx_gate_was_sent(const gbx_tool_call *call);

/* Does it wait for a person? */
bool gbx_gate_is_asking(const gbx_tool_call *call);

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

/* Redact texts; long ones on a thread, which gets copies. tell is called once: at once,
 * and then *ret is NULL, or later, at the latest by gbx_gate_free(). */
void gbx_gate_redact_start(gbx_gate *gate, gbx_secret_text kind, const gbx_view *texts,
                           size_t count, gbx_gate_sifted_fn tell, void *user,
                           gbx_gate_sift **ret);
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
 * directory, the object has no grants. */
gbx_grants_file *gbx_grants_file_new(const char *config, gbx_trust trust);
void gbx_grants_file_free(gbx_grants_file *grants);

/* Write a grant and replace those for the same tool. Waits for other writers. */
gbx_status gbx_grants_file_put(gbx_grants_file *grants, const char *server,
                               const char *tool, gbx_grant grant, gbx_error *reterr);

/* Where the file is, or would be; "": no home directory. */
const char *gbx_grants_file_path(const gbx_grants_file *grants);

#endif
