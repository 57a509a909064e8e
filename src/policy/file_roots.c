/* SPDX-License-Identifier: MIT */
/*
 * file_roots - directories below which code may read, opened when the policy is made.
 *
 * From then on a root is its descriptor: renaming the directory, or replacing it by a
 * link, changes nothing.
 */
#include "base/cleanup.h"
#include "policy/capability_grants.h"
#include "policy/policy.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* File systems whose "files" are the kernel and other processes. */
static const long not_files[] = {
    PROC_SUPER_MAGIC,   SYSFS_MAGIC,        DEBUGFS_MAGIC,
    TRACEFS_MAGIC,      CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
    DEVPTS_SUPER_MAGIC, BPF_FS_MAGIC,       SECURITYFS_MAGIC,
};

static gbx_status refuse_path(const char *text, size_t len, int e, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];

    (void)gbx_quote(quote, text, len);
    if (e == ENOENT)
        return gbx_refuse(reterr, text, 0, "the directory '%s' does not exist", quote);
    if (e == ENOTDIR)
        return gbx_refuse(reterr, text, 0,
                          "'%s' is not a directory: list the one that the file is in",
                          quote);
    return gbx_refuse(reterr, text, 0, "the directory '%s' cannot be opened: %s", quote,
                      strerror(e));
}

/* Directories that are more than a collection of files. */
static gbx_status check_place(const char *path, int fd, const char *text, size_t len,
                              gbx_error *reterr)
{
    struct statfs fs;

    if (strcmp(path, "/") == 0)
        return gbx_refuse(reterr, text, 0,
                          "'/' is the whole machine: list the directories that the "
                          "code needs");
    if (strcmp(path, "/dev") == 0 || strncmp(path, "/dev/", 5) == 0)
        return gbx_refuse(reterr, text, 0, "there are devices in '/dev', not files");
    if (fstatfs(fd, &fs) != 0)
        return refuse_path(text, len, errno, reterr);
    for (size_t i = 0; i < GBX_COUNTOF(not_files); i++)
        if (fs.f_type == not_files[i])
            return gbx_refuse(reterr, text, 0,
                              "what is there is the kernel's and other processes', no "
                              "files");
    return GBX_OK;
}

/* Open the directory and resolve its real path. */
static gbx_status open_root(const char *path, const char *text, size_t len, int *ret_fd,
                            char **ret_path, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_free) char *real = realpath(path, NULL);
    gbx_status status;

    if (real != NULL)
        fd = open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOMEM)
        return gbx_list_nomem(reterr);
    if (fd < 0)
        return refuse_path(text, len, errno, reterr);
    status = check_place(real, fd, text, len, reterr);
    if (status != GBX_OK)
        return status;
    *ret_fd = gbx_fd_take(&fd);
    *ret_path = real;
    real = NULL;
    return GBX_OK;
}

/* Add to all three lists, or to none. */
static gbx_status keep(gbx_file_policy *file, int *fd, char *real, const char *text,
                       size_t len, gbx_error *reterr)
{
    int *fd_room = gbx_list_room(&file->root_fds, file->root_count, sizeof *fd_room);
    char **root = gbx_list_room(&file->roots, file->root_count, sizeof *root);
    char **name = gbx_list_room(&file->names, file->root_count, sizeof *name);

    if (fd_room == NULL || root == NULL || name == NULL)
        return gbx_list_nomem(reterr);
    *name = strndup(text, len);
    *root = strdup(real);
    if (*name == NULL || *root == NULL) {
        free(*name);
        free(*root);
        return gbx_list_nomem(reterr);
    }
    *fd_room = gbx_fd_take(fd);
    file->root_count++;
    return GBX_OK;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_full_path(const char *base_dir, const char *text, size_t len, char *out,
                         gbx_error *reterr)
{
    bool is_absolute = len > 0 && text[0] == '/';
    int n;

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the path is missing");
    if (memchr(text, '\0', len) != NULL)
        return gbx_refuse(reterr, text, 0, "a path has no NUL");
    n = len >= PATH_MAX
            ? PATH_MAX
            : snprintf(out, PATH_MAX, "%s%s%.*s", is_absolute ? "" : base_dir,
                       is_absolute ? "" : "/", (int)len, text);
    if (n >= PATH_MAX)
        return gbx_refuse(reterr, text, 0, "the path is longer than %d bytes",
                          PATH_MAX - 1);
    return GBX_OK;
}

gbx_status gbx_grant_root(gbx_file_policy *file, size_t since, const char *base_dir,
                          const char *text, size_t len, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_free) char *real = NULL;
    char quote[GBX_QUOTE_SIZE];
    char path[PATH_MAX];
    gbx_status status = gbx_list_check(file->root_count, "directories", reterr);

    if (status == GBX_OK)
        status = gbx_full_path(base_dir, text, len, path, reterr);
    if (status == GBX_OK)
        status = open_root(path, text, len, &fd, &real, reterr);
    if (status != GBX_OK)
        return status;
    assert(real != NULL); /* else opening it has failed */
    for (size_t i = 0; i < file->root_count; i++) {
        if (strcmp(file->roots[i], real) != 0)
            continue;
        if (i < since)
            return GBX_OK;
        return gbx_refuse(reterr, text, 0, "'%s' is listed twice: leave one out",
                          gbx_quote(quote, text, len));
    }
    return keep(file, &fd, real, text, len, reterr);
}
