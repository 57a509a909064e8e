/* SPDX-License-Identifier: MIT */
/*
 * resolve - the addresses of a name: from the file of hosts, or from name servers.
 *
 * libevent answers even cancelled queries, in a later turn of the loop. So a dropped
 * query lives until its last answer, which frees it.
 */
#include "fetch/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- the file of hosts --------------------------------------------------- */

#define LINE_MAX_BYTES 1024
#define LINES_MAX      10000 /* a longer file is a mistake */

static const char blanks[] = " \t\r\n";

/* True if the rest of a line, after its address, contains the name. */
static bool names(char *state, const char *name)
{
    char *word;

    while ((word = strtok_r(NULL, blanks, &state)) != NULL)
        if (evutil_ascii_strcasecmp(word, name) == 0)
            return true;
    return false;
}

/* Find at most max addresses of a name (in lower case); returns their number. The file
 * is small, so it is read each time. */
static size_t find_in_hosts(const char *path, const char *name, gbx_ip *ret, size_t max)
{
    FILE *file = fopen(path, "re");
    char line[LINE_MAX_BYTES];
    size_t count = 0;

    if (file == NULL)
        return 0;
    for (int i = 0; i < LINES_MAX && count < max; i++) {
        char *state = NULL;
        char *word;

        if (fgets(line, sizeof line, file) == NULL)
            break;
        line[strcspn(line, "#")] = '\0';
        word = strtok_r(line, blanks, &state);
        if (word != NULL && gbx_ip_parse(word, &ret[count]) && names(state, name))
            count++;
    }
    (void)fclose(file);
    return count;
}

/* ---- the name servers: the policy's, or the system's current ones ------------ */

struct gbx_resolver {
    struct event_base *base;
    const char *hosts_path;
    const char *resolv_path;
    /* All policies of an engine have the same servers. */
    char *servers; /* one a line; "": the system's */
    struct evdns_base *dns;
    struct timespec changed; /* of resolv.conf when it was last read */
    ino_t inode;
};

/* Without this, libevent writes to the program's standard error. */
static void say_nothing(int is_warning, const char *message)
{
}

/* Three attempts of three seconds. The letters of a query have random case, which the
 * answer must repeat: this makes an answer harder to forge. */
static const struct {
    const char *name;
    const char *value;
} settings[] = {{"timeout:", "3"},
                {"attempts:", "3"},
                {"randomize-case:", "1"},
                {"max-inflight:", "256"}};

/* Read resolv.conf again if it has changed, since networks change. Search domains are
 * not used: every name is absolute. */
static void follow_system(gbx_resolver *resolver)
{
    struct stat st;

    if (stat(resolver->resolv_path, &st) != 0)
        return;
    if (st.st_ino == resolver->inode && st.st_mtim.tv_sec == resolver->changed.tv_sec &&
        st.st_mtim.tv_nsec == resolver->changed.tv_nsec)
        return;
    resolver->inode = st.st_ino;
    resolver->changed = st.st_mtim;
    (void)evdns_base_clear_nameservers_and_suspend(resolver->dns);
    (void)evdns_base_resolv_conf_parse(resolver->dns, DNS_OPTION_NAMESERVERS,
                                       resolver->resolv_path);
    (void)evdns_base_resume(resolver->dns);
}

static void forget_servers(gbx_resolver *resolver)
{
    if (resolver->dns != NULL)
        evdns_base_free(resolver->dns, 1);
    free(resolver->servers);
    resolver->servers = NULL;
    resolver->dns = NULL;
    resolver->inode = 0;
}

/* The resolver for a list of "ip:port"; the system's for an empty list. NULL: no
 * servers, or out of memory. */
