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

/* Room for "9f3a61c2-17" and its NUL: the engine's eight digits, the call's ticket. */
#define GBX_CALL_ID_SIZE 32

/* What the next console text is. */
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
    const char *hint; /* a constant, own_hint or "" */
    char *own_hint;   /* or NULL */
    char *stack;      /* or NULL */
    gbx_location location;
    char *frame;   /* owns location.frame; or NULL */
    gbx_log *logs; /* with their texts, which are owned */
    size_t log_count;
    size_t log_capacity;
    size_t log_seen;      /* how many the live callback has received */
    gbx_result_line line; /* state of the next text */
    size_t line_room;     /* bytes allocated for the last line's text; 0: its length */
    bool is_truncated;    /* console text was dropped */
    gbx_stats stats;
    uint64_t call; /* ticket */
    char call_id[GBX_CALL_ID_SIZE];
    const char *runner; /* a constant, or runner_name */
    const char *jit;    /* constant */
    bool is_isolated;
    char *json; /* the whole result, made on first request */
    size_t json_len;
    /* The worker's description of the failure. The verdict makes the error from it, and
     * keeps it only if the code threw it. */
    char *thrown_name;
    char *thrown_message;
    uint32_t thrown_line;
    uint32_t thrown_column;
    char runner_name[64];
    char machine[80];      /* where it ran; "": here */
    gbx_replay replay;     /* its texts are below, or constant */
    char *replay_texts[4]; /* indexed by gbx_replay_text; or NULL */
};

/* The texts of a replay that its result owns. */
typedef enum gbx_replay_text {
    GBX_REPLAY_RECORDED,
    GBX_REPLAY_CAME,
    GBX_REPLAY_RECORDED_ENGINE,
    GBX_REPLAY_ENGINE,
} gbx_replay_text;

/* Keep a copy of text, made valid UTF-8; "" if memory is out. */
void gbx_result_set_replay(gbx_result *result, gbx_replay_text which, gbx_span text);

gbx_result *gbx_result_new(void);

/* Add console text, made valid UTF-8. Past log_max (in text bytes and line costs) this
 * and all later text is dropped, and the logs are marked as truncated. flags: GBX_LOG_*
 * of the wire; text after GBX_LOG_GOES_ON belongs to the same line. False if memory is
 * out. */
bool gbx_result_add_log(gbx_result *result, gbx_log_level level, double time_ms,
                        gbx_span text, uint32_t log_max, uint8_t flags);

/* The next whole line that the live callback has not received; false if there is
 * none. */
bool gbx_result_take_unseen_log(gbx_result *result, gbx_log *ret);

/* Copies the value, which is checked later. */
bool gbx_result_set_value(gbx_result *result, bool is_undefined, gbx_span json);
bool gbx_result_set_thrown(gbx_result *result, const gbx_msg_error *error);

/* Make it a failure: code, message (copied, made one line), hint (constant). */
bool gbx_result_fail(gbx_result *result, gbx_code code, const char *message,
                     const char *hint);

#endif
