/* SPDX-License-Identifier: MIT */
/* Functions of the host: their names, and which calls have them. */
#include "calls.h"
#include "core_file.h"
#include "host_functions.h"
#include "proc.h"
#include "table.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gbx_engine *engine;
static host_functions host;

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    *state = engine = engine_start(&options);
    host_functions_expose(&host, engine);
    return 0;
}

static void nothing(void *user, gbx_engine *of, const gbx_host_call *call)
{
    (void)!gbx_answer(of, call->request, NULL, 0, NULL);
}

TEST(names__that_are_none_or_taken_are_refused)
{
    const table_line *rows;
    size_t count =
        table_lines("integration/scripts/host_names.txt", "refused", true, &rows);
    char longest[140];

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        gbx_error error = {0};

        if (gbx_engine_expose(engine, cell[0], nothing, NULL, &error) != GBX_E_USAGE ||
            strstr(error.message, cell[1]) == NULL)
            fail_msg("'%s': %s", cell[0], error.message);
    }
    memset(longest, 'n', sizeof longest);
    longest[129] = 0;
    assert_int_equal(gbx_engine_expose(engine, longest, nothing, NULL, NULL),
                     GBX_E_USAGE);
    longest[128] = 0;
    assert_int_equal(gbx_engine_expose(engine, longest, nothing, NULL, NULL), GBX_OK);
}

TEST(exposed__later_is_there_in_later_calls)
{
    check_value(engine, "() => typeof added", "null", "\"undefined\"");
    assert_int_equal(gbx_engine_expose(engine, "added", nothing, NULL, NULL), GBX_OK);
    check_value(engine, "async () => String(await added())", "null", "\"undefined\"");
}

TEST(exposed__is_there_after_the_template_was_replaced)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *other;
    host_functions own;

    options.recycle_calls = 3;
    other = engine_start(&options);
    host_functions_expose(&own, other);
    for (int i = 0; i < 20; i++)
        check_value(other, "async () => (await echo(1))[0]", "null", "1");
    gbx_engine_free(other);
}

TEST(engines__do_not_share_functions_or_requests)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *other = engine_start(&options);

    check_value(other, "() => typeof echo + typeof db", "null",
                "\"undefinedundefined\"");
    gbx_engine_free(other);
}

TEST(policy__leaves_out_what_it_does_not_list)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *other;
    host_functions own;

    options.policy = policy_of("{\"functions\": [\"echo\", \"db.late\"]}");
    other = engine_start(&options);
    gbx_policy_free(options.policy);
    host_functions_expose(&own, other);
    check_value(other, "async () => [(await echo(1))[0], Object.keys(db), typeof fail]",
                "null", "[1,[\"late\"],\"undefined\"]");
    gbx_engine_free(other);
}

TEST(policy__of_a_call_narrows_the_engines)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of("() => typeof db + typeof echo + typeof console");
    gbx_engine *other;
    host_functions own;
    gbx_result *result;
    gbx_error error;

    options.policy = policy_of("{\"console\": true, \"functions\": [\"*\"]}");
    other = engine_start(&options);
    gbx_policy_free(options.policy);
    host_functions_expose(&own, other);
    call.policy =
        policy_of("{\"functions\": [\"echo\"], \"limits\": {\"timeoutMs\": 900}}");
    result = call_run(other, &call);
    assert_string_equal(gbx_result_value(result, NULL),
                        "\"undefinedfunctionundefined\"");
    gbx_result_free(result);
    gbx_policy_free(call.policy);
    check_value(other, "() => typeof db + typeof echo + typeof console", "null",
                "\"objectfunctionobject\"");
    call.policy = policy_of("{\"crypto\": true}");
    assert_int_equal(gbx_execute(other, &call, &result, &error), GBX_E_POLICY);
    gbx_policy_free(call.policy);
    gbx_engine_free(other);
}

/* A worker's script leaves out what the policy does not list. One that has been taken
 * over asks for it all the same: "echo" with []. */
TEST(policy__holds_for_a_worker_that_asks_for_everything)
{
    static const char *const policies[] = {"{\"functions\": [\"echo\"]}",
                                           "{\"functions\": [\"fail\"]}"};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        gbx_options options = hostile_options("");
        gbx_call call =
            script_of("frame 7 01000000040000006563686f020000005b5d00000000\n"
                      "wait 1000\nawait\nresult 7");
        gbx_engine *other;
        host_functions own;

        options.policy = policy_of(policies[i]);
        other = engine_start(&options);
        gbx_policy_free(options.policy);
        host_functions_expose(&own, other);
        check_code(other, &call, GBX_CODE_VALUE);
        assert_int_equal(own.called, i == 0); /* by the first alone */
        gbx_engine_free(other);
    }
}

