/* SPDX-License-Identifier: MIT */
/* capability_grants - see capability_grants.h. */
#include "policy/capability_grants.h"

#include "base/secret_memory.h"
#include "base/utf8.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#define NAME_LEN_MAX 128

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/* Bytes of the name at text: letters, digits, '_' and '$', not beginning with a digit. */
static size_t name_length(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len &&
           (is_name_start(text[n]) || (n > 0 && text[n] >= '0' && text[n] <= '9')))
        n++;
    return n;
}

static gbx_status check_name(const char *text, size_t len, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];
    size_t n = name_length(text, len);

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the name is missing");
    if (n < len)
        return gbx_refuse(reterr, text, n,
                          "'%s' is not a name: letters, digits, '_' and '$', not "
                          "beginning with a digit",
                          gbx_quote(quote, text, len));
    if (len > NAME_LEN_MAX)
        return gbx_refuse(reterr, text, 0, "the name is longer than %d characters",
                          NAME_LEN_MAX);
    return GBX_OK;
}

static gbx_status refuse_twice(const char *text, size_t len, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];

    return gbx_refuse(reterr, text, 0, "'%s' is listed twice: leave one out",
                      gbx_quote(quote, text, len));
}

/* A path of names and dots; the last part may be a star. */
static gbx_status check_pattern(const char *text, size_t len, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];
    size_t at = 0;

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the name is missing");
    if (len > NAME_LEN_MAX)
        return gbx_refuse(reterr, text, 0, "the name is longer than %d characters",
                          NAME_LEN_MAX);
    for (;;) {
        size_t n = name_length(text + at, len - at);

        if (n == 0 && at + 1 == len && text[at] == '*')
            return GBX_OK;
        if (n == 0 || (at + n < len && text[at + n] != '.'))
            return gbx_refuse(
                reterr, text, at + n,
                "'%s' is not a name of functions: write one like 'db.query', "
                "or 'db.*' for all below 'db'",
                gbx_quote(quote, text, len));
        at += n;
        if (at == len)
            return GBX_OK;
        at++;
    }
}

static size_t find_pair(const gbx_policy *policy, const gbx_entry *entry)
{
    size_t i = 0;

    while (i < policy->env_count &&
           (strlen(policy->env[i].name) != entry->name_len ||
            memcmp(policy->env[i].name, entry->name, entry->name_len) != 0))
        i++;
    return i;
}

static size_t env_bytes(const gbx_policy *policy)
{
    size_t bytes = 0;

    for (size_t i = 0; i < policy->env_count; i++)
        bytes += strlen(policy->env[i].name) + policy->env[i].value_len;
    return bytes;
}

