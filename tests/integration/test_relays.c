/* SPDX-License-Identifier: MIT */
/* Calls of another machine, which may send anything: what a relay takes, and what not. */
#include "calls.h"
#include "test.h"
#include "until.h"

#include <dirent.h>
#include <fcntl.h>
#include <glovebox/host.h>
#include <glovebox/relay.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wire/messages.h"

static gbx_engine *engine;

static gbx_contents contents_of(const char *functions)
{
    return (gbx_contents){.struct_size = sizeof(gbx_contents),
                          .jit = GBX_JIT_FULL,
                          .capabilities = GBX_CAP_CONSOLE | GBX_CAP_TIMERS,
                          .cpu_ms = 60000,
                          .memory_bytes = UINT64_C(64) << 20,
                          .functions = functions};
}

static atomic_uint log_lines, log_lines_here;

/* Count the lines of the log, and those that name this machine. */
static void on_audit(void *user, const char *line, size_t len)
{
    char host[65] = "";
    char member[96];

    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(member, sizeof member, "\"machine\":\"%s\"", host);
    log_lines++;
    log_lines_here += memmem(line, len, member, strlen(member)) != NULL;
}

static int start(void **state)
{
    gbx_contents contents = contents_of("ask\ndb.query");
    gbx_options own = GBX_OPTIONS_INIT;
    gbx_error error = {0};

    own.on_audit = on_audit;
    own.limits.host_in_bytes = 4096;
    if (gbx_relay_engine(&contents, &own, &engine, &error) != GBX_OK)
        fail_msg("%s", error.message);
    return 0;
}

static int finish(void **state)
{
    gbx_engine_free(engine);
    return 0;
}

/* What the other machine sees of a relay. */
typedef struct seen {
    gbx_relay *relay;
    gbx_buf out;
    size_t window;
    unsigned ends;
    gbx_ending ending;
} seen;

static const uint64_t call_id = 0x1122334455667788;

static gbx_msg_call message(const char *code)
{
    static const uint8_t entropy[GBX_ENTROPY_SIZE];

    return (gbx_msg_call){.memory_bytes = UINT64_C(32) << 20,
                          .output_bytes = 2 << 20,
                          .log_bytes = 1 << 20,
                          .first_line = 1,
                          .first_column = 1,
                          .capabilities = GBX_CAP_CONSOLE | GBX_CAP_TIMERS,
                          .host_calls = 100,
                          .host_calls_at_once = 10,
                          .host_out_bytes = 1 << 16,
                          .entropy = {entropy, sizeof entropy},
                          .code = gbx_span_of(code)};
}

static gbx_status open_bytes(seen *s, const void *frame, size_t len,
                             const gbx_limits *limits)
{
    s->out.ceiling = (size_t)64 << 20;
    return gbx_relay_new(engine, frame, len, limits, &s->relay, NULL);
}

static gbx_status open_call(seen *s, const gbx_msg_call *msg)
{
    gbx_buf frame = {.ceiling = (size_t)64 << 20};
    gbx_status status;

    assert_true(gbx_msg_put(&frame, call_id, msg));
    assert_true(gbx_buf_append(&frame, msg->input.data, msg->input.len));
    status = open_bytes(s, frame.data, frame.len, NULL);
    gbx_buf_cleanup(&frame);
    return status;
}

static void begin(seen *s, const char *code, size_t size)
{
    gbx_msg_call msg = message(code);

    *s = (seen){.window = size};
    assert_int_equal(open_call(s, &msg), GBX_OK);
}

/* Take what there is, as far as the window goes. */
static void take(seen *s)
{
    const gbx_ending *ending;
    const void *data;
    size_t len;

    while ((len = gbx_relay_step(s->relay, &data, &ending)) > 0 && s->window > 0) {
        size_t n = len < s->window ? len : s->window;

        assert_int_equal(s->ends, 0);
        s->window -= n;
        assert_true(gbx_buf_append(&s->out, data, n));
        gbx_relay_taken(s->relay, n);
    }
    if (len == 0 && ending != NULL) {
        s->ends = 1;
        s->ending = *ending;
    }
}

static void step(seen *s)
{
    struct pollfd fd = {.fd = gbx_relay_fd(s->relay), .events = POLLIN};

    (void)poll(&fd, 1, 20);
    take(s);
}

