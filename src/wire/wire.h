/* SPDX-License-Identifier: MIT */
/* wire - how host and worker start, and how a frame is written. */
#ifndef GBX_WIRE_WIRE_H
#define GBX_WIRE_WIRE_H

#include "wire/messages.h"

#include <stdint.h>

/* ---- start --------------------------------------------------------------- */

/*
 * The contract of host and worker program before the first message: the control
 * socket's descriptor, the program's arguments, and the request to a zygote for a
 * template.
 */

#define GBX_CONTROL_FD 3

/* Indices of the program's arguments; numbers are decimal. */
enum {
    GBX_START_SERVE = 1,  /* "--serve" */
    GBX_START_VERSION,    /* GBX_WIRE_VERSION of the library */
    GBX_START_LAYERS_OFF, /* gbx_layer bits: namespaces not to make */
    GBX_START_IS_GROUPED, /* "1": this process is in its control group */
    GBX_START_UIDS, /* for a root host's template: uids to try in order; a single one is
                       required; "": stay */
    GBX_START_ARGS
};

/* A zygote's arguments: "--zygote", version, the most huge pages for the engine's
 * code. */
enum {
    GBX_ZYGOTE_SERVE = 1,
    GBX_ZYGOTE_VERSION,
    GBX_ZYGOTE_HUGE_PAGES,
    GBX_ZYGOTE_ARGS
};

/* One datagram to the zygote, with the descriptors of the template's control socket, its
 * error output and, if there is one, the directory of its control group. */
typedef struct gbx_zygote_request {
    uint32_t layers_off; /* as GBX_START_LAYERS_OFF */
    char uids[32];       /* as GBX_START_UIDS */
} gbx_zygote_request;

/* The answer, with the pidfd of the process if error is 0. A zygote reports that it is
 * ready by an answer without a pidfd, before any request. */
typedef struct gbx_zygote_answer {
    int32_t error; /* an errno */
    int32_t pid;
} gbx_zygote_answer;

/* ---- the reader of a database --------------------------------------------- */

/*
 * Runs one query of an SQLite database: "--sqlite" in place of "--serve", and the rest of
 * a template's arguments. Only files of the host are open in it. It maps them, takes the
 * locks that SQLite's readers take, and forks. The fork seals itself as a worker before
 * anything of the database is looked at; it ends with an answer.
 */

/* Its files: the memory file for the rows, which has its final size, and the database with
 * the files beside it. One that is missing is no regular file here. */
enum {
    GBX_SQLITE_ROWS_FD = GBX_CONTROL_FD + 2,
    GBX_SQLITE_DATABASE_FD,
    GBX_SQLITE_WAL_FD,
    GBX_SQLITE_JOURNAL_FD,
    GBX_SQLITE_SHM_FD,
    GBX_SQLITE_FDS_END
};

/* A query that runs longer is ended by the host. */
#define GBX_SQLITE_MS 60000

/* For SQLite, and for what else the process allocates. */
#define GBX_SQLITE_HEAP_BYTES   ((uint64_t)512 << 20)
#define GBX_SQLITE_MEMORY_BYTES ((uint64_t)640 << 20)

#define GBX_SQLITE_QUERY_MAX (64u << 10)

/* Followed by the query, without a NUL. */
typedef struct gbx_sqlite_request {
    uint32_t required;  /* gbx_layer bits: without one of these nothing is read */
    uint32_t query_len; /* 0: all tables, as one object */
    uint32_t attacks;   /* no query: try so many of the table, an answer for each */
} gbx_sqlite_request;

typedef enum gbx_sqlite_outcome {
    GBX_SQLITE_DONE,
    GBX_SQLITE_NO_LIBRARY,  /* libsqlite3 is missing or too old: message */
    GBX_SQLITE_UNSEALED,    /* number: the required layer that is missing; message */
    GBX_SQLITE_BUSY,        /* a writer holds the lock */
    GBX_SQLITE_INTERRUPTED, /* a change must be rolled back first */
    GBX_SQLITE_UNREADABLE,  /* not a database, or damaged: message */
    GBX_SQLITE_WRONG,       /* the query: message, offset */
    GBX_SQLITE_EMPTY,       /* the query has no statement */
    GBX_SQLITE_SEVERAL,     /* it has more than one */
    GBX_SQLITE_NOT_SELECT,
    GBX_SQLITE_PARAMETER, /* it has one */
    GBX_SQLITE_MEMORY,    /* number: the row, or 0 */
    GBX_SQLITE_BAD_ROW,   /* number: the row; message */
    GBX_SQLITE_NOT_UTF8,  /* number: the row; offset: the column from 1 */
    GBX_SQLITE_TOO_LONG,  /* the rows do not fit their file */
    GBX_SQLITE_DIED,      /* number: how the fork ended, as wait() says it */
    GBX_SQLITE_OUTCOMES
} gbx_sqlite_outcome;

typedef struct gbx_sqlite_answer {
    uint32_t outcome;
    uint32_t offset; /* 1 + that of the fault in the query, in bytes */
    uint64_t number;
    uint64_t rows_len; /* bytes of JSON in the file */
    uint64_t
        columns_len;    /* after it: an array of their names, if a table has no rows */
    uint32_t is_locked; /* nobody could write the database meanwhile */
    char message[124];  /* hostile */
} gbx_sqlite_answer;

#endif
