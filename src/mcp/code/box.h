/* SPDX-License-Identifier: MIT */
/*
 * box - the engine as the loop sees it: runs begin and end on the loop's thread, and so
 * arrives what they ask and print.
 *
 * The engine starts on a thread of its own, since that takes a while; runs that begin
 * before wait. What the engine's threads say is carried to the loop in its order.
 */
#ifndef GBX_MCP_CODE_BOX_H
#define GBX_MCP_CODE_BOX_H

#include "base/json_view.h"
#include "mcp/code/parse_thread.h"
#include "mcp/rpc/loop.h"

#include <glovebox/glovebox.h>
#include <glovebox/host.h>

typedef struct gbx_box gbx_box;
typedef struct gbx_box_run gbx_box_run;

/* All on the loop's thread; user is the run's. */
typedef struct gbx_box_hooks {
    /* args: the arguments of the function of the host, an array; to be answered by
     * gbx_box_answer(), once. Borrowed until it returns. */
    void (*request)(void *user, gbx_request request, gbx_view args);
    void (*log)(void *user, gbx_log_level level, const char *text, size_t len);
    /* Last of all, once. result is the callee's from now on, and an error in it is not
     * explained (gbx_guard_explain()); NULL: nothing ran, and error says why. */
    void (*done)(void *user, gbx_result *result, const gbx_error *error);
} gbx_box_hooks;

/* options are copied, what they point to is borrowed until the box is freed, but for
 * preloads: these are the box's. name: of the function of the host. aside is borrowed, and
 * freed before the box. */
gbx_box *gbx_box_new(gbx_mcp_loop *loop, gbx_parse_thread *aside,
                     const gbx_options *options, const char *preload_name,
                     char *preload_source, size_t preload_len, const char *function,
                     const gbx_box_hooks *hooks);

/* The loop does not run any more. Runs end without done. NULL is ignored. */
void gbx_box_free(gbx_box *box);

/* code and input are copied; patience, for the guard, is borrowed until done. NULL if
 * memory is out. */
gbx_box_run *gbx_box_start(gbx_box *box, const char *code, size_t code_len,
                           gbx_view input, const gbx_limits *limits,
                           gbx_time_budget *patience, void *user);
/* done is called all the same, never from inside. */
void gbx_box_abort(gbx_box_run *run);

/* The run as the engine's security log names it; where there is no log, "". */
#define GBX_BOX_NAME_SIZE 40
void gbx_box_name(gbx_box_run *run, char ret[GBX_BOX_NAME_SIZE]);

void gbx_box_answer(gbx_box *box, gbx_request request, const char *json, size_t len);

#endif
