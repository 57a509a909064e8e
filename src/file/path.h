/* SPDX-License-Identifier: MIT */
/*
 * path - from the path that the code wrote to the names to try below a directory.
 *
 * Text only: nothing here looks at a file or protects anything. A name that leads out
 * of the directory is passed on unchanged, for the kernel to refuse.
 */
#ifndef GBX_FILE_PATH_H
#define GBX_FILE_PATH_H

#include "base/buf.h"
#include "wire/reader.h"

/* Extract the path from `[path]`; it ends in NUL and contains no other. NULL, or the
 * fault: a constant text, and the code of the error. */
typedef struct gbx_path_fault {
    const char *name; /* "TypeError" */
    const char *code;
    const char *text;
} gbx_path_fault;

const gbx_path_fault *gbx_path_from_args(gbx_span args_json, gbx_buf *path);

/* The names for a path below one directory, in the order in which to try them; NULL
 * if not applicable. */
typedef struct gbx_path_names {
    const char *named; /* the path begins with the policy's name for the directory:
                          the rest of it, or "." */
    const char *whole; /* the unchanged path, unless that is the same */
} gbx_path_names;

/*
 * ret borrows from path. Components are compared one by one. "." and repeated slashes
 * are ignored, ".." is a component like any other, and nothing is normalised: names are
 * bytes.
 */
void gbx_path_below(const char *path, const char *root_name, gbx_path_names *ret);

#endif
