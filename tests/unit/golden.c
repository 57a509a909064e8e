/* SPDX-License-Identifier: MIT */
/* golden - see golden.h. Bytes are written out: a mistake in an encoder must not be
 * able to agree with the same mistake in a decoder. */
#include "golden.h"

#include <glovebox/glovebox.h>
#include <string.h>

#define TEXT(s)                             \
    {                                       \
        (const uint8_t *)(s), sizeof(s) - 1 \
    }

/* The functions of a golden; what follows the name is what the message is. `rest`: the span
 * that its sender appends itself. */
#define GOLDEN_BESIDE(name, rest, ...)                                           \
    static bool name##_put(gbx_buf *to, const gbx_msg_##name *msg)               \
    {                                                                            \
        gbx_span beside = rest;                                                  \
                                                                                 \
        return gbx_msg_put(to, golden_of(GBX_MSG_TYPE_OF(msg))->call_id, msg) && \
               gbx_buf_append(to, beside.data, beside.len);                      \
    }                                                                            \
    static bool name##_decode(gbx_span body)                                     \
    {                                                                            \
        gbx_msg_##name msg;                                                      \
                                                                                 \
        return gbx_msg_get_within(body, GOLDEN_OUTPUT_MAX, &msg);                \
    }                                                                            \
    static bool name##_encode(gbx_buf *to)                                       \
    {                                                                            \
        gbx_msg_##name msg = __VA_ARGS__;                                        \
                                                                                 \
        return name##_put(to, &msg);                                             \
    }                                                                            \
    static bool name##_recode(gbx_span body, gbx_buf *to)                        \
    {                                                                            \
        gbx_msg_##name msg;                                                      \
                                                                                 \
        memset(&msg, 0xA5, sizeof msg); /* a field left out is seen */           \
        return gbx_msg_get_within(body, GOLDEN_OUTPUT_MAX, &msg) &&              \
               name##_put(to, &msg);                                             \
    }

#define GOLDEN(name, ...) GOLDEN_BESIDE(name, ((gbx_span){0}), __VA_ARGS__)

/* level warn, not cut, "hi" */
static const uint8_t log_body[] = {
    3, 0,                 /* level, cut */
    2, 0, 0, 0, 'h', 'i', /* text */
};
GOLDEN(log, {.level = GBX_LOG_WARN, .text = TEXT("hi")})

/* 1,000 ms */
static const uint8_t wait_body[] = {0xE8, 0x03, 0, 0};
GOLDEN(wait, {.ms = 1000})

/* the value [1] */
static const uint8_t result_body[] = {
    0,                            /* not undefined */
    3, 0, 0, 0,                   /* hint: row 3, */
    4, 0, 0, 0, 9,   0,   0,   0, /* for bytes 4 to 9 */
    1, 0, 0, 0, 'f',              /* field */
    3, 0, 0, 0, '[', '1', ']',    /* json */
};
GOLDEN_BESIDE(
    result, msg->json,
    {.hint = 3, .start = 4, .end = 9, .field = TEXT("f"), .json = TEXT("[1]")})

/* thrown, by the code, at 2:5, "E: m" with a stack of "s" */
static const uint8_t error_body[] = {
    2, 0,            /* failure, out of memory */
    2, 0, 0, 0,      /* line */
    5, 0, 0, 0,      /* column */
    6, 0, 0, 0,      /* hint: row 6, */
    7, 0, 0, 0,      /* for bytes 7 */
    8, 0, 0, 0,      /* to 8 */
    1, 0, 0, 0, 'E', /* name */
    1, 0, 0, 0, 'm', /* message */
    1, 0, 0, 0, 's', /* stack */
};
GOLDEN(error, {.failure = GBX_FAILURE_THROWN,
               .line = 2,
               .column = 5,
               .hint = 6,
               .hint_start = 7,
               .hint_end = 8,
               .name = TEXT("E"),
               .message = TEXT("m"),
               .stack = TEXT("s")})

/* number 7: a.b(1), with two bytes beside */
static const uint8_t hostcall_body[] = {
    7, 0, 0, 0,                /* id */
    3, 0, 0, 0, 'a', '.', 'b', /* name */
    3, 0, 0, 0, '[', '1', ']', /* arguments */
    2, 0, 0, 0, 0,   255,      /* bytes */
};
GOLDEN(hostcall,
       {.id = 7, .name = TEXT("a.b"), .args = TEXT("[1]"), .bytes = TEXT("\0\377")})

static const uint8_t cancel_body[] = {7, 0, 0, 0};
GOLDEN(cancel, {.id = 7})

