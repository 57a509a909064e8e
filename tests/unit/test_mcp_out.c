/* SPDX-License-Identifier: MIT */
/* out - a reader that does not read costs memory up to the ceiling, and no time. */
#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define CEILING ((size_t)1024 * 1024)

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_mcp_output *out;
    int read_fd;
    int write_fd;
    int broken; /* errno */
    int drained;
    size_t got;
} scene;

static scene its;
static scene *const s = &its;

static void on_broken(void *user, int os_errno)
{
    s->broken = os_errno;
    gbx_mcp_loop_stop(s->loop, 0);
}

static void on_drained(void *user)
{
    ((scene *)user)->drained++;
}

static void open_scene(bool is_socket)
{
    gbx_mcp_output_hooks hooks = {.user = s,
                                  .broken = on_broken,
                                  .drained = on_drained};
    int ends[2];

    (void)signal(SIGPIPE, SIG_IGN);
    *s = (scene){.loop = gbx_mcp_loop_new()};
    if (is_socket)
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    else
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    s->read_fd = ends[0];
    s->write_fd = ends[1];
    s->out = gbx_mcp_output_new(s->loop, s->write_fd, CEILING, &hooks);
    assert_non_null(s->out);
}

static int set_up(void **state)
{
    open_scene(false);
    return 0;
}

static int set_up_socket(void **state)
{
    open_scene(true);
    return 0;
}

static int tear_down(void **state)
{
    gbx_mcp_output_free(s->out);
    assert_int_equal(fcntl(s->write_fd, F_GETFL) & O_NONBLOCK, 0);
    gbx_mcp_loop_free(s->loop);
    gbx_fd_close(&s->read_fd);
    gbx_fd_close(&s->write_fd);
    return 0;
}

#define SOCKET_TEST(name) TEST_WITH(set_up_socket, tear_down, name)

/* Messages of 1,000 bytes that count on, until one is refused. */
static size_t fill(void)
{
    uint8_t message[1000];
    size_t sent = 0;

    for (;;) {
        for (size_t i = 0; i < sizeof message; i++)
            message[i] = (uint8_t)((sent + i) % 251);
        if (!gbx_mcp_output_send(s->out, message, sizeof message))
            return sent;
        sent += sizeof message;
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    static uint8_t bytes[65536];
    ssize_t n = read(fd, bytes, sizeof bytes);

    for (ssize_t i = 0; i < n; i++)
        assert_int_equal(bytes[i], (s->got + (size_t)i) % 251);
    s->got += (size_t)n;
    if (gbx_mcp_output_waiting(s->out) == 0)
        gbx_mcp_loop_stop(s->loop, 0);
}

/* On the loop until nothing waits any more, then what is left in the pipe. */
static void read_all(size_t sent)
{
    struct event *readable = event_new(gbx_mcp_loop_base(s->loop), s->read_fd,
                                       EV_READ | EV_PERSIST, on_readable, NULL);

    (void)event_add(readable, NULL);
    (void)gbx_mcp_loop_run(s->loop);
    event_free(readable);
    while (s->got < sent)
        on_readable(s->read_fd, 0, NULL);
}

static void turn(void)
{
    (void)event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_NONBLOCK);
}

TEST(what_waits__has_a_ceiling_and_arrives_in_order)
{
    size_t sent = fill();

    assert_true(sent >= CEILING - 1000);
    assert_true(gbx_mcp_output_waiting(s->out) <= CEILING);
    assert_true(gbx_mcp_output_is_full(s->out));
    read_all(sent);

    assert_false(gbx_mcp_output_is_full(s->out));
    assert_int_equal(s->got, sent);
    assert_int_equal(s->drained, 1);
}

TEST(a_message_over_the_ceiling__is_refused_and_the_next_is_not)
{
    GBX_CLEANUP(gbx_free) char *big = calloc(1, CEILING + 1);

    assert_false(gbx_mcp_output_send(s->out, big, CEILING + 1));
    assert_true(gbx_mcp_output_send(s->out, "x", 1));
    turn();
    assert_int_equal(gbx_mcp_output_waiting(s->out), 0);
}

TEST(a_reader_that_is_gone__is_told_once_and_not_from_inside)
{
    gbx_fd_close(&s->read_fd);
    (void)gbx_mcp_output_send(s->out, "x", 1);
    assert_int_equal(s->broken, 0);
    (void)gbx_mcp_loop_run(s->loop);
    assert_int_equal(s->broken, EPIPE);
    assert_int_equal(gbx_mcp_output_errno(s->out), EPIPE);
    assert_false(gbx_mcp_output_send(s->out, "x", 1));
}

static size_t in_pipe(void)
{
    int count = 0;

    assert_int_equal(ioctl(s->read_fd, FIONREAD, &count), 0);
    return (size_t)count;
}

static void stop_loop(void *loop)
{
    gbx_mcp_loop_stop(loop, 0);
}

