/* SPDX-License-Identifier: MIT */
/*
 * gate_call - one call on its way through the gate, and what the files of the gate
 * share. gate.c stands above question.c, and both above gate_call.c: a lower file goes
 * on with a call by activating call->later.
 *
 * A call waits for callbacks (with a list of tools, a person's choice, an answer), each
 * of which comes exactly once, even if the call has ended meanwhile. A call is over
 * when done was called, and is freed when no callback is pending.
 */
#ifndef GBX_MCP_APPROVAL_GATE_CALL_H
#define GBX_MCP_APPROVAL_GATE_CALL_H

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "mcp/approval/gate.h"
#include "mcp/rules/rules.h"
#include "policy/policy.h"

#define GBX_GATE_RUN_SIZE 64

/* Limit of a rule that a person is shown. */
#define GBX_GATE_RULE_MAX 2048

/* Which calls of a tool an answer covers, among those that the same rule asks about. */
typedef enum gbx_gate_scope {
    GBX_GATE_SCOPE_RUN_SAME, /* in this run, with the same arguments */
    GBX_GATE_SCOPE_RUN,      /* in this run */
    GBX_GATE_SCOPE_SESSION,
    GBX_GATE_SCOPE_RULE, /* in this session, those that the shown rule allows */
} gbx_gate_scope;

/* An answer that covers more than one call. */
typedef struct gbx_gate_grant {
    gbx_gate_scope scope;
    bool allows;
    size_t rule;                 /* that asked */
    char run[GBX_GATE_RUN_SIZE]; /* "": of the whole session */
    char server[80];
    char tool[GBX_TOOL_NAME_MAX + 1];
    uint8_t digest[GBX_SHA256_SIZE]; /* of the arguments, or of the shown rule */
} gbx_gate_grant;

#define GBX_GATE_GRANTS_MAX 256

/* Limit of questions at once, and then in a minute: a person who is asked too often
 * agrees to anything. */
#define GBX_GATE_QUESTIONS_MAX 30

/* Limits of logged refusals of one run; and of all runs at once, and then in a
 * second. */
#define GBX_GATE_REFUSAL_LINES    50u
#define GBX_GATE_REFUSALS_AT_ONCE 500u
#define GBX_GATE_REFUSALS_PER_S   10u

/* What was logged and what was left out, of one run's refusals. */
typedef struct gbx_gate_call_log gbx_gate_call_log;

struct gbx_gate {
    gbx_mcp_loop *loop;
    const gbx_mcp_config *config;
    gbx_upstreams *upstreams;
    struct gbx_gate_call
        *calls; /* all calls that are not freed, in order of their start */
    struct gbx_gate_call **calls_end;
    gbx_gate_sift *sifts;                       /* texts being redacted */
    gbx_gate_grant grants[GBX_GATE_GRANTS_MAX]; /* a ring: the oldest is overwritten */
    size_t grant_count;
    gbx_grants_file *standing; /* permanent answers */
    double questions;          /* that may be asked now; grows with time */
    int64_t questions_ns;
    void (*on_line)(void *user, const char *line, size_t len);
    void *on_line_user;
    gbx_gate_call_log *trails; /* of runs with refused calls */
    gbx_bucket refusals;
    char id[9]; /* identifies this gate in its log */
    uint64_t seq;
};

/* The step that a call has reached. */
typedef enum gbx_gate_state {
    GBX_GATE_NEW,
    GBX_GATE_LEARNING, /* waits for the server's list of tools */
    GBX_GATE_QUEUED,   /* another question of the same request is open */
    GBX_GATE_ASKING,
    GBX_GATE_CALLING,
    GBX_GATE_UNDECIDED, /* its tool has changed: decided again, from the loop */
    GBX_GATE_OVER,
} gbx_gate_state;

struct gbx_gate_call {
    gbx_gate *gate; /* NULL once it is over */
    gbx_gate_call *next;
    struct event *later; /* begins or ends the call from the loop */
    gbx_gate_state state;
    unsigned callbacks; /* still to come */
    char *server;
    char *tool;
    char *called; /* the name it was called by, if that was another one; or NULL */
    char *args_text;
    size_t args_len;
    gbx_view args; /* into args_text, once that was checked */
    char run[GBX_GATE_RUN_SIZE];
    uint32_t line;
    uint32_t timeout_ms;
    gbx_mcp_request *request;
    gbx_gate_done_fn done;
    void *user;
    void (*progress)(void *user, const char *message, size_t len);
    const char *(*other_name)(void *user);
    void (*fit_args)(void *user, gbx_view args, gbx_view schema, gbx_buf *to);
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
    gbx_gate_fate fate;
    int64_t start_ns;
    uint64_t result_bytes;
};

