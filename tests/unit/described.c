/* SPDX-License-Identifier: MIT */
/* described - see described.h. */
#include "described.h"
#include "test.h"

#include "base/cleanup.h"

char *told_of(const char *json, part what, const gbx_shown *shown, size_t room)
{
    gbx_place place = gbx_place_of(shown, "set");
    gbx_schema *shape;
    gbx_view view;
    gbx_buf buf;

    assert_true(gbx_view_open(json, strlen(json), &view));
    shape = gbx_schema_of(view, false, NULL);
    assert_non_null(shape);
    gbx_buf_init(&buf, GBX_MIB(16));
    switch (what) {
    case TYPE: assert_true(gbx_describe_type(shape, &place, room, &buf)); break;
    case SIZE: assert_true(gbx_describe_size(shape, view, &buf)); break;
    case EXAMPLES:
        assert_true(gbx_describe_examples(view, shape, &place, "", room, &buf));
        break;
    case STATISTICS: assert_true(gbx_describe_statistics(shape, &place, &buf)); break;
    }
    gbx_schema_free(shape);
    return gbx_buf_take_string(&buf, NULL);
}

char *told(const char *json, part what, size_t room)
{
    return told_of(json, what, &(gbx_shown){0}, room);
}

char *shown(const char *json, part what, size_t room)
{
    return told_of(json, what, &(gbx_shown){.examples = GBX_EXAMPLES_VALUES}, room);
}

static void assert_text(char *text, const char *wanted)
{
    assert_string_equal(text, wanted);
    free(text);
}

void tells(const char *json, part what, const char *wanted)
{
    assert_text(told(json, what, 10000), wanted);
}

void shows(const char *json, part what, const char *wanted)
{
    assert_text(shown(json, what, 10000), wanted);
}

char *map_of(size_t count, const char *first, const char *other, const char *more)
{
    gbx_buf buf;

    gbx_buf_init(&buf, GBX_MIB(1));
    for (size_t i = 0; i < count; i++)
        (void)gbx_buf_printf(&buf, "%s\"k%zu\":%s", i == 0 ? "{" : ",", i,
                             i == 0 ? first : other);
    (void)gbx_buf_printf(&buf, "%s}", more);
    return gbx_buf_take_string(&buf, NULL);
}

char *list_of(int count, const char *value, const char *last)
{
    gbx_buf buf;

    gbx_buf_init(&buf, GBX_KIB(16));
    (void)gbx_buf_puts(&buf, "[");
    for (int i = 0; i < count; i++)
        (void)gbx_buf_printf(&buf, "%s,", value);
    (void)gbx_buf_printf(&buf, "%s]", last);
    return gbx_buf_take_string(&buf, NULL);
}
