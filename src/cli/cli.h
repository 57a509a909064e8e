/* SPDX-License-Identifier: MIT */
/*
 * cli - the parts that all commands of `glovebox` share.
 *
 * A command is one row: its name, its texts, its options, its function. `--help`, the
 * list of commands, the manual's tests and the shell completions all come from rows.
 *
 * Only the value of a run goes to standard output; everything about it goes to standard
 * error. Exit statuses are those of status.h and the few below, which only the command
 * has.
 */
#ifndef GBX_CLI_CLI_H
#define GBX_CLI_CLI_H

#include "base/fail.h"
#include "base/json_view.h"
#include "base/utf8.h"
#include "mcp/data/data.h"
#include "policy/policy.h"

#include <glovebox/glovebox.h>
#include <glovebox/policy.h>
#include <glovebox/preload.h>
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
 * Output to a terminal: escapes and colours.
 *
 * Text that guest code can choose never reaches a terminal unescaped. Colours are only
 * for a terminal, unless --color=always asks for them; NO_COLOR and TERM=dumb turn them
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

/* A stream, and whether it is coloured. */
typedef struct gbx_term {
    FILE *stream;
    bool has_color;
    bool is_terminal;
} gbx_term;

gbx_term gbx_term_open(FILE *stream, gbx_color color);

