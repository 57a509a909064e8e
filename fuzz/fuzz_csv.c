/* SPDX-License-Identifier: MIT */
/* fuzz_csv - a table that is taken is JSON; one that is not says where. The first byte
 * chooses the delimiter. */
#include "fuzz.h"

#include "base/json.h"
#include "mcp/data/datasets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = {0, ',', ';', '\t', '|', ' ', '"', '\n'};
    gbx_error error = {0};
    gbx_status status;
    gbx_buf buf, columns;

    if (size == 0)
        return 0;
    gbx_buf_init(&buf, size * 2048 + 1024);
    gbx_buf_init(&columns, size * 64 + 1024); /* a name that is missing is made */
    status = gbx_table_read((const char *)data + 1, size - 1,
                            delimiters[data[0] % sizeof delimiters], NULL, &buf,
                            &columns, &error);
    if (status == GBX_OK) {
        assert(gbx_json_check((const char *)buf.data, buf.len, 2, NULL));
        assert(columns.len == 0 ||
               gbx_json_check((const char *)columns.data, columns.len, 1, NULL));
    } else {
        assert(status == GBX_E_DATA && error.message[0] != 0);
        assert(buf.failed || (error.line >= 1 && error.column >= 1));
    }
    gbx_buf_cleanup(&buf);
    gbx_buf_cleanup(&columns);
    return 0;
}
