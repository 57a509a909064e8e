/* SPDX-License-Identifier: MIT */
/* ask - a person is asked in the words of the era; the handler sees only the answer, and
 * is called once however often the client comes back. */
#include "mcp_client.h"
#include "test.h"

#include "base/cleanup.h"

#include <time.h>

#define SCHEMA "{\"type\":\"object\",\"properties\":{}}"

typedef struct scene {
    mcp_client client;
    gbx_mcp_request *request;
    int calls;   /* of the handler */
    int cancels; /* of its work */
    int asks;    /* questions it asks at once */
    gbx_mcp_answer answers[8];
    int answered;
    char content[256]; /* of the last answer */
    bool ends_when_answered;
    char state[200]; /* the last requestState */
} scene;

static void on_cancel(void *user)
{
    scene *s = user;

    s->cancels++;
    gbx_mcp_finish(s->request, &(gbx_mcp_result){.text = "cancelled",
                                                 .text_len = 9,
                                                 .is_error = true});
    s->ends_when_answered = false; /* it has ended */
}

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    scene *s = user;

    s->answers[s->answered++] = answer;
    (void)snprintf(s->content, sizeof s->content, "%.*s", (int)content.len,
                   content.at != NULL ? content.at : "");
    if (s->ends_when_answered && s->answered == s->asks)
        gbx_mcp_finish(s->request, &(gbx_mcp_result){.text = "done", .text_len = 4});
}

static void ask_call(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    scene *s = user;

    (void)arguments;
    s->calls++;
    s->request = request;
    gbx_mcp_on_cancel(request, on_cancel, s);
    for (int i = 0; i < s->asks; i++)
        gbx_mcp_ask(request, "May I?", SCHEMA, on_answer, s);
    assert_int_equal(s->answered, 0); /* never from inside */
}

static void add_tool(scene *s)
{
    assert_true(
        gbx_mcp_server_set_tool(s->client.server, &(gbx_mcp_tool){.name = "ask",
                                                                  .input_schema = "{}",
                                                                  .call = ask_call,
                                                                  .user = s}));
}

static int open_scene(void **state)
{
    gbx_mcp_server_options options = {.name = "test", .version = "1", .ask_ms = 60000};
    scene *s = calloc(1, sizeof *s);

    mcp_client_open(&s->client, &options);
    s->asks = 1;
    s->ends_when_answered = true;
    add_tool(s);
    *state = s;
    return 0;
}

static int close_scene(void **state)
{
    scene *s = *state;

    mcp_client_close(&s->client);
    free(s);
    return 0;
}

#define CALL "\"method\":\"tools/call\",\"params\":{\"name\":\"ask\""
#define DONE \
    "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"isError\":false}"

/* ---- legacy ------------------------------------------------------------------ */

#define ELICIT(id)                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"elicitation/create\"," \
    "\"params\":{\"message\":\"May I?\",\"requestedSchema\":" SCHEMA "}}"

static void start_legacy(scene *s, const char *capabilities)
{
    mcp_client_initialize(&s->client, "2025-11-25", capabilities);
    mcp_client_say(&s->client, "\"id\":1," CALL "}");
}

TEST(legacy__is_asked_by_a_request)
{
    scene *s = *state;

    start_legacy(s, "{\"elicitation\":{}}");
    mcp_client_expect(&s->client, ELICIT("1"));
    mcp_client_say(&s->client, "\"id\":2,\"result\":{\"action\":\"accept\"}");
    mcp_client_say(&s->client, "\"id\":\"1\",\"result\":{\"action\":\"accept\"}");
    mcp_client_expect(&s->client, ""); /* not ours */
    mcp_client_say(&s->client,
                   "\"id\":1,\"result\":{\"action\":\"accept\",\"content\":{"
                   "\"a\":[1]}}");
    mcp_client_expect(&s->client, "{\"jsonrpc\":\"2.0\",\"id\":1," DONE "}");
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_ACCEPT);
    assert_string_equal(s->content, "{\"a\":[1]}");
    mcp_client_say(&s->client, "\"id\":1,\"result\":{\"action\":\"accept\"}");
    mcp_client_expect(&s->client, ""); /* answered already */
}

