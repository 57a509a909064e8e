/* SPDX-License-Identifier: MIT */
/* fuzz_mcp_sse - the events of a stream are the same however it is cut into pieces. The
 * first byte chooses the cut. */
#include "fuzz.h"

#include "base/buf.h"
#include "mcp/upstream/internal.h"

#include <string.h>

static void read_events(const uint8_t *data, size_t size, size_t piece, gbx_buf *to)
{
    gbx_sse_event event;
    gbx_sse sse;
    bool fed = true;

    gbx_sse_init(&sse, size + 16);
    for (size_t at = 0; at < size && fed; at += piece) {
        fed = gbx_sse_feed(&sse, data + at, size - at < piece ? size - at : piece);
        while (gbx_sse_next(&sse, &event)) {
            assert(event.len <= size);
            (void)gbx_buf_printf(to, "%s %zu ", event.name, event.len);
            (void)gbx_buf_append(to, event.data, event.len);
        }
    }
    gbx_sse_cleanup(&sse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_buf whole;
    gbx_buf pieces;

    if (size == 0)
        return 0;
    gbx_buf_init(&whole, size * 64 + 1024);
    gbx_buf_init(&pieces, size * 64 + 1024);
    read_events(data + 1, size - 1, size, &whole);
    read_events(data + 1, size - 1, 1 + data[0] % 7, &pieces);
    assert(whole.len == pieces.len);
    assert(whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0);
    gbx_buf_cleanup(&whole);
    gbx_buf_cleanup(&pieces);
    return 0;
}
