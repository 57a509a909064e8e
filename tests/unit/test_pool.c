/* SPDX-License-Identifier: MIT */
/* pool, queue - who gets a worker, who waits, who is told that there is none. */
#include "puppet.h"
#include "test.h"

#define RUNS 8

typedef struct stage {
    puppet p;
    gbx_run runs[RUNS];
} stage;

static void begin(stage *s, uint32_t pool_size, uint32_t max_workers,
                  uint32_t queue_length)
{
    gbx_options options = GBX_OPTIONS_INIT;

    memset(s->runs, 0, sizeof s->runs);
    options.pool_size = pool_size;
    options.max_workers = max_workers;
    options.queue_length = queue_length;
    options.recycle_calls = 100;
    puppet_init(&s->p, &options);
    for (size_t i = 0; i < RUNS; i++) {
        s->runs[i].engine = &s->p.engine;
        s->runs[i].limits.timeout_ms = 1000;
        s->runs[i].calls.wake_fd = -1;
        s->runs[i].ticket = ++s->p.engine.next_ticket;
        gbx_queue_link(&s->p.engine, &s->runs[i]);
    }
    assert_true(puppet_say_hello(&s->p));
    assert_true(puppet_is_sound(&s->p));
}

static void end(stage *s)
{
    for (size_t i = 0; i < RUNS; i++) {
        if (s->runs[i].worker != NULL)
            gbx_pool_release(&s->p.engine, s->runs[i].worker);
        gbx_queue_unlink(&s->p.engine, &s->runs[i]);
    }
    assert_int_equal(s->p.engine.running.count, 0);
    assert_int_equal(s->p.engine.calls_ended, RUNS);
    assert_true(puppet_is_sound(&s->p));
    puppet_cleanup(&s->p);
}

/* The worker asked for as number id becomes READY. */
static void make_ready(stage *s, uint64_t id)
{
    assert_true(puppet_say_forked(&s->p, id, 0));
    puppet_say_ready(&s->p, s->p.far_count - 1);
}

static void enter(stage *s, size_t run)
{
    gbx_queue_enter(&s->p.engine, &s->runs[run]);
    assert_true(puppet_is_sound(&s->p));
}

TEST(take__is_the_newest_ready_one_and_each_once)
{
    stage s;
    begin(&s, 3, 8, 8);
    for (uint64_t id = 1; id <= 3; id++)
        make_ready(&s, id);

    for (size_t i = 0; i < 3; i++) {
        enter(&s, i);
        assert_int_equal(s.runs[i].worker->id, 3 - i);
        assert_int_equal(s.runs[i].worker->state, GBX_WORKER_BUSY);
        assert_ptr_equal(s.runs[i].worker->run, &s.runs[i]);
    }

    assert_int_equal(s.p.engine.ready_count, 0);
    end(&s);
}

TEST(queue__waits_in_order_and_is_served_in_order)
{
    stage s;
    begin(&s, 1, 8, 8);

    for (size_t i = 0; i < 3; i++) {
        enter(&s, i);
        assert_null(s.runs[i].worker);
        assert_true(s.runs[i].is_waiting);
    }
    /* One for each, and the pool's own. */
    assert_int_equal(s.p.engine.coming, 4);
    for (uint64_t id = 1; id <= 3; id++)
        make_ready(&s, id);

    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(s.runs[i].worker->id, i + 1);
        assert_false(s.runs[i].is_waiting);
    }
    assert_int_equal(s.p.engine.waiting.count, 0);
    end(&s);
}

TEST(queue__full_refuses_at_once_and_says_why)
{
    stage s;
    begin(&s, 1, 8, 2);
    enter(&s, 0);
    enter(&s, 1);

    enter(&s, 2);

    assert_int_equal(s.runs[1].unserved, GBX_END_SAID);
    assert_int_equal(s.runs[2].unserved, GBX_END_QUEUE_FULL);
    assert_false(s.runs[2].is_waiting);
    end(&s);
}

