/* SPDX-License-Identifier: MIT */
/* rpc - the event loop, the line reader, JSON-RPC messages and the output queue. */
#ifndef GBX_MCP_RPC_RPC_H
#define GBX_MCP_RPC_RPC_H

#include "base/buf.h"
#include "base/json.h"
#include "base/json_view.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- loop.c -------------------------------------------------------------- */

/*
 * The event loop: the one thread that does all work of the MCP server.
 *
 * Handlers, upstream servers and timers run on the loop's thread, without locks. Other
 * threads (an engine's, or one that loads a file) post their events to it.
 */

typedef struct gbx_mcp_loop gbx_mcp_loop;

/* A function to run on the loop's thread. The poster owns the memory and keeps it until
 * the function has run or the loop has stopped, so posting cannot fail. Set run and
 * arg; zero the rest. */
typedef struct gbx_mcp_post {
    void (*run)(void *arg);
    void *arg;
    struct gbx_mcp_post *next; /* next and is_posted belong to the loop */
    bool is_posted;
} gbx_mcp_post;

/* NULL with errno if no descriptors are left. */
gbx_mcp_loop *gbx_mcp_loop_new(void);

/* Posts that did not run are dropped. NULL is ignored. */
void gbx_mcp_loop_free(gbx_mcp_loop *loop);

/* For events and timers of modules; only on the loop's thread. */
struct event_base *gbx_mcp_loop_base(gbx_mcp_loop *loop);

/* From any thread: call run(arg) on the loop's thread, in the order of the posts. run
 * may free the post or post it again. No effect if the post is already queued or the
 * loop has stopped. */
void gbx_mcp_loop_post(gbx_mcp_loop *loop, gbx_mcp_post *post);

/* Keep the loop's thread on its CPU until the end of the next turn, since it alternates
 * with another thread. Ignored if the last turn was long. Only on the loop's thread. */
void gbx_mcp_loop_stay(gbx_mcp_loop *loop);

/* Run until gbx_mcp_loop_stop(); returns its status. */
int gbx_mcp_loop_run(gbx_mcp_loop *loop);
void gbx_mcp_loop_stop(gbx_mcp_loop *loop, int status);

/* Calls run(user) once, after a delay or in the next turn of the loop. The struct must
 * not move. Only on the loop's thread. */
typedef struct gbx_mcp_timer {
    struct event *event;
    void (*run)(void *user);
    void *user;
} gbx_mcp_timer;

void gbx_mcp_timer_init(gbx_mcp_timer *timer, gbx_mcp_loop *loop,
                        void (*run)(void *user), void *user);
/* A zeroed timer is ignored. */
void gbx_mcp_timer_cleanup(gbx_mcp_timer *timer);
/* If it is already set, the new time replaces the old one. */
void gbx_mcp_timer_set(gbx_mcp_timer *timer, uint32_t ms);
void gbx_mcp_timer_fire(gbx_mcp_timer *timer);
void gbx_mcp_timer_clear(gbx_mcp_timer *timer);
bool gbx_mcp_timer_is_set(const gbx_mcp_timer *timer);

/* ---- line_io.c: warnings ----------------------------------------------------- */

/* Print "glovebox: " and a line on standard error for the user who runs the server. The
 * line is cut to the length that a pipe accepts at once, and dropped if the pipe is
 * full: everything else would wait for it. */
void gbx_mcp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- message.c ----------------------------------------------------------- */

/*
 * JSON-RPC 2.0 as MCP uses it: read strictly, written in one way.
 *
 * Reading checks the whole text once and then borrows views of it. Ids are strings or
 * integers, never null; they are echoed as they were written, so the type is kept.
 *
 * Writers append to a buffer; every message is one line and ends in its newline. A
 * message that was too long marks the buffer failed.
 */

/* The protocol version of the modern era; every request carries it. */
#define GBX_MCP_MODERN "2026-07-28"

/* The newest version of the legacy era, and all that a client of ours may speak. */
#define GBX_MCP_LEGACY_NEWEST "2025-11-25"
#define GBX_MCP_LEGACY        GBX_MCP_LEGACY_NEWEST " 2025-06-18 2025-03-26 2024-11-05"

/* Key in the _meta of a log message of that era: the id of its request. The protocol
 * itself links a log message to its request only by the connection. */
#define GBX_MCP_LOG_META "glovebox/requestId"

/* Maximum length of progress tokens and ids of subscriptions, which are kept for a long
 * time. Longer ones are not accepted. */
#define GBX_RPC_ID_MAX     256
#define GBX_RPC_METHOD_MAX 128

