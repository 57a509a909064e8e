/* SPDX-License-Identifier: MIT */
/*
 * import - imports servers from the files of hosts, by host_files.js in sealed workers.
 *
 * The script decides which servers to take. It sees only answers to its questions: the
 * files, real paths, and whether our own reader accepts an entry.
 */
#ifndef GBX_MCP_IMPORT_IMPORT_H
#define GBX_MCP_IMPORT_IMPORT_H

#include "base/buf.h"
#include "base/json_view.h"
#include "mcp/config/config.h"

#include <glovebox/glovebox.h>

/* Zeroed at first. */
typedef struct gbx_host_files {
    gbx_engine *engine;
    gbx_trust trust;         /* of all files that are read */
    const char *const *from; /* files that may be read besides those of known names */
    size_t from_count;
    /* A file cannot be read that is there, or that was named. */
    void (*unreadable)(void *user, const char *path, const gbx_error *err);
    void *user;
    gbx_result *plan; /* owns the view that gbx_host_files_plan() returned */
} gbx_host_files;

gbx_status gbx_host_files_open(gbx_host_files *files, gbx_trust trust,
                               gbx_error *reterr);
void gbx_host_files_close(gbx_host_files *files);

/* Read a host's file: its text, and its value as JSON. A JSON file's value has only the
 * members that matter here. GBX_E_OS (os_errno ENOENT: it does not exist, EPERM: it is
 * not trusted), GBX_E_DATA with line and column. Clean both up in any case. */
gbx_status gbx_host_files_read(gbx_host_files *files, const char *path,
                               gbx_buf *ret_text, gbx_buf *ret_value,
                               gbx_error *reterr);

/*
 * Call the script's plan() and answer its questions. own: an object about our own file;
 * from: names of hosts, or their files. *ret is valid until gbx_host_files_close().
 */
gbx_status gbx_host_files_plan(gbx_host_files *files, const gbx_buf *own,
                               const char *const *from, size_t from_count,
                               gbx_view *ret, gbx_error *reterr);

#endif
