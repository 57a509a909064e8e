/* SPDX-License-Identifier: MIT */
/* What a model reads: nothing is cut without a word, and what was cut can be read. */
#include "base/cleanup.h"
#include "base/json_view.h"
#include "mcp/code/code.h"
#include "mcp/code/code_mode.h"
#include "test.h"

#define CAP 400

static int start(void **state)
{
    *state = gbx_artifacts_new(10000, 1000);
    return *state == NULL;
}

static int finish(void **state)
{
    gbx_artifacts_free(*state);
    return 0;
}

#define QUIET    .note = "", .left_out = "", .calls_left = 10, .ms_left = 5000
#define NO_ERROR .error = {.name = "", .message = "", .frame = "", .hint = ""}

static gbx_script_reply quiet(void)
{
    return (gbx_script_reply){QUIET, NO_ERROR};
}

static char *text_of(gbx_artifacts *store, const gbx_script_reply *reply,
                     char **ret_structured)
{
    gbx_script_reply_texts texts;
    gbx_view view;
    char *text;

    assert_true(gbx_code_reply_write(reply, CAP, store, 0, &texts));
    assert_true(
        gbx_view_open((char *)texts.structured.data, texts.structured.len, &view));
    assert_true(gbx_view_open((char *)texts.content.data, texts.content.len, &view));
    text = gbx_buf_take_string(&texts.text, NULL);
    if (ret_structured != NULL)
        *ret_structured = gbx_buf_take_string(&texts.structured, NULL);
    gbx_script_reply_cleanup(&texts);
    return text;
}

static void check(gbx_artifacts *store, const gbx_script_reply *reply,
                  const char *expected)
{
    char *text = text_of(store, reply, NULL);

    assert_string_equal(text, expected);
    free(text);
}

#define COST "(0 calls; 0 ms, 0 ms of them computing; 0.0 MB; left: 10 calls, 5.0 s)"

#define VALUE(json) .value = (json), .value_len = sizeof(json) - 1

static const gbx_script_reply_log two_lines[] = {{"log", "one", 3}, {"warn", "two", 3}};

/* The text, up to the costs. */
static const struct {
    gbx_script_reply reply;
    const char *text;
} replies[] = {
    {{QUIET, NO_ERROR, VALUE("{\"a\":1}")}, "{\"a\":1}\n"},
    {{QUIET, NO_ERROR, VALUE("\"a\\nb\"")}, "a\nb\n"},
    {{QUIET, NO_ERROR, VALUE("\"\"")}, "The value is an empty text\n"},
    {{QUIET, .error = {"TOOL_ERROR", "ToolError",
                       "Traceback:\n  line 1\n\nhint: none\n", 0, 0, "", "ours"}},
     "TOOL_ERROR: ToolError: Traceback:\n      line 1\n    \n    hint: none\n    \n"
     "hint: ours\n"},
    {{QUIET, NO_ERROR}, "No value returned\n"},
    {{QUIET, NO_ERROR, .logs = two_lines, .log_count = 1},
     "No value returned; 1 log line\nlogs:\none\n"},
    {{QUIET, NO_ERROR, .logs = two_lines, .log_count = 2},
     "No value returned; 2 log lines\nlogs:\none\n[warn] two\n"},
    {{.note = "",
      .left_out = "collect is declared but not called",
      .calls_left = 10,
      .ms_left = 5000,
      NO_ERROR},
     "No value returned; collect is declared but not called\n"},
};

TEST(reply__says_the_value_or_the_error_then_the_log_and_the_cost)
{
    for (size_t i = 0; i < GBX_COUNTOF(replies); i++) {
        char expected[400];

        (void)snprintf(expected, sizeof expected, "%s" COST, replies[i].text);
        check(*state, &replies[i].reply, expected);
    }
}

TEST(reply__names_the_first_artifacts_and_counts_the_rest)
{
    gbx_script_reply_artifact kept[GBX_REPLY_ARTIFACTS_MAX + 2] = {
        {.uri = "artifact://a/1"}};
    gbx_script_reply reply = quiet();
    char *structured = NULL;
    char *text;

    reply.artifacts = kept;
    reply.artifact_count = GBX_REPLY_ARTIFACTS_MAX + 2;
    text = text_of(*state, &reply, &structured);

    assert_non_null(strstr(text, "\nand 2 artifacts more: their handles name them\n"));
    assert_non_null(strstr(structured, ",\"artifacts_left_out\":2,"));
    free(text);
    free(structured);
}

