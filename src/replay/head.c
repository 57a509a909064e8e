/* SPDX-License-Identifier: MIT */
/*
 * head - the lines before the first event, written and read: each kind once, in a fixed
 * order. The whole head must be read before it is used.
 */
#include "base/clock.h"

#include "base/json.h"
#include "replay/record.h"

#include <stdlib.h>
#include <string.h>

bool gbx_record_next_name(gbx_span *lines, gbx_span *ret)
{
    const uint8_t *newline;

    if (lines->len == 0)
        return false;
    newline = memchr(lines->data, '\n', lines->len);
    *ret = (gbx_span){lines->data,
                      newline != NULL ? (size_t)(newline - lines->data) : lines->len};
    lines->data += ret->len + (newline != NULL);
    lines->len -= ret->len + (newline != NULL);
    return true;
}

static void put_names(gbx_buf *to, gbx_span lines)
{
    const char *separator = "";
    gbx_span one;

    while (gbx_record_next_name(&lines, &one)) {
        (void)gbx_buf_puts(to, separator);
        (void)gbx_json_append_safe(to, one.data, one.len);
        separator = ",";
    }
}

static void put_call(gbx_buf *to, const gbx_record_head *h)
{
    gbx_put_line(to, "call");
    gbx_put_string(to, "form", gbx_record_form((unsigned)h->form));
    gbx_put_true(to, "unguarded", h->no_guard);
    (void)gbx_buf_printf(to, ",\"seed\":\"%llu\",\"now\":%lld",
                         (unsigned long long)h->seed, (long long)h->now_ms);
    gbx_put_digest(to, "entropy", h->entropy);
    gbx_put_text(to, "code", h->code);
    if (h->dataset.data != NULL)
        gbx_put_text(to, "dataset", h->dataset);
    if (h->bindings.data != NULL)
        gbx_put_text(to, "bindings", h->bindings);
    (void)gbx_put_line_end(to);
}

static void put_limits(gbx_buf *to, const gbx_record_head *h)
{
    gbx_put_line(to, "limits");
    gbx_put_uint(to, "timeoutMs", h->limits.timeout_ms);
    gbx_put_uint(to, "cpuMs", h->limits.cpu_ms);
    gbx_put_uint(to, "memoryBytes", h->limits.memory_bytes);
    gbx_put_uint(to, "outputBytes", h->limits.output_bytes);
    gbx_put_uint(to, "codeBytes", h->limits.code_bytes);
    gbx_put_uint(to, "logBytes", h->limits.log_bytes);
    gbx_put_uint(to, "hostCalls", h->limits.host_calls);
    gbx_put_uint(to, "hostCallsAtOnce", h->limits.host_calls_at_once);
    gbx_put_uint(to, "hostOutBytes", h->limits.host_out_bytes);
    gbx_put_uint(to, "hostInBytes", h->limits.host_in_bytes);
    (void)gbx_put_line_end(to);
}

static void put_box(gbx_buf *to, const gbx_record_head *h)
{
    const char *separator = "";
    const char *word;

    gbx_put_line(to, "box");
    gbx_put_string(to, "globals", gbx_record_globals((unsigned)h->globals));
    (void)gbx_buf_puts(to, ",\"capabilities\":[");
    for (unsigned i = 0; (word = gbx_record_capability(i)) != NULL; i++) {
        if ((h->capabilities & 1u << i) == 0)
            continue;
        (void)gbx_buf_printf(to, "%s\"%s\"", separator, word);
        separator = ",";
    }
    (void)gbx_buf_puts(to, "],\"functions\":[");
    put_names(to, h->functions);
    (void)gbx_buf_puts(to, "]");
    if (h->sites.data != NULL) {
        (void)gbx_buf_puts(to, ",\"sites\":[");
        put_names(to, h->sites);
        (void)gbx_buf_puts(to, "]");
    }
    if (h->env.data != NULL) {
        (void)gbx_buf_puts(to, ",\"env\":");
        (void)gbx_buf_append(to, h->env.data, h->env.len);
    }
    if (h->has_policy)
        gbx_put_digest(to, "policy", h->policy);
    (void)gbx_put_line_end(to);
}

