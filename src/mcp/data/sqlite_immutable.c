/* SPDX-License-Identifier: MIT */
/* sqlite_immutable - nothing is opened here: closing a file would drop the locks that
 * another thread of the process has on it. */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the log missing or empty? */
static bool has_no_log(const char *path)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf log;
    struct stat st;

    gbx_buf_init(&log, strlen(path) + sizeof "-wal");
    if (!gbx_buf_puts(&log, path) || !gbx_buf_append(&log, "-wal", sizeof "-wal"))
        return false;
    if (stat((const char *)log.data, &st) < 0)
        return errno == ENOENT;
    return st.st_size == 0;
}

static bool put_uri(const char *path, gbx_buf *to)
{
    gbx_buf_init(to, strlen(path) * 3 + 64);
    (void)gbx_buf_puts(to, "file://");
    for (const char *c = path; *c != 0; c++)
        (void)gbx_buf_printf(to,
                             isalnum((unsigned char)*c) || *c == '/' ? "%c" : "%%%02X",
                             (unsigned char)*c);
    return gbx_buf_append(to, "?immutable=1", sizeof "?immutable=1");
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_immutable_look(const char *path, gbx_immutable *ret)
{
    *ret = (gbx_immutable){.path = realpath(path, NULL)};
    return ret->path != NULL && stat(ret->path, &ret->then) == 0 &&
           has_no_log(ret->path) && put_uri(ret->path, &ret->uri);
}

bool gbx_immutable_lasts(const gbx_immutable *s)
{
    struct stat now;

    return stat(s->path, &now) == 0 && now.st_dev == s->then.st_dev &&
           now.st_ino == s->then.st_ino && now.st_size == s->then.st_size &&
           memcmp(&now.st_mtim, &s->then.st_mtim, sizeof now.st_mtim) == 0;
}

void gbx_immutable_cleanup(gbx_immutable *s)
{
    free(s->path);
    gbx_buf_cleanup(&s->uri);
}
