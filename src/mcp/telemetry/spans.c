/* SPDX-License-Identifier: MIT */
/* spans - calls while they run, and a ring of ended ones that wait to be sent. A span is
 * written as JSON only when it is sent, so that it costs its call little. */
#include "mcp/telemetry/telemetry.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

#include <glovebox/version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* Spans below one call. */
#define BELOW_MAX 256

/* Values in OTLP. */
#define KIND_SERVER     2
#define KIND_CLIENT     3
#define FLAG_HAS_REMOTE 0x100 /* the next one is known */
#define FLAG_IS_REMOTE  0x200 /* the parent is in another process */
#define FLAG_SAMPLED    1

/* An ended call; see gbx_call_span and gbx_call_outcome. */
typedef struct ended_span {
    gbx_trace_context own;
    uint8_t parent[8];
    bool has_parent;
    bool is_root; /* among our own spans */
    int64_t start_ns;
    int64_t end_ns; /* both since 1970 */
    uint32_t calls;
    int rpc_code;
    bool is_tool_error;
    const char *code;
    const char *transport;
    const char *decision;
    char version[16];
    char server[65];
    char tool[129];
} ended_span;

struct gbx_telemetry {
    gbx_metrics *metrics;
    char *service; /* NULL: no spans */
    char *session;
    const char *transport;
    uint8_t instance[16];
    uint8_t random[256];
    size_t random_left;
    void (*added)(void *user);
    void *added_user;
    uint64_t first; /* number of the oldest span that waits */
    uint64_t next;
    ended_span ring[GBX_SPANS_MAX]; /* a span is at its number, modulo the size */
};

/* Random bytes are fetched in bulk: a system call for each call is too slow. */
static void make_id(gbx_telemetry *t, uint8_t *ret, size_t len)
{
    if (t->random_left < len) {
        (void)!getrandom(t->random, sizeof t->random, 0); /* so few are never refused */
        t->random_left = sizeof t->random;
    }
    t->random_left -= len;
    memcpy(ret, t->random + t->random_left, len);
}

gbx_telemetry *gbx_telemetry_new(const gbx_telemetry_options *options)
{
    gbx_telemetry *t = gbx_need(calloc(1, sizeof *t));

    t->metrics = options->metrics;
    t->service = options->service != NULL ? gbx_need(strdup(options->service)) : NULL;
    t->session = gbx_need(strdup(options->session));
    t->transport = options->transport;
    make_id(t, t->instance, sizeof t->instance);
    return t;
}

void gbx_telemetry_free(gbx_telemetry *t)
{
    if (t == NULL)
        return;
    free(t->service);
    free(t->session);
    free(t);
}

/* ---- a call ----------------------------------------------------------------------- */

void gbx_call_span_begin(gbx_call_span *span, gbx_telemetry *telemetry,
                         const char *tool, gbx_view traceparent)
{
    *span = (gbx_call_span){.telemetry = telemetry};
    if (telemetry == NULL)
        return;
    span->start_ns = gbx_clock_now_ns();
    (void)snprintf(span->tool, sizeof span->tool, "%s", tool);
    if (telemetry->service == NULL)
        return;
    /* An escape in the string is not part of the format. */
    span->is_continued =
        gbx_view_kind(traceparent) == '"' &&
        gbx_traceparent_read(traceparent.at + 1, traceparent.len - 2, &span->own);
    span->has_parent = span->is_continued;
    memcpy(span->parent, span->own.span, sizeof span->parent);
    if (!span->is_continued) {
        make_id(span->telemetry, span->own.trace, sizeof span->own.trace);
        span->own.is_sampled = true;
    }
    make_id(span->telemetry, span->own.span, sizeof span->own.span);
}

void gbx_call_span_begin_below(gbx_call_span *span, gbx_call_span *parent)
{
    *span = (gbx_call_span){0};
    if (parent == NULL || parent->telemetry == NULL)
        return;
    span->telemetry = parent->telemetry;
    span->start_ns = gbx_clock_now_ns();
    span->is_continued = parent->is_continued;
    span->own = parent->own;
    span->is_left_out = ++parent->calls > BELOW_MAX;
    if (span->is_left_out || span->telemetry->service == NULL)
        return; /* what it calls is below the parent */
    span->has_parent = true;
    memcpy(span->parent, parent->own.span, sizeof span->parent);
    make_id(span->telemetry, span->own.span, sizeof span->own.span);
}

