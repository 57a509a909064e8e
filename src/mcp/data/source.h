/* SPDX-License-Identifier: MIT */
/*
 * source - load what a spec names as checked JSON text. Blocks; call it from a thread.
 *
 * A file is read, not mapped: if it is cut short meanwhile, that is an error, not a
 * signal.
 */
#ifndef GBX_MCP_DATA_SOURCE_H
#define GBX_MCP_DATA_SOURCE_H

#include "base/json_view.h"
#include "base/sha256.h"
#include "mcp/data/spec.h"

#include <stdatomic.h>
#include <sys/types.h>

/* Limit for a file, and for the JSON made of it. */
#define GBX_SOURCE_MAX ((size_t)1 << 30)

/* How far a file is read. */
typedef enum gbx_source_extent {
    GBX_SOURCE_WHOLE,
    GBX_SOURCE_LINES, /* of a growing file; may omit an incomplete last line */
} gbx_source_extent;

/* What a file was when last read. If it continues what it was, it is being appended to,
 * however long the writer rests, until another file replaces it. Zeroed: never read. */
typedef struct gbx_source_past {
    dev_t device;
    ino_t inode;
    size_t bytes;
    uint8_t end[GBX_SHA256_SIZE]; /* digest of its last bytes */
    bool grows;
} gbx_source_past;

typedef struct gbx_source {
    gbx_spec_format format; /* as found, never GUESS */
    gbx_buf json;
    gbx_view view;       /* of it */
    uint64_t file_bytes; /* bytes read; 0 for a database */
    gbx_buf columns;     /* of a table without records: column names, a JSON array */
    bool is_cut;         /* an unfinished last line was left out */
} gbx_source;

/*
 * A last line without an end is left out if it alone is at fault, or if the file grows
 * and nothing shows that the line is whole (a row or a number may go on). past: NULL,
 * or the state at the last read, which is updated. GBX_E_DATA: not valid, with line and
 * column if known. GBX_E_OS: cannot be read. GBX_E_CLOSED: *stop was set. Clean up *ret
 * on success alone.
 */
gbx_status gbx_source_read(const gbx_spec *spec, gbx_source_extent extent,
                           gbx_source_past *past, const atomic_bool *stop,
                           gbx_source *ret, gbx_error *reterr);
void gbx_source_cleanup(gbx_source *source);

/* GBX_E_OS if it is not an existing regular file; quick. */
gbx_status gbx_source_probe(const gbx_spec *spec, gbx_error *reterr);

#endif
