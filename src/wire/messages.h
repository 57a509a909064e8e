/* SPDX-License-Identifier: MIT */
/*
 * messages - all messages between host, template and worker.
 *
 * A frame is a 16-byte header and a body: u32 body length, u8 type, three reserved zero
 * bytes, u64 call id. docs/internals/protocol.md is the specification. Encoders append
 * a whole frame to a gbx_buf; decoders read one body and report whether it is exactly
 * one such message. Spans of a decoded message borrow from the body.
 *
 * This module does no I/O and keeps no state: any thread, any process.
 */
#ifndef GBX_WIRE_MESSAGES_H
#define GBX_WIRE_MESSAGES_H

#include "base/buf.h"
#include "base/cleanup.h"

#define GBX_FRAME_HEADER_SIZE 16

#define GBX_WIRE_VERSION 8u

/* clang-format off */

/* All messages with a body: XX(its map of fields, name, number). */
#define GBX_MSG_MAP(XX)                                                                \
    GBX_MSG_PLAIN_MAP(XX)                                                              \
    XX(HELLO, hello, 48) /* template -> host: the answer to CONFIG */

#define GBX_MSG_PLAIN_MAP(XX)                                                          \
    /* worker -> host, on the worker's own channel */                                  \
    XX(LOG, log, 2)           /* one console line */                                   \
    XX(WAIT, wait, 3)         /* nothing to do until WAKE */                           \
    XX(RESULT, result, 5)     /* the value; the last message */                        \
    XX(ERROR, error, 6)       /* the failure; the last message */                      \
    XX(HOSTCALL, hostcall, 7) /* the code calls a function of the host */              \
    XX(CANCEL, cancel, 8)     /* the code no longer wants the answer */                \
    XX(LIMITED, limited, 9)   /* a limit prevented a HOSTCALL; once for each limit */  \
    /* host -> worker */                                                               \
    XX(CALL, call, 16)                                                                 \
    XX(ANSWER, answer, 18) /* to one HOSTCALL; any number of them before a WAKE */     \
    /* host -> template, on the control channel */                                     \
    XX(CONFIG, config, 32) /* first message */                                         \
    XX(FORK, fork, 33)                                                                 \
    XX(LOAD, load, 34)     /* carries a descriptor: a sealed memfd */                  \
    XX(ATTACK, attack, 35) /* in attack mode: fork a probe that attacks its seal */    \
    XX(EXPOSE, expose, 37) /* one more function of the host */                         \
    /* template -> host */                                                             \
    XX(FORKED, forked, 49) /* carries two descriptors: channel, pidfd */               \
    XX(EXITED, exited, 50)                                                             \
    XX(LOADED, loaded, 51)

typedef enum gbx_msg_type {
    /* without a body */
    GBX_MSG_READY = 1,   /* worker -> host: sealed; waits for CALL */
    GBX_MSG_REFUSED = 4, /* worker -> host: the kernel refused memory; at most once */
    GBX_MSG_WAKE = 17,   /* host -> worker */
#define XX(NAME, name, number) GBX_MSG_##NAME = number,
    GBX_MSG_MAP(XX)
#undef XX
} gbx_msg_type;

typedef struct gbx_header {
    uint32_t body_len;
    uint8_t type;
    uint8_t reserved[3];
    uint64_t call_id;
} gbx_header;

/* False if a reserved byte is not 0. data has GBX_FRAME_HEADER_SIZE bytes. */
bool gbx_header_decode(const uint8_t *data, gbx_header *ret);

/*
 * The fields of each message, in their order. Its struct, such as gbx_msg_log, has a
 * member for each.
 *
 *   N(T, type, member, least, most)   a number
 *   S(T, member, least, most)         a span, and the limits of its length
 *   TAIL(T, member, most)             a last span whose bytes the sender writes itself
 */

/* A limit that the reader's caller sets. */
#define GBX_GIVEN UINT64_MAX

/* ---- worker -> host ----------------------------------------------------- */

