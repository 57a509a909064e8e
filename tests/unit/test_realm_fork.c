/* SPDX-License-Identifier: MIT */
/*
 * The realm as the worker program uses it: made once, warmed, then one call in each
 * fork. Also what only its host sees: pieces of lines, waits, refused memory.
 */
#include "realm/realm.h"
#include "support/realm_call.h"
#include "test.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glovebox/glovebox.h>

/* What a fork leaves behind for the test to look at. */
typedef struct seen {
    bool ok, undefined;
    uint8_t failure, out_of_memory;
    char text[4096]; /* the value, or the message */
    unsigned pieces, cut, going_on, waits, refusals;
    size_t longest, log_bytes;
    bool split; /* a piece that begins inside a character */
    uint32_t waited_ms;
    double now_ms;
} seen;

static gbx_realm *realm;
static seen *shared;

static void on_log(void *user, const gbx_msg_log *line)
{
    seen *s = user;

    s->pieces++;
    s->cut += (line->flags & GBX_LOG_CUT) != 0;
    s->going_on += (line->flags & GBX_LOG_GOES_ON) != 0;
    s->log_bytes += line->text.len;
    if (line->text.len > s->longest)
        s->longest = line->text.len;
    if (line->text.len > 0 && (line->text.data[0] & 0xC0) == 0x80)
        s->split = true;
}

static void on_wait(void *user, uint32_t ms)
{
    seen *s = user;

    s->waits++;
    s->waited_ms += ms;
    s->now_ms += ms;
}

static double on_now(void *user)
{
    return ((seen *)user)->now_ms;
}

static void on_refusal(void *user)
{
    ((seen *)user)->refusals++;
}

static gbx_span span(const char *text, size_t len)
{
    return (gbx_span){(const uint8_t *)text, len};
}

static gbx_msg_call call_of(const char *code)
{
    return (gbx_msg_call){
        .capabilities = GBX_CAP_CONSOLE | GBX_CAP_TIMERS,
        .output_bytes = 1 << 20,
        .log_bytes = 1 << 20,
        .first_line = 1,
        .first_column = 1,
        .code = span(code, strlen(code)),
    };
}

static void keep(seen *s, gbx_span text)
{
    size_t len = text.len < sizeof s->text - 1 ? text.len : sizeof s->text - 1;

    if (len > 0)
        memcpy(s->text, text.data, len);
    s->text[len] = 0;
}

static void run_child(const gbx_msg_call *call, size_t memory)
{
    gbx_realm_host host = {.user = shared,
                           .log = on_log,
                           .wait = on_wait,
                           .now_ms = on_now};
    gbx_realm_outcome outcome;

    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (!gbx_realm_prove(realm))
        _exit(1);
    gbx_realm_on_refusal(on_refusal, shared);
    if (memory > 0)
        setrlimit(RLIMIT_DATA, &(struct rlimit){memory, memory});
    gbx_realm_run(realm, call, &host, &outcome);
    shared->ok = outcome.ok;
    shared->undefined = outcome.ok && outcome.result.is_undefined;
    shared->failure = outcome.error.failure;
    shared->out_of_memory = outcome.error.is_out_of_memory;
    keep(shared, outcome.ok ? outcome.result.json : outcome.error.message);
    _exit(0);
}

/* Data that this process has now, and more of it. */
static size_t data_and(size_t more)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages), 1);
    fclose(file);
    return pages * 4096 + more;
}

