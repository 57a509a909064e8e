/* SPDX-License-Identifier: MIT */
/* Names of persons are told nowhere, and those of things are. */
#include "base/cleanup.h"
#include "described.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_names_of_people__are_masked_and_those_of_things_are_not(void **state)
{
    (void)state;

    tells(
        "[{\"customer\":{\"id\":\"C1\",\"name\":\"Ada Byron\",\"plan\":{\"name\":\"Gold\"}},"
        "\"item\":{\"name\":\"Lamp\"},\"users\":[{\"name\":\"Bo Li\"}]}]",
        EXAMPLES,
        "{customer:{id:\"C1\",name:\"Xxx Xxxxx\",plan:{name:\"Gold\"}},item:{name:\"Lamp\"},"
        "users:[{name:\"Xx Xx\"}]}\n");
}

static void test_a_name__is_of_a_person_beside_what_only_persons_have(void **state)
{
    static const char *const persons[] = {
        "\"email\":null", "\"phone\":null",     "\"birthdate\":null",
        "\"ssn\":null",   "\"salary\":50000",   "\"Sex\":\"f\"",
        "\"patient\":7",  "\"home_addr\":null", "\"Geburtstag\":null",
    };
    static const char *const things[] = {
        "\"price\":1",         "\"sku\":\"A\"", "\"city\":\"Ulm\"",
        "\"ip_address\":null", "\"zip\":\"0\"", "\"emails\":7",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(persons) + GBX_COUNTOF(things); i++) {
        bool is_person = i < GBX_COUNTOF(persons);
        char json[100];
        char *text;

        (void)snprintf(json, sizeof json, "[{\"name\":\"Ada\",%s}]",
                       is_person ? persons[i] : things[i - GBX_COUNTOF(persons)]);
        text = told(json, EXAMPLES, 1000);
        if ((strstr(text, "Xxx") != NULL) != is_person)
            fail_msg("%s", text);
        free(text);
    }
}

static void test_persons__are_masked_as_texts_too(void **state)
{
    (void)state;

    tells("[{\"customer\":\"Alice Cooper\",\"attendees\":[\"Bo\"],\"seller\":17,"
          "\"people\":[{\"first\":\"Sam\",\"last\":\"Spade\"}],\"user_type\":\"new\"}]",
          EXAMPLES,
          "{customer:\"Xxxxx Xxxxxx\",attendees:[\"Xx\"],seller:17,"
          "people:[{first:\"Xxx\",last:\"Xxxxx\"}],user_type:\"new\"}\n");
}

static void test_persons__are_no_choice(void **state)
{
    char *list = list_of(9, "{\"patient\":\"Ann\",\"name\":\"Ann\",\"sex\":\"f\"}",
                         "{\"patient\":\"Bo\",\"name\":\"Bo\",\"sex\":\"f\"}");
    char *statistics = told(list, STATISTICS, 0);
    (void)state;

    tells(list, TYPE, "{ patient: string; name: string; sex: \"f\" }[]");
    assert_null(strstr(statistics, "Ann"));
    assert_non_null(strstr(statistics, "{\"value\":\"f\",\"count\":10}"));
    free(statistics);
    free(list);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_people__are_masked_and_those_of_things_are_not),
        cmocka_unit_test(test_a_name__is_of_a_person_beside_what_only_persons_have),
        cmocka_unit_test(test_persons__are_masked_as_texts_too),
        cmocka_unit_test(test_persons__are_no_choice),
    };

    return cmocka_run_group_tests_name("persons", tests, NULL, NULL);
}
