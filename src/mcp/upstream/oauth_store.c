/* SPDX-License-Identifier: MIT */
/* oauth_store - the file of tokens. A writer decides where tokens are sent, so it is
 * checked like a configuration. A reader gets the tokens, so it is like a secret. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TOKENS   "oauth/tokens.json"
#define FILE_MAX GBX_MIB(1)
/* How long to wait for the lock, which other processes hold during a change. */
#define LOCK_MS 2000

static gbx_status find_path(const char *name, char path[PATH_MAX], gbx_error *err)
{
    if (gbx_file_state_path(name, path))
        return GBX_OK;
    return gbx_fail(err, GBX_E_USAGE, "there is no home directory to keep tokens in");
}

gbx_status gbx_oauth_lock(const char *url, int *ret_fd, gbx_error *reterr)
{
    uint8_t hash[GBX_SHA256_SIZE];
    char name[64];
    char path[PATH_MAX];
    gbx_status status;

    gbx_sha256_of(url, strlen(url), hash);
    (void)snprintf(name, sizeof name, "oauth/%02x%02x%02x%02x%02x%02x%02x%02x/renewal",
                   hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6],
                   hash[7]);
    status = find_path(name, path, reterr);
    return status == GBX_OK ? gbx_file_lock(path, 0, ret_fd, reterr) : status;
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
    if (!gbx_file_state_path(TOKENS, path))
        return GBX_OK; /* without a home nothing is kept */
    all = read_file(path, trust, reterr);
    if (all == NULL)
        return reterr->status;
    *ret = json_incref(json_object_get(all, url));
    json_decref(all);
    return GBX_OK;
}

static gbx_status write_file(const char *path, const json_t *all, gbx_error *err)
{
    char *text = gbx_need(json_dumps(all, JSON_INDENT(2)));
    size_t len = strlen(text);
    gbx_status status =
        len <= FILE_MAX
            ? gbx_file_replace(path, text, len, NULL, err)
            : gbx_fail(err, GBX_E_DATA, "'%s' would have more than 1 MiB", path);

    explicit_bzero(text, len);
    free(text);
    return status;
}

/* Change `all`. False: nothing has changed. */
static bool change(json_t *all, const char *url, json_t *kept, gbx_oauth_change how)
{
    json_t *old = json_object_get(all, url);
    json_t *before;
    bool is_changed;

    switch (how) {
    case GBX_OAUTH_PUT: return json_object_set(all, url, kept) == 0;
    case GBX_OAUTH_REMOVE: return json_object_del(all, url) == 0;
    case GBX_OAUTH_MERGE: break;
    }
    if (old == NULL) /* it was removed meanwhile */
        return false;
    before = gbx_need(json_copy(old));
    is_changed = json_object_update(old, kept) == 0 && !json_equal(before, old);
    json_decref(before);
    return is_changed;
}

gbx_status gbx_oauth_write(const char *url, gbx_trust trust, json_t *kept,
                           gbx_oauth_change how, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int locked = -1;
    char path[PATH_MAX];
    gbx_status status = find_path(TOKENS, path, reterr);
    json_t *all;

    if (status == GBX_OK)
        status = gbx_file_lock(path, LOCK_MS, &locked, reterr);
    if (status != GBX_OK)
        return status;
    all = read_file(path, trust, reterr);
    if (all == NULL)
        return reterr->status;
    if (change(all, url, kept, how))
        status = write_file(path, all, reterr);
    json_decref(all);
    return status;
}

const char *gbx_oauth_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text != NULL && strlen(text) <= GBX_OAUTH_TEXT_MAX ? text : "";
}
