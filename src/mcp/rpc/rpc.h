/* SPDX-License-Identifier: MIT */
/* rpc - the event loop, lines that come in, and messages that go out. */
#ifndef GBX_MCP_RPC_RPC_H
#define GBX_MCP_RPC_RPC_H

#include "base/buf.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- line_reader.c ------------------------------------------------------- */

/*
 * Bytes in, lines out: how messages are told apart on standard input and output.
 *
 * No I/O inside. A line may be so long and no longer: of a longer one nothing is kept,
 * it is reported once, and what follows its newline is read as always. Blank lines are
 * no lines; a carriage return before the newline belongs to it, and so does a byte order
 * mark before the line.
 *
 *     gbx_mcp_line_reader_feed(&lines, chunk, n);
 *     while ((kind = gbx_mcp_line_reader_next(&lines, &text, &len)) != GBX_MCP_LINE_NONE)
 *         ...
 */

typedef enum gbx_mcp_line_kind {
    GBX_MCP_LINE_NONE, /* feed more */
    GBX_MCP_LINE,
    GBX_MCP_LINE_TOO_LONG, /* said as soon as it is known */
} gbx_mcp_line_kind;

typedef struct gbx_mcp_line_reader {
    gbx_buf part;      /* the beginning of a line whose end has not come */
    const char *chunk; /* borrowed from feed until NONE */
    size_t left;
    bool given;    /* part was the last line; it is dropped at the next call */
    bool skipping; /* until the newline of a line that was too long */
} gbx_mcp_line_reader;

void gbx_mcp_line_reader_init(gbx_mcp_line_reader *lines, size_t line_max);
void gbx_mcp_line_reader_cleanup(gbx_mcp_line_reader *lines);

/* Only after next has said NONE, or at first. */
void gbx_mcp_line_reader_feed(gbx_mcp_line_reader *lines, const char *chunk,
                              size_t len);

/* The line is without its newline, not terminated, and valid until the next call. Out of
 * memory is a line that is too long. */
gbx_mcp_line_kind gbx_mcp_line_reader_next(gbx_mcp_line_reader *lines,
                                           const char **ret_line, size_t *ret_len);

/* At the end of input, after NONE: what came after the last newline, if anything did. */
gbx_mcp_line_kind gbx_mcp_line_reader_end(gbx_mcp_line_reader *lines,
                                          const char **ret_line, size_t *ret_len);

/* ---- loop.c -------------------------------------------------------------- */

/*
 * The one thread on which everything of the MCP server happens.
 *
 * Handlers, upstream servers, timers: all run on the loop's thread, without locks. What
 * happens elsewhere (the thread of an engine, a thread that loads a file) is posted to it.
 */

typedef struct gbx_mcp_loop gbx_mcp_loop;

/* What is to happen on the loop's thread. Memory of who posts it, kept until it runs or the
 * loop was stopped: so posting cannot fail. All zero but run and arg at first. */
typedef struct gbx_mcp_post {
    void (*run)(void *arg);
    void *arg;
    struct gbx_mcp_post *next; /* the loop's, as what follows */
    bool is_posted;
} gbx_mcp_post;

/* NULL if memory is out, or descriptors are: errno. */
gbx_mcp_loop *gbx_mcp_loop_new(void);

/* Posts that did not run are dropped. NULL is ignored. */
void gbx_mcp_loop_free(gbx_mcp_loop *loop);

/* For events and timers of modules; only on the loop's thread. */
struct event_base *gbx_mcp_loop_base(gbx_mcp_loop *loop);

/* From any thread: have run(arg) called on the loop's thread, in the order of the posts. It
 * may free the post, and post it again. What is posted and has not run is not posted twice;
 * after the stop nothing is. */
void gbx_mcp_loop_post(gbx_mcp_loop *loop, gbx_mcp_post *post);

/* The loop's thread takes turns with somebody: it stays on its processor until the end of the
 * next turn, or where turns have become long. Only on the loop's thread. */
void gbx_mcp_loop_stay(gbx_mcp_loop *loop);

/* Until gbx_mcp_loop_stop(); returns its status. */
int gbx_mcp_loop_run(gbx_mcp_loop *loop);
void gbx_mcp_loop_stop(gbx_mcp_loop *loop, int status);

/* ---- output_queue.c ------------------------------------------------------ */

/*
 * Messages on their way into a pipe whose reader may not read.
 *
 * Sending never blocks: what the pipe does not take waits here, up to a ceiling. Beyond
 * it a message is refused, and the sender decides what that means; below it, `is_full`
 * says when to stop taking on work. SIGPIPE must be ignored by the process. Loop's thread only.
 */

typedef struct gbx_mcp_output gbx_mcp_output;

typedef struct gbx_mcp_output_hooks {
    void *user;
    /* The reader is gone, errno: once, from the loop; nothing is sent any more. */
    void (*broken)(void *user, int os_errno);
    /* It was full and is not any more. From the loop. May be NULL. */
    void (*drained)(void *user);
} gbx_mcp_output_hooks;

/* fd is borrowed. A pipe or socket is made non-blocking until the queue is freed; a file
 * or a terminal is written to as it is. ceiling: bytes that may wait. NULL if memory is
 * out. */
gbx_mcp_output *gbx_mcp_output_new(gbx_mcp_loop *loop, int fd, size_t ceiling,
                                   const gbx_mcp_output_hooks *hooks);
/* What is sent in one turn of the loop is written in one go at its end: for a reader that
 * works on what there is as soon as it is woken. False if memory is out. */
bool gbx_mcp_output_gather(gbx_mcp_output *out, gbx_mcp_loop *loop);
/* That the reader is gone is known without anything being sent. False if memory or
 * descriptors are out. */
bool gbx_mcp_output_watch(gbx_mcp_output *out, gbx_mcp_loop *loop);
/* What the reader has not taken is dropped. NULL is ignored. */
void gbx_mcp_output_free(gbx_mcp_output *out);

/* A whole message, or several; copied. False, and nothing is kept: over the ceiling, out
 * of memory, or broken. */
bool gbx_mcp_output_send(gbx_mcp_output *out, const void *data, size_t len);

/* What is sent from here on is not read in one go with what was sent before: it is written
 * when the reader has taken that, or takes nothing for 50 ms. Nothing of the kind for what
 * is no pipe or socket. */
void gbx_mcp_output_part(gbx_mcp_output *out);

/* Does more than a sixteenth of the ceiling wait? */
bool gbx_mcp_output_is_full(const gbx_mcp_output *out);
size_t gbx_mcp_output_waiting(const gbx_mcp_output *out);
/* Of all that was sent, what the pipe has taken. */
uint64_t gbx_mcp_output_written(const gbx_mcp_output *out);
/* Why it is broken, or 0. */
int gbx_mcp_output_errno(const gbx_mcp_output *out);

#endif