static const uint8_t limited_body[] = {GBX_LIMITED_BYTES};
GOLDEN(limited, {.limit = GBX_LIMITED_BYTES})

/* number 7 failed: E: m (C) */
static const uint8_t answer_body[] = {
    7, 0, 0, 0,      /* id */
    1,               /* an error */
    0, 0, 0, 0,      /* json */
    0, 0, 0, 0,      /* bytes */
    1, 0, 0, 0, 'E', /* name */
    1, 0, 0, 0, 'm', /* message */
    1, 0, 0, 0, 'C', /* code */
};
GOLDEN(answer, {.id = 7,
                .is_error = 1,
                .name = TEXT("E"),
                .message = TEXT("m"),
                .code = TEXT("C")})

static const uint8_t call_body[] = {
    2,    2,                                        /* form body; has input */
    1,    2,    3,    4,    5,    6,    7,    8,    /* seed */
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, /* now: -1 */
    0,    0,    0,    8,    0,    0,    0,    0,    /* memory: 128 MiB */
    0,    0,    16,   0,    0,    0,    0,    0,    /* output: 1 MiB */
    0,    0,    160,  0,                            /* log: 10 MiB */
    3,    0,    0,    0,                            /* first line */
    7,    0,    0,    0,                            /* first column */
    4,    0,    0,    0,                            /* capabilities */
    100,  0,    0,    0,                            /* calls of the host */
    8,    0,    0,    0,                            /* at once */
    0,    0,    1,    0,    0,    0,    0,    0,    /* arguments: 64 KiB */
    0,    0,    0,    0,                            /* entropy: none */
    1,    0,    0,    0,    'f',                    /* withheld */
    2,    0,    0,    0,    '{',  '}',              /* env */
    1,    0,    0,    0,    'd',                    /* dataset */
    1,    0,    0,    0,    'c',                    /* code */
    2,    0,    0,    0,    '{',  '}',              /* bindings */
    4,    0,    0,    0,    'n',  'u',  'l',  'l',  /* input */
};
GOLDEN_BESIDE(call, msg->input,
              {.form = GBX_FORM_BODY,
               .flags = GBX_CALL_WIRE_HAS_INPUT,
               .seed = UINT64_C(0x0807060504030201),
               .now_ms = -1,
               .memory_bytes = UINT64_C(128) << 20,
               .output_bytes = 1 << 20,
               .log_bytes = 10 << 20,
               .first_line = 3,
               .first_column = 7,
               .capabilities = 4,
               .host_calls = 100,
               .host_calls_at_once = 8,
               .host_out_bytes = 65536,
               .withheld = TEXT("f"),
               .env = TEXT("{}"),
               .dataset = TEXT("d"),
               .code = TEXT("c"),
               .bindings = TEXT("{}"),
               .input = TEXT("null")})

static const uint8_t config_body[] = {
    8, 0, 0, 0,               /* version */
    1, 0, 1,                  /* globals minimal, no attack mode, all warming */
    8,                        /* huge pages */
    3, 0, 0, 0,               /* capabilities */
    1, 0, 0, 0,               /* speculation is guarded */
    0, 0, 0, 8, 0,   0, 0, 0, /* memory: 128 MiB */
    7, 0, 0, 0,               /* processor seconds */
    1, 0, 0, 0,               /* preloads */
    1, 0, 0, 0, 'f',          /* functions */
};
GOLDEN(config, {.version = GBX_WIRE_VERSION,
                .globals = GBX_GLOBALS_MINIMAL,
                .warm = 1,
                .huge_pages = 8,
                .capabilities = 3,
                .flags = GBX_CONFIG_GUARD_SPECULATION,
                .memory_bytes = UINT64_C(128) << 20,
                .cpu_s = 7,
                .preloads = 1,
                .functions = TEXT("f")})

static const uint8_t fork_body[] = {
    9, 0, 0, 0, 0, 0, 0, 1, /* worker */
    1,                      /* in a hurry */
};
GOLDEN(fork, {.worker_id = UINT64_C(0x0100000000000009), .hurries = 1})

static const uint8_t load_body[] = {
    5,    0, 0, 0, 1,   0,   0,   0, /* size: 4 GiB + 5 */
    0x12, 2, 0, 0,                   /* format: CSV, unfinished, two lines before it */
    3,    0, 0, 0, 'a', 'b', 'c',    /* name */
};
GOLDEN(load, {.size = (UINT64_C(1) << 32) + 5, .format = 0x212, .name = TEXT("abc")})

static const uint8_t expose_body[] = {3, 0, 0, 0, 'a', '.', 'b'};
GOLDEN(expose, {.name = TEXT("a.b")})

