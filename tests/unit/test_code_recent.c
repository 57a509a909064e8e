/* SPDX-License-Identifier: MIT */
/* What was made once is made again without looking, and is the same. */
#include "mcp/code/code.h"
#include "test.h"

static int start(void **state)
{
    *state = calloc(1, sizeof(gbx_recent));
    return *state != NULL ? 0 : -1;
}

static int finish(void **state)
{
    gbx_recent_cleanup(*state);
    free(*state);
    return 0;
}

static gbx_script make(gbx_recent *recent, const char *text)
{
    gbx_script script;

    if (gbx_recent_find(recent, text, strlen(text), &script))
        return script;
    assert_int_equal(gbx_script_make(text, strlen(text), "input", &script, NULL),
                     GBX_OK);
    gbx_recent_keep(recent, text, strlen(text), &script);
    return script;
}

/* Nothing that a parser would say: who gives it back has not parsed. */
#define MARK 4711

static bool is_known(gbx_recent *recent, const char *text)
{
    gbx_script script;
    bool known;

    for (size_t i = 0; i < GBX_RECENT_MAX; i++)
        recent->kept[i].script.last_line = MARK;
    script = make(recent, text);
    known = script.last_line == MARK;
    gbx_script_cleanup(&script);
    return known;
}

TEST(make__gives_the_same_script_again)
{
    static const char *const texts[] = {
        "return 1",
        "async (x) => x.a",
        "async function run() { return 2 }\n",
        "const f = (a: number): number => a; f(1)",
        "enum A { B }",
        "}{ not a program",
        "",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        gbx_script first = make(*state, texts[i]);
        gbx_script second = make(*state, texts[i]);

        assert_string_equal(first.code, second.code);
        assert_ptr_not_equal(first.code, second.code);
        assert_int_equal(first.code_len, second.code_len);
        assert_int_equal(first.insert_count, second.insert_count);
        assert_memory_equal(first.inserts, second.inserts,
                            first.insert_count * sizeof first.inserts[0]);
        assert_int_equal(first.had_types, second.had_types);
        assert_ptr_equal(first.message, second.message);
        assert_ptr_equal(first.hint, second.hint);
        assert_int_equal(first.line, second.line);
        assert_int_equal(first.column, second.column);
        assert_int_equal(first.last_line, second.last_line);
        gbx_script_cleanup(&first);
        gbx_script_cleanup(&second);
    }
}

TEST(make__parses_a_text_once)
{
    gbx_script script = make(*state, "return 1");

    gbx_script_cleanup(&script);
    assert_true(is_known(*state, "return 1"));
    assert_false(is_known(*state, "return 2"));
    assert_false(is_known(*state, "return 1 "));
}

TEST(make__forgets_the_oldest_first)
{
    char text[32];

    for (int i = 0; i <= GBX_RECENT_MAX; i++) {
        gbx_script script;

        (void)snprintf(text, sizeof text, "return %d", i);
        script = make(*state, text);
        gbx_script_cleanup(&script);
    }
    assert_true(is_known(*state, "return 1"));
    assert_true(is_known(*state, text));
    assert_false(is_known(*state, "return 0"));
}

TEST(make__keeps_nothing_that_is_long)
{
    size_t len = GBX_RECENT_TEXT_MAX + 1;
    char *text = malloc(len + 1);

    assert_non_null(text);
    memset(text, ' ', len);
    memcpy(text, "return 1", 8);
    text[len] = 0;
    assert_false(is_known(*state, text));
    assert_false(is_known(*state, text));
    text[len - 1] = 0;
    assert_false(is_known(*state, text));
    assert_true(is_known(*state, text));
    free(text);
}

TEST_MAIN_EACH(start, finish)
