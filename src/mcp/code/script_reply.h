/* SPDX-License-Identifier: MIT */
/*
 * script_reply - what a model reads of a run: text, and the same as structured content.
 *
 * Every cut is reported first, exactly, and the whole is kept as an artifact.
 */
#ifndef GBX_MCP_CODE_SCRIPT_REPLY_H
#define GBX_MCP_CODE_SCRIPT_REPLY_H

#include "mcp/code/code.h"

typedef struct gbx_script_reply_log {
    const char *level;
    const char *text; /* borrowed */
    size_t len;
} gbx_script_reply_log;

typedef enum gbx_script_reply_outcome {
    GBX_CALL_DONE,
    GBX_CALL_FAILED,
    GBX_CALL_NOT_SENT,
    GBX_CALL_CANCELLED, /* its tool is read-only */
    GBX_CALL_DOUBTFUL,  /* it may have taken effect */
    GBX_CALL_OUTCOMES
} gbx_script_reply_outcome;

/* One nested call, as it ended. Strings are borrowed. */
typedef struct gbx_script_reply_call {
    const char *server;
    const char *tool;
    const char *code; /* why it failed, or NULL */
    gbx_script_reply_outcome outcome;
    bool was_open; /* when the code had ended */
    uint32_t line;
    double ms;
    size_t bytes;     /* of its result */
    const char *gave; /* sketch of the result; or NULL */
} gbx_script_reply_call;

typedef struct gbx_script_reply_error {
    const char *code; /* NULL: there is none */
    const char *name; /* "TypeError", or "" */
    const char *message;
    uint32_t line;
    uint32_t column;
    const char *frame; /* or "" */
    const char *hint;  /* or "" */
} gbx_script_reply_error;

/* An artifact that the code kept; a list. */
typedef struct gbx_script_reply_artifact {
    char uri[GBX_ARTIFACT_URI_SIZE];
    char name[64];
    char mime_type[64];
    size_t bytes;
} gbx_script_reply_artifact;

/* How many are named; the rest is counted. */
#define GBX_REPLY_ARTIFACTS_MAX 64

typedef struct gbx_script_reply {
    const char *value; /* JSON; len 0: none */
    size_t value_len;
    const gbx_script_reply_log *logs;
    size_t log_count;
    bool logs_cut; /* the run's limit cut them */
    const gbx_script_reply_call *calls;
    size_t call_count;
    const gbx_script_reply_artifact *artifacts;
    size_t artifact_count;
    bool has_no_links; /* name artifacts only in text and structure */
    gbx_script_reply_error error;
    const char *uncalled; /* name of a function that nothing calls, */
    size_t uncalled_len;  /* its bytes; 0: none */
    const char *note;     /* further lines, e.g. of calls that had not ended; or "" */
    double wall_ms;
    double cpu_ms;
    uint64_t memory_bytes;
    uint32_t calls_left;
    double ms_left;
} gbx_script_reply;

typedef struct gbx_script_reply_texts {
    gbx_buf text;
    gbx_buf structured; /* JSON object */
    gbx_buf content; /* JSON array of blocks: the text, and a link for each artifact */
} gbx_script_reply_texts;

/* JSON Schema of the structured content. */
#define GBX_REPLY_SCHEMA                                                  \
    "{\"type\":\"object\",\"properties\":{"                               \
    "\"ok\":{\"type\":\"boolean\"},"                                      \
    "\"result\":{},"                                                      \
    "\"logs\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"      \
    "\"calls\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"     \
    "\"truncated\":{\"type\":\"boolean\"},"                               \
    "\"artifacts\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}," \
    "\"error\":{\"type\":\"object\"},"                                    \
    "\"usage\":{\"type\":\"object\"}},"                                   \
    "\"required\":[\"ok\",\"logs\",\"calls\",\"truncated\",\"artifacts\",\"usage\"]}"

/* cap: bytes of text that may be shown. False if memory is out. Clean up *ret in any
 * case. */
bool gbx_code_reply_write(const gbx_script_reply *reply, size_t cap,
                          gbx_artifacts *store, int64_t now_ns,
                          gbx_script_reply_texts *ret);
void gbx_script_reply_cleanup(gbx_script_reply_texts *texts);

#endif
