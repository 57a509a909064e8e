/* SPDX-License-Identifier: MIT */
/* Datasets: loaded once, the same in every call, replaced between calls alone. */
#include "base/cleanup.h"
#include "calls.h"
#include "proc.h"
#include "table.h"
#include "test.h"
#include "until.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gbx_engine *engine;

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.pool_size = 2;
    *state = engine = engine_start(&options);
    return 0;
}

static void load_into(gbx_engine *one, const char *name, const char *json)
{
    gbx_error error = {0};

    if (gbx_engine_load(one, name, json, strlen(json), GBX_DATA_JSON, &error) != GBX_OK)
        fail_msg("'%s': %s", name, error.message);
}

static void load(const char *name, const char *json)
{
    load_into(engine, name, json);
}

static size_t rows_of(const char *section, const table_line **ret_rows)
{
    return table_lines("integration/scripts/datasets.txt", section, true, ret_rows);
}

TEST(dataset__alone_is_the_input_where_none_is_given)
{
    char *report = NULL;

    load("one", "[1,2,3]");
    check_value(engine, "(d) => d.length", NULL, "3");
    check_value(engine, "(d) => d", "\"given\"", "\"given\"");
    load("two", "[22]");
    check_value(engine, "(d) => d", NULL, "null");
    load("one", "[1,1]");
    assert_int_equal(gbx_engine_report(engine, &report, NULL), GBX_OK);
    assert_non_null(strstr(report, "\"datasets\":[{\"name\":\"one\",\"jsonBytes\":5},"
                                   "{\"name\":\"two\",\"jsonBytes\":4}]"));
    gbx_string_free(report);
}

TEST(dataset__is_there_in_every_call)
{
    load("orders", "[{\"id\":1},{\"id\":2}]");
    for (int i = 0; i < 8; i++)
        check_value(engine, "() => datasets.orders[1].id", NULL, "2");
}

TEST(dataset__that_a_call_names_comes_before_the_input)
{
    gbx_call call = call_of("(data, input) => [data, input, data === datasets.b]");
    char *name = strdup("b");
    gbx_error error = {0};
    gbx_result *result;
    gbx_ticket ticket;
    inbox box;

    load("a", "[1]");
    load("b", "[2]");
    call.dataset = name;
    call.input = "{\"n\":3}";
    call.input_len = strlen(call.input);
    inbox_init(&box, 100);
    ticket = call_submit(engine, &call, &box);
    name[0] = '?'; /* what was submitted is a copy */
    assert_true(inbox_wait(&box, 1, 60000));
    assert_string_equal(gbx_result_value(box.results[ticket], NULL),
                        "[[2],{\"n\":3},true]");
    call.dataset = "*";
    result = call_run(engine, &call);
    assert_string_equal(gbx_result_value(result, NULL),
                        "[{\"a\":[1],\"b\":[2]},{\"n\":3},false]");
    gbx_result_free(result);
    call.dataset = "c";
    assert_int_equal(gbx_execute(engine, &call, &result, &error), GBX_E_USAGE);
    assert_string_equal(error.message,
                        "call.dataset is not the name of one that is loaded");
    inbox_cleanup(&box);
    free(name);
}

TEST(dataset__is_pristine_whatever_the_last_call_did)
{
    load("d", "{\"list\":[1,2,3],\"deep\":{\"x\":1}}");
    for (int i = 0; i < 6; i++) {
        gbx_call call = call_of("() => { try { datasets.d.list.length = 0 } catch {} "
                                "try { datasets.d.deep.x = 9 } catch {} "
                                "try { delete datasets.d } catch {} return 0 }");

        gbx_result_free(call_run(engine, &call));
        check_value(engine, "() => [datasets.d.list.length, datasets.d.deep.x]", NULL,
                    "[3,1]");
    }
}

TEST(dataset__is_replaced_by_one_of_its_name)
{
    for (int i = 0; i < 5; i++) {
        char json[16];

        (void)snprintf(json, sizeof json, "%d", i);
        load("d", json);
        check_value(engine, "() => datasets.d", NULL, json);
    }
}

