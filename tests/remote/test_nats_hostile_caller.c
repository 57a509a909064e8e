/* SPDX-License-Identifier: MIT */
/*
 * nats_hostile_caller - `glovebox runner` meets callers over a real nats-server that lie, flood
 * and are silent. After each of them it serves an honest caller as before, and has not grown.
 */
#include "calls.h"
#include "nats_peer.h"
#include "nats_runner.h"
#include "nats_server.h"
#include "proc.h"
#include "scratch.h"
#include "test.h"
#include "until.h"
#include "wire/messages.h"

#include <glovebox/runner.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 8000
#define OWN     "glovebox.v1.main.c.00000000000000000000000000000bad.m"
#define GROWTH  (64u << 10) /* KiB of the runner, from all of them */

static nats_server server;
static nats_runner runner;
static nats_peer *peer;
static gbx_engine *honest;
static inbox box;

/* What an honest caller has said: a hostile one may know the code that others run. */
static peer_frame *wanted;
static uint8_t call_bytes[8192];
static size_t call_len;
static char runner_at[GBX_REMOTE_SUBJECT_MAX + 1];
static uint64_t question, seat;
static uint32_t seq;
static const char *name; /* of the row */

/* The next frame of that type that comes to the caller. */
static const peer_frame *hear(gbx_remote_type type)
{
    const peer_frame *f = nats_peer_next(peer, type, WAIT_MS);

    if (f == NULL)
        fail_msg("%s: no frame of type %d", name, (int)type);
    return f;
}

/* ---- what a caller says -------------------------------------------------------------- */

static gbx_remote_want want_of(void)
{
    gbx_remote_want want = wanted->message.want;

    want.caller = gbx_span_of(OWN);
    return want;
}

static void say_want(const gbx_remote_want *want)
{
    question = gbx_remote_number();
    nats_peer_say(peer, "glovebox.v1.main.any", question, GBX_REMOTE_WANT, want);
}

static const gbx_remote_refuse *hear_refuse(void)
{
    const peer_frame *f = hear(GBX_REMOTE_REFUSE);

    assert_int_equal(f->message.number, question);
    return &f->message.refuse;
}

static void refuse_says(const char *text)
{
    const gbx_remote_refuse *r = hear_refuse();

    if (memmem(r->text.data, r->text.len, text, strlen(text)) == NULL)
        fail_msg("%s: '%.*s' lacks '%s'", name, (int)r->text.len,
                 (const char *)r->text.data, text);
}

/* A seat, as soon as there is one. */
static void take_seat(void)
{
    gbx_remote_want want = want_of();
    const peer_frame *f = NULL;
    double end = now_ms() + WAIT_MS;

    while (f == NULL && now_ms() < end) {
        say_want(&want);
        f = nats_peer_next(peer, GBX_REMOTE_GRANT, 200);
    }
    assert_non_null(f);
    seat = f->message.grant.seat;
    seq = 0;
}

static void say_data(const void *bytes, size_t len, uint32_t room)
{
    nats_peer_say(peer, runner_at, seat, GBX_REMOTE_DATA,
                  &(gbx_remote_data){seq++, room, {bytes, len}});
}

/* How its seat ends; -1: not in so many ms. */
static int end_of_seat(int ms)
{
    const peer_frame *f;

    do
        f = nats_peer_next(peer, GBX_REMOTE_END, ms);
    while (f != NULL && f->message.number != seat);
    return f != NULL ? f->message.end.how : -1;
}

static void seat_ends(gbx_ending_how how)
{
    int said = end_of_seat(WAIT_MS);

    if (said != (int)how)
        fail_msg("%s: its seat ends as %d", name, said);
}

/* Ask for an engine, until there is a place to make it. */
static void await_fetch(const gbx_remote_want *want)
{
    double end = now_ms() + 2 * WAIT_MS;
    const peer_frame *f = NULL;

    while (f == NULL && now_ms() < end) {
        say_want(want);
        f = nats_peer_next(peer, GBX_REMOTE_FETCH, 200);
    }
    if (f == NULL)
        fail_msg("%s: nothing is fetched", name);
    (void)snprintf(runner_at, sizeof runner_at, "%.*s",
                   (int)f->message.fetch.runner.len,
                   (const char *)f->message.fetch.runner.data);
    (void)snprintf(runner_at, sizeof runner_at, "%.*s",
                   (int)f->message.fetch.runner.len,
                   (const char *)f->message.fetch.runner.data);
}

