/* SPDX-License-Identifier: MIT */
/*
 * message - JSON-RPC 2.0 as MCP uses it: read strictly, written in one way.
 *
 * Reading checks the whole text once and then borrows views of it. Ids are strings or
 * integers, never null; they are echoed as they were written, so the type is kept.
 *
 * Writers append to a buffer; every message is one line and ends in its newline. A
 * writer checks buf->failed once, at the end.
 */
#ifndef GBX_MCP_RPC_MESSAGE_H
#define GBX_MCP_RPC_MESSAGE_H

#include "base/buf.h"
#include "base/json_view.h"

/* Limit of progress tokens and ids of subscriptions, which are kept for long; longer
 * ones are not accepted. */
#define GBX_RPC_ID_MAX     256
#define GBX_RPC_METHOD_MAX 128

#define GBX_RPC_PARSE_ERROR      (-32700)
#define GBX_RPC_INVALID_REQUEST  (-32600)
#define GBX_RPC_METHOD_NOT_FOUND (-32601)
#define GBX_RPC_INVALID_PARAMS   (-32602)
#define GBX_RPC_INTERNAL_ERROR   (-32603)

typedef enum gbx_rpc_kind {
    GBX_RPC_REQUEST,
    GBX_RPC_NOTIFICATION,
    GBX_RPC_RESULT,
    GBX_RPC_ERROR,
    GBX_RPC_BATCH, /* an array of unchecked messages, in payload */
} gbx_rpc_kind;

/* Borrows from the text that was read. */
typedef struct gbx_rpc_message {
    gbx_rpc_kind kind;
    gbx_view id; /* no value: a notification, or an error about an unknown request */
    char method[GBX_RPC_METHOD_MAX + 1];
    gbx_view
        payload; /* params (an object, or no value), result, or error (an object) */
} gbx_rpc_message;

/* Why a text is not a valid message. */
typedef struct gbx_rpc_fault {
    int code;            /* of the error to answer with */
    const char *message; /* constant */
    gbx_view id;         /* of the answer; no value if it is unknown */
    bool is_answerable;  /* false: it looks like a response, which is never answered */
} gbx_rpc_fault;

/* Read one message. On false, *ret is untouched and *ret_fault says why. */
bool gbx_rpc_read(const char *text, size_t len, gbx_rpc_message *ret,
                  gbx_rpc_fault *ret_fault);
/* The same for an element of a batch, whose text was checked with the batch. */
bool gbx_rpc_read_view(gbx_view value, gbx_rpc_message *ret, gbx_rpc_fault *ret_fault);

/* Is it an id: a string, or a whole number in digits? */
bool gbx_rpc_is_id(gbx_view view);
/* Same type and same value. Both must be ids. */
bool gbx_rpc_same_id(gbx_view a, gbx_view b);
/* Read an id, or another integer, as a number. */
bool gbx_rpc_integer(gbx_view view, int64_t *ret);
/* Copy a string's characters and a NUL. False, and nothing is written, if it is not a
 * string, holds a NUL, or does not fit into size bytes. */
bool gbx_rpc_copy_text(gbx_view view, char *ret, size_t size);

/* The code and the message of an error; -32603 and no value if they are missing. */
int gbx_rpc_error_code(gbx_view error);
gbx_view gbx_rpc_error_message(gbx_view error);

/* ---- writing -------------------------------------------------------------- */

/* Append JSON on one line that every reader accepts: line ends, which include a
 * carriage return, become blanks, and half a surrogate pair becomes U+FFFD. It must be
 * JSON; the length stays the same. */
bool gbx_rpc_append_json(gbx_buf *to, const char *json, size_t len);

/* {"jsonrpc":"2.0","id":ID,"result": -- append the value, then call gbx_rpc_end(). */
void gbx_rpc_begin_result(gbx_buf *to, gbx_view id);
/* {"jsonrpc":"2.0","id":N,"method":"M","params": */
void gbx_rpc_begin_request(gbx_buf *to, int64_t id, const char *method);
/* {"jsonrpc":"2.0","method":"M","params": */
void gbx_rpc_begin_notification(gbx_buf *to, const char *method);
/* Append the closing brace and the newline. */
void gbx_rpc_end(gbx_buf *to);

/* Append a whole error message. id without a value: the error has no id. data is
 * JSON, or NULL. */
void gbx_rpc_append_error(gbx_buf *to, gbx_view id, int code, const char *message,
                          const char *data);

#endif
