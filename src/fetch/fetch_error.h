/* SPDX-License-Identifier: MIT */
/*
 * fetch_error - why a request was refused or failed: for the code, and for the host.
 *
 * The message is for the sandboxed code and the model that wrote it: how to repair the
 * request, never where a name leads inside the host's network. The detail is only for
 * the host's log.
 */
#ifndef GBX_FETCH_FETCH_ERROR_H
#define GBX_FETCH_FETCH_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* The code sees the names as error.code: append only. XX(name, code, name of the
 * Error). */
#define GBX_FAULT_MAP(XX)                                 \
    XX(REQUEST, "ERR_FETCH_REQUEST", "TypeError")         \
    XX(URL, "ERR_FETCH_URL", "TypeError")                 \
    XX(NOT_ALLOWED, "ERR_FETCH_NOT_ALLOWED", "TypeError") \
    XX(METHOD, "ERR_FETCH_METHOD", "TypeError")           \
    XX(HEADER, "ERR_FETCH_HEADER", "TypeError")           \
    XX(SECRET, "ERR_FETCH_SECRET", "TypeError")           \
    XX(DNS, "ERR_FETCH_DNS", "TypeError")                 \
    XX(ADDRESS, "ERR_FETCH_ADDRESS", "TypeError")         \
    XX(CONNECT, "ERR_FETCH_CONNECT", "TypeError")         \
    XX(TLS, "ERR_FETCH_TLS", "TypeError")                 \
    XX(REDIRECT, "ERR_FETCH_REDIRECT", "TypeError")       \
    XX(RESPONSE, "ERR_FETCH_RESPONSE", "TypeError")       \
    XX(TOO_LARGE, "ERR_FETCH_TOO_LARGE", "TypeError")     \
    XX(TIMEOUT, "ERR_FETCH_TIMEOUT", "TypeError")         \
    XX(TRANSPORT, "ERR_FETCH_TRANSPORT", "TypeError")     \
    XX(HOST, "ERR_FETCH_HOST", "Error")                   \
    XX(ABORTED, "ERR_FETCH_ABORTED", "AbortError")

typedef enum gbx_fault_code {
    GBX_FAULT_NONE = 0,
#define XX(name, code, error) GBX_FAULT_##name,
    GBX_FAULT_MAP(XX)
#undef XX
} gbx_fault_code;

#define GBX_FAULT_MESSAGE_MAX 512u
#define GBX_FAULT_DETAIL_MAX  256u

/* Zeroed: no fault. */
typedef struct gbx_fault {
    gbx_fault_code code;
    char message[GBX_FAULT_MESSAGE_MAX];
    char detail[GBX_FAULT_DETAIL_MAX];
} gbx_fault;

/* Fill *fault unless it is already set: the first is the cause. Always returns false,
 * so that a check can end with it. Quote text from the code with gbx_fault_quote()
 * first. */
bool gbx_fault_set(gbx_fault *fault, gbx_fault_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add details that only the host may see. */
void gbx_fault_detail(gbx_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "ERR_FETCH_..." and "TypeError"; "" without a fault. */
const char *gbx_fault_code_text(gbx_fault_code code);
const char *gbx_fault_error_name(gbx_fault_code code);

/* The text, possibly cut, on one line, without characters that steer a terminal. */
typedef struct gbx_quoted {
    char text[96];
} gbx_quoted;
gbx_quoted gbx_fault_quote(const void *text, size_t len);

#endif
