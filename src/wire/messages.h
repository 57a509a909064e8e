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

#define GBX_WIRE_VERSION 7u

typedef enum gbx_msg_type {
    /* worker -> host, on the worker's own channel */
    GBX_MSG_READY = 1,    /* sealed; waits for CALL */
    GBX_MSG_LOG = 2,      /* one console line */
    GBX_MSG_WAIT = 3,     /* nothing to do until WAKE */
    GBX_MSG_REFUSED = 4,  /* the kernel has refused memory; at most once */
    GBX_MSG_RESULT = 5,   /* the value; the last message */
    GBX_MSG_ERROR = 6,    /* the failure; the last message */
    GBX_MSG_HOSTCALL = 7, /* the code calls a function of the host */
    GBX_MSG_CANCEL = 8,   /* the code no longer wants the answer */
    GBX_MSG_LIMITED = 9,  /* a limit prevented a HOSTCALL; once for each limit */
    /* host -> worker */
    GBX_MSG_CALL = 16,
    GBX_MSG_WAKE = 17,
    GBX_MSG_ANSWER = 18, /* to one HOSTCALL; any number of them before a WAKE */
    /* host -> template, on the control channel */
    GBX_MSG_CONFIG = 32, /* first message */
    GBX_MSG_FORK = 33,
    GBX_MSG_LOAD = 34,    /* carries a descriptor: a sealed memfd */
    GBX_MSG_ATTACK = 35,  /* only in attack mode: fork a probe that attacks its seal */
    GBX_MSG_EXPOSE = 37,  /* one more function of the host */
    GBX_MSG_PRELOAD = 38, /* carries a descriptor; between CONFIG and HELLO */
    /* template -> host */
    GBX_MSG_HELLO = 48,  /* answer to CONFIG */
    GBX_MSG_FORKED = 49, /* carries two descriptors: channel, pidfd */
    GBX_MSG_EXITED = 50,
    GBX_MSG_LOADED = 51,
} gbx_msg_type;

typedef struct gbx_header {
    uint32_t body_len;
    uint8_t type;
    uint8_t reserved[3];
    uint64_t call_id;
} gbx_header;

/* False if a reserved byte is not 0. data has GBX_FRAME_HEADER_SIZE bytes. */
bool gbx_header_decode(const uint8_t *data, gbx_header *ret);

/* ---- worker -> host ----------------------------------------------------- */

/* Flags of a LOG; at most one is set. */
enum {
    GBX_LOG_CUT = 1,     /* this text was cut, and no further one follows */
    GBX_LOG_GOES_ON = 2, /* the next LOG continues this line */
};

typedef struct gbx_msg_log {
    uint8_t level; /* gbx_log_level */
    uint8_t flags; /* GBX_LOG_*, one at most */
    gbx_span text;
} gbx_msg_log;

typedef struct gbx_msg_wait {
    uint32_t ms; /* until WAKE; at most GBX_WAIT_MS_MAX */
} gbx_msg_wait;

typedef struct gbx_msg_result {
    uint8_t is_undefined; /* the value is undefined; json is then empty */
    uint32_t hint;        /* row of the table (syntax/hint_table.h); 0: none */
    uint32_t start;       /* byte offsets of the code that the hint refers to; both */
    uint32_t end;         /* equal: none */
    gbx_span field;       /* field of the data that the hint refers to; may be empty */
    gbx_span json;
} gbx_msg_result;

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

typedef struct gbx_msg_error {
    uint8_t failure;          /* gbx_failure */
    uint8_t is_out_of_memory; /* the engine itself ran out of memory */
    uint32_t line;            /* in the code as sent in CALL, from 1; 0: unknown */
    uint32_t column;          /* in UTF-16 units, from 1; 0: unknown */
    uint32_t hint;            /* row of the table (syntax/hint_table.h); 0: none */
    uint32_t hint_start;      /* as start and end of a RESULT */
    uint32_t hint_end;
    gbx_span name; /* "TypeError"; may be empty */
    gbx_span message;
    gbx_span stack; /* the code's own frames, one per line; may be empty */
} gbx_msg_error;

/* The code calls a function of the host. The worker chooses the ids, which must grow;
 * not 0. */
typedef struct gbx_msg_hostcall {
    uint32_t id;
    gbx_span name;  /* "db.query" */
    gbx_span args;  /* a JSON array */
    gbx_span bytes; /* binary data besides args; may be empty */
} gbx_msg_hostcall;

