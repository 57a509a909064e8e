/* SPDX-License-Identifier: MIT */
/*
 * grants_file - what a person has said for good of single tools, in a file of our own:
 * glovebox/grants.json below $XDG_STATE_HOME or ~/.local/state.
 *
 *     {"/home/you/mcp.json": {"SERVER": {"TOOL": "allow", "OTHER": "deny",
 *                                        "THIRD": [{"rule": {...}, "asked": {...}}]}}}
 *
 * "allow" and "deny" cover every call of that tool by servers of that configuration, and
 * "deny" those of a tool whose name differs in case, '_' and '-' alone; a rule,
 * the calls that it allows of those that the rule `asked` asks about (without it: the
 * default). A grant is in effect for the next call, without a restart. What the rules deny
 * stays denied.
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

/* For the configuration at that path, by whichever path; NULL, or no home directory: there
 * are no grants. NULL if memory is out. */
gbx_grants_file *gbx_grants_file_new(const char *config, gbx_trust trust);
void gbx_grants_file_free(gbx_grants_file *grants);

/* GBX_E_OS, GBX_E_DATA: the file is there and cannot be read or trusted, so that nobody
 * knows what it denies; the message says how to repair that. */
gbx_status gbx_grants_file_find(gbx_grants_file *grants, const char *server,
                                const char *tool, gbx_grant *ret, gbx_error *reterr);

/* Has a person allowed the calls of that rule, about which that rule (NULL: the default)
 * asks? Both are JSON. By the file as gbx_grants_file_find() has found it. */
bool gbx_grants_file_covers(const gbx_grants_file *grants, const char *server,
                            const char *tool, const char *rule, const char *asked);

/* Write a grant in place of those for the same tool; or a rule beside its other rules.
 * Others that write are waited for so long. */
gbx_status gbx_grants_file_put(gbx_grants_file *grants, const char *server,
                               const char *tool, gbx_grant grant, gbx_error *reterr);
gbx_status gbx_grants_file_add(gbx_grants_file *grants, const char *server,
                               const char *tool, const char *rule, const char *asked,
                               int wait_ms, gbx_error *reterr);

/* Can there be grants? */
bool gbx_grants_file_is_open(const gbx_grants_file *grants);
/* Where the file is, or would be; "": there is no home directory. */
const char *gbx_grants_file_path(const gbx_grants_file *grants);

#endif
