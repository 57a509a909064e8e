/* SPDX-License-Identifier: MIT */
/*
 * replay_box - the environment of a replay: an engine that has what the recorded call
 * had, or one that is set up for it.
 */
#include "engine/engine.h"
#include "policy/policy.h"
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next line of names; false after the last. */
static bool next_name(gbx_span *lines, gbx_span *ret)
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

static bool has_name(gbx_span lines, gbx_span name)
{
    gbx_span one;

    while (next_name(&lines, &one))
        if (one.len == name.len && memcmp(one.data, name.data, name.len) == 0)
            return true;
    return false;
}

/* Errors in these parameters come from the recording, not from the caller. */
static gbx_status as_data(gbx_status status, gbx_error *reterr)
{
    if (status != GBX_E_USAGE && status != GBX_E_POLICY)
        return status;
    if (reterr != NULL)
        reterr->status = GBX_E_DATA;
    return GBX_E_DATA;
}

/* ---- comparison with the recording
 * ----------------------------------------------------- */

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
    while (next_name(&wanted, &one))
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

/* ---- an engine for it ------------------------------------------------------------------ */

static void never_called(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    (void)user;
    gbx_hostcall_refuse(engine, call->request, "Error",
                        "there is nothing behind the functions of this engine",
                        "ERR_NOT_ALLOWED");
}

static gbx_status expose_all(gbx_engine *engine, gbx_span names, gbx_error *reterr)
{
    gbx_status status = GBX_OK;
    gbx_span one;

    while (status == GBX_OK && next_name(&names, &one)) {
        char name[GBX_NAME_MAX];

        if (one.len >= sizeof name)
            return gbx_fail(reterr, GBX_E_DATA,
                            "the recording has a function whose name is too long");
        memcpy(name, one.data, one.len);
        name[one.len] = 0;
        status = gbx_engine_expose(engine, name, never_called, NULL, reterr);
    }
    return as_data(status, reterr);
}

static void fill_limits(const gbx_record_head *h, gbx_limits *to)
{
    gbx_limits recorded = gbx_record_limits(h);

#define FILL(field)     \
    if (to->field == 0) \
    to->field = recorded.field
    FILL(timeout_ms);
    FILL(cpu_ms);
    FILL(memory_bytes);
    FILL(output_bytes);
    FILL(code_bytes);
    FILL(log_bytes);
    FILL(host_calls);
    FILL(host_calls_at_once);
    FILL(host_out_bytes);
    FILL(host_in_bytes);
#undef FILL
}

static gbx_status start_engine(const gbx_record_head *h, const gbx_options *options,
                               gbx_engine **ret_engine, gbx_error *reterr)
{
    gbx_options own = *options;
    gbx_engine *engine = NULL;
    gbx_policy *policy = NULL;
    gbx_status status = gbx_policy_for_replay(h->capabilities, h->env, &policy, reterr);

    if (status != GBX_OK)
        return as_data(status, reterr);
    own.globals = (gbx_globals)h->globals;
    own.policy = policy;
    fill_limits(h, &own.limits);
    status = gbx_engine_new(&own, &engine, reterr);
    gbx_policy_free(policy);
    if (status == GBX_OK)
        status = expose_all(engine, h->functions, reterr);
    if (status != GBX_OK) {
        gbx_engine_free(engine);
        return status;
    }
    *ret_engine = engine;
    return GBX_OK;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_replayer_check(const gbx_run *run, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_record_head_cleanup) gbx_record_head here = {0};
    const gbx_record_head *h;
    uint64_t load_seq;
    gbx_status status;

    if (run->replayer == NULL)
        return GBX_OK;
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

uint32_t gbx_replayer_capabilities(const gbx_run *run)
{
    return run->replayer->head.capabilities;
}

bool gbx_replayer_has_root(const gbx_run *run, const char *name)
{
    gbx_span left = run->replayer->head.functions;
    size_t len = strlen(name);
    gbx_span one;

    while (next_name(&left, &one))
        if (one.len >= len && memcmp(one.data, name, len) == 0 &&
            (one.len == len || one.data[len] == '.'))
            return true;
    return false;
}

const gbx_policy *gbx_replayer_sites(const gbx_run *run)
{
    return run->replayer->sites;
}

gbx_status gbx_replayer_take_sites(gbx_replayer *replayer, gbx_error *reterr)
{
    const gbx_record_head *h = &replayer->head;

    if ((h->capabilities & GBX_CAP_FETCH) == 0)
        return GBX_OK;
    return as_data(gbx_policy_of_sites(h->sites, &replayer->sites, reterr), reterr);
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
    while (next_name(&left, &one)) {
        if (has_name(h->functions, one))
            continue;
        if (withheld->len > 0)
            (void)gbx_buf_puts(withheld, "\n");
        (void)gbx_buf_append(withheld, one.data, one.len);
    }
    (void)gbx_buf_append(env, h->env.data, h->env.len);
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_recording_engine(const gbx_recording *recording,
                                const gbx_options *options, gbx_engine **ret_engine,
                                gbx_error *reterr)
{
    GBX_CLEANUP(gbx_record_head_cleanup) gbx_record_head head = {0};
    GBX_CLEANUP(gbx_record_cursor_cleanup) gbx_record_cursor cursor;
    gbx_settings settings;
    gbx_status status;
    const char *text;
    size_t len;

    if (recording == NULL || ret_engine == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "recording or ret_engine is missing");
    text = gbx_recording_text(recording, &len);
    if (len == 0)
        return gbx_fail(reterr, GBX_E_USAGE, "the recording is empty");
    status = gbx_options_import(options, &settings.options, reterr);
    if (status != GBX_OK)
        return status;
    if (settings.options.capabilities != 0 || settings.options.policy != NULL ||
        settings.options.globals != 0 || settings.options.runner != NULL ||
        settings.options.runner_name != NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "capabilities, policy, globals and runner come from the "
                        "recording: leave them alone");
    gbx_record_cursor_init(&cursor, text, len);
    status = gbx_record_head_read(&cursor, &head, reterr);
    return status == GBX_OK ? start_engine(&head, &settings.options, ret_engine, reterr)
                            : status;
}
