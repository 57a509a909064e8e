/* SPDX-License-Identifier: MIT */
/*
 * nats_hostile_runner - a caller meets runners over a real nats-server that lie, flood and are
 * silent, and strangers who forge answers. Its call ends in time and with the truth: a call of
 * which something was seen is never said not to have begun.
 */
#include "calls.h"
#include "host_functions.h"
#include "nats_peer.h"
#include "nats_runner.h"
#include "nats_server.h"
#include "scratch.h"
#include "test.h"
#include "until.h"
#include "wire/messages.h"

#include <dirent.h>
#include <glovebox/runner.h>
#include <signal.h>
#include <unistd.h>

#define WAIT_MS 8000
#define SEAT    0x1234567812345678u
#define OWN     "glovebox.v1.main.r.00000000000000000000000000000bad.m"

static nats_server server;
static nats_runner runner;
static nats_peer *peer;
static char caller[GBX_REMOTE_SUBJECT_MAX + 1]; /* where it wants its answers */
static uint64_t question;
static uint64_t call_id; /* of the worker's messages */
static uint32_t seq;     /* of the next DATA or END */
static inbox box;

/* ---- what a runner says -------------------------------------------------------------- */

#define SAY(NAME, name, number, ...)                       \
    nats_peer_say(peer, caller, number, GBX_REMOTE_##NAME, \
                  &(gbx_remote_##name){__VA_ARGS__})

/* Wait for a question. */
static void hear_want(void)
{
    const peer_frame *f = nats_peer_next(peer, GBX_REMOTE_WANT, WAIT_MS);

    assert_non_null(f);
    question = f->message.number;
    (void)snprintf(caller, sizeof caller, "%.*s", (int)f->message.want.caller.len,
                   (const char *)f->message.want.caller.data);
}

static void grant_at(const char *subject, const char *machine)
{
    SAY(GRANT, grant, question, .seat = SEAT, .machine = gbx_span_of(machine),
        .runner = gbx_span_of(subject), .engine = gbx_span_of("Fake 1.0"));
}

/* Give the seat, and take the call. */
static void take_call(void)
{
    const peer_frame *f;
    gbx_header header;

    hear_want();
    grant_at(OWN, "evil");
    do {
        f = nats_peer_next(peer, GBX_REMOTE_DATA, WAIT_MS);
        assert_non_null(f);
    } while (f->message.data.bytes.len == 0);
    assert_int_equal(f->message.number, SEAT);
    assert_true(gbx_header_decode(f->message.data.bytes.data, &header));
    assert_int_equal(header.type, GBX_MSG_CALL);
    call_id = header.call_id;
    seq = 0;
}

static void say_data(const void *bytes, size_t len, uint32_t room)
{
    SAY(DATA, data, SEAT, .seq = seq++, .room = room, .bytes = {bytes, len});
}

static void say_end(uint8_t how)
{
    SAY(END, end, SEAT, .how = how, .seq = seq++);
}

/* A message of the worker. */
static void say_worker(const gbx_buf *frames)
{
    say_data(frames->data, frames->len, 0);
}

static void say_hostcall(void)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf frame;
    gbx_msg_hostcall call = {.id = 1,
                             .name = gbx_span_of("echo"),
                             .args = gbx_span_of("[1]")};

    gbx_buf_init(&frame, 4096);
    assert_true(gbx_msg_put(&frame, call_id, &call));
    say_worker(&frame);
}

/* ---- what each of them does ------------------------------------------------------------ */

static void play_refuses(void)
{
    while (!inbox_wait(&box, 1, 0)) {
        const peer_frame *f = nats_peer_next(peer, GBX_REMOTE_WANT, 100);

        if (f == NULL)
            continue;
        question = f->message.number;
        (void)snprintf(caller, sizeof caller, "%.*s", (int)f->message.want.caller.len,
                       (const char *)f->message.want.caller.data);
        SAY(REFUSE, refuse, question, .why = GBX_WHY_NOT_HERE,
            .text = gbx_span_of("no\n\x1b[31m\r\nway"));
    }
}

static void play_is_always_full(void)
{
    while (!inbox_wait(&box, 1, 0)) {
        const peer_frame *f = nats_peer_next(peer, GBX_REMOTE_WANT, 100);

        if (f == NULL)
            continue;
        (void)snprintf(caller, sizeof caller, "%.*s", (int)f->message.want.caller.len,
                       (const char *)f->message.want.caller.data);
        SAY(REFUSE, refuse, f->message.number, .why = GBX_WHY_BUSY);
    }
}

static void play_silent(void)
{
    hear_want();
}

static void play_grants_elsewhere(void)
{
    static const char *const subjects[] = {"$SYS.REQ.SERVER.PING", "other.subject",
                                           "glovebox.v1.other.r.1.m",
                                           "glovebox.v1.main.any",
                                           "glovebox.v1.main.r.>"};
    unsigned before;

    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        hear_want();
        before = nats_peer_heard(peer);
        grant_at(subjects[i], "evil");
    }
    hear_want();
    assert_true(nats_peer_heard(peer) - before <= 2); /* it asks again, no more */
}

