/* SPDX-License-Identifier: MIT */
/*
 * code_check - checks a call's code before it runs: which names exist for it, and
 * whether the guard passes it.
 *
 * The guard asks only about uses that it would otherwise object to.
 */
#include "engine/engine.h"

#include "base/json_view.h"
#include "guard/guard.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the cache of clean verdicts ------------------------------------------------- */

static void forget_code(gbx_guard_cache *known, gbx_known_code *code)
{
    known->bytes -= code->len;
    free(code->text);
    *code = (gbx_known_code){0};
}

static void forget_all(gbx_guard_cache *known)
{
    for (size_t i = 0; i < GBX_KNOWN_CODES_MAX; i++)
        forget_code(known, &known->codes[i]);
}

void gbx_guard_cache_cleanup(gbx_guard_cache *known)
{
    forget_all(known);
    (void)pthread_mutex_destroy(&known->lock);
}

gbx_status gbx_guard_cache_check(gbx_guard_cache *known, const gbx_call *call,
                                 size_t max_len, const gbx_guard_world *world,
                                 gbx_guard_span *ret_span, gbx_report **ret_report,
                                 gbx_error *reterr)
{
    size_t len = call->code_len;
    /* Otherwise the verdict depends on more than text and form. */
    bool is_plain = call->policy == NULL && call->replay == NULL &&
                    call->bindings_len == 0 && (call->flags & GBX_CALL_COMPILE) == 0 &&
                    len > 0 && len <= max_len && len <= GBX_KNOWN_BYTES_MAX / 4;
    uint64_t hash = len * 8 + (uint64_t)call->form;
    gbx_known_code *code;
    bool is_known = false;
    gbx_status status;
    char *text;

    /* Fast but weak. That is safe: the whole text is compared, and colliding texts
     * replace each other. */
    for (size_t at = 0; is_plain && at < len; at += sizeof hash) {
        uint64_t word = 0;

        memcpy(&word, call->code + at, len - at < sizeof word ? len - at : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    code = &known->codes[hash % GBX_KNOWN_CODES_MAX];
    if (is_plain) {
        (void)pthread_mutex_lock(&known->lock);
        is_known = code->text != NULL && code->form == call->form && code->len == len &&
                   memcmp(code->text, call->code, len) == 0;
        if (is_known)
            *ret_span = code->span;
        (void)pthread_mutex_unlock(&known->lock);
    }
    *ret_report = NULL;
    if (is_known)
        return GBX_OK;
    status = gbx_guard_check(call->code, len, call->form, max_len, world, ret_span,
                             ret_report, reterr);
    text = status == GBX_OK && *ret_report == NULL && is_plain ? malloc(len) : NULL;
    if (text == NULL)
        return status; /* not cached: it will be parsed again */
    memcpy(text, call->code, len);
    (void)pthread_mutex_lock(&known->lock);
    forget_code(known, code);
    if (known->bytes + len > GBX_KNOWN_BYTES_MAX)
        forget_all(known);
    *code = (gbx_known_code){text, len, call->form, *ret_span};
    known->bytes += len;
    (void)pthread_mutex_unlock(&known->lock);
    return status;
}

/* ---- the names that exist for a call's code ---------------------------------- */

/* True if name is the root of a function: "db" of "db.query", "now" of "now". */
static bool is_root(const char *name, const char *function)
{
    size_t len = strlen(name);

    return strncmp(name, function, len) == 0 &&
           (function[len] == '\0' || function[len] == '.');
}

/* True if name is the root of a function that the policy lists: "db" of "db.*". A lone
 * star matches no name. */
static bool lists_name(void *user, const char *name)
{
    const gbx_policy *policy = user;

    for (size_t i = 0; i < policy->function_count; i++)
        if (is_root(name, policy->functions[i]))
            return true;
    return false;
}

static bool has_name(void *user, const char *name)
{
    const gbx_run *run = user;
    const gbx_call *call = &run->call;
    const gbx_policy *policy = gbx_run_policy(run);
    gbx_hostcalls *h = &run->engine->hostcalls;
    gbx_view bindings;
    bool found = false;

    if (call->form == GBX_FORM_BODY && call->bindings_len > 0 &&
        gbx_view_open(call->bindings, call->bindings_len, &bindings) &&
        gbx_view_kind(gbx_view_member(bindings, name)) != 0)
        return true;
    /* Code that is only compiled may name functions that are listed but not exposed. */
    if ((call->flags & GBX_CALL_COMPILE) != 0 && policy != NULL &&
        lists_name((gbx_policy *)(uintptr_t)policy, name)) /* only read */
        return true;
    (void)pthread_mutex_lock(&h->lock);
    for (const gbx_function *f = h->functions; f != NULL && !found; f = f->next)
        found = is_root(name, f->name) &&
                (policy == NULL || gbx_policy_allows_function(policy, f->name));
    (void)pthread_mutex_unlock(&h->lock);
    return found;
}

static bool may_fetch(void *user, const char *url, size_t len,
                      char site[GBX_GUARD_SITE_SIZE])
{
    const gbx_run *run = user;

    _Static_assert(GBX_GUARD_SITE_SIZE >= GBX_SITE_TEXT_SIZE, "a site must fit");
    return run->sites == NULL || gbx_policy_may_fetch(run->sites, url, len, site);
}

void gbx_run_point_at(gbx_run *run, uint32_t line, uint32_t column)
{
    gbx_result *r = run->result;

    r->location.line = line;
    r->location.column = column;
    if (line == 0)
        return;
    r->frame = gbx_guard_frame(run->call.code, run->call.code_len, line, column);
    if (r->frame != NULL)
        r->location.frame = r->frame;
}

/* ---- the check of a run --------------------------------------------------------- */

/* End the run with this failure: its code does not run. */
static gbx_status refuse(gbx_run *run, gbx_code code, const char *message,
                         const char *hint, gbx_error *reterr)
{
    run->phase = GBX_RUN_ENDED;
    return gbx_result_fail(run->result, code, message, hint)
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_NOMEM, "no memory for the result");
}

gbx_status gbx_run_check_code(gbx_run *run, gbx_error *reterr)
{
    const gbx_call *call = &run->call;
    gbx_guard_world world = {.capabilities = run->capabilities,
                             .has_name = has_name,
                             .may_fetch = may_fetch,
                             .user = run};
    gbx_report *report = NULL;
    const gbx_violation *first;
    gbx_status status;
    char text[128];

    if (call->flags & GBX_CALL_NO_GUARD) {
        run->span = (gbx_guard_span){.len = call->code_len, .line = 1, .column = 1};
        if (call->code_len <= run->limits.code_bytes)
            return GBX_OK;
        /* The only check that is also made without the guard. */
        (void)snprintf(text, sizeof text, "the code is %zu bytes, and %u are the limit",
                       call->code_len, run->limits.code_bytes);
        return refuse(run, GBX_CODE_INVALID_CODE, text,
                      "shorten the code; give data as the input instead of in it",
                      reterr);
    }
    status = gbx_guard_cache_check(&run->engine->known, call, run->limits.code_bytes,
                                   &world, &run->span, &report, reterr);
    if (status != GBX_OK || report == NULL)
        return status;
    first = &report->list[0];
    status = refuse(run, first->code, first->message, first->hint, reterr);
    gbx_run_point_at(run, first->line, first->column);
    gbx_audit_guard(run, report);
    gbx_report_free(report);
    return status;
}

/* ---- checking code against a policy, without an engine ------------------------ */

static bool policy_may_fetch(void *user, const char *url, size_t len,
                             char site[GBX_GUARD_SITE_SIZE])
{
    return gbx_policy_may_fetch(user, url, len, site);
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_policy_check(const gbx_policy *policy, const char *code, size_t code_len,
                            gbx_form form, const gbx_limits *limits,
                            gbx_report **ret_report, gbx_error *reterr)
{
    gbx_guard_world world = {.may_bind = true, .capabilities = GBX_CAP_HELPERS};

    if (policy != NULL) {
        world.capabilities = policy->capabilities;
        world.code_bytes = policy->limits.code_bytes;
        world.has_name = lists_name;
        world.may_fetch = policy_may_fetch;
        world.user = (gbx_policy *)(uintptr_t)policy; /* only returned as const */
    }
    return gbx_guard_report(code, code_len, form, limits, &world, ret_report, reterr);
}