static const uint8_t attack_body[] = {
    9, 0, 0, 0, 0, 0, 0, 0, /* worker */
    4, 0, 0, 0,             /* attack */
    0, 1, 0, 0,             /* layers off */
};
GOLDEN(attack, {.worker_id = 9, .index = 4, .layers_off = 256})

/* one layer stands, one does not */
static const uint8_t hello_body[] = {
    8, 0, 0, 0,                     /* version */
    1, 0, 0, 0,                     /* threads */
    6, 0, 0, 0,                     /* landlock ABI */
    1, 0,                           /* out of memory is known; no writable code */
    2, 0, 0, 0, 'J', 'S',           /* engine */
    0, 0, 0, 0,                     /* failure: none */
    2, 0, 0, 0,                     /* of the second preload */
    3, 0, 0, 0,                     /* line */
    9, 0, 0, 0,                     /* column */
    1, 0, 0, 0, 'u',                /* user */
    0, 0, 0, 0,                     /* address layout */
    0, 0, 0, 0,                     /* speculation */
    1, 0, 0, 0, 'z',                /* time zones */
    2, 0, 0, 0,                     /* layers */
    8, 1, 0, 0, 0,   0,             /* number 8 stands */
    7, 0, 2, 0, 0,   0,   'n', 'o', /* number 7 does not, and why */
};
GOLDEN(hello,
       {.version = GBX_WIRE_VERSION,
        .threads = 1,
        .landlock_abi = 6,
        .oom_known = 1,
        .engine = TEXT("JS"),
        .preload = 2,
        .line = 3,
        .column = 9,
        .user = TEXT("u"),
        .time_zones = TEXT("z"),
        .layer_count = 2,
        .layers = {{.layer = 8, .stands = 1}, {.layer = 7, .reason = TEXT("no")}}})

static const uint8_t forked_body[] = {
    9,  0, 0, 0, 0, 0, 0, 0, /* worker */
    11, 0, 0, 0,             /* EAGAIN */
};
GOLDEN(forked, {.worker_id = 9, .error = 11})

static const uint8_t exited_body[] = {
    9,    0,    0,    0, 0, 0, 0, 0, /* worker */
    9,    0,    0,    0,             /* killed */
    0x40, 0x42, 0x0F, 0, 0, 0, 0, 0, /* 1,000,000 µs */
    0,    4,    0,    0, 0, 0, 0, 0, /* 1,024 KiB */
};
GOLDEN(exited, {.worker_id = 9, .status = 9, .cpu_us = 1000000, .max_rss_kib = 1024})

static const uint8_t loaded_body[] = {
    0,                    /* it is not */
    3, 0, 0, 0,           /* line */
    7, 0, 0, 0,           /* column */
    2, 0, 0, 0, 'n', 'o', /* message */
};
GOLDEN(loaded, {.line = 3, .column = 7, .message = TEXT("no")})

#define WORKER_ROW(name, text)                                                  \
    {                                                                           \
#        text, GBX_MSG_##text, GOLDEN_CALL_ID, name##_body, sizeof name##_body, \
            name##_decode, name##_encode, name##_recode                         \
    }
#define CONTROL_ROW(name, text)                                                   \
    {                                                                             \
#        text, GBX_MSG_##text, 0, name##_body, sizeof name##_body, name##_decode, \
            name##_encode, name##_recode                                          \
    }

const golden golden_messages[] = {
    WORKER_ROW(log, LOG),           WORKER_ROW(wait, WAIT),
    WORKER_ROW(result, RESULT),     WORKER_ROW(error, ERROR),
    WORKER_ROW(hostcall, HOSTCALL), WORKER_ROW(cancel, CANCEL),
    WORKER_ROW(limited, LIMITED),   WORKER_ROW(call, CALL),
    WORKER_ROW(answer, ANSWER),     CONTROL_ROW(config, CONFIG),
    CONTROL_ROW(fork, FORK),        CONTROL_ROW(load, LOAD),
    CONTROL_ROW(expose, EXPOSE),    CONTROL_ROW(attack, ATTACK),
    CONTROL_ROW(hello, HELLO),      CONTROL_ROW(forked, FORKED),
    CONTROL_ROW(exited, EXITED),    CONTROL_ROW(loaded, LOADED),
};

const size_t golden_count = GBX_COUNTOF(golden_messages);

const golden *golden_of(gbx_msg_type type)
{
    for (size_t i = 0; i < golden_count; i++)
        if (golden_messages[i].type == type)
            return &golden_messages[i];
    return NULL;
}
