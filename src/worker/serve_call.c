/* SPDX-License-Identifier: MIT */
/*
 * serve_call - after gbx_seal_worker() this process may read and write its channel and
 * ask for memory; all code here must stay within that. It never returns to the
 * template's code and runs no destructor: it waits to be killed.
 */
#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A result up to this size goes out in one write, so that the host wakes once. */
#define ONE_WRITE_MAX GBX_KIB(32)

/* A CALL of this size is worth huge pages, if the room is several times the part
 * that is skipped for it. Its text, a copy and its cells are 130 small pages. */
#define LARGE_CALL GBX_KIB(64)
#define LARGE_ROOM GBX_MIB(16)

/* Requests are gathered and sent with the WAIT that follows them. In a long sequence
 * some are sent early, so that the host works on them while the next are made: after
 * the first four, then twice as many each time, or when they fill GATHERED_MAX. */
#define GATHERED_FIRST 4
#define GATHERED_MOST  64
#define GATHERED_MAX   GBX_KIB(32)

typedef struct session {
    gbx_realm *realm;
    gbx_buf out;       /* requests not sent yet */
    unsigned gathered; /* number of requests in out */
    unsigned enough;   /* sent when gathered reaches this */
    uint64_t call_id;
    uint64_t sealed_memory_bytes;
    uint64_t room_bytes; /* the room, already part of the heap */
} session;

/* The host kills its workers; one exits if the host has ended or it cannot serve. */
static void send_buf(gbx_buf *buf)
{
    if (buf->failed)
        abort(); /* after REFUSED, which tells the host the reason */
    if (!gbx_channel_write(GBX_CHANNEL_FD, buf->data, buf->len))
        _exit(2);
    buf->len = 0;
}

static void send_empty(const session *s, gbx_msg_type type)
{
    uint8_t frame[GBX_FRAME_HEADER_SIZE] = {0};

    frame[4] = (uint8_t)type;
    for (size_t i = 0; i < 8; i++)
        frame[8 + i] = (uint8_t)(s->call_id >> (8 * i));
    if (!gbx_channel_write(GBX_CHANNEL_FD, frame, sizeof frame))
        _exit(2);
}

/* Called inside the allocator: must not allocate. */
static void on_refusal(void *user)
{
    send_empty(user, GBX_MSG_REFUSED);
}

static void send_requests(session *s)
{
    if (s->out.len > 0)
        send_buf(&s->out);
    s->gathered = 0;
    if (s->enough < GATHERED_MOST)
        s->enough *= 2;
}

/* Aborts if memory for the request is out: the call cannot continue. */
static void on_request(void *user, const gbx_msg_hostcall *msg)
{
    session *s = user;

    s->out.ceiling = s->out.len + msg->args.len + msg->bytes.len + GBX_KIB(4);
    if (!gbx_msg_put(&s->out, s->call_id, msg))
        abort();
    if (++s->gathered >= s->enough || s->out.len >= GATHERED_MAX)
        send_requests(s);
}

static void on_cancel(void *user, uint32_t id)
{
    session *s = user;

    s->out.ceiling = s->out.len + GBX_KIB(4);
    if (!gbx_msg_put(&s->out, s->call_id, &(gbx_msg_cancel){id}))
        abort();
}

static void on_limited(void *user, uint8_t limit)
{
    session *s = user;

    s->out.ceiling = s->out.len + GBX_KIB(4);
    if (!gbx_msg_put(&s->out, s->call_id, &(gbx_msg_limited){limit}))
        abort();
}

static void on_log(void *user, const gbx_msg_log *line)
{
    session *s = user;
    gbx_buf buf = {.ceiling = line->text.len + 64};

    send_requests(s);
    (void)gbx_msg_put(&buf, s->call_id, line);
    send_buf(&buf);
    gbx_buf_cleanup(&buf);
}

/* Bytes from the host that are not handled yet. Many answers arrive in one read. */
typedef struct ahead {
    size_t start, end;
    uint8_t data[GBX_KIB(4)];
} ahead;

static bool read_ahead(ahead *a, void *to, size_t len)
{
    size_t have = a->end - a->start < len ? a->end - a->start : len;
    uint8_t *at = to;

    memcpy(at, a->data + a->start, have);
    a->start += have;
    at += have;
    len -= have;
    if (len > sizeof a->data)
        return gbx_channel_read(GBX_CHANNEL_FD, at, len);
    while (len > 0) {
        ssize_t n = gbx_channel_read_some(GBX_CHANNEL_FD, a->data, sizeof a->data);

        if (n <= 0)
            return false;
        a->start = (size_t)n < len ? (size_t)n : len;
        a->end = (size_t)n;
        memcpy(at, a->data, a->start);
        at += a->start;
        len -= a->start;
    }
    return true;
}

/* Handle one answer of the host. The code's reactions to it run before the next answer
 * is read. */
static void take_answer(const session *s, const gbx_header *header, ahead *a)
{
    uint8_t small[GBX_KIB(1)];
    uint8_t *body = header->body_len <= sizeof small ? small : malloc(header->body_len);
    gbx_msg_answer answer;

    if (body == NULL)
        abort(); /* after REFUSED, as above */
    if (!read_ahead(a, body, header->body_len) ||
        !gbx_msg_get(((gbx_span){body, header->body_len}), &answer))
        _exit(2);
    gbx_realm_answer(s->realm, &answer);
    if (body != small)
        free(body);
}

