/* SPDX-License-Identifier: MIT */
/*
 * source - from what a spec says to JSON text that has been checked. Blocks: for a thread.
 *
 * A file is read, not mapped: whoever cuts it short meanwhile makes an error, no signal.
 */
#ifndef GBX_MCP_DATA_SOURCE_H
#define GBX_MCP_DATA_SOURCE_H

#include "base/json_view.h"
#include "base/sha256.h"
#include "mcp/data/spec.h"

#include <stdatomic.h>
#include <sys/types.h>

/* Of a file, and of the JSON that it becomes. */
#define GBX_SOURCE_MAX ((size_t)1 << 30)

/* How far a file is read. */
typedef enum gbx_source_extent {
    GBX_SOURCE_WHOLE,
    GBX_SOURCE_LINES, /* of one that is being written to: what has lines, without a last
                         one that may not be all there yet */
} gbx_source_extent;

/* What a file was when it was last read: one that goes on behind that is being appended
 * to, whoever rests how long, until something else is in its place. Zeroed: it never was. */
typedef struct gbx_source_past {
    dev_t device;
    ino_t inode;
    size_t bytes;
    uint8_t end[GBX_SHA256_SIZE]; /* of its last bytes */
    bool grows;
} gbx_source_past;

typedef struct gbx_source {
    gbx_spec_format format; /* that was found, never GUESS */
    gbx_buf json;
    gbx_view view;       /* of it */
    uint64_t file_bytes; /* that were read; 0: of a database */
    gbx_buf columns;     /* of a table without records: their names, a JSON array */
    bool is_cut;         /* a last line that has no end yet is left out */
} gbx_source;

/*
 * A last line without an end is left out if it alone is at fault; and of a file that grows
 * if nothing says that it is whole: a row, a number. past: NULL, or what the file was, which
 * becomes what it is. GBX_E_DATA: not valid, with line and column where they are known.
 * GBX_E_OS: cannot be read. GBX_E_CLOSED: *stop was set. *ret is to be cleaned up on success
 * alone.
 */
gbx_status gbx_source_read(const gbx_spec *spec, gbx_source_extent extent,
                           gbx_source_past *past, const atomic_bool *stop,
                           gbx_source *ret, gbx_error *reterr);
void gbx_source_cleanup(gbx_source *source);

/* GBX_E_OS if there is no such regular file; quick. */
gbx_status gbx_source_probe(const gbx_spec *spec, gbx_error *reterr);

#endif
