/* SPDX-License-Identifier: MIT */
/* capability_text - directories and values belong to the host and are not shown. */
#include "mcp/code/code.h"

#include "base/cleanup.h"
#include "policy/policy.h"

#include <string.h>

#define NAMES_MAX 12 /* sites or variables that are named */

/* Punctuate after the name at index i of count. */
static void end_name(size_t i, size_t count, gbx_buf *to)
{
    if (i + 1 == count)
        (void)gbx_buf_puts(to, ".\n");
    else if (i + 1 == NAMES_MAX)
        (void)gbx_buf_puts(to, " and others.\n");
    else
        (void)gbx_buf_puts(to, ", ");
}

static void say_fetch(const gbx_policy *policy, gbx_buf *to)
{
    const gbx_fetch_policy *fetch = &policy->fetch;
    char text[GBX_SITE_TEXT_SIZE];

    (void)gbx_buf_puts(to, "await fetch(url) reaches these sites and no others: ");
    for (size_t i = 0; i < fetch->site_count && i < NAMES_MAX; i++) {
        (void)gbx_buf_puts(to, gbx_site_print(&fetch->sites[i], text));
        end_name(i, fetch->site_count, to);
    }
}

static void say_file(const gbx_policy *policy, gbx_buf *to)
{
    (void)policy;
    (void)gbx_buf_puts(to, "await fs.readFile(path, 'utf8') reads the files that are "
                           "allowed; nothing writes.\n");
}

static void say_crypto(const gbx_policy *policy, gbx_buf *to)
{
    (void)policy;
    (void)gbx_buf_puts(to,
                       "crypto has createHash, createHmac, randomUUID and the like.\n");
}

static void say_env(const gbx_policy *policy, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "env has: ");
    for (size_t i = 0; i < policy->env_count && i < NAMES_MAX; i++) {
        (void)gbx_buf_puts(to, policy->env[i].name);
        end_name(i, policy->env_count, to);
    }
}

static const struct sentence {
    gbx_capability capability;
    void (*say)(const gbx_policy *policy, gbx_buf *to);
} sentences[] = {
    {GBX_CAP_FETCH, say_fetch},
    {GBX_CAP_FILE, say_file},
    {GBX_CAP_CRYPTO, say_crypto},
    {GBX_CAP_ENV, say_env},
};

/* An empty list grants nothing, even with the capability. */
static bool is_empty(const gbx_policy *policy, gbx_capability capability)
{
    return (capability == GBX_CAP_FETCH && policy->fetch.site_count == 0) ||
           (capability == GBX_CAP_FILE && policy->file.root_count == 0) ||
           (capability == GBX_CAP_ENV && policy->env_count == 0);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_granted(const gbx_policy *policy, gbx_capability capability)
{
    if (policy == NULL)
        return capability == GBX_CAP_CONSOLE || capability == GBX_CAP_TIMERS;
    return (policy->capabilities & (uint32_t)capability) != 0 &&
           !is_empty(policy, capability);
}

bool gbx_granted_writes(const gbx_policy *policy)
{
    static const char *const asks[] = {"GET", "HEAD", "OPTIONS"};

    if (!gbx_granted(policy, GBX_CAP_FETCH))
        return false;
    if (policy->fetch.method_count == 0)
        return true; /* all of them */
    for (size_t i = 0; i < policy->fetch.method_count; i++) {
        bool is_ask = false;

        for (size_t a = 0; a < GBX_COUNTOF(asks); a++)
            is_ask = is_ask || strcmp(policy->fetch.methods[i], asks[a]) == 0;
        if (!is_ask)
            return true;
    }
    return false;
}

void gbx_granted_say(const gbx_policy *policy, const char *prefix, gbx_buf *to)
{
    for (size_t i = 0; i < GBX_COUNTOF(sentences); i++) {
        if (!gbx_granted(policy, sentences[i].capability))
            continue;
        (void)gbx_buf_puts(to, prefix);
        sentences[i].say(policy, to);
    }
}
