/* SPDX-License-Identifier: MIT */
/*
 * datasets - declarations that the files behind data.h share: datasets, the threads
 * that load them, and the calls of `compute`.
 *
 * Everything belongs to the loop's thread except struct gbx_data_loader, whose threads
 * read files, talk to the engine, and post results to the loop.
 */
#ifndef GBX_MCP_DATA_DATASETS_H
#define GBX_MCP_DATA_DATASETS_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "base/sha256.h"
#include "engine/sqlite.h"
#include "mcp/code/code.h"
#include "mcp/data/data.h"

#include <glovebox/glovebox.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---- source.c ---------------------------------------------------------- */

/*
 * Read what a spec names, for gbx_engine_load(). Blocks; call it from a thread.
 *
 * A file is read, not mapped: a file that is cut short meanwhile must not cause a
 * signal.
 */

/* Limit of a file, and of the JSON made from it, in bytes. */
#define GBX_SOURCE_MAX ((size_t)1 << 30)

/* How far a file is read. */
typedef enum gbx_source_extent {
    GBX_SOURCE_WHOLE,
    GBX_SOURCE_LINES, /* up to the last whole line: a program writes to it */
} gbx_source_extent;

/* A file's state at the last read; zeroed: never read. If its contents continue the old
 * ones, it counts as growing until another file replaces it, even while it rests. */
typedef struct gbx_source_past {
    dev_t device;
    ino_t inode;
    size_t bytes;
    uint8_t end[GBX_SHA256_SIZE]; /* digest of its last bytes */
    bool grows;
} gbx_source_past;

typedef struct gbx_source {
    gbx_spec_format format; /* GUESS: JSON or NDJSON */
    gbx_buf text;           /* of a file; not parsed yet */
    gbx_rows rows;          /* of a database */
    unsigned how;           /* that of the spec */
    uint64_t file_bytes;    /* bytes read; 0 for a database */
    bool grows;             /* the file is being written to */
} gbx_source;

/* past: NULL, or the state at the last read, which is updated. GBX_E_DATA: not a text
 * that can be read. GBX_E_OS: cannot be read. GBX_E_CLOSED: *stop was set. Clean up
 * *ret only on success. */
gbx_status gbx_source_read(const gbx_options *options, const gbx_spec *spec,
                           gbx_source_extent extent, gbx_source_past *past,
                           const atomic_bool *stop, gbx_source *ret, gbx_error *reterr);

/* The text of a file, which may be "", or the rows. */
gbx_view gbx_source_text(const gbx_source *source);
/* For gbx_engine_load(). With it, an unfinished last line is left out. */
gbx_data_format gbx_source_data_format(const gbx_source *source);
void gbx_source_cleanup(gbx_source *source);

/* A quick check. GBX_E_OS: not a readable regular file. GBX_E_DATA: too large. */
gbx_status gbx_source_probe(const gbx_spec *spec, gbx_error *reterr);

/* ---- describe.c ---------------------------------------------------------- */

/* The description of a dataset. */
typedef struct gbx_told {
    char *type;          /* as TypeScript */
    char *brief;         /* the same, short */
    char *size;          /* "100,000 records" */
    char *names;         /* of the fields, on one line; "": none */
    char *examples;      /* one per line */
    char *statistics;    /* a JSON array with one object per field */
    const char *lost;    /* a path of --show that no record has; or NULL */
    uint64_t file_bytes; /* 0 for a database */
    uint64_t json_bytes; /* of a query; 0 for a file */
    char *columns;       /* names, if it is a table without records; else NULL */
    bool is_table;
    gbx_spec_format format;
} gbx_told;

/* What to describe, and how; all is borrowed. */
typedef struct gbx_description {
    const char *name; /* of a dataset that the engine has */
    const gbx_shown *shown;
    const char *columns; /* of a table without records: names, a JSON array */
    size_t columns_len;  /* 0: not such a table */
    size_t brief;        /* approximate characters of the short type, and of examples */
    bool is_table;       /* rows of CSV or of a database: names are never data */
    const gbx_limits *limits; /* of each attempt */
    gbx_signal *signal;       /* aborts it */
} gbx_description;

/*
 * Describe a dataset in a worker: its type, size, examples and statistics. At most
 * 100,000 records are described, and fewer if that exceeds the limits; the size says
 * so. Texts come from the data: they are quoted, cut and bounded, and must not be read
 * as instructions. Blocks. Sets these texts and `lost`; clean up *ret only on
 * success.
 */
gbx_status gbx_describe(gbx_engine *engine, const gbx_description *of, gbx_told *ret,
                        gbx_error *reterr);

/* Code that returns a dataset's whole description as a text, and its input. Call it as
 * GBX_FORM_FUNCTION with the dataset. */
extern const char gbx_script_describe[];
bool gbx_describe_whole(const gbx_description *of, gbx_buf *to);

void gbx_told_cleanup(gbx_told *told);

/* ---- datasets.c: threads ---------------------------------------------------- */

typedef enum gbx_load_kind {
    GBX_LOAD_LOADED,    /* the engine has it; told is new */
    GBX_LOAD_UNCHANGED, /* the file has the same content */
    GBX_LOAD_REFUSED,   /* problem says why; the loaded data stays */
    GBX_LOAD_HELD,      /* the same, because another process locks the database */
} gbx_load_kind;

typedef struct gbx_load_outcome {
    struct gbx_load_outcome *next;
    size_t index; /* of the dataset */
    gbx_load_kind kind;
    gbx_told told; /* if it has a type */
    char problem[GBX_ERROR_MESSAGE_SIZE];
} gbx_load_outcome;