#define GBX_RPC_PARSE_ERROR      (-32700)
#define GBX_RPC_INVALID_REQUEST  (-32600)
#define GBX_RPC_METHOD_NOT_FOUND (-32601)
#define GBX_RPC_INVALID_PARAMS   (-32602)
#define GBX_RPC_INTERNAL_ERROR   (-32603)

/* What a server can ask a client for, in bits. */
typedef enum gbx_mcp_asking {
    GBX_MCP_ASK_FORM = 1,
    GBX_MCP_ASK_URL = 2,      /* an address that the person opens */
    GBX_MCP_ASK_SAMPLING = 4, /* text of its model */
    GBX_MCP_ASK_ROOTS = 8,    /* its folders */
    GBX_MCP_ASK_PERSON = GBX_MCP_ASK_FORM | GBX_MCP_ASK_URL,
} gbx_mcp_asking;

/* The code for a capability that the client has not declared. */
#define GBX_RPC_MISSING_CAPABILITY (-32021)

typedef enum gbx_rpc_kind {
    GBX_RPC_REQUEST,
    GBX_RPC_NOTIFICATION,
    GBX_RPC_RESULT,
    GBX_RPC_ERROR,
    GBX_RPC_BATCH, /* an array of unchecked messages, in payload */
} gbx_rpc_kind;

/* Borrows from the text that was read. */
typedef struct gbx_rpc_message {
    gbx_rpc_kind kind;
    gbx_view id; /* no value: a notification, or an error about an unknown request */
    char method[GBX_RPC_METHOD_MAX + 1];
    gbx_view
        payload; /* params (an object, or no value), result, or error (an object) */
} gbx_rpc_message;

/* Why a text is not a valid message. */
typedef struct gbx_rpc_fault {
    int code;            /* of the error to answer with */
    const char *message; /* constant */
    gbx_view id;         /* of the answer; no value if it is unknown */
    bool is_answerable;  /* false: it looks like a response, which is never answered */
} gbx_rpc_fault;

/* Read one message. On false, *ret is untouched and *ret_fault says why. */
bool gbx_rpc_read(const char *text, size_t len, gbx_rpc_message *ret,
                  gbx_rpc_fault *ret_fault);
/* The same for an element of a batch, whose text was checked with the batch. */
bool gbx_rpc_read_view(gbx_view value, gbx_rpc_message *ret, gbx_rpc_fault *ret_fault);

/* True if it is an id: a string, or an integer written only in digits. */
bool gbx_rpc_is_id(gbx_view view);
/* Same type and same value. Both must be ids. */
bool gbx_rpc_same_id(gbx_view a, gbx_view b);
/* Read an id, or another integer, as a number. */
bool gbx_rpc_integer(gbx_view view, int64_t *ret);
/* The text as a C string, borrowed until its next change; "" if it was too long. */
const char *gbx_rpc_string(gbx_buf *text);
/* Copy a string's characters and a NUL. False, and nothing is written, if it is not a
 * string, holds a NUL, or does not fit into size bytes. */
bool gbx_rpc_copy_text(gbx_view view, char *ret, size_t size);

/* "elicitation/create" */
const char *gbx_mcp_asking_method(unsigned asking);
/* What the capabilities of a client declare, in bits of gbx_mcp_asking. */
unsigned gbx_mcp_asking_read(gbx_view capabilities);
/* Append a member with the capabilities. extensions: JSON object, or NULL. */
void gbx_mcp_asking_put(gbx_buf *to, const char *key, unsigned asking,
                        const char *extensions);

/* The code and the message of an error; -32603 and no value if they are missing. */
int gbx_rpc_error_code(gbx_view error);
gbx_view gbx_rpc_error_message(gbx_view error);

/* ---- writing -------------------------------------------------------------- */

/* Begin {"jsonrpc":"2.0","id":ID,"result":{ -- append members, then call
 * gbx_rpc_end(). */
void gbx_rpc_begin_result(gbx_buf *to, gbx_view id);
/* {"jsonrpc":"2.0","id":N,"method":"M","params":{ */
void gbx_rpc_begin_request(gbx_buf *to, int64_t id, const char *method);
/* {"jsonrpc":"2.0","method":"M","params":{ */
void gbx_rpc_begin_notification(gbx_buf *to, const char *method);
/* Close both objects, and append the newline. */
void gbx_rpc_end(gbx_buf *to);

/* Append the members of an error. data is JSON, or NULL. */
void gbx_rpc_put_error(gbx_buf *to, int code, const char *message, const char *data);
/* Append a whole error message. id without a value: the error has no id. */
void gbx_rpc_append_error(gbx_buf *to, gbx_view id, int code, const char *message,
                          const char *data);

/* ---- ids of answers -------------------------------------------------------- */

/* Read an id that we have sent as a number; some servers write it as a
 * string, or as 1.0. */
