/* SPDX-License-Identifier: MIT */
/*
 * frames - all messages between machines, and the windows of their streams. Each message
 * of the bus is one frame of wire/messages.h. Its call id is the number of a question;
 * after a GRANT that of the seat. docs/internals/remote.md is the specification.
 */
#ifndef GBX_REMOTE_FRAMES_H
#define GBX_REMOTE_FRAMES_H

#include "base/cleanup.h"
#include "base/sha256.h"
#include "remote/remote.h"
#include "wire/messages.h"

#include <glovebox/runner.h>

#define GBX_REMOTE_VERSION     1u
#define GBX_REMOTE_SUBJECT_MAX 160u         /* bytes, without a NUL */
#define GBX_REMOTE_CHUNK_MAX   GBX_KIB(128) /* bytes of data in one message */
#define GBX_REMOTE_SETUP_MAX   GBX_MIB(2)
#define GBX_REMOTE_ITEMS_MAX   1024u
#define GBX_REMOTE_TEXT_MAX    199u

/* clang-format off */

/* XX(its map of fields, name, number) */
#define GBX_REMOTE_MAP(XX)                                                             \
    XX(WANT, want, 1)     /* caller -> runners: a seat for a call */                   \
    XX(GRANT, grant, 2)   /* the answers: here is one, */                              \
    XX(REFUSE, refuse, 3) /* none here, and nothing has begun, */                      \
    XX(FETCH, fetch, 4)   /* or first send a part of what the engine needs */          \
    XX(BLOB, blob, 5)     /* caller -> runner: that part; empty: there is none */      \
    XX(DATA, data, 6)     /* both ways: bytes; none: the sender lives */               \
    XX(END, end, 7)       /* runner -> caller: the worker has ended; the last one */   \
    XX(CANCEL, cancel, 8) /* caller -> runner: kill it, or take the seat back */

typedef enum gbx_remote_type {
#define XX(NAME, name, number) GBX_REMOTE_##NAME = number,
    GBX_REMOTE_MAP(XX)
#undef XX
} gbx_remote_type;

#define GBX_REMOTE_FIELDS_WANT(T, N, S, TAIL)                                          \
    N(T, uint32_t, version, 0, UINT32_MAX)       /* GBX_REMOTE_VERSION */              \
    N(T, uint32_t, wire_version, 0, UINT32_MAX)  /* GBX_WIRE_VERSION */                \
    S(T, library, 0, 32)                         /* its version, for people */         \
    S(T, key, GBX_SHA256_SIZE, GBX_SHA256_SIZE)  /* hash of the setup */               \
    N(T, uint32_t, setup_bytes, 1, GBX_REMOTE_SETUP_MAX)                               \
    S(T, caller, 1, GBX_REMOTE_SUBJECT_MAX)      /* where answers go */                \
    S(T, limits, 0, 256)                         /* a gbx_limits, of the call */       \
    N(T, uint32_t, capabilities, 0, UINT32_MAX)  /* gbx_capability bits */             \
    N(T, uint64_t, call_bytes, 0, UINT64_MAX)

#define GBX_REMOTE_FIELDS_GRANT(T, N, S, TAIL)                                         \
    N(T, uint64_t, seat, 1, UINT64_MAX)          /* number of all further messages */  \
    S(T, machine, 0, 64)                         /* for people */                      \
    S(T, runner, 1, GBX_REMOTE_SUBJECT_MAX)      /* where they go */                   \
    S(T, engine, 0, 64)                          /* JavaScript engine, with version */

typedef enum gbx_remote_why {
    GBX_WHY_BUSY = 1, /* no seat now, or it is about to end */
    GBX_WHY_READY,    /* what was fetched is an engine now */
    GBX_WHY_NOT_HERE, /* its version or policy does not allow it, or it failed */
    GBX_WHY_CONTENTS, /* a dataset or preload is not valid: line and column */
} gbx_remote_why;

#define GBX_REMOTE_FIELDS_REFUSE(T, N, S, TAIL)                                        \
    N(T, uint8_t, why, GBX_WHY_BUSY, GBX_WHY_CONTENTS) /* gbx_remote_why */            \
    N(T, uint32_t, line, 0, UINT32_MAX)                                                \
    N(T, uint32_t, column, 0, UINT32_MAX)                                              \
    S(T, text, 0, GBX_REMOTE_TEXT_MAX)

#define GBX_REMOTE_FIELDS_FETCH(T, N, S, TAIL)                                         \
    S(T, runner, 1, GBX_REMOTE_SUBJECT_MAX)      /* where the BLOB goes */             \
    S(T, sha256, GBX_SHA256_SIZE, GBX_SHA256_SIZE)                                     \
    N(T, uint64_t, offset, 0, UINT64_MAX)                                              \
    N(T, uint32_t, length, 1, GBX_REMOTE_CHUNK_MAX)

#define GBX_REMOTE_FIELDS_BLOB(T, N, S, TAIL)                                          \
    S(T, sha256, GBX_SHA256_SIZE, GBX_SHA256_SIZE)                                     \
    N(T, uint64_t, offset, 0, UINT64_MAX)                                              \
    TAIL(T, bytes, GBX_REMOTE_CHUNK_MAX)

#define GBX_REMOTE_FIELDS_DATA(T, N, S, TAIL)                                          \
    N(T, uint32_t, seq, 0, UINT32_MAX)           /* from 0, in each direction */       \
    N(T, uint32_t, room, 0, UINT32_MAX)          /* bytes used: as many may come */    \
    TAIL(T, bytes, GBX_REMOTE_CHUNK_MAX)

