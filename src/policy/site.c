/* SPDX-License-Identifier: MIT */
/* site - parse, print, compare and match one allowed destination. */
#include "policy/policy.h"

#include "policy/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read the scheme in front, if any; *at moves past it. */
static gbx_status take_scheme(const char *text, size_t len, size_t *at, gbx_site *site,
                              gbx_error *reterr)
{
    const char *mark = memmem(text, len, "://", 3);
    size_t name_len = mark != NULL ? (size_t)(mark - text) : 0;
    char quote[GBX_QUOTE_SIZE];

    site->schemes = GBX_SCHEME_HTTPS;
    *at = 0;
    if (mark == NULL)
        return GBX_OK;
    for (uint8_t scheme = GBX_SCHEME_HTTPS; scheme <= GBX_SCHEME_HTTP; scheme++) {
        const char *known = gbx_scheme_name(scheme);

        if (strlen(known) == name_len && strncasecmp(known, text, name_len) == 0) {
            site->schemes = scheme;
            *at = name_len + 3;
            return GBX_OK;
        }
    }
    return gbx_refuse(reterr, text, 0,
                      "the scheme '%s' cannot be allowed: https or http",
                      gbx_quote(quote, text, name_len));
}

static gbx_status take_port(const char *text, const gbx_hostport *parts, gbx_site *site,
                            gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];

    if (parts->port == NULL)
        return GBX_OK;
    if (parts->port_len == 1 && parts->port[0] == '*') {
        site->any_port = true;
        return GBX_OK;
    }
    if (gbx_port_parse(parts->port, parts->port_len, &site->port))
        return GBX_OK;
    /* Text after a port belongs to another part: report that rather than "no port". */
    for (size_t i = 0; i < parts->port_len; i++) {
        if (strchr("/?#@\\", parts->port[i]) != NULL)
            return gbx_refuse(reterr, text, (size_t)(parts->port + i - text),
                              "a %s cannot be allowed: list host and port alone",
                              parts->port[i] == '@'   ? "user name or password"
                              : parts->port[i] == '?' ? "query"
                              : parts->port[i] == '#' ? "fragment"
                                                      : "path");
    }
    return gbx_refuse(reterr, text, (size_t)(parts->port - text),
                      "'%s' is not a port: from 1 to 65535, or '*' for any",
                      gbx_quote(quote, parts->port, parts->port_len));
}

/* Remove a leading "*." from text and len. */
static gbx_status take_star(const char **text, size_t *len, gbx_site *site,
                            gbx_error *reterr)
{
    if (*len > 0 && (*text)[0] == '*') {
        if (*len == 1)
            return gbx_refuse(reterr, *text, 0,
                              "'*' would allow every host there is: list the hosts");
        if ((*text)[1] != '.')
            return gbx_refuse(reterr, *text, 0,
                              "'*' stands for whole labels at the beginning: "
                              "'*.example.org'");
        site->below = true;
        *text += 2;
        *len -= 2;
    }
    return GBX_OK;
}

static gbx_status check_below(const char *text, const gbx_host *host, gbx_error *reterr)
{
    if (host->labels == 0)
        return gbx_refuse(reterr, text, 0, "an address has no names below it");
    if (host->labels == 1 && strcmp(host->text, "localhost") != 0)
        return gbx_refuse(reterr, text, 0,
                          "'*.%s' would allow every name below a whole top-level "
                          "domain: list the domains",
                          host->text);
    return GBX_OK;
}

/* Only an entry that names a loopback address opens it. */
static gbx_status check_address(const char *text, const gbx_host *host, gbx_site *site,
                                gbx_error *reterr)
{
    gbx_network network = {.prefix_bits = 128};
    size_t len = strlen(host->text);
    const char *what;

    if (host->labels > 0) {
        site->loopback = strcmp(host->text, "localhost") == 0 ||
                         (len > 10 && strcmp(host->text + len - 10, ".localhost") == 0);
        return GBX_OK;
    }
    memcpy(network.address, host->address, sizeof network.address);
    site->loopback = gbx_address_is_loopback(host->address);
    what = gbx_network_never(&network);
    if (what != NULL)
        return gbx_refuse(reterr, text, 0, "'%s' belongs to %s, which no policy opens",
                          host->text, what);
    return GBX_OK;
}

/* Parse the host of parts, which point into text, the whole entry. */
static gbx_status take_host(const char *text, const gbx_hostport *parts, gbx_site *site,
                            gbx_error *reterr)
{
    const char *name = parts->host;
    size_t len = parts->host_len;
    gbx_error err = {0};
    gbx_host host;
    gbx_status status = GBX_OK;

    if (!parts->is_bracketed)
        status = take_star(&name, &len, site, &err);
    if (status == GBX_OK)
        status = gbx_host_parse(name, len, parts->is_bracketed, &host, &err);
    if (status == GBX_OK && site->below)
        status = check_below(name, &host, &err);
    if (status == GBX_OK)
        status = check_address(name, &host, site, &err);
    if (status == GBX_OK) {
        site->host = strdup(host.text);
        if (site->host == NULL)
            return gbx_fail(reterr, GBX_E_NOMEM, "cannot keep the policy");
        return GBX_OK;
    }
    gbx_refused_within(&err, text, (size_t)(name - text));
    if (reterr != NULL)
        *reterr = err;
    return status;
}