bool gbx_call_span_print(const gbx_call_span *span, char ret[GBX_TRACEPARENT_SIZE])
{
    if (span->telemetry == NULL || span->telemetry->service == NULL)
        return false;
    gbx_traceparent_print(&span->own, ret);
    return true;
}

void gbx_call_span_note(gbx_call_span *span, const char *code)
{
    if (span->telemetry != NULL && code != NULL)
        span->code = gbx_call_codes[gbx_call_code_index(code)];
}

static int64_t wall_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void copy_name(char *to, size_t size, const char *name)
{
    size_t len = name != NULL ? gbx_utf8_cut(name, strlen(name), size - 1) : 0;

    memcpy(to, name != NULL ? name : "", len);
    to[len] = '\0';
}

static void note_fate(const gbx_telemetry *t, bool were_sent, uint64_t number)
{
    if (t->metrics != NULL)
        gbx_metrics_add_spans(t->metrics, were_sent, number);
}

static void add(gbx_telemetry *t, const gbx_call_span *span,
                const gbx_call_outcome *end, const char *code, int64_t lasted_ns)
{
    ended_span *to = &t->ring[t->next++ % GBX_SPANS_MAX];
    int64_t now_ns = wall_ns();

    if (t->next - t->first > GBX_SPANS_MAX) {
        t->first++;
        note_fate(t, false, 1);
    }
    *to = (ended_span){.own = span->own,
                       .has_parent = span->has_parent,
                       .is_root = end->server == NULL,
                       .start_ns = now_ns - lasted_ns,
                       .end_ns = now_ns,
                       .calls = span->calls,
                       .rpc_code = end->rpc_code,
                       .is_tool_error = end->is_tool_error,
                       .code = code,
                       .transport = end->transport,
                       .decision = end->decision};
    memcpy(to->parent, span->parent, sizeof to->parent);
    copy_name(to->version, sizeof to->version, end->version);
    copy_name(to->server, sizeof to->server, end->server);
    copy_name(to->tool, sizeof to->tool, to->is_root ? span->tool : end->tool);
    if (t->added != NULL)
        t->added(t->added_user);
}

void gbx_call_span_end(gbx_call_span *span, const gbx_call_outcome *end)
{
    gbx_telemetry *t = span->telemetry;
    const char *code = span->code != NULL ? span->code
                       : end->code != NULL
                           ? gbx_call_codes[gbx_call_code_index(end->code)]
                       : end->is_tool_error ? "TOOL_ERROR"
                       : end->rpc_code != 0 ? "OTHER"
                                            : NULL;

    int64_t lasted_ns = gbx_clock_now_ns() - span->start_ns;

    span->telemetry = NULL;
    if (t == NULL)
        return;
    if (t->metrics != NULL)
        gbx_metrics_add_call(t->metrics, end->server == NULL,
                             end->server != NULL ? end->server : span->tool, code,
                             lasted_ns);
    if (span->own.is_sampled && !span->is_left_out)
        add(t, span, end, code, lasted_ns);
}

/* ---- OTLP as JSON ------------------------------------------------------------------ */

static void put_attribute(gbx_buf *to, const char *key, const char *value)
{
    if (value == NULL || *value == '\0')
        return;
    (void)gbx_buf_puts(to, ",{\"key\":\"");
    (void)gbx_buf_puts(to, key);
    (void)gbx_buf_puts(to, "\",\"value\":{\"stringValue\":");
    (void)gbx_json_append_string(to, value, strlen(value));
    (void)gbx_buf_puts(to, "}}");
}

static void put_count(gbx_buf *to, const char *key, uint32_t count)
{
    if (count > 0)
        (void)gbx_buf_printf(to,
                             ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRIu32
                             "\"}}",
                             key, count);
}

static void put_id(gbx_buf *to, const char *member, const uint8_t *id, size_t len)
{
    (void)gbx_buf_puts(to, member);
    gbx_hex_append(to, id, len);
}

/* The names are those of the conventions of OpenTelemetry for MCP and generative AI,
 * version 0.1.0; what these do not name begins with "glovebox.". */
