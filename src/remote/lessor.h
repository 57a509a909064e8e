/* SPDX-License-Identifier: MIT */
/* lessor - what lessor.c, engines.c and blobs.c share. The lock guards all of it, and is
 * held by whoever calls these functions, if they do not say otherwise. */
#ifndef GBX_REMOTE_LESSOR_H
#define GBX_REMOTE_LESSOR_H

#include "base/sha256.h"
#include "remote/frames.h"
#include "remote/remote.h"

#include <pthread.h>
#include <sys/queue.h>

/* ---- blobs.c --------------------------------------------------------------------- */

/*
 * Datasets by their SHA-256, each a sealed memfd, within a limit: the least recently
 * used one goes. One is there only after its bytes were checked.
 *
 * With a folder, each is also a file there, HASH with mode 0600, for the next start; it goes
 * with the blob. A full disk costs the file alone.
 * */
typedef struct gbx_blobs gbx_blobs;
typedef struct gbx_blob gbx_blob;

/* folder NULL: memory alone. GBX_E_OS: it cannot be used, others may write it, or something in
 * it is not ours: that is left alone, and named. */
gbx_blobs *gbx_blobs_new(uint64_t max_bytes, const char *folder, gbx_error *reterr);
void gbx_blobs_free(gbx_blobs *blobs); /* NULL is ignored */

/* A descriptor of its own for the caller, to be read by position; or -1. */
int gbx_blobs_get(gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE],
                  uint64_t *ret_size);

/* The number of blobs, and their bytes. */
size_t gbx_blobs_count(const gbx_blobs *blobs, uint64_t *ret_bytes);

/* Begin to take one from somebody. GBX_E_DATA: larger than the limit. GBX_E_USAGE: it is there,
 * or on its way. */
gbx_blob *gbx_blobs_begin(gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE],
                          uint64_t size, gbx_error *reterr);
/* The next bytes of it. False: not the next ones, more than its size, or no room; end it. */
bool gbx_blob_put(gbx_blob *blob, uint64_t offset, gbx_span bytes);
/* All has come, or no more will. A descriptor, as of gbx_blobs_get(); -1: bytes are missing, or
 * are not those with that hash, and the blob is gone. */
int gbx_blob_end(gbx_blob *blob);

/* Give a blob with these bytes its file. Without the lock: disks may be slow. */
void gbx_blobs_write(const gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE],
                     int fd, uint64_t size);
/* After that: if the blob has gone meanwhile, so does its file. */
void gbx_blobs_written(gbx_blobs *blobs, const uint8_t sha256[GBX_SHA256_SIZE]);

/* ---- engines.c ------------------------------------------------------------------- */

/* An engine for calls with some contents; or it is in the making, from what the caller
 * has that was the first to need it. */
typedef struct gbx_kept {
    TAILQ_ENTRY(gbx_kept) link;
    gbx_lessor *server;
    uint8_t key[GBX_SHA256_SIZE];
    gbx_engine *engine; /* NULL: not yet */
    void *subscription; /* of the engine, to questions with its key */
    unsigned calls;
    /* in the making: */
    uint64_t number; /* of the question */
    char caller[GBX_REMOTE_SUBJECT_MAX + 1];
    int64_t due_ns;
    gbx_buf setup;
    uint32_t setup_bytes;
    gbx_contents contents; /* borrows from setup */
    gbx_content *items;    /* its own; NULL until setup is whole */
    size_t ready;          /* so many of them have a descriptor */
    gbx_blob *fill;        /* of the next one */
    uint64_t asked, got;   /* bytes of it, or of setup */
    struct gbx_kept *old;  /* it goes, to make room */
    bool is_made;          /* a thread makes it, or has made it */
} gbx_kept;

/* ---- lessor.c -------------------------------------------------------------------- */

struct gbx_lessor {
    gbx_bus *bus;
    const gbx_remote_url *url;
    const gbx_server_options *options;
    gbx_bus_fn on_bus;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* threads */
    int epoll;              /* relays by the number of their seat; wake by 0 */
    int wake; /* an eventfd: due_ns is earlier than gbx_lessor_step() has said */
    int64_t due_ns;
    TAILQ_HEAD(gbx_kepts, gbx_kept) engines; /* the most recently used one first */
    unsigned threads;                        /* that make engines */
    gbx_blobs *blobs;
    TAILQ_HEAD(seats, seat) seats;
    uint32_t seat_count;
    uint64_t call_bytes; /* of all seats: the most */
    uint64_t memory_bytes;
    void *own_subscription;
    void *any_subscription;
    bool is_draining;
    gbx_service service;
    char id[33];
    char own[GBX_REMOTE_SUBJECT_MAX + 1]; /* where messages go */
};

/* ---- functions of engines.c ------------------------------------------------------- */

/* Let gbx_lessor_step() come at ns, or before. */
void gbx_lessor_wake(gbx_lessor *s, int64_t ns);
void gbx_lessor_refuse(gbx_lessor *s, const char *caller, uint64_t number,
                       gbx_remote_why why, const gbx_error *error);
/* May a call, or an engine, have these? GBX_CAP_NONE is none. */
bool gbx_lessor_allows(const gbx_lessor *s, uint32_t capabilities);
/* What comes with a subject of this kind, to be ended. NULL: out of memory. */
void *gbx_lessor_listen(gbx_lessor *s, const char *kind, const char *token,
                        const char *last, const char *group);

/* Begin to make one. False: no memory, too many, or it is being made. */
bool gbx_kept_begin(gbx_lessor *s, uint64_t number, const gbx_remote_want *w);
/* A part has come. It may be gone afterwards. */
void gbx_kept_put(gbx_kept *e, const gbx_remote_blob *part);
/* Its caller hears the text, and it goes. */
void gbx_kept_fail(gbx_kept *e, const char *text);
/* Without the lock: wait for threads, and free all. */
void gbx_kept_free_all(gbx_lessor *s);

#endif