static void put_input(gbx_buf *to, const gbx_record_head *h)
{
    gbx_put_line(to, "input");
    gbx_put_uint(to, "size", h->input_size);
    gbx_put_digest(to, "sha256", h->input_sha256);
    if (h->input.data != NULL)
        gbx_put_text(to, "json", h->input);
    (void)gbx_put_line_end(to);
}

static void put_sources(gbx_buf *to, const char *what,
                        const gbx_record_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        const gbx_record_source *s = &sources->list[i];

        gbx_put_line(to, what);
        gbx_put_text(to, "name", s->name);
        gbx_put_uint(to, "size", s->size);
        gbx_put_digest(to, "sha256", s->sha256);
        (void)gbx_put_line_end(to);
    }
}

const char *gbx_record_form(unsigned index)
{
    return index <= GBX_FORM_SCRIPT ? gbx_form_name((gbx_form)index) : NULL;
}

const char *gbx_record_globals(unsigned index)
{
    static const char *const words[] = {"standard", "minimal"};

    return index < GBX_COUNTOF(words) ? words[index] : NULL;
}

const char *gbx_record_capability(unsigned index)
{
    static const char *const words[] = {"console", "timers", "fetch",  "file",
                                        "crypto",  "env",    "helpers"};

    return index < GBX_COUNTOF(words) ? words[index] : NULL;
}

const char *gbx_record_code(unsigned index)
{
    return index <= GBX_CODE_DIVERGED ? gbx_code_name((gbx_code)index) : NULL;
}

uint8_t *gbx_record_chunk(gbx_record_head *head, size_t size)
{
    struct gbx_record_chunk *chunk = malloc(sizeof *chunk + size);

    if (chunk == NULL)
        return NULL;
    chunk->next = head->chunks;
    head->chunks = chunk;
    return chunk->data;
}

bool gbx_record_put_head(gbx_buf *to, const gbx_record_head *head)
{
    gbx_put_line(to, "recording");
    gbx_put_uint(to, "version", GBX_RECORD_VERSION);
    gbx_put_text(to, "glovebox", head->library);
    gbx_put_text(to, "engine", head->engine);
    gbx_put_uint(to, "recordedAt", (uint64_t)gbx_clock_wall_ms());
    (void)gbx_put_line_end(to);
    put_call(to, head);
    put_limits(to, head);
    put_box(to, head);
    if (head->has_input)
        put_input(to, head);
    put_sources(to, "dataset", &head->datasets);
    put_sources(to, "preload", &head->preloads);
    return !to->failed;
}

void gbx_record_head_cleanup(gbx_record_head *head)
{
    while (head->chunks != NULL) {
        struct gbx_record_chunk *next = head->chunks->next;

        free(head->chunks);
        head->chunks = next;
    }
    free(head->datasets.list);
    free(head->preloads.list);
    *head = (gbx_record_head){0};
}

gbx_limits gbx_record_limits(const gbx_record_head *h)
{
    gbx_limits limits = GBX_LIMITS_INIT;

    limits.timeout_ms = (uint32_t)h->limits.timeout_ms;
    limits.cpu_ms = (uint32_t)h->limits.cpu_ms;
    limits.memory_bytes = h->limits.memory_bytes;
    limits.output_bytes = h->limits.output_bytes;
    limits.code_bytes = (uint32_t)h->limits.code_bytes;
    limits.log_bytes = (uint32_t)h->limits.log_bytes;
    limits.host_calls = (uint32_t)h->limits.host_calls;
    limits.host_calls_at_once = (uint32_t)h->limits.host_calls_at_once;
    limits.host_out_bytes = h->limits.host_out_bytes;
    limits.host_in_bytes = h->limits.host_in_bytes;
    return limits;
}

/* ---- reading -------------------------------------------------------------------- */

#define SOURCES_MAX 1024

#define AT(field) offsetof(gbx_record_head, field)

/* The first line. */
typedef struct title {
    uint64_t version;
    gbx_span library;
    gbx_span engine;
} title;

static const gbx_recording_field title_fields[] = {
    {"version", GBX_FIELD_UINT, true, offsetof(title, version), UINT32_MAX, NULL},
    {"glovebox", GBX_FIELD_TEXT, true, offsetof(title, library), 0, NULL},
    {"engine", GBX_FIELD_TEXT, true, offsetof(title, engine), 0, NULL},
    {"recordedAt", GBX_FIELD_IGNORED, false, 0, 0, NULL},
};

