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

#include "base/fail.h"
#include "base/json_view.h"
#include "base/utf8.h"
#include "cli/attack_matrix.h"
#include "cli/opt.h"
#include "mcp/code/code.h"
#include "mcp/config/config.h"

#include <glovebox/glovebox.h>
#include <glovebox/policy.h>
#include <glovebox/record.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- term.c -------------------------------------------------------------- */

/*
 * What may reach a terminal, and in which colour.
 *
 * Text that guest code can choose never reaches a terminal unescaped. Colours are only
 * for a terminal, unless asked for by --color=always; NO_COLOR and TERM=dumb turn them
 * off.
 */

typedef enum gbx_color {
    GBX_COLOR_AUTO = 0,
    GBX_COLOR_ALWAYS = 1,
    GBX_COLOR_NEVER = 2,
} gbx_color;

typedef enum gbx_paint {
    GBX_PAINT_NONE,
    GBX_PAINT_BOLD,
    GBX_PAINT_DIM,
    GBX_PAINT_RED,
    GBX_PAINT_GREEN,
    GBX_PAINT_YELLOW,
    GBX_PAINT_CYAN,
} gbx_paint;

/* A stream and whether it is painted. */
typedef struct gbx_term {
    FILE *stream;
    bool has_color;
    bool is_terminal;
} gbx_term;

gbx_term gbx_term_open(FILE *stream, gbx_color color);

