/* SPDX-License-Identifier: MIT */
/* What code mode's script gives to code in the box, and what code can do to it: all that
 * arrives outside is looked at, and the script keeps its built-ins. */
#include "base/json_view.h"
#include "calls.h"
#include "mcp/code/code_mode.h"
#include "script_rows.h"

#include <glovebox/host.h>
#include <glovebox/preload.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gbx_engine *engine;

/* Answers with what it was asked, but for tools of some names. */
static void host(void *user, gbx_engine *from, const gbx_host_call *call)
{
    static const struct {
        const char *tool;
        const char *answer;
    } rows[] = {
        {"\"fail\"", "{\"error\":{\"code\":\"DENIED\",\"message\":\"a rule says no\","
                     "\"retryable\":true}}"},
        {"\"nothing\"", "{}"},
        {"\"junk\"", "5"},
        {"\"null\"", "null"},
    };
    gbx_view args;
    gbx_view name = {NULL, 0};
    gbx_view tool = {NULL, 0};
    size_t cursor = 0;
    char *answer = NULL;

    (void)user;
    assert_true(gbx_view_open(call->args, call->args_len, &args));
    for (int i = 0; i < 3; i++)
        gbx_view_next(args, &cursor, &name, &tool);
    for (size_t i = 0; tool.at != NULL && i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(tool.at, rows[i].tool, strlen(rows[i].tool)) == 0)
            answer = strdup(rows[i].answer);
    if (tool.at != NULL && strncmp(tool.at, "\"boom\"", 6) == 0)
        assert_int_equal(gbx_answer_error(from, call->request, "RangeError", "too many",
                                          NULL, NULL),
                         GBX_OK);
    else if (tool.at == NULL || strncmp(tool.at, "\"never\"", 7) != 0) {
        if (answer == NULL)
            assert_true(asprintf(&answer, "{\"value\":%s}", call->args) > 0);
        assert_int_equal(gbx_answer(from, call->request, answer, strlen(answer), NULL),
                         GBX_OK);
    }
    free(answer);
}

static int start(void **state)
{
    static const char *const names[] = {"files", "my-server", "a.b", "a-b", "tickets"};
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_preload preload = {.name = GBX_CODE_PRELOAD_NAME};
    gbx_buf source;

    (void)state;
    gbx_buf_init(&source, 1 << 20);
    assert_true(gbx_code_preload(&source, names, sizeof names / sizeof names[0], 40));
    preload.source = (const char *)source.data;
    preload.source_len = source.len;
    options.preloads = &preload;
    options.preload_count = 1;
    options.limits.host_calls = 5000;
    engine = engine_start(&options);
    assert_int_equal(gbx_engine_expose(engine, GBX_CODE_HOST_NAME, host, NULL, NULL),
                     GBX_OK);
    gbx_buf_cleanup(&source);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    gbx_engine_free(engine);
    return 0;
}

#define CAUGHT(call) "try { " call " } catch (e) { return "
#define FIELDS       "[e.name, e.code, e.server, e.tool, e.message, e.retryable] }"

