/* SPDX-License-Identifier: MIT */
/* head - writes the lines before the first event. */
#include "base/clock.h"
#include "base/json.h"
#include "replay/record.h"
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

static void put_names(gbx_buf *to, gbx_span lines)
{
    const char *separator = "";

    while (lines.len > 0) {
        const uint8_t *newline = memchr(lines.data, '\n', lines.len);
        size_t n = newline != NULL ? (size_t)(newline - lines.data) : lines.len;

        (void)gbx_buf_puts(to, separator);
        (void)gbx_json_append_safe(to, lines.data, n);
        separator = ",";
        n += newline != NULL;
        lines = (gbx_span){lines.data + n, lines.len - n};
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

/* ---- public to other files of this folder ------------------------------------------ */

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

/* ---- public to other modules -------------------------------------------- */

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
