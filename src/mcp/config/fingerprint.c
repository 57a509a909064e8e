/* SPDX-License-Identifier: MIT */
/* fingerprint - see config.h. The contents decide, not the time: editors and file
 * synchronizers rewrite files without changing them. */
#include "mcp/config/config.h"

#include "base/cleanup.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size &&
           memcmp(&a->st_mtim, &b->st_mtim, sizeof a->st_mtim) == 0 &&
           memcmp(&a->st_ctim, &b->st_ctim, sizeof a->st_ctim) == 0;
}

static bool has_digest(const gbx_config_fingerprint *stamp, const void *text,
                       size_t len)
{
    uint8_t digest[GBX_SHA256_SIZE];

    gbx_sha256_of(text, len, digest);
    return memcmp(digest, stamp->digest, sizeof digest) == 0;
}

/* Read everything, or just enough to see a difference: one byte more than before. */
static bool read_text(int fd, size_t max, gbx_buf *to)
{
    while (to->len < max) {
        uint8_t *at = gbx_buf_reserve(to, max - to->len);
        ssize_t n = at != NULL ? read(fd, at, max - to->len) : -1;

        if (n < 0 && at != NULL && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        to->len += (size_t)n;
    }
    return true;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_config_fingerprint_set(gbx_config_fingerprint *stamp, int fd, const void *text,
                                size_t len)
{
    stamp->is_set = fstat(fd, &stamp->then) == 0 && S_ISREG(stamp->then.st_mode);
    gbx_sha256_of(text, len, stamp->digest);
    stamp->len = len;
}

bool gbx_config_has_changed(const gbx_mcp_config *config)
{
    gbx_config_fingerprint *stamp = config->stamp;
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    struct stat now;
    bool has_changed = false;

    if (!stamp->is_set || stat(config->path, &now) != 0 || !S_ISREG(now.st_mode) ||
        is_same_file(&now, &stamp->then))
        return false;
    fd = open(config->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &now) != 0 || !S_ISREG(now.st_mode))
        return false;
    gbx_buf_init_secret(&text, stamp->len + 1);
    if (read_text(fd, stamp->len + 1, &text)) {
        has_changed = !has_digest(stamp, text.data, text.len);
        if (!has_changed)
            stamp->then = now;
    }
    return has_changed;
}