static void play_grants_and_is_silent(void)
{
    take_call();
}

static void play_beats_for_ever(void)
{
    take_call();
    while (!inbox_wait(&box, 1, 0)) {
        say_data(NULL, 0, 0);
        usleep(100000);
    }
}

static void play_leaves_a_gap(void)
{
    take_call();
    seq = 1;
    say_data(NULL, 0, 0);
}

static void play_gives_room_for_nothing(void)
{
    take_call();
    say_data(NULL, 0, UINT32_MAX);
}

static void play_sends_noise(void)
{
    uint8_t frame[64] = {0};
    uint64_t seat = SEAT;

    take_call();
    memset(frame, 0xff, sizeof frame);
    memcpy(frame + 8, &seat, 8);
    memset(frame + 5, 0, 3);
    nats_peer_put(peer, caller, frame, sizeof frame);
}

static void play_asks_its_caller_for_a_seat(void)
{
    take_call();
    SAY(CANCEL, cancel, SEAT, 0);
}

static void play_sends_what_no_worker_says(void)
{
    uint8_t junk[500];

    take_call();
    memset(junk, 'j', sizeof junk);
    say_data(junk, sizeof junk, 0);
}

static void play_ends_before_its_last_message(void)
{
    take_call();
    say_end(GBX_ENDING_SAID);
}

static void play_ends_in_an_unknown_way(void)
{
    take_call();
    say_end(99);
}

static void play_ends_with_an_impossible_shortage(void)
{
    take_call();
    SAY(END, end, SEAT, .how = GBX_ENDING_DIED, .shortage = 3);
}

static void play_aborts_unasked(void)
{
    take_call();
    say_end(GBX_ENDING_ABORT);
}

static void play_was_not_begun(void)
{
    take_call();
    say_end(GBX_ENDING_NO_WORKER);
}

static void play_was_not_begun_but_called_the_host(void)
{
    take_call();
    say_hostcall();
    usleep(200000);
    say_end(GBX_ENDING_NO_WORKER);
}

static void play_has_no_place_but_called_the_host(void)
{
    take_call();
    say_hostcall();
    usleep(200000);
    say_end(GBX_ENDING_FULL);
}

/* More console text than the call may have, as fast as the window lets it. */
static void play_prints_without_end(void)
{
    static uint8_t text[60000];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf frame;
    gbx_msg_log line = {.level = 2, .text = {text, sizeof text}};
    gbx_flow flow;
    size_t at = 0;

    take_call();
    gbx_buf_init(&frame, 100000);
    memset(text, 'x', sizeof text);
    assert_true(gbx_msg_put(&frame, call_id, &line));
    gbx_flow_init(&flow);
    while (!inbox_wait(&box, 1, 0)) {
        const peer_frame *f = nats_peer_next(peer, GBX_REMOTE_DATA, 1);

        if (f != NULL)
            flow.out_room += f->message.data.room;
        at += gbx_flow_send(&flow, nats_peer_bus(peer), caller, SEAT, frame.data + at,
                            frame.len - at, false);
        at = at == frame.len ? 0 : at;
    }
}

static void play_fetches_without_end(void)
{
    static const uint8_t unknown[GBX_SHA256_SIZE];
    double end = now_ms() + 1000;

    hear_want();
    while (now_ms() < end) {
        SAY(FETCH, fetch, question, .runner = gbx_span_of(OWN),
            .sha256 = {unknown, sizeof unknown}, .offset = UINT64_MAX,
            .length = GBX_REMOTE_CHUNK_MAX);
        usleep(500);
    }
}