TEST(queue__without_hope_of_a_template_refuses_at_once)
{
    stage s;
    begin(&s, 1, 8, 8);
    enter(&s, 0);
    s.runs[1].driver = GBX_DRIVER_SUPERVISOR;
    enter(&s, 1);

    s.p.engine.failed_starts = GBX_FAILED_STARTS_MAX;
    gbx_queue_fail_all(&s.p.engine);
    enter(&s, 2);

    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(s.runs[i].unserved, GBX_END_NO_WORKER);
        assert_false(s.runs[i].is_waiting);
    }
    assert_int_equal(s.p.engine.waiting.count, 0);
    end(&s);
}

TEST(queue__can_be_left_from_every_place)
{
    for (size_t leaver = 0; leaver < 3; leaver++) {
        stage s;

        begin(&s, 1, 8, 8);
        for (size_t i = 0; i < 3; i++)
            enter(&s, i);
        gbx_queue_remove(&s.p.engine.waiting, &s.runs[leaver]);
        assert_int_equal(s.p.engine.waiting.count, 2);
        for (size_t i = 0; i < 3; i++)
            if (i != leaver)
                assert_ptr_equal(gbx_queue_pop(&s.p.engine.waiting), &s.runs[i]);
        assert_null(gbx_queue_pop(&s.p.engine.waiting));
        enter(&s, leaver); /* the list is whole */
        assert_ptr_equal(TAILQ_LAST(&s.p.engine.waiting.runs, gbx_run_head),
                         &s.runs[leaver]);
        gbx_queue_remove(&s.p.engine.waiting, &s.runs[leaver]);
        end(&s);
    }
}

TEST(queue__an_aborted_call_takes_no_worker)
{
    stage s;
    begin(&s, 1, 8, 8);
    make_ready(&s, 1);

    gbx_run_abort_locked(&s.runs[0]);
    gbx_run_abort_locked(&s.runs[0]);
    enter(&s, 0);

    assert_null(s.runs[0].worker);
    assert_false(s.runs[0].is_waiting);
    assert_int_equal(s.p.engine.ready_count, 1);
    end(&s);
}

TEST(release__is_the_end_of_a_worker)
{
    gbx_worker *w;
    stage s;
    begin(&s, 1, 8, 8);
    make_ready(&s, 1);
    enter(&s, 0);
    w = s.runs[0].worker;

    gbx_pool_release(&s.p.engine, w);
    assert_int_equal(w->state, GBX_WORKER_SPENT);
    assert_null(s.runs[0].worker);
    assert_int_equal(s.p.engine.ready_count, 0); /* never back into the pool */
    assert_true(puppet_say_exited(&s.p, 1, 9));

    assert_null(gbx_pool_find(&s.p.engine, 1));
    end(&s);
}

TEST(exited__while_busy_waits_for_the_release)
{
    stage s;
    begin(&s, 1, 8, 8);
    make_ready(&s, 1);
    enter(&s, 0);

    assert_true(puppet_say_exited(&s.p, 1, 11));
    assert_true(s.runs[0].worker->has_exited);
    assert_false(s.runs[0].worker->is_lost);
    assert_int_equal(s.runs[0].worker->exit.status, 11);
    assert_true(puppet_say_exited(&s.p, 1, 9)); /* the first word stands */
    assert_int_equal(s.runs[0].worker->exit.status, 11);
    gbx_pool_release(&s.p.engine, s.runs[0].worker);

    assert_null(gbx_pool_find(&s.p.engine, 1));
    end(&s);
}

TEST(fill__stops_at_the_limit_of_workers)
{
    stage s;
    begin(&s, 4, 5, 8);
    assert_int_equal(s.p.engine.alive, 4);

    for (size_t i = 0; i < 8; i++)
        enter(&s, i);

    assert_int_equal(s.p.engine.alive, 5);
    end(&s);
}

TEST(demand__has_as_many_kept_as_calls_in_a_row_need)
{
    static const uint32_t kept[] = {0, 1, 2, 4, 5, 5};
    stage s;
    begin(&s, 5, 8, 8);
    s.p.engine.kept = 1;

    for (size_t i = 0; i < GBX_COUNTOF(kept); i++) {
        enter(&s, i);
        assert_int_equal(s.p.engine.kept, kept[i]);
    }
    end(&s);
}

