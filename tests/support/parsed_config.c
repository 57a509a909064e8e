/* SPDX-License-Identifier: MIT */
/* parsed_config - see parsed_config.h. */
#include "parsed_config.h"
#include "test.h"

gbx_mcp_config *parsed_config(const char *path, const char *json)
{
    gbx_mcp_config *config = NULL;
    gbx_error error = {0};

    if (gbx_mcp_config_parse(json, strlen(json), path, GBX_TRUST_OWN, &config,
                             &error) != GBX_OK)
        fail_msg("%u:%u: %s: %s", error.line, error.column, error.message, json);
    return config;
}
