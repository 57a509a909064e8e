/* SPDX-License-Identifier: MIT */
/*
 * digest - a policy in 32 bytes: two policies with the same digest allow the same.
 *
 * Every field has a letter and every text its length, so that no two policies encode
 * alike. Of secrets it covers names and targets, never values.
 */
#include "policy/policy.h"

#include <string.h>

static void add_number(gbx_sha256 *s, char letter, uint64_t number)
{
    uint8_t bytes[9] = {(uint8_t)letter};

    for (size_t i = 0; i < 8; i++)
        bytes[1 + i] = (uint8_t)(number >> (8 * i));
    gbx_sha256_add(s, bytes, sizeof bytes);
}

static void add_text(gbx_sha256 *s, char letter, const char *text)
{
    add_number(s, letter, text != NULL ? strlen(text) + 1 : 0);
    if (text != NULL)
        gbx_sha256_add(s, text, strlen(text));
}

static void add_names(gbx_sha256 *s, char letter, char *const *names, size_t count)
{
    add_number(s, letter, count);
    for (size_t i = 0; i < count; i++)
        add_text(s, letter, names[i]);
}

static void add_sites(gbx_sha256 *s, const gbx_site *sites, size_t count)
{
    add_number(s, 's', count);
    for (size_t i = 0; i < count; i++) {
        const gbx_site *site = &sites[i];

        add_text(s, 'h', site->host);
        add_number(s, 'p',
                   site->port | (uint64_t)site->schemes << 16 |
                       (uint64_t)site->below << 24 | (uint64_t)site->any_port << 25 |
                       (uint64_t)site->loopback << 26);
    }
}

static void add_fetch(gbx_sha256 *s, const gbx_fetch_policy *fetch)
{
    add_sites(s, fetch->sites, fetch->site_count);
    add_number(s, 'n', fetch->network_count);
    for (size_t i = 0; i < fetch->network_count; i++) {
        gbx_sha256_add(s, fetch->networks[i].address,
                       sizeof fetch->networks[i].address);
        add_number(s, 'b', fetch->networks[i].prefix_bits);
    }
    add_names(s, 'm', fetch->methods, fetch->method_count);
    add_number(s, 'x', fetch->max_bytes);
    add_number(s, 'q', fetch->max_request_bytes);
    add_number(s, 't', fetch->timeout_ms);
    add_number(s, 'r', fetch->max_redirects);
    add_names(s, 'd', fetch->nameservers, fetch->nameserver_count);
    add_text(s, 'a', fetch->ca_file);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_policy_digest(const gbx_policy *policy, uint8_t ret[GBX_SHA256_SIZE])
{
    gbx_sha256 s;

    gbx_sha256_init(&s);
    add_number(&s, 'C', policy->capabilities);
    add_fetch(&s, &policy->fetch);
    add_names(&s, 'R', policy->file.roots, policy->file.root_count);
    add_number(&s, 'X', policy->file.max_bytes);
    add_number(&s, 'E', policy->env_count);
    for (size_t i = 0; i < policy->env_count; i++) {
        add_text(&s, 'e', policy->env[i].name);
        add_text(&s, 'v', policy->env[i].value);
    }
    add_number(&s, 'S', policy->secret_count);
    for (size_t i = 0; i < policy->secret_count; i++) {
        const gbx_secret *secret = &policy->secrets[i];

        add_text(&s, 'k', secret->name);
        add_sites(&s, secret->sites, secret->site_count);
        add_names(&s, 'f', secret->functions, secret->function_count);
    }
    add_names(&s, 'F', policy->functions, policy->function_count);
    add_number(&s, 'A', policy->all_functions);
    gbx_sha256_end(&s, ret);
}