static struct evdns_base *nameservers_get(gbx_resolver *resolver, char *const *servers,
                                          size_t count)
{
    gbx_buf list = {.ceiling = 4096};
    char *text;

    for (size_t i = 0; i < count; i++)
        (void)gbx_buf_printf(&list, "%s\n", servers[i]);
    text = gbx_buf_take_string(&list, NULL);
    if (text == NULL || resolver->dns == NULL || strcmp(text, resolver->servers) != 0) {
        forget_servers(resolver);
        resolver->servers = text;
        if (text != NULL)
            resolver->dns =
                evdns_base_new(resolver->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
        evdns_set_log_fn(say_nothing);
        if (resolver->dns == NULL)
            return NULL;
        for (size_t i = 0; i < GBX_COUNTOF(settings); i++)
            (void)evdns_base_set_option(resolver->dns, settings[i].name,
                                        settings[i].value);
        for (size_t i = 0; i < count; i++)
            (void)evdns_base_nameserver_ip_add(resolver->dns, servers[i]);
    } else {
        free(text);
    }
    if (count == 0)
        follow_system(resolver);
    return evdns_base_count_nameservers(resolver->dns) > 0 ? resolver->dns : NULL;
}

/* ---- queries ----------------------------------------------------------------- */

/* Once one family has addresses, wait this long for the other. */
static const struct timeval grace = {.tv_sec = 1};

struct gbx_query {
    gbx_resolved_fn done; /* NULL: dropped */
    void *user;
    struct event *timer;            /* reports the addresses known so far */
    struct evdns_request *asked[2]; /* IPv4, IPv6; NULL: answered, or not sent */
    unsigned pending;               /* answers still due from libevent */
    const char *problem;
    gbx_ip addresses[GBX_ADDRESSES_MAX];
    size_t v4_count; /* the first ones are IPv4 */
    size_t count;
};

static void unless_pending(gbx_query *query)
{
    if (query->pending > 0)
        return;
    if (query->timer != NULL)
        event_free(query->timer);
    free(query);
}

static void cancel_questions(gbx_query *query)
{
    for (size_t i = 0; i < GBX_COUNTOF(query->asked); i++) {
        if (query->asked[i] != NULL)
            evdns_cancel_request(NULL, query->asked[i]);
        query->asked[i] = NULL;
    }
}

static void tell(gbx_query *query)
{
    gbx_resolved_fn done = query->done;

    query->done = NULL;
    (void)event_del(query->timer);
    if (done != NULL)
        done(query->user, query->addresses, query->count,
             query->count > 0 ? NULL : query->problem);
    cancel_questions(query);
    unless_pending(query);
}

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    tell(user);
}

static const char *problem_of(int result)
{
    switch (result) {
    case DNS_ERR_NONE: return "the name has no address";
    case DNS_ERR_NOTEXIST: return "the name does not exist";
    case DNS_ERR_TIMEOUT: return "no name server answered";
    case DNS_ERR_TRUNCATED: return "the answer is too long for a datagram";
    case DNS_ERR_SHUTDOWN: return "the resolver was shut down";
    default: return "the name server failed";
    }
}

/* Insert IPv4 before IPv6, whichever arrives first. */
static void insert(gbx_query *query, const gbx_ip *address)
{
    size_t at = address->is_v6 ? query->count : query->v4_count;

    if (query->count == GBX_ADDRESSES_MAX)
        return;
    memmove(&query->addresses[at + 1], &query->addresses[at],
            (query->count - at) * sizeof *address);
    query->addresses[at] = *address;
    query->count++;
    if (!address->is_v6)
        query->v4_count++;
}

static void on_answer(gbx_query *query, size_t which, int result, char type, int count,
                      const void *data)
{
    query->asked[which] = NULL;
    query->pending--;
    if (query->done == NULL) {
        unless_pending(query);
        return;
    }
    if (result == DNS_ERR_NONE && count > 0) {
        gbx_ip address = {.is_v6 = type == DNS_IPv6_AAAA,
                          .bytes = {[10] = 0xFF, [11] = 0xFF}};
        size_t size = address.is_v6 ? 16 : 4;
        const uint8_t *bytes = data;

        for (int i = 0; i < count; i++, bytes += size) {
            memcpy(address.bytes + 16 - size, bytes, size);
            insert(query, &address);
        }
    } else if (query->problem == NULL || result == DNS_ERR_NOTEXIST) {
        query->problem = problem_of(result);
    }
    if (query->pending == 0)
        tell(query);
    else if (query->count > 0)
        (void)event_add(query->timer, &grace);
}

