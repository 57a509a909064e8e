/* SPDX-License-Identifier: MIT */
/*
 * fuzz_json - the checker beside a second one that is written differently: straight
 * from the grammar of RFC 8259, with recursion, which the first must not have.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <string.h>

#define DEPTH 60

/* Each rule of the grammar takes from s what it describes, or says false. */
static bool value(gbx_span *s, int depth);

static bool take(gbx_span *s, const char *text)
{
    size_t n = strlen(text);

    if (s->len < n || memcmp(s->data, text, n) != 0)
        return false;
    s->data += n;
    s->len -= n;
    return true;
}

static bool take_one_of(gbx_span *s, const char *set)
{
    if (s->len == 0 || *s->data == 0 || strchr(set, *s->data) == NULL)
        return false;
    s->data++;
    s->len--;
    return true;
}

static void space(gbx_span *s)
{
    while (take_one_of(s, " \t\r\n"))
        continue;
}

static bool digits(gbx_span *s)
{
    size_t before = s->len;

    while (take_one_of(s, "0123456789"))
        continue;
    return s->len < before;
}

static bool number(gbx_span *s)
{
    (void)take(s, "-");
    if (!take(s, "0") && !digits(s))
        return false;
    if (take(s, ".") && !digits(s))
        return false;
    if (!take_one_of(s, "eE"))
        return true;
    (void)take_one_of(s, "+-");
    return digits(s);
}

static bool string(gbx_span *s)
{
    if (!take(s, "\""))
        return false;
    while (!take(s, "\"")) {
        if (take(s, "\\")) {
            bool is_unicode = take(s, "u");

            for (int i = 0; is_unicode && i < 4; i++)
                if (!take_one_of(s, "0123456789abcdefABCDEF"))
                    return false;
            if (!is_unicode && !take_one_of(s, "\"\\/bfnrt"))
                return false;
        } else {
            size_t n = gbx_utf8_sequence(s->data, s->len);

            if (n == 0 || *s->data < 0x20)
                return false;
            s->data += n;
            s->len -= n;
        }
    }
    return true;
}

static bool members(gbx_span *s, int depth, bool is_object)
{
    const char *close = is_object ? "}" : "]";

    space(s);
    if (take(s, close))
        return true;
    do {
        if (is_object) {
            space(s);
            if (!string(s))
                return false;
            space(s);
            if (!take(s, ":"))
                return false;
        }
        if (!value(s, depth))
            return false;
    } while (take(s, ","));
    return take(s, close);
}

static bool value(gbx_span *s, int depth)
{
    bool fits;

    space(s);
    if (take(s, "{"))
        fits = depth > 0 && members(s, depth - 1, true);
    else if (take(s, "["))
        fits = depth > 0 && members(s, depth - 1, false);
    else if (take(s, "true") || take(s, "false") || take(s, "null"))
        fits = true;
    else
        fits = s->len > 0 && (*s->data == '"' ? string(s) : number(s));
    space(s);
    return fits;
}

/* Whatever the bytes are, as a string they are JSON; as a number too. */
static void check_writers(const uint8_t *data, size_t size)
{
    double number_of_bytes = 0;
    gbx_buf buf;

    gbx_buf_init(&buf, size * 6 + 1024);
    memcpy(&number_of_bytes, data, size < sizeof number_of_bytes ? size : 8);
    (void)gbx_buf_puts(&buf, "[");
    (void)gbx_json_append_string(&buf, data, size);
    (void)gbx_buf_puts(&buf, ",");
    (void)gbx_json_append_number(&buf, number_of_bytes);
    (void)gbx_buf_puts(&buf, "]");
    assert(!buf.failed);
    assert(gbx_json_check((const char *)buf.data, buf.len, 1, NULL));
    gbx_buf_cleanup(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_json_fault fault = {.message = NULL};
    gbx_span rest = {data, size};
    bool valid = gbx_json_check((const char *)data, size, DEPTH, &fault);

    assert(valid == (size > 0 && value(&rest, DEPTH) && rest.len == 0));
    if (!valid) {
        assert(fault.offset <= size && fault.message != NULL);
        assert(fault.line >= 1 && fault.column >= 1);
    }
    if (size > 0)
        check_writers(data, size);
    return 0;
}
