/* SPDX-License-Identifier: MIT */
/*
 * result - what a call left behind, owned as one object. Filled by the one thread
 * that drives the call, then handed to the caller and never changed.
 */
#ifndef GBX_ENGINE_RESULT_H
#define GBX_ENGINE_RESULT_H

#include "base/fail.h"
#include "wire/messages.h"

#include <glovebox/record.h>

/* "9f3a61c2-17" with its NUL: eight digits of the engine, a ticket. */
#define GBX_CALL_ID_SIZE 32

/* What the next text of the console is. */
typedef enum gbx_result_line {
    GBX_RESULT_LINE_NEW,  /* a line of its own */
    GBX_RESULT_LINE_OPEN, /* more of the last line */
    GBX_RESULT_LINE_LOST, /* too late: what is kept has no gaps */
} gbx_result_line;

struct gbx_result {
    gbx_code code;
    bool has_value; /* false: undefined, or a failure */
    char *value;    /* JSON, or NULL */
    size_t value_len;
    char *error;      /* one line, or NULL */
    const char *hint; /* constant or "" */
    char *stack;      /* or NULL */
    gbx_location location;
    char *frame;   /* location.frame, or NULL */
    gbx_log *logs; /* text of each is owned */
    size_t log_count;
    size_t log_capacity;
    size_t log_seen;      /* handed to the live callback */
    gbx_result_line line; /* what comes next */
    size_t line_room;     /* bytes of the last line's text; 0: as many as it has */
    bool is_truncated;    /* logs */
    gbx_stats stats;
    uint64_t call; /* ticket */
    char call_id[GBX_CALL_ID_SIZE];
    const char *runner; /* constant or owned by the engine's caller */
    const char *jit;    /* constant */
    bool is_isolated;
    char *json; /* the whole, once asked for */
    size_t json_len;
    /* As the worker described what was thrown; the verdict makes error of it, and keeps
     * it if somebody threw it. */
    char *thrown_name;
    char *thrown_message;
    uint32_t thrown_line;
    uint32_t thrown_column;
    char runner_name[64];
    gbx_replay replay;     /* its texts are below, or constant */
    char *replay_texts[4]; /* by gbx_replay_text; or NULL */
};

/* Texts of a replay that its result owns. */
typedef enum gbx_replay_text {
    GBX_REPLAY_RECORDED,
    GBX_REPLAY_CAME,
    GBX_REPLAY_RECORDED_ENGINE,
    GBX_REPLAY_ENGINE,
} gbx_replay_text;

/* A copy, made valid UTF-8; without memory it stays empty. */
void gbx_result_set_replay(gbx_result *result, gbx_replay_text which, gbx_span text);

gbx_result *gbx_result_new(void);

/* False if memory is out. Bytes are made valid UTF-8. Past log_max (in text bytes
 * and line costs) the text is dropped with all that follows, and the result marked. flags: GBX_LOG_* of the wire;
 * what follows a text that goes on belongs to its line. */
bool gbx_result_add_log(gbx_result *result, gbx_log_level level, double time_ms,
                        gbx_span text, uint32_t log_max, uint8_t flags);

/* Nothing follows: a line whose rest never came ends where it is, and the result is
 * marked. */
void gbx_result_end_line(gbx_result *result);

/* The next line that is whole and that the live callback has not had; false if it has had
 * all. */
bool gbx_result_take_unseen_log(gbx_result *result, gbx_log *ret);

/* The value is copied; it is judged later. */
bool gbx_result_set_value(gbx_result *result, bool is_undefined, gbx_span json);
bool gbx_result_set_thrown(gbx_result *result, const gbx_msg_error *error);
void gbx_result_clear_thrown(gbx_result *result);

/* Make it a failure: code, message (copied, made one line), hint (constant). */
bool gbx_result_fail(gbx_result *result, gbx_code code, const char *message,
                     const char *hint);

#endif
