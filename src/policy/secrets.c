/* SPDX-License-Identifier: MIT */
/* secrets - fill in the values of secrets, and strip them from answers. */
#include "policy/policy.h"

#include "base/cleanup.h"
#include "base/fail.h"
#include "base/json.h"
#include "policy/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN  "{{secret:"
#define CLOSE "}}"

#define OPEN_LEN  (sizeof OPEN - 1)
#define CLOSE_LEN (sizeof CLOSE - 1)

void gbx_secrets_forget(gbx_policy *policy)
{
    gbx_secret_forms_free(policy->secret_forms);
    policy->secret_forms = NULL;
}

gbx_status gbx_secrets_prepare(gbx_policy *policy, gbx_error *reterr)
{
    gbx_secret_forms *forms = NULL;
    size_t total = 0;

    for (size_t i = 0; i < policy->secret_count; i++) {
        size_t len = policy->secrets[i].value_len;

        assert(len >= GBX_SECRET_MIN &&
               len <= GBX_SECRET_MAX); /* capability_grants.c */
        total += len;
    }
    if (total > GBX_SECRETS_BYTES_MAX)
        return gbx_fail(reterr, GBX_E_POLICY,
                        "all secrets together have more than %zu bytes",
                        GBX_SECRETS_BYTES_MAX);
    if (policy->secret_count > 0) {
        forms = gbx_secret_forms_new(policy->secrets, policy->secret_count);
        if (forms == NULL)
            return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the secrets");
    }
    gbx_secrets_forget(policy);
    policy->secret_forms = forms;
    return GBX_OK;
}

/* ---- filling in ------------------------------------------------------------- */

static bool is_for(const gbx_secret *secret, const gbx_secret_target *target)
{
    if (target->host == NULL)
        return gbx_names_function(secret->functions, secret->function_count,
                                  target->function);
    for (size_t i = 0; i < secret->site_count; i++)
        if (gbx_site_matches(&secret->sites[i], target->host, target->port,
                             target->scheme))
            return true;
    return false;
}

/* Parse the reference at the beginning of text: *ret is its secret, *ret_len its
 * length. */
static gbx_status take_reference(const gbx_policy *policy,
                                 const gbx_secret_target *target, gbx_span text,
                                 const gbx_secret **ret, size_t *ret_len,
                                 gbx_error *reterr)
{
    const uint8_t *name = text.data + OPEN_LEN;
    size_t left = text.len - OPEN_LEN;
    size_t len = gbx_name_length((const char *)name, left);
    int shown = len < 128 ? (int)len : 128;
    const gbx_secret *secret = NULL;
    char to[300];

    if (len == 0 || left - len < CLOSE_LEN || memcmp(name + len, CLOSE, CLOSE_LEN) != 0)
        return gbx_fail(reterr, GBX_E_POLICY,
                        "'{{secret:' is not followed by a name and '}}'");
    for (size_t i = 0; i < policy->secret_count && secret == NULL; i++)
        if (strlen(policy->secrets[i].name) == len &&
            memcmp(policy->secrets[i].name, name, len) == 0)
            secret = &policy->secrets[i];
    if (secret == NULL)
        return gbx_fail(reterr, GBX_E_POLICY, "unknown secret '%.*s'", shown, name);
    if (target->host != NULL)
        (void)snprintf(to, sizeof to, "%s://%.253s:%u", gbx_scheme_name(target->scheme),
                       target->host, (unsigned)target->port);
    else
        (void)snprintf(to, sizeof to, "%.256s", target->function);
    if (!is_for(secret, target))
        return gbx_fail(reterr, GBX_E_POLICY, "the secret '%.*s' is not for '%s'",
                        shown, name, to);
    *ret = secret;
    *ret_len = OPEN_LEN + len + CLOSE_LEN;
    return GBX_OK;
}

bool gbx_secrets_are_in(gbx_span text)
{
    return text.len > 0 && memmem(text.data, text.len, OPEN, OPEN_LEN) != NULL;
}

/* In JSON a value goes into the string that refers to it, escaped so that it cannot end
 * the string. */
static void put_value(const gbx_secret *secret, bool is_json, gbx_buf *out)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf quoted = {.ceiling = GBX_SECRET_MAX * 6 + 2, .is_secret = true};

    if (!is_json)
        (void)gbx_buf_append(out, secret->value, secret->value_len);
    else if (gbx_json_append_string(&quoted, secret->value, secret->value_len))
        (void)gbx_buf_append(out, quoted.data + 1, quoted.len - 2);
    else
        out->failed = true;
}

gbx_status gbx_secrets_fill(const gbx_policy *policy, const gbx_secret_target *target,
                            gbx_span text, gbx_buf *out, gbx_error *reterr)
{
    out->is_secret = true;
    while (text.len > 0) {
        const uint8_t *next = memmem(text.data, text.len, OPEN, OPEN_LEN);
        size_t before = next != NULL ? (size_t)(next - text.data) : text.len;
        const gbx_secret *secret = NULL;
        size_t reference = 0;
        gbx_status status;

        (void)gbx_buf_append(out, text.data, before);
        text = (gbx_span){text.data + before, text.len - before};
        if (next == NULL)
            break;
        status = take_reference(policy, target, text, &secret, &reference, reterr);
        if (status != GBX_OK) {
            gbx_buf_cleanup(out);
            return status;
        }
        assert(secret != NULL); /* else the reference was refused */
        put_value(secret, target->host == NULL, out);
        text = (gbx_span){text.data + reference, text.len - reference};
    }
    if (!out->failed)
        return GBX_OK;
    gbx_buf_cleanup(out);
    return gbx_fail(reterr, GBX_E_NOMEM, "no room for a text with its secrets");
}

