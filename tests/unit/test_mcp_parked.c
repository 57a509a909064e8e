/* SPDX-License-Identifier: MIT */
/* parked - work that waits for its client to come back: what it takes from others. */
#include "mcp_client.h"
#include "test.h"

#include "base/cleanup.h"

typedef struct lot {
    mcp_client client;
    int ended;       /* questions */
    char state[200]; /* the last requestState */
} lot;

static void on_cancel(void *user)
{
    gbx_mcp_finish(user, &(gbx_mcp_result){.text = "cancelled",
                                           .text_len = 9,
                                           .is_error = true});
}

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    lot *l = user;
    (void)content;

    l->ended += answer == GBX_MCP_ANSWER_ENDED;
}

/* Work that ends when it is cancelled, and no sooner. */
static void park(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    (void)arguments;
    gbx_mcp_on_cancel(request, on_cancel, request);
    gbx_mcp_ask(request, "May I?", "{}", on_answer, user);
}

static int open_lot(void **state)
{
    gbx_mcp_server_options options = {.name = "test", .version = "1", .ask_ms = 60000};
    lot *l = calloc(1, sizeof *l);

    mcp_client_open(&l->client, &options);
    assert_true(
        gbx_mcp_server_set_tool(l->client.server, &(gbx_mcp_tool){.name = "park",
                                                                  .input_schema = "{}",
                                                                  .call = park,
                                                                  .user = l}));
    *state = l;
    return 0;
}

static int close_lot(void **state)
{
    lot *l = *state;

    mcp_client_close(&l->client);
    free(l);
    return 0;
}

static void say(lot *l, int id, const char *more)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;

    gbx_buf_init(&said, GBX_MIB(15));
    (void)gbx_buf_printf(
        &said,
        "\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"park\","
        "" MODERN_META_ASK "%s}",
        id, more);
    assert_true(gbx_buf_append(&said, "", 1));
    mcp_client_say(&l->client, (const char *)said.data);
}

/* The call's state is kept. */
static void leave(lot *l, int id, const char *more)
{
    const char *at;

    say(l, id, more);
    at = strstr(mcp_client_hear(&l->client), ",\"requestState\":\"");
    assert_non_null(at);
    (void)snprintf(l->state, sizeof l->state, "%.*s", (int)strcspn(at + 17, "\""),
                   at + 17);
}

static void come_back(lot *l, int id, const char *state, const char *more)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf all;

    gbx_buf_init(&all, GBX_MIB(15));
    (void)gbx_buf_printf(&all, ",\"requestState\":\"%s\"%s", state, more);
    assert_true(gbx_buf_append(&all, "", 1));
    say(l, id, (const char *)all.data);
}

TEST(one_too_many__ends_the_oldest_that_nobody_came_back_to)
{
    lot *l = *state;
    char first[sizeof l->state];

    leave(l, 1, "");
    memcpy(first, l->state, sizeof first);
    for (int i = 2; i <= 128; i++)
        leave(l, i, "");
    assert_int_equal(l->ended, 0);
    leave(l, 129, "");
    assert_int_equal(l->ended, 1);
    assert_int_equal(gbx_mcp_server_unfinished(l->client.server), 128);
    come_back(l, 130, first, "");
    (void)mcp_client_expect_part(&l->client, "\"id\":130,\"error\":{\"code\":-32602");
}

TEST(large_ones__do_not_count_as_in_flight)
{
    lot *l = *state;
    char *large = calloc(1, GBX_MIB(13));
    char states[5][sizeof l->state];

    (void)snprintf(large, GBX_MIB(13), ",\"arguments\":{\"a\":\"%*s\"}",
                   (int)GBX_MIB(12), "x");
    for (int i = 0; i < 5; i++) {
        leave(l, i, large);
        memcpy(states[i], l->state, sizeof l->state);
    }
    leave(l, 5, "");
    for (int i = 0; i < 5; i++) {
        come_back(l, 10 + i, states[i], large);
        (void)mcp_client_expect_part(&l->client, "input_required");
    }
    assert_int_equal(l->ended, 0);
    leave(l, 20, large); /* the sixth */
    assert_true(l->ended > 0);
    free(large);
}

TEST_MAIN_EACH(open_lot, close_lot)