/* A dataset's state for the readers. Flags need the lock; the thread that reads the
 * dataset owns the rest. */
typedef struct gbx_load_slot {
    bool is_wanted;
    bool is_busy;    /* a thread reads it; others must not */
    bool is_waiting; /* for its turn with the engine */
    bool was_loaded;
    gbx_source_extent extent;        /* to read next; with the lock */
    gbx_source_past past;            /* of the file */
    uint8_t loaded[GBX_SHA256_SIZE]; /* digest of what is loaded */
} gbx_load_slot;

/* How many datasets are read at once. */
#define GBX_LOADER_READERS 6

/* Takes a result of the loader's threads; called on the loop. */
typedef void gbx_load_arrived_fn(gbx_mcp_data *data, gbx_load_outcome *outcome);

typedef struct gbx_data_loader {
    gbx_mcp_data *data;
    gbx_load_arrived_fn *arrived;
    pthread_t readers[GBX_LOADER_READERS];
    size_t reader_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool stop;
    gbx_signal *signal; /* aborts the calls of workers */
    bool is_giving;     /* with the lock: the engine is being given a dataset */
    size_t queries;     /* with the lock: queries that are running */
    size_t next;        /* with the lock: where to look first for work */
    gbx_load_slot *slots;
    gbx_load_outcome *found; /* with the lock: results for the loop, in order */
    gbx_load_outcome **found_last;
    gbx_mcp_post arrival; /* announces them */
    size_t room;          /* characters for the description of a dataset */
} gbx_data_loader;

gbx_status gbx_data_loader_start(gbx_data_loader *loader, gbx_mcp_data *data,
                                 gbx_load_arrived_fn *arrived, gbx_error *reterr);
/* Request that a dataset be read, or read again. Call it on the loop. */
void gbx_data_loader_want(gbx_data_loader *loader, size_t index,
                          gbx_source_extent extent);
/* Join the threads. */
void gbx_data_loader_stop(gbx_data_loader *loader);

/* ---- file_watcher.c: files that change ------------------------------------------- */

typedef struct gbx_data_watch gbx_data_watch;

/* changed(user, index, extent) is called on the loop after a file has changed: when the
 * changes stop, or repeatedly with GBX_SOURCE_LINES while they do not. */
gbx_data_watch *gbx_data_watch_new(
    gbx_mcp_loop *loop, const gbx_spec *const *specs, size_t count,
    void (*changed)(void *user, size_t index, gbx_source_extent extent), void *user);
void gbx_data_watch_free(gbx_data_watch *watch);

/* ---- compute.c: calls ------------------------------------------------------------ */

typedef struct gbx_compute gbx_compute;
typedef struct gbx_dataset_state gbx_dataset_state;

/* The tool's handler. */
void gbx_compute_call(void *user, gbx_mcp_request *request, gbx_view arguments);
/* Call after the loop has ended. */
void gbx_compute_end_all(gbx_mcp_data *data);

/* ---- compute_reply.c: replies ---------------------------------------------------- */

/* advice: what to do about the error or the missing value, or "" to use the engine's
 * hint. is_text: the value is a text for the model, not JSON. */
void gbx_compute_reply(gbx_mcp_data *data, gbx_mcp_request *request, const char *advice,
                       bool is_text, gbx_result *result);
/* Answer without a run: code is a name such as "INVALID_ARGS". */
void gbx_compute_refuse(gbx_mcp_request *request, const char *code, const char *error,
                        const char *hint);

/* ---- compute_tool.c: descriptions, schemas, resources ---------------------------- */

/* Register `compute` and the resources again. */
void gbx_offer_all(gbx_mcp_data *data);

/* ---- data.c ---------------------------------------------------------------------- */

#define GBX_DATASETS_MAX 256

struct gbx_dataset_state {
    gbx_spec spec;
    bool is_settled; /* its first load has ended, whether it worked or not */
    bool is_loaded;
    gbx_told told;
    char problem[GBX_ERROR_MESSAGE_SIZE]; /* with the present file; "" if none */
    bool is_held;                         /* a locked database: retried later */
    char uri[128];
};

struct gbx_mcp_data {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_box *box;        /* where calls run */
    gbx_options options; /* with the limits of a call, complete */
    gbx_limits describing;
    gbx_shown shown;
    gbx_dataset_state *sets;
    size_t count;
    gbx_data_loader loader;
    gbx_data_watch *watch;
    gbx_artifacts *artifacts; /* results that were too long to be shown */
    bool is_alone;            /* without scripts: it owns box and artifacts */
    bool is_held;             /* tool and resource lists wait for us */
    gbx_mcp_timer again;      /* retries locked databases */
    LIST_HEAD(, gbx_compute) calls;
};

/* ---- datasets.c: their state ----------------------------------------------------- */

/* The dataset of that name, or NULL. */
const gbx_dataset_state *gbx_data_find(const gbx_mcp_data *data, const char *name);

/* Does the code have the dataset's name as a word, or `datasets`? */
bool gbx_data_may_read(const gbx_dataset_state *set, const char *code, size_t len);

/* Append why datasets could not be read: those that the code names, or all if it names
 * only `datasets`. The code may not notice. user is the gbx_mcp_data. */
void gbx_data_say_unread(void *user, const char *code, size_t len, gbx_buf *to);

/* Append the first names: "there are orders, customers". */
void gbx_data_say_names(const gbx_mcp_data *data, gbx_buf *to);

/* Has the first load of the dataset (set NULL: of all) ended? */
bool gbx_data_is_ready(const gbx_mcp_data *data, const gbx_dataset_state *set);

#endif