typedef struct gbx_msg_cancel {
    uint32_t id;
} gbx_msg_cancel;

/* The limit that prevented a call of the host. */
enum { GBX_LIMITED_CALLS = 1, GBX_LIMITED_BYTES = 2 };

typedef struct gbx_msg_limited {
    uint8_t limit;
} gbx_msg_limited;

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
typedef struct gbx_msg_answer {
    uint32_t id;
    uint8_t is_error;
    gbx_span json;    /* one JSON value */
    gbx_span bytes;   /* arrives as a Uint8Array */
    gbx_span name;    /* this and the next two, of an error: "TypeError" */
    gbx_span message; /* for the author of the code */
    gbx_span code;    /* "ENOENT" and the like; may be empty */
} gbx_msg_answer;

#define GBX_ENTROPY_SIZE 32u

enum {
    GBX_CALL_WIRE_CONSOLE = 1,   /* console is on */
    GBX_CALL_WIRE_TIMERS = 2,    /* timers and sleep are on */
    GBX_CALL_WIRE_FIXED_NOW = 4, /* the clock is fixed at now_ms */
    GBX_CALL_WIRE_PARSED = 16,   /* the host's parser found the whole code to be one
                                    function (form function) or a body (form body) */
    GBX_CALL_WIRE_HAS_INPUT = 8, /* input holds JSON; otherwise the input is the only
                                  * dataset, or null */
    GBX_CALL_WIRE_COMPILE = 32,  /* only compile; the value is undefined */
    GBX_CALL_WIRE_ALL = 63,
};

typedef struct gbx_msg_call {
    uint8_t form;          /* gbx_form */
    uint8_t flags;         /* GBX_CALL_WIRE_* */
    uint64_t seed;         /* of Math.random; always set */
    int64_t now_ms;        /* with FIXED_NOW */
    uint64_t memory_bytes; /* lowers the limit that the worker was sealed with */
    uint64_t output_bytes;
    uint32_t log_bytes;
    uint32_t first_line;   /* position of the code's first character in the caller's */
    uint32_t first_column; /* text, from 1; the worker adds it to positions */
    uint32_t capabilities; /* gbx_capability bits, some of the engine's */
    uint32_t host_calls;   /* maximum calls of host functions, in total */
    uint32_t host_calls_at_once;
    uint64_t host_out_bytes; /* maximum bytes of arguments, in total */
    gbx_span entropy;        /* GBX_ENTROPY_SIZE bytes, or empty: no randomness */
    gbx_span withheld;       /* names of functions that this call lacks, one per line */
    gbx_span env;            /* a JSON object, or empty */
    gbx_span dataset;        /* the first argument's name, "*": all; empty: the input */
    gbx_span code;           /* UTF-8 */
    gbx_span bindings;       /* form body: a JSON object, or empty */
    gbx_span input;          /* JSON */
} gbx_msg_call;

/* ---- host <-> template -------------------------------------------------- */

/* Flags of a CONFIG. */
enum {
    GBX_CONFIG_GUARD_SPECULATION = 1, /* if that fails, HELLO gives the reason */
};

typedef struct gbx_msg_config {
    uint32_t version;      /* GBX_WIRE_VERSION */
    uint8_t globals;       /* gbx_globals */
    uint8_t attack_mode;   /* serve ATTACK instead of FORK */
    uint8_t warm;          /* 0: the least warming (one call), 1: all of it */
    uint8_t huge_pages;    /* maximum number for the engine's code */
    uint32_t capabilities; /* gbx_capability bits */
    uint32_t layers_off;   /* gbx_layer bits to leave out; only in attack mode */
    uint32_t flags;        /* GBX_CONFIG_* */
    uint64_t memory_bytes; /* maximum for any call */
    uint32_t cpu_s;        /* RLIMIT_CPU of a worker */
    uint32_t preloads;     /* PRELOADs that follow, at most GBX_PRELOADS_MAX */
    gbx_span functions;    /* names of the host's functions, one per line */
} gbx_msg_config;

#define GBX_CONFIG_MAX   GBX_MIB(1)
#define GBX_PRELOAD_MAX  GBX_MIB(16)
#define GBX_PRELOADS_MAX 64u