TEST(what_is_sent__is_written_at_the_end_of_the_turn)
{
    gbx_mcp_post stop = {.run = stop_loop, .arg = s->loop};

    assert_true(gbx_mcp_output_send(s->out, "one", 3));
    assert_true(gbx_mcp_output_send(s->out, "two", 3));
    assert_int_equal(in_pipe(), 0);
    assert_int_equal(gbx_mcp_output_waiting(s->out), 6);
    gbx_mcp_loop_post(s->loop, &stop);
    (void)gbx_mcp_loop_run(s->loop);
    assert_int_equal(in_pipe(), 6);
    assert_int_equal(gbx_mcp_output_waiting(s->out), 0);
}

TEST(what_is_sent__is_said_before_it_is_closed)
{
    assert_true(gbx_mcp_output_send(s->out, "last", 4));
    gbx_mcp_output_free(s->out);
    s->out = NULL;
    assert_int_equal(in_pipe(), 4);
}

static void send_parts(const char *parts)
{
    for (const char *at = parts; *at != '\0'; at++) {
        if (at > parts)
            gbx_mcp_output_part(s->out);
        assert_true(gbx_mcp_output_send(s->out, at, 1));
    }
}

static void wait_until_written(size_t left)
{
    while (gbx_mcp_output_waiting(s->out) > left)
        assert_int_equal(event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_ONCE), 0);
}

/* One part a read, whatever time passes between them. */
static void check_parts_are_read_alone(void)
{
    char read_now[4] = "";

    send_parts("abc");
    turn();
    assert_int_equal(in_pipe(), 1);
    for (size_t i = 0; i < 3; i++) {
        wait_until_written(2 - i);
        assert_int_equal(read(s->read_fd, read_now, sizeof read_now), 1);
        assert_int_equal(read_now[0], "abc"[i]);
    }
}

TEST(a_part__is_not_read_in_one_go_with_what_was_before)
{
    check_parts_are_read_alone();
}

SOCKET_TEST(a_part_in_a_socket__waits_for_its_reader_and_not_for_us)
{
    assert_int_equal(send(s->read_fd, "input", 5, 0), 5); /* which we do not read */
    check_parts_are_read_alone();
    send_parts("d");
    turn();
    assert_int_equal(gbx_mcp_output_waiting(s->out), 0);
}

TEST(a_part_that_nobody_reads__is_written_all_the_same)
{
    send_parts("abc");
    wait_until_written(0);
    assert_int_equal(in_pipe(), 3);
}

TEST(a_file__never_has_to_wait)
{
    gbx_mcp_output_hooks hooks = {0};
    gbx_mcp_loop *loop = gbx_mcp_loop_new();
    char path[] = "/tmp/glovebox-test-out-XXXXXX";
    int fd = mkstemp(path);
    char back[6] = "";
    gbx_mcp_output *out;

    assert_true(fd >= 0);
    (void)unlink(path);
    out = gbx_mcp_output_new(loop, fd, CEILING, &hooks);
    assert_true(gbx_mcp_output_send(out, "hel", 3));
    gbx_mcp_output_part(out);
    assert_true(gbx_mcp_output_send(out, "lo", 2));
    (void)event_base_loop(gbx_mcp_loop_base(loop), EVLOOP_NONBLOCK);
    assert_int_equal(gbx_mcp_output_waiting(out), 0);
    assert_int_equal(pread(fd, back, 5, 0), 5);
    assert_string_equal(back, "hello");
    gbx_mcp_output_free(out);
    gbx_mcp_output_free(NULL);
    gbx_mcp_loop_free(loop);
    gbx_fd_close(&fd);
}

/* The other end is closed: does the queue find out? */
static void check_reader_goes(void)
{
    assert_true(gbx_mcp_output_watch(s->out, s->loop));
    assert_true(gbx_mcp_output_send(s->out, "x", 1));
    turn();
    assert_int_equal(s->broken, 0);

    gbx_fd_close(&s->read_fd);
    turn();
    turn();

    assert_int_equal(s->broken, EPIPE);
    assert_false(gbx_mcp_output_send(s->out, "y", 1));
}

TEST(a_reader_that_goes__is_known_without_a_message)
{
    check_reader_goes();
}

SOCKET_TEST(a_socket_that_goes__is_known_too)
{
    assert_int_equal(send(s->read_fd, "input", 5, 0), 5); /* is no end */

    check_reader_goes();
}

SOCKET_TEST(a_socket_that_says_no_more__still_reads)
{
    assert_true(gbx_mcp_output_watch(s->out, s->loop));

    assert_int_equal(shutdown(s->read_fd, SHUT_WR), 0);
    turn();
    turn();

    assert_int_equal(s->broken, 0);
    assert_true(gbx_mcp_output_send(s->out, "x", 1));
}

TEST_MAIN_EACH(set_up, tear_down)
