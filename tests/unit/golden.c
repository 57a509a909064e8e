/* SPDX-License-Identifier: MIT */
/* golden - see golden.h. Bytes are written out: a mistake in an encoder must not be
 * able to agree with the same mistake in a decoder. */
#include "golden.h"

#define TEXT(s)                             \
    {                                       \
        (const uint8_t *)(s), sizeof(s) - 1 \
    }

/* level warn, not cut, "hi" */
static const uint8_t log_body[] = {
    3, 0,                 /* level, cut */
    2, 0, 0, 0, 'h', 'i', /* text */
};

static bool log_decode(gbx_span body)
{
    gbx_msg_log msg;

    return gbx_msg_get_log(body, &msg);
}

static bool log_encode(gbx_buf *to)
{
    return gbx_msg_put_log(to, GOLDEN_CALL_ID,
                           &(gbx_msg_log){.level = 3, .text = TEXT("hi")});
}

/* 1,000 ms */
static const uint8_t wait_body[] = {0xE8, 0x03, 0, 0};

static bool wait_decode(gbx_span body)
{
    gbx_msg_wait msg;

    return gbx_msg_get_wait(body, &msg);
}

static bool wait_encode(gbx_buf *to)
{
    return gbx_msg_put_wait(to, GOLDEN_CALL_ID, &(gbx_msg_wait){.ms = 1000});
}

/* the value [1] */
static const uint8_t result_body[] = {
    0,                            /* not undefined */
    3, 0, 0, 0,                   /* hint: row 3, */
    4, 0, 0, 0, 9,   0,   0,   0, /* for bytes 4 to 9 */
    1, 0, 0, 0, 'f',              /* field */
    3, 0, 0, 0, '[', '1', ']',    /* json */
};

static bool result_decode(gbx_span body)
{
    gbx_msg_result msg;

    return gbx_msg_get_result(body, GOLDEN_OUTPUT_MAX, &msg);
}

static bool result_encode(gbx_buf *to)
{
    return gbx_msg_put_result_head(to, GOLDEN_CALL_ID,
                                   &(gbx_msg_result){.hint = 3,
                                                     .start = 4,
                                                     .end = 9,
                                                     .field = TEXT("f"),
                                                     .json = TEXT("[1]")}) &&
           gbx_buf_puts(to, "[1]"); /* the sender appends the value itself */
}

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

static bool error_decode(gbx_span body)
{
    gbx_msg_error msg;

    return gbx_msg_get_error(body, &msg);
}

static bool error_encode(gbx_buf *to)
{
    return gbx_msg_put_error(to, GOLDEN_CALL_ID,
                             &(gbx_msg_error){.failure = GBX_FAILURE_THROWN,
                                              .line = 2,
                                              .column = 5,
                                              .hint = 6,
                                              .hint_start = 7,
                                              .hint_end = 8,
                                              .name = TEXT("E"),
                                              .message = TEXT("m"),
                                              .stack = TEXT("s")});
}

/* number 7: a.b(1), with two bytes beside */
static const uint8_t hostcall_body[] = {
    7, 0, 0, 0,                /* id */
    3, 0, 0, 0, 'a', '.', 'b', /* name */
    3, 0, 0, 0, '[', '1', ']', /* arguments */
    2, 0, 0, 0, 0,   255,      /* bytes */
};

static bool hostcall_decode(gbx_span body)
{
    gbx_msg_hostcall msg;

    return gbx_msg_get_hostcall(body, GOLDEN_OUTPUT_MAX, &msg);
}

static bool hostcall_encode(gbx_buf *to)
{
    return gbx_msg_put_hostcall(to, GOLDEN_CALL_ID,
                                &(gbx_msg_hostcall){.id = 7,
                                                    .name = TEXT("a.b"),
                                                    .args = TEXT("[1]"),
                                                    .bytes = TEXT("\0\377")});
}

static const uint8_t cancel_body[] = {7, 0, 0, 0};

static bool cancel_decode(gbx_span body)
{
    uint32_t id;

    return gbx_msg_get_cancel(body, &id);
}

static bool cancel_encode(gbx_buf *to)
{
    return gbx_msg_put_cancel(to, GOLDEN_CALL_ID, 7);
}

static const uint8_t limited_body[] = {GBX_LIMITED_BYTES};

static bool limited_decode(gbx_span body)
{
    uint8_t limit;

    return gbx_msg_get_limited(body, &limit);
}

static bool limited_encode(gbx_buf *to)
{
    return gbx_msg_put_limited(to, GOLDEN_CALL_ID, GBX_LIMITED_BYTES);
}

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

static bool answer_decode(gbx_span body)
{
    gbx_msg_answer msg;

    return gbx_msg_get_answer(body, &msg);
}

static bool answer_encode(gbx_buf *to)
{
    return gbx_msg_put_answer(to, GOLDEN_CALL_ID,
                              &(gbx_msg_answer){.id = 7,
                                                .is_error = 1,
                                                .name = TEXT("E"),
                                                .message = TEXT("m"),
                                                .code = TEXT("C")});
}

