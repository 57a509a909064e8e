/* SPDX-License-Identifier: MIT */
/* remote_calls - callers and runners together, on a bus that does what the test says. */
#include "remote/frames.h"
#include "remote_world.h"
#include "test.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

static void assert_result(const leased *k, size_t received)
{
    if (k->refused > 0)
        fail_msg("refused: %s", k->text);
    assert_int_equal(k->granted, 1);
    assert_int_equal(k->ended, 1);
    assert_int_equal(k->ending.how, GBX_ENDING_SAID);
    assert_int_equal(k->received, received);
    assert_string_equal(k->last, "END");
}

TEST(call__runs_once_and_says_where)
{
    world *w = world_new(1, 1, 2);
    leased k;

    call_begin(w, &k, 0, "a say 10");
    world_settle(w);
    assert_result(&k, 13);
    assert_string_equal(k.machine, "m0");
    assert_string_equal(k.engine, "Fake 1.0");
    assert_int_equal(k.ending.cpu_us, 7);
    assert_int_equal(k.ending.growth_bytes, 11);
    assert_int_equal(fake_begun("a"), 1);
    world_free(w);
}

TEST(large_call__and_large_value_pass_within_windows)
{
    world *w = world_new(1, 1, 2);
    leased k;

    call_begin_big(w, &k, 0, "a say 3000000", 2000000);
    world_settle(w);
    assert_result(&k, 3000003);
    world_free(w);
}

TEST(caller_that_takes_nothing__gets_one_window)
{
    world *w = world_new(1, 1, 2);
    leased k;

    call_begin(w, &k, 0, "a say 3000000");
    k.keeps = true;
    world_settle(w);
    assert_int_equal(fake_said(), GBX_LEASE_WINDOW);
    assert_int_equal(k.ended, 0);
    k.keeps = false;
    world_settle(w);
    assert_result(&k, 3000003);
    world_free(w);
}

TEST(worker__asks_its_caller_again_and_again)
{
    world *w = world_new(1, 1, 2);
    leased k;

    call_begin(w, &k, 0, "a ask 1000");
    k.answers = true;
    world_settle(w);
    assert_result(&k, 1003);
    world_free(w);
}

TEST(wrong_answer__ends_the_call_as_lost)
{
    world *w = world_new(1, 1, 2);
    leased k;

    call_begin(w, &k, 0, "a ask 2");
    world_settle(w);
    assert_int_equal(w->plugs[0].send(w->plugs[0].user, &k.lease, "no", 2), 2);
    world_settle(w);
    assert_int_equal(k.refused, 1);
    assert_int_equal(k.why, LOST);
    assert_int_equal(fake_running(), 0);
    world_free(w);
}

TEST(no_call__and_no_worker_are_not_begun)
{
    static const char *const calls[] = {"a bad", "b none"};

    for (unsigned i = 0; i < 2; i++) {
        world *w = world_new(1, 1, 2);
        leased k;

        call_begin(w, &k, 0, calls[i]);
        world_settle(w);
        assert_int_equal(k.refused, 1);
        assert_int_equal(k.why, UNAVAILABLE);
        world_free(w);
    }
}

/* ---- cancels, deaths, drains --------------------------------------------------------- */

TEST(cancel__kills_and_brings_the_evidence)
{
    world *w = world_new(1, 1, 2);
    leased k;

    call_begin(w, &k, 0, "a wait");
    world_pass(w, 100);
    assert_int_equal(fake_running(), 1);
    w->plugs[0].cancel(w->plugs[0].user, &k.lease);
    world_settle(w);
    assert_int_equal(fake_running(), 0);
    assert_int_equal(k.ended, 1);
    assert_int_equal(k.ending.how, GBX_ENDING_ABORT);
    world_free(w);
}

TEST(release__kills_too)
{
    world *w = world_new(1, 1, 2);
    leased k;

    call_begin(w, &k, 0, "a wait");
    world_pass(w, 100);
    call_end(&k);
    world_settle(w);
    assert_int_equal(fake_running(), 0);
    world_free(w);
}

TEST(late_grant__is_given_back)
{
    world *w = world_new(1, 1, 2);
    leased warm, k;

    call_begin(w, &warm, 0, "warm say 0");
    world_settle(w);
    call_begin(w, &k, 0, "a wait");
    call_end(&k); /* before anybody has heard of it */
    world_settle(w);
    assert_int_equal(fake_running(), 0);
    assert_int_equal(broker_count(w->broker, GBX_REMOTE_CANCEL), 1);
    world_free(w);
}