TEST(demand__that_ends_leaves_one_and_then_none)
{
    static const int64_t seconds = 1000000000;
    stage s;
    begin(&s, 3, 8, 8);
    for (uint64_t id = 1; id <= 3; id++)
        make_ready(&s, id);

    s.p.engine.called_ns = s.p.engine.demand_ns;
    gbx_pool_trim(&s.p.engine);
    assert_int_equal(s.p.engine.ready_count, 3);
    s.p.engine.demand_ns -= 3 * seconds;
    gbx_pool_trim(&s.p.engine);
    assert_int_equal(s.p.engine.ready_count, 1);
    s.p.engine.demand_ns -= 60 * seconds;
    gbx_pool_trim(&s.p.engine);
    assert_int_equal(s.p.engine.ready_count, 0);
    gbx_pool_fill(&s.p.engine);
    assert_int_equal(s.p.engine.coming, 0);

    enter(&s, 0); /* forks on demand, one for itself and one to be kept */
    assert_int_equal(s.p.engine.coming, 2);
    end(&s);
}

TEST(fill__stops_where_the_template_is_used_up)
{
    stage s;
    begin(&s, 4, 64, 8);
    s.p.template->forks = 98;
    for (size_t i = 0; i < 8; i++)
        enter(&s, i);

    assert_int_equal(s.p.template->forks, 100);

    gbx_pool_fill(&s.p.engine);
    assert_int_equal(s.p.template->forks, 100);
    end(&s);
}

TEST(fill__asks_nothing_while_loading_closing_or_without_a_template)
{
    for (int why = 0; why < 3; why++) {
        stage s;

        begin(&s, 2, 8, 8);
        assert_true(puppet_say_exited(&s.p, 1, 0));
        (void)puppet_count_sent(&s.p, GBX_MSG_FORK);
        s.p.engine.change.kind = why == 0 ? GBX_CHANGE_UPDATE : GBX_CHANGE_NONE;
        s.p.engine.is_closing = why == 1;
        if (why == 2)
            gbx_template_retire(s.p.template);
        assert_true(puppet_say_exited(&s.p, 2, 0));
        gbx_pool_fill(&s.p.engine);
        assert_int_equal(puppet_count_sent(&s.p, GBX_MSG_FORK), 0);
        s.p.engine.is_closing = false;
        end(&s);
    }
}

TEST(load__makes_what_was_made_before_it_stale)
{
    stage s;
    begin(&s, 3, 8, 8);
    make_ready(&s, 1);
    assert_true(puppet_say_forked(&s.p, 2, 0)); /* 2 is starting, 3 is forking */

    s.p.engine.load_seq++;
    s.p.engine.coming = 0;
    gbx_pool_discard_stale(&s.p.engine);
    gbx_pool_fill(&s.p.engine);
    assert_int_equal(gbx_pool_find(&s.p.engine, 1)->state, GBX_WORKER_SPENT);
    assert_int_equal(s.p.engine.coming, 3);
    puppet_say_ready(&s.p, 1);
    make_ready(&s, 3);

    assert_int_equal(gbx_pool_find(&s.p.engine, 2)->state, GBX_WORKER_SPENT);
    assert_int_equal(gbx_pool_find(&s.p.engine, 3)->state, GBX_WORKER_SPENT);
    assert_int_equal(s.p.engine.ready_count, 0);
    make_ready(&s, 4);
    assert_int_equal(s.p.engine.ready_count, 1);
    end(&s);
}

TEST(closing__no_worker_becomes_ready_any_more)
{
    stage s;
    begin(&s, 1, 8, 8);
    s.p.engine.is_closing = true;

    make_ready(&s, 1);

    assert_int_equal(gbx_pool_find(&s.p.engine, 1)->state, GBX_WORKER_SPENT);
    assert_int_equal(s.p.engine.ready_count, 0);
    end(&s);
}

TEST(ticket__is_never_the_same)
{
    stage s;
    begin(&s, 1, 8, 8);

    for (size_t i = 0; i < RUNS; i++)
        assert_int_equal(s.runs[i].ticket, i + 1);

    end(&s);
}

TEST_MAIN(NULL, NULL)
