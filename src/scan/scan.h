/* SPDX-License-Identifier: MIT */
/*
 * scan - `glovebox audit`: sealed workers read and judge the JavaScript of a project.
 *
 * The host walks the folder, passes texts to calls and returns their results. scan.js
 * interprets the texts, in the sandbox. This part uses only the public header and base.
 */
#ifndef GBX_SCAN_SCAN_H
#define GBX_SCAN_SCAN_H

#include "base/buf.h"
#include "base/json_view.h"

#include <glovebox/glovebox.h>

/* One file of the project. */
typedef struct gbx_scan_file {
    char *path; /* below the root */
    char *text; /* a JSON string */
    size_t len; /* bytes of it */
} gbx_scan_file;

/* The files of a folder or an archive. Initially zero, except the buffers' ceilings. */
typedef struct gbx_scan_files {
    gbx_scan_file *list;
    size_t count;
    size_t room;
    size_t bytes;        /* of all texts */
    size_t entries;      /* of all folders */
    size_t unread_count; /* files that were not read, named or not */
    gbx_buf unread;      /* {"path","why"} of the first of them, with commas */
    size_t left_out;     /* files and folders that were left out by their names */
    gbx_buf left_names;  /* names of the first of them */
} gbx_scan_files;

/* Read a folder, or one file. GBX_E_OS: it cannot be opened. */
gbx_status gbx_scan_read(const char *path, gbx_scan_files *files, gbx_error *reterr);
/* Add a file; owns text, a JSON string from malloc(). Beyond the bounds: unread. */
void gbx_scan_add(gbx_scan_files *files, const char *path, char *text, size_t len);
/* True if the names in the path leave it out of an audit; it is then recorded as left out. */
bool gbx_scan_leave_out(gbx_scan_files *files, const char *path);
/* Record that a file was not read, and why. */
void gbx_scan_unread(gbx_scan_files *files, const char *path, const char *why);
/* Read a whole file of at most max bytes. NULL, or why it cannot be read. */
const char *gbx_scan_slurp(int fd, size_t max, gbx_buf *to);
void gbx_scan_files_free(gbx_scan_files *files);

/* One audit: the request and its result. Initially zero. */
typedef struct gbx_scan {
    const char *path;   /* a folder, a file, or a package as npm makes it */
    const char *least;  /* the lowest acceptable grade: "C" */
    gbx_signal *signal; /* aborts it; or NULL */
    gbx_view report;    /* {"isFine","text","json","sarif","html"} */
    gbx_result *result; /* owns what report views */
} gbx_scan;

/*
 * GBX_E_OS: the path cannot be read; GBX_E_DATA: the archive is broken, no code could
 * be read, or the project exceeds the limits. The report names files that could not be
 * judged.
 */
gbx_status gbx_scan_run(gbx_scan *scan, gbx_error *reterr);
void gbx_scan_free(gbx_scan *scan);

#endif