static void put_attributes(gbx_buf *to, const gbx_telemetry *t, const ended_span *s)
{
    char rpc_code[16];

    (void)snprintf(rpc_code, sizeof rpc_code, "%d", s->rpc_code);
    (void)gbx_buf_puts(to, "{\"key\":\"mcp.method.name\",\"value\":{\"stringValue\":"
                           "\"tools/call\"}},{\"key\":\"gen_ai.operation.name\","
                           "\"value\":{\"stringValue\":\"execute_tool\"}}");
    put_attribute(to, "gen_ai.tool.name", s->tool);
    put_attribute(to, "mcp.protocol.version", s->version);
    put_attribute(to, "network.transport", s->is_root ? t->transport : s->transport);
    if (s->is_root)
        put_attribute(to, "mcp.session.id", t->session);
    put_attribute(to, "glovebox.server", s->server);
    put_attribute(to, "glovebox.decision", s->decision);
    put_attribute(to, "glovebox.code", s->code);
    if (s->rpc_code != 0)
        put_attribute(to, "rpc.response.status_code", rpc_code);
    if (s->code != NULL)
        put_attribute(to, "error.type",
                      s->rpc_code != 0   ? rpc_code
                      : s->is_tool_error ? "tool_error"
                                         : s->code);
    put_count(to, "glovebox.calls", s->calls);
    put_count(to, "glovebox.calls.left_out",
              s->calls > BELOW_MAX ? s->calls - BELOW_MAX : 0);
}

static void put_span(gbx_buf *to, const gbx_telemetry *t, const ended_span *s)
{
    put_id(to, "{\"traceId\":\"", s->own.trace, sizeof s->own.trace);
    put_id(to, "\",\"spanId\":\"", s->own.span, sizeof s->own.span);
    if (s->has_parent)
        put_id(to, "\",\"parentSpanId\":\"", s->parent, sizeof s->parent);
    (void)gbx_buf_puts(to, "\",\"name\":");
    if (s->tool[0] != '\0') {
        char name[sizeof s->tool + 16];
        int len = snprintf(name, sizeof name, "tools/call %s", s->tool);

        (void)gbx_json_append_string(to, name, (size_t)len);
    } else {
        (void)gbx_buf_puts(to, "\"tools/call\"");
    }
    (void)gbx_buf_printf(to,
                         ",\"flags\":%d,\"kind\":%d,\"startTimeUnixNano\":\"%" PRId64
                         "\",\"endTimeUnixNano\":\"%" PRId64 "\",\"attributes\":[",
                         FLAG_SAMPLED | FLAG_HAS_REMOTE |
                             (s->is_root && s->has_parent ? FLAG_IS_REMOTE : 0),
                         s->is_root ? KIND_SERVER : KIND_CLIENT, s->start_ns,
                         s->end_ns);
    put_attributes(to, t, s);
    (void)gbx_buf_puts(to, s->code != NULL ? "],\"status\":{\"code\":2}}" : "]}");
}

void gbx_telemetry_on_span(gbx_telemetry *t, void (*added)(void *user), void *user)
{
    t->added = added;
    t->added_user = user;
}

size_t gbx_telemetry_waiting(const gbx_telemetry *t)
{
    return (size_t)(t->next - t->first);
}

uint64_t gbx_telemetry_put(gbx_telemetry *t, size_t max, gbx_buf *to)
{
    uint64_t end = t->next - t->first > max ? t->first + max : t->next;

    (void)gbx_buf_puts(to,
                       "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":"
                       "\"service.name\",\"value\":{\"stringValue\":");
    (void)gbx_json_append_string(to, t->service, strlen(t->service));
    (void)gbx_buf_puts(to, "}}");
    put_attribute(to, "service.version", GBX_VERSION);
    put_id(to, ",{\"key\":\"service.instance.id\",\"value\":{\"stringValue\":\"",
           t->instance, sizeof t->instance);
    (void)gbx_buf_puts(to, "\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"glovebox\","
                           "\"version\":\"" GBX_VERSION "\"},\"spans\":[");
    for (uint64_t i = t->first; i < end; i++) {
        if (i > t->first)
            (void)gbx_buf_puts(to, ",");
        put_span(to, t, &t->ring[i % GBX_SPANS_MAX]);
    }
    (void)gbx_buf_puts(to, "]}]}]}");
    return end;
}

void gbx_telemetry_forget(gbx_telemetry *t, uint64_t spans, bool was_sent)
{
    if (spans <= t->first)
        return;
    note_fate(t, was_sent, spans - t->first);
    t->first = spans;
}