TEST(legacy__answers_are_what_they_are)
{
    static const struct {
        const char *said;
        gbx_mcp_answer answer;
    } cases[] = {
        {"\"result\":{\"action\":\"decline\"}", GBX_MCP_ANSWER_DECLINE},
        {"\"result\":{\"action\":\"cancel\"}", GBX_MCP_ANSWER_CANCEL},
        {"\"result\":{\"action\":\"whatever\"}", GBX_MCP_ANSWER_NOBODY},
        {"\"result\":{}", GBX_MCP_ANSWER_NOBODY},
        {"\"result\":null", GBX_MCP_ANSWER_NOBODY},
        {"\"error\":{\"code\":-32601,\"message\":\"no\"}", GBX_MCP_ANSWER_NOBODY},
    };
    scene *s = *state;

    mcp_client_initialize(&s->client, "2025-06-18", "{\"elicitation\":{}}");
    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        char said[256];

        s->answered = 0;
        mcp_client_say(&s->client, "\"id\":1," CALL "}");
        (void)mcp_client_expect_part(&s->client, "elicitation/create");
        (void)snprintf(said, sizeof said, "\"id\":%zu,%s", i + 1, cases[i].said);
        mcp_client_say(&s->client, said);
        mcp_client_expect(&s->client, "{\"jsonrpc\":\"2.0\",\"id\":1," DONE "}");
        assert_int_equal(s->answers[0], cases[i].answer);
    }
}

TEST(who_cannot_show_a_form__is_not_asked)
{
    static const char *const capabilities[] = {"{}", "{\"elicitation\":{\"url\":{}}}",
                                               "{\"elicitation\":1}", "[]"};
    scene *s = *state;

    for (size_t i = 0; i < GBX_COUNTOF(capabilities); i++) {
        s->answered = 0;
        start_legacy(s, capabilities[i]);
        mcp_client_expect(&s->client, "{\"jsonrpc\":\"2.0\",\"id\":1," DONE "}");
        assert_int_equal(s->answers[0], GBX_MCP_ANSWER_NOBODY);
    }
    s->answered = 0;
    start_legacy(s, "{\"elicitation\":{\"form\":{},\"url\":{}}}");
    (void)mcp_client_expect_part(&s->client, "elicitation/create");
}

TEST(a_cancelled_call__withdraws_its_question)
{
    scene *s = *state;

    s->ends_when_answered = false;
    start_legacy(s, "{\"elicitation\":{}}");
    mcp_client_expect(&s->client, ELICIT("1"));
    mcp_client_say(
        &s->client,
        "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}");
    mcp_client_expect(&s->client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                                  "cancelled\",\"params\":{\"requestId\":1}}");
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_ENDED);
    assert_int_equal(s->answered, 1);
    assert_int_equal(s->cancels, 1);
}

TEST(a_request_that_ends_first__answers_its_questions)
{
    scene *s = *state;

    s->asks = 2;
    s->ends_when_answered = false;
    start_legacy(s, "{\"elicitation\":{}}");
    mcp_client_expect(&s->client, ELICIT("1") "\n" ELICIT("2"));
    gbx_mcp_finish(s->request, &(gbx_mcp_result){.text = "too late",
                                                 .text_len = 8,
                                                 .is_error = true});
    assert_int_equal(s->answered, 0);
    (void)mcp_client_expect_part(&s->client, "too late");
    assert_int_equal(s->answered, 2);
    assert_int_equal(s->answers[1], GBX_MCP_ANSWER_ENDED);
}

/* ---- modern -------------------------------------------------------------------- */