static const gbx_recording_field call_fields[] = {
    {"form", GBX_FIELD_WORD, true, AT(form), 0, gbx_record_form},
    {"unguarded", GBX_FIELD_BOOL, false, AT(no_guard), 0, NULL},
    {"seed", GBX_FIELD_DECIMAL, true, AT(seed), 0, NULL},
    {"now", GBX_FIELD_INT, true, AT(now_ms), 0, NULL},
    {"entropy", GBX_FIELD_DIGEST, true, AT(entropy), 0, NULL},
    {"code", GBX_FIELD_TEXT, true, AT(code), 0, NULL},
    {"dataset", GBX_FIELD_TEXT, false, AT(dataset), 0, NULL},
    {"bindings", GBX_FIELD_TEXT, false, AT(bindings), 0, NULL},
};

#define LIMIT(name, field)                                             \
    {                                                                  \
        name, GBX_FIELD_UINT, true, AT(limits.field), UINT32_MAX, NULL \
    }
static const gbx_recording_field limit_fields[] = {
    LIMIT("timeoutMs", timeout_ms),
    LIMIT("cpuMs", cpu_ms),
    {"memoryBytes", GBX_FIELD_UINT, true, AT(limits.memory_bytes), UINT64_MAX, NULL},
    LIMIT("outputBytes", output_bytes),
    LIMIT("codeBytes", code_bytes),
    LIMIT("logBytes", log_bytes),
    LIMIT("hostCalls", host_calls),
    LIMIT("hostCallsAtOnce", host_calls_at_once),
    LIMIT("hostOutBytes", host_out_bytes),
    LIMIT("hostInBytes", host_in_bytes),
};
#undef LIMIT

static const gbx_recording_field box_fields[] = {
    {"globals", GBX_FIELD_WORD, true, AT(globals), 0, gbx_record_globals},
    {"capabilities", GBX_FIELD_WORDS, true, AT(capabilities), 0, gbx_record_capability},
    {"functions", GBX_FIELD_NAMES, true, AT(functions), 0, NULL},
    {"sites", GBX_FIELD_NAMES, false, AT(sites), 0, NULL},
    {"env", GBX_FIELD_VALUES, false, AT(env), 0, NULL},
    {"policy", GBX_FIELD_DIGEST, false, AT(policy), 0, NULL},
};

static const gbx_recording_field input_fields[] = {
    {"size", GBX_FIELD_UINT, true, AT(input_size), UINT32_MAX, NULL},
    {"sha256", GBX_FIELD_DIGEST, true, AT(input_sha256), 0, NULL},
    {"json", GBX_FIELD_TEXT, false, AT(input), 0, NULL},
};

static const gbx_recording_field source_fields[] = {
    {"name", GBX_FIELD_TEXT, true, offsetof(gbx_record_source, name), 0, NULL},
    {"size", GBX_FIELD_UINT, true, offsetof(gbx_record_source, size), UINT64_MAX, NULL},
    {"sha256", GBX_FIELD_DIGEST, true, offsetof(gbx_record_source, sha256), 0, NULL},
};

/* Reading a head; `line` is the current one. */
typedef struct reading {
    gbx_record_cursor *cursor;
    gbx_record_head *head;
    gbx_recording_line line;
    bool has_line; /* false: end of text */
    gbx_error *err;
} reading;

static gbx_status nomem(gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the recording");
}

/* Go to the next line. */
static gbx_status advance(reading *r)
{
    gbx_record_cursor *c = r->cursor;
    gbx_status status;

    r->line.number = c->line;
    r->has_line =
        gbx_recording_line_next(c->text, c->len, &c->at, &r->line, &status, r->err);
    return status;
}

static gbx_status fill(reading *r, const gbx_recording_field *fields, size_t count,
                       void *into)
{
    uint8_t *room = gbx_record_chunk(r->head, r->line.view.len);

    if (room == NULL)
        return nomem(r->err);
    r->cursor->line = r->line.number;
    return gbx_recording_line_read(&r->line, fields, count, into, room, r->err);
}