static void run_to_end(seen *s)
{
    double start_ms = now_ms();

    while (s->ends == 0 && now_ms() - start_ms < 60000)
        step(s);
    assert_int_equal(s->ends, 1);
}

static void done(seen *s)
{
    gbx_relay_free(s->relay);
    gbx_buf_cleanup(&s->out);
}

/* The type of the frame at this place, or 0. */
static uint8_t type_at(const seen *s, size_t index)
{
    size_t at = 0;
    uint32_t len;

    for (; s->out.len - at >= 16; at += 16 + (size_t)len) {
        memcpy(&len, s->out.data + at, sizeof len);
        if (index-- == 0)
            return s->out.data[at + 4];
    }
    return 0;
}

static void until_wait(seen *s)
{
    double start_ms = now_ms();
    size_t count = 0;

    while (type_at(s, count) != GBX_MSG_WAIT && now_ms() - start_ms < 60000) {
        step(s);
        for (count = 0; type_at(s, count) != 0 && type_at(s, count) != GBX_MSG_WAIT;)
            count++;
    }
    assert_int_equal(type_at(s, count), GBX_MSG_WAIT);
}

static gbx_status feed(seen *s, gbx_msg_type type, uint64_t id, const void *msg)
{
    gbx_buf frame = {.ceiling = 1 << 20};
    gbx_status status;

    assert_true(gbx_msg_write(&frame, type, id, msg));
    status = gbx_relay_feed(s->relay, frame.data, frame.len);
    gbx_buf_cleanup(&frame);
    return status;
}

static const gbx_msg_answer answer = {.id = 1, .json = {(const uint8_t *)"7", 1}};

/* ---- good calls ------------------------------------------------------------------------ */

TEST(call__brings_its_value_with_its_end)
{
    seen s;

    begin(&s, "() => 1", 4096);
    run_to_end(&s);
    assert_int_equal(s.ending.how, GBX_ENDING_SAID);
    assert_int_equal(type_at(&s, 0), GBX_MSG_RESULT);
    assert_true(s.ending.cpu_us > 0);
    take(&s);
    assert_int_equal(s.ends, 1);
    done(&s);
}

TEST(log__names_this_machine_in_each_line)
{
    unsigned before = log_lines;
    seen s;

    begin(&s, "() => 1", 4096);
    run_to_end(&s);
    done(&s);
    assert_true(log_lines >= before + 2); /* the call's start and its end */
    assert_int_equal(log_lines, log_lines_here);
}

TEST(answers__go_to_the_worker_that_waits)
{
    seen s;

    begin(&s, "async () => await ask() + 1", 4096);
    until_wait(&s);
    assert_int_equal(type_at(&s, 0), GBX_MSG_HOSTCALL);
    assert_int_equal(feed(&s, GBX_MSG_ANSWER, call_id, &answer), GBX_OK);
    assert_int_equal(feed(&s, GBX_MSG_WAKE, call_id, NULL), GBX_OK);
    run_to_end(&s);
    assert_int_equal(s.ending.how, GBX_ENDING_SAID);
    assert_int_equal(type_at(&s, 2), GBX_MSG_RESULT);
    assert_memory_equal(s.out.data + s.out.len - 1, "8", 1);
    done(&s);
}

TEST(answers__may_come_byte_by_byte)
{
    gbx_buf frames = {.ceiling = 4096};
    seen s;

    begin(&s, "async () => await ask() + 1", 4096);
    until_wait(&s);
    assert_true(gbx_msg_put(&frames, call_id, &answer));
    assert_true(gbx_msg_write(&frames, GBX_MSG_WAKE, call_id, NULL));
    for (size_t i = 0; i < frames.len; i++) {
        assert_int_equal(gbx_relay_feed(s.relay, frames.data + i, 1), GBX_OK);
        take(&s);
    }
    run_to_end(&s);
    assert_memory_equal(s.out.data + s.out.len - 1, "8", 1);
    gbx_buf_cleanup(&frames);
    done(&s);
}

