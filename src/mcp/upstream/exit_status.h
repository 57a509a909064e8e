/* SPDX-License-Identifier: MIT */
/* exit_status - the steps by which a server is ended, and the words for how it has. */
#ifndef GBX_MCP_UPSTREAM_EXIT_STATUS_H
#define GBX_MCP_UPSTREAM_EXIT_STATUS_H

#include "mcp/upstream/keeper/keeper.h"
#include "mcp/upstream/stderr_tail.h"

#define GBX_ENDING_TEXT_MAX 1024

typedef enum gbx_stop_step {
    GBX_STOP_NOT,
    GBX_STOP_INPUT,     /* the end of its input */
    GBX_STOP_TERMINATE, /* SIGTERM */
    GBX_STOP_KILL,      /* SIGKILL, by the keeper */
    GBX_STOP_KEEPER,    /* SIGKILL for the keeper itself */
} gbx_stop_step;

/* What is known of how a server came and went. */
typedef struct gbx_exit_status {
    gbx_containment containment;
    char command[256];   /* as far as it fits, and so the directory */
    char directory[256]; /* or "" */
    int no_directory;    /* errno, or 0 */
    int no_command;
    bool has_status;
    int status; /* as of waitpid() */
    bool output_closed;
    bool was_stopped; /* by us, who had no more use for it: the status says no more */
} gbx_exit_status;

gbx_stop_step gbx_stop_harder(gbx_stop_step step);

/* Would it end so each time? Its command or its directory is not there, or not for us. */
bool gbx_exit_status_is_lasting(const gbx_exit_status *ending);

/* Of whom it tells; directory may be NULL. */
void gbx_exit_status_name(gbx_exit_status *ending, const char *command,
                          const char *directory);
void gbx_exit_status_note(gbx_exit_status *ending, const gbx_keeper_report *report);

/* Append "; its last words: ..." to the text, if there are any. */
void gbx_exit_status_add_words(const gbx_stderr_tail *errors, const gbx_policy *secrets,
                               char *text, size_t size);

/* "it ended with status 1; its last words: ...": escaped, without values of secrets (NULL:
 * there are none), at most size - 1 bytes. */
void gbx_exit_status_print(const gbx_exit_status *ending, const gbx_stderr_tail *errors,
                           const gbx_policy *secrets, char *text, size_t size);

#endif
