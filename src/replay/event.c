/* SPDX-License-Identifier: MIT */
/* event - writes and reads one line of what happened. */
#include "base/utf8.h"
#include "replay/record.h"

#include <stdlib.h>

#define AT(field) \
    offsetof(gbx_record_event, field), sizeof(((gbx_record_event *)0)->field)
#define ID                                                     \
    {                                                          \
        "id", GBX_FIELD_NUMBER, true, AT(id), UINT32_MAX, NULL \
    }
#define AT_MS                                               \
    {                                                       \
        "atMs", GBX_FIELD_FIGURE, false, AT(at_ms), 0, NULL \
    }

static const gbx_recording_field request_fields[] = {
    ID,
    {"name", GBX_FIELD_TEXT, true, AT(request.name), 0, NULL},
    {"args", GBX_FIELD_TEXT, true, AT(request.args), 0, NULL},
    {"argsSize", GBX_FIELD_NUMBER, true, AT(request.args_size), UINT32_MAX, NULL},
    {"body", GBX_FIELD_TEXT, false, AT(request.body), 0, NULL},
    {"bodySize", GBX_FIELD_NUMBER, false, AT(request.body_size), UINT32_MAX, NULL},
    {"sha256", GBX_FIELD_DIGEST, true, AT(request.sha256), 0, NULL},
    AT_MS,
};

static const gbx_recording_field cancel_fields[] = {ID};

static const gbx_recording_field wait_fields[] = {
    {"ms", GBX_FIELD_NUMBER, true, AT(ms), GBX_WAIT_MS_MAX, NULL},
};

static const gbx_recording_field answer_fields[] = {
    ID,
    {"failed", GBX_FIELD_BOOL, false, AT(answer.is_error), 0, NULL},
    {"json", GBX_FIELD_TEXT, false, AT(answer.json), 0, NULL},
    {"bytes", GBX_FIELD_TEXT, false, AT(answer.bytes), 0, NULL},
    {"name", GBX_FIELD_TEXT, false, AT(answer.name), 0, NULL},
    {"message", GBX_FIELD_TEXT, false, AT(answer.message), 0, NULL},
    {"code", GBX_FIELD_TEXT, false, AT(answer.code), 0, NULL},
    AT_MS,
};

static const gbx_recording_field end_fields[] = {
    {"code", GBX_FIELD_WORD, true, AT(end.code), 0, gbx_record_code},
    {"value", GBX_FIELD_TEXT, false, AT(end.value), 0, NULL},
    {"valueSize", GBX_FIELD_NUMBER, false, AT(end.value_size), UINT32_MAX, NULL},
    {"valueSha256", GBX_FIELD_DIGEST, false, AT(end.value_sha256), 0, NULL},
    {"error", GBX_FIELD_TEXT, false, AT(end.error), 0, NULL},
    {"stack", GBX_FIELD_TEXT, false, AT(end.stack), 0, NULL},
    {"line", GBX_FIELD_NUMBER, false, AT(end.line), UINT32_MAX, NULL},
    {"column", GBX_FIELD_NUMBER, false, AT(end.column), UINT32_MAX, NULL},
    {"logs", GBX_FIELD_NUMBER, true, AT(end.logs), UINT32_MAX, NULL},
    {"logsSha256", GBX_FIELD_DIGEST, true, AT(end.logs_sha256), 0, NULL},
    {"logsCut", GBX_FIELD_BOOL, false, AT(end.logs_cut), 0, NULL},
    {"whole", GBX_FIELD_BOOL, true, AT(end.is_whole), 0, NULL},
    {"wallMs", GBX_FIELD_FIGURE, false, AT(end.wall_ms), 0, NULL},
};

/* By gbx_record_kind. */
static const struct {
    const char *what;
    const gbx_recording_field *fields;
    size_t count;
} kinds[] = {
    {"request", request_fields, GBX_COUNTOF(request_fields)},
    {"cancel", cancel_fields, GBX_COUNTOF(cancel_fields)},
    {"wait", wait_fields, GBX_COUNTOF(wait_fields)},
    {"answer", answer_fields, GBX_COUNTOF(answer_fields)},
    {"wake", NULL, 0},
    {"end", end_fields, GBX_COUNTOF(end_fields)},
};

gbx_span gbx_record_kept(gbx_span text)
{
    return (gbx_span){text.data, gbx_utf8_cut(text.data, text.len, GBX_RECORD_KEPT)};
}

void gbx_record_request_of(const gbx_msg_hostcall *msg, gbx_record_request *ret)
{
    gbx_sha256 s;

    *ret = (gbx_record_request){
        .name = msg->name,
        .args = gbx_record_kept(msg->args),
        .args_size = msg->args.len,
        .body = {msg->bytes.data,
                 msg->bytes.len < GBX_RECORD_KEPT ? msg->bytes.len : GBX_RECORD_KEPT},
        .body_size = msg->bytes.len,
    };
    gbx_sha256_init(&s);
    gbx_sha256_add(&s, msg->args.data, msg->args.len);
    gbx_sha256_add(&s, msg->bytes.data, msg->bytes.len);
    gbx_sha256_end(&s, ret->sha256);
}

bool gbx_record_put(gbx_buf *to, const gbx_record_event *event)
{
    return gbx_recording_line_write(to, kinds[event->kind].what,
                                    kinds[event->kind].fields, kinds[event->kind].count,
                                    event);
}

bool gbx_record_is_chance(gbx_code code)
{
    return code == GBX_CODE_TIMEOUT || code == GBX_CODE_MEMORY ||
           code == GBX_CODE_UNAVAILABLE || code == GBX_CODE_ABORTED ||
           code == GBX_CODE_CRASHED || code == GBX_CODE_VIOLATION ||
           code == GBX_CODE_LOST;
}

void gbx_record_cursor_init(gbx_record_cursor *c, const char *text, size_t len)
{
    *c = (gbx_record_cursor){.text = text, .len = len};
}

void gbx_record_cursor_cleanup(gbx_record_cursor *c)
{
    free(c->room);
    *c = (gbx_record_cursor){0};
}

gbx_status gbx_record_next(gbx_record_cursor *c, gbx_record_event *ret,
                           gbx_error *reterr)
{
    gbx_recording_line line = {.number = c->line};
    gbx_status status;

    if (!gbx_recording_line_next(c->text, c->len, &c->at, &line, &status, reterr))
        return gbx_fail_at(reterr, GBX_E_DATA, c->line + 1, 1,
                           "the recording ends before its line \"end\"");
    c->line = line.number;
    if (status != GBX_OK)
        return status;
    if (line.view.len > c->room_size) {
        uint8_t *room = realloc(c->room, line.view.len);

        if (room == NULL)
            return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the recording");
        c->room = room;
        c->room_size = line.view.len;
    }
    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++) {
        if (!gbx_recording_line_is(&line, kinds[i].what))
            continue;
        *ret = (gbx_record_event){.kind = (gbx_record_kind)i, .line = line.number};
        status = gbx_recording_line_read(&line, kinds[i].fields, kinds[i].count, ret,
                                         c->room, reterr);
        ret->answer.id = ret->id;
        return status;
    }
    return gbx_recording_line_refuse(&line, line.what.at, reterr, "unknown event");
}
