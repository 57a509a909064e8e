/* SPDX-License-Identifier: MIT */
/* schema_date - recognise texts that are dates, and compare them. */
#ifndef GBX_MCP_DATA_SCHEMA_DATE_H
#define GBX_MCP_DATA_SCHEMA_DATE_H

#include "base/json_view.h"

typedef struct gbx_schema_date {
    gbx_view text;  /* borrowed */
    int64_t second; /* since 1970; without a zone, taken as UTC */
    uint32_t nanosecond;
    bool is_foreign; /* the engine's Date cannot parse it */
} gbx_schema_date;

/* Accepts "2024-05-01", optionally with a time, fractional seconds and a zone
 * ("2024-05-01 10:20:30.5 +0200", "...UTC"), and nothing else, because the first and
 * last date of a field are shown. string: a JSON string; one with escapes is not a
 * date. */
bool gbx_schema_date_read(gbx_view string, gbx_schema_date *ret);

/* Compares points in time: "2024-05-01T01:00+02:00" is before "2024-05-01T00:00Z". */
bool gbx_schema_date_is_before(const gbx_schema_date *a, const gbx_schema_date *b);

#endif
