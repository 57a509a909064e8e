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

/* Spans below one call. */
#define BELOW_MAX 256

/* Values in OTLP. */
#define KIND_SERVER 2
#define KIND_CLIENT 3

typedef struct ended_span {
    gbx_call_span span;
    gbx_call_outcome end; /* without its tool, which is the span's */
    int64_t lasted_ns;
    int64_t end_ns; /* since 1970 */
} ended_span;

struct gbx_telemetry {
    gbx_metrics *metrics;
    const char *service; /* NULL: no spans */
    char instance[33];
    uint64_t random[32];
    size_t random_left;
    void (*added)(void *user);
    void *added_user;
    uint64_t first; /* number of the oldest span that waits */
    uint64_t next;
    ended_span ring[GBX_SPANS_MAX]; /* a span is at its number, modulo the size */
};

/* Print an id of 16 digits a word. Random bytes are fetched in bulk: a system call for
 * each call is too slow. */
static void make_id(gbx_telemetry *t, char *ret, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        if (t->random_left == 0) {
            (void)!getrandom(t->random, sizeof t->random, 0); /* never so few refused */
            t->random_left = GBX_COUNTOF(t->random);
        }
        (void)snprintf(ret + 16 * i, 17, "%016" PRIx64, t->random[--t->random_left]);
    }
}

gbx_telemetry *gbx_telemetry_new(gbx_metrics *metrics, const char *service)
{
    gbx_telemetry *t = gbx_need(calloc(1, sizeof *t));

    t->metrics = metrics;
    t->service = service;
    make_id(t, t->instance, 2);
    return t;
}

void gbx_telemetry_free(gbx_telemetry *t)
{
    free(t);
}

/* ---- traceparent: VERSION-TRACE-SPAN-FLAGS ------------------------------------------ */

#define TEXT_LEN 55

/* True for exactly len digits, in lower case as the format wants them. */
static bool is_hex(const char *text, size_t len)
{
    return strspn(text, "0123456789abcdef") == len;
}

/* Later versions may append fields, and begin as version 00 does. */
bool gbx_traceparent_read(const char *text, size_t len, gbx_trace_context *ret)
{
    if (len < TEXT_LEN || !is_hex(text, 2) || text[2] != '-' || !is_hex(text + 3, 32) ||
        text[35] != '-' || !is_hex(text + 36, 16) || text[52] != '-' ||
        !is_hex(text + 53, 2) || memcmp(text, "ff", 2) == 0 ||
        strspn(text + 3, "0") == 32 || strspn(text + 36, "0") == 16 ||
        (len > TEXT_LEN && (memcmp(text, "00", 2) == 0 || text[TEXT_LEN] != '-')))
        return false;
    *ret = (gbx_trace_context){.is_sampled = strchr("13579bdf", text[54]) != NULL};
    memcpy(ret->trace, text + 3, 32);
    memcpy(ret->span, text + 36, 16);
    return true;
}

/* ---- a call ----------------------------------------------------------------------- */

/* Begin a span below its own one, or below none. */
static void begin(gbx_call_span *span)
{
    memcpy(span->parent, span->own.span, sizeof span->parent);
    make_id(span->telemetry, span->own.span, 1);
}

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
    if (!span->is_continued) {
        make_id(telemetry, span->own.trace, 2);
        span->own.is_sampled = true;
    }
    begin(span);
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
    if (!span->is_left_out && span->telemetry->service != NULL)
        begin(span); /* else what it calls is below the parent */
}

bool gbx_call_span_print(const gbx_call_span *span, char ret[GBX_TRACEPARENT_SIZE])
{
    if (span->telemetry == NULL || span->telemetry->service == NULL)
        return false;
    (void)snprintf(ret, GBX_TRACEPARENT_SIZE, "00-%s-%s-0%d", span->own.trace,
                   span->own.span, span->own.is_sampled);
    return true;
}

void gbx_call_span_note(gbx_call_span *span, const char *code)
{
    if (span->telemetry != NULL && code != NULL)
        (void)snprintf(span->code, sizeof span->code, "%s", code);
}

static void add(gbx_telemetry *t, const gbx_call_span *span,
                const gbx_call_outcome *end, int64_t lasted_ns)
{
    ended_span *to = &t->ring[t->next++ % GBX_SPANS_MAX];

    if (t->next - t->first > GBX_SPANS_MAX)
        t->first++;
    *to = (ended_span){.span = *span,
                       .end = *end,
                       .lasted_ns = lasted_ns,
                       .end_ns = gbx_clock_wall_ns()};
    if (end->tool != NULL)
        memcpy(to->span.tool, end->tool,
               gbx_utf8_cut(end->tool, strlen(end->tool), sizeof to->span.tool - 1));
    if (t->added != NULL)
        t->added(t->added_user);
}