TEST(dataset__of_a_call_in_flight_stays_what_it_was)
{
    gbx_call call = call_of("async () => { const a = datasets.d; await sleep(300); "
                            "return [a, datasets.d] }");
    gbx_ticket ticket;
    inbox box;

    load("d", "\"old\"");
    wait_until_full(engine);
    inbox_init(&box, 100);
    ticket = call_submit(engine, &call, &box);
    assert_false(inbox_wait(&box, 1, 50));
    load("d", "\"new\"");
    check_value(engine, "() => datasets.d", NULL, "\"new\"");
    assert_true(inbox_wait(&box, 1, 60000));

    assert_string_equal(gbx_result_value(box.results[ticket], NULL),
                        "[\"old\",\"old\"]");
    inbox_cleanup(&box);
}

TEST(dataset__that_is_not_json_is_refused_with_its_place)
{
    const table_line *rows;
    size_t count = rows_of("places", &rows);

    load("d", "\"kept\"");
    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        gbx_error error = {0};

        assert_int_equal(gbx_engine_load(engine, "d", cell[0], strlen(cell[0]),
                                         GBX_DATA_JSON, &error),
                         GBX_E_DATA);
        if (error.line != strtoul(cell[1], NULL, 10) ||
            error.column != strtoul(cell[2], NULL, 10))
            fail_msg("line %u: %u:%u: %s", rows[i].number, error.line, error.column,
                     error.message);
    }
    check_value(engine, "() => datasets.d", NULL, "\"kept\"");
}

TEST(ndjson__is_an_array_of_its_lines)
{
    static const char text[] = "{\"a\":1}\n\n{\"a\":2}\r\n  [3]  \n\"four\"";

    assert_int_equal(gbx_engine_load(engine, "d", text, strlen(text), GBX_DATA_NDJSON,
                                     NULL),
                     GBX_OK);
    check_value(engine, "() => datasets.d", NULL, "[{\"a\":1},{\"a\":2},[3],\"four\"]");
    assert_int_equal(gbx_engine_load(engine, "d", "", 0, GBX_DATA_NDJSON, NULL),
                     GBX_OK);
    check_value(engine, "() => datasets.d", NULL, "[]");
}

TEST(ndjson__names_the_line_that_is_bad)
{
    static const char text[] = "{\"a\":1}\n{\"a\":2}\n{\"a\":}\n";
    gbx_error error = {0};

    assert_int_equal(gbx_engine_load(engine, "d", text, strlen(text), GBX_DATA_NDJSON,
                                     &error),
                     GBX_E_DATA);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 6);
}

