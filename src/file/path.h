/* SPDX-License-Identifier: MIT */
/*
 * path - from the path that code in the box wrote to the names to try below a directory.
 *
 * Only text: no file is looked at, and nothing here keeps anybody out. A name that
 * leads out of the directory is passed on as it is, for the kernel to refuse.
 */
#ifndef GBX_FILE_PATH_H
#define GBX_FILE_PATH_H

#include "base/buf.h"
#include "wire/reader.h"

/* Take the path out of `[path]`; it ends in NUL and has no other. NULL, or what is
 * wrong with it: a constant text, and the code of the error. */
typedef struct gbx_path_fault {
    const char *name; /* "TypeError" */
    const char *code;
    const char *text;
} gbx_path_fault;

const gbx_path_fault *gbx_path_from_args(gbx_span args_json, gbx_buf *path);

/* What a path stands for below one directory, in the order in which to try it; NULL if
 * not. */
typedef struct gbx_path_names {
    const char *named; /* the path begins with what the policy calls the directory: the
                          rest of it, or "." */
    const char *whole; /* the path as it is, unless that is the same */
} gbx_path_names;

/*
 * ret borrows from path. Components are compared one by one; "." and a repeated slash
 * count for nothing, ".." is a component like any other, and nothing is normalised:
 * names are bytes.
 */
void gbx_path_below(const char *path, const char *root_name, gbx_path_names *ret);

#endif
