/* SPDX-License-Identifier: MIT */
/* guest_requests - one request of code to the host, while it is examined. All of it is
 * hostile. */
#ifndef GBX_MCP_CODE_GUEST_REQUESTS_H
#define GBX_MCP_CODE_GUEST_REQUESTS_H

#include "mcp/code/script_run.h"

#define GBX_ASKED_ARGS 5

typedef struct gbx_guest_request {
    gbx_code_run *run;
    gbx_request request;
    gbx_view args[GBX_ASKED_ARGS]; /* after the operation */
} gbx_guest_request;

/* The text of a string of at most max bytes without NUL, to be freed; else NULL. */
char *gbx_guest_request_text(gbx_view view, size_t max);

/* Answer the request with an error. */
void gbx_guest_request_refuse(const gbx_guest_request *asked, const char *code,
                              const char *message);

/* artifact(name, value, mimeType) (artifact_request.c). */
void gbx_code_keep(const gbx_guest_request *asked);

#endif
