/* SPDX-License-Identifier: MIT */
/* fuzz_mcp_message - what is read is inside of the text, and what is written about it can
 * be read again. */
#include "fuzz.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "mcp/rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

static void check_inside(gbx_view view, const char *text, size_t len)
{
    assert(view.at == NULL ||
           (view.at >= text && view.len > 0 && view.at + view.len <= text + len));
}

/* An error under that id, read as a client would. */
static void check_error(const gbx_rpc_fault *fault)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = 10000};
    gbx_rpc_message back;
    gbx_rpc_fault none;

    gbx_rpc_append_error(&to, fault->id, fault->code, fault->message, NULL);
    assert(!to.failed && memchr(to.data, '\n', to.len) == to.data + to.len - 1);
    assert(gbx_rpc_read((const char *)to.data, to.len, &back, &none));
    assert(back.kind == GBX_RPC_ERROR);
    assert(gbx_rpc_error_code(back.payload) == fault->code);
    assert((back.id.at == NULL) == (fault->id.at == NULL));
    if (back.id.at != NULL)
        assert(gbx_rpc_same_id(back.id, fault->id));
}

static void check_message(const gbx_rpc_message *m, const char *text, size_t len)
{
    int64_t number;
    char copy[32] = "";

    check_inside(m->id, text, len);
    check_inside(m->payload, text, len);
    assert(strlen(m->method) <= GBX_RPC_METHOD_MAX);
    if (m->id.at != NULL)
        assert(gbx_rpc_is_id(m->id) && gbx_rpc_same_id(m->id, m->id));
    if (gbx_rpc_integer(m->id, &number))
        assert(gbx_view_kind(m->id) == '0');
    if (gbx_rpc_copy_text(m->id, copy, sizeof copy))
        assert(strlen(copy) < sizeof copy && gbx_view_kind(m->id) == '"');
    switch (m->kind) {
    case GBX_RPC_REQUEST: assert(m->id.at != NULL); break;
    case GBX_RPC_NOTIFICATION: assert(m->id.at == NULL); break;
    case GBX_RPC_RESULT: assert(m->id.at != NULL && m->payload.at != NULL); break;
    case GBX_RPC_ERROR: (void)gbx_rpc_error_message(m->payload); break;
    case GBX_RPC_BATCH: assert(gbx_view_kind(m->payload) == '['); break;
    }
    if (m->kind == GBX_RPC_REQUEST || m->kind == GBX_RPC_NOTIFICATION)
        assert(m->payload.at == NULL || gbx_view_kind(m->payload) == '{');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GBX_CLEANUP(gbx_free) char *text = malloc(size + (size == 0));
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (size > 0)
        memcpy(text, data, size);
    if (gbx_rpc_read(text, size, &message, &fault)) {
        check_message(&message, text, size);
    } else {
        assert(fault.code == GBX_RPC_PARSE_ERROR ||
               fault.code == GBX_RPC_INVALID_REQUEST ||
               fault.code == GBX_RPC_INVALID_PARAMS);
        check_inside(fault.id, text, size);
        check_error(&fault);
    }
    return 0;
}
