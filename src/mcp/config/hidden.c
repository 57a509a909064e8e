/* SPDX-License-Identifier: MIT */
/*
 * hidden - values of env and headers that are secrets although nobody declared them.
 *
 * By their names, which is a guess: it only adds to what is taken out of answers. What
 * must be certain is declared under "secrets".
 */
#include "mcp/config/parts.h"

#include "base/cleanup.h"
#include "policy/grants.h"
#include "policy/secrets.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_SIZE 112

static bool is_taken(const gbx_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->secret_count; i++)
        if (strcmp(policy->secrets[i].name, name) == 0)
            return true;
    return false;
}

static bool is_known(const gbx_policy *policy, const char *value, size_t len)
{
    for (size_t i = 0; i < policy->secret_count; i++)
        if (policy->secrets[i].value_len == len &&
            memcmp(policy->secrets[i].value, value, len) == 0)
            return true;
    return false;
}

/* A name that a reference can have and no other secret has. */
static void choose_name(const gbx_policy *policy, const char *from, char out[NAME_SIZE])
{
    char name[80];
    size_t len = 0;

    if (*from >= '0' && *from <= '9')
        name[len++] = '_';
    for (; *from != '\0' && len + 1 < sizeof name; from++)
        name[len++] =
            (char)((*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
                           (*from >= '0' && *from <= '9')
                       ? *from
                       : '_');
    name[len] = '\0';
    (void)snprintf(out, NAME_SIZE, "%s", name);
    for (unsigned i = 2; is_taken(policy, out); i++)
        (void)snprintf(out, NAME_SIZE, "%s_%u", name, i);
}

static bool is_text(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)value[i] < 0x20 || value[i] == 0x7F)
            return false;
    return true;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_mcp_sounds_secret(const char *name)
{
    static const char *const words[] = {"TOKEN",         "SECRET", "PASSW",
                                        "API_KEY",       "APIKEY", "API-KEY",
                                        "_KEY",          "-KEY",   "CREDENTIAL",
                                        "AUTHORIZATION", "_PAT",   "COOKIE"};

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (strcasestr(name, words[i]) != NULL)
            return true;
    return strcasecmp(name, "KEY") == 0;
}

gbx_status gbx_mcp_keep_secret(gbx_json_reader *r, const char *name, const char *value,
                               size_t len)
{
    gbx_policy *policy = r->policy;
    gbx_secret *secret;
    char chosen[NAME_SIZE];

    if (len < GBX_SECRET_MIN || len > GBX_SECRET_MAX || !is_text(value, len) ||
        is_known(policy, value, len))
        return GBX_OK;
    choose_name(policy, name, chosen);
    return gbx_json_placed(r, gbx_grant_secret(policy,
                                               &(gbx_entry){.name = chosen,
                                                            .name_len = strlen(chosen),
                                                            .value = value,
                                                            .value_len = len},
                                               &secret, r->err));
}
