/* SPDX-License-Identifier: MIT */
/*
 * process - one running server: lines to it, lines from it, and its end.
 *
 * Whoever owns it lets go of it with leave(); the process then ends by itself, asked
 * politely first, and is freed when nothing of it is left. The yard knows all that still
 * run, whoever has let go of them, and can end them all at once.
 *
 * SIGPIPE must be ignored by the process. Loop's thread only.
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
    struct gbx_http_client *web; /* what links over HTTP share; NULL: there was none */
    rlim_t descriptors;          /* see gbx_server_command */
    const gbx_policy *secrets;   /* in no last words; borrowed, or NULL */
} gbx_yard;

typedef struct gbx_process_hooks {
    void *user;
    /* Borrowed until it returns. */
    void (*line)(void *user, const char *line, size_t len);
    /* A line longer than line_max came: how it begins and how it ended, not terminated. */
    void (*long_line)(void *user, const char *head, size_t head_len, const char *tail,
                      size_t tail_len);
    void (*error_line)(void *user, const char *line); /* of stderr; hostile; escaped */
    /* It has closed its input. Of all the bytes that were sent, no more than these have
     * reached it; what it still says is read, and it may be about to end. */
    void (*deaf)(void *user, uint64_t written);
    /* It has ended, or will: nothing comes any more. why is borrowed; is_lasting: another
     * would end in the same way. Not after leave. */
    void (*ended)(void *user, const char *why, bool is_lasting);
} gbx_process_hooks;

typedef struct gbx_process_options {
    gbx_mcp_loop *loop;
    gbx_yard *yard;
    gbx_server_command command; /* borrowed until start returns */
    size_t line_max;
    size_t waiting_max;   /* bytes that the server has not read */
    uint32_t patience_ms; /* at its end: before each harder step */
    gbx_process_hooks hooks;
} gbx_process_options;

gbx_status gbx_process_start(const gbx_process_options *options, gbx_process **ret,
                             gbx_error *reterr) GBX_MUST_USE;

/* One message with its newline. False: it reads too slowly, or not any more. */
bool gbx_process_send(gbx_process *process, const void *data, size_t len);

/* No hook is called any more, and the pointer is no longer yours. The process gets the
 * end of its input, later SIGTERM, later SIGKILL; is_hopeless: at once. */
void gbx_process_leave(gbx_process *process, bool is_hopeless);

/* As gbx_exit_status_add_words(), of one that has not ended. */
void gbx_process_add_words(const gbx_process *process, char *text, size_t size);

gbx_containment gbx_process_containment(gbx_process *process);
pid_t gbx_process_keeper(const gbx_process *process);

/* End all, owned or not, and wait until nothing is left: patience_ms for each step, all
 * at once. Hooks are not called. Blocks; for the end of everything. */
void gbx_yard_clear(gbx_yard *yard, uint32_t patience_ms);

#endif
