/* SPDX-License-Identifier: MIT */
/* requests - one answer each, to the client that waits and to nobody else. */
#include "mcp_client.h"
#include "test.h"

#include "base/cleanup.h"

/* What the tool `wait` was called with; it is ended by the test. */
typedef struct scene {
    mcp_client client; /* first: the tests of the client take it as one */
    gbx_mcp_request *waiting[2000];
    size_t count;
    char arguments[256];
    int cancels;
    bool ends_when_cancelled;
} scene;

static void on_cancel(void *user)
{
    scene *s = user;

    s->cancels++;
    if (s->ends_when_cancelled)
        gbx_mcp_finish(s->waiting[--s->count], &(gbx_mcp_result){.text = "cancelled",
                                                                 .text_len = 9,
                                                                 .is_error = true});
}

static void wait_call(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    scene *s = user;

    (void)snprintf(s->arguments, sizeof s->arguments, "%.*s", (int)arguments.len,
                   arguments.at);
    s->waiting[s->count++] = request;
    gbx_mcp_on_cancel(request, on_cancel, s);
}

static int open_scene(void **state)
{
    scene *s = calloc(1, sizeof *s);

    mcp_client_open(&s->client, NULL);
    assert_true(
        gbx_mcp_server_set_tool(s->client.server, &(gbx_mcp_tool){.name = "wait",
                                                                  .input_schema = "{}",
                                                                  .call = wait_call,
                                                                  .user = s}));
    mcp_client_initialize(&s->client, "2025-11-25", "{}");
    *state = s;
    return 0;
}

static int close_scene(void **state)
{
    scene *s = *state;

    while (s->count > 0)
        gbx_mcp_finish(s->waiting[--s->count], &(gbx_mcp_result){.text = "end",
                                                                 .text_len = 3,
                                                                 .is_error = true});
    mcp_client_close(&s->client);
    free(s);
    return 0;
}

static void call(scene *s, const char *id, const char *more)
{
    char said[1024];

    (void)
        snprintf(said, sizeof said,
                 "\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\"%s}",
                 id, more);
    mcp_client_say(&s->client, said);
}

static void finish_text(scene *s, const char *text)
{
    gbx_mcp_finish(s->waiting[--s->count],
                   &(gbx_mcp_result){.text = text, .text_len = strlen(text)});
}

#define TEXT(id, text)                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[{\"type\":\"text\"," \
    "\"text\":\"" text "\"}],\"isError\":false}}"

TEST(answers__come_when_they_are_ready_under_their_ids)
{
    scene *s = *state;

    call(s, "1", ",\"arguments\":{\"a\":[1, 2]}");
    call(s, "\"1\"", "");
    assert_string_equal(s->arguments, "{}");
    finish_text(s, "second");
    finish_text(s, "first");
    mcp_client_expect(&s->client, TEXT("\"1\"", "second") "\n" TEXT("1", "first"));
    assert_int_equal(s->client.idled, 2); /* initialize, and the last of these */
}

TEST(arguments__are_an_object_or_nothing)
{
    scene *s = *state;

    call(s, "1", ",\"arguments\":[1]");
    (void)mcp_client_expect_part(&s->client, "\"code\":-32602,\"message\":\"arguments");
    assert_int_equal(s->count, 0);
    call(s, "2", ",\"arguments\":null");
    assert_int_equal(s->count, 1);
    assert_string_equal(s->arguments, "{}");
    finish_text(s, "done");
    mcp_client_expect(&s->client, TEXT("2", "done"));
}

TEST(an_unknown_tool__is_named_with_what_may_be_meant)
{
    scene *s = *state;

    mcp_client_say(&s->client,
                   "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"wiat\"}");
    mcp_client_expect(&s->client,
                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
                      "\"message\":\"unknown tool 'wiat': did you mean 'wait'?\"}}");
    mcp_client_say(&s->client, "\"id\":1,\"method\":\"tools/call\",\"params\":{}");
    (void)mcp_client_expect_part(&s->client, "\"code\":-32602");
    mcp_client_say(&s->client, "\"id\":1,\"method\":\"tools/call\"");
    (void)mcp_client_expect_part(&s->client, "\"code\":-32602");
}

