/* SPDX-License-Identifier: MIT */
/*
 * fuzz_mcp_out - whatever a reader does and whenever, it reads what was sent, in order and
 * once; and what is sent in parts comes in parts, unless it takes nothing for 50 ms.
 *
 * The clock is the target's own. The first byte chooses the pipe, and how much may wait;
 * then each two bytes are a step, and how much of it.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/rpc/rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PARTS_MAX 32
#define PART_NS   (50 * GBX_NS_PER_MS)
#define PIPE_SIZE 4096

/* A part: where it begins, and since when all before it was written; 0: it is not. */
typedef struct part {
    uint64_t begins;
    int64_t reached_ns;
} part;

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_mcp_output *out;
    int reader;
    bool is_broken;
    size_t ceiling;
    uint64_t sent;
    uint64_t read;
    part parts[PARTS_MAX];
    size_t part_count;
} scene;

static int64_t now_ns;

/* In the place of the true one. */
int64_t gbx_clock_now_ns(void)
{
    return now_ns;
}

/* The byte that is sent at a place: no period of it is a pipe's. */
static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)(at % 251);
}

static void on_broken(void *user, int os_errno)
{
    scene *s = user;

    assert(!s->is_broken && os_errno != 0);
    assert(os_errno == gbx_mcp_output_errno(s->out));
    s->is_broken = true;
}

static void on_drained(void *user)
{
    const scene *s = user;

    assert(!gbx_mcp_output_is_full(s->out));
}

/* What was written up to now, and whether any of it had to wait. */
static void look(scene *s)
{
    uint64_t written = gbx_mcp_output_written(s->out);

    assert(written >= s->read && written <= s->sent);
    assert(gbx_mcp_output_waiting(s->out) <= s->ceiling);
    assert(gbx_mcp_output_errno(s->out) != 0 ||
           written + gbx_mcp_output_waiting(s->out) == s->sent);
    for (size_t i = 0; i < s->part_count; i++) {
        part *p = &s->parts[i];

        if (written >= p->begins && p->reached_ns == 0)
            p->reached_ns = now_ns;
        assert(written <= p->begins || s->read >= p->begins ||
               now_ns - p->reached_ns >= PART_NS);
        if (s->read >= p->begins)
            s->parts[i--] = s->parts[--s->part_count];
    }
}

static void turn(scene *s)
{
    (void)event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_NONBLOCK);
    look(s);
}

static void send_bytes(scene *s, size_t len)
{
    GBX_CLEANUP(gbx_free) uint8_t *text = malloc(len + 1);
    bool fits = len <= s->ceiling - gbx_mcp_output_waiting(s->out);
    bool is_taken;

    for (size_t i = 0; i < len; i++)
        text[i] = byte_at(s->sent + i);
    fits = fits && gbx_mcp_output_errno(s->out) == 0;
    is_taken = gbx_mcp_output_send(s->out, text, len);
    assert(is_taken == fits);
    s->sent += is_taken ? len : 0;
}

static void begin_part(scene *s)
{
    if (s->part_count == PARTS_MAX || gbx_mcp_output_errno(s->out) != 0)
        return;
    gbx_mcp_output_part(s->out);
    s->parts[s->part_count++] = (part){.begins = s->sent};
}

static bool read_bytes(scene *s, size_t len)
{
    uint8_t text[PIPE_SIZE];
    ssize_t n;

    if (s->reader < 0)
        return false;
    n = read(s->reader, text, len < sizeof text ? len : sizeof text);
    for (ssize_t i = 0; i < n; i++)
        assert(text[i] == byte_at(s->read + (uint64_t)i));
    s->read += n > 0 ? (uint64_t)n : 0;
    return n > 0;
}

static int fire(const struct event_base *base, const struct event *event, void *user)
{
    struct event *timer;

    if (event_get_fd(event) == -1) {
        memcpy(&timer, &event, sizeof timer);
        event_active(timer, EV_TIMEOUT, 0);
    }
    return 0;
}

static void step(scene *s, uint8_t what, uint8_t how)
{
    switch (what % 8) {
    case 0: send_bytes(s, how + 1U); break;
    case 1: send_bytes(s, (how + 1U) * 64); break;
    case 2: begin_part(s); break;
    case 3: (void)read_bytes(s, how * (size_t)16 + 1); break;
    case 4: now_ns += how * GBX_NS_PER_MS; break;
    case 5:
        (void)event_base_foreach_event(gbx_mcp_loop_base(s->loop), fire, NULL);
        break;
    case 6:
        if (how > 240)
            gbx_fd_close(&s->reader);
        break;
    default: turn(s); break;
    }
    if (what < 128)
        turn(s);
    look(s);
}

/* A reader that takes all that there is gets all of it, in as many turns as there are
 * parts and fillings of the pipe. */
static void finish(scene *s)
{
    for (size_t i = 0; i < 1000 && s->read < s->sent && s->reader >= 0; i++) {
        turn(s);
        while (read_bytes(s, PIPE_SIZE))
            continue;
        now_ns += PART_NS;
        (void)event_base_foreach_event(gbx_mcp_loop_base(s->loop), fire, NULL);
    }
    turn(s);
    assert(s->reader < 0 || (s->read == s->sent && gbx_mcp_output_errno(s->out) == 0));
    assert(s->is_broken == (gbx_mcp_output_errno(s->out) != 0));
}

static bool open_pipe(bool is_socket, int fds[2])
{
    if (!is_socket)
        return pipe2(fds, O_CLOEXEC) == 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0 &&
               fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE) >= 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return false;
    return fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t kind = size > 0 ? data[0] : 0;
    scene s = {.loop = gbx_mcp_loop_new(), .ceiling = (kind & 4) != 0 ? 20000 : 1000};
    gbx_mcp_output_hooks hooks = {&s, on_broken, on_drained};
    int fds[2];

    (void)signal(SIGPIPE, SIG_IGN);
    now_ns = PART_NS;
    assert(s.loop != NULL && open_pipe((kind & 1) != 0, fds));
    s.reader = fds[0];
    s.out = gbx_mcp_output_new(s.loop, fds[1], s.ceiling, &hooks);
    assert(s.out != NULL);
    assert((kind & 8) == 0 || gbx_mcp_output_watch(s.out, s.loop));
    for (size_t i = 1; i + 1 < size && i < 1000; i += 2)
        step(&s, data[i], data[i + 1]);
    finish(&s);
    gbx_mcp_output_free(s.out);
    gbx_fd_close(&s.reader);
    gbx_fd_close(&fds[1]);
    gbx_mcp_loop_free(s.loop);
    return 0;
}
