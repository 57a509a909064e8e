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

/* NULL if memory is out, or descriptors are: errno. */
gbx_mcp_loop *gbx_mcp_loop_new(void);

/* Posts that did not run are dropped. NULL is ignored. */
void gbx_mcp_loop_free(gbx_mcp_loop *loop);

/* For events and timers of modules; only on the loop's thread. */
struct event_base *gbx_mcp_loop_base(gbx_mcp_loop *loop);

/* From any thread: have run(arg) called on the loop's thread, in the order of the posts.
 * False if memory is out; nothing was posted then. */
bool gbx_mcp_loop_post(gbx_mcp_loop *loop, void (*run)(void *arg), void *arg);

/* Until gbx_mcp_loop_stop(); returns its status. */
int gbx_mcp_loop_run(gbx_mcp_loop *loop);
void gbx_mcp_loop_stop(gbx_mcp_loop *loop, int status);

#endif
