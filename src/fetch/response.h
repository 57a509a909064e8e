/* SPDX-License-Identifier: MIT */
/*
 * response - a server's response, line by line, read as strictly as possible.
 *
 * The server is as hostile as the code, which may have chosen it. libcurl passes header
 * lines as they were received; everything that frames the body is checked here again,
 * before libcurl acts on it. Sans I/O.
 */
#ifndef GBX_FETCH_RESPONSE_H
#define GBX_FETCH_RESPONSE_H

#include "base/buf.h"
#include "fetch/fetch_error.h"
#include "fetch/fields.h"

#include <stdint.h>

#define GBX_RESPONSE_HEADERS_MAX      256u
#define GBX_RESPONSE_HEADER_BYTES_MAX 65536u /* with trailers and 1xx */
#define GBX_RESPONSE_INTERIM_MAX      16u    /* 1xx responses before the real one */
#define GBX_STATUS_TEXT_MAX           128u

typedef struct gbx_response {
    uint16_t status;
    char status_text[GBX_STATUS_TEXT_MAX + 1];
    gbx_fields headers;
    gbx_buf body; /* decompressed; its ceiling is the limit */
} gbx_response;

typedef enum gbx_head_state {
    GBX_HEAD_STATUS, /* expects a status line */
    GBX_HEAD_FIELDS,
    GBX_HEAD_DONE, /* expects trailers */
} gbx_head_state;

/* Reads the head of one response. */
typedef struct gbx_head {
    gbx_response *response;      /* borrowed */
    gbx_fault *fault;            /* borrowed */
    const char *encodings_taken; /* "gzip, br"; borrowed */
    gbx_head_state state;
    size_t bytes;
    unsigned interim_count;
    unsigned encodings; /* of the body, without identity */
    bool is_chunked;
    bool has_length;
    uint64_t length; /* with has_length */
} gbx_head;

void gbx_response_init(gbx_response *response, size_t max_bytes);
void gbx_response_cleanup(gbx_response *response);

void gbx_head_init(gbx_head *head, gbx_response *response, const char *encodings_taken,
                   gbx_fault *fault);

/* One line as received, including its end; an empty one ends a head. False with a
 * fault. */
bool gbx_head_line(gbx_head *head, const char *line, size_t len);

/* More of the body; false with a fault if it exceeds the limit. */
bool gbx_response_append(gbx_response *response, const void *data, size_t len,
                         gbx_fault *fault);

/* Add one header, from any transport. */
bool gbx_response_add_header(gbx_response *response, const char *name, size_t name_len,
                             const char *value, size_t value_len, gbx_fault *fault);

/* {"status", "statusText", "url", "headers", "redirected"}; false if to is full. */
bool gbx_response_write(const gbx_response *response, const char *url, bool redirected,
                        gbx_buf *to);

#endif