/* Nothing is read of a worker whose messages nobody takes, so they do not pile up here. */
TEST(window__that_is_shut_holds_the_worker_and_costs_no_memory)
{
    struct pollfd fd = {.events = POLLIN};
    const gbx_ending *ending;
    const void *data;
    seen s;
    size_t before;

    begin(&s,
          "() => { for (let i = 0; i < 1000; i++) console.log('x'.repeat(1000)); "
          "return 1 }",
          1000);
    while (gbx_relay_step(s.relay, &data, &ending) < 65536)
        step(&s);
    fd.fd = gbx_relay_fd(s.relay);
    while (poll(&fd, 1, 200) > 0)
        take(&s);
    assert_true(gbx_relay_step(s.relay, &data, &ending) < 3 * 65536);
    before = s.out.len;
    assert_int_equal(before, 1000);
    assert_int_equal(s.ends, 0);
    while (s.ends == 0) {
        s.window = 5000;
        step(&s);
    }
    assert_true(s.out.len > 1000000);
    assert_int_equal(s.ending.how, GBX_ENDING_SAID);
    done(&s);
}

TEST(result__that_is_larger_than_many_windows_comes_whole)
{
    seen s;
    size_t at;

    begin(&s, "() => Array.from({length: 150000}, (_, i) => 100000 + i)", 0);
    while (s.ends == 0) {
        s.window = 77777;
        step(&s);
    }
    at = s.out.len - (150000 * 7 + 1);
    for (unsigned i = 0; i < 150000; i++) {
        char number[8];

        (void)snprintf(number, sizeof number, "%c%u", i == 0 ? '[' : ',', 100000 + i);
        assert_memory_equal(s.out.data + at + (size_t)i * 7, number, 7);
    }
    done(&s);
}

TEST(abort__ends_it_with_what_it_has_cost)
{
    seen s;

    begin(&s, "() => { for (;;); }", 4096);
    for (int i = 0; i < 5; i++)
        step(&s);
    gbx_relay_abort(s.relay);
    run_to_end(&s);
    assert_int_equal(s.ending.how, GBX_ENDING_ABORT);
    assert_true(s.ending.cpu_us > 0);
    gbx_relay_abort(s.relay);
    assert_int_equal(feed(&s, GBX_MSG_WAKE, call_id, NULL), GBX_OK); /* too late */
    done(&s);
}

TEST(free__at_any_time_says_nothing_more)
{
    for (int steps = 0; steps < 6; steps++) {
        seen s;

        begin(&s, "() => { console.log('x'); for (;;); }", 4096);
        for (int i = 0; i < steps; i++)
            step(&s);
        gbx_relay_free(s.relay);
        assert_int_equal(s.ends, 0);
        gbx_buf_cleanup(&s.out);
    }
    gbx_relay_free(NULL);
}

/* ---- hostile calls ---------------------------------------------------------------------- */

TEST(call__beyond_its_limits_is_refused)
{
    gbx_msg_call good = message("() => 1");
    gbx_msg_call bad[11];
    seen s = {.window = 4096};

    for (size_t i = 0; i < 11; i++)
        bad[i] = good;
    bad[0].memory_bytes = UINT64_MAX;
    bad[1].output_bytes = UINT64_C(1) << 40;
    bad[2].log_bytes = UINT32_MAX;
    bad[3].host_calls = UINT32_MAX;
    bad[4].host_calls_at_once = UINT32_MAX;
    bad[5].host_out_bytes = UINT64_MAX;
    bad[6].capabilities |= GBX_CAP_FETCH;
    bad[7].capabilities |= GBX_CAP_CRYPTO;
    bad[8].dataset = gbx_span_of("people");
    bad[9].dataset = gbx_span_of("*");
    bad[10].memory_bytes = 0; /* all that the engine has */
    for (size_t i = 0; i < 11; i++)
        if (open_call(&s, &bad[i]) != GBX_E_DATA)
            fail_msg("call %zu was taken", i);
}

