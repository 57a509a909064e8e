/* SPDX-License-Identifier: MIT */
/* parsed_config - a configuration that the test is sure of, from its text. */
#ifndef GBX_TESTS_PARSED_CONFIG_H
#define GBX_TESTS_PARSED_CONFIG_H

#include "mcp/config/config.h"

/* As if it was read from path; NULL: from none. The test fails if it cannot be read. Free
 * with gbx_mcp_config_free(). */
gbx_mcp_config *parsed_config(const char *path, const char *json);

#endif
