/* SPDX-License-Identifier: MIT */
/* The loop stays on its processor for turns that are short; what it starts does not. */
#include "base/cleanup.h"
#include "base/thread.h"
#include "mcp/code/code.h"
#include "mcp/upstream/internal.h"
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

static cpu_set_t all;

static bool has_several(void)
{
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    return CPU_COUNT(&all) > 1;
}

static bool is_held(void)
{
    cpu_set_t now;

    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    return CPU_COUNT(&now) == 1;
}

/* ---- turns of the loop -------------------------------------------------------- */

/* One turn is as long as the machine makes it: of many, some are short. */
#define TURNS 10000

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_mcp_post post;
    unsigned turns;
    unsigned held;    /* turns that were asked to stay, and did */
    unsigned unasked; /* turns that were not asked to, and did */
    bool asked;
} scene;

static void on_turn(void *arg)
{
    scene *s = arg;

    s->held += s->asked && is_held();
    s->unasked += !s->asked && is_held();
    s->asked = s->turns % 2 == 0;
    if (s->asked)
        gbx_mcp_loop_stay(s->loop);
    if (++s->turns == TURNS)
        gbx_mcp_loop_stop(s->loop, 0);
    else
        gbx_mcp_loop_post(s->loop, &s->post);
}

TEST(turns__that_are_asked_to_stay_do_and_no_others)
{
    scene s = {.loop = gbx_mcp_loop_new()};

    if (!has_several())
        skip();
    s.post = (gbx_mcp_post){.run = on_turn, .arg = &s};
    gbx_mcp_loop_post(s.loop, &s.post);
    assert_int_equal(gbx_mcp_loop_run(s.loop), 0);
    gbx_mcp_loop_free(s.loop);

    assert_true(s.held > 0);
    assert_int_equal(s.unasked, 0);
    assert_false(is_held()); /* after the end */
}

static void on_long_turn(evutil_socket_t fd, short what, void *arg)
{
    scene *s = arg;

    s->unasked += is_held();
    gbx_mcp_loop_stop(s->loop, 0);
}

static void on_first_turn(evutil_socket_t fd, short what, void *arg)
{
    scene *s = arg;
    struct event_base *base = gbx_mcp_loop_base(s->loop);

    gbx_mcp_loop_stay(s->loop); /* this turn has lasted 20 ms */
    (void)event_base_once(base, -1, EV_TIMEOUT, on_long_turn, s,
                          &(struct timeval){.tv_usec = 20000});
}

TEST(a_turn_after_a_long_one__is_where_the_kernel_says)
{
    scene s = {.loop = gbx_mcp_loop_new()};

    if (!has_several())
        skip();
    (void)event_base_once(gbx_mcp_loop_base(s.loop), -1, EV_TIMEOUT, on_first_turn, &s,
                          &(struct timeval){.tv_usec = 20000});
    assert_int_equal(gbx_mcp_loop_run(s.loop), 0);
    gbx_mcp_loop_free(s.loop);

    assert_int_equal(s.unasked, 0);
}

/* ---- what is started meanwhile ---------------------------------------------------- */

static void *read_it(void *user)
{
    bool *is_it_held = user;

    *is_it_held = is_held();
    return NULL;
}

TEST(a_thread__begun_by_who_stays_runs_anywhere)
{
    bool is_it_held = true;
    pthread_t thread;

    if (!has_several())
        skip();
    gbx_cpu_stay();
    assert_true(is_held());
    assert_int_equal(gbx_thread_start(&thread, read_it, &is_it_held), 0);
    (void)pthread_join(thread, NULL);

    assert_false(is_it_held);
}

static void read_line(int fd, char *line, size_t size)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    size_t len = 0;

    while (len + 1 < size && memchr(line, '\n', len) == NULL) {
        ssize_t n;

        assert_int_equal(poll(&ready, 1, 30000), 1);
        n = read(fd, line + len, size - 1 - len);
        assert_true(n > 0);
        len += (size_t)n;
    }
    line[len] = 0;
}

/* As /proc has it: the processors of who reads. */
static const char show[] = "grep Cpus_allowed_list /proc/self/status; read -r line";

static void ours(char *line, size_t size)
{
    FILE *f = fopen("/proc/self/status", "re");

    assert_non_null(f);
    do
        assert_non_null(fgets(line, (int)size, f));
    while (strncmp(line, "Cpus_allowed_list", 17) != 0);
    (void)fclose(f);
}

TEST(a_server__begun_by_who_stays_runs_anywhere)
{
    char option[] = "-c", script[sizeof show];
    char *args[] = {option, script, NULL};
    gbx_mcp_upstream_config config = {.command = (char[]){"sh"},
                                      .args = args,
                                      .arg_count = 2};
    gbx_yard yard = {0};
    char expected[512], line[512] = "";
    gbx_spawned_server at;
    gbx_error error;

    if (!has_several())
        skip();
    ours(expected, sizeof expected);
    memcpy(script, show, sizeof show);
    gbx_cpu_stay();
    assert_int_equal(gbx_server_spawn(&config, &yard, &at, &error), GBX_OK);
    read_line(at.fds[STDOUT_FILENO], line, sizeof line);
    gbx_spawned_server_close(&at);
    assert_true(waitpid(-1, NULL, 0) > 0);

    assert_string_equal(line, expected);
}

int main(void)
{
    if (!has_several())
        (void)puts("there is one processor to run on: nothing to choose from");
    return tests_run(NULL, NULL);
}
