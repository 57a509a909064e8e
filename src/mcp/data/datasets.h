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
#include "base/sha256.h"
#include "mcp/code/artifacts.h"
#include "mcp/code/parse_thread.h"
#include "mcp/code/recent.h"
#include "mcp/data/data.h"
#include "mcp/data/source.h"

#include <pthread.h>
#include <stdatomic.h>

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