/* The line must exist and be `what`. */
static gbx_status expect(reading *r, const char *what,
                         const gbx_recording_field *fields, size_t count, void *into)
{
    gbx_status status = advance(r);

    if (status != GBX_OK)
        return status;
    if (!r->has_line)
        return gbx_fail_at(r->err, GBX_E_DATA, r->cursor->line + 1, 1,
                           "the recording ends before its line \"%s\"", what);
    if (!gbx_recording_line_is(&r->line, what))
        return gbx_recording_line_refuse(&r->line, r->line.what.at, r->err,
                                         "expected the line \"%s\"", what);
    return fill(r, fields, count, into);
}

static gbx_status read_title(reading *r)
{
    title t = {0};
    gbx_status status =
        expect(r, "recording", title_fields, GBX_COUNTOF(title_fields), &t);

    if (status == GBX_OK && t.version != GBX_RECORD_VERSION)
        status = gbx_recording_line_refuse(&r->line, r->line.view.at, r->err,
                                           "version %llu is not known here, %u is",
                                           (unsigned long long)t.version,
                                           GBX_RECORD_VERSION);
    r->head->library = t.library;
    r->head->engine = t.engine;
    return status;
}

static gbx_status read_source(reading *r, gbx_record_sources *to)
{
    gbx_record_source *grown;

    if (to->count == SOURCES_MAX)
        return gbx_recording_line_refuse(&r->line, r->line.view.at, r->err,
                                         "there are more than %d of these",
                                         SOURCES_MAX);
    grown = realloc(to->list, (to->count + 1) * sizeof *to->list);
    if (grown == NULL)
        return nomem(r->err);
    to->list = grown;
    grown[to->count] = (gbx_record_source){0};
    return fill(r, source_fields, GBX_COUNTOF(source_fields), &grown[to->count++]);
}

static gbx_status read_input(reading *r)
{
    gbx_record_head *h = r->head;
    uint8_t digest[GBX_SHA256_SIZE];
    gbx_status status = fill(r, input_fields, GBX_COUNTOF(input_fields), h);

    h->has_input = true;
    if (status != GBX_OK || h->input.data == NULL)
        return status;
    gbx_sha256_of(h->input.data, h->input.len, digest);
    if (h->input.len != h->input_size ||
        memcmp(digest, h->input_sha256, sizeof digest) != 0)
        return gbx_recording_line_refuse(&r->line, r->line.view.at, r->err,
                                         "'json' is not what 'size' and 'sha256' say");
    return GBX_OK;
}

/* Input, datasets, preloads: in this order; each may be missing. */
static gbx_status read_data(reading *r)
{
    gbx_status status = advance(r);

    if (status == GBX_OK && r->has_line && gbx_recording_line_is(&r->line, "input")) {
        status = read_input(r);
        if (status == GBX_OK)
            status = advance(r);
    }
    while (status == GBX_OK && r->has_line &&
           gbx_recording_line_is(&r->line, "dataset")) {
        status = read_source(r, &r->head->datasets);
        if (status == GBX_OK)
            status = advance(r);
    }
    while (status == GBX_OK && r->has_line &&
           gbx_recording_line_is(&r->line, "preload")) {
        status = read_source(r, &r->head->preloads);
        if (status == GBX_OK)
            status = advance(r);
    }
    if (r->has_line) /* the first event: it will be read again */
        r->cursor->at = (size_t)(r->line.view.at - r->cursor->text);
    return status;
}

gbx_status gbx_record_head_read(gbx_record_cursor *c, gbx_record_head *ret,
                                gbx_error *reterr)
{
    reading r = {.cursor = c, .head = ret, .err = reterr};
    gbx_status status;

    *ret = (gbx_record_head){0};
    status = read_title(&r);
    if (status == GBX_OK)
        status = expect(&r, "call", call_fields, GBX_COUNTOF(call_fields), ret);
    if (status == GBX_OK)
        status = expect(&r, "limits", limit_fields, GBX_COUNTOF(limit_fields), ret);
    if (status == GBX_OK)
        status = expect(&r, "box", box_fields, GBX_COUNTOF(box_fields), ret);
    return status == GBX_OK ? read_data(&r) : status;
}
