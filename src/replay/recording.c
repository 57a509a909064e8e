/* SPDX-License-Identifier: MIT */
/* recording - the handle, and everything that needs no engine. */
#include "base/fail.h"
#include "replay/record.h"

#include <stdlib.h>
#include <string.h>

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
