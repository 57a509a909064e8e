/* SPDX-License-Identifier: MIT */
/* Datasets: loaded once, the same in every call, replaced between calls alone. */
#include "base/cleanup.h"
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load(gbx_engine *engine, const char *name, const char *json)
{
    gbx_error error = {0};

    if (gbx_engine_load(engine, name, json, strlen(json), GBX_DATA_JSON, &error) !=
        GBX_OK)
        fail_msg("'%s': %s", name, error.message);
}

static void test_dataset__is_there_in_every_call(void **state)
{
    load(*state, "orders", "[{\"id\":1},{\"id\":2}]");
    for (int i = 0; i < 8; i++)
        check_value(*state, "() => datasets.orders[1].id", NULL, "2");
}

static void test_dataset__is_the_input_where_none_is_given(void **state)
{
    load(*state, "only", "[1,2,3]");
    check_value(*state, "(d) => d.length", NULL, "3");
    check_value(*state, "(d) => d", "\"given\"", "\"given\"");
    load(*state, "second", "1");
    check_value(*state, "(d) => d", NULL, "null");
}

static void test_dataset__that_a_call_names_comes_before_the_input(void **state)
{
    gbx_call call = call_of("(data, input) => [data, input, data === datasets.b]");
    char *name = strdup("b");
    gbx_error error = {0};
    gbx_result *result;
    gbx_ticket ticket;
    inbox box;

    load(*state, "a", "[1]");
    load(*state, "b", "[2]");
    call.dataset = name;
    call.input = "{\"n\":3}";
    call.input_len = strlen(call.input);
    inbox_init(&box, 100);
    ticket = call_submit(*state, &call, &box);
    name[0] = '?'; /* what was submitted is a copy */
    assert_true(inbox_wait(&box, 1, 60000));
    assert_string_equal(gbx_result_value(box.results[ticket], NULL),
                        "[[2],{\"n\":3},true]");
    call.dataset = "*";
    result = call_run(*state, &call);
    assert_string_equal(gbx_result_value(result, NULL),
                        "[{\"a\":[1],\"b\":[2]},{\"n\":3},false]");
    gbx_result_free(result);
    call.dataset = "c";
    assert_int_equal(gbx_execute(*state, &call, &result, &error), GBX_E_USAGE);
    assert_string_equal(error.message,
                        "call.dataset is not the name of one that is loaded");
    inbox_cleanup(&box);
    free(name);
}

static void test_dataset__is_pristine_whatever_the_last_call_did(void **state)
{
    load(*state, "d", "{\"list\":[1,2,3],\"deep\":{\"x\":1}}");
    for (int i = 0; i < 6; i++) {
        gbx_call call = call_of("() => { try { datasets.d.list.length = 0 } catch {} "
                                "try { datasets.d.deep.x = 9 } catch {} "
                                "try { delete datasets.d } catch {} return 0 }");

        gbx_result_free(call_run(*state, &call));
        check_value(*state, "() => [datasets.d.list.length, datasets.d.deep.x]", NULL,
                    "[3,1]");
    }
}

static void test_dataset__is_replaced_by_one_of_its_name(void **state)
{
    for (int i = 0; i < 5; i++) {
        char json[16];

        (void)snprintf(json, sizeof json, "%d", i);
        load(*state, "d", json);
        check_value(*state, "() => datasets.d", NULL, json);
    }
}

static void test_dataset__of_a_call_in_flight_stays_what_it_was(void **state)
{
    gbx_call call = call_of("async () => { const a = datasets.d; await sleep(300); "
                            "return [a, datasets.d] }");
    gbx_ticket ticket;
    inbox box;

    load(*state, "d", "\"old\"");
    wait_until_full(*state);
    inbox_init(&box, 100);
    ticket = call_submit(*state, &call, &box);
    assert_false(inbox_wait(&box, 1, 50));
    load(*state, "d", "\"new\"");
    check_value(*state, "() => datasets.d", NULL, "\"new\"");
    assert_true(inbox_wait(&box, 1, 60000));

    assert_string_equal(gbx_result_value(box.results[ticket], NULL),
                        "[\"old\",\"old\"]");
    inbox_cleanup(&box);
}

