/* SPDX-License-Identifier: MIT */
/* replace - locks and atomically replaces files; see config.h. */
#include "mcp/config/config.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "policy/json_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BACKUPS_MAX 1000
#define LOCK_STEP                     \
    {                                 \
        .tv_nsec = 10 * GBX_NS_PER_MS \
    }

static gbx_status cannot(const char *path, int error, gbx_error *reterr)
{
    errno = 0; /* the message includes it */
    return gbx_fail(reterr, GBX_E_OS, "cannot write '%s': %s", path, strerror(error));
}

/* Give the old file a second name: the new file replaces only the first. */
static gbx_status keep_old(const char *path, char backup[PATH_MAX], gbx_error *reterr)
{
    for (int i = 1; i <= BACKUPS_MAX; i++) {
        int n = i == 1 ? snprintf(backup, PATH_MAX, "%s.backup", path)
                       : snprintf(backup, PATH_MAX, "%s.backup.%d", path, i);

        if (n < 0 || n >= PATH_MAX)
            return cannot(path, ENAMETOOLONG, reterr);
        if (link(path, backup) == 0)
            return GBX_OK;
        if (errno != EEXIST)
            return cannot(backup, errno, reterr);
    }
    return cannot(backup, EEXIST, reterr);
}

static void sync_folder(const char *path)
{
    GBX_CLEANUP(gbx_free) char *folder = gbx_need(gbx_directory_of(path));
    GBX_CLEANUP(gbx_fd_close)
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        (void)fsync(fd);
}

gbx_status gbx_file_lock(const char *path, int wait_ms, int *ret_fd, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_free) char *folder = gbx_need(gbx_directory_of(path));
    int64_t until_ns = gbx_clock_now_ns() + wait_ms * GBX_NS_PER_MS;
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    char above[PATH_MAX];

    (void)snprintf(above, sizeof above, "%s", path);
    for (char *at = above + 1; *at != '\0'; at++)
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(above, 0700);
            *at = '/';
        }
    if (access(folder, W_OK) != 0)
        return GBX_OK;
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return cannot(folder, errno, reterr);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0 &&
           (errno == EWOULDBLOCK || errno == EINTR)) {
        if (gbx_clock_now_ns() >= until_ns)
            return cannot(folder, EBUSY, reterr);
        (void)nanosleep(&(struct timespec)LOCK_STEP, NULL);
    }
    *ret_fd = gbx_fd_take(&fd);
    return GBX_OK;
}

gbx_status gbx_file_replace(const char *path, const char *data, size_t len,
                            char backup[PATH_MAX], gbx_error *reterr)
{
    GBX_CLEANUP(gbx_free) char *real = realpath(path, NULL);
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    char temporary[PATH_MAX];
    const char *target = real != NULL ? real : path;
    struct stat st;
    bool is_new = real == NULL;
    gbx_status status = GBX_OK;

    if (is_new && errno != ENOENT)
        return cannot(path, errno, reterr);
    if (!is_new && stat(real, &st) != 0)
        return cannot(path, errno, reterr);
    if (!is_new && !S_ISREG(st.st_mode))
        return cannot(path, EINVAL, reterr);
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", target) >=
        (int)sizeof temporary)
        return cannot(path, ENAMETOOLONG, reterr);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return cannot(path, errno, reterr);
    if (!is_new && (st.st_uid != geteuid() || st.st_gid != getegid()))
        (void)!fchown(fd, st.st_uid, st.st_gid);
    if (!gbx_fd_write(fd, data, len) || fsync(fd) != 0)
        status = cannot(path, errno, reterr);
    if (status == GBX_OK && backup != NULL) {
        backup[0] = '\0';
        if (!is_new)
            status = keep_old(target, backup, reterr);
    }
    if (status == GBX_OK && rename(temporary, target) != 0)
        status = cannot(path, errno, reterr);
    if (status != GBX_OK)
        (void)unlink(temporary);
    else
        sync_folder(target);
    return status;
}

bool gbx_file_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mode == b->st_mode &&
           a->st_uid == b->st_uid &&
           memcmp(&a->st_mtim, &b->st_mtim, sizeof a->st_mtim) == 0 &&
           memcmp(&a->st_ctim, &b->st_ctim, sizeof a->st_ctim) == 0;
}

bool gbx_file_state_path(const char *name, char path[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int n = -1;

    if (state != NULL && state[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/glovebox/%s", state, name);
    else if (home != NULL && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.local/state/glovebox/%s", home, name);
    if (n > 0 && n < PATH_MAX)
        return true;
    path[0] = '\0';
    return false;
}
