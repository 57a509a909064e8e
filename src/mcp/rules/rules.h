/* SPDX-License-Identifier: MIT */
/*
 * rules - decides which calls of which tools are made, which a person is asked about,
 * and which are refused.
 *
 * The first matching rule decides. If no rule matches, one default decides for tools
 * that declare themselves read-only, and another for all others. A rule that allows
 * matches only what is certain; one that asks or denies also matches what may be meant.
 * A call that cannot be judged fails with a reason (docs/internals/rules.md).
 *
 * Filled by one owner, then only read.
 */
#ifndef GBX_MCP_RULES_RULES_H
#define GBX_MCP_RULES_RULES_H

#include "base/buf.h"
#include "base/json_view.h"
#include "policy/json_reader.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- glob.c -------------------------------------------------------------- */

/*
 * Folds the case of letters, in every script that has cases.
 *
 * One letter becomes one letter: "ß" is not "ss". It does not depend on the locale. A
 * dotless or dotted i becomes i, since some programs treat them as equal.
 */

/* Fold the first character of text, which has at least one byte; the result is
 * never longer. A byte of invalid UTF-8 stands for itself. Returns the character's
 * length in text. */
size_t gbx_letter_fold(const char *text, size_t len, char ret[4], size_t *ret_len);

/* True if they are equal apart from the case of letters. */
bool gbx_casefold_same(const char *a, const char *b);

/*
 * Patterns of rules: for names, paths, URLs, and other text.
 *
 * '*' matches any text, '?' one character; '\' makes a star or question mark literal.
 * In a pattern with a slash, '*' and '?' stop at slashes but '**' does not, and a last
 * part '**' also matches the folder before it. In the host of a URL, wildcards match
 * only letters, digits, '-' and '.'.
 *
 * Text is hostile. Text that is matched by a pattern of paths or URLs must be in plain
 * form: '..', escapes and the like are refused instead of interpreted, since every
 * server interprets them in its own way.
 */

#define GBX_GLOB_MAX      512   /* bytes of a pattern */
#define GBX_GLOB_TEXT_MAX 65536 /* limit of matched text, in bytes */

typedef enum gbx_glob_kind {
    GBX_GLOB_TEXT, /* without a slash */
    GBX_GLOB_PATH,
    GBX_GLOB_URL,
} gbx_glob_kind;

/* EXACT is for rules that allow: only the text itself matches. WIDE is for rules that
 * ask or deny: it also ignores the case of letters, slashes at the end, and a URL's
 * query and fragment; a pattern without a slash also matches other forms of the path
 * that the text may be (gbx_path_forms()). */
typedef enum gbx_glob_how { GBX_GLOB_EXACT, GBX_GLOB_WIDE } gbx_glob_how;

gbx_glob_kind gbx_glob_kind_of(const char *pattern);

/* Does it match every text? Then the text need not be examined. */
bool gbx_glob_is_any(const char *pattern);

/* For names of servers and tools: every pattern is treated as one without a slash, and
 * WIDE only ignores the case of letters. */
bool gbx_glob_name(const char *pattern, const char *name, gbx_glob_how how);

/* *ret_why is NULL, or why the text cannot be judged by this pattern (constant); the
 * result is then meaningless. */
bool gbx_glob_value(const char *pattern, const char *text, size_t len, gbx_glob_how how,
                    const char **ret_why);

/* ---- canonical.c: for the other files of this folder ---------------------- */

/*
 * Refuses paths and URLs that can be read in more than one way.
 *
 * Servers resolve "/data/../etc", "%2e%2e", "https://a@b", "HTTPS:\\b" in different
 * ways. A rule that resolved them in yet another way could be bypassed. So such texts
 * are refused.
 */

/* NULL, or the reason why the pattern cannot judge the text; constant. */
const char *gbx_canonical_objection(const char *pattern, gbx_glob_kind kind,
                                    const char *text, size_t len, gbx_glob_how how);