static void test_dataset__that_is_not_json_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *json;
        uint32_t line;
        uint32_t column;
    } cases[] = {
        {"", 1, 1},           {"{\"a\":1", 1, 7},  {"[1,\n2,\n oops]", 3, 2},
        {"[1] 2", 1, 5},      {"{\"a\" 1}", 1, 6}, {"\"\xc3\xa9\xff\"", 1, 3},
        {"[\"a\nb\"]", 1, 4}, {"nul", 1, 1},
    };

    load(*state, "d", "\"kept\"");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbx_error error = {0};

        assert_int_equal(gbx_engine_load(*state, "d", cases[i].json,
                                         strlen(cases[i].json), GBX_DATA_JSON, &error),
                         GBX_E_DATA);
        if (error.line != cases[i].line || error.column != cases[i].column)
            fail_msg("case %zu: %u:%u: %s", i, error.line, error.column, error.message);
    }
    check_value(*state, "() => datasets.d", NULL, "\"kept\"");
}

static void test_ndjson__is_an_array_of_its_lines(void **state)
{
    static const char text[] = "{\"a\":1}\n\n{\"a\":2}\r\n  [3]  \n\"four\"";

    assert_int_equal(gbx_engine_load(*state, "d", text, strlen(text), GBX_DATA_NDJSON,
                                     NULL),
                     GBX_OK);
    check_value(*state, "() => datasets.d", NULL, "[{\"a\":1},{\"a\":2},[3],\"four\"]");
    assert_int_equal(gbx_engine_load(*state, "d", "", 0, GBX_DATA_NDJSON, NULL),
                     GBX_OK);
    check_value(*state, "() => datasets.d", NULL, "[]");
}

static void test_ndjson__names_the_line_that_is_bad(void **state)
{
    static const char text[] = "{\"a\":1}\n{\"a\":2}\n{\"a\":}\n";
    gbx_error error = {0};

    assert_int_equal(gbx_engine_load(*state, "d", text, strlen(text), GBX_DATA_NDJSON,
                                     &error),
                     GBX_E_DATA);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 6);
}

static void test_name__must_be_an_identifier(void **state)
{
    char name[66];
    static const char *const bad[] = {"",    "1a",        "a b", "a-b",
                                      "a.b", "__proto__", "a\n", "\xc3\xa9"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(gbx_engine_load(*state, bad[i], "1", 1, GBX_DATA_JSON, NULL),
                         GBX_E_USAGE);
    memset(name, 'n', sizeof name);
    name[65] = 0;
    assert_int_equal(gbx_engine_load(*state, name, "1", 1, GBX_DATA_JSON, NULL),
                     GBX_E_USAGE);
    name[64] = 0;
    load(*state, name, "1");
    load(*state, "constructor", "2");
    load(*state, "_$1", "3");
    check_value(*state, "() => datasets._$1 + datasets.constructor", NULL, "5");
}

static void test_format__must_be_one_of_its_values(void **state)
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

        assert_int_equal(gbx_engine_load(*state, "odd", "1", 1,
                                         (gbx_data_format)formats[i], &error),
                         GBX_E_USAGE);
        assert_string_equal(error.message, "format is not one of its values");
    }
}