#define GBX_LAYER_REASON_MAX 160u

/* State of one layer of the seal, as the template found it. */
typedef struct gbx_layer_report {
    uint8_t layer; /* gbx_layer index (seal/seal.h) */
    uint8_t stands;
    gbx_span reason; /* why not, and what would enable it; empty if it is in effect */
} gbx_layer_report;

#define GBX_LAYERS_MAX 32u

typedef struct gbx_msg_hello {
    uint32_t version;
    uint32_t threads; /* of the template; must be 1 */
    uint32_t landlock_abi;
    uint8_t oom_known; /* the engine's own out-of-memory error is recognisable */
    uint8_t jit_page;  /* a writable and executable mapping exists */
    gbx_span engine;   /* engine version text */
    gbx_span failure;  /* why the template cannot serve; empty: it can */
    uint32_t preload;  /* 1 + the index of the preload that failed; 0: none did */
    uint32_t line;     /* where in it, from 1; 0: unknown */
    uint32_t column;
    gbx_span user;        /* four texts for people, all or none: the template's user, */
    gbx_span layout;      /* whether its address layout is random, */
    gbx_span speculation; /* which speculation of the processor is off, */
    gbx_span time_zones;  /* and the version of its time zones */
    uint32_t layer_count;
    gbx_layer_report layers[GBX_LAYERS_MAX];
} gbx_msg_hello;

typedef struct gbx_msg_fork {
    uint64_t worker_id;
    uint8_t hurries; /* a call waits: send READY without the trial run */
} gbx_msg_fork;

typedef struct gbx_msg_forked {
    uint64_t worker_id;
    uint32_t error; /* errno of the failed fork, or 0 */
} gbx_msg_forked;

typedef struct gbx_msg_exited {
    uint64_t worker_id;
    uint32_t status; /* from wait4() */
    uint64_t cpu_us;
    uint64_t max_rss_kib;
} gbx_msg_exited;

typedef struct gbx_msg_load {
    uint64_t size;   /* bytes in the memfd */
    uint32_t format; /* gbx_data_format bits */
    gbx_span name;
} gbx_msg_load;

/* The host's own script, to be run before the lockdown. */
typedef struct gbx_msg_preload {
    uint64_t size; /* bytes of source in the memfd */
    gbx_span name;
} gbx_msg_preload;

/* The name of one more function of the host. */
typedef struct gbx_msg_expose {
    gbx_span name;
} gbx_msg_expose;

typedef struct gbx_msg_loaded {
    uint8_t ok;
    uint32_t line; /* of the error; 0: unknown */
    uint32_t column;
    gbx_span message;
} gbx_msg_loaded;

typedef struct gbx_msg_attack {
    uint64_t worker_id;
    uint32_t index;      /* in the attack table */
    uint32_t layers_off; /* gbx_layer bits */
} gbx_msg_attack;

/* ---- writing and reading ------------------------------------------------- */

/* The type of the message that msg points to. */
/* clang-format off */
#define GBX_MSG_TYPE_OF(msg) \
    _Generic(*(msg), \
        gbx_msg_log: GBX_MSG_LOG, \
        gbx_msg_wait: GBX_MSG_WAIT, \
        gbx_msg_result: GBX_MSG_RESULT, \
        gbx_msg_error: GBX_MSG_ERROR, \
        gbx_msg_hostcall: GBX_MSG_HOSTCALL, \
        gbx_msg_cancel: GBX_MSG_CANCEL, \
        gbx_msg_limited: GBX_MSG_LIMITED, \
        gbx_msg_call: GBX_MSG_CALL, \
        gbx_msg_answer: GBX_MSG_ANSWER, \
        gbx_msg_config: GBX_MSG_CONFIG, \
        gbx_msg_fork: GBX_MSG_FORK, \
        gbx_msg_load: GBX_MSG_LOAD, \
        gbx_msg_attack: GBX_MSG_ATTACK, \
        gbx_msg_expose: GBX_MSG_EXPOSE, \
        gbx_msg_preload: GBX_MSG_PRELOAD, \
        gbx_msg_hello: GBX_MSG_HELLO, \
        gbx_msg_forked: GBX_MSG_FORKED, \
        gbx_msg_exited: GBX_MSG_EXITED, \
        gbx_msg_loaded: GBX_MSG_LOADED)
/* clang-format on */

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

#endif
