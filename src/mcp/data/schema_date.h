/* SPDX-License-Identifier: MIT */
/* schema_date - which texts are dates, and which is before which. */
#ifndef GBX_MCP_DATA_SCHEMA_DATE_H
#define GBX_MCP_DATA_SCHEMA_DATE_H

#include "base/json_view.h"

typedef struct gbx_schema_date {
    gbx_view text;  /* borrowed */
    int64_t second; /* since 1970; without a zone as if it were UTC */
    uint32_t nanosecond;
    bool is_foreign; /* the engine's Date does not read it */
} gbx_schema_date;

/* "2024-05-01", perhaps with a time, a fraction of its seconds and a zone ("2024-05-01
 * 10:20:30.5 +0200", "...UTC"), and with nothing else: the first and the last of a field
 * are shown. string: a JSON string; one with escapes is none. */
bool gbx_schema_date_read(gbx_view string, gbx_schema_date *ret);

/* As times: "2024-05-01T01:00+02:00" is before "2024-05-01T00:00Z". */
bool gbx_schema_date_is_before(const gbx_schema_date *a, const gbx_schema_date *b);

#endif