/* Returns the wait status. */
static int run(const gbx_msg_call *call, size_t memory)
{
    pid_t child;
    int status;

    memset(shared, 0, sizeof *shared);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_child(call, memory);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void gives(const char *code, const char *value)
{
    gbx_msg_call call = call_of(code);

    assert_int_equal(run(&call, 0), 0);
    assert_string_equal(shared->text, value);
    assert_true(shared->ok);
}

/* ---- tests ------------------------------------------------------------------ */

static bool loads(const char *name, const char *json, gbx_realm_fault *ret_fault)
{
    return gbx_realm_load(realm,
                          &(gbx_realm_data){.name = span(name, strlen(name)),
                                            .text = span(json, strlen(json))},
                          ret_fault);
}

TEST(realm__names_its_engine)
{
    unsigned part[6];

    assert_int_equal(sscanf(gbx_realm_engine(), "JavaScriptCore %u.%u.%u of %u-%u-%u",
                            &part[0], &part[1], &part[2], &part[3], &part[4], &part[5]),
                     6);
    assert_true(gbx_realm_knows_oom(realm));
    assert_true(gbx_realm_collects_garbage());
}

TEST(realm__has_one_thread_after_warming)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    unsigned threads = 0;

    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Threads: %u", &threads) == 1)
            break;
    fclose(file);

    assert_int_equal(threads, 1);
}

TEST(fork__sees_nothing_of_the_one_before)
{
    gives("() => { globalThis.leak = 1; JSON.parse = 1; Array.prototype.map = 2;"
          " Symbol.for('leak'); datasets.rows.push(4); return 'done' }",
          "\"done\"");

    gives("() => [typeof leak, typeof JSON.parse, typeof [].map, datasets.rows]",
          "[\"undefined\",\"function\",\"function\",[1,2,3]]");
}

TEST(fork__has_the_random_numbers_of_its_seed)
{
    gbx_msg_call call = call_of("() => Math.random()");
    char first[64];

    call.seed = 1;
    run(&call, 0);
    snprintf(first, sizeof first, "%.60s", shared->text);
    call.seed = 2;
    run(&call, 0);
    assert_string_not_equal(shared->text, first);
    call.seed = 1;
    run(&call, 0);

    assert_string_equal(shared->text, first);
}

TEST(load__refuses_what_is_not_json)
{
    gbx_realm_fault fault;

    assert_false(loads("bad", "{\"a\":", &fault));
    assert_string_equal(fault.message, "expected a JSON value, found the end");
    assert_false(loads("bad", "\"\xff\"", &fault));
    assert_string_equal(fault.message,
                        "not UTF-8: convert the file, for instance with iconv");

    gives("() => Object.keys(datasets)", "[\"rows\"]");
}

TEST(load__replaces_a_dataset_of_the_same_name)
{
    gbx_realm_fault fault;

    assert_true(loads("rows", "[9]", &fault));
    gives("(rows) => [rows, datasets]", "[[9],{\"rows\":[9]}]");

    assert_true(loads("rows", "[1,2,3]", &fault));
    gives("(rows) => rows", "[1,2,3]");
}

/* Larger than GBX_REALM_LARGE_INPUT, of ASCII or with a character that is not. */
static void check_large_input(const char *filler, size_t count, const char *length)
{
    gbx_msg_call call = call_of("(text) => text.length");
    size_t len = strlen(filler) * count + 2;
    char *text = malloc(len + 1), *at = text;

    *at++ = '"';
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, filler);
    *at++ = '"';
    *at = 0;
    call.flags |= GBX_CALL_WIRE_HAS_INPUT;
    call.input = span(text, len);

    assert_int_equal(run(&call, 0), 0);
    assert_string_equal(shared->text, length);
    free(text);
}

TEST(input__may_be_large)
{
    check_large_input("x", 5000000, "5000000");
    check_large_input("\xe2\x82\xac", 100000, "100000");
    check_large_input("\xf0\x9f\x98\x80", 100000, "200000");
}

TEST(input__that_is_not_utf8_is_refused)
{
    gbx_msg_call call = call_of("(text) => text");

    call.flags |= GBX_CALL_WIRE_HAS_INPUT;
    call.input = span("\"\xc0\x80\"", 4);
    run(&call, 0);

    assert_int_equal(shared->failure, GBX_FAILURE_INPUT);
    assert_string_equal(shared->text, "the text is not UTF-8");
}