/* ---- stripping ---------------------------------------------------------------- */

static void put_name(const gbx_policy *policy, const gbx_hit *hit, gbx_buf *out)
{
    (void)gbx_buf_puts(out, OPEN);
    (void)gbx_buf_puts(out, policy->secrets[hit->secret].name);
    (void)gbx_buf_puts(out, CLOSE);
}

static void strip_plain(const gbx_policy *policy, const gbx_hits *hits, gbx_span data,
                        gbx_buf *out)
{
    size_t at = 0;

    for (size_t i = 0; i < hits->count; i++) {
        (void)gbx_buf_append(out, data.data + at, hits->items[i].start - at);
        put_name(policy, &hits->items[i], out);
        at = hits->items[i].end;
    }
    (void)gbx_buf_append(out, data.data + at, data.len - at);
}

/* The end of the JSON token at data[at]: a string with its quotes, a number or a word,
 * or one character of any other kind. */
static size_t token_end(gbx_span data, size_t at)
{
    size_t end = at + 1;

    if (data.data[at] == '"') {
        while (data.data[end] != '"')
            end += data.data[end] == '\\' ? 2 : 1;
        return end + 1;
    }
    if (strchr("{}[]:, \t\r\n", data.data[at]) != NULL)
        return end;
    while (end < data.len && strchr("{}[]:, \t\r\n\"", data.data[end]) == NULL)
        end++;
    return end;
}

/* The end of the character or escape at data[at], inside a string. */
static size_t unit_end(gbx_span data, size_t at)
{
    if (data.data[at] != '\\')
        return at + 1;
    return at + (data.data[at + 1] == 'u' ? 6 : 2);
}

/* Strip a string from its quote at `at` to its end, replacing whole escapes. *next is
 * the first hit that does not end before it. */
static void strip_string(const gbx_policy *policy, const gbx_hits *hits, size_t *next,
                         gbx_span data, size_t at, size_t end, gbx_buf *out)
{
    size_t plain = at; /* from here on not yet written */

    at++;
    while (at + 1 < end) {
        size_t unit = unit_end(data, at);
        const gbx_hit *hit;

        while (*next < hits->count && hits->items[*next].end <= at)
            (*next)++;
        if (*next == hits->count)
            break;
        hit = &hits->items[*next];
        if (hit->start >= unit) {
            at = unit;
            continue;
        }
        (void)gbx_buf_append(out, data.data + plain, at - plain);
        put_name(policy, hit, out);
        while (at + 1 < end && at < hit->end)
            at = unit_end(data, at);
        plain = at;
    }
    (void)gbx_buf_append(out, data.data + plain, end - plain);
}

/* data is JSON. In strings the value is replaced; a number or word that is part of a
 * value becomes a string; the structure stays. */
static void strip_json(const gbx_policy *policy, const gbx_hits *hits, gbx_span data,
                       gbx_buf *out)
{
    size_t next = 0;

    for (size_t at = 0; at < data.len;) {
        size_t end = token_end(data, at);

        while (next < hits->count && hits->items[next].end <= at)
            next++;
        if (next == hits->count || hits->items[next].start >= end ||
            (end == at + 1 && strchr("{}[]:, \t\r\n", data.data[at]) != NULL)) {
            (void)gbx_buf_append(out, data.data + at, end - at);
        } else if (data.data[at] == '"') {
            strip_string(policy, hits, &next, data, at, end, out);
        } else {
            (void)gbx_buf_puts(out, "\"");
            put_name(policy, &hits->items[next], out);
            (void)gbx_buf_puts(out, "\"");
        }
        at = end;
    }
}

bool gbx_secrets_strip(const gbx_policy *policy, gbx_secret_text kind, gbx_span data,
                       const atomic_bool *stop, gbx_buf *out, bool *ret_changed)
{
    gbx_hits hits;
    bool done;

    *ret_changed = false;
    if (policy == NULL || policy->secret_count == 0 || data.len == 0)
        return true;
    if (policy->secret_forms == NULL) /* never prepared: nothing may pass */
        return false;
    done = gbx_secret_find(policy->secret_forms, data, stop, &hits);
    if (done && hits.count > 0) {
        if (kind == GBX_SECRET_DATA &&
            gbx_json_check((const char *)data.data, data.len, GBX_JSON_DEPTH_MAX, NULL))
            strip_json(policy, &hits, data, out);
        else
            strip_plain(policy, &hits, data, out);
        *ret_changed = true;
        done = !out->failed;
    }
    free(hits.items);
    return done;
}

bool gbx_secrets_append_clean(const gbx_policy *policy, gbx_secret_text kind,
                              gbx_span data, gbx_buf *to)
{
    bool changed;

    return gbx_secrets_strip(policy, kind, data, NULL, to, &changed) &&
           (changed || gbx_buf_append(to, data.data, data.len));
}
