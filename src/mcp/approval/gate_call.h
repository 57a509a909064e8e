/* SPDX-License-Identifier: MIT */
/*
 * gate_call - declarations that the files of the gate share. gate.c uses question.c, both
 * use send_call.c, and all use gate_call.c: a lower file continues a call by firing
 * call->later.
 *
 * A call waits for callbacks (a list of tools, a person's choice, an answer). Each
 * comes exactly once, even if the call has ended meanwhile, and holds a reference.
 */
#ifndef GBX_MCP_APPROVAL_GATE_CALL_H
#define GBX_MCP_APPROVAL_GATE_CALL_H

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "mcp/approval/gate.h"
#include "mcp/rules/rules.h"
#include "policy/policy.h"

/* Maximum size of a rule that is shown to a person, in bytes. */
#define GBX_GATE_RULE_MAX 2048

/* Which calls of a tool an answer covers, among those that the same rule asks about. */
typedef enum gbx_gate_scope {
    GBX_GATE_SCOPE_RUN_SAME, /* in this run, with the same arguments */
    GBX_GATE_SCOPE_RUN,      /* in this run */
    GBX_GATE_SCOPE_SESSION,
    GBX_GATE_SCOPE_RULE, /* in this session, those that the shown rule allows */
    GBX_GATE_SCOPES,
} gbx_gate_scope;

/* An answer that covers more than one call. */
typedef struct gbx_gate_grant {
    gbx_gate_scope scope;
    bool is_allowed;
    uint8_t
        digest[GBX_SHA256_SIZE]; /* of what all calls that it covers have in common */
} gbx_gate_grant;

#define GBX_GATE_GRANTS_MAX 256

/* Limit of questions in a burst, and then per minute: a person who is asked too often
 * agrees to anything. */
#define GBX_GATE_QUESTIONS_MAX 30u

/* Limits of logged refusals: of one run; of all runs in a burst, and then per
 * second. */
#define GBX_GATE_REFUSAL_LINES    50u
#define GBX_GATE_REFUSALS_AT_ONCE 500u
#define GBX_GATE_REFUSALS_PER_S   10u

/* Counts of one run's refusals: logged, and left out of the log. */
typedef struct gbx_gate_call_log gbx_gate_call_log;

struct gbx_gate {
    gbx_mcp_loop *loop;
    const gbx_mcp_config *config;
    gbx_upstreams *upstreams;
    gbx_gate_options options;
    TAILQ_HEAD(, gbx_tool_call) calls;          /* in order of their start */
    LIST_HEAD(, gbx_gate_sift) sifts;           /* texts being redacted by threads */
    gbx_gate_grant grants[GBX_GATE_GRANTS_MAX]; /* a ring: the oldest is overwritten */
    size_t grant_count;
    LIST_HEAD(, gbx_gate_sign_in) sign_ins;
    unsigned sign_in_count;
    gbx_grants_file *standing; /* permanent answers */
    gbx_bucket questions;      /* limits how often a person is asked */
    gbx_bucket samplings;      /* and the host's model, or for its folders */
    gbx_gate_call_log *trails; /* one for each run with refused calls */
    gbx_bucket refusals;
    char id[9]; /* identifies this gate in its log */
    uint64_t seq;
};

/* ---- gate_call.c -------------------------------------------------------- */

/* End the call with an error; message is formatted for the author of the call. */
void gbx_gate_refuse(gbx_tool_call *call, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gbx_gate_finish(gbx_tool_call *call, const gbx_gate_reply *reply);
/* End the call with the server's failure or refusal, or let a person sign in first. */
void gbx_gate_fail(gbx_tool_call *call, const gbx_upstream_reply *reply);
/* Each callback calls this first; it drops a reference. True: the call continues. */
bool gbx_gate_called_back(gbx_tool_call *call);
/* Use the tool's other name from now on; rules judge both names. False: it has no
 * other name. */
bool gbx_gate_rename(gbx_tool_call *call);
/* The reason that its rule gives, or NULL. */
const char *gbx_gate_reason(const gbx_tool_call *call);
/* Append a name for a person, escaped, on one line. */
void gbx_gate_put_name(gbx_buf *to, const char *name);
/* Is a question of that request open? */
bool gbx_gate_is_busy(const gbx_gate *gate, const gbx_mcp_request *request);
/* Ask the next question of that request, unless one is open. */
void gbx_gate_next_question(gbx_gate *gate, gbx_mcp_request *request);

/* ---- send_call.c -------------------------------------------------------------- */

/* Fill in the secrets, make the call, and redact its answer. */
void gbx_gate_pass(gbx_tool_call *call);

/* ---- question.c ------------------------------------------------------------- */

/* Ask a person, unless an earlier answer covers the call. */
void gbx_gate_question(gbx_tool_call *call);

/* ---- sign_in.c -------------------------------------------------------------- */

/* Let a person sign in, and go on with the call; else refuse it. */
void gbx_gate_ask_to_sign_in(gbx_tool_call *call);
/* The run ends: forget what was declined in it. NULL: end all of them, and wait. */
void gbx_gate_sign_ins_end(gbx_gate *gate, const char *run);

/* ---- grants.c ---------------------------------------------------------------- */

/* GBX_E_OS, GBX_E_DATA: the file exists but cannot be read or trusted, so its denials
 * are unknown; the message says how to repair that. */
gbx_status gbx_grants_file_find(gbx_grants_file *grants, const char *server,
                                const char *tool, gbx_grant *ret, gbx_error *reterr);

/* Can grants be written? */
bool gbx_grants_file_is_open(const gbx_grants_file *grants);

/* What an earlier answer says about the call. */
gbx_grant gbx_gate_look_up(const gbx_gate *gate, const gbx_tool_call *call);
void gbx_gate_remember(gbx_gate *gate, const gbx_tool_call *call, gbx_gate_scope scope,
                       bool is_allowed);
/* The rule that would allow the call permanently; NULL if none that fits can be
 * shown. */
char *gbx_gate_rule_of(const gbx_tool_call *call);
/* True if a person has permanently allowed what that verdict asks about. */
bool gbx_gate_is_kept(const gbx_gate *gate, const gbx_gate_verdict *asked,
                      const char *server, const char *tool, gbx_view args);
/* Write call->rule to the grants. */
gbx_status gbx_gate_keep_rule(gbx_tool_call *call, gbx_error *reterr);

/* ---- redact.c ----------------------------------------------------------- */

/* Stop early; tell is still called, soon. NULL is ignored. */
void gbx_gate_redact_stop(gbx_gate_sift *sift);
/* Call it after all calls have ended: ends the threads, and calls tell for each. */
void gbx_gate_redact_end_all(gbx_gate *gate);

/* ---- tool_call_log.c --------------------------------------------------------- */

void gbx_gate_log(gbx_tool_call *call, const gbx_gate_reply *reply);
/* The run makes no further calls: write the rest of its log. NULL: of every run. */
void gbx_gate_call_log_end(gbx_gate *gate, const char *run);

#endif
