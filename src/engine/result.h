/* SPDX-License-Identifier: MIT */
/*
 * result - the outcome of a call, owned as one object. Only the thread that drives the
 * call fills it; after that the caller owns it and it never changes.
 */
#ifndef GBX_ENGINE_RESULT_H
#define GBX_ENGINE_RESULT_H

#include "base/fail.h"
#include "wire/messages.h"

#include <glovebox/record.h>

/* "9f3a61c2-17" with its NUL: eight digits of the engine, a ticket. */
#define GBX_CALL_ID_SIZE 32

/* How the next console text continues. */
typedef enum gbx_result_line {
    GBX_RESULT_LINE_NEW,  /* a line of its own */
    GBX_RESULT_LINE_OPEN, /* the rest of the last line */
    GBX_RESULT_LINE_LOST, /* dropped: the kept text must have no gaps */
} gbx_result_line;

struct gbx_result {
    gbx_code code;
    bool has_value; /* false: undefined, or a failure */
    char *value;    /* JSON, or NULL */
    size_t value_len;
    char *error;      /* one line, or NULL */
    const char *hint; /* constant, own_hint or "" */
    char *own_hint;   /* or NULL */
    char *stack;      /* or NULL */
    gbx_location location;
    char *frame;   /* location.frame, or NULL */
    gbx_log *logs; /* text of each is owned */
    size_t log_count;
    size_t log_capacity;
    size_t log_seen;      /* number passed to the live callback */
    gbx_result_line line; /* state of the next text */
    size_t line_room;     /* reserved for the last line's text; 0: its length */
    bool is_truncated;    /* logs */
    gbx_stats stats;
    uint64_t call; /* ticket */
    char call_id[GBX_CALL_ID_SIZE];
    const char *runner; /* constant or owned by the engine's caller */
    const char *jit;    /* constant */
    bool is_isolated;
    char *json; /* the whole result, made on first request */
    size_t json_len;
    /* The worker's description of what was thrown. The verdict makes error from it,
     * and keeps it only if the code threw it. */
    char *thrown_name;
    char *thrown_message;
    uint32_t thrown_line;
    uint32_t thrown_column;
    char runner_name[64];
    gbx_replay replay;     /* its texts are below, or constant */
    char *replay_texts[4]; /* indexed by gbx_replay_text; or NULL */
};

/* Texts of a replay that its result owns. */
typedef enum gbx_replay_text {
    GBX_REPLAY_RECORDED,
    GBX_REPLAY_CAME,
    GBX_REPLAY_RECORDED_ENGINE,
    GBX_REPLAY_ENGINE,
} gbx_replay_text;

/* A copy, made valid UTF-8; empty if memory is out. */
void gbx_result_set_replay(gbx_result *result, gbx_replay_text which, gbx_span text);

gbx_result *gbx_result_new(void);

/* False if memory is out. Bytes are made valid UTF-8. Past log_max (in text bytes
 * and line costs) this and all later text is dropped, and the result is marked.
 * flags: GBX_LOG_* of the wire; text after a continued piece belongs to the same
 * line. */
bool gbx_result_add_log(gbx_result *result, gbx_log_level level, double time_ms,
                        gbx_span text, uint32_t log_max, uint8_t flags);

/* The next whole line that the live callback has not received; false if there is
 * none. */
bool gbx_result_take_unseen_log(gbx_result *result, gbx_log *ret);

/* Copies the value; it is judged later. */
bool gbx_result_set_value(gbx_result *result, bool is_undefined, gbx_span json);
bool gbx_result_set_thrown(gbx_result *result, const gbx_msg_error *error);
void gbx_result_clear_thrown(gbx_result *result);

/* Make it a failure: code, message (copied, made one line), hint (constant). */
bool gbx_result_fail(gbx_result *result, gbx_code code, const char *message,
                     const char *hint);

#endif