/* Print text between the codes of a colour. The text must be ours. */
void gbx_term_paint(const gbx_term *term, gbx_paint paint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Print text of anybody's, escaped; GBX_ESCAPE_TEXT keeps newlines and tabs. */
void gbx_term_foreign(const gbx_term *term, const char *text, size_t len,
                      gbx_escape how);

/* The same, each line indented by some columns, the last with a newline. */
void gbx_term_block(const gbx_term *term, const char *text, int indent);

/* Print JSON: as it is to a file or pipe; to a terminal with the characters that could
 * steer it as \uXXXX, which is the same JSON. */
void gbx_term_json(const gbx_term *term, const char *json, size_t len);

/* `glovebox: WHAT: message`, escaped; what may be NULL. Without a newline. */
void gbx_term_headline(const gbx_term *term, const char *what, const char *message);

/* ---- doctor.c ------------------------------------------------------------ */

/* The engine's report as a table that people can read. */

/* What the layers come to. */
typedef struct gbx_doctor_count {
    unsigned total;
    unsigned standing;
    unsigned required_missing;
} gbx_doctor_count;

gbx_doctor_count gbx_doctor_count_layers(gbx_view report);

/* Every member of the report: versions first, then the layers, then the rest. */
void gbx_doctor_print(const gbx_term *out, gbx_view report);

/* ---- doctor_attack.c ----------------------------------------------------- */

/* The attack matrix, for people and for programs. */

/* Attack by layer; then what the signs mean, and the sum. */
void gbx_matrix_print(const gbx_term *out, const gbx_matrix *matrix);

void gbx_matrix_print_json(const gbx_term *out, const gbx_matrix *matrix);

/* ---- engine_args.c ------------------------------------------------------- */

/* The options of every command that starts an engine. */

/* Zero and NULL: the library's default. */
typedef struct gbx_limit_args {
    uint64_t timeout_ms;
    uint64_t cpu_ms;
    uint64_t memory_mib;
    uint64_t output_bytes;
} gbx_limit_args;

typedef struct gbx_engine_args {
    int require;        /* gbx_require */
    int jit;            /* gbx_jit */
    int globals;        /* gbx_globals */
    const char *runner; /* its name */
    uint64_t total_memory_mib;
    uint64_t total_cpu_percent;
    uint64_t worker_uid;
    int speculation; /* gbx_speculation */
} gbx_engine_args;

extern const gbx_opt_table gbx_limit_table;
extern const gbx_opt_table gbx_engine_table;

/* limits may be NULL. */
gbx_options gbx_engine_args_options(const gbx_engine_args *engine,
                                    const gbx_limit_args *limits);

/* ---- failure.c ----------------------------------------------------------- */

/*
 * What a command failed at, printed the same way whoever noticed it: the host
 * (gbx_status), the code (gbx_code of a result) or the command itself.
 */

typedef struct gbx_trouble {
    int exit; /* status to exit with; 0: there is none */
    const char
        *code; /* "MEMORY": as if a result had it; NULL for the host's failures */
    const char *name; /* "GBX_E_OS", "NO_INPUT"; with code NULL */
    const char *file; /* the position in err is in this file, or NULL; borrowed */
    const char *hint; /* constant, or NULL */
    gbx_error err;
} gbx_trouble;

/* The host's own failure, as the library reported it in trouble->err. */
void gbx_trouble_host(gbx_trouble *trouble, gbx_status status);

/* A file could not be read, as trouble->err says. */
void gbx_trouble_input(gbx_trouble *trouble, gbx_status status);

/* Something cannot be written, as trouble->err says. */
void gbx_trouble_output(gbx_trouble *trouble);

/* The input is at fault as if the worker had said so: trouble->err says why. */
void gbx_trouble_code(gbx_trouble *trouble, gbx_code code, const char *file);

/* `glovebox: MEMORY: message` with position and hint. */
void gbx_trouble_print(const gbx_term *term, const gbx_trouble *trouble);

/* {"ok":false,...}: "code" or "status", "error", and where. */
void gbx_trouble_print_json(const gbx_term *term, const gbx_trouble *trouble);

/* A result that is not a value: headline, position, frame, hint. */
void gbx_result_print_failure(const gbx_term *term, const gbx_result *result);

/* One console line of the code: `[warn] text`. */
void gbx_log_print(const gbx_term *term, const gbx_log *log);

/* ---- interrupt.c --------------------------------------------------------- */

/*
 * Ctrl-C, SIGTERM and SIGHUP end the call, and then the command.
 *
 * A thread waits for the signals with sigwait, since gbx_signal_abort() must not run in
 * a signal handler. The first one throws the switch: the call ends as ABORTED within
 * milliseconds and everything is cleaned up on the way out. A second one, should that
 * hang, ends this process; the kernel then kills what it had started.
 *
 * Start it once nothing blocks on the user any more (a prompt on standard input).
 */

typedef struct gbx_interrupt {
    gbx_signal *abort; /* give it to the calls */
    pthread_t thread;
    sigset_t before; /* the mask to restore */
    bool is_running;
} gbx_interrupt;

gbx_status gbx_interrupt_start(gbx_interrupt *interrupt, gbx_error *reterr);

/* No call may have the switch any more. A zeroed one is ignored. */
void gbx_interrupt_stop(gbx_interrupt *interrupt);

/* ---- mcp_doctor_rules.c -------------------------------------------------- */

/*
 * Patterns of tools, in rules, that fit no tool.
 *
 * A denial that is misspelt denies nothing, and only the servers can tell. What a rule
 * says of a server whose tools are not known is not judged.
 */

/* Calls on_one for each, with the number of its rule from 1 on. tools: of each server of
 * the configuration, or no value where they are not known. */
void gbx_mcp_idle_patterns(const gbx_mcp_config *config, const gbx_view *tools,
                           void (*on_one)(void *user, size_t rule, const char *pattern),
                           void *user);

/* ---- security_log.c ------------------------------------------------------ */

/*
 * Where `--security-log` puts the engine's lines.
 *
 * A file is opened before the engine is made, appended to, and made readable for its
 * owner alone. A line is one write: several commands may share a file.
 */

/* A reader who takes nothing: what then? A file takes everything. */
typedef enum gbx_log_patience {
    GBX_LOG_WAITS,   /* he is waited for */
    GBX_LOG_GOES_ON, /* for a moment only; lines are left out until he reads again, and
                        that is said at the first */
} gbx_log_patience;

/* Zeroed: there is none. */
typedef struct gbx_security_log {
    int fd; /* with is_open */
    bool is_open;
    bool goes_on;
    bool says;     /* the first line that is not written, on standard error */
    bool is_stuck; /* with the lock: the last line was left out */
    bool is_torn;  /* with the lock: the last line was written in part */
    pthread_mutex_t lock;
    char *name;
    atomic_int error; /* errno of the first line that was not written */
} gbx_security_log;

/* path "-" is standard error. */
gbx_status gbx_security_log_open(gbx_security_log *log, const char *path,
                                 gbx_log_patience patience, gbx_error *reterr);

/* Have the engine that is made of options write here. */
void gbx_security_log_use(gbx_security_log *log, gbx_options *options);

/* After the engine is freed. Not GBX_OK if a line was not written. */
gbx_status gbx_security_log_close(gbx_security_log *log, gbx_error *reterr);

/* ---- mcp_servers.c ------------------------------------------------------- */

/*
 * Code mode of `glovebox mcp`: the configuration, the servers in it, the
 * gate before them, and the tools over them.
 */

/* Zeroed: there are none. */
typedef struct gbx_mcp_servers {
    gbx_mcp_config *config;
    gbx_upstreams *upstreams;
    gbx_gate *gate;
    gbx_mcp_code *code;
} gbx_mcp_servers;

/* Reads the file with mcpServers. It may be a FIFO, which is waited for: signals must still
 * do what they do in a fresh process. What was begun is undone by gbx_mcp_servers_close(). */
gbx_status gbx_mcp_servers_read(gbx_mcp_servers *servers, const char *path,
                                gbx_trust trust, gbx_error *reterr);

/* What has been read comes to life. The log that it names is opened if there is none yet,
 * and written by all that is made of options then; both are the caller's. */
gbx_status gbx_mcp_servers_open(gbx_mcp_servers *servers, gbx_mcp_loop *loop,
                                gbx_mcp_server *server, gbx_security_log *log,
                                gbx_options *options, gbx_error *reterr);

/* After the loop has ended, before the server is freed and the log is closed. */
void gbx_mcp_servers_close(gbx_mcp_servers *servers);

/* ---- moment.c ------------------------------------------------------------ */

/* A point in time as people write it: milliseconds since 1970, or ISO 8601. */

/*
 * `1767225600000`, `-1`, `2026-01-01`, `2026-01-01T12:30Z`, with seconds, with
 * milliseconds, with an offset (+02:00). Without an offset it is UTC: the only time zone
 * that code in the box knows. False if it is none of them or names no real day.
 */
bool gbx_moment_parse(const char *text, int64_t *ret_ms);

/* ---- policy_args.c ------------------------------------------------------- */

/* What code may reach, as options of every command that has a policy. */

/* A row of every command that reads files that decide; the member is a bool. */
#define GBX_OPT_TRUST_FILES(type, member)                                                \
    {                                                                                    \
        "trust-files", NULL,                                                             \
            "take policies, configurations and secrets also from files that others can " \
            "change or read",                                                            \
            GBX_OPT_FLAG, offsetof(type, member), 0, 0, NULL                             \
    }

typedef struct gbx_policy_args {
    const char *file;
    gbx_opt_list allow;
    gbx_opt_list secrets;
    bool trust_files;
    char at_fault[96]; /* for gbx_trouble.file: the option that was refused */
} gbx_policy_args;

extern const gbx_opt_table gbx_policy_table;

/*
 * The policy that the options make, or NULL where none is given; free it with
 * gbx_policy_free(). Without a file it begins with what a call has by default: console
 * and timers. Its warnings go to standard error. False with *trouble filled, which
 * borrows from args.
 */
bool gbx_policy_args_make(gbx_policy_args *args, gbx_policy **ret,
                          gbx_trouble *trouble);

/* To standard error, unless nobody reads there. */
void gbx_policy_print_warnings(const gbx_policy *policy);

/* ---- print_result.c ------------------------------------------------------ */

/* What a call ended with: its value on `out`, all else on `err`. */

/* The exit status that belongs to the result's code. json: the whole of it on `out`.
 * logs_shown: its console lines were printed before. */
int gbx_result_print(const gbx_term *out, const gbx_term *err, gbx_result *result,
                     bool json, bool logs_shown);

/* ---- read_file.c --------------------------------------------------------- */

/*
 * Files that the user names, read whole and never past a bound.
 *
 * A path of "-" is standard input. A UTF-8 byte order mark at the beginning is left out.
 */

typedef struct gbx_file_text {
    char *data;       /* never NULL once read; not ended by NUL */
    size_t len;       /* bytes */
    const char *name; /* for messages: the path, or "standard input"; borrowed */
    char *block;      /* what to free, or NULL */
} gbx_file_text;

/*
 * GBX_E_OS: it cannot be read. GBX_E_DATA: it is larger than max bytes; that much was
 * read at most. Free with gbx_file_text_cleanup().
 */
gbx_status gbx_file_text_read(const char *path, size_t max, gbx_file_text *ret,
                              gbx_error *reterr);

/* Borrow an argument as if it had been read. */
gbx_file_text gbx_file_text_borrow(char *data, const char *name);

/* One JSON value a line becomes one array, in place of what was read. GBX_E_DATA with
 * line and column if it is not that. */
gbx_status gbx_file_text_from_lines(gbx_file_text *text, gbx_error *reterr);

/* GBX_E_DATA with line and column if it is not exactly one JSON value in UTF-8. */
gbx_status gbx_file_text_check_json(const gbx_file_text *text, gbx_error *reterr);

/* GBX_E_DATA with line and column if it is not UTF-8. */
gbx_status gbx_file_text_check_utf8(const gbx_file_text *text, gbx_error *reterr);

/* True if the name ends so: .ndjson and .jsonl hold one value a line. */
bool gbx_file_text_has_lines(const char *path);

void gbx_file_text_cleanup(gbx_file_text *text);

/* ---- record_file.c ------------------------------------------------------- */

/*
 * The file of --record: opened before anything runs, so that a call is not
 * made whose recording cannot be kept, and never one that is there already.
 */

/* Zeroed: there is none. */
typedef struct gbx_record_file {
    gbx_recording *recording;
    const char *path; /* borrowed */
    int fd;
} gbx_record_file;

/* Only the owner may read it, and it is new: a link is no way around that. */
gbx_status gbx_record_file_open(gbx_record_file *file, const char *path,
                                bool keeps_input, gbx_error *reterr);

/* Write the recording and free it; if its call never ran, the file goes again. What is
 * not whole is said to be so. */
gbx_status gbx_record_file_close(gbx_record_file *file, gbx_error *reterr);

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

/* ---- mcp_commands -------------------------------------------------------- */

/* The commands below `glovebox mcp`, and what they share. */

extern const gbx_command gbx_command_mcp_allow;
extern const gbx_command gbx_command_mcp_deny;
extern const gbx_command gbx_command_mcp_import;
extern const gbx_command gbx_command_mcp_doctor;

/* Our configuration where none is named; GBX_E_USAGE: there is no home to have it in. */
gbx_status gbx_mcp_own_config(char path[PATH_MAX], gbx_error *reterr);

/* The path of a configuration as it is from any folder; the file need not be there.
 * GBX_E_OS: no file can be. */
gbx_status gbx_mcp_whole_path(const char *path, char out[PATH_MAX], gbx_error *reterr);

#endif