TEST(warming__of_capabilities_takes_no_calls_from_the_code)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *other;
    host_functions own;

    options.limits.host_calls = 3;
    options.policy =
        policy_of("{\"fetch\": {\"allow\": [\"a.example\"]}, \"crypto\": true,"
                  " \"file\": {\"allow\": [\".\"]}, \"functions\": [\"*\"]}");
    other = engine_start(&options);
    gbx_policy_free(options.policy);
    host_functions_expose(&own, other);
    check_value(other,
                "async () => { let n = 0; try { for (;;) { await echo(n); n++ } }"
                " catch (e) { return [n, e.code] } }",
                "null", "[3,\"ERR_HOST_CALLS\"]");
    gbx_engine_free(other);
}

/* What the function got, and what comes back when it says it aloud. */
static char seen[256];

static void repeat(void *user, gbx_engine *of, const gbx_host_call *call)
{
    (void)snprintf(seen, sizeof seen, "%s", call->args);
    (void)!gbx_answer(of, call->request, call->args, call->args_len, NULL);
}

static void complain(void *user, gbx_engine *of, const gbx_host_call *call)
{
    (void)!gbx_answer_error(of, call->request, "a\"very\\secret",
                            "bad key a\"very\\secret", "E a\"very\\secret", NULL);
}

TEST(secret__reaches_the_function_and_never_the_code)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *other;
    gbx_error error = {0};

    options.policy = policy_of("{\"functions\": [\"*\"]}");
    assert_int_equal(gbx_policy_secret(options.policy, "KEY", "a\"very\\secret", NULL,
                                       "api.*", &error),
                     GBX_OK);
    other = engine_start(&options);
    gbx_policy_free(options.policy);
    assert_int_equal(gbx_engine_expose(other, "api.get", repeat, NULL, NULL), GBX_OK);
    assert_int_equal(gbx_engine_expose(other, "api.fail", complain, NULL, NULL),
                     GBX_OK);
    assert_int_equal(gbx_engine_expose(other, "other", repeat, NULL, NULL), GBX_OK);
    check_value(other, "async () => await api.get({ key: 'Bearer {{secret:KEY}}' }, 1)",
                "null", "[{\"key\":\"Bearer {{secret:KEY}}\"},1]");
    assert_string_equal(seen, "[{\"key\":\"Bearer a\\\"very\\\\secret\"},1]");
    check_value(other,
                "async () => { try { await api.fail() } catch (e) {"
                " return [e.name, e.message, e.code] } }",
                "null",
                "[\"{{secret:KEY}}\",\"bad key {{secret:KEY}}\",\"E {{secret:KEY}}\"]");
    seen[0] = 0;
    check_value(other,
                "async () => { try { await other('{{secret:KEY}}') } catch (e) {"
                " return [e.code, /KEY/.test(e.message), /very/.test(e.message)] } }",
                "null", "[\"ERR_SECRET\",true,false]");
    check_value(other,
                "async () => { try { await api.get('{{secret:NONE}}') } catch (e) {"
                " return e.code } }",
                "null", "\"ERR_SECRET\"");
    assert_string_equal(seen, ""); /* nothing was sent */
    check_value(other, "async () => (await other('a very secret'))[0]", "null",
                "\"a very secret\"");
    gbx_engine_free(other);
}

static void repeat_alone(void *user, gbx_engine *of, const gbx_host_call *call)
{
    (void)!gbx_answer(of, call->request, call->args, call->args_len, NULL);
}

/* The allocator writes over the begin of what is freed. */
#define PADDING "and here, after some other words, is the value: "

/* In two pieces: the test must not have it in memory itself. */
static void write_secret(const char *path, const char *before, const char *head,
                         const char *tail)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fchmod(fileno(file), 0600), 0); /* else it is refused */
    (void)setvbuf(file, NULL, _IONBF, 0);
    (void)fputs(before, file);
    (void)fputs(head, file);
    (void)fputs(tail, file);
    (void)fclose(file);
}

