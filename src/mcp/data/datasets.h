/* SPDX-License-Identifier: MIT */
/*
 * datasets - what the files behind data.h share: datasets, the threads that load them, and
 * the calls of `compute`.
 *
 * Everything is the loop's but struct gbx_data_loader: its threads read files and talk to the
 * engine, and post what came of it.
 */
#ifndef GBX_MCP_DATA_DATASETS_H
#define GBX_MCP_DATA_DATASETS_H

#include "base/backoff.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/sha256.h"
#include "mcp/code/artifacts.h"
#include "mcp/code/code.h"
#include "mcp/code/parse_thread.h"
#include "mcp/data/data.h"
#include "mcp/data/dataset_description.h"
#include "mcp/data/schema.h"
#include "mcp/data/source.h"

#include <glovebox/glovebox.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* ---- csv.c --------------------------------------------------------------- */

/*
 * Text of cells, one at a time, with the place of each.
 *
 * RFC 4180, and what is written beside it: any single delimiter, lines that end in LF,
 * CRLF or CR, blanks around a cell (they do not count), empty lines (they are skipped),
 * no line break at the end. Nothing is copied: a cell points into the text. What cannot
 * be one reading alone is refused, at its byte: a quote inside a cell that did not begin
 * with one, text after a closing quote, a quote that is never closed.
 */

typedef struct gbx_csv {
    const char *text;
    size_t len;
    size_t at;
    char delimiter;
    const char *message; /* why it was refused, at the byte `at`; NULL: it was not */
    bool is_open;        /* and more text could mend that: a quote is not closed */
} gbx_csv;

typedef struct gbx_csv_cell {
    const char *at; /* without the quotes around it */
    size_t len;
    bool is_quoted;
    bool has_quotes; /* doubled ones inside */
    bool is_last;    /* of its record */
} gbx_csv_cell;

void gbx_csv_init(gbx_csv *csv, const char *text, size_t len, char delimiter);

/* Past empty lines. False if no record is left. */
bool gbx_csv_more(gbx_csv *csv);

/* The next cell of the record. False if it was refused. */
bool gbx_csv_cell_next(gbx_csv *csv, gbx_csv_cell *ret);

/* The delimiter that splits the first records most evenly; of two that do so alike none is
 * ',', which is what it is if none does. A first line "sep=;", as spreadsheets write it,
 * decides, and *ret_start is then behind it. */
char gbx_csv_guess(const char *text, size_t len, size_t *ret_start);

/* How long is it without a last record that may go on? It has no line end behind it, and no
 * more cells than the first. delimiter: 0 to find it out. */
size_t gbx_csv_finished(const char *text, size_t len, char delimiter);

/* Append the cell's characters. */
bool gbx_csv_append(const gbx_csv_cell *cell, gbx_buf *to);

/* ---- csv_cell.c ---------------------------------------------------------- */

/*
 * What the text of a cell may be meant as.
 *
 * The rule is: a value is a number only if the text is what a number would be written
 * as, so that nothing is lost by it. Leading zeros, a plus sign, digits that a double does
 * not keep, dates: all of that is text.
 */

typedef enum gbx_cell_kind {
    GBX_CELL_EMPTY = 1,
    GBX_CELL_INTEGER = 2, /* at most 15 digits */
    GBX_CELL_DECIMAL =
        4, /* read and written again it is the same, but for a zero before
                             its point */
    GBX_CELL_BOOLEAN = 8, /* true or false, in any case */
    GBX_CELL_TEXT = 16,
    GBX_CELL_POWER = 32,     /* 12e4: such a decimal, or the name of something */
    GBX_CELL_THOUSANDS = 64, /* 1.234: such a decimal, or a whole number in groups */
} gbx_cell_kind;

gbx_cell_kind gbx_cell_kind_of(const char *text, size_t len);

/* A number of one of these kinds, as JSON has it. */
bool gbx_cell_append_number(const char *text, size_t len, gbx_buf *to);

/* Are the cells of a column numbers, which has cells of these kinds? Those that may be
 * names are if others of it are decimals for sure; those that may be in groups are not. */
bool gbx_cell_are_numbers(unsigned kinds);

/* ---- describe_text.c ----------------------------------------------------- */

/*
 * Pieces of descriptions that come from the data, and which of its values
 * may stand in one: none, unless whoever's data it is says so.
 */

/* Where in a dataset something is. Elements of arrays, and members of maps, are where these
 * are: only names of fields are steps. */