/* What was said, with requestState kept and cut out. */
static const char *hear_state(scene *s)
{
    static char heard[8192];
    char *at;

    (void)snprintf(heard, sizeof heard, "%s", mcp_client_hear(&s->client));
    at = strstr(heard, ",\"requestState\":\"");
    if (at != NULL) {
        size_t len = strcspn(at + 17, "\"");

        (void)snprintf(s->state, sizeof s->state, "%.*s", (int)len, at + 17);
        memmove(at, at + 18 + len, strlen(at + 18 + len) + 1);
    }
    return heard;
}

static void say_modern(scene *s, const char *id, const char *more)
{
    char said[2048];

    (void)snprintf(said, sizeof said, "\"id\":%s," CALL "," MODERN_META_ASK "%s}", id,
                   more);
    mcp_client_say(&s->client, said);
}

static void come_back(scene *s, const char *id, const char *responses)
{
    char more[1024];

    (void)snprintf(more, sizeof more, ",\"requestState\":\"%s\",\"inputResponses\":%s",
                   s->state, responses);
    say_modern(s, id, more);
}

#define SERVER_INFO                                                \
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":" \
    "\"test\",\"version\":\"1\"}}"
#define QUESTION(n)                                                                   \
    "\"ask-" n "\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\"," \
    "\"message\":\"May I?\",\"requestedSchema\":" SCHEMA "}}"
#define INPUT_REQUIRED(id, questions)                             \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                             \
    ",\"result\":{\"resultType\":\"input_required\"," SERVER_INFO \
    ",\"inputRequests\":{" questions "}}}"
#define MODERN_DONE(id)                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                       \
    ",\"result\":{\"resultType\":\"complete\"," SERVER_INFO \
    ",\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"isError\":false}}"

TEST(modern__comes_back_with_the_answer_and_nothing_runs_again)
{
    scene *s = *state;

    say_modern(s, "1", "");
    assert_string_equal(hear_state(s), INPUT_REQUIRED("1", QUESTION("1")));
    come_back(s, "2", "{\"ask-1\":{\"action\":\"accept\",\"content\":{\"k\":1}}}");
    assert_string_equal(hear_state(s), MODERN_DONE("2"));
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_ACCEPT);
    assert_string_equal(s->content, "{\"k\":1}");
}

TEST(a_state__is_good_for_one_return)
{
    scene *s = *state;

    s->ends_when_answered = false;
    say_modern(s, "1", "");
    (void)hear_state(s);
    come_back(s, "2", "{\"ask-1\":{\"action\":\"accept\"}}");
    assert_string_equal(hear_state(s), ""); /* works on */
    come_back(s, "3", "{\"ask-1\":{\"action\":\"decline\"}}");
    (void)mcp_client_expect_part(&s->client, "\"id\":3,\"error\":{\"code\":-32602,"
                                             "\"message\":\"requestState is not valid");
    gbx_mcp_finish(s->request, &(gbx_mcp_result){.text = "done", .text_len = 4});
    assert_string_equal(hear_state(s), MODERN_DONE("2"));
    come_back(s, "4", "{\"ask-1\":{\"action\":\"accept\"}}");
    (void)mcp_client_expect_part(&s->client, "\"id\":4,\"error\":{\"code\":-32602");
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->answered, 1);
}

TEST(a_state_of_another_request__is_refused)
{
    static const char *const others[] = {
        "tools/call\",\"params\":{\"name\":\"ask\",\"arguments\":{\"a\":2}",
        "tools/call\",\"params\":{\"name\":\"ask\"",
        "tools/call\",\"params\":{\"name\":\"ask\",\"arguments\":{\"a\":1},\"x\":1",
        "tools/call\",\"params\":{\"name\":\"ask\",\"argument\":{\"a\":1}",
        "resources/read\",\"params\":{\"name\":\"ask\",\"arguments\":{\"a\":1}",
    };
    scene *s = *state;
    char said[1024];

    say_modern(s, "1", ",\"arguments\":{\"a\":1}");
    (void)hear_state(s);
    for (size_t i = 0; i < GBX_COUNTOF(others); i++) {
        (void)snprintf(said, sizeof said,
                       "\"id\":2,\"method\":\"%s,%s,\"requestState\":\"%s\"}",
                       others[i], MODERN_META_ASK, s->state);
        mcp_client_say(&s->client, said);
        (void)mcp_client_expect_part(&s->client, "requestState is not valid");
    }
    (void)snprintf(said, sizeof said,
                   "\"id\":3,\"method\":\"tools/call\",\"params\":{\"arguments\":"
                   "{\"a\":1},\"requestState\":\"%s\",\"inputResponses\":{\"ask-1\":"
                   "{\"action\":\"accept\"}},%s,\"name\":\"ask\"}",
                   s->state, MODERN_META_ASK);
    mcp_client_say(&s->client, said);
    assert_string_equal(hear_state(s), MODERN_DONE("3"));
    assert_int_equal(s->calls, 1);
}

