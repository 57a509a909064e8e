/* SPDX-License-Identifier: MIT */
/*
 * recording_line - one line of a recording: an object whose members a table describes.
 *
 * Strict: a member that is not in the table, appears twice or has the wrong kind of
 * value is refused with its position; so is a missing one. Values are copied out of the
 * text. They are as hostile as whoever wrote the file.
 */
#ifndef GBX_REPLAY_RECORDING_LINE_H
#define GBX_REPLAY_RECORDING_LINE_H

#include "base/fail.h"
#include "base/json_view.h"
#include "wire/reader.h"

typedef enum gbx_recording_field_kind {
    GBX_FIELD_TEXT,    /* gbx_span: a string, or {"base64":"..."} if it is not UTF-8 */
    GBX_FIELD_BYTES,   /* gbx_span: a string of base64 */
    GBX_FIELD_UINT,    /* uint64_t, at most max */
    GBX_FIELD_INT,     /* int64_t */
    GBX_FIELD_DECIMAL, /* uint64_t: a string of digits, since many JSON readers have
                          no integer so large */
    GBX_FIELD_BOOL,    /* bool */
    GBX_FIELD_DIGEST,  /* uint8_t[32]: a string of hexadecimal digits */
    GBX_FIELD_WORD,    /* int: the index of a string in words */
    GBX_FIELD_WORDS,   /* uint32_t: a bit for each element, by its index in words */
    GBX_FIELD_NAMES,   /* gbx_span: an array of names, stored a line each */
    GBX_FIELD_VALUES,  /* gbx_span: an object of strings, as written */
    GBX_FIELD_IGNORED, /* a number that is only for people */
} gbx_recording_field_kind;

typedef struct gbx_recording_field {
    const char *name;
    gbx_recording_field_kind kind;
    bool required;
    size_t offset;                       /* of the field to fill */
    uint64_t max;                        /* UINT */
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

#endif
