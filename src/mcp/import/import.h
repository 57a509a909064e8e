/* SPDX-License-Identifier: MIT */
/*
 * import - the files of hosts, read and judged by host_files.js in sealed workers.
 *
 * The script decides which servers are taken. It sees only what it is given: it asks for
 * files, for the real paths of names, and for what our own reader says of an entry.
 */
#ifndef GBX_MCP_IMPORT_IMPORT_H
#define GBX_MCP_IMPORT_IMPORT_H

#include "base/buf.h"
#include "base/json_view.h"
#include "mcp/config/config.h"

#include <glovebox/glovebox.h>

/* A file that cannot be read. */
typedef struct gbx_host_fault {
    char *path;
    gbx_error err;
} gbx_host_fault;

/* Zeroed at first. */
typedef struct gbx_host_files {
    gbx_engine *engine;
    gbx_trust trust;         /* of all files that are read */
    const char *const *from; /* files that may be read besides those of known names */
    size_t from_count;
    gbx_host_fault *faults;
    size_t fault_count;
    gbx_result *plan; /* what gbx_host_files_plan() has returned views of */
} gbx_host_files;

gbx_status gbx_host_files_open(gbx_host_files *files, gbx_trust trust,
                               gbx_error *reterr);
void gbx_host_files_close(gbx_host_files *files);

/* Read a host's file: its text, and its value as JSON, of hosts' files with only the
 * members that matter here. GBX_E_OS (os_errno ENOENT: it does not exist, EPERM: it is
 * not trusted), GBX_E_DATA with line and column. Clean both up in any case. */
gbx_status gbx_host_files_read(gbx_host_files *files, const char *path,
                               gbx_buf *ret_text, gbx_buf *ret_value,
                               gbx_error *reterr);

/*
 * What plan() of the script says, with everything that it asks for. own: the object of
 * our own file; from: hosts, or files of them. *ret is valid until the end.
 */
gbx_status gbx_host_files_plan(gbx_host_files *files, const gbx_buf *own,
                               const char *const *from, size_t from_count,
                               gbx_view *ret, gbx_error *reterr);

#endif