static void test_texts__are_read_by_the_template(void **state)
{
    static const struct {
        const char *text;
        unsigned format;
        const char *wanted; /* value, or error */
        bool is_refused;
    } cases[] = {
        {"a,b\n1,x\n", GBX_DATA_CSV, "[[{\"a\":1,\"b\":\"x\"}],null,null]", false},
        {"a,b\tc\n1\t\n", GBX_DATA_TSV, "[[{\"a,b\":1,\"c\":null}],null,null]", false},
        {"1\n23", GBX_DATA_NDJSON, "[[1,23],null,null]", false},
        {"1\n23", GBX_DATA_NDJSON | GBX_DATA_UNFINISHED, "[[1,23],null,null]", false},
        {"1\n23", GBX_DATA_NDJSON | GBX_DATA_GROWS, "[[1],null,true]", false},
        {"1\n23\n", GBX_DATA_NDJSON | GBX_DATA_GROWS, "[[1,23],null,null]", false},
        {"[1]\n[2]", GBX_DATA_NDJSON | GBX_DATA_GROWS, "[[[1],[2]],null,null]", false},
        {"[1]\n[2", GBX_DATA_NDJSON | GBX_DATA_UNFINISHED, "[[[1]],null,true]", false},
        {"[1]\n[2", GBX_DATA_NDJSON,
         "cannot load the dataset 't': line 2, column 3: expected ',' or ']'", true},
        {"[1\n[2", GBX_DATA_NDJSON | GBX_DATA_UNFINISHED,
         "cannot load the dataset 't': line 1, column 3: expected ',' or ']'", true},
        {"[2", GBX_DATA_NDJSON | GBX_DATA_GROWS,
         "cannot load the dataset 't': line 1, column 3: expected ',' or ']'", true},
        {"[1]\n1 2\n", GBX_DATA_NDJSON,
         "cannot load the dataset 't': line 2, column 3: unexpected text after the JSON "
         "value",
         true},
        {"[1]\n[2]", GBX_DATA_JSON,
         "cannot load the dataset 't': line 2, column 1: unexpected text after the JSON "
         "value (one value a line is NDJSON)",
         true},
        {"a,b\n1,2\n3", GBX_DATA_CSV,
         "cannot load the dataset 't': line 3, column 1: 1 cell where the first line "
         "names 2",
         true},
        {"a,b\n1,2\n3", GBX_DATA_CSV | GBX_DATA_UNFINISHED,
         "[[{\"a\":1,\"b\":2}],null,true]", false},
        {"a\n1\n2", GBX_DATA_TSV | GBX_DATA_GROWS, "[[{\"a\":1}],null,true]", false},
        {"a,\n", GBX_DATA_CSV, "[[],[\"a\",\"column_2\"],null]", false},
        {"1,x\n2,y\n", GBX_DATA_CSV | GBX_DATA_NO_HEADER,
         "[[{\"column_1\":1,\"column_2\":\"x\"},{\"column_1\":2,\"column_2\":\"y\"}],null,"
         "null]",
         false},
        {"Report\r\n\"of\nsep=;\na;b\n1;2\n", GBX_DATA_CSV | GBX_DATA_SKIP_LINES(2),
         "[[{\"a\":1,\"b\":2}],null,null]", false},
        {"a\n", GBX_DATA_CSV | GBX_DATA_SKIP_LINES(7),
         "cannot load the dataset 't': line 2, column 1: the first line, which names "
         "the columns, is missing",
         true},
        {"x\na,b\n1,2\n3\n4,\"5\" 6\n7,8\n", GBX_DATA_CSV | GBX_DATA_SKIP_LINES(1),
         "cannot load the dataset 't': line 4, column 1: 1 cell where the first line "
         "names 2",
         true},
        {"a,b\n1,2\n3\n4,\"5\" 6\n7,8\n9,0,1\n2,3\"\n5,\"6",
         GBX_DATA_CSV | GBX_DATA_SKIP_BAD,
         "[[{\"a\":1,\"b\":2},{\"a\":7,\"b\":8}],null,null]", false},
        {"a\n\xff", GBX_DATA_CSV,
         "cannot load the dataset 't': line 2, column 1: not UTF-8: convert the file, "
         "for instance with iconv",
         true},
        {"", GBX_DATA_CSV,
         "cannot load the dataset 't': line 1, column 1: the first line, which names "
         "the columns, is missing",
         true},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        gbx_error error;
        gbx_status status =
            gbx_engine_load(*state, "t", cases[i].text, strlen(cases[i].text),
                            (gbx_data_format)cases[i].format, &error);

        assert_int_equal(status, cases[i].is_refused ? GBX_E_DATA : GBX_OK);
        if (cases[i].is_refused)
            assert_string_equal(error.message, cases[i].wanted);
        else
            check_value(*state,
                        "() => [datasets.t, datasets.t.columns ?? null, "
                        "datasets.t.isCut ?? null]",
                        NULL, cases[i].wanted);
    }
}