/* Flags of a LOG; at most one is set. */
enum {
    GBX_LOG_CUT = 1,     /* this text was cut, and no further one follows */
    GBX_LOG_GOES_ON = 2, /* the next LOG continues this line */
};

#define GBX_FIELDS_LOG(T, N, S, TAIL)                                                  \
    N(T, uint8_t, level, 0, 4)               /* gbx_log_level */                       \
    N(T, uint8_t, flags, 0, GBX_LOG_GOES_ON) /* GBX_LOG_*, one at most */              \
    S(T, text, 0, GBX_LOG_LINE_MAX)

#define GBX_FIELDS_WAIT(T, N, S, TAIL)                                                 \
    N(T, uint32_t, ms, 0, GBX_WAIT_MS_MAX) /* until WAKE */

#define GBX_FIELDS_RESULT(T, N, S, TAIL)                                               \
    N(T, uint8_t, is_undefined, 0, 1)    /* then json is empty */                      \
    N(T, uint32_t, hint, 0, UINT32_MAX)  /* row of syntax/hint_table.h; 0: none */     \
    N(T, uint32_t, start, 0, UINT32_MAX) /* offsets of the code that the hint */       \
    N(T, uint32_t, end, 0, UINT32_MAX)   /* refers to; both equal: none */             \
    S(T, field, 0, GBX_NAME_MAX) /* field of the data that it refers to, or empty */   \
    TAIL(T, json, GBX_GIVEN)

/* The kind of failure that the worker saw; the host decides the gbx_code. */
typedef enum gbx_failure {
    GBX_FAILURE_SYNTAX = 1,   /* did not compile; nothing ran */
    GBX_FAILURE_THROWN = 2,   /* an exception or rejection reached the top */
    GBX_FAILURE_NOT_JSON = 3, /* the value cannot be JSON (BigInt, cycle, symbol...) */
    GBX_FAILURE_OUTPUT = 4,   /* the JSON is larger than the limit */
    GBX_FAILURE_INPUT = 5,    /* the input is not JSON */
    GBX_FAILURE_NEVER = 6,    /* the promise can never settle */
    GBX_FAILURE_BAD_FORM = 7, /* e.g. no function named execute was defined */
} gbx_failure;

#define GBX_FIELDS_ERROR(T, N, S, TAIL)                                                \
    N(T, uint8_t, failure, GBX_FAILURE_SYNTAX, GBX_FAILURE_BAD_FORM) /* gbx_failure */ \
    N(T, uint8_t, is_out_of_memory, 0, 1) /* the engine itself ran out of memory */    \
    N(T, uint32_t, line, 0, UINT32_MAX)   /* in CALL's code, from 1; 0: unknown */     \
    N(T, uint32_t, column, 0, UINT32_MAX) /* in UTF-16 units, from 1; 0: unknown */    \
    N(T, uint32_t, hint, 0, UINT32_MAX)   /* this and the next two as in a RESULT */   \
    N(T, uint32_t, hint_start, 0, UINT32_MAX)                                          \
    N(T, uint32_t, hint_end, 0, UINT32_MAX)                                            \
    S(T, name, 0, GBX_NAME_MAX)           /* "TypeError"; may be empty */              \
    S(T, message, 0, GBX_MESSAGE_MAX)                                                  \
    S(T, stack, 0, GBX_STACK_MAX)         /* the code's own frames, one per line */

#define GBX_FIELDS_HOSTCALL(T, N, S, TAIL)                                             \
    N(T, uint32_t, id, 1, UINT32_MAX) /* the worker chooses it; ids must grow */       \
    S(T, name, 1, GBX_NAME_MAX)       /* "db.query" */                                 \
    S(T, args, 1, GBX_GIVEN)          /* a JSON array */                               \
    S(T, bytes, 0, GBX_GIVEN)         /* binary data besides args; may be empty */

#define GBX_FIELDS_CANCEL(T, N, S, TAIL) N(T, uint32_t, id, 1, UINT32_MAX)

