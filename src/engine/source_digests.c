/* SPDX-License-Identifier: MIT */
/* source_digests - digests of datasets and preloads. Reading takes a while, so it is
 * done without the lock, through a duplicate descriptor, and the digest is kept with
 * the source. */
#include "engine/engine.h"
#include "replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool digest_of(int fd, uint64_t size, uint8_t *ret)
{
    uint8_t data[GBX_KIB(16)];
    gbx_sha256 s;

    gbx_sha256_init(&s);
    for (uint64_t at = 0; at < size;) {
        ssize_t n = pread(fd, data, sizeof data, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        gbx_sha256_add(&s, data, (size_t)n);
        at += (uint64_t)n;
    }
    gbx_sha256_end(&s, ret);
    return true;
}

static const gbx_dataset *first_without(const gbx_dataset *list)
{
    while (list != NULL && list->has_sha256)
        list = list->next;
    return list;
}

/* Find a source without a digest and duplicate its descriptor; -1: all have one. */
static int find_without(gbx_engine *engine, uint64_t *ret_size, uint64_t *ret_serial)
{
    const gbx_dataset *d;
    int fd = -1;

    (void)pthread_mutex_lock(&engine->lock);
    d = first_without(engine->datasets);
    if (d == NULL)
        d = first_without(engine->preloads);
    if (d != NULL) {
        fd = fcntl(d->memfd, F_DUPFD_CLOEXEC, 0);
        *ret_size = d->size;
        *ret_serial = d->serial;
        if (fd < 0)
            fd = -errno - 1;
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return fd;
}

static void keep(gbx_engine *engine, uint64_t serial, const uint8_t *digest)
{
    gbx_dataset *lists[2];

    (void)pthread_mutex_lock(&engine->lock);
    lists[0] = engine->datasets;
    lists[1] = engine->preloads;
    for (size_t i = 0; i < GBX_COUNTOF(lists); i++) {
        for (gbx_dataset *d = lists[i]; d != NULL; d = d->next) {
            if (d->serial == serial) {
                memcpy(d->sha256, digest, sizeof d->sha256);
                d->has_sha256 = true;
            }
        }
    }
    (void)pthread_mutex_unlock(&engine->lock);
}

static gbx_status make_digests(gbx_engine *engine, gbx_error *reterr)
{
    for (;;) {
        uint8_t digest[GBX_SHA256_SIZE];
        uint64_t size = 0, serial = 0;
        GBX_CLEANUP(gbx_fd_close) int fd = find_without(engine, &size, &serial);

        if (fd == -1)
            return GBX_OK;
        if (fd < 0 || !digest_of(fd, size, digest))
            return gbx_fail(reterr, GBX_E_OS,
                            "cannot read a dataset or preload once more");
        keep(engine, serial, digest);
    }
}

/* False if memory is out, or if a source was added meanwhile. The lock is held. */
static bool copy_all(const gbx_dataset *list, gbx_record_head *to,
                     gbx_record_sources *ret)
{
    size_t count = 0;

    for (const gbx_dataset *d = list; d != NULL; d = d->next)
        count++;
    ret->list = calloc(count + 1, sizeof *ret->list);
    if (ret->list == NULL)
        return false;
    for (const gbx_dataset *d = list; d != NULL; d = d->next) {
        gbx_record_source *s = &ret->list[ret->count];
        size_t len = strlen(d->name);
        uint8_t *name = gbx_record_chunk(to, len);

        if (name == NULL || !d->has_sha256)
            return false;
        memcpy(name, d->name, len);
        *s = (gbx_record_source){.name = {name, len}, .size = d->size};
        memcpy(s->sha256, d->sha256, sizeof s->sha256);
        ret->count++;
    }
    return true;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_sources_take(gbx_engine *engine, gbx_record_head *to,
                            uint64_t *ret_load_seq, gbx_error *reterr)
{
    gbx_status status = make_digests(engine, reterr);
    bool ok;

    if (status != GBX_OK)
        return status;
    (void)pthread_mutex_lock(&engine->lock);
    ok = copy_all(engine->datasets, to, &to->datasets) &&
         copy_all(engine->preloads, to, &to->preloads);
    /* A source that is being loaded is in the lists, but no worker has it yet: none
     * fits. */
    *ret_load_seq = engine->is_loading ? 0 : engine->load_seq;
    (void)pthread_mutex_unlock(&engine->lock);
    return ok ? GBX_OK
              : gbx_fail(
                    reterr, GBX_E_NOMEM,
                    "no memory for the recording, or a dataset or preload has just come");
}