void gbx_call_span_end(gbx_call_span *span, const gbx_call_outcome *end)
{
    gbx_telemetry *t = span->telemetry;
    int64_t lasted_ns;

    if (t == NULL)
        return;
    lasted_ns = gbx_clock_now_ns() - span->start_ns;
    if (*span->code == '\0')
        gbx_call_span_note(span, end->code != NULL    ? end->code
                                 : end->is_tool_error ? "TOOL_ERROR"
                                 : end->rpc_code != 0 ? "OTHER"
                                                      : NULL);
    span->telemetry = NULL;
    if (t->metrics != NULL)
        gbx_metrics_add_call(t->metrics, end->server == NULL,
                             end->server != NULL ? end->server : span->tool,
                             *span->code != '\0' ? span->code : "OK", lasted_ns);
    if (span->own.is_sampled && !span->is_left_out)
        add(t, span, end, lasted_ns);
}

/* ---- OTLP as JSON ------------------------------------------------------------------ */

/* One text more of a list that has some. */
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

/* The names are those of the conventions of OpenTelemetry for MCP and generative AI,
 * version 0.1.0; what these do not name begins with "glovebox.". */
static void put_attributes(gbx_buf *to, const ended_span *s)
{
    const gbx_call_outcome *end = &s->end;
    char rpc_code[16] = "";

    if (end->rpc_code != 0)
        (void)snprintf(rpc_code, sizeof rpc_code, "%d", end->rpc_code);
    (void)gbx_buf_puts(to, "{\"key\":\"mcp.method.name\",\"value\":{\"stringValue\":"
                           "\"tools/call\"}},{\"key\":\"gen_ai.operation.name\","
                           "\"value\":{\"stringValue\":\"execute_tool\"}}");
    put_attribute(to, "gen_ai.tool.name", s->span.tool);
    put_attribute(to, "mcp.protocol.version", end->version);
    put_attribute(to, "glovebox.server", end->server);
    put_attribute(to, "glovebox.decision", end->decision);
    put_attribute(to, "glovebox.code", s->span.code);
    put_attribute(to, "rpc.response.status_code", rpc_code);
    put_attribute(to, "error.type",
                  end->rpc_code != 0   ? rpc_code
                  : end->is_tool_error ? "tool_error"
                                       : s->span.code);
    if (s->span.calls > 0)
        (void)gbx_buf_printf(to,
                             ",{\"key\":\"glovebox.calls\",\"value\":{\"intValue\":"
                             "\"%" PRIu32 "\"}}",
                             s->span.calls);
}

static void put_span(gbx_buf *to, const ended_span *s)
{
    const gbx_call_span *span = &s->span;
    bool is_root = s->end.server == NULL; /* among our own spans */
    bool has_parent = *span->parent != '\0';
    char name[sizeof span->tool + 16];

    (void)snprintf(name, sizeof name, "tools/call%s%s", *span->tool != '\0' ? " " : "",
                   span->tool);
    (void)gbx_buf_printf(to,
                         "{\"traceId\":\"%s\",\"spanId\":\"%s\",%s%s%s"
                         "\"kind\":%d,\"startTimeUnixNano\":\"%" PRId64
                         "\",\"endTimeUnixNano\":\"%" PRId64 "\",\"name\":",
                         span->own.trace, span->own.span,
                         has_parent ? "\"parentSpanId\":\"" : "", span->parent,
                         has_parent ? "\"," : "", is_root ? KIND_SERVER : KIND_CLIENT,
                         s->end_ns - s->lasted_ns, s->end_ns);
    (void)gbx_json_append_string(to, name, strlen(name));
    (void)gbx_buf_puts(to, ",\"attributes\":[");
    put_attributes(to, s);
    (void)gbx_buf_puts(to, *span->code != '\0' ? "],\"status\":{\"code\":2}}" : "]}");
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
    put_attribute(to, "service.instance.id", t->instance);
    (void)gbx_buf_puts(to, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"glovebox\","
                           "\"version\":\"" GBX_VERSION "\"},\"spans\":[");
    for (uint64_t i = t->first; i < end; i++) {
        if (i > t->first)
            (void)gbx_buf_puts(to, ",");
        put_span(to, &t->ring[i % GBX_SPANS_MAX]);
    }
    (void)gbx_buf_puts(to, "]}]}]}");
    return end;
}

void gbx_telemetry_forget(gbx_telemetry *t, uint64_t spans)
{
    if (spans > t->first)
        t->first = spans;
}