/* The limit that prevented a call of the host. */
enum { GBX_LIMITED_CALLS = 1, GBX_LIMITED_BYTES = 2 };

#define GBX_FIELDS_LIMITED(T, N, S, TAIL)                                              \
    N(T, uint8_t, limit, GBX_LIMITED_CALLS, GBX_LIMITED_BYTES)

#define GBX_NAME_MAX     256u
#define GBX_MESSAGE_MAX  GBX_KIB(8)
#define GBX_STACK_MAX    GBX_KIB(16)
#define GBX_LOG_LINE_MAX GBX_KIB(64) /* longer console lines come in several LOGs */
/* Each console line except the first counts as this many bytes besides its text, so
 * that the log limit also bounds empty lines. Host and worker must count alike. */
#define GBX_LOG_LINE_COST 32u
#define GBX_WAIT_MS_MAX   600000u

/* ---- host -> worker ----------------------------------------------------- */

/* The answer to one HOSTCALL. On success: json (empty: undefined), bytes, or both. */
#define GBX_FIELDS_ANSWER(T, N, S, TAIL)                                               \
    N(T, uint32_t, id, 1, UINT32_MAX)                                                  \
    N(T, uint8_t, is_error, 0, 1)                                                      \
    S(T, json, 0, UINT32_MAX)         /* one JSON value */                             \
    S(T, bytes, 0, UINT32_MAX)        /* arrives as a Uint8Array */                    \
    S(T, name, 0, GBX_NAME_MAX) /* this and the next two, of an error: "TypeError" */  \
    S(T, message, 0, GBX_MESSAGE_MAX) /* for the author of the code */                 \
    S(T, code, 0, GBX_NAME_MAX)       /* "ENOENT" and the like; may be empty */

#define GBX_ENTROPY_SIZE 32u

enum {
    GBX_CALL_WIRE_FIXED_NOW = 1, /* the clock is fixed at now_ms */
    GBX_CALL_WIRE_HAS_INPUT = 2, /* input holds JSON; otherwise the input is the only
                                  * dataset, or null */
    GBX_CALL_WIRE_PARSED = 4,    /* the host's parser found the whole code to be one
                                    function (form function) or a body (form body) */
    GBX_CALL_WIRE_COMPILE = 8,   /* only compile; the value is undefined */
    GBX_CALL_WIRE_ALL = 15,
};

#define GBX_FIELDS_CALL(T, N, S, TAIL)                                                 \
    N(T, uint8_t, form, 0, 3)                  /* gbx_form */                          \
    N(T, uint8_t, flags, 0, GBX_CALL_WIRE_ALL) /* GBX_CALL_WIRE_* */                   \
    N(T, uint64_t, seed, 0, UINT64_MAX)        /* of Math.random; always set */        \
    N(T, int64_t, now_ms, 0, UINT64_MAX)       /* with FIXED_NOW */                    \
    /* Lowers the limit that the worker was sealed with. */                            \
    N(T, uint64_t, memory_bytes, 0, UINT64_MAX)                                        \
    N(T, uint64_t, output_bytes, 0, UINT64_MAX)                                        \
    N(T, uint32_t, log_bytes, 0, UINT32_MAX)                                           \
    /* Position of the code's first character in the caller's text, from 1; the worker \
     * adds it to positions. */                                                        \
    N(T, uint32_t, first_line, 0, UINT32_MAX)                                          \
    N(T, uint32_t, first_column, 0, UINT32_MAX)                                        \
    /* gbx_capability bits, some of the engine's */                                    \
    N(T, uint32_t, capabilities, 0, UINT32_MAX)                                        \
    N(T, uint32_t, host_calls, 0, UINT32_MAX)     /* maximum, in total */              \
    N(T, uint32_t, host_calls_at_once, 0, UINT32_MAX)                                  \
    N(T, uint64_t, host_out_bytes, 0, UINT64_MAX) /* maximum of arguments, in total */ \
    S(T, entropy, 0, GBX_ENTROPY_SIZE) /* that many bytes, or empty: no randomness */  \
    S(T, withheld, 0, GBX_CONFIG_MAX) /* functions that it lacks, one per line */      \
    S(T, env, 0, GBX_CONFIG_MAX)                  /* a JSON object, or empty */        \
    /* The first argument's name, "*": all; empty: the input */                        \
    S(T, dataset, 0, GBX_NAME_MAX)                                                     \
    S(T, code, 0, UINT32_MAX)     /* UTF-8 */                                          \
    S(T, bindings, 0, UINT32_MAX) /* form body: a JSON object, or empty */             \
    TAIL(T, input, UINT32_MAX)    /* JSON */

