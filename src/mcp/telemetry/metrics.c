/* SPDX-License-Identifier: MIT */
/* metrics - counts of all processes of a server, in memory that they share. Each count only
 * grows, by one atomic addition, so a process that is killed leaves nothing to repair. */
#include "mcp/telemetry/telemetry.h"

#include "audit/audit.h"

#include <glovebox/status.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* ---- codes ----------------------------------------------------------------------- */

/* clang-format off */
const char *const gbx_call_codes[GBX_CALL_CODES] = {
    "OK",
#define XX(name, number, exit, text) #name,
    GBX_CODE_MAP(XX)
#undef XX
    "ARTIFACT_LIMIT", "CALL_LIMIT", "CANCELLED", "DENIED", "INPUT_TOO_LARGE",
    "INVALID_ARGS", "NEEDS_APPROVAL", "NOT_FOUND", "TOOL_ERROR", "UPSTREAM_BUSY",
    "UPSTREAM_CHANGED", "UPSTREAM_EXIT", "UPSTREAM_INPUT", "UPSTREAM_OPEN",
    "UPSTREAM_PROTOCOL", "UPSTREAM_REFUSED", "UPSTREAM_START", "UPSTREAM_TIMEOUT",
    "OTHER"};
/* clang-format on */

size_t gbx_call_code_index(const char *code)
{
    size_t i = 0;

    while (code != NULL && i < GBX_CALL_CODES - 1 &&
           strcmp(gbx_call_codes[i], code) != 0)
        i++;
    return i;
}

/* ---- counts ---------------------------------------------------------------------- */

/* Tools of ours and servers with counts of their own; all further ones share the last. */
#define TOOLS_MAX   8
#define SERVERS_MAX 64
#define NAME_LEN    64
#define STATUS_MAX  600

static const struct {
    uint64_t us;
    const char *seconds;
} bounds[] = {{1000, "0.001"},  {5000, "0.005"},  {10000, "0.01"},     {50000, "0.05"},
              {100000, "0.1"},  {500000, "0.5"},  {1000000, "1"},      {5000000, "5"},
              {10000000, "10"}, {60000000, "60"}, {UINT64_MAX, "+Inf"}};
#define BOUNDS (sizeof bounds / sizeof bounds[0])

typedef _Atomic uint64_t count;

/* Calls of one tool, or of one server's tools. */
typedef struct call_counts {
    count key; /* hash of the name; 0: free */
    atomic_bool is_named;
    char name[NAME_LEN + 1];
    count codes[GBX_CALL_CODES];
    count lasted[BOUNDS]; /* at most the bound, and more than the one before */
    count lasted_us;
} call_counts;

struct gbx_metrics {
    call_counts tools[TOOLS_MAX + 1];
    call_counts servers[SERVERS_MAX + 1];
    count spans[2]; /* dropped, sent */
    count events[GBX_AUDIT_EVENT_COUNT];
    count statuses[STATUS_MAX];
};

gbx_metrics *gbx_metrics_new(void)
{
    gbx_metrics *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return m != MAP_FAILED ? m : NULL;
}

/* FNV-1a; names of the configuration are no attack on it. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash != 0 ? hash : 1;
}

/* The counts of that name; a free place becomes its own. Whoever takes the place writes the
 * name; others find it by the hash. */
static call_counts *find_counts(call_counts *list, size_t last, const char *name)
{
    uint64_t key = hash_of(name);

    for (size_t i = 0; i < last; i++) {
        uint64_t free_key = 0;

        if (atomic_load(&list[i].key) == key)
            return &list[i];
        if (atomic_compare_exchange_strong(&list[i].key, &free_key, key)) {
            strncpy(list[i].name, name, NAME_LEN);
            atomic_store(&list[i].is_named, true);
            return &list[i];
        }
        if (free_key == key)
            return &list[i];
    }
    atomic_store(&list[last].is_named, true); /* "" */
    return &list[last];
}

void gbx_metrics_add_call(gbx_metrics *m, bool is_ours, const char *name,
                          const char *code, int64_t lasted_ns)
{
    call_counts *c = is_ours ? find_counts(m->tools, TOOLS_MAX, name)
                             : find_counts(m->servers, SERVERS_MAX, name);
    uint64_t lasted_us = (uint64_t)lasted_ns / 1000;
    size_t i = 0;

    while (lasted_us > bounds[i].us)
        i++;
    atomic_fetch_add(&c->codes[gbx_call_code_index(code)], 1);
    atomic_fetch_add(&c->lasted[i], 1);
    atomic_fetch_add(&c->lasted_us, lasted_us);
}

void gbx_metrics_add_spans(gbx_metrics *m, bool were_sent, uint64_t number)
{
    atomic_fetch_add(&m->spans[were_sent], number);
}