static void say_blob(gbx_span sha256, uint64_t offset, const void *bytes, size_t len)
{
    nats_peer_say(peer, runner_at, question, GBX_REMOTE_BLOB,
                  &(gbx_remote_blob){sha256, offset, {bytes, len}});
}

/* Ask for an engine with this setup, and send it. */
static void say_setup(const gbx_buf *setup)
{
    uint8_t key[GBX_SHA256_SIZE];
    gbx_remote_want want = want_of();

    gbx_sha256_of(setup->data, setup->len, key);
    want.key = (gbx_span){key, sizeof key};
    want.setup_bytes = (uint32_t)setup->len;
    await_fetch(&want);
    say_blob(want.key, 0, setup->data, setup->len);
}

static void put_setup(gbx_buf *to, uint64_t size)
{
    gbx_content item = {.kind = GBX_CONTENT_DATASET,
                        .format = GBX_DATA_JSON,
                        .name = "d",
                        .size = size};
    gbx_contents contents = {.struct_size = sizeof contents,
                             .cpu_ms = 5000,
                             .memory_bytes = 64u << 20,
                             .functions = "",
                             .items = &item,
                             .count = 1};

    for (size_t i = 0; i < sizeof item.sha256; i++) /* of what nobody has */
        item.sha256[i] = (uint8_t)random();
    gbx_buf_init(to, GBX_REMOTE_SETUP_MAX);
    assert_true(gbx_remote_put_setup(to, &contents));
}

/* ---- what each of them does ------------------------------------------------------------ */

static void play_cuts_and_changes_its_question(void)
{
    for (size_t len = 0; len < wanted->len; len++)
        nats_peer_put(peer, "glovebox.v1.main.any", wanted->bytes, len);
    for (int i = 0; i < 1000; i++) {
        uint8_t bytes[1024];

        memcpy(bytes, wanted->bytes, wanted->len);
        bytes[(size_t)random() % wanted->len] ^= (uint8_t)(1 << random() % 8);
        nats_peer_put(peer, "glovebox.v1.main.any", bytes, wanted->len);
    }
}

static void play_wants_answers_elsewhere(void)
{
    static const char *const subjects[] = {"$SYS.REQ.SERVER.PING",
                                           "x",
                                           "glovebox.v1.other.c.1.m",
                                           "glovebox.v1.main.any",
                                           "glovebox.v1.main.r.1.m",
                                           "glovebox.v1.main.c.>"};
    gbx_remote_want want = want_of();
    unsigned before = nats_peer_heard(peer);

    nats_peer_listen(peer, "any", NULL);
    nats_peer_listen(peer, "r.1.m", NULL);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        want.caller = gbx_span_of(subjects[i]);
        say_want(&want);
    }
    want = want_of();
    say_want(&want);
    (void)hear(GBX_REMOTE_GRANT);
    /* Its own questions, and the seat. */
    assert_int_equal(nats_peer_heard(peer) - before,
                     sizeof subjects / sizeof *subjects + 2);
}

static void play_has_another_version(void)
{
    gbx_remote_want want = want_of();

    want.version++;
    want.library = gbx_span_of("99.9.9");
    say_want(&want);
    refuse_says("has version " GBX_VERSION ", the caller 99.9.9");
    want = want_of();
    want.wire_version++;
    say_want(&want);
    refuse_says("has version " GBX_VERSION);
}

static void play_asks_for_too_much(void)
{
    gbx_remote_want want = want_of();
    gbx_limits limits;

    want.call_bytes = UINT64_MAX;
    say_want(&want);
    refuse_says("call's bytes");
    want = want_of();
    memcpy(&limits, want.limits.data, sizeof limits);
    limits.timeout_ms = 60000;
    want.limits = (gbx_span){(const uint8_t *)&limits, sizeof limits};
    say_want(&want);
    refuse_says("allows at most 20000 for timeoutMs");
}