bool gbx_id_read(gbx_view view, int64_t *ret);

/* ---- line_io.c: lines in --------------------------------------------------- */

/*
 * Splits a stream of bytes, such as standard input, into lines.
 *
 * Does no I/O. A line longer than the limit is reported once and not kept; reading
 * continues after its newline. Blank lines are skipped. A carriage return before the
 * newline is removed, and so is a byte order mark before the line.
 *
 *     gbx_mcp_line_reader_feed(&lines, chunk, n);
 *     while ((kind = gbx_mcp_line_reader_next(&lines, &text, &len)) !=
 *            GBX_MCP_LINE_NONE)
 *         ...
 */

typedef enum gbx_mcp_line_kind {
    GBX_MCP_LINE_NONE, /* feed more */
    GBX_MCP_LINE,
    GBX_MCP_LINE_TOO_LONG, /* its beginning; reported before its end is read */
} gbx_mcp_line_kind;

typedef struct gbx_mcp_line_reader {
    gbx_buf part;      /* the beginning of an unfinished line */
    const char *chunk; /* borrowed from feed until NONE */
    size_t left;
    bool given;    /* part was returned as a line; dropped at the next call */
    bool skipping; /* until the newline of a line that was too long */
} gbx_mcp_line_reader;

void gbx_mcp_line_reader_init(gbx_mcp_line_reader *lines, size_t line_max);
void gbx_mcp_line_reader_cleanup(gbx_mcp_line_reader *lines);

/* Only before the first call of next, or after it has returned NONE. */
void gbx_mcp_line_reader_feed(gbx_mcp_line_reader *lines, const char *chunk,
                              size_t len);

/* The line has no newline and no final NUL, and is valid until the next call. If memory
 * is out, the line is reported as too long. */
gbx_mcp_line_kind gbx_mcp_line_reader_next(gbx_mcp_line_reader *lines,
                                           const char **ret_line, size_t *ret_len);

/* At the end of input, after NONE: the text after the last newline, if any. */
gbx_mcp_line_kind gbx_mcp_line_reader_end(gbx_mcp_line_reader *lines,
                                          const char **ret_line, size_t *ret_len);

/* ---- line_io.c: lines out -------------------------------------------------- */

/*
 * The queue of messages to a pipe whose reader may be slow or stuck.
 *
 * Sending never blocks. Everything sent in one turn of the loop is written together at
 * its end, since a reader acts as soon as it is woken. Bytes that the pipe does not
 * accept are queued, up to a ceiling. A message beyond the ceiling is refused, and the
 * sender decides what that means. Far below the ceiling, gbx_mcp_output_is_full() says
 * when to stop accepting work. The process must ignore SIGPIPE. Only on the loop's
 * thread.
 */

typedef struct gbx_mcp_output gbx_mcp_output;

typedef struct gbx_mcp_output_hooks {
    void *user;
    /* The reader is gone, for the reason os_errno. Called once, from the loop; nothing
     * is sent afterwards. */
    void (*broken)(void *user, int os_errno);
    /* The queue was full and no longer is. From the loop. May be NULL. */
    void (*drained)(void *user);
} gbx_mcp_output_hooks;

/* fd is borrowed. A pipe or socket is made non-blocking until the queue is freed;
 * a file or a terminal is not changed. ceiling: maximum number of queued bytes. */
gbx_mcp_output *gbx_mcp_output_new(gbx_mcp_loop *loop, int fd, size_t ceiling,
                                   const gbx_mcp_output_hooks *hooks);
/* Detect that the reader is gone even if nothing is sent. False if no descriptors are
 * left. */
bool gbx_mcp_output_watch(gbx_mcp_output *out, gbx_mcp_loop *loop);
/* Writes what was sent in this turn, as far as the pipe has room. NULL is ignored. */
void gbx_mcp_output_free(gbx_mcp_output *out);

/* Send one or more whole messages; copied. False if over the ceiling, out of memory or
 * broken; then nothing is sent. */
bool gbx_mcp_output_send(gbx_mcp_output *out, const void *data, size_t len);

/* Do not let later messages be read together with earlier ones: they are written when
 * the reader has read the earlier ones, or 50 ms after those were written. No effect
 * unless fd is a pipe or socket. */
void gbx_mcp_output_part(gbx_mcp_output *out);

/* True if more than a sixteenth of the ceiling is queued. */
bool gbx_mcp_output_is_full(const gbx_mcp_output *out);
size_t gbx_mcp_output_waiting(const gbx_mcp_output *out);
/* Number of bytes that the pipe has accepted so far. */
uint64_t gbx_mcp_output_written(const gbx_mcp_output *out);
/* The errno that broke it, or 0. */
int gbx_mcp_output_errno(const gbx_mcp_output *out);

#endif
