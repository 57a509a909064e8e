/* SPDX-License-Identifier: MIT */
/*
 * loop - the one thread on which everything of the MCP server happens.
 *
 * Handlers, upstream servers, timers: all run on the loop's thread, without locks. What
 * happens elsewhere (the thread of an engine, a thread that loads a file) is posted to it.
 */
#ifndef GBX_MCP_RPC_LOOP_H
#define GBX_MCP_RPC_LOOP_H

#include <stdbool.h>

#include <event2/event.h>

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

#endif
