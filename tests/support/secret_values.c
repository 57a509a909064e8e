/* SPDX-License-Identifier: MIT */
/* secret_values - see secret_values.h. */
#include "secret_values.h"

#include "base/cleanup.h"

static const struct secret {
    const char *name;
    const char *value;
    const char *sites;
    const char *functions;
} secrets[] = {
    {"TOKEN", "tok-4f9a0c77e1b2", "api.example.com,*.example.org", "db.query,tools.*"},
    {"ODD", ODD, "odd.example:8443", NULL},
    {"PIN", "8675309124", "http://pin.example", NULL},
    {"BLOB", "?>~?>~?>~?>", NULL, "db.*"},
    {"TAIL", "all of it: 7%", NULL, "db.*"},
    {"JSON", "{\"k\":\"private-key\",\"n\":12345678}", NULL, "*"},
};

gbx_policy *policy;

/* Fails if one of them is refused. */
int secret_values_begin(void **state)
{
    policy = gbx_policy_new();
    for (size_t i = 0; policy != NULL && i < GBX_COUNTOF(secrets); i++) {
        const struct secret *s = &secrets[i];

        if (gbx_policy_secret(policy, s->name, s->value, s->sites, s->functions,
                              NULL) == GBX_OK)
            continue;
        gbx_policy_free(policy);
        policy = NULL;
    }
    return policy != NULL ? 0 : -1;
}

int secret_values_end(void **state)
{
    gbx_policy_free(policy);
    return 0;
}
