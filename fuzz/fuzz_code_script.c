/* SPDX-License-Identifier: MIT */
/*
 * fuzz_code_script - whatever is given as code, what is run is it, with blanks for types and
 * a few words of ours: every line break stays where it was, and positions map back into it.
 */
#include "fuzz.h"

#include "mcp/code/code.h"

#include <string.h>

/* Line breaks of the text, and those of what is run up to as far as the text goes. */
static size_t count_breaks(const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += text[i] == '\n';
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_script script;
    size_t breaks;

    if (size > 4096)
        return 0;
    assert(gbx_script_make((const char *)data, size, GBX_SCRIPT_INPUT, &script, NULL) ==
           GBX_OK);
    assert(script.code_len >= size);
    breaks = count_breaks(script.code, script.code_len);
    /* Ours are at the end: one before what is called or returned, one if it is broken. */
    assert(breaks - count_breaks((const char *)data, size) <= 2);
    assert(script.insert_count <= GBX_SCRIPT_INSERTS_MAX);
    for (size_t i = 0; i < script.insert_count; i++)
        assert(script.inserts[i].offset + script.inserts[i].len <= script.code_len);
    for (uint32_t line = 1; line < breaks + 3; line++) {
        uint32_t mapped = line;
        uint32_t column = 20;

        gbx_script_map(&script, &mapped, &column);
        assert(mapped >= 1 && mapped <= line && column <= 20);
    }
    assert(script.message == NULL || (script.hint != NULL && script.line > 0));
    gbx_script_cleanup(&script);
    return 0;
}