static void on_v4(int result, char type, int count, int ttl, void *data, void *user)
{
    on_answer(user, 0, result, type, count, data);
}

static void on_v6(int result, char type, int count, int ttl, void *data, void *user)
{
    on_answer(user, 1, result, type, count, data);
}

static void ask(gbx_query *query, struct evdns_base *dns, const char *name)
{
    query->asked[0] =
        evdns_base_resolve_ipv4(dns, name, DNS_QUERY_NO_SEARCH, on_v4, query);
    query->asked[1] =
        evdns_base_resolve_ipv6(dns, name, DNS_QUERY_NO_SEARCH, on_v6, query);
    for (size_t i = 0; i < GBX_COUNTOF(query->asked); i++)
        query->pending += query->asked[i] != NULL ? 1 : 0;
    if (query->pending == 0)
        query->problem = "the question could not be asked";
}

static void find(gbx_resolver *resolver, gbx_query *query, const char *name,
                 char *const *servers, size_t server_count)
{
    static const gbx_ip loopback[] = {
        {.bytes = {[10] = 0xFF, [11] = 0xFF, [12] = 127, [15] = 1}},
        {.is_v6 = true, .bytes = {[15] = 1}}};
    static const char below[] = ".localhost";
    const size_t below_len = sizeof below - 1;
    size_t len = strlen(name);
    gbx_ip listed[GBX_ADDRESSES_MAX];
    struct evdns_base *dns;
    size_t count;

    /* It and the names below mean this machine (RFC 6761), whatever others answer. */
    if (strcmp(name, "localhost") == 0 ||
        (len > below_len && strcmp(name + len - below_len, below) == 0)) {
        insert(query, &loopback[0]);
        insert(query, &loopback[1]);
        return;
    }
    count = find_in_hosts(resolver->hosts_path, name, listed, GBX_ADDRESSES_MAX);
    for (size_t i = 0; i < count; i++)
        insert(query, &listed[i]);
    if (count > 0)
        return;
    dns = nameservers_get(resolver, servers, server_count);
    if (dns == NULL)
        query->problem = "no name server to ask";
    else
        ask(query, dns, name);
}

gbx_resolver *gbx_resolver_new(struct event_base *base, const char *hosts_path,
                               const char *resolv_path)
{
    gbx_resolver *resolver = calloc(1, sizeof *resolver);

    if (resolver == NULL)
        return NULL;
    resolver->base = base;
    resolver->hosts_path = hosts_path;
    resolver->resolv_path = resolv_path;
    return resolver;
}

void gbx_resolver_free(gbx_resolver *resolver)
{
    if (resolver == NULL)
        return;
    forget_servers(resolver);
    free(resolver);
}

gbx_query *gbx_resolve(gbx_resolver *resolver, const char *name, char *const *servers,
                       size_t server_count, gbx_resolved_fn done, void *user)
{
    gbx_query *query = calloc(1, sizeof *query);

    if (query == NULL)
        return NULL;
    query->timer = evtimer_new(resolver->base, on_timer, query);
    if (query->timer == NULL) {
        free(query);
        return NULL;
    }
    query->done = done;
    query->user = user;
    find(resolver, query, name, servers, server_count);
    if (query->pending == 0)
        event_active(query->timer, EV_TIMEOUT, 0);
    return query;
}

void gbx_query_drop(gbx_query *query)
{
    if (query == NULL)
        return;
    query->done = NULL;
    (void)event_del(query->timer);
    cancel_questions(query);
    unless_pending(query);
}
