/* SPDX-License-Identifier: MIT */
/*
 * rules - which calls of which tools are made, which a person is asked about, and which
 * are not made.
 *
 * The first rule that a call fits decides; after the last, tools that say of themselves
 * that they only read, and all others, have an answer each. A rule that allows fits only
 * what is certain; one that asks or denies also fits what may be meant. What cannot be
 * judged is neither: the call is at fault, and told why (docs/internals/rules.md).
 *
 * Filled by one owner, then only read.
 */
#ifndef GBX_MCP_RULES_RULES_H
#define GBX_MCP_RULES_RULES_H

#include "base/buf.h"
#include "base/json_view.h"
#include "policy/policy.h"

#include <jansson.h>

typedef enum gbx_gate_action {
    GBX_GATE_ALLOW,
    GBX_GATE_ASK,
    GBX_GATE_DENY,
} gbx_gate_action;

const char *gbx_gate_action_name(gbx_gate_action action); /* "allow" */

/* What a server says of its tool: its word alone, nothing that was checked. */
typedef enum gbx_gate_hint {
    GBX_GATE_HINT_UNKNOWN, /* it was not looked at yet */
    GBX_GATE_HINT_READS,   /* "readOnlyHint": true */
    GBX_GATE_HINT_OTHER,   /* anything else, or nothing */
} gbx_gate_hint;

/* One step of the way to an argument. */
typedef struct gbx_gate_step {
    char *name; /* NULL: each element of an array */
} gbx_gate_step;

/* "edits[].path": what must be there. */
typedef struct gbx_gate_condition {
    char *path; /* as it was written */
    gbx_gate_step *steps;
    size_t step_count;
    char **globs; /* any of them; none: the value is literal */
    size_t glob_count;
    json_t *literal; /* a number, true or false */
} gbx_gate_condition;

typedef struct gbx_gate_rule {
    gbx_gate_action action;
    char **servers; /* patterns of names; none: every server */
    size_t server_count;
    char **tools;
    size_t tool_count;
    gbx_gate_condition *conditions; /* all of them */
    size_t condition_count;
    gbx_gate_hint hint; /* UNKNOWN: whatever the tool says */
    char *reason;       /* for who is denied or asked, or NULL */
    char *text;         /* the rule as JSON, in one form */
} gbx_gate_rule;

/* As many patterns and conditions as a person can still oversee. */
#define GBX_GATE_RULES_MAX 1000

typedef struct gbx_gate_rules {
    gbx_gate_rule *items;
    size_t count;
    gbx_gate_action reads; /* where no rule fits: tools that only read, by their word */
    gbx_gate_action others; /* and all others */
    gbx_policy *secrets; /* functions are names of servers; see gbx_gate_secrets_*() */
} gbx_gate_rules;

#define GBX_GATE_NO_RULE SIZE_MAX

typedef struct gbx_gate_verdict {
    gbx_gate_action action;
    size_t rule;            /* index, or GBX_GATE_NO_RULE: the default */
    gbx_gate_hint hint;     /* as it was given */
    bool used_hint;         /* with another one the answer might be another */
    bool needs_hint;        /* it depends on the hint: find out, and ask again */
    const char *fault;      /* the call is at fault, constant; else NULL */
    const char *fault_path; /* of the argument; the rule's */
} gbx_gate_verdict;

gbx_gate_rules *gbx_gate_rules_new(void);
void gbx_gate_rules_free(gbx_gate_rules *rules);

/* called: by what other name the tool was called, or NULL; args: an object, from
 * gbx_gate_args_open(). */
gbx_gate_verdict gbx_gate_decide(const gbx_gate_rules *rules, const char *server,
                                 const char *tool, const char *called, gbx_view args,
                                 gbx_gate_hint hint);

/* What becomes of a tool's calls, for who has no arguments yet. is_granted: a person has
 * allowed what would be asked about. *ret_depends: a rule that looks at arguments may decide
 * otherwise. */
gbx_gate_verdict gbx_gate_outlook(const gbx_gate_rules *rules, const char *server,
                                  const char *tool, gbx_gate_hint hint, bool is_granted,
                                  bool *ret_depends);

/* Arguments of a call, of which every parser makes the same values: no member twice, none
 * called "__proto__", no half of a character. *ret borrows text. On failure why, empty
 * before and with room for 1 KiB, says which and why not. */
bool gbx_gate_args_open(const char *text, size_t len, gbx_view *ret, gbx_buf *why);

/* Does the condition hold? *ret_why as with gbx_glob_value(). */
bool gbx_gate_condition_holds(const gbx_gate_condition *condition, gbx_view args,
                              gbx_gate_action action, const char **ret_why);

/* {"action":"allow","server":...,"tool":...}, with what else the rule that asked looks at:
 * before that rule, or at the end if the default asked, it allows calls of this tool that
 * would be asked about there, and no others. False: there is no room, or it would not fit
 * this call, since what allows fits only what is certain. */
bool gbx_gate_rule_for(const gbx_gate_rules *rules, const gbx_gate_verdict *asked,
                       const char *server, const char *tool, gbx_view args,
                       gbx_buf *to);

#endif
