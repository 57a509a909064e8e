/* SPDX-License-Identifier: MIT */
/* attack_mode - runs one attack at a time, with blocking reads bounded by poll. */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "cgroup/cgroup.h"
#include "seal/seal.h"
#include "wire/messages.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BODY_MAX GBX_KIB(16)

/* For the template, an attacker and its proof, and what attackers may leave behind. */
static const gbx_cgroup_limits group_limits = {.memory_bytes = GBX_MIB(1024),
                                               .processes = 32};

struct gbx_attack_session {
    gbx_spawned process;
    gbx_cgroup group;
    uint32_t layers;
    uint64_t next_id;
    char note[128];
    uint8_t body[BODY_MAX];
};

/* Receive exactly len bytes before the deadline. Descriptors that arrive with them
 * are kept in fds (at most two, -1 where none). */
static bool receive(gbx_attack_session *s, void *data, size_t len, gbx_timeout timeout,
                    int *fds)
{
    int64_t until = gbx_clock_now_ns() + gbx_timeout_ns(timeout);
    uint8_t *at = data;

    while (len > 0) {
        struct pollfd fd = {.fd = s->process.control, .events = POLLIN};
        int64_t left = (until - gbx_clock_now_ns()) / GBX_NS_PER_MS;
        int got[2];
        ssize_t n;

        if (left <= 0 || poll(&fd, 1, (int)left) <= 0)
            return false;
        n = gbx_fd_receive(s->process.control, at, len, got, 2, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            continue;
        if (n <= 0)
            return false;
        if (got[0] >= 0)
            memcpy(fds, got, sizeof got);
        at += n;
        len -= (size_t)n;
    }
    return true;
}

static bool receive_frame(gbx_attack_session *s, gbx_header *header,
                          gbx_timeout timeout, int *fds)
{
    uint8_t data[GBX_FRAME_HEADER_SIZE];

    return receive(s, data, sizeof data, timeout, fds) &&
           gbx_header_decode(data, header) && header->body_len <= BODY_MAX &&
           receive(s, s->body, header->body_len, GBX_TIMEOUT_ATTACK_FRAME, fds);
}

static bool send_all(gbx_attack_session *s, gbx_buf *buf)
{
    bool sent = !buf->failed && send(s->process.control, buf->data, buf->len,
                                     MSG_NOSIGNAL) == (ssize_t)buf->len;

    gbx_buf_cleanup(buf);
    return sent;
}

static gbx_status greet(gbx_attack_session *s, gbx_error *reterr)
{
    gbx_msg_config config = {.version = GBX_WIRE_VERSION,
                             .attack_mode = 1,
                             .memory_bytes = UINT64_C(128) << 20,
                             .cpu_s = 5};
    int fds[2] = {-1, -1};
    gbx_msg_hello hello;
    gbx_header header;
    gbx_status status;
    gbx_buf buf = {.ceiling = 256};

    (void)gbx_msg_put(&buf, 0, &config);
    if (!send_all(s, &buf) ||
        !receive_frame(s, &header, GBX_TIMEOUT_ATTACK_FRAME, fds) ||
        header.type != GBX_MSG_HELLO)
        return gbx_worker_died_early(&s->process, reterr);
    status = gbx_hello_read((gbx_span){s->body, header.body_len}, &hello, reterr);
    if (status != GBX_OK)
        return status;
    for (size_t i = 0; i < hello.layer_count; i++)
        if (hello.layers[i].stands && hello.layers[i].layer < 32)
            s->layers |= 1u << hello.layers[i].layer;
    return GBX_OK;
}

static gbx_attack_outcome judge(int status, int *ret_detail)
{
    if (WIFSIGNALED(status)) {
        *ret_detail = WTERMSIG(status);
        return *ret_detail == SIGSYS ? GBX_ATTACK_KILLED : GBX_ATTACK_DIED;
    }
    *ret_detail = WEXITSTATUS(status);
    switch (*ret_detail) {
    case 0: return GBX_ATTACK_REFUSED;
    case 2: return GBX_ATTACK_ABSENT;
    case 4: /* it could not be sealed, so it did not attack */
    case 5: return GBX_ATTACK_UNKNOWN;
    default: return GBX_ATTACK_SUCCEEDED; /* also when it became another program */
    }
}

gbx_status gbx_attack_open(const char *worker_path, gbx_jit jit, uint32_t layers_off,
                           gbx_attack_session **ret, gbx_error *reterr)
{
    gbx_spawn_options options = {.worker_path = worker_path,
                                 .jit = jit,
                                 .layers_off = layers_off};
    char uids[GBX_WORKER_UIDS_SIZE];
    gbx_attack_session *s = calloc(1, sizeof *s);
    gbx_status status = GBX_OK;

    if (s == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a session");
    s->process = GBX_SPAWNED_INIT;
    gbx_cgroup_init(&s->group);
    if (!(layers_off & GBX_LAYER_BIT(GBX_LAYER_CGROUP)))
        (void)gbx_cgroup_open(&s->group, &gbx_cgroup_here, &group_limits);
    options.cgroup = s->group.dir;
    gbx_worker_uid_choose(0, uids);
    options.uids = uids;
    if (!gbx_zygote_spawn(&options, (gbx_span){NULL, 0}, uids, &s->process))
        status = gbx_spawn(&options, &s->process, reterr);
    (void)setsockopt(s->process.control, SOL_SOCKET, SO_PASSCRED, &(int){0},
                     sizeof(int));
    if (status == GBX_OK)
        status = greet(s, reterr);
    if (status != GBX_OK) {
        gbx_attack_close(s);
        return status;
    }
    *ret = s;
    return GBX_OK;
}

uint32_t gbx_attack_layers(const gbx_attack_session *session)
{
    return session->layers;
}

gbx_attack_outcome gbx_attack_try(gbx_attack_session *s, uint32_t index,
                                  int *ret_detail)
{
    gbx_msg_attack attack = {.worker_id = ++s->next_id, .index = index};
    gbx_attack_outcome outcome = GBX_ATTACK_UNKNOWN;
    int fds[2] = {-1, -1};
    gbx_msg_exited exited;
    gbx_header header;
    gbx_buf buf = {.ceiling = 256};
    size_t len = 0;
    char byte;

    *ret_detail = -1;
    (void)gbx_msg_put(&buf, 0, &attack);
    if (!send_all(s, &buf) ||
        !receive_frame(s, &header, GBX_TIMEOUT_ATTACK_FRAME, fds) ||
        header.type != GBX_MSG_FORKED || fds[0] < 0)
        return GBX_ATTACK_UNKNOWN;
    if (!receive_frame(s, &header, GBX_TIMEOUT_ATTACK, fds)) {
        gbx_pidfd_kill(fds[1]);
        (void)receive_frame(s, &header, GBX_TIMEOUT_ATTACK_FRAME, fds);
    }
    if (header.type == GBX_MSG_EXITED &&
        gbx_msg_get(((gbx_span){s->body, header.body_len}), &exited) &&
        exited.worker_id == s->next_id)
        outcome = judge((int)exited.status, ret_detail);
    /* It has ended, so its note is complete. */
    while (len < sizeof s->note - 1 && recv(fds[0], &byte, 1, MSG_DONTWAIT) == 1)
        if (byte >= ' ' && byte <= '~')
            s->note[len++] = byte;
    s->note[len] = 0;
    gbx_fd_close(&fds[0]);
    gbx_fd_close(&fds[1]);
    return outcome;
}

const char *gbx_attack_note(const gbx_attack_session *session)
{
    return session->note;
}

void gbx_attack_close(gbx_attack_session *session)
{
    if (session == NULL)
        return;
    gbx_spawned_close(&session->process);
    gbx_cgroup_close(&session->group);
    free(session);
}