/* An engine with a secret, and files that hold it, below a directory that is gone then. */
static gbx_engine *engine_with_secret(const char *head, const char *tail)
{
    char directory[] = "/tmp/gbx-secret-XXXXXX";
    char source[64], copy[64], json[128];
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *with;

    assert_non_null(mkdtemp(directory));
    (void)snprintf(source, sizeof source, "%s/source", directory);
    (void)snprintf(copy, sizeof copy, "%s/copy", directory);
    write_secret(source, "", head, tail);
    write_secret(copy, PADDING, head, tail);
    (void)snprintf(json, sizeof json,
                   "{\"functions\": [\"*\"], \"file\": {\"allow\": [\"%s\"]}}",
                   directory);
    options.policy = policy_of(json);
    assert_int_equal(gbx_policy_secret_from(options.policy, "KEY", source, NULL, "api",
                                            NULL),
                     GBX_OK);
    with = engine_start(&options);
    gbx_policy_free(options.policy);
    assert_int_equal(gbx_engine_expose(with, "api", repeat_alone, NULL, NULL), GBX_OK);
    check_value(with, "() => fs.promises.readFile('copy', 'utf8')", "null",
                "\"" PADDING "{{secret:KEY}}\"");
    (void)unlink(source);
    (void)unlink(copy);
    (void)rmdir(directory);
    return with;
}

TEST(secret__is_in_no_core_of_the_host)
{
    static char control[64]; /* that a core is looked through well */
    gbx_engine *other = engine_with_secret("c0re-\"secret", "-of the test");
    core_file core;
    const char *why;

    check_value(other,
                "async () => { const got = [];"
                " for (const n of [0, 100, 5000, 100000])"
                "  got.push((await api('x'.repeat(n) + '{{secret:KEY}}'))[0].slice(n));"
                " return got }",
                "null",
                "[\"{{secret:KEY}}\",\"{{secret:KEY}}\",\"{{secret:KEY}}\","
                "\"{{secret:KEY}}\"]");
    (void)snprintf(control, sizeof control, "%s%s", "control-", "of-the-search");
    if (!core_file_take(&core, &why)) {
        gbx_engine_free(other);
        print_message("skipped: %s\n", why);
        skip();
    }
    gbx_engine_free(other);
    assert_true(core_file_has(&core, "control-", "of-the-search"));
    assert_false(core_file_has(&core, "c0re-\"secret", "-of the test"));
    assert_false(core_file_has(&core, "c0re-\\\"secret", "-of the test"));
    core_file_drop(&core);
}

static void answer_one(void *user, gbx_engine *of, const gbx_host_call *call)
{
    assert_int_equal(gbx_answer(of, call->request, "1", 1, NULL), GBX_OK);
}

static void check_body(gbx_engine *of, const char *code, const char *bindings,
                       const char *value)
{
    gbx_call call = call_of(code);
    gbx_result *result;

    call.form = GBX_FORM_BODY;
    call.bindings = bindings;
    call.bindings_len = strlen(bindings);
    if (value == NULL) {
        check_code(of, &call, GBX_CODE_INVALID_CODE);
        return;
    }
    result = call_run(of, &call);
    assert_string_equal(gbx_result_value(result, NULL), value);
    gbx_result_free(result);
}

/* Names that are off are refused before anything runs, unless somebody gives them. */
TEST(guard__knows_what_a_call_will_find)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *other = engine_start(&options);
    gbx_call call = call_of("() => fs.list() + crypto.sign()");

    check_code(other, &call, GBX_CODE_INVALID_CODE);
    assert_int_equal(gbx_engine_expose(other, "fs.list", answer_one, NULL, NULL),
                     GBX_OK);
    check_code(other, &call, GBX_CODE_INVALID_CODE);
    assert_int_equal(gbx_engine_expose(other, "crypto.sign", answer_one, NULL, NULL),
                     GBX_OK);
    check_value(other, "async () => await fs.list() + await crypto.sign()", "null",
                "2");
    check_body(other, "return net.income", "{\"net\": {\"income\": 3}}", "3");
    check_body(other, "return net.income", "{\"gross\": {\"income\": 3}}", NULL);
    check_body(other, "return fetch(1)", "{\"net\": 1}", NULL);
    gbx_engine_free(other);
}

/* Code that is only compiled may name a function that is listed and not yet exposed. */
TEST(guard__takes_no_verdict_of_code_that_was_only_compiled)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_policy *policy = policy_of("{\"functions\":[\"fs.list\"]}");
    gbx_call call = call_of("() => fs.list()");
    gbx_engine *other;

    options.policy = policy;
    other = engine_start(&options);
    call.flags = GBX_CALL_COMPILE;
    check_code(other, &call, GBX_CODE_VALUE);
    call.flags = 0;
    check_code(other, &call, GBX_CODE_INVALID_CODE);
    gbx_engine_free(other);
    gbx_policy_free(policy);
}

TEST_MAIN(start, engine_after_test)