/* ---- host <-> template -------------------------------------------------- */

/* Flags of a CONFIG. */
enum {
    GBX_CONFIG_GUARD_SPECULATION = 1, /* if that fails, HELLO gives the reason */
};

#define GBX_FIELDS_CONFIG(T, N, S, TAIL)                                               \
    N(T, uint32_t, version, 0, UINT32_MAX)      /* GBX_WIRE_VERSION */                 \
    N(T, uint8_t, globals, 0, 1)                /* gbx_globals */                      \
    N(T, uint8_t, attack_mode, 0, 1)            /* serve ATTACK instead of FORK */     \
    N(T, uint8_t, warm, 0, 1) /* 0: the least warming (one call), 1: all of it */      \
    N(T, uint8_t, huge_pages, 0, UINT8_MAX) /* maximum number for the engine's code */ \
    N(T, uint32_t, capabilities, 0, UINT32_MAX) /* gbx_capability bits */              \
    N(T, uint32_t, flags, 0, UINT32_MAX)          /* GBX_CONFIG_* */                   \
    N(T, uint64_t, memory_bytes, 0, UINT64_MAX)   /* maximum for any call */           \
    N(T, uint32_t, cpu_s, 0, UINT32_MAX)          /* RLIMIT_CPU of a worker */         \
    N(T, uint32_t, preloads, 0, GBX_PRELOADS_MAX) /* LOADs of scripts that follow */   \
    S(T, functions, 0, GBX_CONFIG_MAX) /* names of the host's, one per line */

#define GBX_CONFIG_MAX   GBX_MIB(1)
#define GBX_PRELOAD_MAX  GBX_MIB(16)
#define GBX_PRELOADS_MAX 64u

#define GBX_LAYER_REASON_MAX 160u

#define GBX_LAYERS_MAX 32u

#define GBX_FIELDS_HELLO(T, N, S, TAIL)                                                \
    N(T, uint32_t, version, 0, UINT32_MAX)                                             \
    N(T, uint32_t, threads, 0, UINT32_MAX) /* of the template; must be 1 */            \
    N(T, uint32_t, landlock_abi, 0, UINT32_MAX)                                        \
    /* The engine's own out-of-memory error is recognisable. */                        \
    N(T, uint8_t, oom_known, 0, 1)                                                     \
    N(T, uint8_t, jit_page, 0, 1)     /* a writable and executable mapping exists */   \
    S(T, engine, 0, GBX_NAME_MAX)     /* engine version text */                        \
    S(T, failure, 0, GBX_MESSAGE_MAX) /* why it cannot serve; empty: it can */         \
    /* 1 + the index of the preload that failed; 0: none did */                        \
    N(T, uint32_t, preload, 0, GBX_PRELOADS_MAX)                                       \
    N(T, uint32_t, line, 0, UINT32_MAX) /* where in it, from 1; 0: unknown */          \
    N(T, uint32_t, column, 0, UINT32_MAX)                                              \
    /* Four texts for people, all or none: */                                          \
    S(T, user, 0, GBX_NAME_MAX)        /* the template's user, */                      \
    S(T, layout, 0, GBX_NAME_MAX)      /* whether its address layout is random, */     \
    S(T, speculation, 0, GBX_NAME_MAX) /* what speculation of the processor is off, */ \
    S(T, time_zones, 0, GBX_NAME_MAX)  /* and the version of its time zones */         \
    N(T, uint32_t, layer_count, 0, GBX_LAYERS_MAX) /* reports that follow */