TEST(reply__of_a_failure_says_what_was_done_before)
{
    const gbx_mcp_upstream_config server = {.name = (char[]){"s"}};
    gbx_code_call calls[] = {
        {.base = {.up = {.server = &server, .tool = (char[]){"a"}}, .line = 2},
         .gave = "{ content: string }",
         .next = &calls[1]},
        {.base = {.up = {.server = &server, .tool = (char[]){"b"}}},
         .failed = "DENIED"}};
    gbx_script_reply reply = quiet();

    reply.calls = calls;
    reply.call_count = 2;
    reply.error = (gbx_script_reply_error){.code = "DENIED",
                                           .name = "ToolError",
                                           .message = "no",
                                           .line = 3,
                                           .column = 4,
                                           .frame = "> 3 | b()",
                                           .hint = "ask"};
    check(
        *state, &reply,
        "DENIED at line 3, column 4: ToolError: no\n> 3 | b()\nhint: ask\ndone before "
        "that: s.a (line 2)\n(2 calls, 1 of them failed; 0 ms, 0 ms of them computing; "
        "0.0 MB; left: 10 calls, 5.0 s)");

    reply.error = (gbx_script_reply_error){"RUNTIME", "", "x", 0, 0, "", ""};
    check(
        *state, &reply,
        "RUNTIME: x\ndone before that: s.a (line 2) -> { content: string }\n(2 calls, "
        "1 of them failed; 0 ms, 0 ms of them computing; 0.0 MB; left: 10 calls, 5.0 "
        "s)");
}

/* Head, mark and tail are what the first line says, and the whole can be read in pages. */
TEST(reply__that_is_too_long_is_cut_in_the_middle)
{
    gbx_script_reply reply = quiet();
    char value[3002];
    char *structured;
    char *text;
    size_t head, tail, total, between;
    char uri[80];

    memset(value, 'x', sizeof value);
    value[0] = value[3001] = '"';
    for (size_t i = 1; i + 2 < 3001; i += 3)
        memcpy(value + i, "\xE2\x82\xAC", 3);
    reply.value = value;
    reply.value_len = sizeof value;
    text = text_of(*state, &reply, &structured);
    assert_int_equal(
        sscanf(text,
               "[result cut: the first %zu and the last %zu of %zu bytes are "
               "shown, %zu between them are not; the whole is the resource "
               "%79[^,],",
               &head, &tail, &total, &between, uri),
        5);
    assert_int_equal(total, 3000);
    assert_int_equal(head + tail + between, total);
    assert_true(head + tail <= CAP && head + tail > CAP - 8);
    assert_int_equal(head % 3, 0);
    assert_int_equal(tail % 3, 0);
    assert_non_null(strstr(structured, "\"truncated\":true"));
    assert_non_null(strstr(structured, uri));
    free(structured);
    free(text);
}

/* Lines of ten bytes, the newline among them. */
static gbx_script_reply chatty(gbx_script_reply_log *logs, size_t count)
{
    gbx_script_reply reply = quiet();

    for (size_t i = 0; i < count; i++)
        logs[i] = (gbx_script_reply_log){"log", "nine long", 9};
    reply.logs = logs;
    reply.log_count = count;
    return reply;
}

TEST(logs__have_the_room_that_the_value_leaves)
{
    gbx_script_reply_log logs[40];
    gbx_script_reply reply = chatty(logs, 40); /* CAP */
    char value[] = "\"seventeen bytes!!\"";
    char *structured;
    char *text;

    text = text_of(*state, &reply, &structured);
    assert_null(strstr(text, "cut"));
    assert_null(strstr(structured, "lines ..."));
    free(structured);
    free(text);
    reply.value = value;
    reply.value_len = strlen(value);
    text = text_of(*state, &reply, &structured);
    assert_memory_equal(text, "[logs cut: the first 191 and the last ", 38);
    assert_non_null(strstr(text, "\nseventeen bytes!!\nlogs:\n"));
    assert_non_null(strstr(structured, "lines ..."));
    free(structured);
    free(text);
}

