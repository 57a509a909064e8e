/* SPDX-License-Identifier: MIT */
/* fuzz_ndjson - lines that are taken make one array that is JSON; others say where. */
#include "fuzz.h"

#include "base/json.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    gbx_json_fault fault;
    gbx_buf buf;

    gbx_buf_init(&buf, size * 2 + 2);
    if (gbx_json_from_lines(text, size, &buf, &fault)) {
        assert(fault.message == NULL);
        assert(
            gbx_json_check((const char *)buf.data, buf.len, GBX_JSON_DEPTH_MAX, NULL));
    } else {
        uint32_t line = 1;

        assert(fault.message != NULL && fault.offset <= size && fault.column >= 1);
        for (size_t i = 0; i < fault.offset; i++)
            line += text[i] == '\n';
        assert(fault.line == line);
    }
    gbx_buf_cleanup(&buf);
    return 0;
}