static void play_holds_all_seats(void)
{
    gbx_remote_want want = want_of();

    for (int i = 0; i < 3; i++)
        say_want(&want);
    assert_int_equal(hear(GBX_REMOTE_REFUSE)->message.refuse.why, GBX_WHY_BUSY);
}

/* So it lives, and its call grows. */
static void play_sends_its_call_byte_by_byte(void)
{
    static const uint8_t header[16] = {200, 0, 0, 0, GBX_MSG_CALL};
    double end = now_ms() + 30000;
    int how = -1;

    take_seat();
    for (size_t at = 0; how < 0 && now_ms() < end; at++) {
        say_data(&header[at < 8 ? at : 8], 1, 0);
        how = end_of_seat(400);
    }
    if (how != GBX_ENDING_NO_WORKER)
        fail_msg("%s: its seat ends as %d", name, how);
}

static void play_changes_its_call(void)
{
    for (int i = 0; i < 100; i++) {
        uint8_t bytes[sizeof call_bytes];

        take_seat();
        memcpy(bytes, call_bytes, call_len);
        bytes[(size_t)random() % (call_len < 200 ? call_len : 200)] ^=
            (uint8_t)(1 << random() % 8);
        say_data(bytes, call_len, 0);
        nats_peer_say(peer, runner_at, seat, GBX_REMOTE_CANCEL,
                      &(gbx_remote_cancel){0});
    }
}

static void play_sends_a_call_that_is_longer_than_it_said(void)
{
    gbx_header header = {.body_len = UINT32_MAX, .type = GBX_MSG_CALL};

    take_seat();
    say_data(&header, sizeof header, 0);
    seat_ends(GBX_ENDING_NO_WORKER);
}

static void play_says_all_twice(void)
{
    take_seat();
    say_data(call_bytes, call_len, 0);
    seq = 0;
    say_data(call_bytes, call_len, 0);
    seat_ends(GBX_ENDING_GONE);
}

static void play_gives_room_for_nothing(void)
{
    take_seat();
    say_data(NULL, 0, UINT32_MAX);
    seat_ends(GBX_ENDING_NO_WORKER);
}

/* The value is larger than the window. */
static void play_never_reads(void)
{
    const peer_frame *f;
    size_t bytes = 0;

    take_seat();
    say_data(call_bytes, call_len, 0);
    while ((f = nats_peer_next(peer, GBX_REMOTE_DATA, 4000)) != NULL)
        bytes += f->message.data.bytes.len;
    assert_true(bytes > 0 && bytes <= GBX_LEASE_WINDOW);
}

static void play_answers_what_nobody_asked(void)
{
    uint8_t junk[1000];

    memset(junk, 'j', sizeof junk);
    take_seat();
    say_data(call_bytes, call_len, 0);
    say_data(junk, sizeof junk, 0);
    assert_true(end_of_seat(WAIT_MS) >= 0);
}

static void play_asks_for_many_engines(void)
{
    for (int i = 0; i < 3000; i++) {
        uint8_t key[GBX_SHA256_SIZE];
        gbx_remote_want want = want_of();

        for (size_t k = 0; k < sizeof key; k++)
            key[k] = (uint8_t)random();
        want.key = (gbx_span){key, sizeof key};
        want.setup_bytes = GBX_REMOTE_SETUP_MAX;
        say_want(&want);
    }
}

static void play_sends_another_setup(void)
{
    uint8_t key[GBX_SHA256_SIZE] = {1};
    gbx_remote_want want = want_of();

    want.key = (gbx_span){key, sizeof key};
    want.setup_bytes = 4;
    await_fetch(&want);
    say_blob(want.key, 0, "what", 4);
    refuse_says("is not what was asked for");
}

