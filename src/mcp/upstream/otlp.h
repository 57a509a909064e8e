/* SPDX-License-Identifier: MIT */
/* otlp - sends spans to a collector: OTLP over HTTP, as JSON. */
#ifndef GBX_MCP_UPSTREAM_OTLP_H
#define GBX_MCP_UPSTREAM_OTLP_H

#include "base/fail.h"
#include "mcp/rpc/rpc.h"
#include "mcp/telemetry/telemetry.h"

typedef struct gbx_otlp_sender gbx_otlp_sender;

/* Send the spans of telemetry, which must outlive the sender, from the loop. /v1/traces
 * is added to the collector's URL unless it ends so. GBX_E_USAGE: the variable
 * OTEL_EXPORTER_OTLP_HEADERS is not valid. */
gbx_status gbx_otlp_sender_new(gbx_mcp_loop *loop, gbx_telemetry *telemetry,
                               const char *collector, gbx_otlp_sender **ret,
                               gbx_error *reterr) GBX_MUST_USE;
/* Call it once the loop has ended and all calls have: the last spans are sent, within
 * GBX_TIMEOUT_LAST_SPANS. NULL is ignored. */
void gbx_otlp_sender_free(gbx_otlp_sender *sender);

#endif