/* NULL, or the reason why every text that could match the pattern of an asking or
 * denying rule would be refused: such a rule has no effect. The pattern has at most
 * GBX_GLOB_MAX bytes. */
const char *gbx_canonical_pattern_objection(const char *pattern);

/* Does the text begin with that character, literally or escaped? */
bool gbx_canonical_is(char c, const char *text, size_t len);

/* Does it begin with "scheme://"? */
bool gbx_canonical_has_scheme(const char *text, size_t len);

/* True if every program looks for an address of that scheme on a network. Some other
 * schemes ("sqlite:///srv/x") name files. */
bool gbx_canonical_is_remote(const char *text, size_t len);

/*
 * A text as the path that some program may make of it.
 *
 * Programs differ: "k.txt/", "./k.txt" and "k.txt/x/.." may all be "k.txt". So a rule
 * that asks or denies looks at each of these forms besides the text itself; no form may
 * ever make a rule match less.
 */

/* Some programs treat '\' as a slash. */
typedef enum gbx_path_slashes { GBX_RESOLVED_ONE, GBX_RESOLVED_BOTH } gbx_path_slashes;

/* The text without ".", without ".." and what it cancels, and without repeated or
 * trailing slashes. ret has room for len bytes; returns the length. */
size_t gbx_path_forms(const char *text, size_t len, gbx_path_slashes slashes,
                      char *ret);

/* ---- rules.c and args_ambiguity.c --------------------------------------- */

typedef enum gbx_gate_action {
    GBX_GATE_ALLOW,
    GBX_GATE_ASK,
    GBX_GATE_DENY,
} gbx_gate_action;

const char *gbx_gate_action_name(gbx_gate_action action); /* "allow" */

/* A server's own statement about its tool; it is not verified. */
typedef enum gbx_gate_hint {
    GBX_GATE_HINT_UNKNOWN, /* not looked up yet */
    GBX_GATE_HINT_READS,   /* "readOnlyHint": true */
    GBX_GATE_HINT_OTHER,   /* anything else, or nothing */
    GBX_GATE_HINT_MISSING, /* it has no such tool; not for rules */
} gbx_gate_hint;

typedef struct gbx_gate_names {
    char **items;
    size_t count;
} gbx_gate_names;

/* A condition on the arguments at a path such as "edits[].path". */
typedef struct gbx_gate_condition {
    char *path;   /* as written in the rule */
    char **steps; /* names on the way; NULL: each element of an array */
    size_t step_count;
    gbx_gate_names globs; /* one must match; none: the value is literal */
    char literal;         /* the gbx_view_kind() of a number, true or false, or 0 */
    double number;        /* if literal is '0' */
} gbx_gate_condition;

/* What a request to a server is for. */
typedef enum gbx_gate_subject {
    GBX_GATE_TOOL,
    GBX_GATE_RESOURCE,
    GBX_GATE_PROMPT,
    GBX_GATE_LIST, /* of these: rules are about each entry */
} gbx_gate_subject;

const char *gbx_gate_subject_name(gbx_gate_subject subject); /* "tool" */

/* Without tools, resources and prompts it is about all of them; so is one that denies every
 * tool and names none of the others. */
typedef struct gbx_gate_rule {
    gbx_gate_action action;
    gbx_gate_names servers; /* patterns of names; none: every server */
    gbx_gate_names tools;
    gbx_gate_names resources; /* patterns of URIs */
    gbx_gate_names prompts;
    gbx_gate_names scopes; /* of OAuth, of which the client has one; none: every one */
    gbx_gate_condition *conditions; /* all must hold */
    size_t condition_count;
    gbx_gate_hint hint; /* UNKNOWN: any tool */
    char *reason;       /* shown when a call is denied or asked about, or NULL */
    char *text;         /* the rule as JSON, in one form */
} gbx_gate_rule;

/* More rules are refused: a person could not oversee them. */
#define GBX_GATE_RULES_MAX 1000

