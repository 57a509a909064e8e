/* SPDX-License-Identifier: MIT */
/* nameservers - see internal.h. */
#include "fetch/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <event2/dns.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LISTS_MAX 8 /* the least recently used one is replaced */

typedef struct server_list {
    char *key; /* the servers, one a line; "" is the system's */
    struct evdns_base *dns;
    struct timespec changed; /* of resolv.conf as it was read, for the system's list */
    ino_t inode;
} server_list;

struct gbx_nameservers {
    struct event_base *base;
    const char *resolv_path;
    server_list lists[LISTS_MAX]; /* the most recently used one first */
    size_t count;
};

/* Without this libevent writes to the program's standard error. */
static void say_nothing(int is_warning, const char *message)
{
    (void)is_warning;
    (void)message;
}

/* Three queries of three seconds. The letters' case in the query is random and must
 * come back: it makes an answer harder to guess. */
static const struct {
    const char *name;
    const char *value;
} settings[] = {{"timeout:", "3"},
                {"attempts:", "3"},
                {"randomize-case:", "1"},
                {"max-inflight:", "256"}};

static struct evdns_base *new_dns(struct event_base *base)
{
    struct evdns_base *dns = evdns_base_new(base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);

    evdns_set_log_fn(say_nothing);
    for (size_t i = 0; dns != NULL && i < GBX_COUNTOF(settings); i++)
        (void)evdns_base_set_option(dns, settings[i].name, settings[i].value);
    return dns;
}

/* Read resolv.conf if it has changed, since networks change. Search domains are not
 * used: a name means itself. */
static void follow_system(gbx_nameservers *all, server_list *list)
{
    struct stat st;

    if (stat(all->resolv_path, &st) != 0)
        return;
    if (st.st_ino == list->inode && st.st_mtim.tv_sec == list->changed.tv_sec &&
        st.st_mtim.tv_nsec == list->changed.tv_nsec)
        return;
    list->inode = st.st_ino;
    list->changed = st.st_mtim;
    (void)evdns_base_clear_nameservers_and_suspend(list->dns);
    (void)evdns_base_resolv_conf_parse(list->dns, DNS_OPTION_NAMESERVERS,
                                       all->resolv_path);
    (void)evdns_base_resume(list->dns);
}

static void free_list(server_list *list)
{
    if (list->dns != NULL)
        evdns_base_free(list->dns, 1);
    free(list->key);
    *list = (server_list){0};
}

static char *make_key(char *const *servers, size_t count)
{
    gbx_buf key;

    gbx_buf_init(&key, 4096);
    for (size_t i = 0; i < count; i++)
        (void)gbx_buf_printf(&key, "%s\n", servers[i]);
    return gbx_buf_take_string(&key, NULL);
}

/* Move list i to the front. */
static server_list *use(gbx_nameservers *all, size_t i)
{
    server_list used = all->lists[i];

    memmove(&all->lists[1], &all->lists[0], i * sizeof used);
    all->lists[0] = used;
    return &all->lists[0];
}

static server_list *add(gbx_nameservers *all, char *const *servers, size_t count,
                        char *key)
{
    struct evdns_base *dns = new_dns(all->base);

    if (dns == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        (void)evdns_base_nameserver_ip_add(dns, servers[i]);
    if (all->count == LISTS_MAX)
        free_list(&all->lists[--all->count]);
    all->lists[all->count] = (server_list){.key = key, .dns = dns};
    return use(all, all->count++);
}

/* ---- public to other modules -------------------------------------------- */

gbx_nameservers *gbx_nameservers_new(struct event_base *base, const char *resolv_path)
{
    gbx_nameservers *all = calloc(1, sizeof *all);

    if (all != NULL) {
        all->base = base;
        all->resolv_path = resolv_path;
    }
    return all;
}

void gbx_nameservers_free(gbx_nameservers *all)
{
    if (all == NULL)
        return;
    for (size_t i = 0; i < all->count; i++)
        free_list(&all->lists[i]);
    free(all);
}

struct evdns_base *gbx_nameservers_get(gbx_nameservers *all, char *const *servers,
                                       size_t count)
{
    GBX_CLEANUP(gbx_free) char *key = make_key(servers, count);
    server_list *found = NULL;

    if (key == NULL)
        return NULL;
    for (size_t i = 0; i < all->count && found == NULL; i++)
        if (strcmp(all->lists[i].key, key) == 0)
            found = use(all, i);
    if (found == NULL) {
        found = add(all, servers, count, key);
        if (found == NULL)
            return NULL;
        key = NULL; /* the list owns it */
    }
    if (count == 0)
        follow_system(all, found);
    return evdns_base_count_nameservers(found->dns) > 0 ? found->dns : NULL;
}