/* State of one layer of the seal, as the template found it. */
#define GBX_FIELDS_LAYER(T, N, S, TAIL)                                                \
    N(T, uint8_t, layer, 0, UINT8_MAX) /* gbx_layer index (seal/seal.h) */             \
    N(T, uint8_t, stands, 0, 1)                                                        \
    /* Why not, and what would enable it; empty if it is in effect. */                 \
    S(T, reason, 0, GBX_LAYER_REASON_MAX)

#define GBX_FIELDS_FORK(T, N, S, TAIL)                                                 \
    N(T, uint64_t, worker_id, 0, UINT64_MAX)                                           \
    N(T, uint8_t, hurries, 0, 1) /* a call waits: send READY without the trial run */

#define GBX_FIELDS_FORKED(T, N, S, TAIL)                                               \
    N(T, uint64_t, worker_id, 0, UINT64_MAX)                                           \
    N(T, uint32_t, error, 0, UINT32_MAX) /* errno of the failed fork, or 0 */

#define GBX_FIELDS_EXITED(T, N, S, TAIL)                                               \
    N(T, uint64_t, worker_id, 0, UINT64_MAX)                                           \
    N(T, uint32_t, status, 0, UINT32_MAX) /* from wait4() */                           \
    N(T, uint64_t, cpu_us, 0, UINT64_MAX)                                              \
    N(T, uint64_t, max_rss_kib, 0, UINT64_MAX)

/* A dataset; before HELLO, the host's own script, to be run before the lockdown. */
#define GBX_FIELDS_LOAD(T, N, S, TAIL)                                                 \
    N(T, uint64_t, size, 0, UINT64_MAX)   /* bytes in the memfd */                     \
    N(T, uint32_t, format, 0, UINT32_MAX) /* gbx_data_format bits */                   \
    S(T, name, 0, GBX_NAME_MAX)

/* The name of one more function of the host. */
#define GBX_FIELDS_EXPOSE(T, N, S, TAIL) S(T, name, 1, GBX_NAME_MAX)

#define GBX_FIELDS_LOADED(T, N, S, TAIL)                                               \
    N(T, uint8_t, ok, 0, 1)                                                            \
    N(T, uint32_t, line, 0, UINT32_MAX) /* of the error; 0: unknown */                 \
    N(T, uint32_t, column, 0, UINT32_MAX)                                              \
    S(T, message, 0, GBX_MESSAGE_MAX)

#define GBX_FIELDS_ATTACK(T, N, S, TAIL)                                               \
    N(T, uint64_t, worker_id, 0, UINT64_MAX)                                           \
    N(T, uint32_t, index, 0, UINT32_MAX)      /* in the attack table */                \
    N(T, uint32_t, layers_off, 0, UINT32_MAX) /* gbx_layer bits */

/* clang-format on */

/* ---- the structs: gbx_msg_log and the like -------------------------------- */

#define GBX_NUMBER_MEMBER(T, type, member, least, most) type member;
#define GBX_SPAN_MEMBER(T, member, least, most)         gbx_span member;
#define GBX_TAIL_MEMBER(T, member, most)                gbx_span member;
#define GBX_FIELD_MEMBERS(MAP) \
    MAP(, GBX_NUMBER_MEMBER, GBX_SPAN_MEMBER, GBX_TAIL_MEMBER)
#define GBX_MEMBERS(NAME) GBX_FIELD_MEMBERS(GBX_FIELDS_##NAME)

#define XX(NAME, name, number)      \
    typedef struct gbx_msg_##name { \
        GBX_MEMBERS(NAME)           \
    } gbx_msg_##name;
GBX_MSG_PLAIN_MAP(XX)
#undef XX

