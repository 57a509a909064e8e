/* SPDX-License-Identifier: MIT */
/* described - see described.h. */
#include "described.h"
#include "test.h"

#include "base/cleanup.h"

static gbx_engine *engine;

int start_describing(void **state)
{
    (void)state;
    assert_int_equal(gbx_engine_new(NULL, &engine, NULL), GBX_OK);
    return 0;
}

int stop_describing(void **state)
{
    (void)state;
    gbx_engine_free(engine);
    return 0;
}

char *told_by(const char *json, part what, const gbx_description *of)
{
    GBX_CLEANUP(gbx_told_cleanup) gbx_told told = {0};
    gbx_error error = {0};
    char *all;

    if (gbx_engine_load(engine, of->name, json, strlen(json), GBX_DATA_JSON, &error) !=
            GBX_OK ||
        gbx_describe(engine, of, &told, &error) != GBX_OK)
        fail_msg("%s", error.message);
    if (what == ALL) {
        assert_true(asprintf(&all, "%s %s %s %s", told.type, told.size, told.examples,
                             told.statistics) > 0);
        return all;
    }
    return strdup(what == TYPE       ? told.type
                  : what == SIZE     ? told.size
                  : what == EXAMPLES ? told.examples
                  : what == LOST     ? told.lost != NULL ? told.lost : ""
                                     : told.statistics);
}

static char *told_of(const char *json, part what, const gbx_shown *shown, size_t room)
{
    return told_by(json, what,
                   &(gbx_description){.name = "set", .shown = shown, .room = room});
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
