/* SPDX-License-Identifier: MIT */
/*
 * fuzz_control - a template that says anything, while the engine forks, calls, loads
 * and closes; the engine's counts and lists agree after every step.
 *
 * Input: steps: what kind (a byte), and what the kind needs.
 */
#include "fuzz.h"

#include "puppet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define RUNS 4

typedef struct stage {
    puppet p;
    gbx_run runs[RUNS]; /* at most one worker each, no exchange */
    bool is_heard;      /* the template has not yet said what ends it */
} stage;

static void say(stage *s, gbx_span bytes)
{
    s->is_heard = s->is_heard && puppet_hear(&s->p, bytes.data, bytes.len);
}

/* A frame of one of the four types that a template has, with any body. */
static void say_frame(stage *s, fuzz_input *in)
{
    uint8_t type = (uint8_t)(GBX_MSG_HELLO + fuzz_u8(in) % 5);
    gbx_span body = fuzz_bytes(in, fuzz_u8(in));
    uint8_t header[GBX_FRAME_HEADER_SIZE] = {(uint8_t)body.len, 0, 0, 0, type};

    say(s, (gbx_span){header, sizeof header});
    say(s, body);
}

static void say_something_fitting(stage *s, fuzz_input *in)
{
    uint8_t kind = fuzz_u8(in);
    uint64_t id = fuzz_u8(in) % 16;

    if (!s->is_heard)
        return;
    switch (kind % 4) {
    case 0: s->is_heard = puppet_say_hello(&s->p); break;
    case 1: s->is_heard = puppet_say_forked(&s->p, id, kind / 4 % 4 == 3); break;
    case 2: s->is_heard = puppet_say_exited(&s->p, id, kind); break;
    default: puppet_hand_over(&s->p); break;
    }
}

static void worker_speaks(stage *s, fuzz_input *in)
{
    size_t n = fuzz_u8(in);
    gbx_span bytes = fuzz_bytes(in, fuzz_u8(in) % 32);

    if (s->p.far_count == 0)
        return;
    n %= s->p.far_count;
    if (bytes.len == 0)
        puppet_say_ready(&s->p, n);
    else
        (void)send(s->p.fars[n], bytes.data, bytes.len, MSG_NOSIGNAL);
    puppet_loop(&s->p);
}

/* A call takes a worker, waits for one, or gives it back. */
static void use_run(stage *s, fuzz_input *in)
{
    gbx_engine *e = &s->p.engine;
    gbx_run *run = &s->runs[fuzz_u8(in) % RUNS];

    (void)pthread_mutex_lock(&e->lock);
    if (run->worker != NULL)
        gbx_pool_release(e, run->worker);
    else if (run->is_waiting)
        gbx_queue_remove(&e->waiting, run);
    else
        gbx_queue_enter(e, run);
    gbx_pool_fill(e);
    (void)pthread_mutex_unlock(&e->lock);
}

/* What the end of a load does to the pool. */
static void load(stage *s, fuzz_input *in)
{
    gbx_engine *e = &s->p.engine;
    bool is_loading;

    (void)pthread_mutex_lock(&e->lock);
    is_loading = gbx_engine_is_loading(e);
    if (!is_loading && e->current != NULL) {
        e->change = (gbx_change){.kind = GBX_CHANGE_UPDATE};
        s->p.template->loads_pending++;
    } else if (is_loading && (e->change.is_done || fuzz_u8(in) % 2 == 0)) {
        e->change.kind = GBX_CHANGE_NONE;
        e->load_seq++;
        e->coming = 0;
        gbx_pool_discard_stale(e);
        gbx_pool_fill(e);
    }
    (void)pthread_mutex_unlock(&e->lock);
}

static void step(stage *s, fuzz_input *in)
{
    gbx_engine *e = &s->p.engine;

    switch (fuzz_u8(in) % 8) {
    case 0: say(s, fuzz_bytes(in, fuzz_u8(in))); break;
    case 1: say_frame(s, in); break;
    case 2: worker_speaks(s, in); break;
    case 3: use_run(s, in); break;
    case 4: load(s, in); break;
    case 5: e->is_closing = fuzz_u8(in) == 0; break;
    default: say_something_fitting(s, in); break;
    }
    assert(puppet_is_sound(&s->p));
}

/* What follows when a template is gone: all its workers are. */
static void lose_all(stage *s)
{
    gbx_worker *next;

    for (gbx_worker *w = LIST_FIRST(&s->p.engine.workers); w != NULL; w = next) {
        next = LIST_NEXT(w, link);
        if (!w->has_exited)
            gbx_pool_exited(&s->p.engine, w, NULL);
    }
    assert(puppet_is_sound(&s->p));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_options options = GBX_OPTIONS_INIT;
    stage s = {.is_heard = true};
    fuzz_input in;

    in = (fuzz_input){data, size};
    options.pool_size = 3;
    options.max_workers = 6;
    options.queue_length = 2;
    puppet_init(&s.p, &options);
    for (size_t i = 0; i < RUNS; i++) {
        s.runs[i].engine = &s.p.engine;
        s.runs[i].limits.timeout_ms = 1000;
        s.runs[i].calls.wake_fd = -1;
    }
    while (in.left > 0 && s.is_heard)
        step(&s, &in);
    if (!s.is_heard)
        lose_all(&s);
    for (size_t i = 0; i < RUNS; i++) {
        if (s.runs[i].worker != NULL)
            gbx_pool_release(&s.p.engine, s.runs[i].worker);
    }
    puppet_cleanup(&s.p);
    return 0;
}
