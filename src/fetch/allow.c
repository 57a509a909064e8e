/* SPDX-License-Identifier: MIT */
/* allow - the policy has the lists; the only list of ours is that of the bad ports. */
#include "fetch/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <event2/util.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 300u /* characters of a list in a message */

/* Ports of protocols that interpret parts of an HTTP request as commands, as listed in
 * the fetch standard. An entry that names such a port allows it; ":*" does not. */
static const uint16_t bad_ports[] = {
    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,   25,   37,
    42,   43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,  109,  110,
    111,  113,  115,  117,  119,  123,  135,  137,  139,  143,  161,  179,  389,  427,
    465,  512,  513,  514,  515,  526,  530,  531,  532,  540,  548,  554,  556,  563,
    587,  601,  636,  989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190,
    5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080};

static const char *const usual_methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                            "PATCH", "DELETE", "OPTIONS"};

static bool is_bad_port(uint16_t port)
{
    for (size_t i = 0; i < GBX_COUNTOF(bad_ports); i++)
        if (bad_ports[i] == port)
            return true;
    return false;
}

/* Write a site as a policy file's entry would. */
static void write_site(gbx_buf *to, const gbx_site *site)
{
    bool is_v6 = strchr(site->host, ':') != NULL;

    if (site->schemes == GBX_SCHEME_HTTP)
        (void)gbx_buf_puts(to, "http://");
    (void)gbx_buf_printf(to, "%s%s%s%s", site->below ? "*." : "", is_v6 ? "[" : "",
                         site->host, is_v6 ? "]" : "");
    if (site->any_port)
        (void)gbx_buf_puts(to, ":*");
    else if (site->port != 0)
        (void)gbx_buf_printf(to, ":%u", (unsigned)site->port);
}

/* Write the start of the list, whole entries only, with the number of the rest. */
static void write_sites(const gbx_fetch_policy *policy, char *text, size_t size)
{
    gbx_buf list;
    size_t shown = 0;

    gbx_buf_init(&list, size - 32);
    while (shown < policy->site_count) {
        size_t before = list.len;

        (void)gbx_buf_puts(&list, shown > 0 ? ", " : "");
        write_site(&list, &policy->sites[shown]);
        if (list.failed) {
            list.len = before;
            break;
        }
        shown++;
    }
    (void)snprintf(text, size, "%.*s", (int)list.len,
                   list.data != NULL ? (const char *)list.data : "");
    if (shown < policy->site_count)
        (void)snprintf(text + list.len, size - list.len, "%s%zu more",
                       shown > 0 ? " and " : "", policy->site_count - shown);
    if (policy->site_count == 0)
        (void)snprintf(text, size, "nothing");
    gbx_buf_cleanup(&list);
}

static bool refuse_url(const gbx_fetch_policy *policy, const gbx_url *url,
                       gbx_fault *fault)
{
    char list[SHOWN_MAX];
    gbx_quoted host = gbx_fault_quote(url->host, strlen(url->host));

    write_sites(policy, list, sizeof list);
    return gbx_fault_set(fault, GBX_FAULT_NOT_ALLOWED,
                         "fetch: the host '%s' with %s and port %u is not on the list; "
                         "allowed: %s",
                         host.text, gbx_url_scheme_name(url->scheme),
                         (unsigned)url->port, list);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_allow_url(const gbx_fetch_policy *policy, const gbx_url *url,
                   gbx_reach *ret_reach, gbx_fault *fault)
{
    gbx_reach reach = {.networks = policy->networks,
                       .network_count = policy->network_count};
    bool is_listed = false;
    bool port_is_named = false;

    for (size_t i = 0; i < policy->site_count; i++) {
        const gbx_site *site = &policy->sites[i];

        if (!gbx_site_matches(site, url->host, url->port, url->scheme))
            continue;
        is_listed = true;
        port_is_named = port_is_named || !site->any_port;
        reach.loopback = reach.loopback || site->loopback;
        reach.has_named = reach.has_named || (url->is_literal && !site->below);
    }
    if (!is_listed)
        return refuse_url(policy, url, fault);
    if (!port_is_named && is_bad_port(url->port))
        return gbx_fault_set(
            fault, GBX_FAULT_NOT_ALLOWED,
            "fetch: port %u belongs to another protocol than HTTP; the "
            "list would have to name it",
            (unsigned)url->port);
    reach.named = url->address;
    *ret_reach = reach;
    return true;
}

bool gbx_allow_method(const gbx_fetch_policy *policy, const char *method,
                      gbx_fault *fault)
{
    gbx_quoted quoted = gbx_fault_quote(method, strlen(method));
    char list[SHOWN_MAX];
    size_t len = 0;

    if (gbx_method_is_forbidden(method))
        return gbx_fault_set(fault, GBX_FAULT_METHOD,
                             "fetch: the method '%s' is never sent", quoted.text);
    list[0] = '\0';
    for (size_t i = 0; i < (policy->method_count > 0 ? policy->method_count
                                                     : GBX_COUNTOF(usual_methods));
         i++) {
        const char *allowed =
            policy->method_count > 0 ? policy->methods[i] : usual_methods[i];

        if (strcmp(allowed, method) == 0)
            return true;
        if (len + strlen(allowed) + 2 < sizeof list)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s",
                                    len > 0 ? ", " : "", allowed);
    }
    return gbx_fault_set(fault, GBX_FAULT_METHOD,
                         "fetch: the method '%s' is not on the list; allowed: %s",
                         quoted.text, list);
}

bool gbx_method_is_forbidden(const char *method)
{
    return evutil_ascii_strcasecmp(method, "CONNECT") == 0 ||
           evutil_ascii_strcasecmp(method, "TRACE") == 0 ||
           evutil_ascii_strcasecmp(method, "TRACK") == 0;
}