TEST(structured_content__is_repeated_as_text)
{
    scene *s = *state;

    call(s, "1",
         ",\"_meta\":"
         "{\"traceparent\":\"00-a\"}");
    assert_int_equal(gbx_mcp_request_meta(s->waiting[0], "traceparent").len,
                     strlen("\"00-a\""));
    gbx_mcp_finish(s->waiting[--s->count],
                   &(gbx_mcp_result){.structured = "{\"a\":\n\"b\"}",
                                     .structured_len = 10,
                                     .meta = "{\"k\":1}",
                                     .is_error = true});
    mcp_client_expect(&s->client,
                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"_meta\":{\"k\":1},"
                      "\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":\\n"
                      "\\\"b\\\"}\"}],\"structuredContent\":{\"a\": \"b\"},"
                      "\"isError\":true}}");
}

/* ---- cancellation ---------------------------------------------------------- */

static void cancel(scene *s, const char *id)
{
    char said[128];

    (void)snprintf(
        said, sizeof said,
        "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%s}", id);
    mcp_client_say(&s->client, said);
}

TEST(a_cancelled_request__is_told_once_and_never_answered)
{
    scene *s = *state;

    call(s, "1", "");
    cancel(s, "1");
    cancel(s, "1");
    assert_int_equal(s->cancels, 0); /* not from inside */
    mcp_client_expect(&s->client, "");
    assert_int_equal(s->cancels, 1);
    assert_true(s->waiting[0]->is_cancelled);
    gbx_mcp_progress(s->waiting[0], -1, "x", 1);
    finish_text(s, "too late");
    mcp_client_expect(&s->client, "");
    call(s, "1", ""); /* the id is free again */
    finish_text(s, "again");
    mcp_client_expect(&s->client, TEXT("1", "again"));
}

TEST(a_cancel_of_nothing__is_ignored)
{
    scene *s = *state;

    call(s, "1", "");
    cancel(s, "\"1\"");
    cancel(s, "2");
    cancel(s, "null");
    cancel(s, "{}");
    mcp_client_say(&s->client, "\"method\":\"notifications/cancelled\"");
    mcp_client_expect(&s->client, "");
    assert_int_equal(s->cancels, 0);
    finish_text(s, "fine");
    mcp_client_expect(&s->client, TEXT("1", "fine"));
}

TEST(the_end_of_a_session__cancels_all_and_sends_nothing)
{
    scene *s = *state;

    s->ends_when_cancelled = true;
    call(s, "1", "");
    call(s, "2", "");
    gbx_mcp_server_end(s->client.server);
    assert_int_equal(gbx_mcp_server_unfinished(s->client.server), 2);
    mcp_client_expect(&s->client, "");
    assert_int_equal(s->cancels, 2);
    assert_int_equal(gbx_mcp_server_unfinished(s->client.server), 0);
    call(s, "3", "");
    assert_int_equal(s->count, 0);
}

TEST(a_late_on_cancel__is_called_too)
{
    scene *s = *state;

    call(s, "1", "");
    gbx_mcp_on_cancel(s->waiting[0], NULL, NULL);
    cancel(s, "1");
    (void)mcp_client_hear(&s->client);
    assert_int_equal(s->cancels, 0);
    gbx_mcp_on_cancel(s->waiting[0], on_cancel, s);
    (void)mcp_client_hear(&s->client);
    assert_int_equal(s->cancels, 1);
}

/* ---- bounds ------------------------------------------------------------------ */

TEST(an_id_in_flight__is_not_taken_twice)
{
    scene *s = *state;

    call(s, "1", "");
    call(s, "1", "");
    mcp_client_expect(&s->client,
                      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
                      "\"message\":\"a request with this id is in flight\"}}");
    assert_int_equal(s->count, 1);
}