/* Print text in a colour. The text must be trusted. */
void gbx_term_paint(const gbx_term *term, gbx_paint paint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Print untrusted text, escaped; GBX_ESCAPE_TEXT keeps newlines and tabs. */
void gbx_term_foreign(const gbx_term *term, const char *text, size_t len,
                      gbx_escape how);

/* Print what is formatted, escaped as one line: any part may be untrusted. Only a
 * newline at the end of the format stays. */
void gbx_term_print(const gbx_term *term, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print untrusted text, each line indented by some columns, the last with a newline. */
void gbx_term_block(const gbx_term *term, const char *text, int indent);

/* Print JSON: unchanged to a file or pipe; to a terminal, characters that could steer
 * it become \uXXXX, which is the same JSON. */
void gbx_term_json(const gbx_term *term, const char *json, size_t len);

/* The same from a buffer, with a newline; only the newline if the buffer failed. */
void gbx_term_json_line(const gbx_term *term, const gbx_buf *json);

/* `glovebox: WHAT: message`, escaped; what may be NULL. Without a newline. */
void gbx_term_headline(const gbx_term *term, const char *what, const char *message);

/* ---- result_report.c ---------------------------------------------------------- */

/*
 * A command's failure, printed the same way for each source: the host (gbx_status), the
 * code (gbx_code of a result) or the command itself.
 */

typedef struct gbx_trouble {
    int exit;         /* exit status; 0: not set */
    const char *code; /* "MEMORY", as in a result; NULL for the host's failures */
    const char *name; /* "GBX_E_OS", "NO_INPUT"; with code NULL */
    const char *file; /* the position in err is in this file, or NULL; borrowed */
    const char *hint; /* constant, or NULL */
    gbx_error err;
} gbx_trouble;

/* Record a failure, whose reason is in trouble->err. True if status is GBX_OK: then
 * nothing is recorded. */

/* The host's own failure, as the library reported it. */
bool gbx_trouble_host(gbx_trouble *trouble, gbx_status status);

/* A failure to read a file. */
bool gbx_trouble_input(gbx_trouble *trouble, gbx_status status);

/* A failure to write output. */
bool gbx_trouble_output(gbx_trouble *trouble, gbx_status status);

/* The input is at fault, as if the worker had reported it. Returns false. */
bool gbx_trouble_code(gbx_trouble *trouble, gbx_code code, const char *file);

/* `glovebox: MEMORY: message` with position and hint. */
void gbx_trouble_print(const gbx_term *term, const gbx_trouble *trouble);

/* {"ok":false,...}: "code" or "status", "error", and the position. */
void gbx_trouble_print_json(const gbx_term *term, const gbx_trouble *trouble);

/* Print JSON on standard output if json, else text on standard error. Returns the
 * exit status. */
int gbx_trouble_report(const gbx_trouble *trouble, bool json, int color);

/* Print one console line of the code, `[warn] text`; user is the gbx_term. */
void gbx_log_print(void *user, const gbx_log *log);

/* Print a call's outcome: its value on `out`, the rest on `err`. */

/* Returns the exit status for the result's code. json: print all of it on `out`.
 * logs_shown: its console lines were printed before. */
int gbx_result_print(const gbx_term *out, const gbx_term *err, gbx_result *result,
                     bool json, bool logs_shown);

/* ---- opt.c --------------------------------------------------------------- */

/*
 * Command-line options as tables: parsing, help and errors come from the rows.
 *
 * `--name value` and `--name=value`, in any order with the other arguments; `--` ends
 * the options; a lone `-` is an argument. Names cannot be abbreviated: a script must
 * not change its meaning when an option is added.
 *
 * Values are borrowed from argv. If an option is given twice, the last value wins.
 */

#define GBX_OPT_LIST_MAX 64

typedef struct gbx_opt_list {
    const char *item[GBX_OPT_LIST_MAX];
    size_t count;
} gbx_opt_list;

typedef enum gbx_opt_kind {
    GBX_OPT_FLAG,   /* bool: true if given */
    GBX_OPT_TEXT,   /* const char * */
    GBX_OPT_NUMBER, /* uint32_t or uint64_t, from min to max */
    GBX_OPT_CHOICE, /* int: min + the index in choices */
    GBX_OPT_LIST,   /* gbx_opt_list: every value, in order */
} gbx_opt_kind;

typedef struct gbx_opt {
    const char *name;  /* without its dashes */
    const char *value; /* the value's name in help; NULL for a flag */
    const char *help;  /* one paragraph, lower case */
    gbx_opt_kind kind;
    size_t offset; /* of the field in the struct that the table fills */
    uint64_t min;
    uint64_t max;
    const char *const *choices; /* ends in NULL */
    size_t size;                /* of a number's field: 4 or 8 bytes */
    uint64_t unit;              /* by which a number is multiplied */
} gbx_opt;

/* One row of a table: the member of type that it fills, the name, and the rest. */
#define GBX_ROW(type, member, name, value, help, kind, least, most, choices, unit) \
    {                                                                              \
        name, value, help, kind, offsetof(type, member), least, most, choices,     \
            sizeof(((type *)NULL)->member), unit                                   \
    }
#define GBX_ROW_FLAG(type, member, name, help) \
    GBX_ROW(type, member, name, NULL, help, GBX_OPT_FLAG, 0, 0, NULL, 0)
#define GBX_ROW_TEXT(type, member, name, value, help) \
    GBX_ROW(type, member, name, value, help, GBX_OPT_TEXT, 0, 0, NULL, 0)
#define GBX_ROW_LIST(type, member, name, value, help) \
    GBX_ROW(type, member, name, value, help, GBX_OPT_LIST, 0, 0, NULL, 0)
#define GBX_ROW_NUMBER(type, member, name, value, least, most, help) \
    GBX_ROW(type, member, name, value, help, GBX_OPT_NUMBER, least, most, NULL, 1)
#define GBX_ROW_MIB(type, member, name, least, most, help)                     \
    GBX_ROW(type, member, name, "MB", help, GBX_OPT_NUMBER, least, most, NULL, \
            GBX_MIB(1))
#define GBX_ROW_CHOICE(type, member, name, value, first, choices, help) \
    GBX_ROW(type, member, name, value, help, GBX_OPT_CHOICE, first, 0, choices, 0)

/* Options under one title. A list of groups ends in a zeroed one. */
typedef struct gbx_opt_group {
    const char *title;   /* "Limits" */
    const gbx_opt *rows; /* end in a zeroed one */
    size_t offset;       /* of the struct that they fill, in the command's arguments */
} gbx_opt_group;

/*
 * Parse argv[0] to argv[argc - 1] into the struct of a command's arguments; fields of
 * options that are not given stay unchanged. Other arguments are moved to the front of
 * argv, in order, and counted in *ret_count. GBX_E_USAGE names what is wrong.
 */
gbx_status gbx_opt_parse(const gbx_opt_group *groups, void *into, int argc, char **argv,
                         int *ret_count, gbx_error *reterr);

/* Print every group with its title, one row per option, wrapped for a terminal. */
void gbx_opt_print(FILE *to, const gbx_opt_group *groups);

/* A point in time as people write it: milliseconds since 1970, or ISO 8601. */

/*
 * `1767225600000`, `-1`, `2026-01-01`, `2026-01-01T12:30Z`, with seconds, with
 * milliseconds, with an offset (+02:00). Without an offset it is UTC, the only time
 * zone that sandboxed code knows. False for any other form, and for a day that does not
 * exist.
 */
bool gbx_moment_parse(const char *text, int64_t *ret_ms);

/* ---- engine_args.c ------------------------------------------------------- */

/* The options of every command that starts an engine. */

/* Names of gbx_form, gbx_require and gbx_jit (from GBX_JIT_FULL), for options. */
extern const char *const gbx_form_names[];
extern const char *const gbx_require_names[];
extern const char *const gbx_jit_names[];

/* They fill a gbx_options; zero and NULL: the library's default. */
extern const gbx_opt gbx_limit_rows[];
extern const gbx_opt gbx_engine_rows[];

/* What code may reach, as options for every command with a policy. */

/* A row for commands that read trusted files; the member is a bool. */
#define GBX_ROW_TRUST_FILES(type, member)                                       \
    GBX_ROW_FLAG(type, member, "trust-files",                                   \
                 "accept policies, configurations and secrets from files that " \
                 "others can change or read")

typedef struct gbx_policy_args {
    const char *file;
    gbx_opt_list allow;
    gbx_opt_list secrets;
    bool trust_files;
    char at_fault[96]; /* for gbx_trouble.file: the refused option */
} gbx_policy_args;

extern const gbx_opt gbx_policy_rows[];

/*
 * The policy from the options, or NULL without any; free it with gbx_policy_free().
 * Without a file it begins with a call's default: console and timers. Its warnings go
 * to standard error. False with *trouble filled, which borrows from args.
 */
bool gbx_policy_args_make(gbx_policy_args *args, gbx_policy **ret,
                          gbx_trouble *trouble);

/* Print to standard error, without waiting for its reader. */
void gbx_policy_print_warnings(const gbx_policy *policy);

/* ---- interrupt.c --------------------------------------------------------- */

/*
 * Ctrl-C, SIGTERM and SIGHUP end the call, and then the command.
 *
 * A thread waits for the signals with sigwait, since gbx_signal_abort() must not run in
 * a signal handler. The first signal aborts: the call ends as ABORTED within
 * milliseconds, and everything is cleaned up. If that hangs, a second signal ends this
 * process; the kernel then kills the processes that it started.
 *
 * Start it once the program no longer blocks on the user (a prompt on standard input).
 */

typedef struct gbx_interrupt {
    gbx_signal *abort; /* pass it to the calls */
    pthread_t thread;
    sigset_t before; /* the mask to restore */
    bool is_running;
} gbx_interrupt;

gbx_status gbx_interrupt_start(gbx_interrupt *interrupt, gbx_error *reterr);

/* No call may still use the signal. A zeroed one is ignored. */
void gbx_interrupt_stop(gbx_interrupt *interrupt);

/* ---- security_log.c ------------------------------------------------------ */

/*
 * The file for `--security-log`.
 *
 * It is opened before the engine is made, appended to, and readable only for its owner.
 * A line is one write: several commands may share a file.
 */

/* What to do if a reader is slow. A file accepts everything. */
typedef enum gbx_log_patience {
    GBX_LOG_WAITS,       /* wait for the reader */
    GBX_LOG_DROPS_LINES, /* wait only for a moment; lines are dropped until it reads again,
                        and the first loss is reported */
} gbx_log_patience;

/* Zeroed: no log. */
typedef struct gbx_security_log {
    int fd; /* valid if is_open */
    bool is_open;
    bool goes_on;
    bool says;     /* report the first lost line on standard error */
    bool is_stuck; /* under lock: the last line was left out */
    bool is_torn;  /* under lock: the last line was written in part */
    pthread_mutex_t lock;
    char *name;
    const char *client; /* named in each line, without quotes or backslashes; or NULL */
    atomic_int error;   /* errno of the first lost line */
    bool is_reported;   /* by check or close */
    /* Gets each line, too, also if the log is not open; or NULL. */
    void (*also)(void *user, const char *line, size_t len);
    void *also_user;
} gbx_security_log;

/* path "-" is standard error. */
gbx_status gbx_security_log_open(gbx_security_log *log, const char *path,
                                 gbx_log_patience patience, gbx_error *reterr);

/* Make the engine of these options write here, if anybody gets the lines. */
void gbx_security_log_use(gbx_security_log *log, gbx_options *options);

/* Fails if a line was lost and that was not reported yet. */
gbx_status gbx_security_log_check(gbx_security_log *log, gbx_error *reterr);

/* Call after the engine is freed. Fails as gbx_security_log_check() does. */
gbx_status gbx_security_log_close(gbx_security_log *log, gbx_error *reterr);

/* ---- read_file.c --------------------------------------------------------- */

/*
 * Files that the user names, read whole and never past a bound.
 *
 * The path "-" is standard input. A UTF-8 byte order mark at the beginning is left out.
 */

typedef struct gbx_file_text {
    char *data;       /* never NULL once read; not ended by NUL */
    size_t len;       /* bytes */
    const char *name; /* for messages: the path, or "standard input"; borrowed */
    char *block;      /* what to free, or NULL */
} gbx_file_text;

/*
 * GBX_E_OS: it cannot be read. GBX_E_DATA: it is larger than max bytes; at most one
 * byte more was read. Free with gbx_file_text_cleanup().
 */
gbx_status gbx_file_text_read(const char *path, size_t max, gbx_file_text *ret,
                              gbx_error *reterr);

/* Borrow an argument as if it had been read. */
gbx_file_text gbx_file_text_borrow(char *data, const char *name);

/* Convert one JSON value per line to one array, in place. GBX_E_DATA with line and
 * column if the text is not that. */
gbx_status gbx_file_text_from_lines(gbx_file_text *text, gbx_error *reterr);

/* GBX_E_DATA with line and column if it is not exactly one JSON value in UTF-8. */
gbx_status gbx_file_text_check_json(const gbx_file_text *text, gbx_error *reterr);

/* GBX_E_DATA with line and column if it is not UTF-8. */
gbx_status gbx_file_text_check_utf8(const gbx_file_text *text, gbx_error *reterr);

void gbx_file_text_cleanup(gbx_file_text *text);

/*
 * Failures that only a command has.
 *
 * XX(name, exit status, text)
 */
#define GBX_CLI_EXIT_MAP(XX)                                 \
    XX(BELOW_GRADE, 1, "the audit's grade is below --min")   \
    XX(NO_INPUT, 66, "a file that was named cannot be read") \
    XX(NO_OUTPUT, 74, "the result or the security log could not be written")

enum {
#define XX(name, exit, text) GBX_CLI_EXIT_##name = exit,
    GBX_CLI_EXIT_MAP(XX)
#undef XX
};

typedef struct gbx_command gbx_command;
typedef struct gbx_mcp_config gbx_mcp_config;

/* Arguments of every command; the struct of each begins with them. */
typedef struct gbx_common_args {
    const gbx_command *command;
    char **words; /* arguments that are not options */
    int word_count;
    bool help;
    int color;           /* gbx_color */
    gbx_options options; /* of a command that starts an engine */
} gbx_common_args;

extern const gbx_opt gbx_common_rows[];

#define GBX_COMMON_GROUP            \
    {                               \
        "Other", gbx_common_rows, 0 \
    }

struct gbx_command {
    const char *name;
    const char *summary;         /* one line, for the list */
    const char *usage;           /* after "glovebox ", may hold several lines */
    const char *description;     /* paragraphs */
    const char *examples;        /* lines, or NULL */
    const gbx_opt_group *groups; /* the last one is GBX_COMMON_GROUP */
    size_t args_size;            /* of the struct that they fill */
    int words_min;               /* arguments that are not options */
    int words_max;
    const char *words_wrong; /* the message for any other number, or NULL */
    /* Subcommands, or NULL; ends in NULL. Their names have both words. */
    const gbx_command *const *subcommands;
    /* Returns the exit status. */
    int (*run)(void *args);
};

extern const gbx_command gbx_command_run;
extern const gbx_command gbx_command_replay;
extern const gbx_command gbx_command_check;
extern const gbx_command gbx_command_audit;
extern const gbx_command gbx_command_doctor;
extern const gbx_command gbx_command_mcp;
extern const gbx_command gbx_command_bench;
extern const gbx_command gbx_command_runner;
extern const gbx_command gbx_command_runners;

/* `doctor --nats`: the runners, and a call there beside one here. Returns the exit status. */
int gbx_doctor_nats(const char *url, gbx_options *options, gbx_color color);

/* Print `glovebox: message` and where help is, or with as_json the failure as JSON;
 * returns the exit status for wrong usage. command may be NULL. */
int gbx_command_misuse(const gbx_command *command, bool as_json, const char *message);

/* The exit status for a failure of the host. */
int gbx_status_exit(gbx_status status);

/* Call before secrets are read: from then on this process dumps no core, and the user's
 * other processes cannot read its memory. Programs that it starts are unaffected,
 * except for the soft limit on cores. */
void gbx_cli_hide_memory(void);

/* ---- mcp_*.c ------------------------------------------------------------- */

/* The subcommands of `glovebox mcp`, and what they share. */

extern const gbx_command gbx_command_mcp_allow;
extern const gbx_command gbx_command_mcp_login;
extern const gbx_command gbx_command_mcp_logout;
extern const gbx_command gbx_command_mcp_deny;
extern const gbx_command gbx_command_mcp_import;
extern const gbx_command gbx_command_mcp_doctor;

/* The absolute path of a configuration; NULL: of the default one. The file need not exist.
 * GBX_E_USAGE: there is no home directory; GBX_E_OS: no file can be there. */
gbx_status gbx_mcp_config_path(const char *path, char out[PATH_MAX], gbx_error *reterr);

/* Load the configuration `given`, or the default one, in which that server must be. Free *ret
 * in any case. */
gbx_status gbx_mcp_find_server(const char *given, gbx_trust trust, const char *name,
                               char path[PATH_MAX], gbx_mcp_config **ret,
                               gbx_trouble *trouble);

/* ---- run_input.c --------------------------------------------------------- */

/*
 * All input of `glovebox run`, read before any process is started.
 *
 * A bad file costs no worker. JSON is not checked here: the worker parses it anyway,
 * and a good input should be parsed only once.
 */

typedef struct gbx_run_args {
    gbx_common_args common;
    const char *file;
    const char *data;
    gbx_opt_list datasets;
    gbx_opt_list preloads;
    int form; /* gbx_form */
    const char *params;
    const char *seed;
    const char *now;
    bool json;
    bool logs;
    const char *security_log;
    const char *record;
    bool record_input;
    gbx_policy_args policy;
} gbx_run_args;

/* Borrows from the arguments. */
typedef struct gbx_run_input {
    gbx_file_text code;
    gbx_file_text data; /* data.data is NULL without input */
    gbx_spec data_spec;
    const char *dataset;                      /* the one that is the input, or NULL */
    gbx_file_text datasets[GBX_OPT_LIST_MAX]; /* empty: a database */
    gbx_spec specs[GBX_OPT_LIST_MAX];         /* of the datasets, without names */
    gbx_file_text preloads[GBX_OPT_LIST_MAX];
    gbx_buf bindings; /* a JSON object, or empty */
} gbx_run_input;

/* The code is the first word, unless args->file has it. False with *trouble filled. */
bool gbx_run_input_read(const gbx_run_args *args, gbx_run_input *input,
                        gbx_trouble *trouble);

/* The same without code and parameters. */
bool gbx_run_input_read_data(const gbx_run_args *args, gbx_run_input *input,
                             gbx_trouble *trouble);

/* Load the datasets that were read and free each. False with *trouble filled. */
bool gbx_run_input_load(const gbx_run_args *args, gbx_run_input *input,
                        gbx_engine *engine, gbx_trouble *trouble);

/* Read the files of --preload; GBX_OPT_LIST_MAX texts. False with *trouble filled. */
bool gbx_preloads_read(const gbx_opt_list *list, gbx_file_text *texts,
                       gbx_trouble *trouble);
/* Make the preloads, named by their paths or the ends of long ones; returns their
 * number. Borrows from list and texts. */
size_t gbx_preloads_of(const gbx_opt_list *list, const gbx_file_text *texts,
                       gbx_preload ret[GBX_OPT_LIST_MAX]);
void gbx_preloads_cleanup(gbx_file_text *texts);

void gbx_run_input_cleanup(gbx_run_input *input);

#endif
