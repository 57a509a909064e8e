/* SPDX-License-Identifier: MIT */
/* fuzz_code_value - whatever a tool answers, code gets JSON or there is a message. Input: a
 * CallToolResult. */
#include "fuzz.h"

#include "mcp/code/code_mode.h"

static void keep(void *user, const char *mime_type, const void *data, size_t len,
                 gbx_buf *handle)
{
    assert(mime_type != NULL);
    (void)gbx_buf_puts(handle, "{}");
}

/* The value is JSON, or there is a message. */
static void check_value(gbx_view result)
{
    const gbx_value_keeper keeper = {keep, NULL};
    gbx_value_parts parts = gbx_value_parts_of(result);
    gbx_buf message;
    gbx_view value;
    gbx_buf to;

    gbx_buf_init(&message, GBX_MIB(1));
    gbx_buf_init(&to, GBX_MIB(64));
    if (gbx_value_of_result(&parts, &keeper, &to, &message))
        assert(gbx_view_open((char *)to.data, to.len, &value));
    else
        assert(message.len > 0);
    gbx_buf_cleanup(&message);
    gbx_buf_cleanup(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_view result;

    if (gbx_view_open((const char *)data, size, &result))
        check_value(result);
    return 0;
}