TEST(logs__beside_a_long_value_have_a_quarter)
{
    gbx_script_reply_log logs[20];
    gbx_script_reply reply = chatty(logs, 20);
    char value[CAP + 2];
    char *text;

    memset(value, 'x', sizeof value);
    value[0] = value[sizeof value - 1] = '"';
    reply.value = value;
    reply.value_len = sizeof value;
    text = text_of(*state, &reply, NULL);
    assert_non_null(strstr(text, "[result cut: the first 151 and "));
    assert_non_null(strstr(text, "[logs cut: the first 50 and the last 47 of 200 "));
    free(text);
}

TEST(logs__that_were_lost_are_said_and_the_rest_is_not_called_the_whole)
{
    gbx_script_reply_log logs[80];
    gbx_script_reply reply = chatty(logs, 80);
    char *text;

    reply.logs_cut = true;
    text = text_of(*state, &reply, NULL);

    assert_ptr_equal(
        strstr(text, "[logs over the limit of a run: 80 lines are kept, the last one"),
        text);
    assert_non_null(strstr(text, "\n[logs cut: the first "));
    assert_non_null(strstr(text, "; all that was kept is the resource "));
    assert_null(strstr(text, "the whole"));
    free(text);
}

TEST(logs__have_the_room_that_the_error_leaves)
{
    gbx_script_reply_log logs[40];
    gbx_script_reply reply = chatty(logs, 40);
    char message[201];
    char *text;

    memset(message, 'm', 200);
    message[200] = 0;
    reply.error.code = "RUNTIME";
    reply.error.message = message;
    text = text_of(*state, &reply, NULL);

    assert_memory_equal(text, "[logs cut: the first 95 and the last ", 37);
    assert_non_null(strstr(text, message));
    free(text);
}

TEST(error__that_is_too_long_is_cut_in_the_middle)
{
    gbx_script_reply_log logs[40];
    gbx_script_reply reply = chatty(logs, 40);
    char message[1001];
    char *structured;
    char *text;

    memset(message, 'm', 1000);
    memcpy(message + 991, "the cause", 10);
    reply.error.code = "RUNTIME";
    reply.error.message = message;
    reply.error.hint = "look at its end";
    text = text_of(*state, &reply, &structured);

    assert_memory_equal(text, "[error cut: the first ", 22);
    assert_non_null(strstr(text, "the cause\nhint: look at its end\n"));
    assert_non_null(strstr(structured, "\"truncated\":true,\"artifacts\":[{\"uri\""));
    assert_non_null(strstr(structured, "\"name\":\"error\""));
    assert_non_null(strstr(structured, "the cause"));
    free(structured);
    free(text);
}

static void check_pages(gbx_artifacts *store, unsigned length)
{
    const char *text = "a\xE2\x82\xAC"
                       "b\xF0\x9F\x98\x80"
                       "c";
    const gbx_artifact *kept =
        gbx_artifacts_add(store, "n", "text/plain", text, strlen(text), 0);
    char all[64] = "";
    char uri[160];

    assert_non_null(kept);
    (void)snprintf(uri, sizeof uri, "%s?offset=0&length=%u", kept->uri, length);
    for (int pages = 0; uri[0] != 0; pages++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf page;
        gbx_view view;
        gbx_view next;
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf part;
        size_t cursor = 0;

        assert_true(pages < 9);
        gbx_buf_init(&page, 4096);
        gbx_buf_init(&part, 64);
        assert_true(gbx_artifacts_read(store, uri, 0, &page));
        assert_true(gbx_view_open((char *)page.data, page.len, &view));
        assert_true(gbx_view_next(view, &cursor, &next, &view));
        assert_true(gbx_view_is_text(gbx_view_member(view, "uri"), uri));
        assert_true(gbx_view_append_text(gbx_view_member(view, "text"), &part));
        strncat(all, (char *)part.data, part.len);
        next = gbx_view_member(gbx_view_member(view, "_meta"), "next");
        (void)snprintf(uri, sizeof uri, "%.*s", next.len > 2 ? (int)next.len - 2 : 0,
                       next.len > 2 ? next.at + 1 : "");
    }
    assert_string_equal(all, text);
}