static void on_wait(void *user, uint32_t ms)
{
    session *s = user;
    gbx_msg_wait wait = {.ms = ms < GBX_WAIT_MS_MAX ? ms : GBX_WAIT_MS_MAX};
    uint8_t head[GBX_FRAME_HEADER_SIZE];
    gbx_header header;
    ahead a;

    a.start = a.end = 0;
    s->out.ceiling = s->out.len + 64;
    (void)gbx_msg_put(&s->out, s->call_id, &wait);
    send_buf(&s->out);
    s->gathered = 0;
    s->enough = GATHERED_FIRST;
    for (;;) {
        if (!read_ahead(&a, head, sizeof head) || !gbx_header_decode(head, &header))
            _exit(2);
        if (header.type == GBX_MSG_WAKE && header.body_len == 0)
            break;
        if (header.type != GBX_MSG_ANSWER)
            _exit(2);
        take_answer(s, &header, &a);
    }
    if (a.start != a.end) /* after WAKE the host sends nothing until the next request */
        _exit(2);
}

/* Through the vDSO where it serves the clock; the filter allows the system call
 * elsewhere. */
static double on_now(void *user)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* An out-of-memory error must not need memory: its room is reserved beforehand. */
static void send_error(const session *s, const gbx_msg_error *error)
{
    static uint8_t room[GBX_KIB(64)];
    gbx_buf buf = {.data = room, .capacity = sizeof room, .ceiling = sizeof room};

    (void)gbx_msg_put(&buf, s->call_id, error);
    send_buf(&buf);
}

/* The CALL does not fit the memory limit: reports that without needing memory. */
static _Noreturn void end_for_memory(const session *s)
{
    gbx_msg_error error = {.failure = GBX_FAILURE_INPUT, .is_out_of_memory = 1};

    send_error(s, &error);
    for (char byte; gbx_channel_read(GBX_CHANNEL_FD, &byte, 1);)
        continue;
    _exit(0);
}

/*
 * A call may have a lower limit than the seal. A block of the room, and a mapping, use
 * up the difference without being touched. Code that broke out could free them, but
 * would still have no more than the seal's limit.
 */
static void lower_memory(const session *s, uint64_t memory_bytes)
{
    uint64_t less = s->sealed_memory_bytes - memory_bytes;

    if (memory_bytes == 0 || memory_bytes >= s->sealed_memory_bytes)
        return;
    if (s->room_bytes > 0)
        less -= gbx_heap_lower(less);
    if (less > 0 && mmap(NULL, (size_t)less, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
        end_for_memory(s); /* the call alone exceeds its limit */
}

static void send_result(const session *s, const gbx_msg_result *result)
{
    gbx_buf buf = {.ceiling = ONE_WRITE_MAX + 64};

    (void)gbx_msg_put(&buf, s->call_id, result);
    if (result->json.len <= ONE_WRITE_MAX) {
        (void)gbx_buf_append(&buf, result->json.data, result->json.len);
        send_buf(&buf);
    } else {
        send_buf(&buf);
        if (!gbx_channel_write(GBX_CHANNEL_FD, result->json.data, result->json.len))
            _exit(2);
    }
}

/* The body of a CALL. */
static uint8_t *read_call(const session *s, const gbx_header *header)
{
    uint8_t *body;

    if (header->body_len >= LARGE_CALL && s->room_bytes >= LARGE_ROOM) {
        gbx_heap_skip_small();
        gbx_realm_leave_slabs();
    }
    body = malloc((size_t)header->body_len + 1);
    if (body == NULL)
        end_for_memory(s);
    if (!gbx_channel_read(GBX_CHANNEL_FD, body, header->body_len))
        _exit(0);
    body[header->body_len] = 0; /* the input is last; its parser needs an end */
    return body;
}

static void serve(gbx_realm *realm, session *s)
{
    gbx_realm_host host = {.user = s,
                           .log = on_log,
                           .wait = on_wait,
                           .now_ms = on_now,
                           .request = on_request,
                           .cancel = on_cancel,
                           .limited = on_limited};
    gbx_realm_outcome outcome = {0};
    uint64_t most = s->sealed_memory_bytes;
    gbx_header header;
    gbx_msg_call call;
    uint8_t *body;

    if (!gbx_channel_read_header(GBX_CHANNEL_FD, &header) ||
        header.type != GBX_MSG_CALL)
        _exit(0);
    s->call_id = header.call_id;
    body = read_call(s, &header);
    if (!gbx_msg_get(((gbx_span){body, header.body_len}), &call))
        _exit(3);
    lower_memory(s, call.memory_bytes);
    /* What the call may allocate besides its own message. */
    if (call.memory_bytes != 0 && call.memory_bytes < most)
        most = call.memory_bytes;
    gbx_realm_limit_memory(most > header.body_len ? most - header.body_len : 0);
    s->realm = realm;
    gbx_realm_run(realm, &call, &host, &outcome);
    send_requests(s); /* requests that the code does not await */
    if (outcome.ok)
        send_result(s, &outcome.result);
    else
        send_error(s, &outcome.error);
}

_Noreturn void gbx_session_run(gbx_realm *realm, const gbx_seal *seal, int channel,
                               gbx_session_proof proof)
{
    session s = {.enough = GATHERED_FIRST,
                 .sealed_memory_bytes = seal->memory_bytes,
                 .room_bytes = seal->room_bytes};
    char byte;

    if (!gbx_seal_worker(seal, channel))
        _exit(4);
    if (proof == GBX_SESSION_PROVES && !gbx_realm_prepare(realm))
        _exit(5);
    send_empty(&s, GBX_MSG_READY);
    gbx_realm_on_refusal(on_refusal, &s);
    serve(realm, &s);
    /* The host reads what it needs about this process, then kills it. */
    while (gbx_channel_read(GBX_CHANNEL_FD, &byte, 1))
        continue;
    _exit(0);
}