/* A field that no record has is undefined, and no error: a value that looks as if something
 * was missing says so. */
static void test_field__that_no_record_has_is_named(void **state)
{
    static const struct {
        const char *code;
        const char *hint;
    } rows[] = {
        {"(d) => d.filter(o => o.Status === 'open').length",
         "no record has 'Status' (line 1): did you mean 'status'?"},
        {"(d) =>\n  d.reduce((s, o) => s + o.totals, 0)",
         "no record has 'totals' (line 2): did you mean 'total'?"},
        {"(d) => d.map(({ amount }) => amount)", "no record has 'amount' (line 1)"},
        {"(d) => d.find(o => o['createdat'] > 1)",
         "no record has 'createdat' (line 1): did you mean 'createdAt'?"},
        {"(d) => Object.groupBy(d, o => o.state)",
         "no record has 'state' (line 1): did you mean 'status'?"},
        {"(d: any[]) => d.filter((o: any) => o.Status).length",
         "no record has 'Status' (line 1): did you mean 'status'?"},
        /* Fields of deeper objects, and of a few records, are fields. */
        {"(d) => d.filter(o => o.customer?.vat === 1).length", ""},
        {"(d) => d.filter(o => o.note === 'x').length", ""},
        /* What the code defines, and what is built in. */
        {"(d) => { const r = { count: 0 }; return r.count }", ""},
        {"(d) => { const r = {}; r.count = 0; return r.count }", ""},
        {"(d) => d.filter(o => o.id.length).length", ""},
        {"(d) => Math.PI > 4 ? 1 : 0", ""},
        /* Getters and proxies that the code has put into the data do not run. */
        {"(d) => { d[0].p = new Proxy({}, { ownKeys() { for (;;); } });"
         " return d.filter(o => o.Zz).length }",
         "no record has 'Zz' (line 1)"},
        {"(d) => { d[0].p = { get q() { for (;;); } }; return d.filter(o => o.Zz).length }",
         "no record has 'Zz' (line 1)"},
        /* A value that looks right. */
        {"(d) => d.filter(o => o.Status !== 'open').length", ""},
    };

    /* The input is data, too. */
    {
        gbx_call call = call_of("(d) => d.items.filter(i => i.Price > 1).length");
        gbx_result *result;

        call.input = "{\"items\":[{\"price\":5}]}";
        call.input_len = strlen(call.input);
        result = call_run(*state, &call);
        assert_string_equal(gbx_result_hint(result),
                            "no record has 'Price' (line 1): did you mean 'price'?");
        gbx_result_free(result);
    }
    load(*state, "orders",
         "[{\"id\":1,\"status\":\"open\",\"total\":5,\"createdAt\":1,"
         "\"customer\":{\"vat\":2}},{\"id\":2,\"status\":\"paid\",\"total\":7,"
         "\"createdAt\":2,\"note\":\"y\"}]");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbx_call call = call_of(rows[i].code);
        gbx_result *result = call_run(*state, &call);

        if (gbx_result_code(result) != GBX_CODE_VALUE ||
            strcmp(gbx_result_hint(result), rows[i].hint) != 0)
            fail_msg("%s: %s", rows[i].code, gbx_result_json(result, NULL));
        gbx_result_free(result);
    }
}

static void test_datasets__are_listed_in_the_report(void **state)
{
    char *report = NULL;

    load(*state, "one", "[1]");
    load(*state, "two", "[22]");
    load(*state, "one", "[1,1]");
    assert_int_equal(gbx_engine_report(*state, &report, NULL), GBX_OK);

    assert_non_null(strstr(report, "\"datasets\":[{\"name\":\"one\",\"jsonBytes\":5},"
                                   "{\"name\":\"two\",\"jsonBytes\":4}]"));
    gbx_string_free(report);
}