static const script_row ordinary[] = {
    {"call goes out with its line",
     "\n\nreturn await servers.files.call('read', {a: 1})",
     "[\"call\",\"files\",\"read\",{\"a\":1},{\"line\":3,\"raw\":false}]"},
    {"a tool is a function, too",
     "return (await servers.files.read({a: 1})).slice(1, 4)",
     "[\"files\",\"read\",{\"a\":1}]"},
    {"and one that is no identifier", "return (await servers.files['x-y']())[2]",
     "\"x-y\""},
    {"no arguments are an empty object", "return (await servers.files.read())[3]",
     "{}"},
    {"raw and timeoutMs go along",
     "return (await servers.files.read({}, {raw: true, timeoutMs: 5}))[4]",
     "{\"line\":1,\"raw\":true,\"timeoutMs\":5}"},
    {"a timeout that is not given is none",
     "return [await servers.files.read({}, {timeoutMs: null}), await "
     "servers.files.read({}, {})].map(a => a[4].timeoutMs === undefined)",
     "[true,true]"},
    {"a timeout is in the range of the host's",
     "return [await servers.files.read({}, {timeoutMs: 1e30}), await "
     "servers.files.read({}, {timeoutMs: 0.1})].map(a => a[4].timeoutMs)",
     "[4294967295,1]"},
    {"the line is the innermost of the code's own",
     "const read = () =>\n  servers.files.read();\nreturn (await read())[4].line", "2"},
    {"servers have their names", "return Object.keys(servers)",
     "[\"files\",\"my-server\",\"a.b\",\"a-b\",\"tickets\"]"},
    {"a name with a dash is found with an underscore",
     "return (await servers.my_server.read())[1]", "\"my-server\""},
    {"but not if two would be", "return servers.a_b",
     "~ToolError: unknown server 'a_b'"},
    {"in asks for a server", "return ['files' in servers, 'x' in servers]",
     "[true,false]"},
    {"a server can be awaited and shown",
     "return [typeof await servers.files, JSON.stringify(servers.files), `${typeof "
     "servers.then}`]",
     "[\"object\",\"\\\"[server files: await servers.files.tools() lists its tools]\\\"\","
     "\"undefined\"]"},
    {"a server that is returned or made a text says how to go on",
     "return [servers['a.b'], String(servers.files), `${servers.files}`, "
     "servers.files + '', String(servers).slice(0, 29)]",
     "[\"[server a.b: await servers[\\\"a.b\\\"].tools() lists its tools]\","
     "\"[server files: await servers.files.tools() lists its tools]\","
     "\"[server files: await servers.files.tools() lists its tools]\","
     "\"[server files: await servers.files.tools() lists its tools]\","
     "\"[servers (there are: files, m\"]"},
    {"an unknown server suggests the nearest", "return servers.file.call('x')",
     "~ToolError: unknown server 'file': did you mean 'files'? (there are: files, "
     "my-server"},
    {"capitals do not hide a server", "return servers.TICKETS",
     "~ToolError: unknown server 'TICKETS': did you mean 'tickets'?"},
    {"who tells more than is heard has calls left",
     "for (let i = 0; i < 100000; i++) progress(i); return (await "
     "servers.files.read())[2]",
     "\"read\""},
    {"and so has who waits meanwhile",
     "for (let i = 0; i < 8000; i++) { progress(i); if (i % 20 === 0) await sleep(0) }"
     "return (await servers.files.read())[2]",
     "\"read\""},
    {"tools asks for a list", "return await servers.files.tools('read')",
     "[\"tools\",\"files\",\"read\",{\"line\":1}]"},
    {"of all tools", "return (await servers.files.tools())[2]", "null"},
    {"discover asks with words", "return await discover('read file')",
     "[\"discover\",\"read file\",{\"line\":1}]"},
    {"and with all that the tool takes",
     "return await discover({query: 'a', server: 'files', detail: 'types'})",
     "[\"discover\",\"a\",{\"line\":1,\"server\":\"files\",\"detail\":\"types\"}]"},
    {"an artifact has a name, a value and a type",
     "return await artifact('a.json', {b: [1]}, 'text/x')",
     "[\"artifact\",\"a.json\",{\"b\":[1]},\"text/x\",{\"line\":1,\"bytes\":false}]"},
    {"bytes are base64",
     "return (await artifact('b', new Uint8Array([1, 2, 255, 254]).subarray(1)))[2]",
     "{\"base64\":\"Av/+\"}"},
    {"progress is a line of text", "return progress(1, 3, 'a')", "undefined"},
    {"a sleep is as long as may be",
     "const at = Date.now(); await sleep(1e9); const ms = Date.now() - at; return ms >= 38 "
     "&& ms < 5000",
     "true"},
    {"a sleep of no time is none", "return [await sleep(), await sleep(-1)].length",
     "2"},
};