static char *copy_value(const char *value, size_t len)
{
    char *copy = malloc(len + 1);

    if (copy != NULL) {
        memcpy(copy, value, len);
        copy[len] = '\0';
    }
    return copy;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_grant_site(gbx_site **sites, size_t *count, size_t since,
                          const char *text, size_t len, gbx_error *reterr)
{
    gbx_site *room;
    gbx_site site;
    gbx_status status = gbx_list_check(*count, "sites", reterr);

    if (status == GBX_OK)
        status = gbx_site_parse(text, len, &site, reterr);
    if (status != GBX_OK)
        return status;
    for (size_t i = 0; i < *count; i++) {
        if (!gbx_site_equals(&(*sites)[i], &site))
            continue;
        free(site.host);
        return i >= since ? refuse_twice(text, len, reterr) : GBX_OK;
    }
    room = gbx_list_room(sites, *count, sizeof site);
    if (room == NULL) {
        free(site.host);
        return gbx_list_nomem(reterr);
    }
    *room = site;
    ++*count;
    return GBX_OK;
}

gbx_status gbx_grant_env(gbx_policy *policy, size_t since, const gbx_entry *entry,
                         gbx_error *reterr)
{
    gbx_pair pair = {.value_len = entry->value_len};
    gbx_pair *room;
    size_t at = find_pair(policy, entry);
    gbx_status status = gbx_list_check(policy->env_count, "variables", reterr);

    if (status == GBX_OK)
        status = check_name(entry->name, entry->name_len, reterr);
    if (status != GBX_OK)
        return status;
    if (pair.value_len > GBX_VALUE_MAX ||
        !gbx_utf8_valid((const uint8_t *)entry->value, pair.value_len, NULL))
        return gbx_refuse(reterr, entry->name, 0,
                          "the value is not UTF-8, or longer than %d bytes",
                          GBX_VALUE_MAX);
    if (at < policy->env_count) {
        bool is_same = policy->env[at].value_len == pair.value_len &&
                       memcmp(policy->env[at].value, entry->value, pair.value_len) == 0;

        return at >= since || !is_same
                   ? refuse_twice(entry->name, entry->name_len, reterr)
                   : GBX_OK;
    }
    if (env_bytes(policy) + entry->name_len + pair.value_len > GBX_ENV_MAX)
        return gbx_refuse(reterr, entry->name, 0,
                          "the variables are longer than %d bytes together",
                          GBX_ENV_MAX);
    pair.name = strndup(entry->name, entry->name_len);
    pair.value = copy_value(entry->value, pair.value_len);
    room = gbx_list_room(&policy->env, policy->env_count, sizeof pair);
    if (pair.name == NULL || pair.value == NULL || room == NULL) {
        gbx_pairs_cut(&pair, 0, 1);
        return gbx_list_nomem(reterr);
    }
    *room = pair;
    policy->env_count++;
    return GBX_OK;
}

gbx_status gbx_grant_function(char ***patterns, size_t *count, bool *all, size_t since,
                              const char *text, size_t len, gbx_error *reterr)
{
    size_t at = gbx_names_find(*patterns, 0, *count, text, len);
    gbx_status status = gbx_list_check(*count, "functions", reterr);

    if (status == GBX_OK)
        status = check_pattern(text, len, reterr);
    if (status != GBX_OK)
        return status;
    if (at < *count)
        return at >= since ? refuse_twice(text, len, reterr) : GBX_OK;
    if (len == 1 && text[0] == '*')
        *all = true;
    return gbx_names_add(patterns, count, text, len, reterr);
}

gbx_status gbx_grant_secret(gbx_policy *policy, const gbx_entry *entry,
                            gbx_secret **ret, gbx_error *reterr)
{
    gbx_secret secret = {.value_len = entry->value_len};
    gbx_secret *room;
    gbx_status status = gbx_list_check(policy->secret_count, "secrets", reterr);

    if (status == GBX_OK)
        status = check_name(entry->name, entry->name_len, reterr);
    for (size_t i = 0; status == GBX_OK && i < policy->secret_count; i++)
        if (strlen(policy->secrets[i].name) == entry->name_len &&
            memcmp(policy->secrets[i].name, entry->name, entry->name_len) == 0)
            status = refuse_twice(entry->name, entry->name_len, reterr);
    if (status != GBX_OK)
        return status;
    /* The value itself never enters a message. */
    if (secret.value_len < GBX_SECRET_MIN || secret.value_len > GBX_SECRET_MAX)
        return gbx_refuse(reterr, entry->name, 0,
                          "the value of a secret has from %u to %u bytes",
                          GBX_SECRET_MIN, GBX_SECRET_MAX);
    for (size_t i = 0; i < secret.value_len; i++)
        if ((uint8_t)entry->value[i] < 0x20 || entry->value[i] == 0x7F)
            return gbx_refuse(reterr, entry->name, 0,
                              "the value of a secret has a control character in it "
                              "(a line end?), which no header can carry");
    secret.name = strndup(entry->name, entry->name_len);
    secret.value = gbx_secret_memory_new(secret.value_len + 1);
    room = gbx_list_room(&policy->secrets, policy->secret_count, sizeof secret);
    if (secret.name == NULL || secret.value == NULL || room == NULL) {
        gbx_secrets_cut(&secret, 0, 1);
        return gbx_list_nomem(reterr);
    }
    memcpy(secret.value, entry->value, secret.value_len);
    *room = secret;
    policy->secret_count++;
    *ret = room;
    return GBX_OK;
}

gbx_policy_mark gbx_policy_here(const gbx_policy *policy)
{
    return (gbx_policy_mark){
        .capabilities = policy->capabilities,
        .all_functions = policy->all_functions,
        .sites = policy->fetch.site_count,
        .roots = policy->file.root_count,
        .env = policy->env_count,
        .secrets = policy->secret_count,
        .functions = policy->function_count,
    };
}

void gbx_policy_back_to(gbx_policy *policy, const gbx_policy_mark *mark)
{
    policy->capabilities = mark->capabilities;
    policy->all_functions = mark->all_functions;
    gbx_sites_cut(policy->fetch.sites, mark->sites, policy->fetch.site_count);
    policy->fetch.site_count = mark->sites;
    gbx_roots_cut(&policy->file, mark->roots);
    gbx_pairs_cut(policy->env, mark->env, policy->env_count);
    policy->env_count = mark->env;
    gbx_secrets_cut(policy->secrets, mark->secrets, policy->secret_count);
    policy->secret_count = mark->secrets;
    gbx_names_cut(policy->functions, mark->functions, policy->function_count);
    policy->function_count = mark->functions;
}
