/* SPDX-License-Identifier: MIT */
/* audit - the security log: event names, lines, clusters of refusals, rate limits. */
#ifndef GBX_AUDIT_AUDIT_H
#define GBX_AUDIT_AUDIT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- events.c ------------------------------------------------------------ */

/*
 * The names of everything that an engine reports about itself.
 *
 * Programs rely on the names: append only. test_audit_docs compares this table with
 * docs/internals/security-log.md, which has a section for each.
 */

/* Where an event goes: the security log, the event callback, or both. The callback gets
 * events that need attention; routine events are only in the log. */
enum { GBX_AUDIT_LOG = 1, GBX_AUDIT_EVENT = 2, GBX_AUDIT_BOTH = 3 };

/* XX(NAME, "name", where it goes, "what has happened") */
#define GBX_AUDIT_MAP(XX)                                                            \
    XX(ENGINE_STARTED, "engine.started", LOG, "an engine serves")                    \
    XX(ENGINE_ENDED, "engine.ended", LOG, "the engine was freed: its last line")     \
    XX(CALL_STARTED, "call.started", LOG, "a call was made: its first line")         \
    XX(CALL_ENDED, "call.ended", LOG, "the call has its result: its last line")      \
    XX(HOST_CALL, "host.call", LOG, "code called a function of the host")            \
    XX(HOST_REFUSED, "host.refused", BOTH,                                           \
       "code asked the host for something that it does not get")                     \
    XX(GUARD_VIOLATION, "guard.violation", BOTH,                                     \
       "the guard refused code: nothing of it ran")                                  \
    XX(CALL_TIMEOUT, "call.timeout", BOTH, "a call ran past a time limit")           \
    XX(CALL_MEMORY, "call.memory", BOTH, "a call needed more memory than its limit") \
    XX(PROTOCOL_VIOLATION, "protocol.violation", BOTH,                               \
       "a worker said what no worker says, and was killed")                          \
    XX(SECCOMP_KILL, "seccomp.kill", BOTH,                                           \
       "a worker made a system call outside its table, and the kernel killed it")    \
    XX(WORKER_CRASHED, "worker.crashed", BOTH,                                       \
       "a worker died although no limit was reached")                                \
    XX(WORKER_KILLED, "worker.killed", EVENT,                                        \
       "the host ended a worker before its result: time, memory or an abort")        \
    XX(TEMPLATE_DIED, "template.died", BOTH,                                         \
       "a template ended by itself, its workers with it; another is started")        \
    XX(TEMPLATE_FAILED, "template.failed", BOTH, "a template could not be started")  \
    XX(SUSPICIOUS, "suspicious", BOTH,                                               \
       "refusals or kills cluster: the mark of hostile code")                        \
    XX(LOG_DROPPED, "log.dropped", BOTH, "lines of a call that are not in this log") \
    XX(MCP_CALL, "mcp.call", LOG, "a tool of another MCP server was called, or refused")

typedef enum gbx_audit_event {
#define XX(name, text, who, what) GBX_AUDIT_##name,
    GBX_AUDIT_MAP(XX)
#undef XX
        GBX_AUDIT_EVENT_COUNT
} gbx_audit_event;

/* "host.call" and the like. */
const char *gbx_audit_name(gbx_audit_event event);

/* True if the event goes to who (GBX_AUDIT_LOG or GBX_AUDIT_EVENT). */
bool gbx_audit_is_for(gbx_audit_event event, unsigned who);

/* ---- log_line.c ---------------------------------------------------------- */

/*
 * One line of the security log: one JSON object that no text can break out of.
 *
 * Text comes from sandboxed code and from servers. It is cut. Anything that could end a
 * line or control a terminal is escaped twice: in the line's bytes, and again in the
 * string that a JSON parser makes of them, so that printing that string is harmless
 * too.
 *
 * A line is never longer than what a pipe accepts in one piece. A field that does not
 * fit is omitted together with all later ones, and the line says so: put what matters
 * first. The only memory used is the caller's stack.
 */

/* Maximum length of a line in bytes, its newline included. */
#define GBX_LINE_MAX 4096

/* At most this many bytes of a text are used; fewer if they need many escapes. */
#define GBX_LINE_TEXT_MAX 256

#define GBX_LINE_DEPTH_MAX 4

typedef struct gbx_log_line {
    gbx_buf buf; /* over space: never grows */
    bool is_cut; /* something did not fit: later fields are dropped */
    size_t depth;
    char closers[GBX_LINE_DEPTH_MAX]; /* NUL: not opened, for lack of room */
    uint8_t space[GBX_LINE_MAX + 1];
} gbx_log_line;

/* The start of every line; call_id may be NULL. */
typedef struct gbx_log_line_head {
    int64_t wall_ms; /* since 1970 */
    uint64_t seq;
    const char *event;
    const char *engine;
    const char *call_id;
} gbx_log_line_head;