static broker_fault grant_twice(void *user, const char *subject, gbx_span head)
{
    return head.len > 4 && head.data[4] == GBX_REMOTE_GRANT ? BROKER_TWICE
                                                            : BROKER_PASS;
}

TEST(grant_that_comes_twice__is_taken_once_and_its_seat_kept)
{
    world *w = world_new(1, 1, 2);
    leased k;

    broker_follow(w->broker, grant_twice, NULL);
    call_begin(w, &k, 0, "a say 10");
    world_settle(w);
    assert_result(&k, 13);
    assert_int_equal(broker_count(w->broker, GBX_REMOTE_CANCEL), 0);
    world_free(w);
}

TEST(call_of_a_dead_runner__is_lost_within_seconds)
{
    world *w = world_new(1, 2, 2);
    leased k;
    int64_t killed_ns;

    call_begin(w, &k, 0, "a wait");
    world_pass(w, 100);
    killed_ns = world_now_ns;
    runner_kill(w, (unsigned)(k.machine[1] - 48));
    world_pass(w, 4000);
    assert_int_equal(k.refused, 1);
    assert_int_equal(k.why, LOST);
    assert_true(k.over_ns - killed_ns <= INT64_C(3100000000));
    assert_int_equal(fake_begun("a"), 1);
    world_free(w);
}

static broker_fault lose_all_to_callers(void *user, const char *subject, gbx_span head)
{
    return strncmp(subject, "glovebox.v1.main.c.", 19) == 0 ? BROKER_LOSE : BROKER_PASS;
}

TEST(silent_runner__is_dead_after_three_seconds)
{
    world *w = world_new(1, 1, 2);
    leased k;
    int64_t silent_ns;

    call_begin(w, &k, 0, "a wait");
    world_pass(w, 100);
    silent_ns = world_now_ns;
    broker_follow(w->broker, lose_all_to_callers, NULL);
    world_pass(w, 2500);
    assert_false(call_is_over(&k));
    world_pass(w, 1000);
    assert_int_equal(k.why, LOST);
    assert_true(k.over_ns - silent_ns <= INT64_C(3100000000));
    world_settle(w);
    assert_int_equal(fake_running(), 0); /* it was told */
    world_free(w);
}

TEST(bus_that_is_away_for_a_moment__loses_nothing_that_was_not_said)
{
    world *w = world_new(1, 1, 2);
    leased k;

    call_begin(w, &k, 0, "a ask 3");
    world_settle(w);
    broker_part(w->caller_buses[0], true);
    k.answers = true;
    world_pass(w, 100);
    assert_int_equal(k.owed, 3);
    broker_part(w->caller_buses[0], false);
    world_pass(w, 1000);
    assert_result(&k, 6);
    world_free(w);
}

TEST(dead_caller__costs_its_workers_within_seconds)
{
    world *w = world_new(2, 1, 4);
    leased k, other;

    call_begin(w, &k, 0, "a wait");
    call_begin(w, &other, 1, "b wait");
    world_pass(w, 100);
    assert_int_equal(fake_running(), 2);
    caller_kill(w, 0);
    world_pass(w, 3100);
    assert_int_equal(fake_running(), 1);
    assert_false(call_is_over(&other));
    world_free(w);
}

TEST(long_call__of_two_living_sides_goes_on)
{
    world *w = world_new(1, 1, 2);
    leased k;

    w->limits.timeout_ms = 600000;
    call_begin(w, &k, 0, "a wait");
    world_pass(w, 30000);
    assert_false(call_is_over(&k));
    assert_int_equal(fake_running(), 1);
    world_free(w);
}

TEST(process_that_was_stopped__takes_nobody_for_dead)
{
    world *w = world_new(1, 1, 2);
    leased k;

    w->limits.timeout_ms = 600000;
    call_begin(w, &k, 0, "a wait");
    world_pass(w, 700);
    world_now_ns += INT64_C(20000000000); /* neither side has run */
    world_pass(w, 2000);
    assert_false(call_is_over(&k));
    world_free(w);
}