typedef struct gbx_place {
    bool is_shown;
    size_t count;
    const char *paths[GBX_SHOWN_MAX]; /* what is to be shown below; borrowed */
} gbx_place;

gbx_place gbx_place_of(const gbx_shown *shown, const char *dataset);
gbx_place gbx_place_below(const gbx_place *place, gbx_view name);

/* The first path that leads to no field; NULL: all do. */
const char *gbx_place_lost(const gbx_place *place, const gbx_schema *shape);

/* Append a JSON string, cut to about max characters with "…", its characters escaped so
 * that they steer no terminal. Unless it is shown, letters are x or X and digits 0. */
bool gbx_describe_string(gbx_view string, size_t max, bool is_shown, gbx_buf *to);

/* A field's name: as an identifier if it is one, else as a string; cut. A key's pattern. */
bool gbx_describe_name(gbx_view name, gbx_buf *to);

/* Is a member's name data itself? It has an '@', or more digits than a date has without its
 * day; what has many members is a map whatever their names are. */
bool gbx_describe_is_key(gbx_view name);

/* A number's digits as nines. */
bool gbx_describe_number_pattern(gbx_view number, gbx_buf *to);

/* ---- libsqlite3.c -------------------------------------------------------- */

/*
 * The database, loaded when a dataset is one: whoever has none does not pay
 * for it at the start.
 */

/* Every function of it that is used. */
#define GBX_LIBSQLITE3_MAP(XX)       \
    XX(sqlite3_bind_parameter_count) \
    XX(sqlite3_busy_timeout)         \
    XX(sqlite3_close_v2)             \
    XX(sqlite3_column_blob)          \
    XX(sqlite3_column_bytes)         \
    XX(sqlite3_column_count)         \
    XX(sqlite3_column_double)        \
    XX(sqlite3_column_int64)         \
    XX(sqlite3_column_name)          \
    XX(sqlite3_column_text)          \
    XX(sqlite3_column_type)          \
    XX(sqlite3_db_config)            \
    XX(sqlite3_errcode)              \
    XX(sqlite3_errmsg)               \
    XX(sqlite3_error_offset)         \
    XX(sqlite3_errstr)               \
    XX(sqlite3_exec)                 \
    XX(sqlite3_file_control)         \
    XX(sqlite3_finalize)             \
    XX(sqlite3_hard_heap_limit64)    \
    XX(sqlite3_limit)                \
    XX(sqlite3_open_v2)              \
    XX(sqlite3_prepare_v3)           \
    XX(sqlite3_progress_handler)     \
    XX(sqlite3_set_authorizer)       \
    XX(sqlite3_step)                 \
    XX(sqlite3_stmt_readonly)

typedef struct gbx_libsqlite3 {
#define XX(name) __typeof__(&name) name;
    GBX_LIBSQLITE3_MAP(XX)
#undef XX
} gbx_libsqlite3;

/* GBX_E_UNSUPPORTED if it is missing, or older than 3.38. */
gbx_status gbx_libsqlite3_load(gbx_libsqlite3 *ret, gbx_error *reterr);

/* ---- number.c ------------------------------------------------------------ */

/* Doubles and counts as text. */

/* In as few digits as read back as the same, at most so many; null if not finite. */
bool gbx_number_put(gbx_buf *to, double value, int digits);

/* What code gets of a number as JSON has it: the nearest double, or an infinity. */
double gbx_number_read(const char *text, size_t len);

/* As code prints it: in the fewest digits that say which double it is. */
bool gbx_number_put_seen(gbx_buf *to, double value);

/* Is what is read from it written in the same digits again, but for zeros at their ends?
 * text: a number as JSON has it. False for what no double is near to. */
bool gbx_number_is_kept(const char *text, size_t len);

/* 1234567 as 1,234,567. */
bool gbx_number_put_count(gbx_buf *to, uint64_t count);

/* "812 bytes", "9.1 kB", "34 MB". */
bool gbx_number_put_size(gbx_buf *to, uint64_t bytes);

/* ---- parameter_names.c --------------------------------------------------- */

/*
 * What names in code stand for: a parameter of what is called with the data and
 * the input, a member of the object of all datasets, or neither.
 *
 * A function that is an argument of a call, list.filter((d) => ...), is called by the call,
 * with what is in the list: its parameters are none of those meant here.
 */

typedef struct gbx_parameter_names {
    bool is_parameter;
    unsigned index;  /* 0: the data; 1: the input */
    bool in_pattern; /* ({ name }) */
} gbx_parameter_names;