TEST(a_state_of_another_connection__is_refused)
{
    scene *s = *state;
    mcp_client own = s->client;

    say_modern(s, "1", "");
    (void)hear_state(s);
    mcp_client_open(&s->client, NULL);
    add_tool(s);
    come_back(s, "2", "{\"ask-1\":{\"action\":\"accept\"}}");
    (void)mcp_client_expect_part(&s->client, "requestState is not valid");
    mcp_client_close(&s->client);
    s->client = own;
    come_back(s, "2", "{\"ask-1\":{\"action\":\"accept\"}}");
    assert_string_equal(hear_state(s), MODERN_DONE("2"));
}

TEST(a_state_that_was_made_up__is_refused)
{
    static const char *const states[] = {"\"\"", "\"AAAA\"", "1", "null", "{}"};
    scene *s = *state;
    char more[512];

    say_modern(s, "1", "");
    (void)hear_state(s);
    s->state[30] = s->state[30] == 'a' ? 'b' : 'a';
    come_back(s, "2", "{}");
    (void)mcp_client_expect_part(&s->client, "\"id\":2,\"error\":{\"code\":-32602");
    for (size_t i = 0; i < GBX_COUNTOF(states); i++) {
        (void)snprintf(more, sizeof more, ",\"requestState\":%s", states[i]);
        say_modern(s, "3", more);
        (void)mcp_client_expect_part(&s->client, "\"id\":3,\"error\":{\"code\":-32602");
    }
    assert_int_equal(s->calls, 1);
}

TEST(what_was_not_answered__is_asked_again)
{
    scene *s = *state;
    char first[sizeof s->state];
    char second[sizeof s->state];

    s->asks = 2;
    say_modern(s, "1", "");
    assert_string_equal(hear_state(s),
                        INPUT_REQUIRED("1", QUESTION("1") "," QUESTION("2")));
    memcpy(first, s->state, sizeof first);
    come_back(s, "2", "{\"ask-1\":{\"action\":\"accept\"},\"other\":1}");
    assert_string_equal(hear_state(s), INPUT_REQUIRED("2", QUESTION("2")));
    memcpy(second, s->state, sizeof second);
    memcpy(s->state, first, sizeof first);
    come_back(s, "3", "{\"ask-2\":{\"action\":\"accept\"}}");
    (void)mcp_client_expect_part(&s->client, "\"id\":3,\"error\":{\"code\":-32602");
    memcpy(s->state, second, sizeof second);
    come_back(s, "3", "[]");
    (void)mcp_client_expect_part(&s->client, "inputResponses must be an object");
    come_back(s, "3", "{\"ask-2\":{\"action\":\"decline\"}}");
    assert_string_equal(hear_state(s), MODERN_DONE("3"));
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_ACCEPT);
    assert_int_equal(s->answers[1], GBX_MCP_ANSWER_DECLINE);
    assert_int_equal(s->calls, 1);
}

TEST(who_returns_and_can_ask_nobody__is_not_asked)
{
    scene *s = *state;
    char said[1024];

    say_modern(s, "1", "");
    (void)hear_state(s);
    (void)snprintf(said, sizeof said,
                   "\"id\":2," CALL "," MODERN_META ",\"requestState\":\"%s\"}",
                   s->state);
    mcp_client_say(&s->client, said);
    assert_string_equal(hear_state(s), MODERN_DONE("2"));
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_NOBODY);
}