TEST(drain__finishes_what_it_has_and_takes_no_more)
{
    world *w = world_new(1, 2, 1);
    leased run, more[3];

    call_begin(w, &run, 0, "a wait");
    world_settle(w);
    gbx_lessor_drain(w->servers[run.machine[1] - '0'], false);
    for (unsigned i = 0; i < 3; i++)
        call_begin(w, &more[i], 0, "b say 1");
    world_pass(w, 500);
    for (unsigned i = 0; i < 3; i++) {
        assert_result(&more[i], 4);
        assert_string_not_equal(more[i].machine, run.machine);
    }
    assert_false(gbx_lessor_is_idle(w->servers[run.machine[1] - '0']));
    w->plugs[0].cancel(w->plugs[0].user, &run.lease);
    world_settle(w);
    assert_true(gbx_lessor_is_idle(w->servers[run.machine[1] - '0']));
    world_free(w);
}

TEST(second_drain__ends_the_calls)
{
    world *w = world_new(1, 1, 1);
    leased run;

    call_begin(w, &run, 0, "a wait");
    world_settle(w);
    gbx_lessor_drain(w->servers[0], false);
    world_pass(w, 100);
    assert_false(call_is_over(&run));
    gbx_lessor_drain(w->servers[0], true);
    world_settle(w);
    assert_int_equal(run.ended, 1);
    assert_int_equal(run.ending.how, GBX_ENDING_ABORT);
    world_free(w);
}

/* ---- where calls go ------------------------------------------------------------------ */

TEST(full_runner__sends_calls_to_another)
{
    world *w = world_new(1, 2, 1);
    leased first, second;

    call_begin(w, &first, 0, "a wait");
    world_pass(w, 50);
    call_begin(w, &second, 0, "b say 1");
    world_pass(w, 100);
    assert_result(&second, 4);
    assert_string_not_equal(second.machine, first.machine);
    world_free(w);
}

TEST(nobody__is_said_within_seconds_and_nothing_has_begun)
{
    world *w = world_new(1, 0, 1);
    leased k;
    int64_t began_ns = world_now_ns;

    call_begin(w, &k, 0, "a say 1");
    world_pass(w, 3000);
    assert_int_equal(k.refused, 1);
    assert_int_equal(k.why, UNAVAILABLE);
    assert_string_equal(k.text, "no runner answers in the pool 'main'");
    assert_true(k.over_ns - began_ns <= INT64_C(1500000000));
    world_free(w);
}

TEST(version_and_policy__are_refused_by_name)
{
    world *w = world_new(1, 1, 1);
    leased k;

    w->options[0].caps.memory_bytes = 1 << 20;
    call_begin(w, &k, 0, "a say 1");
    world_pass(w, 2000);
    assert_int_equal(k.why, UNAVAILABLE);
    assert_string_equal(k.text, "the runner 'm0' allows at most 1048576 for "
                                "memoryBytes, and 67108864 were asked for");
    world_free(w);
}

TEST(limits__have_the_size_that_they_have)
{
    world *w = world_new(1, 1, 1);
    leased k;

    w->limits.struct_size = 4000;
    call_begin(w, &k, 0, "a say 1");
    world_pass(w, 2000);
    assert_result(&k, 4);
    world_free(w);
}

/* Runners of these tests allow two capabilities; "none" is a bit of its own. */
TEST(capabilities__beyond_those_of_the_runner_are_refused)
{
    static const struct {
        uint32_t call, engine;
        const char *text;
    } rows[] = {
        {GBX_CAP_NONE, GBX_CAP_NONE, NULL},
        {3, 3, NULL},
        {4, 3, "the runner 'm0' does not allow all capabilities of the call"},
        {3, 7, "the runner does not allow such an engine"},
    };
    leased k;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        world *w = world_new(1, 1, 1);

        w->capabilities = rows[i].call;
        w->contents.capabilities = rows[i].engine;
        call_begin(w, &k, 0, "a say 1");
        world_pass(w, 3000);
        if (rows[i].text != NULL)
            assert_string_equal(k.text, rows[i].text);
        else
            assert_result(&k, 4);
        world_free(w);
    }
}

