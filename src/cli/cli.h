/* SPDX-License-Identifier: MIT */
/*
 * cli - what every command of `glovebox` is made of.
 *
 * A command is one row: its name, its texts, its options, its function. `--help`, the
 * list of commands, the manual's tests and the shell completions all come from rows.
 *
 * The value of a run goes to standard output and nothing else does; everything that is
 * said about it goes to standard error. Exit statuses are those of status.h and the few
 * below, which are the command's own.
 */
#ifndef GBX_CLI_CLI_H
#define GBX_CLI_CLI_H

#include "cli/opt.h"

/*
 * What only a command can fail at.
 *
 * XX(name, exit status, text)
 */
#define GBX_CLI_EXIT_MAP(XX)                                 \
    XX(NO_INPUT, 66, "a file that was named cannot be read") \
    XX(NO_OUTPUT, 74, "the result or the security log could not be written")

enum {
#define XX(name, exit, text) GBX_CLI_EXIT_##name = exit,
    GBX_CLI_EXIT_MAP(XX)
#undef XX
};

/* What every command takes; its table is the last of each command. */
typedef struct gbx_common_args {
    bool help;
    int color; /* gbx_color */
} gbx_common_args;

extern const gbx_opt_table gbx_common_table;

typedef struct gbx_command gbx_command;
struct gbx_command {
    const char *name;
    const char *summary;     /* one line, for the list */
    const char *usage;       /* after "glovebox ", may hold several lines */
    const char *description; /* paragraphs */
    const char *examples;    /* lines, or NULL */
    const gbx_opt_table *const *tables;
    size_t table_count;
    /* By a second word, or NULL; ends in NULL. Their names have both words. */
    const gbx_command *const *subcommands;
    int (*run)(const gbx_command *self, int argc, char **argv);
};

extern const gbx_command gbx_command_run;
extern const gbx_command gbx_command_replay;
extern const gbx_command gbx_command_check;
extern const gbx_command gbx_command_doctor;
extern const gbx_command gbx_command_mcp;
extern const gbx_command gbx_command_bench;
extern const gbx_command gbx_command_help;
extern const gbx_command gbx_command_version;

/* All of them, in the order in which help lists them; ends in NULL. */
extern const gbx_command *const gbx_commands[];

/* By name, or NULL; then *ret_nearest is what may have been meant, or NULL. */
const gbx_command *gbx_command_find(const char *name, const char **ret_nearest);

/* The sub-command of that second word, or NULL; word may be NULL. */
const gbx_command *gbx_command_sub(const gbx_command *command, const char *word);

void gbx_command_print_help(FILE *to, const gbx_command *command);
void gbx_cli_print_help(FILE *to);

/*
 * Parse the arguments of a command; into[] as for gbx_opt_parse(), its last being a
 * gbx_common_args. Returns -1 to go on, else the status to exit with: help was printed,
 * or an error was.
 */
int gbx_command_parse(const gbx_command *command, void *const *into, int argc,
                      char **argv, int *ret_count);

/* Print `glovebox: message` and where help is, or for who asked for JSON what that is of a
 * failure; returns the exit status of wrong use. */
int gbx_command_misuse(const gbx_command *command, bool as_json, const char *message);

/* The exit status that belongs to a failure of the host. */
int gbx_status_exit(gbx_status status);

/* Before secrets are read: from here on no core is written of this process, and no other
 * process of the user's may read its memory. What it starts is as before, but for the soft
 * limit on cores. */
void gbx_cli_hide_memory(void);

/* Flush standard output; returns status, or NO_OUTPUT if something was not written. */
int gbx_cli_finish(int status);

#endif