/* code: JavaScript. */
gbx_parameter_names gbx_parameter_names_of(const char *code, size_t len,
                                           const char *name, size_t name_len);

/* Is the parameter of that index taken apart, and has no default? */
bool gbx_parameter_names_takes_apart(const char *code, size_t len, unsigned index);

/* May the code read the member of that name of the object of all datasets? True if that
 * cannot be told. */
bool gbx_parameter_names_reads(const char *code, size_t len, const char *name);

/* ---- rows.c -------------------------------------------------------------- */

/*
 * What a query of an SQLite database gives, as a JSON array of objects.
 *
 * The query can read and nothing else: the file is opened read-only, and what a statement
 * may do is decided by an authorizer with a list of what is allowed (selecting, reading,
 * functions, recursion), before it runs. ATTACH, PRAGMA, writing, extensions and temporary
 * tables are refused. A database whose log is empty is read without a lock, and again with
 * one if it was written meanwhile: see datasets.h. It is hostile: its views may call no
 * function that does anything, it is not mapped, and sizes and time are bounded.
 */

/* Beyond it a query is stopped. */
#define GBX_ROWS_MS 60000

/*
 * Integers that a double does not hold are text, and so are blobs, in base64. Columns of
 * one name become name, name_2. columns: NULL, or what their names are appended to, as a
 * JSON array, if there is no row. GBX_E_DATA names the place in the query if that is at
 * fault, and has line and column of it.
 */
gbx_status gbx_rows_read(const char *path, const char *query, const atomic_bool *stop,
                         gbx_buf *to, gbx_buf *columns, gbx_error *reterr);

/* ---- schema_distinct.c --------------------------------------------------- */

/* How many values there are at one place, and how often the commonest. */

/* Count a scalar; seen: its bytes, or those of what code sees of it. False: no memory. */
bool gbx_schema_tell_apart(gbx_schema *s, gbx_view value, gbx_view seen);

/* Count in `into` what was counted in `from`. False: no memory. */
bool gbx_schema_join_values(gbx_schema *into, const gbx_schema *from);

/* ---- schema_map.c -------------------------------------------------------- */

/*
 * Fields that are too many, or records under their ids, become a map: what was
 * seen at many places is then as if it had been at one.
 */

/* One pass over the JSON. */
typedef struct gbx_looking {
    const atomic_bool *stop;
    size_t nodes;
    size_t nodes_max;
    size_t fields_max;
    uint32_t values;
    bool failed;
} gbx_looking;

bool gbx_schema_has_name(const gbx_schema_field *field, gbx_view name);

/* From too many fields to any of them. */
void gbx_schema_make_map(gbx_looking *l, gbx_schema *s);

/* Is one field more too many? */
bool gbx_schema_is_full(const gbx_looking *l, const gbx_schema *s);

/* For one field more. */
bool gbx_schema_has_room(gbx_looking *l, gbx_schema *s);

/* Dates are among those of the shape. Of the same time the text that was first stays. */
void gbx_schema_take_dates(gbx_schema *s, const gbx_schema_date *first,
                           const gbx_schema_date *last);

/* ---- sqlite_immutable.c -------------------------------------------------- */

/*
 * A database whose log is empty, and its file as it lies: all there is of it is
 * there, and can be read without a lock and without a file beside it, in a folder where
 * nothing may be written too, for as long as nobody writes to it. Whether anybody did, the
 * size and the time of the file say afterwards.
 */

typedef struct gbx_immutable {
    char *path;  /* without links: the log is beside the file itself */
    gbx_buf uri; /* as SQLite has it; ends in NUL */
    struct stat then;
} gbx_immutable;

/* False if it has a log with something in it, or cannot be looked at. *ret is to be cleaned
 * up in any case. */
bool gbx_immutable_look(const char *path, gbx_immutable *ret);

/* Is the file what it was then? */
bool gbx_immutable_lasts(const gbx_immutable *still);

void gbx_immutable_cleanup(gbx_immutable *still);

/* ---- table.c ------------------------------------------------------------- */

/*
 * CSV becomes a JSON array of objects, one a record, in two passes: the first
 * finds out of what type each column is, the second writes.
 *
 * The first record names the columns. A column is of integers, decimals or booleans if
 * every cell in it that is not empty is; otherwise its cells are text, as they stand.
 * An empty cell is null, quoted or not.
 */

