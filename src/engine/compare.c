/* SPDX-License-Identifier: MIT */
/* compare - compares what was recorded with what is here and what happens, and describes
 * how they differ. */
#include "base/utf8.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

/* Of one text in a description; the rest is omitted. */
#define SHOWN_MAX 2000u

static void put_cut(gbx_buf *to, gbx_span text, uint64_t size)
{
    size_t len = gbx_utf8_cut(text.data, text.len, SHOWN_MAX);

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

/* ---- does this engine have what the recorded call had? --------------------- */

static bool has_name(gbx_span lines, gbx_span name)
{
    gbx_span one;

    while (gbx_record_next_name(&lines, &one))
        if (one.len == name.len && memcmp(one.data, name.data, name.len) == 0)
            return true;
    return false;
}

static gbx_status check_capabilities(const gbx_run *run, gbx_error *reterr)
{
    const gbx_options *options = &run->engine->settings.options;
    const gbx_record_head *h = &run->replayer->head;
    const char *word;

    if ((int)options->globals != h->globals)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the recording is of an engine with %s "
                        "globals",
                        gbx_record_globals((unsigned)h->globals));
    for (unsigned i = 0; (word = gbx_record_capability(i)) != NULL; i++)
        if ((h->capabilities & ~options->capabilities & 1u << i) != 0)
            return gbx_fail(reterr, GBX_E_USAGE,
                            "the recording is of an engine with the capability '%s'",
                            word);
    return GBX_OK;
}

static gbx_status check_functions(const gbx_run *run, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names;
    gbx_span wanted = run->replayer->head.functions;
    char quoted[GBX_QUOTE_SIZE];
    gbx_span one;

    gbx_buf_init(&names, GBX_CONFIG_MAX);
    if (!gbx_hostcalls_names(run->engine, gbx_run_policy(run), false, &names, NULL))
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the replay");
    while (gbx_record_next_name(&wanted, &one))
        if (!has_name((gbx_span){names.data, names.len}, one))
            return gbx_fail(reterr, GBX_E_USAGE,
                            "the recording is of an engine with the function '%s'",
                            gbx_quote(quoted, (const char *)one.data, one.len));
    return GBX_OK;
}

static void print_source(const gbx_record_source *s, char *out, size_t size)
{
    char hex[GBX_SHA256_HEX_SIZE];

    gbx_sha256_print(s->sha256, hex);
    (void)snprintf(out, size, "%llu bytes, sha256 %.16s...",
                   (unsigned long long)s->size, hex);
}

static gbx_status refuse_source(const char *what, const gbx_record_source *wanted,
                                const gbx_record_source *found, gbx_error *reterr)
{
    char texts[2][80];

    print_source(wanted, texts[0], sizeof texts[0]);
    print_source(found, texts[1], sizeof texts[1]);
    return gbx_fail(reterr, GBX_E_DATA, "the recording is of another %s: %s, not %s",
                    what, texts[0], texts[1]);
}

static const gbx_record_source *find_source(const gbx_record_sources *in, gbx_span name)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->list[i].name.len == name.len &&
            memcmp(in->list[i].name.data, name.data, name.len) == 0)
            return &in->list[i];
    return NULL;
}

static bool source_equals(const gbx_record_source *a, const gbx_record_source *b)
{
    return a->size == b->size && memcmp(a->sha256, b->sha256, sizeof a->sha256) == 0;
}

/* Are exactly the recorded sources present? */
static gbx_status check_sources(const char *what, const gbx_record_sources *wanted,
                                const gbx_record_sources *found, gbx_error *reterr)
{
    char quoted[GBX_QUOTE_SIZE], name[GBX_QUOTE_SIZE + 32];

    for (size_t i = 0; i < wanted->count; i++) {
        const gbx_record_source *w = &wanted->list[i];
        const gbx_record_source *f = find_source(found, w->name);

        (void)snprintf(name, sizeof name, "%s '%s'", what,
                       gbx_quote(quoted, (const char *)w->name.data, w->name.len));
        if (f == NULL)
            return gbx_fail(reterr, GBX_E_DATA,
                            "the recording is of a call with the %s", name);
        if (!source_equals(w, f))
            return refuse_source(name, w, f, reterr);
    }
    for (size_t i = 0; i < found->count; i++) {
        const gbx_record_source *f = &found->list[i];

        if (find_source(wanted, f->name) == NULL)
            return gbx_fail(reterr, GBX_E_DATA,
                            "the recording is of a call without the %s '%s'", what,
                            gbx_quote(quoted, (const char *)f->name.data, f->name.len));
    }
    return GBX_OK;
}

static gbx_status check_input(const gbx_run *run, gbx_error *reterr)
{
    const gbx_record_head *h = &run->replayer->head;
    gbx_record_source wanted = {.size = h->input_size};
    gbx_record_source found = {.size = run->call.input_len};

    if (!h->has_input && run->call.input == NULL)
        return GBX_OK;
    if (!h->has_input)
        return gbx_fail(reterr, GBX_E_DATA,
                        "the recording is of a call without an input");
    memcpy(wanted.sha256, h->input_sha256, sizeof wanted.sha256);
    if (run->call.input == NULL) {
        char text[80];

        print_source(&wanted, text, sizeof text);
        return gbx_fail(reterr, GBX_E_DATA,
                        "the recording is of an input that is not in it: give it (%s)",
                        text);
    }
    gbx_sha256_of(run->call.input, run->call.input_len, found.sha256);
    return source_equals(&wanted, &found)
               ? GBX_OK
               : refuse_source("input", &wanted, &found, reterr);
}

gbx_status gbx_replayer_check(const gbx_run *run, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_record_head_cleanup) gbx_record_head here = {0};
    const gbx_record_head *h;
    uint64_t load_seq;
    gbx_status status;

    h = &run->replayer->head;
    status = check_capabilities(run, reterr);
    if (status == GBX_OK)
        status = check_functions(run, reterr);
    if (status == GBX_OK)
        status = check_input(run, reterr);
    if (status == GBX_OK)
        status = gbx_sources_take(run->engine, &here, &load_seq, reterr);
    if (status == GBX_OK)
        status = check_sources("dataset", &h->datasets, &here.datasets, reterr);
    if (status == GBX_OK)
        status = check_sources("preload", &h->preloads, &here.preloads, reterr);
    return status;
}

void gbx_replayer_put_lists(const gbx_run *run, gbx_buf *withheld, gbx_buf *env)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names;
    const gbx_record_head *h = &run->replayer->head;
    gbx_span left, one;

    gbx_buf_init(&names, GBX_CONFIG_MAX);
    if (!gbx_hostcalls_names(run->engine, gbx_run_policy(run), false, &names, NULL))
        withheld->failed = true;
    left = (gbx_span){names.data, names.len};
    while (gbx_record_next_name(&left, &one)) {
        if (has_name(h->functions, one))
            continue;
        if (withheld->len > 0)
            (void)gbx_buf_puts(withheld, "\n");
        (void)gbx_buf_append(withheld, one.data, one.len);
    }
    (void)gbx_buf_append(env, h->env.data, h->env.len);
}

bool gbx_replayer_has_root(const gbx_run *run, const char *name)
{
    gbx_span left = run->replayer->head.functions;
    size_t len = strlen(name);
    gbx_span one;

    while (gbx_record_next_name(&left, &one))
        if (one.len >= len && memcmp(one.data, name, len) == 0 &&
            (one.len == len || one.data[len] == '.'))
            return true;
    return false;
}
