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

#define GBX_PATH_NAMES_MAX 2u

/* Take the path out of `[path]`; it ends in NUL and has no other. NULL, or what is
 * wrong with it: a constant text, and the code of the error. */
typedef struct gbx_path_fault {
    const char *name; /* "TypeError" */
    const char *code;
    const char *text;
} gbx_path_fault;

const gbx_path_fault *gbx_path_from_args(gbx_span args_json, gbx_buf *path);

/*
 * The names, below the directory that the policy calls root_name, that path stands for,
 * in the order in which to try them; returns how many. They borrow from path.
 *
 *   1. If path begins with root_name, component by component, the rest of it.
 *   2. If path is relative, all of it.
 *
 * A component "." and a repeated slash count for nothing; ".." is a component like any
 * other. Nothing is normalised: names are bytes.
 */
size_t gbx_path_names(const char *path, const char *root_name,
                      const char *ret[GBX_PATH_NAMES_MAX]);

#endif