static void play_changes_its_setup(void)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf setup = {0};

    put_setup(&setup, 3);
    for (int i = 0; i < 60; i++) {
        size_t at = (size_t)random() % setup.len;

        setup.data[at] ^= (uint8_t)(1 << random() % 8);
        say_setup(&setup);
        setup.data[at] = (uint8_t)random();
        (void)nats_peer_next(peer, GBX_REMOTE_REFUSE, 50);
    }
}

/* The dataset that is fetched, as this text says it. */
static void send_dataset(uint64_t size, const char *text)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf setup = {0};
    const peer_frame *f;

    put_setup(&setup, size);
    say_setup(&setup);
    f = hear(GBX_REMOTE_FETCH);
    say_blob(f->message.fetch.sha256, 0, text, strlen(text));
}

static void play_sends_a_dataset_with_another_hash(void)
{
    send_dataset(3, "[1]");
    refuse_says("does not have the hash");
}

static void play_sends_more_than_it_said(void)
{
    send_dataset(3, "[1, 2]");
    refuse_says("is missing");
}

static void play_has_no_dataset(void)
{
    send_dataset(3, "");
    refuse_says("is missing");
}

static void play_has_a_dataset_without_end(void)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf setup = {0};

    put_setup(&setup, UINT64_MAX);
    say_setup(&setup);
    refuse_says("larger than the limit");
}

static void play_floods_seats_that_it_does_not_have(void)
{
    static const uint8_t zeros[GBX_SHA256_SIZE];

    for (int i = 0; i < 3000; i++) {
        seat = question = gbx_remote_number();
        say_data("x", 1, 0);
        say_blob((gbx_span){zeros, sizeof zeros}, 0, "x", 1);
        nats_peer_say(peer, runner_at, seat, GBX_REMOTE_CANCEL,
                      &(gbx_remote_cancel){0});
    }
}

/* ---- the table ------------------------------------------------------------------------- */

/* clang-format off */
static const struct row {
    const char *name;
    void (*play)(void);
} rows[] = {
#define ROW(name) {#name, play_##name},
    ROW(cuts_and_changes_its_question)
    ROW(wants_answers_elsewhere)
    ROW(has_another_version)
    ROW(asks_for_too_much)
    ROW(holds_all_seats)
    ROW(sends_its_call_byte_by_byte)
    ROW(changes_its_call)
    ROW(sends_a_call_that_is_longer_than_it_said)
    ROW(says_all_twice)
    ROW(gives_room_for_nothing)
    ROW(never_reads)
    ROW(answers_what_nobody_asked)
    ROW(asks_for_many_engines)
    ROW(sends_another_setup)
    ROW(changes_its_setup)
    ROW(sends_a_dataset_with_another_hash)
    ROW(sends_more_than_it_said)
    ROW(has_no_dataset)
    ROW(has_a_dataset_without_end)
    ROW(floods_seats_that_it_does_not_have)
#undef ROW
};
/* clang-format on */

/* An engine whose words on the server were listened to. */
static void learn(void)
{
    gbx_options options = GBX_OPTIONS_INIT;
    const peer_frame *f;
    nats_peer *spy = nats_peer_new(server.url);
    gbx_call call = call_of("() => 'x'.repeat(900000)");

    nats_peer_listen(spy, ">", NULL);
    options.runner_name = server.url;
    options.limits.timeout_ms = options.limits.cpu_ms = 20000;
    honest = engine_start(&options);
    check_value(honest, "() => 1", NULL, "1");
    nats_peer_forget(spy);
    check_code(honest, &call, GBX_CODE_VALUE);
    f = nats_peer_next(spy, GBX_REMOTE_WANT, WAIT_MS);
    assert_non_null(f);
    wanted = malloc(sizeof *wanted + f->len);
    memcpy(wanted, f, sizeof *f + f->len);
    assert_true(gbx_remote_read((gbx_span){wanted->bytes, f->len}, &wanted->message));
    f = nats_peer_next(spy, GBX_REMOTE_GRANT, WAIT_MS);
    assert_non_null(f);
    (void)snprintf(runner_at, sizeof runner_at, "%.*s",
                   (int)f->message.grant.runner.len,
                   (const char *)f->message.grant.runner.data);
    f = nats_peer_next(spy, GBX_REMOTE_DATA, WAIT_MS);
    assert_non_null(f);
    call_len = f->message.data.bytes.len;
    assert_true(call_len > 16 && call_len < sizeof call_bytes);
    memcpy(call_bytes, f->message.data.bytes.data, call_len);
    nats_peer_free(spy);
}

