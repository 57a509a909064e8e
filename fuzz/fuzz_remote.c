/* SPDX-License-Identifier: MIT */
/*
 * fuzz_remote - a caller and a runner of another machine that hear anything, at any
 * moment of a call: bytes, frames with a lease's own number, and well-made messages out
 * of turn.
 *
 * Input: steps: what kind (a byte), and what the kind needs.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "remote/frames.h"
#include "remote/remote.h"
#include "remote_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 4

typedef struct session {
    world *w;
    leased calls[CALLS];
    char subjects[2][GBX_REMOTE_SUBJECT_MAX + 1]; /* where either side last heard */
    uint64_t numbers[4];                          /* that it was last spoken of */
    unsigned spoken;
} session;

/* What both sides say tells how to speak to them. */
static broker_fault hear(void *user, const char *subject, gbx_span head)
{
    session *s = user;
    bool is_runner = strncmp(subject, "glovebox.v1.main.r.", 19) == 0;

    if (is_runner || strncmp(subject, "glovebox.v1.main.c.", 19) == 0)
        (void)snprintf(s->subjects[is_runner], sizeof s->subjects[0], "%s", subject);
    if (head.len >= GBX_FRAME_HEADER_SIZE)
        (void)memcpy(&s->numbers[s->spoken++ % 4], head.data + 8, 8);
    return BROKER_PASS;
}

/* Where the frame goes, and the number of a question or seat that it may know. */
static const char *receiver(session *s, fuzz_input *in, uint64_t *ret_number)
{
    uint8_t choice = fuzz_u8(in);

    *ret_number = s->numbers[choice / 2 % 4];
    return s->subjects[choice % 2];
}

static void say_frame(session *s, fuzz_input *in)
{
    uint64_t number;
    const char *subject = receiver(s, in, &number);
    uint8_t type = fuzz_u8(in);
    gbx_span body = fuzz_bytes(in, fuzz_u8(in));
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf frame;

    gbx_buf_init(&frame, GBX_KIB(1));
    (void)gbx_frame_begin(&frame, type % 16, number, body.len, body.len);
    (void)gbx_buf_append(&frame, body.data, body.len);
    broker_forge(s->w->broker, subject, (gbx_span){frame.data, frame.len});
}

#define SAY(NAME, name, ...)                                             \
    (void)gbx_remote_send(bus, subject, NULL, number, GBX_REMOTE_##NAME, \
                          &(gbx_remote_##name){__VA_ARGS__})

/* A message with numbers and texts of the input's. */
static void say_message(session *s, fuzz_input *in)
{
    static const uint8_t zeros[GBX_SHA256_SIZE];
    uint64_t number;
    const char *subject = receiver(s, in, &number);
    gbx_bus *bus = s->w->caller_buses[1];
    uint8_t kind = fuzz_u8(in);
    uint32_t n = fuzz_u8(in);
    gbx_span text = fuzz_bytes(in, fuzz_u8(in) % 65);
    gbx_span hash = {zeros, sizeof zeros};
    gbx_span runner = gbx_span_of(s->subjects[1]);
    gbx_span caller = gbx_span_of(s->subjects[0]);

    switch (kind % 8) {
    case 0: SAY(GRANT, grant, 1 + n, text, runner, text); break;
    case 1: SAY(REFUSE, refuse, (uint8_t)(1 + n % 4), n, n, text); break;
    case 2: SAY(FETCH, fetch, runner, hash, n, 1 + n); break;
    case 3: SAY(BLOB, blob, hash, n, text); break;
    case 4: SAY(DATA, data, n % 4, n / 4, text); break;
    case 5:
        SAY(END, end, .how = (uint8_t)(n % 16), .reason = text, .seq = n / 16 % 4,
            .bytes = text);
        break;
    case 6: SAY(CANCEL, cancel, 0); break;
    default:
        SAY(WANT, want, .version = 1, .wire_version = GBX_WIRE_VERSION, .key = hash,
            .setup_bytes = 1 + n, .caller = caller, .limits = {zeros, 8},
            .call_bytes = n);
        break;
    }
}

static void do_call(session *s, fuzz_input *in)
{
    static const char *const calls[] = {"a say 5", "b say 400000", "c ask 3",
                                        "d wait",  "e none",       "f bad",
                                        "g ask 0", "h say 0"};
    uint8_t choice = fuzz_u8(in);
    leased *k = &s->calls[choice % CALLS];
    gbx_runner *plug = &s->w->plugs[0];

    if (!k->is_open) {
        call_begin(s->w, k, 0, calls[choice / 4 % 8]);
        k->answers = true;
    } else if (choice < 64) {
        call_end(k);
    } else if (choice < 128) {
        plug->cancel(plug->user, &k->lease);
    } else {
        k->keeps = choice % 2 != 0;
    }
}

static void step(session *s, fuzz_input *in)
{
    uint64_t number;
    const char *subject;

    switch (fuzz_u8(in) % 8) {
    case 0:
        subject = receiver(s, in, &number);
        broker_forge(s->w->broker, subject, fuzz_bytes(in, fuzz_u8(in)));
        break;
    case 1: say_frame(s, in); break;
    case 2:
    case 3: say_message(s, in); break;
    case 4: do_call(s, in); break;
    case 5: world_now_ns += fuzz_u8(in) * 20 * GBX_NS_PER_MS; break;
    case 6: (void)broker_next(s->w->broker); break;
    default: world_settle(s->w); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    session s = {.w = world_new(2, 1, 2)};
    fuzz_input in = {data, size};

    broker_follow(s.w->broker, hear, &s);
    while (in.left > 0)
        step(&s, &in);
    world_settle(s.w);
    for (size_t i = 0; i < CALLS; i++)
        call_end(&s.calls[i]);
    world_free(s.w);
    return 0;
}