/* More than any spreadsheet's use; each is a name in every record. */
#define GBX_TABLE_COLUMNS_MAX 4096

/* Beyond it, columns are no longer told apart quickly. */
#define GBX_TABLE_NAME_MAX 1024

/*
 * Append the JSON to `to`, whose ceiling bounds it. text: UTF-8 without a byte order
 * mark. stop: looked at now and then; GBX_E_CLOSED. delimiter: 0 to find it out.
 * columns: NULL, or what their names are appended to, as a JSON array, if there is no
 * record that says them. GBX_E_DATA has line and column.
 */
gbx_status gbx_table_read(const char *text, size_t len, char delimiter,
                          const atomic_bool *stop, gbx_buf *to, gbx_buf *columns,
                          gbx_error *reterr);

/* ---- source_loader.c: threads ------------------------------------------------------------- */

/* What is told of a dataset; texts are NULL if it could not be read. */
typedef struct gbx_told {
    char *type;
    char *size;     /* "100,000 records" */
    char *examples; /* a line each */
    char *statistics;
    const char *lost;    /* of what is to be shown: leads to no field; or NULL */
    uint64_t file_bytes; /* 0 of a database */
    uint64_t json_bytes;
    gbx_spec_format format;
} gbx_told;

typedef enum gbx_load_kind {
    GBX_LOAD_DESCRIBED, /* told is new; the engine will have it soon */
    GBX_LOAD_LOADED,    /* the engine has it; told is new unless it was described */
    GBX_LOAD_UNCHANGED, /* the file has what it had */
    GBX_LOAD_REFUSED,   /* problem says why; what was loaded before stays */
    GBX_LOAD_ENGINE,    /* problem says why there is none; "": there is one */
} gbx_load_kind;

typedef struct gbx_load_outcome {
    struct gbx_load_outcome *next;
    size_t index; /* of the dataset */
    gbx_load_kind kind;
    bool has_told;
    gbx_told told;
    char problem[GBX_ERROR_MESSAGE_SIZE];
    bool is_held; /* refused for as long as somebody else holds the database */
} gbx_load_outcome;

/* By which what was loaded is known again. */
typedef struct gbx_load_digests {
    uint8_t data[GBX_SHA256_SIZE];
    uint8_t told[GBX_SHA256_SIZE]; /* of all that it is told by, the data among it */
} gbx_load_digests;

/* One dataset as the readers know it; flags with the lock, the rest is whose that reads. */
typedef struct gbx_load_slot {
    bool is_wanted;
    bool is_busy;    /* a thread reads it: no other does */
    bool is_waiting; /* for its turn with the engine */
    bool was_loaded;
    bool is_held;             /* by somebody else, which is why it is refused */
    gbx_source_extent extent; /* that is wanted; with the lock */
    gbx_source_past past;     /* of the file */
    gbx_load_digests loaded;
} gbx_load_slot;

/* So many datasets are read at once. */
#define GBX_LOADER_READERS 6

typedef struct gbx_data_loader {
    gbx_mcp_data *data;
    pthread_t engine_thread;
    bool has_engine_thread;
    pthread_t readers[GBX_LOADER_READERS];
    size_t reader_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool stop;
    bool is_engine_done; /* with the lock: engine is made, or cannot be */
    gbx_engine *engine;  /* with the lock; the loop has its own copy after the post */
    bool is_giving;      /* with the lock: the engine is being given a dataset */
    size_t queries;      /* with the lock: that are being run */
    size_t next;         /* with the lock: where what is wanted is looked for first */
    gbx_load_slot *slots;
    gbx_load_outcome *found; /* with the lock: for the loop, in order */
    gbx_load_outcome **found_last;
    gbx_mcp_post arrival; /* of them */
    size_t room;          /* bytes of description that a dataset may have */
} gbx_data_loader;

gbx_status gbx_data_loader_start(gbx_data_loader *loader, gbx_mcp_data *data,
                                 gbx_error *reterr);
/* Have a dataset read, again. From the loop. */
void gbx_data_loader_want(gbx_data_loader *loader, size_t index,
                          gbx_source_extent extent);
/* The engine could not be made: try again, and read everything that it is to have. */
void gbx_data_loader_again(gbx_data_loader *loader);
/* Joins the threads and frees the engine; calls in flight end as aborted. */
void gbx_data_loader_stop(gbx_data_loader *loader);

void gbx_told_cleanup(gbx_told *told);

/* ---- file_watcher.c: files that change ------------------------------------------------------ */