static const uint8_t call_body[] = {
    2,    11, /* form body; console, timers, has input */
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

static bool call_decode(gbx_span body)
{
    gbx_msg_call msg;

    return gbx_msg_get_call(body, &msg);
}

static bool call_encode(gbx_buf *to)
{
    gbx_msg_call msg = {.form = 2,
                        .flags = 11,
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
                        .input = TEXT("null")};

    return gbx_msg_put_call_head(to, GOLDEN_CALL_ID, &msg) && gbx_buf_puts(to, "null");
}

static const uint8_t config_body[] = {
    6, 0, 0, 0,               /* version */
    1, 0, 1,                  /* globals minimal, no attack mode, all warming */
    8,                        /* huge pages */
    3, 0, 0, 0,               /* capabilities */
    0, 0, 0, 0,               /* layers off */
    1, 0, 0, 0,               /* speculation is guarded */
    0, 0, 0, 8, 0,   0, 0, 0, /* memory: 128 MiB */
    7, 0, 0, 0,               /* processor seconds */
    1, 0, 0, 0,               /* preloads */
    1, 0, 0, 0, 'f',          /* functions */
};

static bool config_decode(gbx_span body)
{
    gbx_msg_config msg;

    return gbx_msg_get_config(body, &msg);
}

static bool config_encode(gbx_buf *to)
{
    return gbx_msg_put_config(to,
                              &(gbx_msg_config){.version = 6,
                                                .globals = 1,
                                                .warm = 1,
                                                .huge_pages = 8,
                                                .capabilities = 3,
                                                .flags = GBX_CONFIG_GUARD_SPECULATION,
                                                .memory_bytes = UINT64_C(128) << 20,
                                                .cpu_s = 7,
                                                .preloads = 1,
                                                .functions = TEXT("f")});
}

static const uint8_t fork_body[] = {9, 0, 0, 0, 0, 0, 0, 1};

static bool fork_decode(gbx_span body)
{
    uint64_t worker_id;

    return gbx_msg_get_fork(body, &worker_id);
}

static bool fork_encode(gbx_buf *to)
{
    return gbx_msg_put_fork(to, GBX_MSG_FORK, UINT64_C(0x0100000000000009));
}

static bool fork_now_encode(gbx_buf *to)
{
    return gbx_msg_put_fork(to, GBX_MSG_FORK_NOW, UINT64_C(0x0100000000000009));
}

static const uint8_t load_body[] = {
    5,    0, 0, 0, 1,   0,   0,   0, /* size: 4 GiB + 5 */
    0x12, 2, 0, 0,                   /* format: CSV, unfinished, two lines before it */
    3,    0, 0, 0, 'a', 'b', 'c',    /* name */
};

static bool load_decode(gbx_span body)
{
    gbx_msg_load msg;

    return gbx_msg_get_load(body, &msg);
}

static bool load_encode(gbx_buf *to)
{
    return gbx_msg_put_load(to, &(gbx_msg_load){.size = (UINT64_C(1) << 32) + 5,
                                                .format = 0x212,
                                                .name = TEXT("abc")});
}

static const uint8_t expose_body[] = {3, 0, 0, 0, 'a', '.', 'b'};

static bool expose_decode(gbx_span body)
{
    gbx_span name;

    return gbx_msg_get_expose(body, &name);
}

static bool expose_encode(gbx_buf *to)
{
    return gbx_msg_put_expose(to, (gbx_span)TEXT("a.b"));
}

static const uint8_t preload_body[] = {
    5, 0, 0, 0, 0,   0, 0, 0, /* size */
    1, 0, 0, 0, 'p',          /* name */
};

static bool preload_decode(gbx_span body)
{
    gbx_msg_preload msg;

    return gbx_msg_get_preload(body, &msg);
}

static bool preload_encode(gbx_buf *to)
{
    return gbx_msg_put_preload(to, &(gbx_msg_preload){.size = 5, .name = TEXT("p")});
}

static const uint8_t attack_body[] = {
    9, 0, 0, 0, 0, 0, 0, 0, /* worker */
    4, 0, 0, 0,             /* attack */
    0, 1, 0, 0,             /* layers off */
};

static bool attack_decode(gbx_span body)
{
    gbx_msg_attack msg;
    uint64_t worker_id;

    return gbx_msg_get_attack(body, &worker_id, &msg);
}

static bool attack_encode(gbx_buf *to)
{
    return gbx_msg_put_attack(to, 9, &(gbx_msg_attack){.index = 4, .layers_off = 256});
}

/* one layer stands, one does not */
static const uint8_t hello_body[] = {
    6, 0, 0, 0,                     /* version */
    1, 0, 0, 0,                     /* threads */
    6, 0, 0, 0,                     /* landlock ABI */
    1, 0,                           /* out of memory is known; no writable code */
    2, 0, 0, 0, 'J', 'S',           /* engine */
    0, 0, 0, 0,                     /* failure: none */
    2, 0, 0, 0,                     /* of the second preload */
    3, 0, 0, 0,                     /* line */
    9, 0, 0, 0,                     /* column */
    2, 0, 0, 0,                     /* layers */
    8, 1, 0, 0, 0,   0,             /* number 8 stands */
    7, 0, 2, 0, 0,   0,   'n', 'o', /* number 7 does not, and why */
};

static bool hello_decode(gbx_span body)
{
    gbx_msg_hello msg;

    return gbx_msg_get_hello(body, &msg);
}

static bool hello_encode(gbx_buf *to)
{
    gbx_msg_hello msg = {.version = 6,
                         .threads = 1,
                         .landlock_abi = 6,
                         .oom_known = 1,
                         .engine = TEXT("JS"),
                         .preload = 2,
                         .line = 3,
                         .column = 9,
                         .layer_count = 2,
                         .layers = {{.layer = 8, .stands = 1},
                                    {.layer = 7, .reason = TEXT("no")}}};

    return gbx_msg_put_hello(to, &msg);
}

static const uint8_t forked_body[] = {
    9,  0, 0, 0, 0, 0, 0, 0, /* worker */
    11, 0, 0, 0,             /* EAGAIN */
};

static bool forked_decode(gbx_span body)
{
    gbx_msg_forked msg;

    return gbx_msg_get_forked(body, &msg);
}

static bool forked_encode(gbx_buf *to)
{
    return gbx_msg_put_forked(to, &(gbx_msg_forked){.worker_id = 9, .error = 11});
}

static const uint8_t exited_body[] = {
    9,    0,    0,    0, 0, 0, 0, 0, /* worker */
    9,    0,    0,    0,             /* killed */
    0x40, 0x42, 0x0F, 0, 0, 0, 0, 0, /* 1,000,000 µs */
    0,    4,    0,    0, 0, 0, 0, 0, /* 1,024 KiB */
};

static bool exited_decode(gbx_span body)
{
    gbx_msg_exited msg;

    return gbx_msg_get_exited(body, &msg);
}

static bool exited_encode(gbx_buf *to)
{
    return gbx_msg_put_exited(to, &(gbx_msg_exited){.worker_id = 9,
                                                    .status = 9,
                                                    .cpu_us = 1000000,
                                                    .max_rss_kib = 1024});
}

static const uint8_t loaded_body[] = {
    0,                    /* it is not */
    3, 0, 0, 0,           /* line */
    7, 0, 0, 0,           /* column */
    2, 0, 0, 0, 'n', 'o', /* message */
};

static bool loaded_decode(gbx_span body)
{
    gbx_msg_loaded msg;

    return gbx_msg_get_loaded(body, &msg);
}

static bool loaded_encode(gbx_buf *to)
{
    return gbx_msg_put_loaded(to, &(gbx_msg_loaded){.line = 3,
                                                    .column = 7,
                                                    .message = TEXT("no")});
}

#define WORKER_ROW(name, text)                                                  \
    {                                                                           \
#        text, GBX_MSG_##text, GOLDEN_CALL_ID, name##_body, sizeof name##_body, \
            name##_decode, name##_encode                                        \
    }
#define CONTROL_ROW(name, text)                                                   \
    {                                                                             \
#        text, GBX_MSG_##text, 0, name##_body, sizeof name##_body, name##_decode, \
            name##_encode                                                         \
    }

const golden golden_messages[] = {
    WORKER_ROW(log, LOG),
    WORKER_ROW(wait, WAIT),
    WORKER_ROW(result, RESULT),
    WORKER_ROW(error, ERROR),
    WORKER_ROW(hostcall, HOSTCALL),
    WORKER_ROW(cancel, CANCEL),
    WORKER_ROW(limited, LIMITED),
    WORKER_ROW(call, CALL),
    WORKER_ROW(answer, ANSWER),
    CONTROL_ROW(config, CONFIG),
    CONTROL_ROW(fork, FORK),
    CONTROL_ROW(load, LOAD),
    CONTROL_ROW(expose, EXPOSE),
    CONTROL_ROW(preload, PRELOAD),
    CONTROL_ROW(attack, ATTACK),
    CONTROL_ROW(hello, HELLO),
    CONTROL_ROW(forked, FORKED),
    CONTROL_ROW(exited, EXITED),
    CONTROL_ROW(loaded, LOADED),
    {"FORK_NOW", GBX_MSG_FORK_NOW, 0, fork_body, sizeof fork_body, fork_decode,
     fork_now_encode},
};

const size_t golden_count = GBX_COUNTOF(golden_messages);

const golden *golden_of(gbx_msg_type type)
{
    for (size_t i = 0; i < golden_count; i++)
        if (golden_messages[i].type == type)
            return &golden_messages[i];
    return NULL;
}