TEST(name__must_be_an_identifier)
{
    char name[66];
    static const char *const bad[] = {"",    "1a",        "a b", "a-b",
                                      "a.b", "__proto__", "a\n", "\xc3\xa9"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(gbx_engine_load(engine, bad[i], "1", 1, GBX_DATA_JSON, NULL),
                         GBX_E_USAGE);
    memset(name, 'n', sizeof name);
    name[65] = 0;
    assert_int_equal(gbx_engine_load(engine, name, "1", 1, GBX_DATA_JSON, NULL),
                     GBX_E_USAGE);
    name[64] = 0;
    load(name, "1");
    load("constructor", "2");
    load("_$1", "3");
    check_value(engine, "() => datasets._$1 + datasets.constructor", NULL, "5");
}

TEST(format__must_be_one_of_its_values)
{
    static const unsigned formats[] = {4,
                                       8,
                                       GBX_DATA_GROWS | GBX_DATA_UNFINISHED |
                                           GBX_DATA_CSV,
                                       GBX_DATA_UNFINISHED,
                                       GBX_DATA_NDJSON | GBX_DATA_NO_HEADER,
                                       GBX_DATA_SKIP_LINES(1)};

    for (size_t i = 0; i < GBX_COUNTOF(formats); i++) {
        gbx_error error;

        assert_int_equal(gbx_engine_load(engine, "odd", "1", 1,
                                         (gbx_data_format)formats[i], &error),
                         GBX_E_USAGE);
        assert_string_equal(error.message, "format is not one of its values");
    }
}

static unsigned format_of(const char *words)
{
    static const struct {
        const char *word;
        unsigned format;
    } known[] = {
        {"JSON", GBX_DATA_JSON},
        {"NDJSON", GBX_DATA_NDJSON},
        {"CSV", GBX_DATA_CSV},
        {"TSV", GBX_DATA_TSV},
        {"UNFINISHED", GBX_DATA_UNFINISHED},
        {"GROWS", GBX_DATA_GROWS},
        {"NO_HEADER", GBX_DATA_NO_HEADER},
        {"SKIP_BAD", GBX_DATA_SKIP_BAD},
        {"SKIP_LINES=1", GBX_DATA_SKIP_LINES(1)},
        {"SKIP_LINES=2", GBX_DATA_SKIP_LINES(2)},
        {"SKIP_LINES=7", GBX_DATA_SKIP_LINES(7)},
    };
    char *copy = strdup(words);
    unsigned format = 0;

    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        size_t i = 0;

        while (i < GBX_COUNTOF(known) && strcmp(word, known[i].word) != 0)
            i++;
        assert_true(i < GBX_COUNTOF(known));
        format |= known[i].format;
    }
    free(copy);
    return format;
}

TEST(texts__are_read_by_the_template)
{
    static const char refused[] = "cannot load the dataset 't': ";
    const table_line *rows;
    size_t count = rows_of("texts", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        gbx_error error;
        gbx_status status =
            gbx_engine_load(engine, "t", cell[0], strlen(cell[0]),
                            (gbx_data_format)format_of(cell[1]), &error);

        print_message("line %u\n", rows[i].number);
        if (status == GBX_OK) {
            check_value(engine,
                        "() => [datasets.t, datasets.t.columns ?? null, "
                        "datasets.t.isCut ?? null]",
                        NULL, cell[2]);
            continue;
        }
        assert_int_equal(status, GBX_E_DATA);
        assert_memory_equal(error.message, refused, strlen(refused));
        assert_string_equal(error.message + strlen(refused), cell[2]);
    }
}

/* A field that no record has is undefined, and no error: a value that looks as if something
 * was missing says so. */
TEST(field__that_no_record_has_is_named)
{
    const table_line *rows;
    size_t count = rows_of("fields", &rows);

    /* The input is data, too. */
    {
        gbx_call call = call_of("(d) => d.items.filter(i => i.Price > 1).length");
        gbx_result *result;

        call.input = "{\"items\":[{\"price\":5}]}";
        call.input_len = strlen(call.input);
        result = call_run(engine, &call);
        assert_string_equal(gbx_result_hint(result),
                            "no record has 'Price' (line 1): did you mean 'price'?");
        gbx_result_free(result);
    }
    load("orders",
         "[{\"id\":1,\"status\":\"open\",\"total\":5,\"createdAt\":1,"
         "\"customer\":{\"vat\":2}},{\"id\":2,\"status\":\"paid\",\"total\":7,"
         "\"createdAt\":2,\"note\":\"y\"}]");
    for (size_t i = 0; i < count; i++) {
        gbx_call call = call_of(rows[i].cell[0]);
        gbx_result *result = call_run(engine, &call);

        if (gbx_result_code(result) != GBX_CODE_VALUE ||
            strcmp(gbx_result_hint(result), rows[i].cell[1]) != 0)
            fail_msg("%s: %s", call.code, gbx_result_json(result, NULL));
        gbx_result_free(result);
    }
}

