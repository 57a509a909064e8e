/* SPDX-License-Identifier: MIT */
/* fs.readFile from the code in a sealed worker to the file and back. */
#include "calls.h"
#include "proc.h"
#include "scratch.h"
#include "test.h"

#include <glovebox/policy.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET "tok-4f9a0c77e1b2"

static gbx_engine *engine;

static gbx_policy *policy_here(const char *json)
{
    gbx_policy *policy = NULL;
    gbx_error error;

    if (gbx_policy_parse(json, strlen(json), scratch, &policy, &error) != GBX_OK)
        fail_msg("%s", error.message);
    return policy;
}

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_error error;

    (void)umask(022);
    assert_int_equal(scratch_begin(state), 0);
    scratch_folder("data");
    scratch_write("secret.txt", "not listed");
    scratch_write("data/a.txt", "alpha \xC3\xA9");
    scratch_write("data/token", "the token is " SECRET "; or dG9rLTRmOWEwYzc3ZTFiMg==");
    scratch_write("data/records.json",
                  "[{\"n\": 1}, {\"n\": 2, \"t\": \"" SECRET "\"}]");
    scratch_write("data/empty", "");
    scratch_put("data/bytes", "\x00\x01\xFE\xFF", 4);
    scratch_put("data/broken",
                "\xEF\xBB\xBF\xE2\x82|\xF0\x9F\x94|\xC0\xAF|\xED\xA0\x80|\xFF", 18);
    assert_int_equal(symlink("../secret.txt", scratch_path("data/link")), 0);
    assert_int_equal(mkfifo(scratch_path("data/fifo"), 0644), 0);
    scratch_write("data/policy.json",
                  "{\"console\": true, \"timers\": true,"
                  "\"file\": {\"allow\": [\".\"], \"maxBytes\": 100000},"
                  "\"secrets\": {\"TOKEN\": {\"value\": \"" SECRET "\","
                  "\"sites\": [\"a.example\"]}}}");
    if (gbx_policy_load(scratch_path("data/policy.json"), &options.policy, &error) !=
        GBX_OK)
        fail_msg("%s", error.message);
    engine = engine_start(&options);
    gbx_policy_free(options.policy);
    return 0;
}

static int finish(void **state)
{
    gbx_engine_free(engine);
    (void)scratch_end(state);
    return proc_descendants() == 0 ? 0 : -1;
}

#define CATCHING(expression) \
    "async () => { try { return await " expression " } catch (e) { return e.code } }"

static const struct row {
    const char *code;
    const char *value;
} rows[] = {
    {"async () => await fs.readFile('a.txt', 'utf8')", "\"alpha \xC3\xA9\""},
    {"async () => (await fs.readFile('./a.txt', 'utf8')).length", "7"},
    {"async () => (await fs.readFile('a.txt')).length", "8"},
    {"async () => Array.from(await fs.readFile('bytes'))", "[0,1,254,255]"},
    {"async () => await fs.promises.readFile('bytes', 'base64')", "\"AAH+/w==\""},
    {"async () => [(await fs.readFile('empty')).length, await fs.readFile('empty', 'utf8')]",
     "[0,\"\"]"},
    /* As Node's: each longest piece that begins a character is one U+FFFD. */
    {"async () => (await fs.readFile('broken', 'utf8'))"
     ".split('').map((c) => c.charCodeAt(0).toString(16)).join()",
     "\"feff,fffd,7c,fffd,7c,fffd,fffd,7c,fffd,fffd,fffd,7c,fffd\""},
    {"async () => JSON.parse(await fs.readFile('records.json', 'utf8'))",
     "[{\"n\":1},{\"n\":2,\"t\":\"{{secret:TOKEN}}\"}]"},
    {"async () => await fs.readFile('token', 'utf8')",
     "\"the token is {{secret:TOKEN}}; or {{secret:TOKEN}}==\""},
    {"async () => (await fs.readFile('token', 'hex')).includes('746f6b2d3466')",
     "false"},
    {CATCHING("fs.readFile('../secret.txt')"), "\"ERR_FILE_NOT_ALLOWED\""},
    {CATCHING("fs.readFile('/etc/passwd')"), "\"ERR_FILE_NOT_ALLOWED\""},
    {CATCHING("fs.readFile('link')"), "\"ERR_FILE_NOT_ALLOWED\""},
    {CATCHING("fs.readFile('fifo')"), "\"ERR_FILE_NOT_ALLOWED\""},
    {CATCHING("fs.readFile('policy.json')"), "\"ERR_FILE_NOT_ALLOWED\""},
    {CATCHING("fs.readFile('nothing')"), "\"ENOENT\""},
    {CATCHING("fs.readFile('.')"), "\"EISDIR\""},
    {CATCHING("fs.readFile('a.txt\\0')"), "\"ERR_INVALID_ARG_VALUE\""},
    {CATCHING("fs.readFile('a\\ud800')"), "\"ERR_INVALID_ARG_VALUE\""},
    {CATCHING("fs.readFile('x'.repeat(5000))"), "\"ENAMETOOLONG\""},
    {"() => new Promise((done) => fs.readFile('a.txt', 'utf8', (e, text) => done(text)))",
     "\"alpha \xC3\xA9\""},
    {"async () => (await Promise.all(Array.from({length: 300},"
     " () => fs.readFile('a.txt')))).every((b) => b.length === 8)",
     "true"},
    {"async () => (await Promise.allSettled(['a.txt', 'fifo', 'bytes', '../x']"
     ".map((p) => fs.readFile(p)))).map((r) => r.status[0]).join('')",
     "\"frfr\""},
};