static void play_grants_two_seats(void)
{
    const peer_frame *f;

    hear_want();
    grant_at(OWN, "evil");
    SAY(GRANT, grant, question, .seat = 5, .runner = gbx_span_of(OWN));
    f = nats_peer_next(peer, GBX_REMOTE_CANCEL, WAIT_MS);
    assert_non_null(f);
    assert_int_equal(f->message.number, 5);
    seq = 0;
    say_end(GBX_ENDING_NO_WORKER);
}

static void play_is_lost_after_a_strange_name(void)
{
    hear_want();
    grant_at(OWN, "a\nb\x1b[31m");
    assert_non_null(nats_peer_next(peer, GBX_REMOTE_DATA, WAIT_MS));
    seq = 0;
    say_end(GBX_ENDING_GONE);
}

#define LONG_MS  7000
#define SHORT_MS 1200

/* clang-format off */
static const struct row {
    const char *name;
    void (*play)(void);
    uint32_t timeout_ms;
    gbx_code code;
} rows[] = {
#define ROW(name, timeout_ms, code) {#name, play_##name, timeout_ms, GBX_CODE_##code},
    ROW(refuses, LONG_MS, UNAVAILABLE)
    ROW(is_always_full, SHORT_MS, UNAVAILABLE)
    ROW(silent, SHORT_MS, UNAVAILABLE)
    ROW(grants_elsewhere, SHORT_MS, UNAVAILABLE)
    ROW(grants_and_is_silent, LONG_MS, LOST)
    ROW(grants_and_is_silent, SHORT_MS, TIMEOUT)
    ROW(beats_for_ever, SHORT_MS, TIMEOUT)
    ROW(leaves_a_gap, LONG_MS, LOST)
    ROW(gives_room_for_nothing, LONG_MS, LOST)
    ROW(sends_noise, LONG_MS, LOST)
    ROW(asks_its_caller_for_a_seat, LONG_MS, LOST)
    ROW(sends_what_no_worker_says, LONG_MS, VIOLATION)
    ROW(ends_before_its_last_message, LONG_MS, VIOLATION)
    ROW(ends_in_an_unknown_way, LONG_MS, LOST)
    ROW(ends_with_an_impossible_shortage, LONG_MS, LOST)
    ROW(aborts_unasked, LONG_MS, LOST)
    ROW(was_not_begun, LONG_MS, UNAVAILABLE)
    ROW(was_not_begun_but_called_the_host, LONG_MS, LOST)
    ROW(has_no_place_but_called_the_host, LONG_MS, LOST)
    ROW(prints_without_end, SHORT_MS, TIMEOUT)
    ROW(fetches_without_end, SHORT_MS, UNAVAILABLE)
    ROW(grants_two_seats, LONG_MS, UNAVAILABLE)
    ROW(is_lost_after_a_strange_name, LONG_MS, LOST)
#undef ROW
};
/* clang-format on */