static const script_row faults[] = {
    {"a refusal is a ToolError", CAUGHT("await servers.files.fail()") FIELDS,
     "[\"ToolError\",\"DENIED\",\"files\",\"fail\",\"a rule says no\",true]"},
    {"that is an Error and a ToolError",
     CAUGHT(
         "await servers.files.fail()") "[e instanceof Error, e instanceof ToolError] }",
     "[true,true]"},
    {"as JSON it has what it says",
     "return JSON.parse(JSON.stringify(new ToolError('a')))",
     "{\"name\":\"ToolError\",\"message\":\"a\"}"},
    {"as a result its cause, too",
     "return [new ToolError('a', { cause: new Error('b') })]",
     "[{\"name\":\"ToolError\",\"message\":\"a\",\"cause\":{\"name\":\"Error\","
     "\"message\":\"b\"}}]"},
    {"and nothing that JSON would lose",
     "return Object.assign(new ToolError('a'), { m: new Map() })",
     "~result.m is a Map"},
    {"whose stack is where the call is",
     "const f = async () => {\n await servers.files.fail() };\n" CAUGHT(
         "await f()") "e.stack.split('\\n')[0].replace(/:\\d+$/, '') }",
     "\"@code.js:2\""},
    {"uncaught it has the line of the call", "\nawait servers.files.fail()",
     "~ToolError: a rule says no @2"},
    {"no value is undefined", "return [await servers.files.nothing()].length", "1"},
    {"no answer is an error", CAUGHT("await servers.files.junk()") FIELDS,
     "[\"ToolError\",\"UNAVAILABLE\",\"files\",\"junk\",\"the host did not answer\","
     "false]"},
    {"nor is null one", CAUGHT("await servers.files.null()") "e.code }",
     "\"UNAVAILABLE\""},
    {"an error of the host is one of the tool",
     CAUGHT("await servers.files.boom()") FIELDS,
     "[\"ToolError\",\"UNAVAILABLE\",\"files\",\"boom\",\"too many\",false]"},
    {"arguments are an object", CAUGHT("await servers.files.read('x')") FIELDS,
     "[\"ToolError\",\"INVALID_ARGS\",\"files\",\"read\",\"arguments are one object, such "
     "as { name: value }, not a string\",false]"},
    {"and no list", CAUGHT("await servers.files.read([1])") "e.code }",
     "\"INVALID_ARGS\""},
    {"what JSON cannot hold is named",
     CAUGHT(
         "await servers.files.read({a: new Set})") "[e.code, e.message.slice(0, 30)] }",
     "[\"INVALID_ARGS\",\"args.a is a Set, which JSON ca\"]"},
    {"in an artifact, too",
     CAUGHT("await artifact('x', {b: [new Map]})") "[e.code, e.message.slice(0, 21)] }",
     "[\"INVALID_ARGS\",\"value.b[0] is a Map, \"]"},
    {"what JSON knows no word for is no artifact",
     "const all = [];"
     "for (const v of [undefined, () => 1, Symbol()])"
     "  try { all.push(await artifact('x', v)) } catch (e) { all.push(e.code, e.message) }"
     "return all",
     "[\"INVALID_ARGS\",\"the value is missing: artifact(name, value) keeps one\","
     "\"INVALID_ARGS\",\"value is a function, which JSON cannot hold: give what is to be "
     "kept\",\"INVALID_ARGS\",\"value is a symbol, which JSON cannot hold: give what is "
     "to be kept\"]"},
    {"a tool has a name", CAUGHT("await servers.files.call(1)") "e.code }",
     "\"INVALID_ARGS\""},
    {"the fifth thousand is the last",
     "let n = 0;" CAUGHT(
         "for (;;) { await servers.files.nothing(); n++ }") "[n, e.code] }",
     "[5000,\"CALL_LIMIT\"]"},
};