TEST(pages__are_the_whole_and_end_between_characters)
{
    for (unsigned length = 1; length <= 12; length++)
        check_pages(*state, length);
}

TEST(artifacts__that_are_old_or_too_many_are_gone)
{
    gbx_artifacts *store = *state;
    char data[6000] = {0};
    char first[80];
    char second[80];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf page;

    gbx_buf_init(&page, 1 << 20);
    strcpy(first, gbx_artifacts_add(store, "a", "image/png", data, 6000, 0)->uri);
    assert_true(gbx_artifacts_read(store, first, 0, &page));
    strcpy(second, gbx_artifacts_add(store, "b", "text/plain", data, 5000, 0)->uri);
    assert_false(gbx_artifacts_read(store, first, 0, &page));
    assert_true(gbx_artifacts_read(store, second, 999999999, &page));
    assert_false(gbx_artifacts_read(store, second, 1000000000, &page));
    assert_null(gbx_artifacts_add(store, "c", "text/plain", data, 10001, 0));
}

TEST(artifacts__that_are_small_cost_more_than_their_bytes)
{
    gbx_artifacts *store = *state;
    char first[80];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf page;

    gbx_buf_init(&page, 1 << 20);
    strcpy(first, gbx_artifacts_add(store, "a", "text/plain", "x", 1, 0)->uri);
    assert_true(gbx_artifacts_read(store, first, 0, &page));
    for (int i = 0; i < 100; i++)
        assert_non_null(gbx_artifacts_add(store, "b", "text/plain", "x", 1, 0));
    assert_false(gbx_artifacts_read(store, first, 0, &page));
}

TEST(pages__that_are_none_are_told_from_what_is_gone)
{
    gbx_artifacts *store = *state;
    const char *kept = gbx_artifacts_add(store, "a", "text/plain", "abcdef", 6, 0)->uri;
    char whole[80];
    char escaped[120];
    char wrong[100];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf page;

    gbx_buf_init(&page, 1 << 20);
    (void)snprintf(whole, sizeof whole, "%s?", kept);
    (void)snprintf(escaped, sizeof escaped, "%s?offset%%3D1%%26length%%3d2", kept);
    (void)snprintf(wrong, sizeof wrong, "%s?offset=-1", kept);
    assert_true(gbx_artifacts_read(store, whole, 0, &page));
    assert_true(gbx_artifacts_read(store, escaped, 0, &page));
    assert_true(gbx_buf_append(&page, "", 1));
    assert_non_null(strstr((char *)page.data, "\"text\":\"abcdef\""));
    assert_non_null(strstr((char *)page.data, "\"text\":\"bc\""));
    assert_false(gbx_artifacts_read(store, wrong, 0, &page));
    assert_non_null(strstr(gbx_artifacts_fault(store, wrong), "has no such page"));
    assert_non_null(
        strstr(gbx_artifacts_fault(store, "artifact://x/1"), "not any more"));
}

TEST(artifacts__that_are_asked_for_wrongly_are_not_there)
{
    static const char *const queries[] = {
        "?offset=-1", "?offset=",           "?length=1&offset=99999999999999999999",
        "?other=1",   "?offset=1;length=2", "/",
        "?offset=1&", "?length=0",          "?offset=1&length=0"};
    const gbx_artifact *kept =
        gbx_artifacts_add(*state, "n", "text/plain", "abc", 3, 0);
    char uri[160];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf page;

    gbx_buf_init(&page, 4096);
    for (size_t i = 0; i < GBX_COUNTOF(queries); i++) {
        (void)snprintf(uri, sizeof uri, "%s%s", kept->uri, queries[i]);
        assert_false(gbx_artifacts_read(*state, uri, 0, &page));
    }
    assert_false(gbx_artifacts_read(*state, "artifact://", 0, &page));
    (void)snprintf(uri, sizeof uri, "%s?offset=7", kept->uri);
    assert_true(gbx_artifacts_read(*state, uri, 0, &page));
    assert_non_null(memmem(page.data, page.len, "\"text\":\"\"", 9));
}

TEST_MAIN_EACH(start, finish)
