/* SPDX-License-Identifier: MIT */
/*
 * record - what a call was given and what the host answered, as lines of text.
 *
 * A recording is just that text. It is written line by line while the call runs, and
 * read line by line when it runs again. docs/internals/recordings.md describes it. A
 * recording may be a hostile file: gbx_record_check() must accept it first.
 */
#ifndef GBX_REPLAY_RECORD_H
#define GBX_REPLAY_RECORD_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "base/sha256.h"
#include "wire/messages.h"

#include <glovebox/record.h>

#define GBX_RECORD_VERSION 2u

/* Limit on the text before its last line; beyond it a call is no longer recorded. */
#define GBX_RECORD_MAX     GBX_MIB(256)
#define GBX_RECORD_END_MAX GBX_MIB(2)

/* Requests and results are stored up to this size each; size and digest identify the
 * rest. */
#define GBX_RECORD_KEPT GBX_KIB(64)

/* ---- what the call was given ------------------------------------------------------ */

/* A dataset or preload, identified by its digest. */
typedef struct gbx_record_source {
    gbx_span name;
    uint64_t size;
    uint8_t sha256[GBX_SHA256_SIZE];
} gbx_record_source;

typedef struct gbx_record_sources {
    gbx_record_source *list;
    size_t count;
} gbx_record_sources;

/* Spans borrow from the caller that made the head, or point to memory that
 * gbx_record_head_read() has allocated. */
typedef struct gbx_record_head {
    uint64_t version; /* of the format */
    gbx_span library; /* version of the library that wrote it */
    gbx_span engine;  /* "JavaScriptCore 2.50.6" */
    double recorded_at;
    int form; /* gbx_form */
    bool no_guard;
    int64_t now_ms;
    uint8_t entropy[GBX_ENTROPY_SIZE]; /* begins with the seed */
    gbx_span code;
    gbx_span dataset;      /* dataset that the code is called with; data NULL: none */
    gbx_span bindings;     /* a JSON object; data NULL: none */
    gbx_limits limits;     /* all are set */
    int globals;           /* gbx_globals */
    uint32_t capabilities; /* gbx_capability bits */
    gbx_span functions;    /* names of exposed functions, a line each */
    gbx_span env;          /* a JSON object; data NULL: none */
    gbx_span sites;        /* sites of fetch, a line each: for the guard */
    bool has_input;
    uint64_t input_size;
    uint8_t input_sha256[GBX_SHA256_SIZE];
    gbx_span input; /* data NULL: only its digest is known */
    gbx_record_sources datasets;
    gbx_record_sources preloads;
    struct gbx_record_chunk *chunks; /* memory allocated for spans */
} gbx_record_head;

/* False if `to` is full. */
bool gbx_record_put_head(gbx_buf *to, const gbx_record_head *head);

void gbx_record_head_cleanup(gbx_record_head *head);

/* ---- what happened ----------------------------------------------------------------- */

typedef enum gbx_record_kind {
    GBX_RECORD_REQUEST, /* the code called a function of the host */
    GBX_RECORD_CANCEL,  /* it no longer wants the answer */
    GBX_RECORD_WAIT,    /* it had nothing to do until the host answered */
    GBX_RECORD_ANSWER,  /* the host's answer, after a WAIT */
    GBX_RECORD_WAKE,    /* it continued; without a preceding answer, time had passed */
    GBX_RECORD_END,
} gbx_record_kind;

typedef struct gbx_record_request {
    gbx_span name;
    gbx_span args; /* cut at GBX_RECORD_KEPT, like body */
    uint64_t args_size;
    gbx_span body;
    uint64_t body_size;
    uint8_t sha256[GBX_SHA256_SIZE]; /* of args and body */
} gbx_record_request;

typedef struct gbx_record_end {
    int code;       /* gbx_code */
    gbx_span value; /* data NULL: undefined or a failure; cut at GBX_RECORD_KEPT */
    uint64_t value_size;
    uint8_t value_sha256[GBX_SHA256_SIZE];
    gbx_span error;
    gbx_span stack;
    uint32_t line, column; /* of the error */
    uint64_t logs;
    uint8_t logs_sha256[GBX_SHA256_SIZE];
    bool logs_cut;
    bool is_whole; /* the recording has everything before it */
    double wall_ms;
} gbx_record_end;

/* One line of what happened; spans point into the cursor that read it. */
typedef struct gbx_record_event {
    gbx_record_kind kind;
    uint32_t line;
    uint32_t id;  /* of REQUEST, CANCEL and ANSWER */
    uint32_t ms;  /* of WAIT */
    double at_ms; /* since the call began; only informative */
    gbx_record_request request;
    gbx_msg_answer answer; /* id is set */
    gbx_record_end end;
} gbx_record_event;

/* Name, size and digest of the worker's request; borrows from msg. */
void gbx_record_request_of(const gbx_msg_hostcall *msg, gbx_record_request *ret);

/* False if `to` is full. */
bool gbx_record_put(gbx_buf *to, const gbx_record_event *event);

/* The part of a text that is stored; does not split a character. */
gbx_span gbx_record_kept(gbx_span text);

/* True if such an end depends on the machine and its clocks: a replay cannot repeat
 * it. */
bool gbx_record_is_chance(gbx_code code);

/* ---- reading ----------------------------------------------------------------------- */