typedef struct gbx_data_watch gbx_data_watch;

/* changed(user, index, extent) is called on the loop some time after files have changed:
 * when they hold still, and now and then of one that never does, with GBX_SOURCE_LINES.
 * NULL: memory is out. */
gbx_data_watch *gbx_data_watch_new(
    gbx_mcp_loop *loop, const gbx_spec *const *specs, size_t count,
    void (*changed)(void *user, size_t index, gbx_source_extent extent), void *user);
void gbx_data_watch_free(gbx_data_watch *watch);

/* ---- compute.c, running.c: calls ---------------------------------------------------- */

typedef struct gbx_compute gbx_compute;
typedef struct gbx_dataset_state gbx_dataset_state;

/* The tool's handler. */
void gbx_compute_call(void *user, gbx_mcp_request *request, gbx_view arguments);
/* Something is there: calls that have waited for it go on. */
void gbx_compute_go_on(gbx_mcp_data *data);
/* After the loop has ended, and the engine was freed. */
void gbx_compute_end_all(gbx_mcp_data *data);

/* ---- compute_reply.c: what is answered ------------------------------------------------------- */

/* How code was called; set is NULL: with all datasets. */
typedef struct gbx_called {
    const gbx_mcp_data *data;
    const gbx_dataset_state *set;
    gbx_view input; /* or no value */
} gbx_called;

/* code: what the model wrote; script: where it is in what ran; advice: what to do about
 * the error or the value that is missing, "": what the engine says. */
struct gbx_script;
void gbx_compute_reply(gbx_mcp_data *data, gbx_mcp_request *request, const char *code,
                       size_t code_len, const struct gbx_script *script,
                       const char *advice, gbx_result *result);
/* An answer without a call: code is a name such as "INVALID_ARGS"; at may be NULL. */
void gbx_compute_refuse(gbx_mcp_request *request, const char *code, const char *error,
                        const char *hint, const gbx_location *at);

/* ---- data_hints.c: errors that come from how code was called ------------------------------ */

/* Append what to do about an error, or about no value; nothing if that is not the reason. */
void gbx_compute_advise(const gbx_called *called, const struct gbx_script *script,
                        const gbx_result *result, gbx_buf *to);

/* ---- offer.c: descriptions, schemas, resources ---------------------------------------- */

/* Where results are kept that were too long to be shown. */
#define GBX_COMPUTE_ARTIFACTS GBX_ARTIFACT_SCHEME "compute-"

/* Register `compute` and the resources anew. */
void gbx_offer_all(gbx_mcp_data *data);

/* ---- data.c --------------------------------------------------------------------------- */

struct gbx_dataset_state {
    gbx_spec spec;
    bool is_settled; /* its first load is through, well or not */
    bool is_loaded;
    gbx_told told;
    char problem[GBX_ERROR_MESSAGE_SIZE]; /* with the file as it is now; "" is none */
    bool is_held;                         /* it is asked again in a while */
    char uri[128];
};

struct gbx_mcp_data {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_options options;
    gbx_shown shown;
    gbx_dataset_state *sets;
    size_t count;
    gbx_data_loader loader;
    gbx_data_watch *watch;
    gbx_artifacts *artifacts;
    gbx_parse_thread *aside; /* for the code of calls */
    gbx_recent recent;       /* of compute */
    gbx_engine *engine;      /* NULL: not yet, or engine_problem says why */
    bool is_engine_done;
    char engine_problem[GBX_ERROR_MESSAGE_SIZE];
    gbx_backoff backoff; /* of making it */
    bool is_held;        /* lists wait for us */
    struct event *again; /* for databases that are held */
    gbx_compute *calls;
    pthread_mutex_t log_lock;
};

/* Can something be said of it? */
bool gbx_data_is_described(const gbx_dataset_state *set);

/* Append "there are orders, customers": the first of them. */
void gbx_data_say_names(const gbx_mcp_data *data, gbx_buf *to);

/* What the loader's threads have found out; on the loop. */
void gbx_data_arrived(gbx_mcp_data *data, gbx_load_outcome *outcome);

/* If there is no engine, and it has been a while, have it made: then it is waited for. */
void gbx_data_try_again(gbx_mcp_data *data);

/* The engine is there, or could not be made; and the first load of the dataset is through, or
 * those of all if set is NULL. */
bool gbx_data_is_ready(const gbx_mcp_data *data, const gbx_dataset_state *set);

#endif