static void run_row(const struct row *r)
{
    gbx_limits limits = timeout_of(r->timeout_ms);
    gbx_call call = call_of("async () => { await echo(1); return 2 }");
    gbx_options options = GBX_OPTIONS_INIT;
    host_functions functions;
    gbx_engine *engine;
    gbx_result *result;
    double from = now_ms();

    options.runner_name = server.url;
    engine = engine_start(&options);
    host_functions_expose(&functions, engine);
    limits.log_bytes = 1 << 20;
    call.limits = &limits;
    inbox_init(&box, 4);
    nats_peer_forget(peer);
    (void)call_submit(engine, &call, &box);
    r->play();
    if (!inbox_wait(&box, 1, WAIT_MS) || now_ms() - from > r->timeout_ms + 2000)
        fail_msg("%s: no answer in time", r->name);
    result = box.results[1];
    if (gbx_result_code(result) != r->code)
        fail_msg("%s: %s: %s", r->name, gbx_code_name(gbx_result_code(result)),
                 gbx_result_error(result));
    check_one_line(gbx_result_error(result));
    check_one_line(gbx_result_machine(result));
    assert_true(gbx_result_stats(result).log_bytes <= limits.log_bytes);
    assert_true(r->code != GBX_CODE_UNAVAILABLE || functions.called == 0);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

TEST(hostile_runner__costs_only_its_call_which_is_told_the_truth)
{
    peer = nats_peer_new(server.url);
    nats_peer_listen(peer, "any", "runners");
    nats_peer_listen(peer, "key.*", "runners");
    nats_peer_listen(peer, "r.*.*", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(&rows[i]);
}

/* ---- strangers ------------------------------------------------------------------------ */

/* Where the caller and the runner of a call can be spoken to. */
static char ends[2][GBX_REMOTE_SUBJECT_MAX + 1];

static gbx_engine *listened_to(void)
{
    gbx_options options = GBX_OPTIONS_INIT;
    const peer_frame *f;
    gbx_engine *engine;

    nats_runner_start(&runner, server.url, "");
    peer = nats_peer_new(server.url);
    nats_peer_listen(peer, "c.>", NULL);
    options.runner_name = server.url;
    engine = engine_start(&options);
    check_value(engine, "() => 1", NULL, "1");
    f = nats_peer_next(peer, GBX_REMOTE_GRANT, WAIT_MS);
    assert_non_null(f);
    (void)snprintf(ends[0], sizeof ends[0], "%s", f->subject);
    (void)snprintf(ends[1], sizeof ends[1], "%.*s", (int)f->message.grant.runner.len,
                   (const char *)f->message.grant.runner.data);
    return engine;
}

static void forge(unsigned i)
{
    uint64_t number = gbx_remote_number();

    (void)snprintf(caller, sizeof caller, "%s", ends[0]);
    switch (i % 5) {
    case 0: SAY(GRANT, grant, number, .seat = SEAT, .runner = gbx_span_of(OWN)); break;
    case 1: SAY(REFUSE, refuse, number, .why = GBX_WHY_CONTENTS); break;
    case 2: SAY(DATA, data, number, .bytes = gbx_span_of("forged")); break;
    case 3: SAY(END, end, number, .how = GBX_ENDING_NO_WORKER); break;
    default:
        nats_peer_say(peer, ends[1], number, GBX_REMOTE_CANCEL,
                      &(gbx_remote_cancel){0});
        break;
    }
}

TEST(forged_answers__change_nothing_without_the_number_of_the_seat)
{
    gbx_engine *engine = listened_to();
    gbx_call call = call_of("async () => { await sleep(30); return 7 }");

    inbox_init(&box, 42);
    for (unsigned i = 0; i < 40; i++)
        (void)call_submit(engine, &call, &box);
    for (unsigned i = 0; i < 3000; i++)
        forge(i);
    assert_true(inbox_wait(&box, 40, 30000));
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 40);
    inbox_cleanup(&box);
    gbx_engine_free(engine);
}

/* Each file of the corpus to both ends and to all runners. */
static unsigned put_corpus(const char *name)
{
    char path[512];
    static uint8_t bytes[65536];
    unsigned count = 0;
    const struct dirent *e;
    DIR *folder;

    (void)snprintf(path, sizeof path, "%s/%s", CORPORA, name);
    folder = opendir(path);
    assert_non_null(folder);
    while ((e = readdir(folder)) != NULL) {
        FILE *file;
        size_t len;

        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s/%s", CORPORA, name, e->d_name);
        file = fopen(path, "re");
        assert_non_null(file);
        len = fread(bytes, 1, sizeof bytes, file);
        (void)fclose(file);
        nats_peer_put(peer, ends[0], bytes, len);
        nats_peer_put(peer, ends[1], bytes, len);
        nats_peer_put(peer, "glovebox.v1.main.any", bytes, len);
        count++;
    }
    (void)closedir(folder);
    return count;
}

TEST(frames_of_the_fuzzers__change_nothing)
{
    gbx_engine *engine = listened_to();
    gbx_call call = call_of("async () => { await sleep(100); return 7 }");
    unsigned count;

    inbox_init(&box, 12);
    for (unsigned i = 0; i < 10; i++)
        (void)call_submit(engine, &call, &box);
    count = put_corpus("remote") + put_corpus("messages") + put_corpus("exchange");
    assert_true(count > 20);
    assert_true(inbox_wait(&box, 10, 30000));
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 10);
    check_value(engine, "() => 1", NULL, "1");
    inbox_cleanup(&box);
    gbx_engine_free(engine);
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
    peer = NULL;
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
