/* SPDX-License-Identifier: MIT */
/* recording - the handle of a recording, and the check of its text. */
#include "base/fail.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "replay/record.h"

#include <stdlib.h>

/* ---- the order of the lines ---------------------------------------------------- */

/* Ids of requests grow. Answers come between a wait and a wake, and never outnumber the
 * requests. The end is the last line. It is not checked whether an answer's request is
 * open: the worker ignores other answers. */

/* The state after the lines read so far. */
typedef struct track {
    uint64_t open; /* requests without an answer */
    uint32_t last_id;
    bool is_waiting;
    bool has_ended;
    bool is_whole;
} track;

static gbx_status refuse(const gbx_record_event *e, gbx_error *reterr, const char *why)
{
    return gbx_fail_at(reterr, GBX_E_DATA, e->line, 1, "the recording cannot be: %s",
                       why);
}

static gbx_status on_request(track *t, const gbx_record_event *e, gbx_error *reterr)
{
    const gbx_record_request *r = &e->request;

    if (t->is_waiting)
        return refuse(e, reterr, "a request while the code waits");
    if (e->id <= t->last_id)
        return refuse(e, reterr, "the ids of requests must grow");
    if (r->name.len == 0 || r->name.len >= GBX_NAME_MAX || r->args.len > r->args_size ||
        r->body.len > r->body_size)
        return refuse(e, reterr, "the sizes of a request do not fit what it holds");
    t->last_id = e->id;
    t->open++;
    return GBX_OK;
}

static gbx_status on_answer(track *t, const gbx_record_event *e, gbx_error *reterr)
{
    const gbx_msg_answer *a = &e->answer;

    if (!t->is_waiting)
        return refuse(e, reterr, "an answer while the code does not wait");
    if (t->open == 0 || e->id > t->last_id)
        return refuse(e, reterr, "an answer to no open request");
    if (a->name.len >= GBX_NAME_MAX || a->message.len >= GBX_MESSAGE_MAX ||
        a->code.len >= GBX_NAME_MAX)
        return refuse(e, reterr, "the text of an error is too long");
    if (a->json.len > 0 && !gbx_json_check((const char *)a->json.data, a->json.len,
                                           GBX_JSON_DEPTH_MAX, NULL))
        return refuse(e, reterr, "'json' of an answer is not JSON");
    t->open--;
    return GBX_OK;
}

static gbx_status follow(track *t, const gbx_record_event *e, gbx_error *reterr)
{
    switch (e->kind) {
    case GBX_RECORD_REQUEST: return on_request(t, e, reterr);
    case GBX_RECORD_CANCEL:
        if (t->is_waiting || e->id > t->last_id || e->id == 0)
            return refuse(e, reterr, "this cannot be cancelled here");
        return GBX_OK;
    case GBX_RECORD_WAIT:
        if (t->is_waiting)
            return refuse(e, reterr, "the code waits already");
        t->is_waiting = true;
        return GBX_OK;
    case GBX_RECORD_ANSWER: return on_answer(t, e, reterr);
    case GBX_RECORD_WAKE:
        if (!t->is_waiting)
            return refuse(e, reterr, "the code does not wait");
        t->is_waiting = false;
        return GBX_OK;
    case GBX_RECORD_END:
        if (e->end.code == GBX_CODE_DIVERGED)
            return refuse(e, reterr, "only a replay can end so");
        if (e->end.value.data != NULL && e->end.value.len > e->end.value_size)
            return refuse(e, reterr, "the value is larger than its size");
        t->has_ended = true;
        t->is_whole = e->end.is_whole;
        return GBX_OK;
    }
    return GBX_OK;
}

static gbx_status follow_all(gbx_record_cursor *c, track *t, gbx_error *reterr)
{
    gbx_status status = GBX_OK;
    gbx_record_event event;

    while (status == GBX_OK && !t->has_ended) {
        status = gbx_record_next(c, &event, reterr);
        if (status == GBX_OK)
            status = follow(t, &event, reterr);
    }
    if (status == GBX_OK && c->at < c->len)
        status = gbx_fail_at(reterr, GBX_E_DATA, c->line + 1, 1,
                             "the recording cannot be: something follows its end");
    return status;
}

gbx_status gbx_record_check(const char *text, size_t len, bool *ret_whole,
                            gbx_error *reterr)
{
    GBX_CLEANUP(gbx_record_head_cleanup) gbx_record_head head = {0};
    GBX_CLEANUP(gbx_record_cursor_cleanup) gbx_record_cursor cursor;
    track t = {0};
    gbx_status status;

    gbx_record_cursor_init(&cursor, text, len);
    status = gbx_record_head_read(&cursor, &head, reterr);
    if (status == GBX_OK)
        status = follow_all(&cursor, &t, reterr);
    if (status == GBX_OK)
        *ret_whole = t.is_whole;
    return status;
}

/* Room for the end line after a text of GBX_RECORD_MAX. */
#define TEXT_MAX (GBX_RECORD_MAX + GBX_RECORD_END_MAX)

/* ---- public API ---------------------------------------------------------- */

gbx_recording *gbx_recording_new(uint32_t flags)
{
    gbx_recording *r;

    if ((flags & ~(unsigned)GBX_RECORD_INPUT) != 0)
        return NULL;
    r = calloc(1, sizeof *r);
    if (r != NULL) {
        r->flags = flags;
        gbx_buf_init(&r->text, GBX_RECORD_MAX);
    }
    return r;
}

void gbx_recording_free(gbx_recording *recording)
{
    if (recording == NULL)
        return;
    gbx_buf_cleanup(&recording->text);
    free(recording);
}

const char *gbx_recording_text(const gbx_recording *recording, size_t *ret_len)
{
    bool is_done = recording->state == GBX_RECORDING_DONE;

    if (ret_len != NULL)
        *ret_len = is_done ? recording->text.len - 1 : 0;
    return is_done ? (const char *)recording->text.data : "";
}

int gbx_recording_is_whole(const gbx_recording *recording)
{
    return recording->state == GBX_RECORDING_DONE && !recording->is_cut;
}

gbx_status gbx_recording_load(const char *text, size_t text_len,
                              gbx_recording **ret_recording, gbx_error *reterr)
{
    gbx_recording *r;
    gbx_status status;
    bool is_whole = false;

    if (text == NULL || ret_recording == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "text or ret_recording is missing");
    if (text_len > TEXT_MAX)
        return gbx_fail(reterr, GBX_E_DATA,
                        "the recording is %zu bytes, and %zu are the limit", text_len,
                        TEXT_MAX);
    status = gbx_record_check(text, text_len, &is_whole, reterr);
    if (status != GBX_OK)
        return status;
    r = gbx_recording_new(0);
    if (r != NULL)
        gbx_buf_init(&r->text, TEXT_MAX + 1);
    if (r == NULL || !gbx_buf_append(&r->text, text, text_len) ||
        !gbx_buf_append(&r->text, "", 1)) {
        gbx_recording_free(r);
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the recording");
    }
    r->state = GBX_RECORDING_DONE;
    r->is_checked = true;
    r->is_cut = !is_whole;
    *ret_recording = r;
    return GBX_OK;
}
