/* SPDX-License-Identifier: MIT */
/*
 * grants_file - a person's permanent answers about single tools, in a file of our own:
 * glovebox/grants.json below $XDG_STATE_HOME or ~/.local/state.
 *
 *     {"/home/you/mcp.json": {"SERVER": {"TOOL": "allow", "OTHER": "deny",
 *                                        "THIRD": [{"rule": {...}, "asked": {...}}]}}}
 *
 * "allow" and "deny" cover every call of that tool by servers of that configuration.
 * "deny" also covers names that differ only in case, '_' and '-'. A rule covers the
 * calls that it allows among those that the rule `asked` asks about (without `asked`:
 * the default). A grant is in effect for the next call, without a restart. Calls that
 * the rules deny stay denied.
 */
#ifndef GBX_MCP_APPROVAL_GRANTS_FILE_H
#define GBX_MCP_APPROVAL_GRANTS_FILE_H

#include "policy/policy.h"

typedef enum gbx_grant {
    GBX_GRANT_NONE,
    GBX_GRANT_ALLOW,
    GBX_GRANT_DENY,
} gbx_grant;

typedef struct gbx_grants_file gbx_grants_file;

/* For the configuration at that path, which is resolved. Without a path or a home
 * directory, the object has no grants. NULL if memory is out. */
gbx_grants_file *gbx_grants_file_new(const char *config, gbx_trust trust);
void gbx_grants_file_free(gbx_grants_file *grants);

/* GBX_E_OS, GBX_E_DATA: the file exists but cannot be read or trusted, so its denials
 * are unknown; the message says how to repair that. */
gbx_status gbx_grants_file_find(gbx_grants_file *grants, const char *server,
                                const char *tool, gbx_grant *ret, gbx_error *reterr);

/* Has a person allowed the calls of `rule` that `asked` (NULL: the default) asks about?
 * Both are JSON. Uses the file as gbx_grants_file_find() has read it. */
bool gbx_grants_file_covers(const gbx_grants_file *grants, const char *server,
                            const char *tool, const char *rule, const char *asked);

/* Write a grant and replace those for the same tool; a rule is added to the tool's
 * other rules. Waits at most wait_ms for other writers. */
gbx_status gbx_grants_file_put(gbx_grants_file *grants, const char *server,
                               const char *tool, gbx_grant grant, gbx_error *reterr);
gbx_status gbx_grants_file_add(gbx_grants_file *grants, const char *server,
                               const char *tool, const char *rule, const char *asked,
                               int wait_ms, gbx_error *reterr);

/* Can grants be written? */
bool gbx_grants_file_is_open(const gbx_grants_file *grants);
/* Where the file is, or would be; "": no home directory. */
const char *gbx_grants_file_path(const gbx_grants_file *grants);

#endif
