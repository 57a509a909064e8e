/* SPDX-License-Identifier: MIT */
/* path - the names to try for a path. It is hostile text, of at most PATH_MAX bytes. */
#include "file/file.h"

#include "base/json_view.h"

#include <limits.h>
#include <string.h>

static const gbx_path_fault not_a_string = {"TypeError", "ERR_INVALID_ARG_TYPE",
                                            "the \"path\" argument must be a string"};
static const gbx_path_fault not_text = {
    "TypeError", "ERR_INVALID_ARG_VALUE",
    "the \"path\" argument must be text, without NUL and without half characters"};
static const gbx_path_fault backslash = {
    "TypeError", "ERR_INVALID_ARG_VALUE",
    "the \"path\" argument has a backslash: write '/' between names"};
static const gbx_path_fault empty = {"Error", "ENOENT",
                                     "the \"path\" argument is empty"};
static const gbx_path_fault too_long = {
    "Error", "ENAMETOOLONG", "the \"path\" argument is longer than 4095 bytes"};

/* Skip "/" and "." components. */
static const char *skip_nothing(const char *at)
{
    for (;;) {
        if (*at == '/')
            at++;
        else if (*at == '.' && (at[1] == '/' || at[1] == '\0'))
            at++;
        else
            return at;
    }
}

/* Step over the components of root_name; NULL if path does not begin with them. */
static const char *below(const char *path, const char *root_name)
{
    if ((*path == '/') != (*root_name == '/'))
        return NULL;
    for (;;) {
        size_t len;

        root_name = skip_nothing(root_name);
        path = skip_nothing(path);
        len = strcspn(root_name, "/");
        if (len == 0)
            return path;
        if (strncmp(path, root_name, len) != 0 ||
            (path[len] != '/' && path[len] != '\0'))
            return NULL;
        path += len;
        root_name += len;
    }
}

const gbx_path_fault *gbx_path_from_args(gbx_span args_json, gbx_buf *path)
{
    const char *text = (const char *)args_json.data;
    size_t cursor = 0;
    gbx_view args;
    gbx_view name;
    gbx_view value;

    gbx_buf_init(path, PATH_MAX);
    if (!gbx_view_open(text, args_json.len, &args) || gbx_view_kind(args) != '[' ||
        !gbx_view_next(args, &cursor, &name, &value) || gbx_view_kind(value) != '"')
        return &not_a_string;
    if (!gbx_view_append_text(value, path))
        return &too_long;
    if (gbx_view_next(args, &cursor, &name, &value))
        return &not_a_string;
    if (path->len == 0)
        return &empty;
    /* An unpaired surrogate has become U+FFFD: such a path is refused. */
    if (memchr(path->data, 0, path->len) != NULL ||
        memmem(path->data, path->len, "\xEF\xBF\xBD", 3) != NULL)
        return &not_text;
    if (memchr(path->data, '\\', path->len) != NULL)
        return &backslash;
    return gbx_buf_append(path, "", 1) ? NULL : &too_long;
}

void gbx_path_below(const char *path, const char *root_name, gbx_path_names *ret)
{
    const char *rest = below(path, root_name);

    *ret = (gbx_path_names){0};
    if (rest != NULL)
        ret->named = *rest != '\0' ? rest : ".";
    if (rest != path)
        ret->whole = path;
}
