/* SPDX-License-Identifier: MIT */
/* compare - compares recorded and actual events, and describes how they differ. */
#include "base/json.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

/* Of one text in a description; the rest is omitted. */
#define SHOWN_MAX 2000u

static void put_cut(gbx_buf *to, gbx_span text, uint64_t size)
{
    size_t len = text.len < SHOWN_MAX ? text.len : SHOWN_MAX;

    while (len > 0 && len < text.len && (text.data[len] & 0xC0) == 0x80)
        len--;
    (void)gbx_buf_append(to, text.data, len);
    if (len < size)
        (void)gbx_buf_printf(to, "... (%llu bytes)", (unsigned long long)size);
}

static void put_digest(gbx_buf *to, const uint8_t *digest)
{
    char text[GBX_SHA256_HEX_SIZE];

    gbx_sha256_print(digest, text);
    (void)gbx_buf_printf(to, ", sha256 %s", text);
}

static void put_end(gbx_buf *to, const gbx_record_end *end)
{
    (void)gbx_buf_printf(to, "the end: %s", gbx_code_name((gbx_code)end->code));
    if (end->value.data != NULL) {
        (void)gbx_buf_puts(to, ", ");
        put_cut(to, end->value, end->value_size);
    } else if (end->code != GBX_CODE_VALUE) {
        (void)gbx_buf_puts(to, ", ");
        put_cut(to, end->error, end->error.len);
    } else {
        (void)gbx_buf_puts(to, ", undefined");
    }
}