/* line must not move until it has been ended. */
void gbx_log_line_begin(gbx_log_line *line, const gbx_log_line_head *head);

/* Fields of the innermost open object; with key NULL, elements of an array. */
void gbx_log_line_text(gbx_log_line *line, const char *key, const void *text,
                       size_t len);
void gbx_log_line_puts(gbx_log_line *line, const char *key, const char *text);
void gbx_log_line_count(gbx_log_line *line, const char *key, uint64_t number);
void gbx_log_line_number(gbx_log_line *line, const char *key, double number);
void gbx_log_line_bool(gbx_log_line *line, const char *key, bool value);

/* Open an object or array: '{' or '['. Each must be closed, the innermost first. */
void gbx_log_line_open(gbx_log_line *line, const char *key, char bracket);
void gbx_log_line_close(gbx_log_line *line);

/* The whole line, with its newline, then NUL; *ret_len is without the NUL. */
const char *gbx_log_line_end(gbx_log_line *line, size_t *ret_len);

/* The start of hostile text as one line, escaped as in the log; NUL-terminates `to`.
 * Returns the length. */
size_t gbx_log_line_escape(const void *text, size_t len, char *to, size_t size);

/* ---- events.c: suspicion ------------------------------------------------- */

/*
 * Reports when refusals, and calls killed at a limit, look like an attack.
 *
 * A single one is a mistake by the code's author. A cluster of them, within a window or
 * within one call, suggests probing: most often text in the data has persuaded the
 * author. A worker that breaks its protocol or its seal is a cluster by itself. At most
 * one cluster is reported in a window.
 *
 * The time is an argument. Nothing is locked.
 */

/* XX(NAME, "name", weight: 0 is a cluster at once, "what was refused") */
#define GBX_SUSPECT_MAP(XX)                                                     \
    XX(SITE, "sites", 1, "fetch of a destination that is not allowed")          \
    XX(PATH, "paths", 1, "a file outside of the listed directories")            \
    XX(FUNCTION, "functions", 1, "a function that the call does not have")      \
    XX(SECRET, "secrets", 1, "a secret that is not for whom it was to be sent") \
    XX(PATTERN, "patterns", 1, "a name that the guard knows as switched off")   \
    XX(TIMEOUT, "timeouts", 1, "a call that ran past a time limit")             \
    XX(MEMORY, "memory", 1, "a call that needed more memory than its limit")    \
    XX(PROTOCOL, "protocol", 0, "a message that no worker sends")               \
    XX(SEAL, "seal", 0, "a system call that no worker makes")

typedef enum gbx_suspect {
#define XX(name, text, weight, what) GBX_SUSPECT_##name,
    GBX_SUSPECT_MAP(XX)
#undef XX
        GBX_SUSPECT_COUNT
} gbx_suspect;

const char *gbx_suspect_name(gbx_suspect kind);

#define GBX_SUSPICION_THRESHOLD     5u
#define GBX_SUSPICION_THRESHOLD_MAX 100u
#define GBX_SUSPICION_WINDOW_MS     60000u

/* At most this many calls are named in a report; there may have been more. */
#define GBX_SUSPICION_CALLS 8u

#define GBX_SUSPICION_KEPT 128u

typedef struct gbx_suspicion {
    uint32_t threshold;
    int64_t window_ns;
    int64_t told_ns; /* time of the last report; valid if was_told */
    bool was_told;
    struct {
        int64_t at_ns;
        uint64_t call;
        gbx_suspect kind;
    } kept[GBX_SUSPICION_KEPT]; /* a ring */
    size_t first;
    size_t count;
} gbx_suspicion;

/* The refusals of one call since it was last reported. */
typedef struct gbx_suspect_counts {
    uint32_t of[GBX_SUSPECT_COUNT];
} gbx_suspect_counts;

typedef struct gbx_cluster {
    gbx_suspect_counts counts;
    uint32_t total;
    uint64_t calls[GBX_SUSPICION_CALLS]; /* each once */
    size_t call_count;
} gbx_cluster;

void gbx_suspicion_init(gbx_suspicion *s, uint32_t threshold, uint32_t window_ms);

/* Add one refusal. True if it completes a cluster that must be reported; *ret
 * describes it. */
bool gbx_suspicion_add(gbx_suspicion *s, gbx_suspect kind, uint64_t call,
                       gbx_suspect_counts *of_call, int64_t now_ns, gbx_cluster *ret);

/* ---- events.c: limits ---------------------------------------------------- */

/* A token bucket: a burst size and a rate a second. Time is an argument. */

typedef struct gbx_bucket {
    uint32_t size; /* tokens of a full bucket; it starts full */
    double per_s;
    double left;
    int64_t at_ns; /* time of the last update of left */
} gbx_bucket;

void gbx_bucket_init(gbx_bucket *bucket, uint32_t size, double per_s, int64_t now_ns);

/* Take one; false if none is left. */
bool gbx_bucket_take(gbx_bucket *bucket, int64_t now_ns);

#endif
