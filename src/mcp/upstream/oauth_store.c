/* SPDX-License-Identifier: MIT */
/* oauth_store - the file of tokens. Whoever can write it decides to whom they go, so it is
 * checked like a configuration; whoever can read it has them, so it is like a secret. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX GBX_MIB(1)

static gbx_status find_path(char path[PATH_MAX], gbx_error *err)
{
    if (gbx_file_state_path("oauth/tokens.json", path))
        return GBX_OK;
    return gbx_fail(err, GBX_E_USAGE, "there is no home directory to keep tokens in");
}

gbx_status gbx_oauth_lock(int wait_ms, int *ret_fd, gbx_error *reterr)
{
    char path[PATH_MAX];
    gbx_status status = find_path(path, reterr);

    if (status != GBX_OK)
        return status;
    gbx_file_make_folders(path);
    return gbx_file_lock(path, wait_ms, ret_fd, reterr);
}

/* An empty object if there is no file. NULL with an error. */
static json_t *read_file(const char *path, gbx_trust trust, gbx_error *err)
{
    const gbx_trusted_file file = {path, "the tokens ", O_RDONLY | O_NONBLOCK, trust,
                                   true};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = FILE_MAX, .is_secret = true};
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    json_error_t e;
    json_t *all;
    struct stat st;

    if (stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return gbx_need(json_object());
    if (gbx_trusted_file_open(&file, &fd, NULL, err) != GBX_OK)
        return NULL;
    all = gbx_buf_read(&text, fd) ? json_loadb((const char *)text.data, text.len,
                                               JSON_REJECT_DUPLICATES, &e)
                                  : NULL;
    if (json_is_object(all))
        return all;
    json_decref(all);
    (void)
        gbx_fail(err, GBX_E_DATA,
                 "the tokens '%s' are not a JSON object: remove the file, and sign in "
                 "again",
                 path);
    return NULL;
}

gbx_status gbx_oauth_read(const char *url, gbx_trust trust, json_t **ret,
                          gbx_error *reterr)
{
    char path[PATH_MAX];
    json_t *all;

    *ret = NULL;
    if (!gbx_file_state_path("oauth/tokens.json", path))
        return GBX_OK; /* without a home nothing is kept */
    all = read_file(path, trust, reterr);
    if (all == NULL)
        return reterr->status;
    *ret = json_incref(json_object_get(all, url));
    json_decref(all);
    return GBX_OK;
}

gbx_status gbx_oauth_write(const char *url, gbx_trust trust, json_t *kept,
                           gbx_error *reterr)
{
    char path[PATH_MAX];
    gbx_status status = find_path(path, reterr);
    json_t *all = status == GBX_OK ? read_file(path, trust, reterr) : NULL;
    char *text;

    if (all == NULL)
        return reterr->status;
    if (kept == NULL)
        (void)json_object_del(all, url);
    else
        (void)gbx_need(json_object_set(all, url, kept) == 0 ? all : NULL);
    text = gbx_need(json_dumps(all, JSON_INDENT(2)));
    status = gbx_file_replace(path, text, strlen(text), 0077, NULL, reterr);
    explicit_bzero(text, strlen(text));
    free(text);
    json_decref(all);
    return status;
}

const char *gbx_oauth_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text != NULL && strlen(text) <= GBX_OAUTH_TEXT_MAX ? text : "";
}