static void check_runner(void)
{
    double from = now_ms();

    if (waitpid(runner.pid, NULL, WNOHANG) != 0)
        fail_msg("%s: the runner has ended", name);
    check_value(honest, "() => 1", NULL, "1"); /* within its time limit of 20 s */
    if (now_ms() - from > 1000)
        print_message("%s: an honest call took %.0f ms\n", name, now_ms() - from);
}

TEST(hostile_caller__costs_only_its_own_calls)
{
    size_t before;

    nats_runner_start(
        &runner, server.url,
        "--max-workers 2 --max-engines 4 --dataset-bytes 8 --timeout 20000 "
        "--cpu 20000");
    learn();
    before = proc_rss_kib_of(runner.pid);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        peer = nats_peer_new(server.url);
        nats_peer_listen(peer, "c.00000000000000000000000000000bad.m", NULL);
        name = rows[i].name;
        rows[i].play();
        nats_peer_free(peer);
        peer = NULL;
        check_runner();
    }
    assert_true(proc_rss_kib_of(runner.pid) < before + GROWTH);
    gbx_engine_free(honest);
    free(wanted);
    nats_runner_signal(&runner, SIGTERM);
    nats_runner_await_end(&runner);
    assert_true(WIFEXITED(runner.status) && WEXITSTATUS(runner.status) == 0);
}

/* All who have no datasets and no functions need the same engine, and whoever asks first sends
 * what it is made of. */
TEST(hostile_caller__cannot_keep_others_from_an_engine)
{
    gbx_call call = call_of("() => 1");
    gbx_remote_want want;

    nats_runner_start(&runner, server.url, "--timeout 20000 --cpu 20000");
    learn();
    nats_runner_stop(&runner);
    nats_runner_start(&runner, server.url, "--timeout 20000 --cpu 20000");
    peer = nats_peer_new(server.url);
    nats_peer_listen(peer, "c.00000000000000000000000000000bad.*", NULL);
    want = want_of();
    want.setup_bytes = GBX_REMOTE_SETUP_MAX;
    await_fetch(&want);
    inbox_init(&box, 4);
    (void)call_submit(honest, &call, &box);
    for (unsigned i = 0; !inbox_wait(&box, 1, 0); i++) {
        if (i % 10 < 5)
            say_want(&want);
        else
            say_blob(want.key, i, "x", 1);
        usleep(100000);
    }
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 1);
    inbox_cleanup(&box);
    gbx_engine_free(honest);
    free(wanted);
}

/* Questions for engines that are never described. */
TEST(hostile_caller__leaves_places_for_engines_of_others)
{
    const char data[] = "[1]";
    double from;

    nats_runner_start(&runner, server.url,
                      "--max-engines 4 --timeout 20000 --cpu 20000");
    learn();
    peer = nats_peer_new(server.url);
    nats_peer_listen(peer, "c.00000000000000000000000000000bad.*", NULL);
    play_asks_for_many_engines();
    from = now_ms();
    assert_int_equal(gbx_engine_load(honest, "d", data, strlen(data), GBX_DATA_JSON,
                                     NULL),
                     GBX_OK);
    assert_true(now_ms() - from < 5000);
    check_value(honest, "() => datasets.d.length", NULL, "1");
    gbx_engine_free(honest);
    free(wanted);
}

static int each_begin(void **state)
{
    if (scratch_begin(state) != 0)
        return -1;
    nats_server_start(&server, "");
    return 0;
}

static int each_end(void **state)
{
    nats_peer_free(peer);
    nats_runner_stop(&runner);
    nats_server_stop(&server, SIGKILL);
    return scratch_end(state);
}

int main(void)
{
    nats_server_need();
    tests_each(each_begin, each_end);
    return tests_run(NULL, NULL);
}
