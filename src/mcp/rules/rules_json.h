/* SPDX-License-Identifier: MIT */
/* rules_json - "rules", "defaults" and "secrets" of a configuration. Each is a
 * gbx_json_key.read; the reader is the first member of a gbx_rules_reader. */
#ifndef GBX_MCP_RULES_RULES_JSON_H
#define GBX_MCP_RULES_RULES_JSON_H

#include "mcp/rules/rules.h"
#include "policy/json_reader.h"

typedef struct gbx_rules_reader {
    gbx_json_reader json; /* its policy is rules->secrets */
    gbx_gate_rules *rules;
    const char *const *servers; /* names; borrowed */
    size_t server_count;
} gbx_rules_reader;

gbx_status gbx_rules_read(gbx_json_reader *r, const json_t *value,
                          const gbx_json_key *key, void *target);
gbx_status gbx_rules_read_defaults(gbx_json_reader *r, const json_t *value,
                                   const gbx_json_key *key, void *target);
gbx_status gbx_rules_read_secrets(gbx_json_reader *r, const json_t *value,
                                  const gbx_json_key *key, void *target);

#endif