TEST(code__reads_what_is_listed_and_nothing_else)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_value(engine, rows[i].code, NULL, rows[i].value);
}

TEST(file__over_the_limit_is_refused_and_at_it_is_read)
{
    char *data = calloc(1, 100001);
    assert_non_null(data);
    scratch_put("data/most", data, 100000);
    scratch_put("data/more", data, 100001);

    check_value(engine, "async () => (await fs.readFile('most')).length", NULL,
                "100000");
    check_value(engine, CATCHING("fs.readFile('more')"), NULL,
                "\"ERR_FILE_TOO_LARGE\"");

    free(data);
}

TEST(error__that_nobody_catches_has_the_position_of_the_call)
{
    gbx_call call = call_of("async () => {\n  return await fs.readFile('../x')\n}");
    gbx_result *result = call_run(engine, &call);

    assert_int_equal(gbx_result_code(result), GBX_CODE_RUNTIME);
    assert_string_equal(gbx_result_error(result),
                        "Error: fs.readFile: '../x' is not below a listed directory");
    assert_int_equal(gbx_result_location(result).line, 2);
    gbx_result_free(result);
}

TEST(call__with_a_narrower_policy_has_no_files)
{
    gbx_policy *narrow = policy_here("{\"console\": true}");
    gbx_call call = call_of("() => typeof globalThis['f' + 's']");
    gbx_result *result;

    call.policy = narrow;
    result = call_run(engine, &call);
    assert_non_null(strstr(gbx_result_json(result, NULL), "\"value\":\"undefined\""));
    gbx_result_free(result);
    call = call_of("() => fs.readFile('a.txt')");
    call.policy = narrow;
    check_code(engine, &call, GBX_CODE_INVALID_CODE);

    gbx_policy_free(narrow);
}

/* Reads that nobody waits for any more: the call has ended, and then the engine. */
TEST(narrower_policy__does_not_open_the_files_that_the_engines_keeps)
{
    gbx_policy *narrow =
        policy_here("{\"file\": {\"allow\": [\"data\"], \"maxBytes\": 1000}}");
    gbx_call call = call_of(CATCHING("fs.readFile('policy.json')"));
    gbx_result *result;

    call.policy = narrow;
    result = call_run(engine, &call);
    assert_string_equal(gbx_result_value(result, NULL), "\"ERR_FILE_NOT_ALLOWED\"");
    gbx_result_free(result);
    call.code = CATCHING("fs.readFile('a.txt', 'utf8')");
    call.code_len = strlen(call.code);
    result = call_run(engine, &call);
    assert_string_equal(gbx_result_value(result, NULL), "\"alpha \xC3\xA9\"");
    gbx_result_free(result);
    gbx_policy_free(narrow);
}

TEST(reads__outlive_neither_call_nor_engine)
{
    gbx_options options = GBX_OPTIONS_INIT;
    footprint before;
    gbx_engine *own;
    wait_until_full(engine);
    before = footprint_take();
    options.policy = policy_here("{\"file\": {\"allow\": [\"data\"]}}");
    own = engine_start(&options);
    gbx_policy_free(options.policy);

    for (int i = 0; i < 20; i++)
        check_value(
            own,
            "() => { for (let i = 0; i < 200; i++) fs.readFile('a.txt'); return 1 }",
            NULL, "1");
    gbx_engine_free(own);

    footprint_check(&before);
}

TEST_MAIN(start, finish)
