/* SPDX-License-Identifier: MIT */
/* policy_json_values - the keys "env" and "secrets" of a policy file. Their values
 * never enter a message. */
#include "policy/policy_json.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

/* "from": the value of that environment variable. target is a gbx_entry. */
static gbx_status read_from(gbx_json_reader *r, const json_t *value,
                            const gbx_json_key *key, void *target)
{
    gbx_entry *entry = target;
    gbx_status status;
    (void)key;

    if (!json_is_string(value))
        return gbx_json_refuse_type(r, value, "the name of an environment variable");
    if (entry->value != NULL)
        return gbx_json_refuse_key(r, "there is a value already: give one of them");
    status = gbx_host_value(json_string_value(value), json_string_length(value),
                            &entry->value, r->err);
    if (status == GBX_OK)
        entry->value_len = strlen(entry->value);
    return gbx_json_placed(r, status);
}

static gbx_status read_env_member(gbx_json_reader *r, const char *name,
                                  const json_t *value, void *target)
{
    static const gbx_json_key keys[] = {{.name = "from", .read = read_from}};
    gbx_entry entry = {.name = name, .name_len = strlen(name)};
    gbx_status status = GBX_OK;

    if (json_is_string(value)) {
        entry.value = json_string_value(value);
        entry.value_len = json_string_length(value);
    } else if (json_is_object(value)) {
        status = gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), &entry);
        if (status == GBX_OK)
            status =
                gbx_json_require(r, value, "from", "name the environment variable");
    } else {
        status = gbx_json_refuse_type(r, value, "a string or {\"from\": \"VARIABLE\"}");
    }
    if (status != GBX_OK)
        return status;
    return gbx_json_placed_key(r, gbx_grant_env(target, 0, &entry, r->err));
}

static gbx_status add_env(gbx_json_reader *r, const char *text, size_t len,
                          void *target)
{
    gbx_entry entry = {.name = text, .name_len = len};
    gbx_status status = gbx_host_value(text, len, &entry.value, r->err);

    if (status != GBX_OK)
        return status;
    entry.value_len = strlen(entry.value);
    return gbx_grant_env(target, 0, &entry, r->err);
}

/* One secret while it is read. */
typedef struct secret_entry {
    gbx_entry entry; /* first: readers of an entry fill it */
    gbx_host_text text;
    const json_t *value; /* to be wiped */
} secret_entry;

static gbx_status read_secret_value(gbx_json_reader *r, const json_t *value,
                                    const gbx_json_key *key, void *target)
{
    secret_entry *secret = target;
    gbx_entry *entry = &secret->entry;
    (void)key;

    if (!json_is_string(value))
        return gbx_json_refuse_type(r, value, "a string");
    if (entry->value != NULL)
        return gbx_json_refuse_key(r, "there is a value already: give one of them");
    entry->value = json_string_value(value);
    entry->value_len = json_string_length(value);
    secret->value = value;
    return GBX_OK;
}

static gbx_status read_secret_file(gbx_json_reader *r, const json_t *value,
                                   const gbx_json_key *key, void *target)
{
    secret_entry *secret = target;
    gbx_status status;
    (void)key;

    if (!json_is_string(value))
        return gbx_json_refuse_type(r, value, "the path of a file");
    if (secret->entry.value != NULL)
        return gbx_json_refuse_key(r, "there is a value already: give one of them");
    status = gbx_host_file(r->policy, r->base_dir, json_string_value(value),
                           json_string_length(value), &secret->text, r->err);
    secret->entry.value = secret->text.data;
    secret->entry.value_len = secret->text.len;
    return gbx_json_placed(r, status);
}

static void forget(secret_entry *secret)
{
    gbx_host_text_free(&secret->text);
    if (secret->value != NULL)
        explicit_bzero((char *)(uintptr_t)json_string_value(secret->value),
                       json_string_length(secret->value));
}

static gbx_status add_secret_site(gbx_json_reader *r, const char *text, size_t len,
                                  void *target)
{
    gbx_secret *secret = target;

    return gbx_grant_site(&secret->sites, &secret->site_count, 0, text, len, r->err);
}

static gbx_status add_secret_function(gbx_json_reader *r, const char *text, size_t len,
                                      void *target)
{
    gbx_secret *secret = target;
    bool all; /* the star itself is stored, so this is not needed */

    return gbx_grant_function(&secret->functions, &secret->function_count, &all, 0,
                              text, len, r->err);
}

/* The lists are read later, once there is a secret to put them into. */
static gbx_status leave(gbx_json_reader *r, const json_t *value,
                        const gbx_json_key *key, void *target)
{
    (void)r;
    (void)value;
    (void)key;
    (void)target;
    return GBX_OK;
}

static gbx_status read_secret(gbx_json_reader *r, const char *name, const json_t *value,
                              void *target)
{
    static const gbx_json_key lists[] = {
        {.name = "sites", .read = gbx_json_read_list, .add = add_secret_site},
        {.name = "functions", .read = gbx_json_read_list, .add = add_secret_function},
    };
    (void)target;

    return gbx_policy_read_secret(r, name, value, lists, GBX_COUNTOF(lists),
                                  json_object_get(value, "functions") == NULL
                                      ? "list the sites that may get it"
                                      : NULL);
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_policy_read_env(gbx_json_reader *r, const json_t *value,
                               const gbx_json_key *key, void *target)
{
    gbx_policy *policy = target;
    (void)key;

    policy->capabilities |= GBX_CAP_ENV;
    if (json_is_array(value))
        return gbx_json_read_texts(r, value, add_env, policy);
    if (json_is_object(value))
        return gbx_json_read_members(r, value, read_env_member, policy);
    return gbx_json_refuse_type(r, value, "an array of names, or an object");
}

gbx_status gbx_policy_read_secret(gbx_json_reader *r, const char *name,
                                  const json_t *value, const gbx_json_key *lists,
                                  size_t list_count, const char *why_first)
{
    gbx_json_key keys[8] = {
        {.name = "from", .read = read_from},
        {.name = "file", .read = read_secret_file},
        {.name = "value", .read = read_secret_value},
    };
    const size_t count = 3 + list_count;
    GBX_CLEANUP(forget)
    secret_entry entry = {.entry = {.name = name, .name_len = strlen(name)}};
    gbx_secret *secret = NULL;
    gbx_status status;

    assert(count <= GBX_COUNTOF(keys));
    for (size_t i = 0; i < list_count; i++)
        keys[3 + i] = (gbx_json_key){.name = lists[i].name, .read = leave};
    status = gbx_json_read_object(r, value, keys, count, &entry);
    if (status != GBX_OK)
        return status;
    if (entry.entry.value == NULL)
        return gbx_json_require(
            r, value, "from",
            "name the environment variable that has it, or a \"file\"");
    if (why_first != NULL)
        status = gbx_json_require(r, value, lists[0].name, why_first);
    if (status == GBX_OK)
        status = gbx_json_placed_key(r, gbx_grant_secret(r->policy, &entry.entry,
                                                         &secret, r->err));
    for (size_t i = 0; i < count; i++)
        keys[i] =
            i < 3 ? (gbx_json_key){.name = keys[i].name, .read = leave} : lists[i - 3];
    if (status == GBX_OK)
        status = gbx_json_read_object(r, value, keys, count, secret);
    return status;
}

gbx_status gbx_policy_read_secrets(gbx_json_reader *r, const json_t *value,
                                   const gbx_json_key *key, void *target)
{
    (void)key;
    return gbx_json_read_members(r, value, read_secret, target);
}