/* The one always has 100 calls waiting, the other ten. */
TEST(two_callers__share_a_full_runner)
{
    world *w = world_new(2, 1, 2);
    static leased calls[110];
    unsigned done[2] = {0};

    w->limits.timeout_ms = 600000;
    for (unsigned i = 0; i < 110; i++)
        call_begin(w, &calls[i], i >= 100, "a wait");
    for (unsigned round = 0; round < 2400; round++) {
        world_pass(w, 11);
        for (unsigned j = 0; j < 110; j++) { /* neither is always the first */
            unsigned i = round / 2 % 2 == 0 ? j : 109 - j;

            if (calls[i].granted == 0)
                continue;
            done[i >= 100]++;
            call_end(&calls[i]);
            call_begin(w, &calls[i], i >= 100, "a wait");
        }
    }
    print_message("%u of the many, %u of the few\n", done[0], done[1]);
    assert_true(done[0] + done[1] >= 4000);
    assert_true(done[0] * 10 <= done[1] * 12);
    assert_true(done[1] * 10 <= done[0] * 12);
    world_free(w);
}

TEST(waiting_calls__ask_few_questions_at_once)
{
    world *w = world_new(1, 1, 1);
    static leased many[1000];

    w->limits.timeout_ms = 600000;
    for (unsigned i = 0; i < 1000; i++)
        call_begin(w, &many[i], 0, "a wait");
    assert_int_equal(broker_count(w->broker, GBX_REMOTE_WANT), 4);
    world_pass(w, 200);
    world_free(w);
}

/* ---- callers that take more than their share ------------------------------------------ */

TEST(seat__is_not_held_for_ever)
{
    world *w = world_new(1, 1, 1);
    leased k;
    int64_t began_ns = world_now_ns;

    call_begin_big(w, &k, 0, "a say 1", 1000);
    k.stalls = true;
    for (unsigned i = 0; i < 20 && !call_is_over(&k); i++) {
        world_pass(w, 4000);
        k.sent += w->plugs[0].send(w->plugs[0].user, &k.lease, k.big + k.sent, 1);
    }
    assert_int_equal(k.granted, 1);
    assert_int_equal(k.why, UNAVAILABLE);
    assert_int_equal(fake_begun("a"), 0);
    assert_true(k.over_ns - began_ns >= INT64_C(10000000000));
    assert_true(k.over_ns - began_ns < INT64_C(15000000000));
    world_free(w);
}

TEST(memory_of_all_calls__is_bounded)
{
    world *w = world_new(1, 1, 8);
    leased first, second;

    w->options[0].memory_bytes = 100 << 20; /* each may have 64 MiB */
    call_begin(w, &first, 0, "a wait");
    world_pass(w, 100);
    assert_int_equal(fake_begun("a"), 1);
    call_begin(w, &second, 0, "b say 1");
    world_pass(w, 500);
    assert_int_equal(second.granted, 0);
    call_end(&first);
    world_pass(w, 500);
    assert_result(&second, 4);
    world_free(w);
}

TEST(call__with_no_limit_of_memory_is_not_begun)
{
    world *w = world_new(1, 1, 8);
    leased k;

    w->limits.memory_bytes = 0;
    call_begin(w, &k, 0, "a say 1");
    world_pass(w, 100);
    assert_int_equal(k.why, UNAVAILABLE);
    assert_int_equal(fake_begun("a"), 0);
    world_free(w);
}

TEST(bytes_of_all_calls__are_bounded)
{
    world *w = world_new(1, 1, 8);
    leased first, second;

    w->limits.timeout_ms = 600000;
    call_begin_big(w, &first, 0, "a wait", 5 << 20);
    world_pass(w, 100);
    assert_int_equal(fake_begun("a"), 1);
    call_begin_big(w, &second, 0, "b say 1", 5 << 20);
    world_pass(w, 500);
    assert_int_equal(second.granted, 0);
    call_end(&first);
    world_pass(w, 500);
    assert_result(&second, 4);
    world_free(w);
}

TEST(questions_that_nobody_goes_on_with__let_others_have_engines)
{
    world *w = world_new(1, 1, 1);
    gbx_remote_want want = {
        .version = GBX_REMOTE_VERSION,
        .wire_version = GBX_WIRE_VERSION,
        .setup_bytes = 100,
        .caller = gbx_span_of("glovebox.v1.main.c.dead.m"),
        .limits = {(const uint8_t *)&w->limits, sizeof w->limits},
    };
    leased k;

    for (unsigned i = 0; i < 4; i++) {
        uint8_t key[GBX_SHA256_SIZE] = {(uint8_t)i};

        want.key = (gbx_span){key, sizeof key};
        assert_true(gbx_remote_send(w->caller_buses[0], "glovebox.v1.main.any", NULL,
                                    7 + i, GBX_REMOTE_WANT, &want));
    }
    world_settle(w);
    call_begin(w, &k, 0, "a say 1");
    world_pass(w, 500);
    assert_int_equal(k.granted, 0);
    world_pass(w, 1000);
    assert_result(&k, 4);
    world_free(w);
}

