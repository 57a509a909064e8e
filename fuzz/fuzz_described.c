/* SPDX-License-Identifier: MIT */
/* fuzz_described - whatever a dataset holds, what is told of it is bounded, UTF-8, and
 * its statistics are JSON. */
#include "fuzz.h"

#include "base/json.h"
#include "base/utf8.h"
#include "mcp/data/datasets.h"

#define ROOM 600

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"set.a", "set.a.b", "set.b.c"};
    const gbx_shown shown = {.examples = (gbx_examples)(size / 2 % 2),
                             .fields = fields,
                             .count = size % 3};
    gbx_place place = gbx_place_of(&shown, "set");
    gbx_schema *shape;
    gbx_view view;
    gbx_buf buf;

    if (!gbx_view_open((const char *)data, size, &view))
        return 0;
    shape = gbx_schema_of(view, size % 2 != 0, NULL);
    assert(shape != NULL);
    gbx_buf_init(&buf, 1 << 24);
    assert(gbx_describe_type(shape, &place, ROOM, &buf));
    assert(gbx_describe_size(shape, view, &buf));
    assert(gbx_describe_examples(view, shape, &place, "  ", ROOM, &buf));
    assert(gbx_utf8_valid(buf.data, buf.len, NULL) && buf.len < ROOM * 20);
    (void)gbx_place_lost(&place, shape);
    buf.len = 0;
    assert(gbx_describe_statistics(shape, &place, &buf));
    assert(gbx_json_check((const char *)buf.data, buf.len, 10, NULL));
    gbx_buf_cleanup(&buf);
    gbx_schema_free(shape);
    return 0;
}