/* ---- gate_call.c -------------------------------------------------------- */

/* step is called from the loop whenever call->later is activated. NULL: memory is
 * out. */
gbx_gate_call *gbx_gate_call_new(gbx_gate *gate, const gbx_gate_ask *ask,
                                 event_callback_fn step, gbx_gate_done_fn done,
                                 void *user);
/* End the call with an error; message is formatted for the author of the call. */
void gbx_gate_refuse(gbx_gate_call *call, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gbx_gate_finish(gbx_gate_call *call, const gbx_gate_reply *reply);
/* To be called by each callback; true if the call goes on. */
bool gbx_gate_called_back(gbx_gate_call *call);
/* Does its tool have another name? Then use that from now on; rules judge both
 * names. */
bool gbx_gate_rename(gbx_gate_call *call);
/* The reason that its rule gives, or NULL. */
const char *gbx_gate_reason(const gbx_gate_call *call);
/* Is a question of that request open? */
bool gbx_gate_is_busy(const gbx_gate *gate, const gbx_mcp_request *request);
/* A question of that request was answered: ask its next one. */
void gbx_gate_next_question(gbx_gate *gate, gbx_mcp_request *request);
/* Fill in the secrets, make the call, and redact its answer. */
void gbx_gate_pass(gbx_gate_call *call);

/* ---- question.c ------------------------------------------------------------- */

/* Ask a person, unless an earlier answer covers the call. */
void gbx_gate_question(gbx_gate_call *call);

/* ---- grants.c ---------------------------------------------------------------- */

/* GBX_E_OS, GBX_E_DATA: the file exists but cannot be read or trusted, so its denials
 * are unknown; the message says how to repair that. */
gbx_status gbx_grants_file_find(gbx_grants_file *grants, const char *server,
                                const char *tool, gbx_grant *ret, gbx_error *reterr);

/* Can grants be written? */
bool gbx_grants_file_is_open(const gbx_grants_file *grants);

typedef enum gbx_gate_granted {
    GBX_GATE_OPEN,
    GBX_GATE_GRANTED,
    GBX_GATE_DECLINED
} gbx_gate_granted;

gbx_gate_granted gbx_gate_look_up(const gbx_gate *gate, const gbx_gate_call *call);
void gbx_gate_remember(gbx_gate *gate, const gbx_gate_call *call, gbx_gate_scope scope,
                       bool allows);
/* The rule that would allow the call permanently; NULL if none that fits can be
 * shown. */
char *gbx_gate_rule_of(const gbx_gate_call *call);
/* Has a person permanently allowed what that verdict asks about? */
bool gbx_gate_is_kept(const gbx_gate *gate, const gbx_gate_verdict *asked,
                      const char *server, const char *tool, gbx_view args);
/* Write call->rule to the grants. */
gbx_status gbx_gate_keep_rule(gbx_gate_call *call, gbx_error *reterr);

/* ---- redact.c ----------------------------------------------------------- */

/* Upper bound of the redacted text for so many bytes. */
static inline size_t gbx_gate_redact_ceiling(size_t len)
{
    return len * 8 + GBX_KIB(4);
}

/* As gbx_gate_redact_later(), for any kind of text. */
gbx_gate_sift *gbx_gate_redact_start(gbx_gate *gate, gbx_secret_text kind,
                                     const gbx_view *texts, size_t count,
                                     gbx_gate_sifted_fn tell, void *user);
/* Stop early; tell is still called, soon. NULL is ignored. */
void gbx_gate_redact_stop(gbx_gate_sift *sift);
/* All calls are over: end their threads, and call tell for each. */
void gbx_gate_redact_end_all(gbx_gate *gate);

/* ---- tool_call_log.c --------------------------------------------------------- */

void gbx_gate_log(gbx_gate_call *call, const gbx_gate_reply *reply);
/* As gbx_gate_end_run(), for every run. */
void gbx_gate_call_log_end(gbx_gate *gate);

#endif
