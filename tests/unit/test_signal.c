/* SPDX-License-Identifier: MIT */
/* abort - switches and tickets: thrown once, felt by whoever has them, by no other. */
#include "puppet.h"
#include "test.h"

#define RUNS 4

typedef struct stage {
    puppet p;
    gbx_run runs[RUNS];
} stage;

static void begin(stage *s)
{
    puppet_init(&s->p, NULL);
    memset(s->runs, 0, sizeof s->runs);
    for (size_t i = 0; i < RUNS; i++) {
        s->runs[i].engine = &s->p.engine;
        s->runs[i].calls.wake_fd = -1;
        s->runs[i].ticket = ++s->p.engine.next_ticket;
        gbx_queue_link(&s->p.engine, &s->runs[i]);
    }
}

static void end(stage *s)
{
    for (size_t i = 0; i < RUNS; i++)
        gbx_queue_unlink(&s->p.engine, &s->runs[i]);
    puppet_cleanup(&s->p);
}

static void assert_aborted(const stage *s, unsigned bits)
{
    for (size_t i = 0; i < RUNS; i++)
        assert_int_equal(atomic_load(&s->runs[i].is_aborted), bits >> i & 1);
}

TEST(signal__aborts_every_call_that_has_it)
{
    gbx_signal *signal = gbx_signal_new();
    stage s;
    begin(&s);
    assert_true(gbx_signal_attach(signal, &s.runs[0]));
    assert_true(gbx_signal_attach(signal, &s.runs[2]));

    gbx_signal_abort(signal);
    gbx_signal_abort(signal);

    assert_aborted(&s, 5);
    gbx_signal_detach(signal, &s.runs[0]);
    gbx_signal_detach(signal, &s.runs[2]);
    gbx_signal_free(signal);
    end(&s);
}

TEST(signal__forgets_a_call_that_never_had_it)
{
    gbx_signal *signal = gbx_signal_new();
    stage s;
    begin(&s);

    gbx_signal_detach(signal, &s.runs[1]); /* it failed before */

    gbx_signal_abort(signal);
    assert_aborted(&s, 0);
    gbx_signal_free(signal);
    end(&s);
}

TEST(signal__thrown_takes_no_more_calls)
{
    gbx_signal *signal = gbx_signal_new();
    stage s;
    begin(&s);

    gbx_signal_abort(signal);
    assert_false(gbx_signal_attach(signal, &s.runs[0]));

    assert_aborted(&s, 0);
    gbx_signal_free(signal);
    end(&s);
}

TEST(signal__is_left_in_any_order)
{
    for (size_t leaver = 0; leaver < RUNS; leaver++) {
        gbx_signal *signal = gbx_signal_new();
        stage s;

        begin(&s);
        for (size_t i = 0; i < RUNS; i++)
            assert_true(gbx_signal_attach(signal, &s.runs[i]));
        gbx_signal_detach(signal, &s.runs[leaver]);
        gbx_signal_detach(signal, &s.runs[leaver]); /* again: nothing */
        gbx_signal_abort(signal);
        assert_aborted(&s, 15u & ~(1u << leaver));
        for (size_t i = 0; i < RUNS; i++)
            gbx_signal_detach(signal, &s.runs[i]);
        gbx_signal_free(signal);
        end(&s);
    }
}

TEST(signal__free_takes_nothing)
{
    gbx_signal_free(NULL);
}

TEST(ticket__aborts_its_call_and_no_other)
{
    stage s;
    begin(&s);

    gbx_abort(&s.p.engine, s.runs[1].ticket);
    gbx_abort(&s.p.engine, s.runs[1].ticket);
    assert_aborted(&s, 2);
    gbx_abort(&s.p.engine, 0);
    gbx_abort(&s.p.engine, 99);

    assert_aborted(&s, 2);
    end(&s);
}

TEST_MAIN(NULL, NULL)
