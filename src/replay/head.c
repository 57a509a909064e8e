/* SPDX-License-Identifier: MIT */
/*
 * head - writes and reads the lines before the first event, which have a fixed order.
 * The whole head must be read before it is used.
 */
#include "policy/policy.h"
#include "replay/record.h"

#include <stdlib.h>
#include <string.h>

static const char *form_word(unsigned index)
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
    return index <= GBX_CODE_LOST ? gbx_code_name((gbx_code)index) : NULL;
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

/* ---- the lines -------------------------------------------------------------------- */

#define SOURCES_MAX 1024

#define OF(type, field) offsetof(type, field), sizeof(((type *)0)->field)
#define AT(field)       OF(gbx_record_head, field)

static const gbx_recording_field title_fields[] = {
    {"version", GBX_FIELD_NUMBER, true, AT(version), UINT32_MAX, NULL},
    {"glovebox", GBX_FIELD_TEXT, true, AT(library), 0, NULL},
    {"engine", GBX_FIELD_TEXT, true, AT(engine), 0, NULL},
    {"recordedAt", GBX_FIELD_FIGURE, false, AT(recorded_at), 0, NULL},
};

static const gbx_recording_field call_fields[] = {
    {"form", GBX_FIELD_WORD, true, AT(form), 0, form_word},
    {"unguarded", GBX_FIELD_BOOL, false, AT(no_guard), 0, NULL},
    {"now", GBX_FIELD_NUMBER, true, AT(now_ms), INT64_MAX, NULL},
    {"entropy", GBX_FIELD_DIGEST, true, AT(entropy), 0, NULL},
    {"code", GBX_FIELD_TEXT, true, AT(code), 0, NULL},
    {"dataset", GBX_FIELD_TEXT, false, AT(dataset), 0, NULL},
    {"bindings", GBX_FIELD_TEXT, false, AT(bindings), 0, NULL},
};

#define LIMIT(field, name, standard, least, most) \
    {name, GBX_FIELD_NUMBER, true, AT(limits.field), most, NULL},
static const gbx_recording_field limit_fields[] = {GBX_LIMIT_MAP(LIMIT)};
#undef LIMIT

static const gbx_recording_field box_fields[] = {
    {"globals", GBX_FIELD_WORD, true, AT(globals), 0, gbx_record_globals},
    {"capabilities", GBX_FIELD_WORDS, true, AT(capabilities), 0, gbx_record_capability},
    {"functions", GBX_FIELD_TEXT, true, AT(functions), 0, NULL},
    {"sites", GBX_FIELD_TEXT, false, AT(sites), 0, NULL},
    {"env", GBX_FIELD_TEXT, false, AT(env), 0, NULL},
};

static const gbx_recording_field input_fields[] = {
    {"size", GBX_FIELD_NUMBER, true, AT(input_size), UINT32_MAX, NULL},
    {"sha256", GBX_FIELD_DIGEST, true, AT(input_sha256), 0, NULL},
    {"json", GBX_FIELD_TEXT, false, AT(input), 0, NULL},
};

static const gbx_recording_field source_fields[] = {
    {"name", GBX_FIELD_TEXT, true, OF(gbx_record_source, name), 0, NULL},
    {"size", GBX_FIELD_NUMBER, true, OF(gbx_record_source, size), UINT64_MAX, NULL},
    {"sha256", GBX_FIELD_DIGEST, true, OF(gbx_record_source, sha256), 0, NULL},
};

/* ---- writing -------------------------------------------------------------------- */

#define WRITE(to, what, fields, from) \
    (void)gbx_recording_line_write(to, what, fields, GBX_COUNTOF(fields), from)

bool gbx_record_put_head(gbx_buf *to, const gbx_record_head *head)
{
    WRITE(to, "recording", title_fields, head);
    WRITE(to, "call", call_fields, head);
    WRITE(to, "limits", limit_fields, head);
    WRITE(to, "box", box_fields, head);
    if (head->has_input)
        WRITE(to, "input", input_fields, head);
    for (size_t i = 0; i < head->datasets.count; i++)
        WRITE(to, "dataset", source_fields, &head->datasets.list[i]);
    for (size_t i = 0; i < head->preloads.count; i++)
        WRITE(to, "preload", source_fields, &head->preloads.list[i]);
    return !to->failed;
}

/* ---- reading -------------------------------------------------------------------- */

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

/* Read the next line, which must be `what`. */
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
    if (h->input_size == 0 && h->input.data == NULL) /* it is the empty text */
        h->input.data = (const uint8_t *)"";
    if (status != GBX_OK || h->input.data == NULL)
        return status;
    gbx_sha256_of(h->input.data, h->input.len, digest);
    if (h->input.len != h->input_size ||
        memcmp(digest, h->input_sha256, sizeof digest) != 0)
        return gbx_recording_line_refuse(&r->line, r->line.view.at, r->err,
                                         "'json' is not what 'size' and 'sha256' say");
    return GBX_OK;
}

/* The input, once at most, datasets, preloads: in this order. */
static gbx_status read_data(reading *r)
{
    static const char *const order[] = {"input", "dataset", "preload"};
    gbx_status status = advance(r);
    size_t kind = 0;

    while (status == GBX_OK && r->has_line) {
        while (kind < GBX_COUNTOF(order) &&
               !gbx_recording_line_is(&r->line, order[kind]))
            kind++;
        if (kind == GBX_COUNTOF(order))
            break;
        if (kind > 0)
            status =
                read_source(r, kind == 1 ? &r->head->datasets : &r->head->preloads);
        else
            status = read_input(r);
        kind += kind == 0;
        if (status == GBX_OK)
            status = advance(r);
    }
    if (r->has_line) /* the first event: it will be read again */
        r->cursor->at = (size_t)(r->line.view.at - r->cursor->text);
    return status;
}

/* Values that are not strings could name variables of the host, as in a policy. */
static bool is_env(gbx_span text)
{
    size_t cursor = 0;
    gbx_view env, name, value;

    if (!gbx_view_open((const char *)text.data, text.len, &env) ||
        gbx_view_kind(env) != '{')
        return false;
    while (gbx_view_next(env, &cursor, &name, &value))
        if (gbx_view_kind(value) != '"')
            return false;
    return true;
}

gbx_status gbx_record_head_read(gbx_record_cursor *c, gbx_record_head *ret,
                                gbx_error *reterr)
{
    reading r = {.cursor = c, .head = ret, .err = reterr};
    gbx_status status;

    *ret = (gbx_record_head){.limits.struct_size = sizeof ret->limits};
    status = expect(&r, "recording", title_fields, GBX_COUNTOF(title_fields), ret);
    if (status == GBX_OK && ret->version != GBX_RECORD_VERSION)
        return gbx_recording_line_refuse(&r.line, r.line.view.at, reterr,
                                         "version %llu is not known here, %u is",
                                         (unsigned long long)ret->version,
                                         GBX_RECORD_VERSION);
    if (status == GBX_OK)
        status = expect(&r, "call", call_fields, GBX_COUNTOF(call_fields), ret);
    if (status == GBX_OK)
        status = expect(&r, "limits", limit_fields, GBX_COUNTOF(limit_fields), ret);
    if (status == GBX_OK)
        status = expect(&r, "box", box_fields, GBX_COUNTOF(box_fields), ret);
    if (status == GBX_OK && ret->env.data != NULL && !is_env(ret->env))
        return gbx_recording_line_refuse(
            &r.line, r.line.view.at, reterr,
            "'env' must be the text of a JSON object of strings");
    return status == GBX_OK ? read_data(&r) : status;
}
