/* SPDX-License-Identifier: MIT */
/*
 * nats_peer - somebody on the server who speaks the protocol between machines, and may lie: a
 * runner, a caller, or one who only listens. Frames that come are kept until they are asked for.
 */
#ifndef GBX_TESTS_NATS_PEER_H
#define GBX_TESTS_NATS_PEER_H

#include "remote/frames.h"
#include "remote/remote.h"

typedef struct nats_peer nats_peer;

/* One that came. What message holds points into it. */
typedef struct peer_frame {
    struct peer_frame *next;
    bool is_valid;
    gbx_remote_any message;
    char subject[GBX_REMOTE_SUBJECT_MAX + 1];
    size_t len;
    uint8_t bytes[];
} peer_frame;

/* Asserts. */
nats_peer *nats_peer_new(const char *address);
void nats_peer_free(nats_peer *p); /* NULL is ignored */
gbx_bus *nats_peer_bus(nats_peer *p);

/* "glovebox.v1.main." and these words. queue: a group, or NULL. Asserts. */
void nats_peer_listen(nats_peer *p, const char *words, const char *queue);

/* The next frame of that type; those before it are forgotten. NULL: none in so many ms. It is
 * valid until the next call of this. */
const peer_frame *nats_peer_next(nats_peer *p, gbx_remote_type type, int ms);
/* Frames that have come, of any kind. */
unsigned nats_peer_heard(nats_peer *p);
void nats_peer_forget(nats_peer *p);

/* Asserts that it was sent. */
void nats_peer_say(nats_peer *p, const char *subject, uint64_t number,
                   gbx_remote_type type, const void *message);
void nats_peer_put(nats_peer *p, const char *subject, const void *bytes, size_t len);

#endif