static const script_row hostile[] = {
    {"patched prototypes change nothing of a call",
     "const no = () => { throw new Error('patched') }; const names = "
     "Object.getOwnPropertyNames;"
     "for (const p of [String.prototype, Promise.prototype, Error.prototype, "
     "Function.prototype, Array.prototype, Object.prototype])"
     "  for (const k of names(p))"
     "    if (k !== 'constructor') try { Object.defineProperty(p, k, {value: no}) } catch {}"
     "for (const o of [Reflect, Object, JSON, Math, Number])"
     "  for (const k of names(o)) try { o[k] = no } catch {}"
     "globalThis.Promise = globalThis.Error = globalThis.Proxy = no;"
     "try { await servers.files.fail() } catch (e) { return [e.code, e.tool, e.message] }",
     "[\"DENIED\",\"fail\",\"a rule says no\"]"},
    {"a patched then and a patched constructor are asked nothing",
     "let asked = 0; const { then, constructor } = Promise.prototype;"
     "Promise.prototype.then = () => { asked++ };"
     "Object.defineProperty(Promise.prototype, 'constructor', { get() { asked++; return "
     "constructor } });"
     "const p = servers.files.read({b: 2}); const before = asked;"
     "Object.defineProperty(Promise.prototype, 'constructor', { value: constructor });"
     "Promise.prototype.then = then; return [before <= 1, (await p)[2]]",
     "[true,\"read\"]"},
    {"servers cannot be replaced in place",
     "const tries = [() => { servers.files = 1 }, () => { servers.x = 1 },"
     "() => { servers.files.call = 1 }, () => { delete servers.files },"
     "() => { servers.__proto__ = {} }, () => Object.setPrototypeOf(servers, {}),"
     "() => Object.defineProperty(servers.files, 'read', {value: 1})];"
     "return tries.map(f => { try { f(); return 'done' } catch (e) { return e.name } })",
     "[\"TypeError\",\"TypeError\",\"TypeError\",\"TypeError\",\"TypeError\",\"TypeError\","
     "\"TypeError\"]"},
    {"there is no way up",
     "return [servers.__proto__, servers.constructor, "
     "servers.files.__proto__, Object.getPrototypeOf(servers), "
     "Object.getPrototypeOf(servers.files)].map(String)",
     "[\"undefined\",\"undefined\",\"undefined\",\"null\",\"null\"]"},
    {"a setter on the prototype of objects hears nothing",
     "let heard = 0; try { Object.defineProperty(Object.prototype, 'error', {get() { "
     "heard++; return {code: 'X'} }}) } catch {}"
     "return [(await servers.files.read())[2], heard]",
     "[\"read\",0]"},
    {"a stack that is switched off has no line",
     "Error.stackTraceLimit = 0; return (await servers.files.read())[4].line", "0"},
    {"a name of code that looks like a place is no line",
     "const o = {['@code.js:777:1\\n@code.js:9']() { return servers.files.read() }};"
     "return (await o['@code.js:777:1\\n@code.js:9']())[4].line < 10000000",
     "true"},
    {"a getter that throws is the code's own",
     CAUGHT(
         "await servers.files.read({get a() { throw new RangeError('mine') }})") "[e.name, e.message] }",
     "[\"ToolError\",\"mine\"]"},
    {"a tool's name may be anything that is text",
     "return (await servers.files.call('\\u0000\\ud83d\\ude00'))[2].length", "3"},
    {"one that is hidden in an object is not",
     CAUGHT("await servers.files.call({toString() { return 'read' }})") "e.code }",
     "\"INVALID_ARGS\""},
    {"a thousand at once are a thousand",
     "const all = await Promise.all(Array.from({length: 1000}, (_, i) => "
     "servers.files.read({i})));"
     "return all.every((a, i) => a[3].i === i)",
     "true"},
    {"an unawaited call is no failure", "servers.files.never(); return 1", "1"},
    {"nor is one that fails", "servers.files.read({}); return 2", "2"},
    {"a name of ten thousand letters is cut in what is said",
     "try { servers['x'.repeat(10000)] } catch (e) { return e.message.length < 300 }",
     "true"},
};

static char *outcome(const char *code)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_result *result;
    char *text = NULL;

    call.form = GBX_FORM_SCRIPT;
    call.code = code;
    call.code_len = strlen(code);
    result = call_run(engine, &call);
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        assert_true(asprintf(&text, "%s @%u", gbx_result_error(result),
                             gbx_result_location(result).line) > 0);
    else if (gbx_result_value(result, NULL)[0] == 0)
        text = strdup("undefined");
    else
        text = strdup(gbx_result_value(result, NULL));
    gbx_result_free(result);
    return text;
}

static void test_servers__are_functions(void **state)
{
    (void)state;
    assert_int_equal(script_rows_compare(ordinary, sizeof ordinary / sizeof ordinary[0],
                                         NULL, outcome),
                     0);
}

static void test_faults__are_tool_errors(void **state)
{
    (void)state;
    assert_int_equal(script_rows_compare(faults, sizeof faults / sizeof faults[0], NULL,
                                         outcome),
                     0);
}

static void test_hostile_code__changes_nothing_outside_itself(void **state)
{
    (void)state;
    assert_int_equal(script_rows_compare(hostile, sizeof hostile / sizeof hostile[0],
                                         NULL, outcome),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_servers__are_functions),
        cmocka_unit_test(test_faults__are_tool_errors),
        cmocka_unit_test(test_hostile_code__changes_nothing_outside_itself),
    };

    return cmocka_run_group_tests(tests, start, finish);
}