/* ---- contents ------------------------------------------------------------------------ */

static gbx_content dataset(size_t size, bool is_honest)
{
    gbx_content c = {.kind = GBX_CONTENT_DATASET, .name = "rows", .size = size};
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    gbx_sha256_of(bytes, size, c.sha256);
    bytes[size / 2] ^= is_honest ? 0 : 1;
    c.fd = memfd_create("rows", MFD_CLOEXEC);
    assert_int_equal(write(c.fd, bytes, size), size);
    free(bytes);
    return c;
}

TEST(dataset__travels_once_for_many_calls_and_callers)
{
    world *w = world_new(2, 1, 8);
    gbx_content rows = dataset(1000001, true);
    leased many[20];

    w->contents.items = &rows;
    w->contents.count = 1;
    for (unsigned i = 0; i < 20; i++)
        call_begin(w, &many[i], i & 1, "a say 1");
    world_pass(w, 2000);
    for (unsigned i = 0; i < 20; i++)
        assert_result(&many[i], 4);
    assert_int_equal(broker_count(w->broker, GBX_REMOTE_BLOB), 1000001 / 65536 + 2);
    assert_int_equal(fake_made(), 1);
    world_free(w);
    (void)close(rows.fd);
}

TEST(dataset_with_another_hash__is_never_used)
{
    world *w = world_new(1, 1, 8);
    gbx_content rows = dataset(100000, false);
    leased k;

    w->contents.items = &rows;
    w->contents.count = 1;
    call_begin(w, &k, 0, "a say 1");
    world_pass(w, 4000);
    assert_int_equal(k.why, UNAVAILABLE);
    assert_string_equal(k.text, "a dataset does not have the hash that was said");
    assert_int_equal(fake_made(), 0);
    world_free(w);
    (void)close(rows.fd);
}

TEST(dataset_beyond_the_limit__is_refused)
{
    world *w = world_new(1, 1, 8);
    gbx_content rows = dataset(9 << 20, true);
    leased k;

    w->contents.items = &rows;
    w->contents.count = 1;
    call_begin(w, &k, 0, "a say 1");
    world_pass(w, 2000);
    assert_int_equal(k.why, UNAVAILABLE);
    assert_int_equal(broker_count(w->broker, GBX_REMOTE_FETCH), 8); /* of setups */
    world_free(w);
    (void)close(rows.fd);
}

TEST(call__goes_where_its_dataset_is)
{
    world *w = world_new(1, 3, 8);
    gbx_content rows = dataset(100000, true);
    leased first, k;
    unsigned blobs;

    w->contents.items = &rows;
    w->contents.count = 1;
    call_begin(w, &first, 0, "a say 1");
    world_pass(w, 100);
    assert_result(&first, 4);
    blobs = broker_count(w->broker, GBX_REMOTE_BLOB);
    for (unsigned i = 0; i < 6; i++) {
        call_begin(w, &k, 0, "a say 1");
        world_settle(w);
        assert_result(&k, 4);
        assert_string_equal(k.machine, first.machine);
        call_end(&k);
    }
    assert_int_equal(broker_count(w->broker, GBX_REMOTE_BLOB), blobs);
    world_free(w);
    (void)close(rows.fd);
}

/* ---- messages that nobody should send ------------------------------------------------- */

TEST(grant_with_another_subject__is_not_followed)
{
    static const char *const subjects[] = {"glovebox.v1.other.r.1.m", "$SYS.x",
                                           "glovebox.v1.main.r.>",
                                           "glovebox.v1.main.r.a..b",
                                           "glovebox.v1.main.c.x.1.m"};

    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        assert_false(gbx_remote_is_subject(gbx_span_of(subjects[i]), "main",
                                           GBX_SUBJECT_RUNNER));
    assert_true(gbx_remote_is_subject(gbx_span_of("glovebox.v1.main.r.ab12.m"), "main",
                                      GBX_SUBJECT_RUNNER));
}

TEST_MAIN(NULL, NULL)
