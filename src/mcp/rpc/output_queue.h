/* SPDX-License-Identifier: MIT */
/*
 * output_queue - messages on their way into a pipe whose reader may not read.
 *
 * Sending never blocks: what the pipe does not take waits here, up to a ceiling. Beyond
 * it a message is refused, and the sender decides what that means; below it, `is_full`
 * says when to stop taking on work. SIGPIPE must be ignored by the process. Loop's thread only.
 */
#ifndef GBX_MCP_RPC_OUTPUT_QUEUE_H
#define GBX_MCP_RPC_OUTPUT_QUEUE_H

#include "base/buf.h"
#include "mcp/rpc/loop.h"

#include <stdint.h>

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
