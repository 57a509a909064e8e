/* SPDX-License-Identifier: MIT */
/* limits - the members of "glovebox" at the top of a configuration: one row
 * for each key. */
#include "mcp/config/config_reader.h"

#include "base/cleanup.h"
#include "policy/capability_grants.h"
#include "policy/policy.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static gbx_status read_tool_names(gbx_json_reader *r, const json_t *value,
                                  const gbx_json_key *key, void *target)
{
    gbx_mcp_settings *settings = target;
    const char *text = json_string_value(value);
    (void)key;

    if (text == NULL || (*text != '\0' && strcmp(text, "mcp_") != 0))
        return gbx_json_refuse(r,
                               "this is \"\" or \"mcp_\": what the names of the tools "
                               "begin with");
    free(settings->tool_prefix);
    settings->tool_prefix = strdup(text);
    return settings->tool_prefix != NULL ? GBX_OK : gbx_list_nomem(r->err);
}

/* Relative to the file, as its other paths are. */
static gbx_status read_audit(gbx_json_reader *r, const json_t *value,
                             const gbx_json_key *key, void *target)
{
    gbx_mcp_settings *settings = target;
    char path[PATH_MAX];
    gbx_status status;
    (void)key;

    if (!json_is_string(value) || json_string_length(value) == 0)
        return gbx_json_refuse_type(r, value, "the path of a file, or \"-\"");
    status = gbx_full_path(r->base_dir, json_string_value(value),
                           json_string_length(value), path, r->err);
    if (status != GBX_OK)
        return gbx_json_placed(r, status);
    settings->audit_path =
        strdup(strcmp(json_string_value(value), "-") == 0 ? "-" : path);
    return settings->audit_path != NULL ? GBX_OK : gbx_list_nomem(r->err);
}

static gbx_status read_limits(gbx_json_reader *r, const json_t *value,
                              const gbx_json_key *key, void *target)
{
#define NUMBER(name, field, least, most) \
    GBX_JSON_NUMBER(name, gbx_mcp_settings, field, least, most)
    static const gbx_json_key keys[] = {
        NUMBER("timeoutMs", timeout_ms, 1, 600000),
        NUMBER("sleepMs", sleep_ms, 1, 600000),
        NUMBER("codeBytes", code_bytes, 1, GBX_MIB(1)),
        NUMBER("outputBytes", output_bytes, 1, GBX_MIB(256)),
        NUMBER("memoryBytes", memory_bytes, GBX_MIB(8), GBX_MIB(4096)),
        NUMBER("replyBytes", reply_bytes, 1000, GBX_MIB(1)),
        NUMBER("calls", calls, 1, 1000000),
        NUMBER("callsAtOnce", calls_at_once, 1, 1024),
        NUMBER("artifactMs", artifact_ms, 1000, 86400000),
        NUMBER("artifactBytes", artifact_bytes, 1000, GBX_MIB(1024)),
    };
#undef NUMBER
    (void)key;

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), target);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_settings_default(gbx_mcp_settings *settings)
{
    *settings = (gbx_mcp_settings){
        .tool_prefix = strdup(""),
        .timeout_ms = 120000,
        .sleep_ms = 30000,
        .code_bytes = GBX_KIB(50),
        .output_bytes = GBX_MIB(10),
        .memory_bytes = GBX_MIB(128),
        .reply_bytes = 40000,
        .calls = 1000,
        .calls_at_once = 32,
        .artifact_ms = 3600000,
        .artifact_bytes = GBX_MIB(64),
    };
}

gbx_status gbx_mcp_read_settings(gbx_json_reader *r, const json_t *value)
{
    static const gbx_json_key keys[] = {
        {.name = "toolNames", .read = read_tool_names},
        {.name = "limits", .read = read_limits},
        {.name = "rules", .read = gbx_rules_read},
        {.name = "defaults", .read = gbx_rules_read_defaults},
        {.name = "secrets", .read = gbx_rules_read_secrets},
        {.name = "audit", .read = read_audit},
    };

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys),
                                &gbx_mcp_reader_of(r)->config->settings);
}
