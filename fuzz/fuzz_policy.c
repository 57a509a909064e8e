/* SPDX-License-Identifier: MIT */
/*
 * fuzz_policy - policy files, flags, sites and secrets of any kind.
 *
 * Input: what it is (a byte), then its text. What is taken covers itself, and one form
 * of a site is its own form; what is refused has a position.
 */
#include "fuzz.h"

#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

static void check_error(gbx_status status, const gbx_error *error)
{
    assert(status == GBX_E_POLICY || status == GBX_E_NOMEM);
    assert(error->message[0] != '\0');
    for (const char *at = error->message; *at != '\0'; at++)
        assert((unsigned char)*at >= 0x20 && *at != 0x7F);
}

static void document(const char *text, size_t len)
{
    gbx_policy *policy = NULL;
    gbx_error error = {0};
    gbx_status status = gbx_policy_parse(text, len, "/usr", &policy, &error);

    if (status == GBX_OK)
        assert(gbx_policy_covers(policy, policy, &error));
    else
        check_error(status, &error);
    gbx_policy_free(policy);
}

static void flag(const char *text)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_error error = {0};
    gbx_status status;

    assert(policy != NULL);
    status = gbx_policy_allow(policy, text, &error);
    if (status == GBX_OK) {
        assert(gbx_policy_allow(policy, text, &error) == GBX_OK);
        assert(gbx_policy_covers(policy, policy, &error));
    } else {
        check_error(status, &error);
        assert(error.line == 1 && error.column >= 1);
        assert(policy->capabilities == GBX_CAP_HELPERS && policy->env_count == 0);
    }
    gbx_policy_free(policy);
}

static void site(const char *text, size_t len)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_site first = {0};
    gbx_site again = {0};
    char printed[GBX_SITE_TEXT_SIZE];

    assert(policy != NULL);
    if (gbx_site_parse(text, len, &first, NULL) == GBX_OK) {
        (void)gbx_site_print(&first, printed);
        assert(gbx_site_parse(printed, strlen(printed), &again, NULL) == GBX_OK);
        assert(gbx_site_equals(&first, &again) && gbx_site_covers(&first, &again));
    }
    (void)gbx_policy_may_fetch(policy, text, len, printed);
    free(first.host);
    free(again.host);
    gbx_policy_free(policy);
}

/* The text is a name, a value and a list of sites, each in a line. */
static void secret(char *text)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_error error = {0};
    char *rest = text;
    const char *name = strsep(&rest, "\n");
    const char *value = rest != NULL ? strsep(&rest, "\n") : "";
    gbx_status status;

    assert(policy != NULL);
    status = gbx_policy_secret(policy, name, value, rest != NULL ? rest : "",
                               (name[0] & 1) != 0 ? rest : NULL, &error);
    if (status != GBX_OK)
        check_error(status, &error);
    assert((status == GBX_OK) == (policy->secret_count == 1));
    gbx_policy_free(policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0)
        return 0;
    text = malloc(size);
    assert(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] & 3) {
    case 0: document(text, size - 1); break;
    case 1: flag(text); break;
    case 2: site(text, size - 1); break;
    default: secret(text); break;
    }
    free(text);
    return 0;
}