typedef struct gbx_gate_rules {
    gbx_gate_rule *items;
    size_t count;
    gbx_gate_action reads; /* the default for tools that declare themselves read-only */
    gbx_gate_action others; /* the default for all others */
    gbx_policy *secrets;    /* each secret's functions are the names of the servers
                             * that may get it */
} gbx_gate_rules;

#define GBX_GATE_NO_RULE SIZE_MAX

typedef struct gbx_gate_verdict {
    gbx_gate_action action;
    size_t rule;            /* index, or GBX_GATE_NO_RULE: the default */
    gbx_gate_hint hint;     /* as it was given */
    bool used_hint;         /* another hint might change the verdict */
    bool needs_hint;        /* the verdict depends on the hint: look it up,
                             * and decide again */
    const char *fault;      /* why the call fails, constant; or NULL */
    const char *fault_path; /* of the argument; belongs to the rule */
} gbx_gate_verdict;

gbx_gate_rules *gbx_gate_rules_new(void);
void gbx_gate_rules_free(gbx_gate_rules *rules);

/* Drop the rules for other clients: has() says if this one has a scope. */
void gbx_gate_rules_select(gbx_gate_rules *rules,
                           bool (*has)(const void *user, const char *scope),
                           const void *user);

/* called: another name by which the tool was called, or NULL; args: an object, from
 * gbx_gate_args_open(). */
gbx_gate_verdict gbx_rules_decide(const gbx_gate_rules *rules, const char *server,
                                  const char *tool, const char *called, gbx_view args,
                                  gbx_gate_hint hint);

/* The same for a resource, by its URI, or for a prompt, by its name. Both only read. A
 * rule about arguments of any tool denies or asks, but does not allow: what they would
 * be is unknown. */
gbx_gate_verdict gbx_rules_decide_other(const gbx_gate_rules *rules, const char *server,
                                        gbx_gate_subject subject, const char *name);

/* The verdict on a tool's calls while their arguments are unknown. is_granted: a person
 * has allowed what would be asked about. *ret_depends: a rule with conditions on
 * arguments may decide otherwise. */
gbx_gate_verdict gbx_gate_outlook(const gbx_gate_rules *rules, const char *server,
                                  const char *tool, gbx_gate_hint hint, bool is_granted,
                                  bool *ret_depends);

/* Parse arguments, and refuse those that parsers read differently: a member twice, or
 * called "__proto__", or half of a character. *ret borrows text. On failure why
 * (initially empty, with room for 1 KiB) says which argument is wrong and why. */
bool gbx_gate_args_open(const char *text, size_t len, gbx_view *ret, gbx_buf *why);

/* Append {"action":"allow","server":...,"tool":...} with the conditions of the rule
 * that asked. Placed before that rule (or last, if the default asked), it allows
 * exactly the calls of this tool that would be asked about there. False: it does
 * not fit into `to`, or would not match this call, since allowing rules match only
 * what is certain. */
bool gbx_gate_rule_for(const gbx_gate_rules *rules, const gbx_gate_verdict *asked,
                       const char *server, const char *tool, gbx_view args,
                       gbx_buf *to);

/* ---- rules_json.c -------------------------------------------------------- */

/* "rules", "defaults" and "secrets" of a configuration. Each function is a
 * gbx_json_key.read; the reader is the first member of a gbx_rules_reader. */

typedef struct gbx_rules_reader {
    gbx_json_reader json; /* its policy is rules->secrets */
    gbx_gate_rules *rules;
    const char **servers; /* names; borrowed */
    size_t server_count;
} gbx_rules_reader;

gbx_status gbx_rules_read(gbx_json_reader *r, gbx_view value, void *target);
gbx_status gbx_rules_read_defaults(gbx_json_reader *r, gbx_view value, void *target);
gbx_status gbx_rules_read_secrets(gbx_json_reader *r, gbx_view value, void *target);

#endif