TEST(a_flood__is_refused_beyond_1024_in_flight)
{
    scene *s = *state;
    char id[16];

    for (int i = 0; i < 1025; i++) {
        (void)snprintf(id, sizeof id, "%d", i);
        call(s, id, "");
    }
    mcp_client_expect(&s->client, "{\"jsonrpc\":\"2.0\",\"id\":1024,\"error\":{"
                                  "\"code\":-32603,\"message\":\"too many requests are "
                                  "in flight\"}}");
    assert_int_equal(s->count, 1024);
    finish_text(s, "x");
    (void)mcp_client_hear(&s->client);
    call(s, "2000", "");
    mcp_client_expect(&s->client, "");
}

TEST(a_client_that_does_not_read__is_given_up)
{
    scene *s = *state;

    call(s, "1", "");
    s->client.is_deaf = true;
    finish_text(s, "x");
    assert_int_equal(s->client.gave_up, 1);
}

/* ---- progress and logs -------------------------------------------------------- */

#define PROGRESS(rest)                                                        \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{" \
    "\"progressToken\":\"t\",\"progress\":" rest "}}"

TEST(progress__grows_and_is_sent_to_who_asked)
{
    scene *s = *state;

    call(s, "1", "");
    gbx_mcp_progress(s->waiting[0], 3, "unseen", 6);
    mcp_client_expect(&s->client, "");
    call(s, "2", ",\"_meta\":{\"progressToken\":\"t\"}");
    gbx_mcp_progress(s->waiting[1], -1, "a\"", 2);
    gbx_mcp_progress_at(s->waiting[1], 1, 4, NULL, 0); /* has not grown */
    gbx_mcp_progress_at(s->waiting[1], 1.5, 4, NULL, 0);
    gbx_mcp_progress_at(s->waiting[1], 1.50001, 4, NULL, 0);
    gbx_mcp_progress(s->waiting[1], -1, "b", 1);
    mcp_client_expect(&s->client,
                      PROGRESS("1,\"message\":\"a\\\"\"") "\n" PROGRESS(
                          "1.5,\"total\":4") "\n" PROGRESS("2,\"message\":\"b\""));
    s->client.is_full = true;
    gbx_mcp_progress(s->waiting[1], -1, "c", 1);
    mcp_client_expect(&s->client, "");
}

TEST(progress__whose_figure_has_not_grown_is_its_message)
{
    scene *s = *state;

    call(s, "2", ",\"_meta\":{\"progressToken\":\"t\"}");
    gbx_mcp_progress(s->waiting[0], -1, "a", 1);
    gbx_mcp_progress(s->waiting[0], -1, "b", 1);
    mcp_client_expect(&s->client, PROGRESS("1,\"message\":\"a\"") "\n" PROGRESS(
                                      "2,\"message\":\"b\""));
    gbx_mcp_progress_at(s->waiting[0], 1, 3, "one", 3);
    gbx_mcp_progress_at(s->waiting[0], 2, 3, "", 0);
    gbx_mcp_progress_at(s->waiting[0], 4, 9, "four", 4);
    mcp_client_expect(&s->client, PROGRESS("3,\"message\":\"one\"") "\n" PROGRESS(
                                      "4,\"total\":9,\"message\":\"four\""));
    gbx_mcp_progress_at(s->waiting[0], 1e308, 9, "five", 4);
    gbx_mcp_progress_at(s->waiting[0], 4503599627370496.0, 9, "six", 3);
    gbx_mcp_progress_at(s->waiting[0], 1e300, 9, NULL, 0);
    mcp_client_expect(&s->client, PROGRESS("5,\"message\":\"five\"") "\n" PROGRESS(
                                      "6,\"message\":\"six\""));
}