typedef struct gbx_record_cursor {
    const char *text; /* borrowed */
    size_t len;
    size_t at;
    uint32_t line; /* the last one read */
    uint8_t *room; /* for what one line decodes to */
    size_t room_size;
} gbx_record_cursor;

void gbx_record_cursor_init(gbx_record_cursor *c, const char *text, size_t len);
void gbx_record_cursor_cleanup(gbx_record_cursor *c);

/* The head, at the beginning of the text; clean up *ret in either case. */
gbx_status gbx_record_head_read(gbx_record_cursor *c, gbx_record_head *ret,
                                gbx_error *reterr);

/* The next event, after the head. Its pointers are valid until the next one. */
gbx_status gbx_record_next(gbx_record_cursor *c, gbx_record_event *ret,
                           gbx_error *reterr);

/* GBX_OK if text is a recording from head to end, with lines in a possible order; else
 * GBX_E_DATA with the position. *ret_whole: true if it claims to be complete. */
gbx_status gbx_record_check(const char *text, size_t len, bool *ret_whole,
                            gbx_error *reterr);

/* ---- the handle --------------------------------------------------------------------- */

typedef enum gbx_recording_state {
    GBX_RECORDING_EMPTY,
    GBX_RECORDING_FILLING, /* a call uses it */
    GBX_RECORDING_DONE,    /* text is complete; any thread may read it */
} gbx_recording_state;

struct gbx_recording {
    uint32_t flags; /* gbx_record_flag bits */
    gbx_recording_state state;
    bool is_cut;                       /* something is missing before the end */
    bool is_checked;                   /* gbx_record_check() has accepted the text */
    uint8_t entropy[GBX_ENTROPY_SIZE]; /* of its call */
    uint64_t load_seq;                 /* of the datasets that it names */
    gbx_buf text;
};

/* ---- memory of a head -------------------------------------------------------------- */

/* Memory for the spans of a head that was read; freed with it. */

struct gbx_record_chunk {
    struct gbx_record_chunk *next;
    uint8_t data[];
};

/* NULL if memory is out. */
uint8_t *gbx_record_chunk(gbx_record_head *head, size_t size);

/* ---- recording_line.c: one line ------------------------------------------- */

/*
 * An object whose members a table describes, for writing and for reading.
 *
 * Reading is strict: a member that is not in the table, appears twice or has the wrong
 * kind of value is refused with its position; so is a missing one. Values are copied
 * out of the text, which may be hostile.
 */

typedef enum gbx_recording_field_kind {
    GBX_FIELD_TEXT,   /* gbx_span: a string, or {"base64":"..."} if it is not UTF-8 */
    GBX_FIELD_NUMBER, /* of size 4 or 8; from 0 to max, or negative if max is INT64_MAX */
    GBX_FIELD_BOOL,   /* bool */
    GBX_FIELD_DIGEST, /* uint8_t[32]: a string of hexadecimal digits */
    GBX_FIELD_WORD,   /* int: the index of a string in words */
    GBX_FIELD_WORDS,  /* uint32_t: a bit for each element, by its index in words */
    GBX_FIELD_FIGURE, /* double: only informative, and not read back */
} gbx_recording_field_kind;

typedef struct gbx_recording_field {
    const char *name;
    gbx_recording_field_kind kind;
    bool required;
    size_t offset, size; /* of the field to fill */
    uint64_t max;
    const char *(*word)(unsigned index); /* WORD, WORDS: NULL past the last */
} gbx_recording_field;

/* The first member of every line. */
#define GBX_LINE_WHAT "what"

typedef struct gbx_recording_line {
    gbx_view view;   /* the object */
    gbx_view what;   /* the value of its first member */
    uint32_t number; /* from 1 */
} gbx_recording_line;

/*
 * The line at text[*at]; moves *at past it. False at the end of the text. A line that
 * is not one object with "what" first is refused: then *ret_status is not GBX_OK.
 */
bool gbx_recording_line_next(const char *text, size_t len, size_t *at,
                             gbx_recording_line *line, gbx_status *ret_status,
                             gbx_error *reterr);

bool gbx_recording_line_is(const gbx_recording_line *line, const char *what);

/*
 * Fill into with the members that the table lists; missing ones are left alone. Spans
 * point to `room`, which has at least as many bytes as the line.
 */
gbx_status gbx_recording_line_read(const gbx_recording_line *line,
                                   const gbx_recording_field *fields, size_t count,
                                   void *into, uint8_t *room, gbx_error *reterr);

/* GBX_E_DATA with the position of `at`, which lies in the line. */
gbx_status gbx_recording_line_refuse(const gbx_recording_line *line, const char *at,
                                     gbx_error *reterr, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Append a line with the members that the table lists, in its order; those that are not
 * required are left out if they are empty, zero or false. False if `to` is full. */
bool gbx_recording_line_write(gbx_buf *to, const char *what,
                              const gbx_recording_field *fields, size_t count,
                              const void *from);

/* ---- words --------------------------------------------------------------- */

/* The names of choices in a recording; NULL past the last. */

const char *gbx_record_globals(unsigned index);    /* gbx_globals */
const char *gbx_record_capability(unsigned index); /* bit of gbx_capability */
const char *gbx_record_code(unsigned index);       /* gbx_code */

#endif
