/* SPDX-License-Identifier: MIT */
/* path - see path.h. The text is hostile; every byte of it is bounded by PATH_MAX. */
#include "file/path.h"

#include "base/json.h"

#include <limits.h>
#include <string.h>

/* A character of JSON text takes six bytes at most, and these two brackets and quotes. */
#define ARGS_MAX (PATH_MAX * 6 + 64)

static const gbx_path_fault not_a_string = {"TypeError", "ERR_INVALID_ARG_TYPE",
                                            "the \"path\" argument must be a string"};
static const gbx_path_fault not_text = {
    "TypeError", "ERR_INVALID_ARG_VALUE",
    "the \"path\" argument must be text, without NUL and unpaired surrogates"};
static const gbx_path_fault backslash = {
    "TypeError", "ERR_INVALID_ARG_VALUE",
    "the \"path\" argument has a backslash: write '/' between names"};
static const gbx_path_fault empty = {"Error", "ENOENT",
                                     "the \"path\" argument is empty"};
static const gbx_path_fault too_long = {
    "Error", "ENAMETOOLONG", "the \"path\" argument is longer than 4095 bytes"};

/* Over "/" and "." components. */
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

/* ---- public to other modules -------------------------------------------- */

const gbx_path_fault *gbx_path_from_args(gbx_span args_json, gbx_buf *path)
{
    const char *at = (const char *)args_json.data;
    const char *end;

    gbx_buf_init(path, PATH_MAX);
    if (args_json.len > ARGS_MAX)
        return &too_long;
    if (!gbx_json_check(at, args_json.len, 2, NULL) || *at != '[' || at[1] != '"')
        return &not_a_string;
    end = at++ + args_json.len;
    if (!gbx_json_take_string(&at, end, path))
        return path->failed ? &too_long : &not_text;
    if (at != end - 1)
        return &not_a_string;
    if (path->len == 0)
        return &empty;
    if (memchr(path->data, 0, path->len) != NULL)
        return &not_text;
    if (memchr(path->data, '\\', path->len) != NULL)
        return &backslash;
    return gbx_buf_append(path, "", 1) ? NULL : &too_long;
}

size_t gbx_path_names(const char *path, const char *root_name,
                      const char *ret[GBX_PATH_NAMES_MAX])
{
    const char *rest = below(path, root_name);
    size_t count = 0;

    if (rest != NULL)
        ret[count++] = *rest != '\0' ? rest : ".";
    if (*path != '/' && rest != path)
        ret[count++] = path;
    return count;
}