TEST(progress__may_begin_with_nothing_done)
{
    scene *s = *state;

    call(s, "2", ",\"_meta\":{\"progressToken\":\"t\"}");
    gbx_mcp_progress_at(s->waiting[0], -1, 2, NULL, 0);
    gbx_mcp_progress_at(s->waiting[0], 0, 2, "none", 4);
    gbx_mcp_progress_at(s->waiting[0], 0, 2, NULL, 0);
    gbx_mcp_progress_at(s->waiting[0], 1, 2, "one", 3);
    mcp_client_expect(&s->client,
                      PROGRESS("0,\"total\":2,\"message\":\"none\"") "\n" PROGRESS(
                          "1,\"total\":2,\"message\":\"one\""));
}

TEST(progress__has_a_rate)
{
    scene *s = *state;
    size_t count = 0;
    const char *heard;

    call(s, "2", ",\"_meta\":{\"progressToken\":\"t\"}");
    for (int i = 0; i < 10000; i++)
        gbx_mcp_progress(s->waiting[0], -1, "m", 1);
    heard = mcp_client_hear(&s->client);
    for (; (heard = strstr(heard, "notifications/progress")) != NULL; heard++)
        count++;
    assert_in_range(count, 100, 1000);
}

TEST(logs__are_sent_from_the_level_that_was_asked_for)
{
    scene *s = *state;

    call(s, "1", "");
    gbx_mcp_log_line(s->waiting[0], GBX_LOG_ERROR, "1", 1);
    mcp_client_expect(&s->client, "");
    mcp_client_say(&s->client, "\"id\":9,\"method\":\"logging/setLevel\",\"params\":{"
                               "\"level\":\"warning\"}");
    (void)mcp_client_hear(&s->client);
    gbx_mcp_log_line(s->waiting[0], GBX_LOG_INFO, "1", 1);
    gbx_mcp_log_line(s->waiting[0], GBX_LOG_WARN, "a\"b", 3);
    mcp_client_expect(&s->client,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
                      "\"params\":{\"level\":\"warning\",\"logger\":\"console\","
                      "\"data\":\"a\\\"b\"}}");
    call(s, "2", "," MODERN_META);
    gbx_mcp_log_line(s->waiting[1], GBX_LOG_ERROR, "1", 1);
    mcp_client_expect(&s->client, "");
}

TEST(a_line__is_heard_if_it_would_be_sent_now)
{
    scene *s = *state;
    size_t sent = 0;

    call(s, "1", "");
    assert_false(gbx_mcp_hears_progress(s->waiting[0]));
    assert_false(gbx_mcp_hears_line(s->waiting[0], GBX_LOG_ERROR));
    call(s, "2", ",\"_meta\":{\"progressToken\":\"t\"}");
    assert_true(gbx_mcp_hears_progress(s->waiting[1]));
    s->client.is_full = true;
    assert_false(gbx_mcp_hears_progress(s->waiting[1]));
    assert_false(gbx_mcp_hears_line(s->waiting[1], GBX_LOG_DEBUG));
    s->client.is_full = false;
    for (; gbx_mcp_hears_line(s->waiting[1], GBX_LOG_DEBUG); sent++)
        gbx_mcp_progress(s->waiting[1], -1, "m", 1);
    assert_in_range(sent, 100, 1000);
    mcp_client_say(&s->client, "\"id\":9,\"method\":\"logging/setLevel\",\"params\":{"
                               "\"level\":\"warning\"}");
    (void)mcp_client_hear(&s->client);
    assert_false(gbx_mcp_hears_line(s->waiting[0], GBX_LOG_INFO));
    assert_true(gbx_mcp_hears_line(s->waiting[0], GBX_LOG_WARN));
    assert_false(gbx_mcp_hears_progress(s->waiting[0]));
}

TEST(prompts__are_none)
{
    scene *s = *state;

    mcp_client_say(&s->client, "\"id\":1,\"method\":\"prompts/list\"");
    mcp_client_expect(&s->client,
                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"prompts\":[]}}");
    mcp_client_say(&s->client,
                   "\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"p\"}");
    (void)mcp_client_expect_part(&s->client, "this server has no prompts");
}

TEST_MAIN_EACH(open_scene, close_scene)