void gbx_metrics_add_status(gbx_metrics *m, int status)
{
    if (status >= 0 && status < STATUS_MAX)
        atomic_fetch_add(&m->statuses[status], 1);
}

void gbx_metrics_on_event(void *user, const gbx_event *event)
{
    gbx_metrics *m = user;

    for (size_t i = 0; i < GBX_AUDIT_EVENT_COUNT; i++)
        if (strcmp(event->name, gbx_audit_name((gbx_audit_event)i)) == 0)
            atomic_fetch_add(&m->events[i], 1);
}

/* ---- the text format of Prometheus, 0.0.4 ----------------------------------------- */

static void put_family(gbx_buf *to, const char *name, const char *type,
                       const char *help)
{
    (void)gbx_buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void gbx_metrics_put_gauge(gbx_buf *to, const char *name, const char *help,
                           uint64_t value)
{
    put_family(to, name, "gauge", help);
    (void)gbx_buf_printf(to, "%s %" PRIu64 "\n", name, value);
}

static void put_labelled(gbx_buf *to, const char *name, const char *labels,
                         const char *value, count *number)
{
    uint64_t n = atomic_load(number);

    if (n > 0)
        (void)gbx_buf_printf(to, "%s{%s\"%s\"} %" PRIu64 "\n", name, labels, value, n);
}

/* label="NAME". It is escaped: no process can break the text by its name. */
static void print_label(char *to, const char *label, const call_counts *c)
{
    to += sprintf(to, "%.16s=\"", label);
    for (size_t i = 0; i < NAME_LEN && c->name[i] != '\0'; i++) {
        if (strchr("\\\"\n", c->name[i]) != NULL)
            *to++ = '\\';
        *to++ = c->name[i] == '\n' ? 'n' : c->name[i];
    }
    memcpy(to, "\"", 2);
}

static void put_times(gbx_buf *to, const char *family, const char *label,
                      call_counts *c)
{
    uint64_t sum_us = atomic_load(&c->lasted_us);
    uint64_t number = 0;

    for (size_t i = 0; i < BOUNDS; i++) {
        number += atomic_load(&c->lasted[i]);
        (void)gbx_buf_printf(to, "%s_bucket{%s,le=\"%s\"} %" PRIu64 "\n", family, label,
                             bounds[i].seconds, number);
    }
    (void)gbx_buf_printf(to,
                         "%s_sum{%s} %" PRIu64 ".%06" PRIu64 "\n"
                         "%s_count{%s} %" PRIu64 "\n",
                         family, label, sum_us / 1000000, sum_us % 1000000, family,
                         label, number);
}

static void put_calls(gbx_buf *to, call_counts *list, size_t last, const char *name,
                      const char *total, const char *times)
{
    char label[2 * NAME_LEN + 32];

    put_family(to, total, "counter", "Ended calls of tools, by result.");
    for (size_t i = 0; i <= last; i++) {
        if (!atomic_load(&list[i].is_named))
            continue;
        print_label(label, name, &list[i]);
        (void)strcat(label, ",code=");
        for (size_t code = 0; code < GBX_CALL_CODES; code++)
            put_labelled(to, total, label, gbx_call_codes[code], &list[i].codes[code]);
    }
    put_family(to, times, "histogram", "How long they lasted.");
    for (size_t i = 0; i <= last; i++) {
        if (!atomic_load(&list[i].is_named))
            continue;
        print_label(label, name, &list[i]);
        put_times(to, times, label, &list[i]);
    }
}

void gbx_metrics_print(gbx_metrics *m, gbx_buf *to)
{
    char status[16];

    put_calls(to, m->tools, TOOLS_MAX, "tool", "glovebox_calls_total",
              "glovebox_call_duration_seconds");
    put_calls(to, m->servers, SERVERS_MAX, "server", "glovebox_upstream_calls_total",
              "glovebox_upstream_call_duration_seconds");
    put_family(to, "glovebox_events_total", "counter",
               "Events of workers and refusals of the sandbox.");
    for (size_t i = 0; i < GBX_AUDIT_EVENT_COUNT; i++)
        put_labelled(to, "glovebox_events_total",
                     "event=", gbx_audit_name((gbx_audit_event)i), &m->events[i]);
    put_family(to, "glovebox_http_responses_total", "counter", "Answers by status.");
    for (int i = 0; i < STATUS_MAX; i++) {
        (void)snprintf(status, sizeof status, "%d", i);
        put_labelled(to, "glovebox_http_responses_total", "status=", status,
                     &m->statuses[i]);
    }
    put_family(to, "glovebox_spans_total", "counter", "Spans of traces.");
    put_labelled(to, "glovebox_spans_total", "fate=", "dropped", &m->spans[0]);
    put_labelled(to, "glovebox_spans_total", "fate=", "sent", &m->spans[1]);
}