TEST(bytes__that_are_not_one_whole_call_are_refused)
{
    gbx_msg_call msg = message("() => 1");
    gbx_buf frame = {.ceiling = 4096};
    seen s = {.window = 4096};

    assert_true(gbx_msg_put(&frame, call_id, &msg));
    for (size_t len = 0; len < frame.len; len++)
        assert_int_equal(open_bytes(&s, frame.data, len, NULL), GBX_E_DATA);
    for (size_t i = 0; i < 16; i++) { /* its header, but for the call's id */
        frame.data[i % 8] ^= 0x40;
        assert_int_equal(open_bytes(&s, frame.data, frame.len, NULL), GBX_E_DATA);
        frame.data[i % 8] ^= 0x40;
    }
    assert_true(gbx_buf_append(&frame, "", 1));
    assert_int_equal(open_bytes(&s, frame.data, frame.len, NULL), GBX_E_DATA);
    gbx_buf_cleanup(&frame);
}

static void feed_text(seen *s, const char *bytes, size_t len)
{
    assert_int_equal(gbx_relay_feed(s->relay, bytes, len), GBX_OK);
}

TEST(answers__that_no_host_gives_end_the_call)
{
    const gbx_msg_answer other = {.id = 9, .json = {(const uint8_t *)"7", 1}};
    const gbx_msg_wait wait = {.ms = 1};
    seen s;

    for (int i = 0; i < 5; i++) {
        begin(&s, "async () => await ask()", 4096);
        until_wait(&s);
        switch (i) {
        case 0: /* of another call */
            assert_int_equal(feed(&s, GBX_MSG_ANSWER, 1, &answer), GBX_OK);
            break;
        case 1: /* of another kind */
            assert_int_equal(feed(&s, GBX_MSG_WAIT, call_id, &wait), GBX_OK);
            break;
        case 2: /* two for one request */
            assert_int_equal(feed(&s, GBX_MSG_ANSWER, call_id, &answer), GBX_OK);
            assert_int_equal(feed(&s, GBX_MSG_ANSWER, call_id, &other), GBX_OK);
            break;
        case 3: /* malformed */
            feed_text(&s, "\1\0\0\0\x12\0\0\0\x88\x77\x66\x55\x44\x33\x22\x11x", 17);
            break;
        default: /* a WAKE with a body */
            feed_text(&s, "\1\0\0\0\x11\0\0\0\x88\x77\x66\x55\x44\x33\x22\x11x", 17);
        }
        run_to_end(&s);
        assert_int_equal(s.ending.how, GBX_ENDING_BROKEN);
        assert_non_null(strstr(s.ending.reason, "no host sends"));
        done(&s);
    }
}

TEST(answers__beyond_their_limit_are_refused)
{
    char *large = calloc(1, 600000);
    seen s;

    assert_non_null(large);
    begin(&s, "async () => await ask()", 4096);
    until_wait(&s);
    assert_int_equal(gbx_relay_feed(s.relay, large, 4096), GBX_OK);
    assert_int_equal(gbx_relay_feed(s.relay, large, 600000), GBX_E_DATA);
    gbx_relay_abort(s.relay);
    run_to_end(&s);
    done(&s);
    free(large);
}

/* What may wait here does not shrink with the requests that are answered meanwhile: then
 * more would be there than fits. */
TEST(answers__that_go_while_more_wait_do_not_lower_their_limit)
{
    char *large = calloc(1, 20000);
    size_t most = 4096 + 11 * 1024; /* of the engine's limit and 10 requests at once */
    size_t fed = 0;
    gbx_msg_answer each = answer;
    const gbx_header rest = {.body_len = 1 << 20,
                             .type = GBX_MSG_ANSWER,
                             .call_id = call_id};
    seen s;

    assert_non_null(large);
    memcpy(large, &rest, sizeof rest);
    begin(&s,
          "async () => { await Promise.all(Array.from({length: 10}, () => ask())) }",
          1 << 20);
    until_wait(&s);
    for (; each.id <= 10; each.id++) {
        gbx_buf frame = {.ceiling = 4096};

        assert_true(gbx_msg_put(&frame, call_id, &each));
        assert_int_equal(gbx_relay_feed(s.relay, frame.data, frame.len), GBX_OK);
        fed += frame.len;
        gbx_buf_cleanup(&frame);
    }
    assert_int_equal(gbx_relay_feed(s.relay, large, most - fed), GBX_OK);
    take(&s); /* the answers go to the worker; a part of one more stays */
    assert_int_equal(gbx_relay_feed(s.relay, large, fed), GBX_OK);
    assert_int_equal(gbx_relay_feed(s.relay, large, 1), GBX_E_DATA);
    gbx_relay_abort(s.relay);
    run_to_end(&s);
    done(&s);
    free(large);
}

