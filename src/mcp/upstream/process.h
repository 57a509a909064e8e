/* SPDX-License-Identifier: MIT */
/*
 * process - one running server: lines to it, lines from it, and its end.
 *
 * The owner gives it up with leave(); the process is then asked politely to end, and
 * freed when nothing of it is left. The yard knows all running processes, also those
 * without an owner, and can end them all at once.
 *
 * The whole program must ignore SIGPIPE. Loop's thread only.
 */
#ifndef GBX_MCP_UPSTREAM_PROCESS_H
#define GBX_MCP_UPSTREAM_PROCESS_H

#include "mcp/rpc/rpc.h"
#include "mcp/upstream/internal.h"
#include "mcp/upstream/keeper/keeper.h"
#include "policy/policy.h"

#include <stdint.h>

typedef struct gbx_process gbx_process;

typedef struct gbx_yard {
    gbx_process *first;
    struct gbx_http_client *web; /* what links over HTTP share; NULL: none was used */
    rlim_t descriptors;          /* see gbx_server_command */
    const gbx_policy *secrets;   /* removed from last words; borrowed, or NULL */
} gbx_yard;

typedef struct gbx_process_hooks {
    void *user;
    /* The line is borrowed until the hook returns. */
    void (*line)(void *user, const char *line, size_t len);
    /* A line longer than line_max: its beginning and its end, not terminated. */
    void (*long_line)(void *user, const char *head, size_t head_len, const char *tail,
                      size_t tail_len);
    void (*error_line)(void *user, const char *line); /* of stderr; hostile; escaped */
    /* It has closed its input: only this many of all sent bytes have reached it. Its
     * output is still read; it may be about to end. */
    void (*deaf)(void *user, uint64_t written);
    /* It has ended or will: no further line comes. why is borrowed; is_lasting: a new
     * one would end in the same way. Not called after leave. */
    void (*ended)(void *user, const char *why, bool is_lasting);
} gbx_process_hooks;

typedef struct gbx_process_options {
    gbx_mcp_loop *loop;
    gbx_yard *yard;
    gbx_server_command command; /* borrowed until start returns */
    size_t line_max;
    size_t waiting_max;   /* bytes that the server has not read */
    uint32_t patience_ms; /* when ending it: before each harder step */
    gbx_process_hooks hooks;
} gbx_process_options;

gbx_status gbx_process_start(const gbx_process_options *options, gbx_process **ret,
                             gbx_error *reterr) GBX_MUST_USE;

/* Send one message with its newline. False: it reads too slowly, or not any more. */
bool gbx_process_send(gbx_process *process, const void *data, size_t len);

/* Give it up: no hook is called any more, and the pointer is invalid. The process gets
 * the end of its input, later SIGTERM, later SIGKILL; is_hopeless: SIGKILL at once. */
void gbx_process_leave(gbx_process *process, bool is_hopeless);

/* As gbx_exit_status_add_words(), for a process that still runs. */
void gbx_process_add_words(const gbx_process *process, char *text, size_t size);

gbx_containment gbx_process_containment(gbx_process *process);
pid_t gbx_process_keeper(const gbx_process *process);

/* End all processes, owned or not, and wait until nothing is left: patience_ms for
 * each step, for all at once. Hooks are not called. Blocks; only for the shutdown of
 * the program. */
void gbx_yard_clear(gbx_yard *yard, uint32_t patience_ms);

#endif