TEST(dataset__of_many_megabytes_costs_calls_nothing)
{
    size_t count = 1000000;
    char *json = malloc(count * 12 + 16);
    size_t len = 1;
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_call call = call_of("() => datasets.big.length");

    json[0] = '[';
    for (size_t i = 0; i < count; i++)
        len += (size_t)sprintf(json + len, "%s\"v%07zu\"", i > 0 ? "," : "", i);
    json[len++] = ']';
    assert_int_equal(gbx_engine_load(engine, "big", json, len, GBX_DATA_JSON, NULL),
                     GBX_OK);
    free(json);
    limits.memory_bytes = 16 << 20; /* what is shared is not counted */
    call.limits = &limits;
    for (int i = 0; i < 3; i++) {
        gbx_result *result = call_run(engine, &call);

        assert_string_equal(gbx_result_value(result, NULL), "1000000");
        gbx_result_free(result);
    }
}

/* ---- loads and calls at once ------------------------------------------------------ */

typedef struct mix {
    gbx_engine *engine;
    atomic_bool is_over;
    atomic_size_t wrong;
    atomic_size_t good;
} mix;

#define ROUNDS 8 /* each load is a template */

/* a and b are loaded in this order: b is never newer than a. */
static void load_and_call(void *user, size_t number)
{
    mix *m = user;

    if (number == 0) {
        for (int i = 1; i <= ROUNDS; i++) {
            char json[16];

            (void)snprintf(json, sizeof json, "%d", i);
            if (gbx_engine_load(m->engine, "a", json, strlen(json), GBX_DATA_JSON,
                                NULL) != GBX_OK ||
                gbx_engine_load(m->engine, "b", json, strlen(json), GBX_DATA_JSON,
                                NULL) != GBX_OK)
                atomic_fetch_add(&m->wrong, 1);
        }
        m->is_over = true;
        return;
    }
    while (!m->is_over) {
        gbx_call call = call_of("() => datasets.a - datasets.b");
        gbx_result *result = NULL;

        if (gbx_execute(m->engine, &call, &result, NULL) == GBX_OK &&
            gbx_result_code(result) == GBX_CODE_VALUE &&
            (strcmp(gbx_result_value(result, NULL), "0") == 0 ||
             strcmp(gbx_result_value(result, NULL), "1") == 0))
            atomic_fetch_add(&m->good, 1);
        else
            atomic_fetch_add(&m->wrong, 1);
        gbx_result_free(result);
    }
}

TEST(load__while_others_call)
{
    mix m = {.engine = engine};

    load("a", "0");
    load("b", "0");
    threads_run(4, load_and_call, &m);

    assert_int_equal(m.wrong, 0);
    assert_true(m.good > 0);
    check_value(engine, "() => [datasets.a, datasets.b]", NULL, "[8,8]");
}

static void load_own(void *user, size_t number)
{
    mix *m = user;
    char name[8];
    char json[8];

    (void)snprintf(name, sizeof name, "d%zu", number);
    for (int i = 0; i <= 2; i++) {
        (void)snprintf(json, sizeof json, "%zu", number * 10 + (size_t)i);
        if (gbx_engine_load(m->engine, name, json, strlen(json), GBX_DATA_JSON, NULL) !=
            GBX_OK)
            atomic_fetch_add(&m->wrong, 1);
    }
}

TEST(load__from_many_threads_at_once)
{
    mix m = {.engine = engine};

    threads_run(4, load_own, &m);

    assert_int_equal(m.wrong, 0);
    check_value(engine, "() => [datasets.d0, datasets.d1, datasets.d2, datasets.d3]",
                NULL, "[2,12,22,32]");
}

TEST(load__while_templates_are_recycled)
{
    gbx_options options = GBX_OPTIONS_INIT;
    mix m = {0};

    options.pool_size = 2;
    options.recycle_calls = 4;
    m.engine = engine_start(&options);
    load_into(m.engine, "a", "0");
    load_into(m.engine, "b", "0");
    threads_run(3, load_and_call, &m);

    assert_int_equal(m.wrong, 0);
    check_value(m.engine, "() => [datasets.a, datasets.b]", NULL, "[8,8]");
    gbx_engine_free(m.engine);
}

TEST_MAIN_EACH(start, engine_after_test)
