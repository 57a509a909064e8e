/* SPDX-License-Identifier: MIT */
/* value_sources - values of a policy from the host's environment and files. */
#include "base/cleanup.h"
#include "base/secret_memory.h"
#include "policy/capability_grants.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A value, its line end, and one byte more to detect that it is too long. */
#define ROOM (GBX_SECRET_MAX + 3)

static gbx_status refuse_file(const char *path, size_t len, int e, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];

    return gbx_refuse(reterr, path, 0, "the file '%s' cannot be read: %s",
                      gbx_quote(quote, path, len), strerror(e));
}

/* full is the path to open, path the text as written. */
static gbx_status open_secret(gbx_policy *policy, const char *full, const char *path,
                              size_t len, int *ret_fd, gbx_error *reterr)
{
    const gbx_trusted_file file = {full, "the secret ", O_RDONLY, policy->trust, true};
    char warning[GBX_ERROR_MESSAGE_SIZE];
    gbx_error err = {0};
    gbx_status status = gbx_trusted_file_open(&file, ret_fd, warning, &err);

    if (status != GBX_OK && err.os_errno != EPERM)
        return refuse_file(path, len, err.os_errno, reterr);
    if (status != GBX_OK)
        return gbx_refuse(reterr, path, 0, "%s", err.message);
    return *warning == '\0' ? GBX_OK
                            : gbx_names_add(&policy->warnings, &policy->warning_count,
                                            warning, strlen(warning), reterr);
}

/* Read up to ROOM bytes of fd; -1 with errno on failure. */
static ssize_t read_some(int fd, char *to)
{
    size_t len = 0;

    while (len < ROOM) {
        ssize_t n = read(fd, to + len, ROOM - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

static size_t without_line_end(const char *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\n')
        len--;
    if (len > 0 && text[len - 1] == '\r')
        len--;
    return len;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_host_value(const char *name, size_t name_len, const char **ret,
                          gbx_error *reterr)
{
    char copy[256];
    char quote[GBX_QUOTE_SIZE];
    const char *value;

    (void)gbx_quote(quote, name, name_len);
    if (name_len == 0 || name_len >= sizeof copy ||
        memchr(name, '=', name_len) != NULL || memchr(name, '\0', name_len) != NULL)
        return gbx_refuse(reterr, name, 0,
                          "'%s' is not the name of an environment variable", quote);
    memcpy(copy, name, name_len);
    copy[name_len] = '\0';
    value = getenv(copy);
    if (value == NULL)
        return gbx_refuse(reterr, name, 0,
                          "the environment variable '%s' is not set: set it, or leave "
                          "the entry out",
                          quote);
    *ret = value;
    return GBX_OK;
}

gbx_status gbx_file_disown(gbx_file_policy *file, int fd, gbx_error *reterr)
{
    gbx_file_id *id;
    struct stat st;

    if (fstat(fd, &st) != 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot examine a file of the policy");
    id = gbx_list_room(&file->own, file->own_count, sizeof *id);
    if (id == NULL)
        return gbx_list_nomem(reterr);
    *id = (gbx_file_id){.device = st.st_dev, .inode = st.st_ino};
    file->own_count++;
    return GBX_OK;
}

void gbx_host_text_free(gbx_host_text *text)
{
    gbx_secret_memory_free(text->data, ROOM + 1);
    *text = (gbx_host_text){0};
}

gbx_status gbx_host_file(gbx_policy *policy, const char *base_dir, const char *path,
                         size_t len, gbx_host_text *ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_host_text_free) gbx_host_text text = {0};
    char full[PATH_MAX];
    ssize_t n;
    gbx_status status = gbx_full_path(base_dir, path, len, full, reterr);

    if (status == GBX_OK)
        status = open_secret(policy, full, path, len, &fd, reterr);
    if (status != GBX_OK)
        return status;
    text.data = gbx_secret_memory_new(ROOM + 1);
    if (text.data == NULL)
        return gbx_list_nomem(reterr);
    n = read_some(fd, text.data);
    if (n < 0)
        return refuse_file(path, len, errno, reterr);
    text.len = without_line_end(text.data, (size_t)n);
    text.data[text.len] = '\0';
    status = gbx_file_disown(&policy->file, fd, reterr);
    if (status != GBX_OK)
        return status;
    *ret = text;
    text.data = NULL;
    return GBX_OK;
}
