/* SPDX-License-Identifier: MIT */
/* What stands beside a value may say what it is, and is heard everywhere. */
#include "base/cleanup.h"
#include "described.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The text is in nothing that is told of six such records. */
static void tells_nowhere(const char *record, const char *text)
{
    char *json = list_of(5, record, record);

    for (int i = TYPE; i <= STATISTICS; i++) {
        char *said = told(json, (part)i, 10000);

        if (strstr(said, text) != NULL)
            fail_msg("%s", said);
        free(said);
    }
    free(json);
}

static void test_a_value__is_told_as_the_name_beside_it_says(void **state)
{
    (void)state;

    tells_nowhere("{\"name\":\"DB_PASSWORD\",\"value\":\"hunter2\"}", "hunter2");
    tells_nowhere("{\"value\":\"hunter2\",\"key\":\"apiPassword\"}", "hunter2");
    tells_nowhere("{\"Name\":\"/prod/db/password\",\"Value\":\"hunter2\"}", "hunter2");
    tells_nowhere("{\"e\":1,\"attribute\":\"first_name\",\"val\":\"Alice\"}", "Alice");
    tells_nowhere("{\"env\":[{\"setting\":\"smtp_password\",\"value\":\"hunter2\"}]}",
                  "hunter2");
    tells_nowhere("{\"label\":\"Passwort\",\"value\":\"hunter2\"}", "hunter2");
    tells_nowhere("{\"k\":\"session_token\",\"v\":\"hunter2\"}", "hunter2");
    tells_nowhere("{\"field\":\"last_name\",\"old\":\"Alice\",\"new\":\"Alice\"}",
                  "Alice");
    tells_nowhere("{\"attribute\":\"phone\",\"oldValue\":null,\"new_value\":\"Alice\"}",
                  "Alice");
    tells("[{\"name\":\"password\",\"value\":\"hunter2\"},"
          "{\"name\":\"HOME\",\"value\":\"/root\"}]",
          EXAMPLES,
          "{name:\"password\",value:\"xxxxxx0\"}\n{name:\"HOME\",value:\"/root\"}\n");
}

static void test_a_value__that_no_name_hides_is_told(void **state)
{
    char *json = list_of(5, "{\"name\":\"tokens\",\"value\":12}",
                         "{\"name\":\"prompt_tokens\",\"value\":7}");
    char *statistics = told(json, STATISTICS, 0);
    (void)state;

    assert_non_null(strstr(statistics, "\"min\":7,\"max\":12"));
    free(statistics);
    free(json);
    json = list_of(5, "{\"key\":\"color\",\"value\":\"red\"}",
                   "{\"key\":\"size\",\"value\":\"red\"}");
    tells(json, TYPE, "{ key: string; value: \"red\" }[]");
    free(json);
}

static void test_the_second_of_two__is_told_as_the_first_says(void **state)
{
    (void)state;

    tells_nowhere("[[\"X-Api-Key\",\"correcthorse\"],[\"Accept\",\"text\"]]",
                  "correcthorse");
    tells("[{\"headers\":[[\"X-Api-Key\",\"horse\"],[\"Accept\",\"text\"]]}]", EXAMPLES,
          "{headers:[[\"X-Api-Key\",\"xxxxx\"],[\"Xxxxxx\",\"text\"]]}\n");
}

static void test_the_second_of_two__is_told_as_the_first_says_in_every_row(void **state)
{
    (void)state;

    tells("[{\"headers\":[[\"Accept\",\"text\"],[\"X-Api-Key\",\"horse\"]]}]", EXAMPLES,
          "{headers:[[\"Accept\",\"text\"],[\"X-Api-Key\",\"xxxxx\"]]}\n");
    tells("[[\"cookie\",\"horse\"],[\"password\",\"battery\"]]", EXAMPLES,
          "[\"cookie\",\"xxxxx\"]\n[\"xxxxxxxx\",\"xxxxxxx\"]\n");
    tells("{\"columns\":[\"what\",\"it\"],\"data\":[[\"password\",\"battery\"]]}",
          EXAMPLES, "{columns:[\"what\",\"it\"],data:[[\"password\",\"xxxxxxx\"]]}\n");
}

static void test_what_is_behind_a_flag__is_told_as_the_flag_says(void **state)
{
    static const char serve[] =
        "{\"args\":[\"serve\",\"--port\",\"8080\"],\"line\":\"x --port 80\"}";
    char *json;
    (void)state;

    tells_nowhere(
        "{\"cmd\":\"web\",\"args\":[\"-u\",\"root\",\"--password\",\"hunter2\"]}",
        "hunter2");
    tells_nowhere("{\"command\":[\"curl\",\"--oauth2-bearer\",\"hunter2\",\"x\"]}",
                  "hunter2");
    tells_nowhere("{\"line\":\"mysql --password hunter2 -u root\"}", "hunter2");
    tells_nowhere("{\"line\":\"login --api-key 'hunter2'\"}", "hunter2");
    json = list_of(5, serve, serve);
    tells(json, TYPE,
          "{ args: (\"serve\" | \"--port\" | \"8080\")[]; line: \"x --port 80\" }[]");
    free(json);
}

static void test_rows__are_told_as_the_names_of_their_columns_say(void **state)
{
    (void)state;

    tells_nowhere("{\"columns\":[\"id\",\"password\"],\"data\":[[1,\"hunter2\"]]}",
                  "hunter2");
    tells_nowhere("{\"fields\":[{\"name\":\"id\"},{\"name\":\"ssn\"}],"
                  "\"rows\":[[1,\"hunter2\"],[2,\"hunter2\"]]}",
                  "hunter2");
    tells("{\"columns\":[\"id\",\"name\",\"email\"],\"data\":[[7,\"Ada\",null]]}",
          EXAMPLES, "{columns:[\"id\",\"name\",\"email\"],data:[[7,\"Xxx\",null]]}\n");
}

static void test_rows__are_told_as_the_first_of_them_says(void **state)
{
    static const char rows[] =
        "[[\"id\",\"full_name\",\"plan\"],[1,\"Ada Byron\",\"hunter2\"],"
        "[2,\"Bo Li\",\"free\"]]";
    (void)state;

    tells(rows, EXAMPLES,
          "[\"id\",\"full_name\",\"plan\"]\n[1,\"Xxx Xxxxx\",\"hunter2\"]\n"
          "[2,\"Xx Xx\",\"free\"]\n");
    tells_nowhere("[[\"id\",\"password\",\"n\"],[1,\"hunter2\",1],[2,\"hunter2\",2]]",
                  "hunter2");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value__is_told_as_the_name_beside_it_says),
        cmocka_unit_test(test_a_value__that_no_name_hides_is_told),
        cmocka_unit_test(test_the_second_of_two__is_told_as_the_first_says),
        cmocka_unit_test(
            test_the_second_of_two__is_told_as_the_first_says_in_every_row),
        cmocka_unit_test(test_what_is_behind_a_flag__is_told_as_the_flag_says),
        cmocka_unit_test(test_rows__are_told_as_the_names_of_their_columns_say),
        cmocka_unit_test(test_rows__are_told_as_the_first_of_them_says),
    };

    return cmocka_run_group_tests_name("siblings", tests, NULL, NULL);
}