#define GBX_REMOTE_FIELDS_END(T, N, S, TAIL)                                           \
    N(T, uint8_t, how, 0, UINT8_MAX)             /* gbx_ending_how */                  \
    N(T, int32_t, wait_status, 0, UINT32_MAX)                                          \
    N(T, uint8_t, shortage, 0, 2)                                                      \
    N(T, uint64_t, cpu_us, 0, UINT64_MAX)                                              \
    N(T, uint64_t, growth_bytes, 0, UINT64_MAX)                                        \
    N(T, uint64_t, group_bytes, 0, UINT64_MAX)                                         \
    S(T, reason, 0, GBX_REMOTE_TEXT_MAX)                                               \
    N(T, uint32_t, seq, 0, UINT32_MAX)           /* as if it were a DATA */            \
    TAIL(T, bytes, GBX_REMOTE_CHUNK_MAX)

#define GBX_REMOTE_FIELDS_CANCEL(T, N, S, TAIL)                                        \
    N(T, uint8_t, zero, 0, 0)

/* The setup of an engine: this, then its items. Not a frame. */
#define GBX_REMOTE_FIELDS_NEEDS(T, N, S, TAIL)                                         \
    N(T, uint8_t, globals, 0, 1)                 /* gbx_globals */                     \
    N(T, uint8_t, jit, 0, UINT8_MAX)             /* gbx_jit */                         \
    N(T, uint8_t, require, 0, UINT8_MAX)         /* gbx_require */                     \
    N(T, uint8_t, speculation, 0, UINT8_MAX)     /* gbx_speculation */                 \
    N(T, uint32_t, capabilities, 0, UINT32_MAX)                                        \
    N(T, uint64_t, memory_bytes, 0, UINT64_MAX)                                        \
    N(T, uint32_t, cpu_ms, 0, UINT32_MAX)                                              \
    S(T, functions, 1, GBX_CONFIG_MAX)           /* names, one a line, and a NUL */    \
    N(T, uint32_t, count, 0, GBX_REMOTE_ITEMS_MAX)

#define GBX_REMOTE_FIELDS_ITEM(T, N, S, TAIL)                                          \
    N(T, uint8_t, kind, 0, 1)                    /* gbx_content_kind */                \
    S(T, name, 1, GBX_NAME_MAX)                  /* and a NUL */                       \
    N(T, uint32_t, format, 0, UINT32_MAX)                                              \
    N(T, uint64_t, size, 0, UINT64_MAX)                                                \
    S(T, sha256, GBX_SHA256_SIZE, GBX_SHA256_SIZE)

/* clang-format on */

#define XX(NAME, name, number)                      \
    typedef struct gbx_remote_##name {              \
        GBX_FIELD_MEMBERS(GBX_REMOTE_FIELDS_##NAME) \
    } gbx_remote_##name;
GBX_REMOTE_MAP(XX)
XX(NEEDS, needs, 0)
XX(ITEM, item, 0)
#undef XX

/* A message of any type. Spans borrow from the frame. */
typedef struct gbx_remote_any {
    gbx_remote_type type;
    uint64_t number;
    union {
#define XX(NAME, name, number) gbx_remote_##name name;
        GBX_REMOTE_MAP(XX)
#undef XX
    };
} gbx_remote_any;

/* Publish one message; its last span, if it is a TAIL, is sent from where it is. reply:
 * as the bus has it. False: it was not sent. */
bool gbx_remote_send(gbx_bus *bus, const char *subject, const char *reply,
                     uint64_t number, gbx_remote_type type, const void *msg);

/* False: not exactly one valid message; its number is set if it has a header. */
bool gbx_remote_read(gbx_span frame, gbx_remote_any *ret);

/* At most so many bytes of it. */
gbx_span gbx_remote_text(const char *text, size_t most);

/* The setup of these contents; false: no memory, or too long. */
bool gbx_remote_put_setup(gbx_buf *to, const gbx_contents *contents);
/* Read one: *ret_items, of ret->count, is to be freed, and texts borrow from the bytes.
 * There are no descriptors yet. False: not valid. */
bool gbx_remote_get_setup(gbx_span bytes, gbx_contents *ret, gbx_content **ret_items);

/* "glovebox.v1.POOL.KIND" and the tokens, which may be NULL. False: too long. */
bool gbx_remote_subject(char ret[GBX_REMOTE_SUBJECT_MAX + 1], const char *pool,
                        const char *kind, const char *token, const char *last);
/* May a message go to where a hostile one says? Only to those of pool and kind. */
bool gbx_remote_is_subject(gbx_span text, const char *pool, const char *kind);

/* A random number, not 0; 0: the kernel refused. */
uint64_t gbx_remote_number(void);

/* ---- windows ---------------------------------------------------------------- */

/* The bytes of a seat, in both directions. Each side may send GBX_LEASE_WINDOW of them
 * that the other has not used; it hears of used ones when they are half of that. A bus
 * may lose a message, so each has a number. */
typedef struct gbx_flow {
    uint32_t out_seq; /* of the next message to send */
    uint32_t in_seq;  /* of the next one to come */
    size_t out_room;  /* bytes that may be sent */
    size_t in_room;   /* bytes that may come */
    size_t in_taken;  /* used, and not yet given back to the other side */
} gbx_flow;

void gbx_flow_init(gbx_flow *f);
/* Count a message that came; false: one before it is missing, or it is too long, or
 * gives room for what was not sent. */
bool gbx_flow_take(gbx_flow *f, uint32_t seq, size_t len, uint32_t room);
/* Send a DATA with at most len bytes, and room if enough is used or is_beat. Returns the
 * number of bytes that were sent. */
size_t gbx_flow_send(gbx_flow *f, gbx_bus *bus, const char *subject, uint64_t number,
                     const uint8_t *data, size_t len, bool is_beat);

#endif
