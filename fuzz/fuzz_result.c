/* SPDX-License-Identifier: MIT */
/*
 * fuzz_result - whatever a worker wrote as console lines, error, stack and value, the
 * result's texts are UTF-8 without NUL and its JSON is JSON.
 *
 * Input: log limit (a byte), then parts: what it is (a byte), length (a byte), text.
 */
#include "fuzz.h"

#include "base/json.h"
#include "base/utf8.h"
#include "engine/result.h"

#include <string.h>

static void check_text(const char *text, size_t len)
{
    assert(strlen(text) == len);
    assert(gbx_utf8_valid((const uint8_t *)text, len, NULL));
}

static void add_part(gbx_result *r, fuzz_input *in, uint32_t log_max)
{
    uint8_t kind = fuzz_u8(in);
    gbx_span text = fuzz_bytes(in, fuzz_u8(in));
    gbx_msg_error error = {.name = text, .message = text, .stack = text};

    switch (kind % 4) {
    case 0:
        if (r->thrown_name == NULL)
            (void)gbx_result_set_thrown(r, &error);
        break;
    case 1:
        if (r->thrown_message != NULL)
            (void)gbx_result_fail(r, (gbx_code)(1 + kind / 4 % GBX_CODE_VIOLATION),
                                  r->thrown_message, "");
        break;
    case 2:
        if (r->value == NULL && r->code == GBX_CODE_VALUE &&
            gbx_json_check((const char *)text.data, text.len, 100, NULL))
            (void)gbx_result_set_value(r, false, text);
        break;
    default:
        (void)gbx_result_add_log(r, (gbx_log_level)(kind / 4 % 5), kind / 7.0, text,
                                 log_max, (uint8_t)(kind / 20 % 4));
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_result *r = gbx_result_new();
    uint32_t log_max;
    const char *json;
    fuzz_input in;
    size_t len;

    assert(r != NULL);
    in = (fuzz_input){data, size};
    log_max = 1u + fuzz_u8(&in) * 8u;
    while (in.left > 0)
        add_part(r, &in, log_max);
    for (size_t i = 0; i < gbx_result_log_count(r); i++)
        check_text(gbx_result_log(r, i).text, gbx_result_log(r, i).text_len);
    check_text(gbx_result_error(r), strlen(gbx_result_error(r)));
    check_text(gbx_result_stack(r), strlen(gbx_result_stack(r)));
    json = gbx_result_json(r, &len);
    assert(json != NULL);
    check_text(json, len);
    assert(gbx_json_check(json, len, GBX_JSON_DEPTH_MAX, NULL));
    gbx_result_free(r);
    return 0;
}
