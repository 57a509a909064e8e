/* SPDX-License-Identifier: MIT */
/* metrics - counts of all processes of a server, in memory that they share. Each count only
 * grows, by one atomic addition, so a process that is killed leaves nothing to repair. */
#include "mcp/telemetry/telemetry.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* Pairs of name and code with counts of their own; all further ones share the last. */
#define TOOL_PAIRS   64
#define SERVER_PAIRS 256
#define NAME_SIZE    65

static const struct {
    uint64_t us;
    const char *seconds;
} bounds[] = {{1000, "0.001"},  {5000, "0.005"},  {10000, "0.01"},     {50000, "0.05"},
              {100000, "0.1"},  {500000, "0.5"},  {1000000, "1"},      {5000000, "5"},
              {10000000, "10"}, {60000000, "60"}, {UINT64_MAX, "+Inf"}};

typedef _Atomic uint64_t count;

/* Calls with the same name and code. */
typedef struct call_counts {
    count key; /* hash of both; 0: free */
    atomic_bool is_named;
    char name[NAME_SIZE];
    char code[GBX_CALL_CODE_SIZE];
    count lasted[GBX_COUNTOF(
        bounds)]; /* at most the bound, and more than the one before */
    count lasted_us;
} call_counts;

struct gbx_metrics {
    call_counts tools[TOOL_PAIRS + 1];
    call_counts servers[SERVER_PAIRS + 1];
};

gbx_metrics *gbx_metrics_new(void)
{
    gbx_metrics *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return m != MAP_FAILED ? m : NULL;
}

/* FNV-1a, with the NUL; names of the configuration do not attack it. */
static uint64_t hash_of(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    while (*text++ != '\0');
    return hash;
}

/* The counts of that pair; a free place becomes its own. Whoever takes the place writes
 * the texts; others find it by the hash. */
static call_counts *find_counts(call_counts *list, size_t last, const char *name,
                                const char *code)
{
    uint64_t key = hash_of(hash_of(UINT64_C(0xcbf29ce484222325), name), code) | 1;

    for (size_t i = 0; i < last; i++) {
        call_counts *c = &list[(key / 2 + i) % last];
        uint64_t found = 0;

        if (atomic_compare_exchange_strong(&c->key, &found, key)) {
            strncpy(c->name, name, sizeof c->name - 1);
            strncpy(c->code, code, sizeof c->code - 1);
            atomic_store(&c->is_named, true);
            return c;
        }
        if (found == key)
            return c;
    }
    atomic_store(&list[last].is_named, true); /* "" */
    return &list[last];
}

void gbx_metrics_add_call(gbx_metrics *m, bool is_ours, const char *name,
                          const char *code, int64_t lasted_ns)
{
    call_counts *c = is_ours ? find_counts(m->tools, TOOL_PAIRS, name, code)
                             : find_counts(m->servers, SERVER_PAIRS, name, code);
    uint64_t lasted_us = (uint64_t)lasted_ns / 1000;
    size_t i = 0;

    while (lasted_us > bounds[i].us)
        i++;
    atomic_fetch_add(&c->lasted_us, lasted_us);
    atomic_fetch_add(&c->lasted[i], 1);
}

/* ---- the text format of Prometheus, 0.0.4 ----------------------------------------- */

void gbx_metrics_put_gauge(gbx_buf *to, const char *name, const char *help,
                           uint64_t value)
{
    (void)gbx_buf_printf(to, "# HELP %s %s\n# TYPE %s gauge\n%s %" PRIu64 "\n", name,
                         help, name, name, value);
}

/* NAME="TEXT". Another process may have written anything as the text, and may still do
 * so: it ends where a label could end. */
static void put_label(gbx_buf *to, const char *name, const char *text, size_t size)
{
    (void)gbx_buf_printf(to, "%s=\"", name);
    for (size_t i = 0; i < size; i++) {
        char c = text[i];

        if (c <= ' ' || c > '~' || c == '"' || c == '\\')
            break;
        (void)gbx_buf_append(to, &c, 1);
    }
    (void)gbx_buf_puts(to, "\"");
}

static void put_calls(gbx_buf *to, const char *family, const char *help,
                      const char *label, call_counts *list, size_t last)
{
    (void)gbx_buf_printf(to, "# HELP %s %s\n# TYPE %s histogram\n", family, help,
                         family);
    for (size_t i = 0; i <= last; i++) {
        call_counts *c = &list[i];
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf labels = {.ceiling = 256};
        uint64_t sum_us;
        uint64_t number = 0;
        int len;

        if (!atomic_load(&c->is_named))
            continue;
        sum_us = atomic_load(&c->lasted_us);
        put_label(&labels, label, c->name, sizeof c->name);
        (void)gbx_buf_puts(&labels, ",");
        put_label(&labels, "code", c->code, sizeof c->code);
        len = (int)labels.len;
        for (size_t k = 0; k < GBX_COUNTOF(bounds); k++) {
            number += atomic_load(&c->lasted[k]);
            (void)gbx_buf_printf(to, "%s_bucket{%.*s,le=\"%s\"} %" PRIu64 "\n", family,
                                 len, (char *)labels.data, bounds[k].seconds, number);
        }
        (void)gbx_buf_printf(to,
                             "%s_sum{%.*s} %" PRIu64 ".%06" PRIu64 "\n"
                             "%s_count{%.*s} %" PRIu64 "\n",
                             family, len, (char *)labels.data, sum_us / 1000000,
                             sum_us % 1000000, family, len, (char *)labels.data,
                             number);
    }
}

void gbx_metrics_print(gbx_metrics *m, gbx_buf *to)
{
    put_calls(to, "glovebox_call_duration_seconds", "Ended calls of tools.", "tool",
              m->tools, TOOL_PAIRS);
    put_calls(to, "glovebox_upstream_call_duration_seconds",
              "Ended calls of tools of servers.", "server", m->servers, SERVER_PAIRS);
}