static void test_dataset__of_many_megabytes_costs_calls_nothing(void **state)
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
    assert_int_equal(gbx_engine_load(*state, "big", json, len, GBX_DATA_JSON, NULL),
                     GBX_OK);
    free(json);
    limits.memory_bytes = 16 << 20; /* what is shared is not counted */
    call.limits = &limits;
    for (int i = 0; i < 3; i++) {
        gbx_result *result = call_run(*state, &call);

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

/* a and b are loaded in this order: b is never newer than a. */
static void load_and_call(void *user, size_t number)
{
    mix *m = user;

    if (number == 0) {
        for (int i = 1; i <= 20; i++) {
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

static void test_load__while_others_call(void **state)
{
    mix m = {.engine = *state};

    load(*state, "a", "0");
    load(*state, "b", "0");
    threads_run(4, load_and_call, &m);

    assert_int_equal(m.wrong, 0);
    assert_true(m.good > 0);
    check_value(*state, "() => [datasets.a, datasets.b]", NULL, "[20,20]");
}

static void load_own(void *user, size_t number)
{
    mix *m = user;
    char name[8];
    char json[8];

    (void)snprintf(name, sizeof name, "d%zu", number);
    for (int i = 0; i <= 5; i++) {
        (void)snprintf(json, sizeof json, "%zu", number * 10 + (size_t)i);
        if (gbx_engine_load(m->engine, name, json, strlen(json), GBX_DATA_JSON, NULL) !=
            GBX_OK)
            atomic_fetch_add(&m->wrong, 1);
    }
}

static void test_load__from_many_threads_at_once(void **state)
{
    mix m = {.engine = *state};

    threads_run(4, load_own, &m);

    assert_int_equal(m.wrong, 0);
    check_value(*state, "() => [datasets.d0, datasets.d1, datasets.d2, datasets.d3]",
                NULL, "[5,15,25,35]");
}

static void test_load__while_templates_are_recycled(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    mix m = {0};

    options.recycle_calls = 4;
    m.engine = engine_start(&options);
    load(m.engine, "a", "0");
    load(m.engine, "b", "0");
    threads_run(3, load_and_call, &m);

    assert_int_equal(m.wrong, 0);
    check_value(m.engine, "() => [datasets.a, datasets.b]", NULL, "[20,20]");
    gbx_engine_free(m.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_ENGINE(test_dataset__is_there_in_every_call),
        ON_ENGINE(test_dataset__is_the_input_where_none_is_given),
        ON_ENGINE(test_dataset__that_a_call_names_comes_before_the_input),
        ON_ENGINE(test_dataset__is_pristine_whatever_the_last_call_did),
        ON_ENGINE(test_dataset__is_replaced_by_one_of_its_name),
        ON_ENGINE(test_dataset__of_a_call_in_flight_stays_what_it_was),
        ON_ENGINE(test_dataset__that_is_not_json_is_refused_with_its_place),
        ON_ENGINE(test_ndjson__is_an_array_of_its_lines),
        ON_ENGINE(test_ndjson__names_the_line_that_is_bad),
        ON_ENGINE(test_name__must_be_an_identifier),
        ON_ENGINE(test_format__must_be_one_of_its_values),
        ON_ENGINE(test_texts__are_read_by_the_template),
        ON_ENGINE(test_field__that_no_record_has_is_named),
        ON_ENGINE(test_datasets__are_listed_in_the_report),
        ON_ENGINE(test_dataset__of_many_megabytes_costs_calls_nothing),
        ON_ENGINE(test_load__while_others_call),
        ON_ENGINE(test_load__from_many_threads_at_once),
        ON_ENGINE(test_load__while_templates_are_recycled),
    };

    return cmocka_run_group_tests_name("datasets", tests, NULL, NULL);
}