typedef struct gbx_layer_report {
    GBX_MEMBERS(LAYER)
} gbx_layer_report;

typedef struct gbx_msg_hello {
    GBX_MEMBERS(HELLO)
    gbx_layer_report layers[GBX_LAYERS_MAX];
} gbx_msg_hello;

/* ---- writing and reading ------------------------------------------------- */

/* The type of the message that msg points to. */
#define GBX_MSG_CASE(NAME, name, number) , gbx_msg_##name : GBX_MSG_##NAME
#define GBX_MSG_TYPE_OF(msg)             _Generic(*(msg)GBX_MSG_MAP(GBX_MSG_CASE))

/* Append a frame; false if the buffer's ceiling is reached or memory is out. The json
 * of a RESULT and the input of a CALL are left out: the sender writes them itself,
 * without a copy. call_id is 0 on the control channel. */
#define gbx_msg_put(to, call_id, msg) \
    gbx_msg_write(to, GBX_MSG_TYPE_OF(msg), call_id, msg)

/* False if body is not exactly one such message; *ret is then unusable. given: maximum
 * length of the json of a RESULT, and of args and bytes of a HOSTCALL each. */
#define gbx_msg_get(body, ret) gbx_msg_get_within(body, 0, ret)
#define gbx_msg_get_within(body, given, ret) \
    gbx_msg_read(GBX_MSG_TYPE_OF(ret), body, given, ret)

/* The functions behind the macros. msg may be NULL: a frame without a body. */
bool gbx_msg_write(gbx_buf *to, gbx_msg_type type, uint64_t call_id, const void *msg);
bool gbx_msg_read(gbx_msg_type type, gbx_span body, size_t given, void *ret);

/* The version that a HELLO of any version begins with. False if body is too short. */
bool gbx_msg_hello_version(gbx_span body, uint32_t *ret);

/* ---- tables of fields, also for messages of other protocols ------------------------ */

typedef struct gbx_wire_field {
    size_t offset;        /* in the message's struct */
    size_t width;         /* bytes of a number, in struct and frame; 0: a span */
    uint64_t least, most; /* limits of a number's value, or of a span's length */
    bool is_tail;         /* a last span whose bytes the sender writes itself */
} gbx_wire_field;

typedef struct gbx_wire_table {
    const gbx_wire_field *fields;
    size_t count;
} gbx_wire_table;

#define GBX_NUMBER_ROW(type, member_type, member, least, most) \
    {offsetof(type, member), sizeof(member_type), least, most, false},
#define GBX_SPAN_ROW(type, member, least, most) \
    {offsetof(type, member), 0, least, most, false},
#define GBX_TAIL_ROW(type, member, most) {offsetof(type, member), 0, 0, most, true},
#define GBX_FIELD_ROWS(MAP, type)        MAP(type, GBX_NUMBER_ROW, GBX_SPAN_ROW, GBX_TAIL_ROW)

/* Append a header, and room for the first body_len - beyond bytes of its body, which the
 * caller writes at what is returned. NULL if the buffer refused. */
uint8_t *gbx_frame_begin(gbx_buf *to, uint8_t type, uint64_t call_id, size_t body_len,
                         size_t beyond);

/* Bytes of these fields in a frame; *ret_beyond: how many the sender writes itself. */
size_t gbx_table_length(const gbx_wire_table *t, const void *msg, size_t *ret_beyond);

/* Returns the first byte after what was written. */
uint8_t *gbx_table_write(uint8_t *to, const gbx_wire_table *t, const void *msg);

/* A position in bytes from a hostile process. */
typedef struct gbx_wire_reader {
    const uint8_t *next;
    size_t left;
    bool failed;
} gbx_wire_reader;

/* The first field that is incomplete or out of range fails the reader. Spans point into
 * what is read. given: the limit of fields that have GBX_GIVEN. */
void gbx_table_read(gbx_wire_reader *r, const gbx_wire_table *t, size_t given,
                    void *ret);

#endif
