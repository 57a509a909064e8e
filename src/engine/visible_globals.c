/* SPDX-License-Identifier: MIT */
/*
 * visible_globals - what the code of one call will find, for the guard.
 *
 * The guard asks only about uses that it would object to: a call without such uses
 * costs nothing here.
 */
#include "engine/engine.h"
#include "engine/replayer.h"
#include "engine/run.h"

#include "base/json_view.h"
#include "policy/policy.h"

#include <string.h>

/* "db" is the root of "db.query"; "now" is its own root. */
static bool is_root(const char *name, const char *function)
{
    size_t len = strlen(name);

    return strncmp(name, function, len) == 0 &&
           (function[len] == '\0' || function[len] == '.');
}

static bool is_exposed(const gbx_run *run, const char *name)
{
    const gbx_policy *policy = gbx_run_policy(run);
    gbx_hostcalls *h = &run->engine->hostcalls;
    bool found = false;

    (void)pthread_mutex_lock(&h->lock);
    for (const gbx_function *f = h->functions; f != NULL && !found; f = f->next)
        found = is_root(name, f->name) &&
                (policy == NULL || gbx_policy_allows_function(policy, f->name));
    (void)pthread_mutex_unlock(&h->lock);
    return found;
}

static bool is_bound(const gbx_call *call, const char *name)
{
    gbx_view bindings;

    return call->form == GBX_FORM_BODY && call->bindings_len > 0 &&
           gbx_view_open(call->bindings, call->bindings_len, &bindings) &&
           gbx_view_kind(gbx_view_member(bindings, name)) != 0;
}

static bool has_name(void *user, const char *name)
{
    const gbx_run *run = user;

    return is_bound(&run->call, name) ||
           (run->replayer != NULL ? gbx_replayer_has_root(run, name)
                                  : is_exposed(run, name));
}

static bool may_fetch(void *user, const char *url, size_t len,
                      char site[GBX_GUARD_SITE_SIZE])
{
    const gbx_run *run = user;
    const gbx_policy *policy =
        run->replayer != NULL ? gbx_replayer_sites(run) : gbx_run_policy(run);

    _Static_assert(GBX_GUARD_SITE_SIZE >= GBX_SITE_TEXT_SIZE, "a site must fit");
    return policy == NULL || gbx_policy_may_fetch(policy, url, len, site);
}

/* ---- public to other modules -------------------------------------------- */

const gbx_policy *gbx_run_policy(const gbx_run *run)
{
    return run->call.policy != NULL ? run->call.policy
                                    : run->engine->settings.options.policy;
}

uint32_t gbx_run_capabilities(const gbx_run *run)
{
    uint32_t capabilities = run->engine->settings.options.capabilities;

    if (run->replayer != NULL)
        return gbx_replayer_capabilities(run);
    return run->call.policy != NULL ? capabilities & run->call.policy->capabilities
                                    : capabilities;
}

gbx_guard_world gbx_run_globals(gbx_run *run)
{
    return (gbx_guard_world){
        .capabilities = gbx_run_capabilities(run),
        .has_name = has_name,
        .may_fetch = may_fetch,
        .user = run,
    };
}
