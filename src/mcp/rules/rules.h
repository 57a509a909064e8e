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
#include "policy/json_reader.h"
#include "policy/policy.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- casefold.c ---------------------------------------------------------- */

/*
 * One form for all the cases of a letter, in every script that has cases.
 *
 * One letter becomes one letter: "ß" is not "ss". The locale has no say in it, and a dotless
 * or a dotted i is an i, since some programs take them for one.
 */

/* The first character of text, of at least one byte, in that form, which has no more bytes
 * than it; a byte that is not of UTF-8 stands for itself. The bytes of text that it has. */
size_t gbx_letter_fold(const char *text, size_t len, char ret[4], size_t *ret_len);

/* Do they differ in the case of letters alone, if at all? */
bool gbx_casefold_same(const char *a, const char *b);

/* ---- glob.c -------------------------------------------------------------- */

/*
 * Patterns of rules: for names, for paths, for URLs, for any other text.
 *
 * '*' is any text, '?' one character, '\' takes a star or question mark as it is. In a
 * pattern with a slash '*' and '?' stop at slashes, '**' does not, and a last part '**'
 * also stands for what is before it alone; in the host of a URL they stand for letters,
 * digits, '-' and '.' alone.
 *
 * Text is hostile. What a pattern of paths or URLs looks at must be written in its plain
 * form: '..', escapes and the like are objected to instead of interpreted, since every
 * server interprets them in its own way.
 */

#define GBX_GLOB_MAX      512   /* bytes of a pattern */
#define GBX_GLOB_TEXT_MAX 65536 /* bytes of text that is looked at */

typedef enum gbx_glob_kind {
    GBX_GLOB_TEXT, /* no slash in it */
    GBX_GLOB_PATH,
    GBX_GLOB_URL,
} gbx_glob_kind;

/* What the answer is for: allowing needs the very text; what asks or denies also matches
 * in another case of letters (rules.h), with slashes at the end, of a URL with a query and
 * a fragment after it and, without a slash in the pattern, in another form of the path that
 * the text may be (internal.h). */
typedef enum gbx_glob_how { GBX_GLOB_EXACT, GBX_GLOB_WIDE } gbx_glob_how;

gbx_glob_kind gbx_glob_kind_of(const char *pattern);

/* It fits every text, which is not looked at. */
bool gbx_glob_is_any(const char *pattern);

/* Names of servers and tools: every pattern is as one without a slash, and what asks or
 * denies matches in another case of letters alone. */
bool gbx_glob_name(const char *pattern, const char *name, gbx_glob_how how);

/* *ret_why is NULL, or why the text cannot be judged by this pattern, constant; the
 * result is then of no use. */
bool gbx_glob_value(const char *pattern, const char *text, size_t len, gbx_glob_how how,
                    const char **ret_why);

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

/* ---- rules_json.c -------------------------------------------------------- */

/* "rules", "defaults" and "secrets" of a configuration. Each is a
 * gbx_json_key.read; the reader is the first member of a gbx_rules_reader. */

typedef struct gbx_rules_reader {
    gbx_json_reader json; /* its policy is rules->secrets */
    gbx_gate_rules *rules;
    const char *const *servers; /* names; borrowed */
    size_t server_count;
} gbx_rules_reader;

gbx_status gbx_rules_read(gbx_json_reader *r, const json_t *value,
                          const gbx_json_key *key, void *target);
gbx_status gbx_rules_read_defaults(gbx_json_reader *r, const json_t *value,
                                   const gbx_json_key *key, void *target);
gbx_status gbx_rules_read_secrets(gbx_json_reader *r, const json_t *value,
                                  const gbx_json_key *key, void *target);

#endif
