/* SPDX-License-Identifier: MIT */
/* wire - how the worker program is started: arguments, descriptors, first requests. */
#ifndef GBX_WIRE_WIRE_H
#define GBX_WIRE_WIRE_H

#include "wire/messages.h"

#include <stdint.h>

/* ---- start --------------------------------------------------------------- */

/*
 * The contract between host and worker program before the first message: the control
 * socket's descriptor, the program's arguments, and the request to a zygote for a
 * template.
 */

#define GBX_CONTROL_FD 3

/* Indices of the program's arguments; numbers are decimal. */
enum {
    GBX_START_SERVE = 1,  /* "--serve" */
    GBX_START_VERSION,    /* GBX_WIRE_VERSION of the library */
    GBX_START_LAYERS_OFF, /* gbx_layer bits to leave out; only in attack mode */
    GBX_START_IS_GROUPED, /* "1": this process is in its control group */
    GBX_START_UIDS, /* for a root host's template: uids to try in order; a single one is
                       required; "": keep the host's */
    GBX_START_ARGS
};

/* A zygote's arguments: "--zygote", version, maximum number of huge pages for the
 * engine's code. */
enum {
    GBX_ZYGOTE_SERVE = GBX_START_SERVE,
    GBX_ZYGOTE_VERSION = GBX_START_VERSION,
    GBX_ZYGOTE_HUGE_PAGES,
    GBX_ZYGOTE_ARGS
};

/* One datagram to the zygote. It carries the descriptors of the template's control
 * socket, its error output and, if there is one, the directory of its control group. */
typedef struct gbx_zygote_request {
    uint32_t layers_off; /* as GBX_START_LAYERS_OFF */
    uint32_t is_spare;   /* not 0: no engine has asked for it yet */
    char uids[32];       /* as GBX_START_UIDS */
} gbx_zygote_request;

/* The answer; carries the pidfd of the template if error is 0. Before any request, a
 * zygote reports that it is ready by an answer without a pidfd. */
typedef struct gbx_zygote_answer {
    int32_t error; /* an errno */
    int32_t pid;
} gbx_zygote_answer;

/* ---- the reader of a database --------------------------------------------- */

/*
 * A process that runs one query of an SQLite database. Its arguments are a template's,
 * with "--sqlite" for "--serve". It maps the files that the host has opened, takes the
 * locks that SQLite's readers take, and forks. The fork seals itself like a worker
 * before it reads the database, and ends with an answer.
 */

/* Its files: the memory file for the rows, which has its final size, and the database
 * with the files beside it. In place of a missing file, /dev/null is open. */
enum {
    GBX_SQLITE_ROWS_FD = GBX_CONTROL_FD + 2,
    GBX_SQLITE_DATABASE_FD,
    GBX_SQLITE_WAL_FD,
    GBX_SQLITE_JOURNAL_FD,
    GBX_SQLITE_SHM_FD,
    GBX_SQLITE_FDS_END
};

/* Time limit of a query, enforced by the host. */
#define GBX_SQLITE_MS 60000

/* Limits for SQLite's heap and for the whole process. */
#define GBX_SQLITE_HEAP_BYTES   ((uint64_t)512 << 20)
#define GBX_SQLITE_MEMORY_BYTES ((uint64_t)640 << 20)

#define GBX_SQLITE_QUERY_MAX (64u << 10)

/* Followed by the query, without a NUL. */
typedef struct gbx_sqlite_request {
    uint32_t required;  /* gbx_layer bits: if one is missing, nothing is read */
    uint32_t query_len; /* 0: all tables, as one object */
    uint32_t attacks;   /* if not 0: no query, try that many attacks, one answer each */
} gbx_sqlite_request;

typedef enum gbx_sqlite_outcome {
    GBX_SQLITE_DONE,
    GBX_SQLITE_NO_LIBRARY,  /* libsqlite3 is missing or too old: message */
    GBX_SQLITE_UNSEALED,    /* number: the required layer that is missing; message */
    GBX_SQLITE_BUSY,        /* a writer holds the lock */
    GBX_SQLITE_INTERRUPTED, /* a change must be rolled back first */
    GBX_SQLITE_UNREADABLE,  /* not a database, or damaged: message */
    GBX_SQLITE_WRONG,       /* an error in the query: message, offset */
    GBX_SQLITE_EMPTY,       /* the query has no statement */
    GBX_SQLITE_SEVERAL,     /* the query has more than one */
    GBX_SQLITE_NOT_SELECT,
    GBX_SQLITE_PARAMETER, /* the query has one */
    GBX_SQLITE_MEMORY,    /* number: the row, or 0 */
    GBX_SQLITE_BAD_ROW,   /* number: the row; message */
    GBX_SQLITE_NOT_UTF8,  /* number: the row; offset: the column from 1 */
    GBX_SQLITE_TOO_LONG,  /* the rows do not fit their file */
    GBX_SQLITE_DIED,      /* number: the fork's wait status */
    GBX_SQLITE_OUTCOMES
} gbx_sqlite_outcome;

typedef struct gbx_sqlite_answer {
    uint32_t outcome;
    uint32_t offset; /* 1 + byte offset of the error in the query */
    uint64_t number;
    uint64_t rows_len; /* bytes of JSON in the file */
    uint64_t
        columns_len;    /* bytes after them: the columns' names, if there are no rows */
    uint32_t is_locked; /* no other process could write the database meanwhile */
    char message[124];  /* hostile */
} gbx_sqlite_answer;

#endif
