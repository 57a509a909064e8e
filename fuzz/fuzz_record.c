/* SPDX-License-Identifier: MIT */
/*
 * fuzz_record - a stranger's recording: refused with a place in it, or one that can be
 * read from head to end as often as one likes, and whose text is kept as it came.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "replay/record.h"

#include <string.h>

static void read_again(const char *text, size_t len)
{
    gbx_record_cursor cursor;
    gbx_record_event event = {.kind = GBX_RECORD_WAKE};
    gbx_record_head head;

    gbx_record_cursor_init(&cursor, text, len);
    assert(gbx_record_head_read(&cursor, &head, NULL) == GBX_OK);
    while (event.kind != GBX_RECORD_END)
        assert(gbx_record_next(&cursor, &event, NULL) == GBX_OK);
    assert(cursor.at == len);
    gbx_record_head_cleanup(&head);
    gbx_record_cursor_cleanup(&cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_recording *recording = NULL;
    gbx_error error = {0};
    const char *text;
    size_t len;

    if (gbx_recording_load((const char *)data, size, &recording, &error) != GBX_OK) {
        assert(error.status == GBX_E_USAGE || error.line >= 1);
        assert(error.message[0] != 0);
        return 0;
    }
    text = gbx_recording_text(recording, &len);
    assert(len == size && memcmp(text, data, size) == 0);
    read_again(text, len);
    gbx_recording_free(recording);
    return 0;
}
