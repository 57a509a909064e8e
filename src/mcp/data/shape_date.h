/* SPDX-License-Identifier: MIT */
/* shape_date - which texts are dates. */
#ifndef GBX_MCP_DATA_SHAPE_DATE_H
#define GBX_MCP_DATA_SHAPE_DATE_H

#include "base/json_view.h"

/* "2024-05-01", perhaps with a time, a fraction of its seconds and a zone ("2024-05-01
 * 10:20:30.5 +0200", "...UTC"), and with nothing else: the first and the last of a field
 * are shown. string: a JSON string; one with escapes is none. */
bool gbx_shape_is_date(gbx_view string);

#endif
