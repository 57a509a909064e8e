/* SPDX-License-Identifier: MIT */
/* A server that floods has its turn, and no more: others have theirs in between. */
#include "mcp/upstream/internal.h"
#include "test.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "marked.h"

#include <signal.h>

#define TURNS_WANTED 100

/* A line takes as long, so that a turn's millisecond has a thousand of them. */
#define LINE_NS 1000

typedef struct scene {
    gbx_mcp_loop *loop;
    struct event *turn;
    unsigned turns; /* in which lines came */
    unsigned lines; /* in this turn */
    unsigned most;
} scene;

static void on_line(void *user, const char *line, size_t len, int64_t about)
{
    int64_t until_ns = gbx_clock_now_ns() + LINE_NS;
    scene *s = user;

    s->lines++;
    while (gbx_clock_now_ns() < until_ns)
        continue;
}

static void on_long_line(void *user)
{
    fail_msg("there is no long line");
}

static void on_error_line(void *user, const char *line)
{
}

static void on_deaf(void *user, uint64_t written, const char *why)
{
}

static void on_ended(void *user, const char *why, bool is_lasting)
{
    fail_msg("it has ended: %s", why);
}

/* Another, who is always due. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    scene *s = arg;

    s->most = s->lines > s->most ? s->lines : s->most;
    s->turns += s->lines > 0;
    s->lines = 0;
    event_active(s->turn, 0, 0);
    if (s->turns == TURNS_WANTED)
        gbx_mcp_loop_stop(s->loop, 0);
}

TEST(a_flood_of_short_lines__leaves_others_their_turns)
{
    scene s = {.loop = gbx_mcp_loop_new()};
    gbx_yard yard = {0};
    gbx_link *process;
    char mark[64];
    char option[] = "-c";
    char script[] = "yes '{}'";
    char *args[] = {option, script, NULL};
    gbx_mcp_variable env = {.name = mark};
    gbx_mcp_upstream_config config = {.command = (char[]){"/bin/sh"},
                                      .args = args,
                                      .arg_count = 2,
                                      .env = &env,
                                      .env_count = 1};
    gbx_error error;
    gbx_link_options options = {
        .loop = s.loop,
        .yard = &yard,
        .config = &config,
        .hooks = {.user = &s,
                  .message = on_line,
                  .too_long = on_long_line,
                  .log = on_error_line,
                  .deaf = on_deaf,
                  .lost = on_ended},
    };

    marked_name(mark, sizeof mark);
    env.value = strchr(mark, '=') + 1;
    env.value[-1] = 0;
    s.turn = event_new(gbx_mcp_loop_base(s.loop), -1, 0, on_turn, &s);
    event_active(s.turn, 0, 0);
    assert_int_equal(gbx_link_stdio(&options, &process, &error), GBX_OK);
    env.value[-1] = '=';
    assert_int_equal(gbx_mcp_loop_run(s.loop), 0);

    assert_in_range(s.most, 1, 6000);
    gbx_yard_clear(&yard, 50);
    event_free(s.turn);
    gbx_mcp_loop_free(s.loop);
    assert_int_equal(marked_count(mark), 0);
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    return tests_run(NULL, NULL);
}
