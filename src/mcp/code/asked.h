/* SPDX-License-Identifier: MIT */
/* asked - one question of the code's, while it is looked at. All of it is hostile. */
#ifndef GBX_MCP_CODE_ASKED_H
#define GBX_MCP_CODE_ASKED_H

#include "mcp/code/run.h"

#define GBX_ASKED_ARGS 5

typedef struct gbx_asked {
    gbx_code_run *run;
    gbx_request request;
    gbx_view args[GBX_ASKED_ARGS]; /* after the operation */
} gbx_asked;

/* The text of a string of at most max bytes without NUL; free() it. NULL: it is none. */
char *gbx_asked_text(gbx_view view, size_t max);

/* Answer with an error. */
void gbx_asked_refuse(const gbx_asked *asked, const char *code, const char *message);

/* artifact(name, value, mimeType) (keep.c). */
void gbx_code_keep(const gbx_asked *asked);

#endif