/* What fuzzers have found for the worker's side, as calls and as answers: whatever a
 * relay makes of it, it ends, and the next call runs. */
TEST(corpus__of_frames_is_survived)
{
    const char *const dirs[] = {GBX_CORPORA "/messages", GBX_CORPORA "/exchange"};
    size_t files = 0;

    for (size_t d = 0; d < 2; d++) {
        DIR *dir = opendir(dirs[d]);
        struct dirent *e;

        if (dir == NULL)
            fail_msg("no folder %s", dirs[d]);
        while ((e = readdir(dir)) != NULL) {
            uint8_t data[8192];
            char path[512];
            ssize_t len;
            int fd;
            seen s = {.window = 1 << 20};

            (void)snprintf(path, sizeof path, "%s/%s", dirs[d], e->d_name);
            fd = open(path, O_RDONLY | O_CLOEXEC);
            len = fd >= 0 ? read(fd, data, sizeof data) : -1;
            if (fd >= 0)
                (void)close(fd);
            if (len <= 0)
                continue;
            files++;
            if (open_bytes(&s, data, (size_t)len, NULL) == GBX_OK)
                gbx_relay_free(s.relay);
            gbx_buf_cleanup(&s.out);
            if (files % 16 != 0)
                continue;
            begin(&s, "async () => await ask()", 1 << 20);
            until_wait(&s);
            assert_int_not_equal(gbx_relay_feed(s.relay, data, (size_t)len),
                                 GBX_E_NOMEM);
            gbx_relay_abort(s.relay);
            run_to_end(&s);
            done(&s);
        }
        (void)closedir(dir);
    }
    assert_true(files > 10);
}

/* ---- engines for them -------------------------------------------------------------------- */

static int sealed(const char *text)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fcntl(fd, F_ADD_SEALS,
                           F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL),
                     0);
    return fd;
}

TEST(engine__takes_only_contents_that_it_can_have)
{
    gbx_content item = {.name = "people", .size = 7};
    gbx_contents contents = contents_of("");
    gbx_options own = GBX_OPTIONS_INIT;
    gbx_engine *made = NULL;
    gbx_error error = {0};

    contents.items = &item;
    contents.count = 1;
    item.fd = sealed("[1,2,3]");
    item.name = "a b";
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, &error), GBX_E_DATA);
    item.name = "people";
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, &error), GBX_OK);
    gbx_engine_free(made);
    (void)close(item.fd);
    item.fd = sealed("[1,2,,]");
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, &error), GBX_E_DATA);
    assert_int_equal(error.line, 1);
    assert_true(error.column > 1);
    (void)close(item.fd);
}

TEST(engine__has_no_more_than_its_owner_allows)
{
    gbx_contents contents = contents_of("");
    gbx_options own = GBX_OPTIONS_INIT;
    gbx_engine *made = NULL;
    size_t many_len = (size_t)7 * 8193;
    char *many;

    own.limits.memory_bytes = UINT64_C(32) << 20;
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, NULL), GBX_E_USAGE);
    own.limits.memory_bytes = 0;
    own.limits.cpu_ms = 100;
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, NULL), GBX_E_USAGE);
    own.limits.cpu_ms = 0;
    own.jit = GBX_JIT_OFF;
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, NULL), GBX_E_USAGE);
    own.jit = GBX_JIT_DEFAULT;
    own.capabilities = GBX_CAP_CRYPTO;
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, NULL), GBX_E_USAGE);
    own.capabilities = 0;
    contents.functions = "good\n__proto__";
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, NULL), GBX_E_DATA);
    many = malloc(many_len + 1);
    assert_non_null(many);
    for (size_t i = 0; i < many_len; i += 7)
        (void)snprintf(many + i, 8, "f%05zu\n", i / 7);
    contents.functions = many;
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, NULL), GBX_E_DATA);
    free(many);
    contents.functions = "db\ndb.query";
    assert_int_equal(gbx_relay_engine(&contents, &own, &made, NULL), GBX_E_DATA);
}

TEST_MAIN(start, finish)
