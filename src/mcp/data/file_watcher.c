/* SPDX-License-Identifier: MIT */
/*
 * file_watcher - polls every file. A changed file is polled faster, and reported when
 * two polls agree. A file that keeps changing is reported after PATIENCE_MOST polls,
 * and again when it stops.
 *
 * Polling works where events do not: a folder may be replaced, itself or through a link
 * on the way to it, and some file systems send no events.
 *
 * Data that a writer appends to a database's log counts only when the log's index
 * (-shm) says so, which may be later.
 */
#include "base/cleanup.h"
#include "mcp/data/datasets.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Time between polls: usually, and while a file changes. */
#define LOOK_MS       250
#define UNREST_MS     40
#define PATIENCE_MOST 50 /* polls */

/* The part of a log's index that readers do not write. */
#define INDEX_SIZE 96

/* The state of a file: a changed one differs in a member. */
typedef struct looks {
    struct {
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec written;
        struct timespec changed; /* unlike `written`, programs cannot set it */
    } of[2];                     /* the file, and the log of a database */
    char index[INDEX_SIZE];      /* of the log */
} looks;

typedef struct watched {
    const gbx_spec *spec;
    int index;    /* descriptor of a log's index, or -1 */
    looks loaded; /* at the last report */
    looks last;
    bool is_partly; /* the last report was during changes */
    int patience;
} watched;

struct gbx_data_watch {
    gbx_mcp_timer look;
    watched *files;
    size_t count;
    void (*changed)(void *user, size_t index, gbx_source_extent extent);
    void *user;
};

static void look_at(const char *path, size_t which, looks *ret)
{
    struct stat st;

    if (stat(path, &st) < 0 || (which == 1 && st.st_size == 0))
        return; /* an empty log counts as missing */
    ret->of[which].device = st.st_dev;
    ret->of[which].inode = st.st_ino;
    ret->of[which].size = st.st_size;
    ret->of[which].written = st.st_mtim;
    ret->of[which].changed = st.st_ctim;
}

/* Like SQLite, look next to the target of a link. A reader may remove and recreate the
 * index: a missing one counts as unchanged. */
static void look_at_log(watched *f, looks *ret)
{
    GBX_CLEANUP(gbx_free) char *real = realpath(f->spec->path, NULL);
    char path[PATH_MAX];
    struct stat now, held;

    memcpy(ret->index, f->last.index, INDEX_SIZE);
    if (real == NULL || snprintf(path, sizeof path, "%s-wal", real) >= (int)sizeof path)
        return;
    look_at(path, 1, ret);
    (void)snprintf(path, sizeof path, "%s-shm", real);
    /* Keep the file open while it is the same: closing it would drop SQLite's locks on
     * it in this process. */
    if (stat(path, &now) == 0 &&
        (f->index < 0 || fstat(f->index, &held) != 0 || held.st_dev != now.st_dev ||
         held.st_ino != now.st_ino)) {
        gbx_fd_close(&f->index);
        f->index = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (f->index >= 0)
        (void)!pread(f->index, ret->index, INDEX_SIZE, 0);
}

static looks look(watched *f)
{
    looks now;

    memset(&now, 0, sizeof now); /* compared as bytes */
    look_at(f->spec->path, 0, &now);
    if (f->spec->format == GBX_SPEC_SQLITE)
        look_at_log(f, &now);
    return now;
}

/* ---- changes --------------------------------------------------------------------- */

static void tell(gbx_data_watch *w, size_t index, const looks *now,
                 gbx_source_extent extent)
{
    watched *f = &w->files[index];

    f->loaded = *now;
    f->is_partly = extent == GBX_SOURCE_LINES; /* the rest must be read later */
    f->patience = PATIENCE_MOST;
    w->changed(w->user, index, extent);
}

/* Poll one file, and report changes. True if it was unchanged since the last poll. */
static bool examine(gbx_data_watch *w, size_t index)
{
    watched *f = &w->files[index];
    looks now = look(f);
    bool is_still = memcmp(&now, &f->last, sizeof now) == 0;

    f->last = now;
    if (is_still && (f->is_partly || memcmp(&now, &f->loaded, sizeof now) != 0))
        tell(w, index, &now, GBX_SOURCE_WHOLE);
    else if (is_still)
        f->patience = PATIENCE_MOST;
    else if (--f->patience <= 0)
        tell(w, index, &now, GBX_SOURCE_LINES);
    return is_still;
}

static void on_look(void *user)
{
    gbx_data_watch *w = user;
    bool is_still = true;

    for (size_t i = 0; i < w->count; i++)
        is_still &= examine(w, i);
    gbx_mcp_timer_set(&w->look, is_still ? LOOK_MS : UNREST_MS);
}

gbx_data_watch *gbx_data_watch_new(
    gbx_mcp_loop *loop, const gbx_spec *const *specs, size_t count,
    void (*changed)(void *user, size_t index, gbx_source_extent extent), void *user)
{
    gbx_data_watch *w = gbx_need(calloc(1, sizeof *w));

    *w = (gbx_data_watch){.count = count, .changed = changed, .user = user};
    w->files = gbx_need(calloc(count, sizeof *w->files));
    for (size_t i = 0; i < count; i++) {
        w->files[i].spec = specs[i];
        w->files[i].index = -1;
        w->files[i].patience = PATIENCE_MOST;
        w->files[i].loaded = w->files[i].last = look(&w->files[i]);
    }
    gbx_mcp_timer_init(&w->look, loop, on_look, w);
    gbx_mcp_timer_set(&w->look, LOOK_MS);
    return w;
}

void gbx_data_watch_free(gbx_data_watch *w)
{
    if (w == NULL)
        return;
    gbx_mcp_timer_cleanup(&w->look);
    for (size_t i = 0; i < w->count; i++)
        gbx_fd_close(&w->files[i].index);
    free(w->files);
    free(w);
}