gbx_status gbx_site_parse(const char *text, size_t len, gbx_site *ret,
                          gbx_error *reterr)
{
    gbx_site site = {0};
    gbx_hostport parts;
    gbx_error err = {0};
    size_t at = 0;
    gbx_status status;

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the site is missing");
    status = take_scheme(text, len, &at, &site, reterr);
    if (status != GBX_OK)
        return status;
    /* User information may have colons and brackets, so it is reported before those. */
    if (memchr(text + at, '@', len - at) != NULL)
        return gbx_refuse(reterr, text, at,
                          "a user name or password cannot be allowed: list the host "
                          "alone");
    status = gbx_hostport_split(text + at, len - at, &parts, &err);
    if (status != GBX_OK) {
        gbx_refused_within(&err, text, at);
        if (reterr != NULL)
            *reterr = err;
        return status;
    }
    status = take_host(text, &parts, &site, reterr);
    if (status == GBX_OK)
        status = take_port(text, &parts, &site, reterr);
    if (status != GBX_OK) {
        free(site.host);
        return status;
    }
    *ret = site;
    return GBX_OK;
}

static uint16_t port_of(const gbx_site *site)
{
    return site->port != 0 ? site->port : gbx_scheme_port(site->schemes);
}

bool gbx_site_equals(const gbx_site *a, const gbx_site *b)
{
    return strcmp(a->host, b->host) == 0 && a->below == b->below &&
           a->schemes == b->schemes && a->any_port == b->any_port &&
           (a->any_port || port_of(a) == port_of(b));
}

bool gbx_site_covers(const gbx_site *wide, const gbx_site *narrow)
{
    size_t wide_len = strlen(wide->host);
    size_t narrow_len = strlen(narrow->host);

    if ((narrow->schemes & ~wide->schemes) != 0 ||
        (narrow->loopback && !wide->loopback) ||
        (!wide->any_port && (narrow->any_port || port_of(wide) != port_of(narrow))))
        return false;
    if (strcmp(wide->host, narrow->host) == 0)
        return wide->below == narrow->below;
    return wide->below && narrow_len > wide_len + 1 &&
           narrow->host[narrow_len - wide_len - 1] == '.' &&
           strcmp(narrow->host + narrow_len - wide_len, wide->host) == 0;
}

const char *gbx_site_print(const gbx_site *site, char out[GBX_SITE_TEXT_SIZE])
{
    bool is_v6 = strchr(site->host, ':') != NULL;
    char port[8] = "";

    if (site->any_port)
        (void)snprintf(port, sizeof port, ":*");
    else if (site->port != 0)
        (void)snprintf(port, sizeof port, ":%u", site->port);
    (void)snprintf(out, GBX_SITE_TEXT_SIZE, "%s://%s%s%s%s%s",
                   gbx_scheme_name(site->schemes), site->below ? "*." : "",
                   is_v6 ? "[" : "", site->host, is_v6 ? "]" : "", port);
    return out;
}

bool gbx_policy_may_fetch(const gbx_policy *policy, const char *url, size_t len,
                          char site[GBX_SITE_TEXT_SIZE])
{
    const char *mark = memmem(url, len, "://", 3);
    size_t end = mark != NULL ? (size_t)(mark + 3 - url) : len;
    gbx_site asked = {0};
    bool ok = false;

    while (end < len && strchr("/?#", url[end]) == NULL)
        end++;
    /* Text that is not a site by our strict rules may still be a valid URL. */
    if (mark == NULL || memchr(url, '*', end) != NULL ||
        memchr(url, '\\', end) != NULL ||
        gbx_site_parse(url, end, &asked, NULL) != GBX_OK)
        return true;
    assert(asked.host != NULL); /* else parsing has failed */
    for (size_t i = 0; i < policy->fetch.site_count && !ok; i++)
        ok = gbx_site_matches(&policy->fetch.sites[i], asked.host, port_of(&asked),
                              asked.schemes);
    if (!ok)
        (void)gbx_site_print(&asked, site);
    free(asked.host);
    return ok;
}

bool gbx_site_matches(const gbx_site *site, const char *canonical_host, uint16_t port,
                      uint8_t scheme)
{
    uint16_t wanted = site->port != 0 ? site->port : gbx_scheme_port(scheme);
    size_t host_len = strlen(canonical_host);
    size_t site_len = strlen(site->host);

    if ((site->schemes & scheme) == 0)
        return false;
    if (!site->any_port && port != wanted)
        return false;
    if (!site->below)
        return strcmp(site->host, canonical_host) == 0;
    /* At least one character, a dot, and the whole of the listed name. */
    return host_len > site_len + 1 && canonical_host[host_len - site_len - 1] == '.' &&
           strcmp(canonical_host + host_len - site_len, site->host) == 0;
}