static bool spans_equal(gbx_span a, gbx_span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static bool codes_equal(const gbx_record_end *a, const gbx_record_end *b)
{
    return a->code == b->code;
}

static bool values_equal(const gbx_record_end *a, const gbx_record_end *b)
{
    return (a->value.data == NULL) == (b->value.data == NULL) &&
           a->value_size == b->value_size &&
           memcmp(a->value_sha256, b->value_sha256, sizeof a->value_sha256) == 0;
}

/* The recorded one comes first; it may be cut. */
static bool errors_equal(const gbx_record_end *a, const gbx_record_end *b)
{
    return spans_equal(a->error, gbx_record_kept(b->error)) && a->line == b->line &&
           a->column == b->column;
}

static bool stacks_equal(const gbx_record_end *a, const gbx_record_end *b)
{
    return spans_equal(a->stack, gbx_record_kept(b->stack));
}

static bool logs_equal(const gbx_record_end *a, const gbx_record_end *b)
{
    return a->logs == b->logs && a->logs_cut == b->logs_cut &&
           memcmp(a->logs_sha256, b->logs_sha256, sizeof a->logs_sha256) == 0;
}

static void put_value(gbx_buf *to, const gbx_record_end *end)
{
    if (end->value.data == NULL) {
        (void)gbx_buf_puts(to, "undefined");
        return;
    }
    put_cut(to, end->value, end->value_size);
    if (end->value_size > SHOWN_MAX)
        put_digest(to, end->value_sha256);
}

static void put_error(gbx_buf *to, const gbx_record_end *end)
{
    put_cut(to, end->error, end->error.len);
    (void)gbx_buf_printf(to, " (line %llu, column %llu)", (unsigned long long)end->line,
                         (unsigned long long)end->column);
}

static void put_stack(gbx_buf *to, const gbx_record_end *end)
{
    put_cut(to, end->stack, end->stack.len);
}

static void put_logs(gbx_buf *to, const gbx_record_end *end)
{
    (void)gbx_buf_printf(to, "%llu lines", (unsigned long long)end->logs);
    put_digest(to, end->logs_sha256);
}

/* All fields of an end, most telling first. */
static const struct {
    bool (*equal)(const gbx_record_end *a, const gbx_record_end *b);
    void (*put)(gbx_buf *to, const gbx_record_end *end);
    const char *what;
} parts[] = {
    {codes_equal, put_end, "the call ends in another way"},
    {values_equal, put_value, "the value is another"},
    {errors_equal, put_error, "the error is another"},
    {stacks_equal, put_stack, "the stack is another"},
    {logs_equal, put_logs, "the console lines are others"},
};

/* ---- public to other files of this folder ------------------------------------------ */

void gbx_describe_request(const gbx_record_request *r, gbx_buf *to)
{
    (void)gbx_buf_append(to, r->name.data, r->name.len);
    (void)gbx_buf_puts(to, " ");
    put_cut(to, r->args, r->args_size);
    if (r->body_size > 0)
        (void)gbx_buf_printf(to, " with %llu bytes", (unsigned long long)r->body_size);
}

void gbx_describe_digest(const gbx_record_request *r, gbx_buf *to)
{
    put_digest(to, r->sha256);
}

void gbx_describe_event(const gbx_record_event *e, gbx_buf *to)
{
    switch (e->kind) {
    case GBX_RECORD_REQUEST: gbx_describe_request(&e->request, to); break;
    case GBX_RECORD_CANCEL:
        (void)gbx_buf_printf(to, "the request with id %llu is cancelled",
                             (unsigned long long)e->id);
        break;
    case GBX_RECORD_WAIT:
        if (e->ms == GBX_WAIT_MS_MAX)
            (void)gbx_buf_puts(to, "a wait for an answer");
        else
            (void)gbx_buf_printf(to, "a wait for an answer, or %llu ms",
                                 (unsigned long long)e->ms);
        break;
    case GBX_RECORD_ANSWER:
    case GBX_RECORD_WAKE: (void)gbx_buf_puts(to, "the code goes on"); break;
    case GBX_RECORD_END: put_end(to, &e->end); break;
    }
}

void gbx_replayer_diverge(gbx_run *run, const char *what, uint32_t host_call,
                          gbx_buf *recorded, gbx_buf *came)
{
    gbx_result *r = run->result;
    char message[320];

    r->replay.how = GBX_REPLAYED_DIVERGED;
    r->replay.what = what;
    r->replay.host_call = host_call;
    r->replay.line = run->replayer->next.line;
    gbx_result_set_replay(r, GBX_REPLAY_RECORDED,
                          (gbx_span){recorded->data, recorded->len});
    gbx_result_set_replay(r, GBX_REPLAY_CAME, (gbx_span){came->data, came->len});
    gbx_buf_cleanup(recorded);
    gbx_buf_cleanup(came);
    run->replayer->is_over = true;
    r->location = (gbx_location){.frame = ""};
    if (host_call > 0)
        (void)snprintf(message, sizeof message,
                       "the replay diverged at host call %u: %s", host_call, what);
    else
        (void)snprintf(message, sizeof message,
                       "the replay diverged after %u host calls: %s",
                       r->replay.host_calls, what);
    (void)gbx_result_fail(r, GBX_CODE_DIVERGED, message,
                          "code, data, preloads and the version of the JavaScript "
                          "engine must be those of the recording");
}

bool gbx_request_equals(const gbx_record_request *a, const gbx_record_request *b)
{
    return spans_equal(a->name, b->name) && a->args_size == b->args_size &&
           a->body_size == b->body_size &&
           memcmp(a->sha256, b->sha256, sizeof a->sha256) == 0;
}

void gbx_replayer_compare_ends(gbx_run *run)
{
    const gbx_record_end *recorded = &run->replayer->next.end;
    gbx_record_end came;
    gbx_buf texts[2];

    gbx_record_end_of(run->result, &came);
    for (size_t i = 0; i < GBX_COUNTOF(parts); i++) {
        if (parts[i].equal(recorded, &came))
            continue;
        gbx_buf_init(&texts[0], GBX_COMPARED_MAX);
        gbx_buf_init(&texts[1], GBX_COMPARED_MAX);
        parts[i].put(&texts[0], recorded);
        parts[i].put(&texts[1], &came);
        gbx_replayer_diverge(run, parts[i].what, 0, &texts[0], &texts[1]);
        return;
    }
    run->result->replay.how = GBX_REPLAYED_SAME;
}
