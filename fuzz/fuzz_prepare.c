/* SPDX-License-Identifier: MIT */
/*
 * fuzz_prepare - whatever is given as code, in any form: what is compiled is it, with blanks
 * for types and a few words of ours. Every line break stays where it was.
 */
#include "fuzz.h"

#include "analysis/analysis.h"

#include <string.h>

static size_t count_breaks(const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += text[i] == '\n';
    return count;
}

static void check(const char *code, size_t len, gbx_form form)
{
    gbx_prepared_code made;
    size_t breaks = count_breaks(code, len);

    assert(gbx_prepare(code, len, 0, form, "input", &made));
    assert(made.plain_len == len && count_breaks(made.plain, len) == breaks);
    assert(made.code_len >= len);
    /* Ours are at the end: one before what is called or returned, one if it is broken. */
    assert(count_breaks(made.code, made.code_len) - breaks <= 2);
    assert(made.insert_count <= GBX_INSERTS_MAX);
    for (size_t i = 0; i < made.insert_count; i++)
        assert(made.inserts[i].line > 0 && made.inserts[i].line <= breaks * 2 + 4 &&
               made.inserts[i].column > 0 && made.inserts[i].units > 0);
    assert(made.uncalled_start <= made.uncalled_end && made.uncalled_end <= len);
    assert(made.fault == GBX_HINT_NONE ||
           (made.fault_at <= len && gbx_hint_row_of(made.fault)->message != NULL));
    gbx_prepared_code_cleanup(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096)
        return 0;
    for (int form = GBX_FORM_FUNCTION; form <= GBX_FORM_SCRIPT; form++)
        check((const char *)data, size, (gbx_form)form);
    return 0;
}