TEST(log__cuts_long_lines_between_characters)
{
    gbx_msg_call call = call_of("() => console.log('\xe2\x82\xac'.repeat(100000))");

    run(&call, 0);

    assert_int_equal(shared->log_bytes, 300000);
    assert_int_equal(shared->pieces, 5);
    assert_int_equal(shared->going_on, 4);
    assert_true(shared->longest <= GBX_LOG_LINE_MAX);
    assert_false(shared->split);
    assert_int_equal(shared->cut, 0);
}

TEST(log__is_silent_after_its_share)
{
    gbx_msg_call call = call_of(
        "() => { for (let i = 0; i < 1e5; i++) console.log('\xc3\xa9'.repeat(50)) }");

    call.log_bytes = 10000;
    run(&call, 0);

    assert_int_equal(shared->cut, 1);
    assert_in_range(shared->log_bytes + shared->pieces * GBX_LOG_LINE_COST, 9900,
                    10000 + 2 * GBX_LOG_LINE_COST);
    assert_false(shared->split);
}

TEST(log__counts_empty_lines)
{
    gbx_msg_call call =
        call_of("() => { for (let i = 0; i < 1e5; i++) console.log('') }");

    call.log_bytes = 1000;
    run(&call, 0);

    assert_int_equal(shared->pieces, 1000 / GBX_LOG_LINE_COST + 2);
    assert_int_equal(shared->cut, 1);
}

TEST(timers__wait_through_the_host)
{
    gbx_msg_call call = call_of("async () => { await sleep(1500); await sleep(250) }");

    run(&call, 0);

    assert_true(shared->undefined);
    assert_int_equal(shared->waits, 2);
    assert_int_equal(shared->waited_ms, 1750);
}

TEST(memory__refused_by_the_kernel_is_told_once)
{
    gbx_msg_call call = call_of(
        "() => { const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1)) }");
    int status;

    status = run(&call, data_and(GBX_MIB(64)));

    assert_int_equal(shared->refusals, 1);
    assert_true(WIFSIGNALED(status) || shared->out_of_memory);
}

TEST(memory__an_allocation_that_never_fits_is_out_of_memory)
{
    gbx_msg_call call = call_of("() => new ArrayBuffer(2 ** 31).byteLength");

    assert_int_equal(run(&call, data_and(GBX_MIB(64))), 0);

    assert_int_equal(shared->failure, GBX_FAILURE_THROWN);
    assert_int_equal(shared->refusals, 1);
    assert_int_equal(shared->out_of_memory, 1);
}

TEST(memory__that_suffices_is_never_refused)
{
    gives("() => { let n = 0; for (let i = 0; i < 200; i++)"
          " n += new Array(1e5).fill(i).length; return n }",
          "20000000");

    assert_int_equal(shared->refusals, 0);
}

TEST(realm__survives_the_short_array)
{
    /* See interpose.c: the engine writes past the end of these without our padding. */
    for (int i = 0; i < 5; i++)
        gives("() => { const made = []; for (let k = 0; k < 200; k++) {"
              " const a = new Array(4000); for (let i = 0; i < 4000; i++) a[i] = i;"
              " made.push(a, 'x'.repeat(3000 + k), [k]) }"
              " return made.flat().length }",
              "800400");
}

/* ---- the realm of all tests --------------------------------------------------- */

static int make_realm(void **state)
{
    const char *reason;
    gbx_realm_fault fault;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    realm = gbx_realm_new(&(gbx_realm_setup){.globals = GBX_GLOBALS_STANDARD}, &reason);
    if (shared == MAP_FAILED || realm == NULL)
        return -1;
    if (!loads("rows", "[1,2,3]", &fault))
        return -1;
    gbx_realm_warm(realm, 1);
    gbx_realm_warm_own(realm, 1);
    gbx_realm_settle(realm, 1);
    return 0;
}

int main(int argc, char **argv)
{
    realm_environment(argv);
    gbx_realm_forbid_threads();
    return tests_run(make_realm, NULL);
}
