/* SPDX-License-Identifier: MIT */
/* mcp_secrets - values that servers get and nobody else sees. */
#include "mcp_stage.h"
#include "test.h"

#include <jansson.h>

/* ---- secrets ---------------------------------------------------------------------------- */

#define SECRET                                                                   \
    "\"rules\": [{\"action\": \"allow\"}], \"secrets\": {\"KEY\": {\"value\": "  \
    "\"t0ken-of-the-test\", \"servers\": [\"files\"]}, \"QUOTED\": {\"value\": " \
    "\"a\\\"b\\\\c,d:efgh\", \"servers\": [\"files\"]}}"

TEST(secrets__are_filled_in_outside_and_never_come_back)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;

    open_gate(SECRET);
    played.result =
        "{\"content\":[{\"type\":\"text\",\"text\":\"you said t0ken-of-the-test, "
        "dDBrZW4tb2YtdGhlLXRlc3Q=, 74306b656e2d6f662d7468652d74657374, "
        "t0ken%2Dof%2Dthe%2Dtest\"}],\"structuredContent\":{\"k\":\"t0ken-of-the-test\"}}";
    o = call(&p, "plain", "{\"k\":\"Bearer {{secret:KEY}}\"}", "r-1");
    assert_string_equal(o.code, "");
    assert_string_equal(played.calls[0]->args, "{\"k\":\"Bearer t0ken-of-the-test\"}");
    assert_null(strstr(o.result, "t0ken"));
    assert_null(strstr(o.result, "dDBr"));
    assert_null(strstr(o.result, "7430"));
    assert_non_null(strstr(o.result, "you said {{secret:KEY}}"));
    assert_string_equal(o.progress, "at {{secret:KEY}}");
    assert_null(strstr(lines, "t0ken"));
    close_gate();
}

TEST(progress__that_nobody_hears_is_not_made_ready)
{
    gbx_mcp_request p = person(ONCE);

    open_gate(SECRET);
    p.is_deaf = true;
    assert_string_equal(call(&p, "plain", "{}", "r-1").progress, "");
    close_gate();
}

TEST(secrets__cannot_end_the_string_they_are_put_into)
{
    gbx_mcp_request p = person(ONCE);
    json_t *args;

    open_gate(SECRET);
    (void)call(&p, "plain", "{\"k\":\"<{{secret:QUOTED}}>\"}", "");
    args = json_loads(played.calls[0]->args, 0, NULL);
    assert_non_null(args);
    assert_int_equal(json_object_size(args), 1);
    assert_string_equal(json_string_value(json_object_get(args, "k")),
                        "<a\"b\\c,d:efgh>");
    json_decref(args);
    close_gate();
}

TEST(secrets__are_in_no_question_and_no_error)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;

    open_gate("\"secrets\": {\"KEY\": {\"value\": \"t0ken-of-the-test\", \"servers\": "
              "[\"files\"]}}");
    played.fault = GBX_UPSTREAM_REFUSED;
    played.result = "bad key: t0ken-of-the-test";
    o = call(&p, "plain", "{\"k\":\"{{secret:KEY}}\"}", "r-1");
    assert_string_equal(o.code, "UPSTREAM_OTHER");
    assert_string_equal(o.message, "bad key: {{secret:KEY}}");
    assert_non_null(strstr(p.message, "{{secret:KEY}}"));
    assert_null(strstr(p.message, "t0ken"));
    assert_null(strstr(lines, "t0ken"));
    close_gate();
}

/* Whatever is cut off a long message, it is not half of a value. */
TEST(secrets__at_the_end_of_a_long_error_are_not_cut)
{
    static char message[40000];
    gbx_mcp_request p = person(ONCE);

    for (size_t len = 2000; len < 4200; len += 7) {
        outcome o;

        open_gate(SECRET);
        memset(message, 'x', len);
        strcpy(message + len, "t0ken-of-the-test and so on");
        played.fault = GBX_UPSTREAM_REFUSED;
        played.result = message;
        o = call(&p, "plain", "{}", "");
        assert_null(strstr(o.message, "t0ke"));
        close_gate();
    }
}

TEST(secrets__that_are_not_for_the_server_are_refused)
{
    static const char *const args[] = {"{\"k\":\"{{secret:OTHER}}\"}",
                                       "{\"k\":\"{{secret:NONE}}\"}",
                                       "{\"k\":\"{{secret:\"}"};
    gbx_mcp_request p = person(ONCE);

    open_gate("\"rules\": [{\"action\": \"allow\"}]");
    for (size_t i = 0; i < GBX_COUNTOF(args); i++)
        assert_string_equal(call(&p, "plain", args[i], "").code, "INVALID_ARGS");
    assert_int_equal(played.started, 0);
    close_gate();
}

/* One that takes long to look through, with a value at its end; free() it. */
static char *long_answer(void)
{
    static const char head[] = "{\"content\":[],\"a\":\"";
    static const char tail[] = "\",\"k\":\"t0ken-of-the-test\"}";
    size_t len = GBX_MIB(16);
    char *text = malloc(len + sizeof head + sizeof tail);

    memcpy(text, head, sizeof head);
    memset(text + sizeof head - 1, '%', len);
    memcpy(text + sizeof head - 1 + len, tail, sizeof tail);
    return text;
}

TEST(secrets__in_a_long_answer_keep_nobody_waiting)
{
    gbx_mcp_request p = person(ONCE);
    char *answer = long_answer();
    outcome late = {.count = 0};
    outcome o;

    open_gate(SECRET);
    played.result = answer;
    (void)start(&late, &p, "plain", "{}", "");
    settle();
    assert_int_equal(late.count, 0);
    played.result = "{\"content\":[]}";
    o = call(&p, "plain", "{}", "");
    assert_string_equal(o.code, "");
    assert_int_equal(late.count, 0);
    while (late.count == 0)
        (void)event_base_loop(played.base, EVLOOP_ONCE);
    assert_string_equal(late.code, "");
    assert_string_equal(late.end, "\"k\":\"{{secret:KEY}}\"}");
    close_gate();
    free(answer);
}

TEST(secrets__are_looked_for_no_longer_than_the_call)
{
    gbx_mcp_request p = person(ONCE);
    char *answer = long_answer();
    outcome cancelled = {.count = 0};
    outcome left = {.count = 0};
    gbx_tool_call *one;

    open_gate(SECRET);
    played.result = answer;
    one = start(&cancelled, &p, "plain", "{}", "");
    (void)start(&left, &p, "plain", "{}", "");
    settle();
    gbx_gate_cancel(one);
    settle();
    assert_string_equal(cancelled.code, "ABORTED");
    assert_int_equal(left.count, 0);
    close_gate();
    assert_int_equal(cancelled.count, 1);
    assert_int_equal(left.count, 1);
    assert_string_equal(left.code, "ABORTED");
    free(answer);
}

TEST_MAIN(stage_setup, stage_teardown)
