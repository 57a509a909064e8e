/* SPDX-License-Identifier: MIT */
/* replay_check - checks that an engine has what the recorded call had. */
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

gbx_status gbx_replay_as_data(gbx_status status, gbx_error *reterr)
{
    if (status != GBX_E_USAGE && status != GBX_E_POLICY)
        return status;
    if (reterr != NULL)
        reterr->status = GBX_E_DATA;
    return GBX_E_DATA;
}

static bool has_name(gbx_span lines, gbx_span name)
{
    gbx_span one;

    while (gbx_span_line(&lines, &one))
        if (one.len == name.len && memcmp(one.data, name.data, name.len) == 0)
            return true;
    return false;
}

static gbx_status check_capabilities(const gbx_run *run, const gbx_record_head *h,
                                     gbx_error *reterr)
{
    const gbx_options *options = &run->engine->settings.options;
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

/* Fails unless exactly the recorded functions can be called. */
static gbx_status check_functions(const gbx_run *run, const gbx_record_head *h,
                                  gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names = {.ceiling = GBX_CONFIG_MAX};
    gbx_span wanted = h->functions, found;
    char quoted[GBX_QUOTE_SIZE];
    gbx_span one;

    if (!gbx_hostcalls_names(run->engine, gbx_run_policy(run), false, &names, NULL))
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the replay");
    found = (gbx_span){names.data, names.len};
    while (gbx_span_line(&wanted, &one))
        if (!has_name(found, one))
            return gbx_fail(reterr, GBX_E_USAGE,
                            "the recording is of an engine with the function '%s'",
                            gbx_quote(quoted, (const char *)one.data, one.len));
    while (gbx_span_line(&found, &one))
        if (!has_name(h->functions, one))
            return gbx_fail(reterr, GBX_E_USAGE,
                            "the recording is of a call without the function '%s'",
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

/* Fails unless exactly the recorded sources are present. */
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

static gbx_status check_input(const gbx_run *run, const gbx_record_head *h,
                              gbx_error *reterr)
{
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

gbx_status gbx_replay_check(const gbx_run *run, const gbx_record_head *h,
                            gbx_error *reterr)
{
    GBX_CLEANUP(gbx_record_head_cleanup) gbx_record_head here = {0};
    uint64_t load_seq;
    gbx_status status = check_capabilities(run, h, reterr);

    if (status == GBX_OK)
        status = check_functions(run, h, reterr);
    if (status == GBX_OK)
        status = check_input(run, h, reterr);
    if (status == GBX_OK)
        status = gbx_sources_take(run->engine, &here, &load_seq, reterr);
    if (status == GBX_OK)
        status = check_sources("dataset", &h->datasets, &here.datasets, reterr);
    if (status == GBX_OK)
        status = check_sources("preload", &h->preloads, &here.preloads, reterr);
    return status;
}
