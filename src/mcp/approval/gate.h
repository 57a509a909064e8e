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
typedef struct gbx_gate_sign_in gbx_gate_sign_in;
typedef struct gbx_tool_call gbx_tool_call;

/* Whether a call may have had an effect. */
typedef enum gbx_gate_fate {
    GBX_GATE_NOT_SENT,
    GBX_GATE_ANSWERED,
    GBX_GATE_HARMLESS, /* sent without an answer; the tool only reads */
    GBX_GATE_DOUBTFUL, /* sent without an answer */
} gbx_gate_fate;

/* Append this to the report of each GBX_GATE_DOUBTFUL call. */
#define GBX_GATE_DOUBT "it may have taken effect: look before you repeat it"

/* How a call ended; any code but NULL becomes a ToolError with that code. */
typedef struct gbx_gate_reply {
    const char *code;    /* NULL on success; "DENIED", "NEEDS_APPROVAL", "INVALID_ARGS",
                          * "NOT_FOUND", "UPSTREAM_TIMEOUT", ...; constant */
    const char *message; /* for the author of the call; says what to do */
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
    GBX_TOOL_CALL_UNDECIDED, /* its tool has changed, or a person has signed in: the loop
                              * decides it again */
    GBX_TOOL_CALL_UNSIGNED,  /* refused: the loop asks a person to sign in */
    GBX_TOOL_CALL_DONE,
} gbx_tool_call_state;

#define GBX_TOOL_CALL_RUN_SIZE 40

/* One call of a tool. Its author embeds it as the first member of a larger object, sets
 * the first group of members, and zeroes the rest. */
struct gbx_tool_call {
    /* As its server gets it: the author sets server, timeout_ms, and tool, which is
     * allocated, like args_text, and freed with the call. */
    gbx_upstream_call up;
    char *args_text; /* JSON object; hostile */
    size_t args_len;
    gbx_gate_subject subject; /* up.tool is its name; TOOL: up.method is not set */
    gbx_mcp_request *request; /* the client's: for questions, cancellation, trace */
    char run[GBX_TOOL_CALL_RUN_SIZE]; /* call id of the run, or "" for a direct call */
    uint32_t line;                    /* in the script, as it says itself; 0: none */
    unsigned holders;                 /* references; initially 1, its author's */
    /* Called exactly once, never from inside gbx_gate_start(). */
    void (*done)(gbx_tool_call *call, const gbx_gate_reply *reply);
    void (*drop)(gbx_tool_call *call); /* no reference is left: free the object */
    /* May be NULL. */
    void (*progress)(gbx_tool_call *call, const char *message, size_t len);
    /* Called at most once, if the server does not have this tool. Returns the name that
     * was meant, allocated, or NULL. May be NULL. */
    char *(*other_name)(gbx_tool_call *call);

    /* Set by the gate; read-only for others. */
    gbx_gate *gate; /* NULL once it is done */
    gbx_tool_call_state state;
    gbx_gate_fate fate;
    int error_code;   /* of the server's refusal, or 0 */
    unsigned missing; /* the client must declare these for it: bits of gbx_mcp_asking */
    TAILQ_ENTRY(gbx_tool_call) in_gate;
    gbx_mcp_timer later; /* begins or ends the call from the loop */
    char *called;        /* the first name, if other_name() gave another one; or NULL */
    gbx_view args;       /* into args_text, after its check */
    gbx_buf filled;      /* the same with values of secrets, until it is answered */
    gbx_gate_sift *sift; /* redacts its answer; or NULL */
    gbx_gate_sign_in *sign_in; /* that it waits for; or NULL */
    bool has_signed_in;        /* and is not asked again */
    const char *refusal_code;  /* without a sign-in */
    char *refusal;
    gbx_gate_verdict verdict;
    bool decided;       /* the verdict is final */
    unsigned changes;   /* how often the server's statement about the tool has
                         * changed after a decision */
    unsigned offered;   /* bits of the answers that a person may choose */
    char *rule;         /* the rule that "always" writes; NULL: not offered */
    const char *answer; /* the person's answer, for the log; constant, or NULL */
    unsigned questions; /* of the server, to the person */
    bool retryable;
    bool cancelled;
    int64_t start_ns;
    gbx_call_span span; /* below that of the request */
    uint64_t result_bytes;
};

typedef struct gbx_gate_options {
    /* Gets the lines of the security log, on the loop's thread. NULL: nobody does. */
    void (*on_line)(void *user, const char *line, size_t len);
    void *on_line_user;
    const char *page;      /* the address of the page, or "", later perhaps; or NULL */
    bool takes_sign_ins;   /* let people sign in to servers where the client can open
                            * addresses, which must be on this machine */
    bool keeps_no_answers; /* offer no permanent answers: the client is not the user
                            * whose file it is */
} gbx_gate_options;

/* Everything is borrowed, but for the options. Free the gate when the loop has stopped, before it and the
 * upstream servers: that ends calls in flight with the code "ABORTED". */
gbx_gate *gbx_gate_new(gbx_mcp_loop *loop, const gbx_mcp_config *config,
                       gbx_upstreams *upstreams, const gbx_gate_options *options);
void gbx_gate_free(gbx_gate *gate);

void gbx_gate_start(gbx_gate *gate, gbx_tool_call *call);
/* Calls done later, with the code "ABORTED", unless it was called already. */
void gbx_gate_cancel(gbx_tool_call *call);
/* Drop a reference: of its author, or of a callback. */
void gbx_tool_call_release(gbx_tool_call *call);

/* True if the call may have reached the server. */
bool gbx_gate_was_sent(const gbx_tool_call *call);

/* Does it wait for a person? */
bool gbx_gate_is_asking(const gbx_tool_call *call);

/* Call it after the run's last call: logs how many refusals had no line. */
void gbx_gate_end_run(gbx_gate *gate, const char *run);

/* How calls of a tool of tools/list will be decided: "denied", "asks a person",
 * "depends on arguments", or "" if they are allowed. Constant. */
const char *gbx_gate_mark(const gbx_gate *gate, const char *server, gbx_view tool);

/* May a resource or a prompt be used, perhaps after a question? */
bool gbx_gate_permits(const gbx_gate *gate, const char *server,
                      gbx_gate_subject subject, const char *name);

/* Append text without values of secrets, for output other than answers (logs, results
 * of runs). False: it could not be redacted, and must not be passed on. */
bool gbx_gate_redact(const gbx_gate *gate, const char *text, size_t len, gbx_buf *to);

/* A redacted text; borrowed until the callback returns. */
typedef struct gbx_gate_sifted {
    gbx_view text; /* without values of secrets */
    bool done;     /* false: it could not be redacted, and must not be passed on */
    bool changed;
} gbx_gate_sifted;

/* sifted: one for each given text, in the same order. */
typedef void (*gbx_gate_sifted_fn)(void *user, const gbx_gate_sifted *sifted);

/* Redact texts; long ones on a thread, which gets copies. tell is called once: either
 * before this returns, with *ret NULL, or later, at the latest by gbx_gate_free(). */
void gbx_gate_redact_start(gbx_gate *gate, gbx_secret_text kind, const gbx_view *texts,
                           size_t count, gbx_gate_sifted_fn tell, void *user,
                           gbx_gate_sift **ret);
/* Stop the work without calling tell. NULL is ignored. */
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

/* The file's path, whether it exists or not; "" without a home directory. */
const char *gbx_grants_file_path(const gbx_grants_file *grants);

#endif