TEST(work_that_ends_while_a_person_thinks__waits_for_the_client)
{
    scene *s = *state;

    s->ends_when_answered = false;
    say_modern(s, "1", "");
    (void)hear_state(s);
    gbx_mcp_finish(s->request, &(gbx_mcp_result){.text = "done", .text_len = 4});
    assert_string_equal(hear_state(s), "");
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_ENDED);
    assert_int_equal(gbx_mcp_server_unfinished(s->client.server), 0);
    come_back(s, "2", "{\"ask-1\":{\"action\":\"accept\"}}");
    assert_string_equal(hear_state(s), MODERN_DONE("2"));
    assert_int_equal(s->answered, 1);
}

TEST(modern__is_asked_only_if_this_request_says_it_can)
{
    scene *s = *state;

    mcp_client_initialize(&s->client, "2025-11-25", "{\"elicitation\":{}}");
    mcp_client_say(&s->client, "\"id\":1," CALL "," MODERN_META "}");
    assert_string_equal(hear_state(s), MODERN_DONE("1"));
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_NOBODY);
}

TEST(a_cancelled_return__ends_the_work)
{
    scene *s = *state;

    s->ends_when_answered = false;
    say_modern(s, "1", "");
    (void)hear_state(s);
    come_back(s, "2", "{\"ask-1\":{\"action\":\"accept\"}}");
    (void)hear_state(s);
    mcp_client_say(
        &s->client,
        "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}");
    mcp_client_expect(&s->client, "");
    assert_int_equal(s->cancels, 1);
}

/* ---- time ----------------------------------------------------------------------- */

static void wait_until(scene *s, const int *what, int value)
{
    while (*what != value)
        (void)event_base_loop(gbx_mcp_loop_base(s->client.loop), EVLOOP_ONCE);
}

static int open_hasty(void **state)
{
    gbx_mcp_server_options options = {.name = "test", .version = "1", .ask_ms = 1};
    scene *s = calloc(1, sizeof *s);

    mcp_client_open(&s->client, &options);
    s->asks = 1;
    assert_true(
        gbx_mcp_server_set_tool(s->client.server, &(gbx_mcp_tool){.name = "ask",
                                                                  .input_schema = "{}",
                                                                  .call = ask_call,
                                                                  .user = s}));
    *state = s;
    return 0;
}

TEST_WITH(open_hasty, close_scene, a_legacy_person_who_takes_too_long__has_not_answered)
{
    scene *s = *state;

    s->ends_when_answered = true;
    start_legacy(s, "{\"elicitation\":{}}");
    wait_until(s, &s->answered, 1);
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_LATE);
    (void)mcp_client_expect_part(&s->client, "notifications/cancelled");
}

TEST_WITH(open_hasty, close_scene, a_modern_client_that_never_returns__ends_the_work)
{
    scene *s = *state;

    say_modern(s, "1", "");
    (void)hear_state(s);
    wait_until(s, &s->cancels, 1);
    assert_int_equal(gbx_mcp_server_unfinished(s->client.server), 0);
    come_back(s, "2", "{}");
    (void)mcp_client_expect_part(&s->client, "\"id\":2,\"error\":{\"code\":-32602");
}

/* The server has not looked at its clock yet; the state says it all the same. */
TEST_WITH(open_hasty, close_scene, a_state__expires_by_itself)
{
    scene *s = *state;

    say_modern(s, "1", "");
    (void)hear_state(s);
    (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    come_back(s, "2", "{\"ask-1\":{\"action\":\"accept\"}}");
    (void)mcp_client_expect_part(&s->client, "\"id\":2,\"error\":{\"code\":-32602");
    wait_until(s, &s->cancels, 1);
    assert_int_equal(s->answers[0], GBX_MCP_ANSWER_ENDED);
}

TEST_MAIN_EACH(open_scene, close_scene)
