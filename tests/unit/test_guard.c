/* SPDX-License-Identifier: MIT */
/*
 * test_guard - which code is refused, where and why; which code is not.
 *
 * What is found in a piece of code is written down as "line:column rule" for each
 * violation, separated by ", "; "" is nothing.
 */
#include "guard/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT 65536
#define F     GBX_FORM_FUNCTION
#define E     GBX_FORM_EXECUTE
#define B     GBX_FORM_BODY
#define S     GBX_FORM_SCRIPT

struct sample {
    gbx_form form;
    const char *code;
    const char *found;
};

struct spanned {
    const char *code;
    const char *span;
    uint32_t line;
    uint32_t column;
};

static void write_down(const gbx_report *report, char *to, size_t size)
{
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; i < gbx_report_count(report); i++) {
        gbx_violation v = gbx_report_get(report, i);
        int n = snprintf(to + at, size - at, "%s%u:%u %s", i > 0 ? ", " : "", v.line,
                         v.column, v.rule);

        assert_true(n > 0 && (size_t)n < size - at);
        at += (size_t)n;
    }
}

static void expect(const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct sample *s = &samples[i];
        gbx_report *report = NULL;
        gbx_guard_span span;
        char found[512];

        assert_int_equal(gbx_guard_check(s->code, strlen(s->code), s->form, LIMIT, NULL,
                                         &span, &report, NULL),
                         GBX_OK);
        write_down(report, found, sizeof found);
        gbx_report_free(report);
        if (strcmp(found, s->found) != 0)
            print_message("in: %s\n", s->code);
        assert_string_equal(found, s->found);
    }
}

#define EXPECT(samples) expect(samples, sizeof(samples) / sizeof((samples)[0]))

/* The one violation of the code; its strings are copied, the report is gone. */
static void first_violation(gbx_form form, const char *code, char *message, char *hint)
{
    gbx_report *report = NULL;
    gbx_guard_span span;

    assert_int_equal(gbx_guard_check(code, strlen(code), form, LIMIT, NULL, &span,
                                     &report, NULL),
                     GBX_OK);
    assert_non_null(report);
    (void)snprintf(message, 200, "%s", gbx_report_get(report, 0).message);
    (void)snprintf(hint, 200, "%s", gbx_report_get(report, 0).hint);
    gbx_report_free(report);
}

static void expect_words(gbx_form form, const char *code, const char *in_message,
                         const char *in_hint)
{
    char message[200];
    char hint[200];

    first_violation(form, code, message, hint);
    if (strstr(message, in_message) == NULL || strstr(hint, in_hint) == NULL)
        print_message("in: %s\ngot: %s | %s\n", code, message, hint);
    assert_non_null(strstr(message, in_message));
    assert_non_null(strstr(hint, in_hint));
}

/* ---- form function -------------------------------------------------------- */

static void test_guard__hands_over_exactly_the_function(void **state)
{
    static const struct spanned samples[] = {
        {"(data) => data.length", "(data) => data.length", 1, 1},
        {"data => { return 1 }", "data => { return 1 }", 1, 1},
        {"async (d) => await d", "async (d) => await d", 1, 1},
        {"function (d) { return d }", "function (d) { return d }", 1, 1},
        {"function f(d) { return d }", "function f(d) { return d }", 1, 1},
        {"async function f(d) { return d }", "async function f(d) { return d }", 1, 1},
        {"  (d) => 1;", "(d) => 1", 1, 3},
        {"(d) => 1;;; // end", "(d) => 1", 1, 1},
        {"(d) => 1 /* end */ ;", "(d) => 1", 1, 1},
        {"// first\n/* second */ (d) => 1", "(d) => 1", 2, 14},
        {"((d) => 1)", "(d) => 1", 1, 2},
        {"(/* why */ function () {});", "function () {}", 1, 12},
        {"\xEF\xBB\xBF(d) => 1", "(d) => 1", 1, 2},
        {"/* \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 */ (d) => 1", "(d) => 1", 1, 11},
        {"// a\r\n(d) => 1\r\n", "(d) => 1", 2, 1},
    };
    (void)state;

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const struct spanned *s = &samples[i];
        gbx_guard_span span;
        gbx_report *report;

        assert_int_equal(gbx_guard_check(s->code, strlen(s->code), F, LIMIT, NULL,
                                         &span, &report, NULL),
                         GBX_OK);
        assert_null(report);
        assert_int_equal(span.len, strlen(s->span));
        assert_memory_equal(s->code + span.start, s->span, span.len);
        assert_int_equal(span.line, s->line);
        assert_int_equal(span.column, s->column);
    }
}

static void test_guard__leaves_one_markdown_fence_out(void **state)
{
    static const struct spanned samples[] = {
        {"```js\n(d) => 1\n```", "(d) => 1", 2, 1},
        {"\n```javascript\n  (d) => 1;\n```\n\n", "(d) => 1", 3, 3},
        {"```\n(d) => 1\n```", "(d) => 1", 2, 1},
        {"```ts\n// c\n(d) => 1\n```", "(d) => 1", 3, 1},
        {"~~~js\n(d) => 1\n~~~", "(d) => 1", 2, 1},
        {"````js\n(d) => 1\n````", "(d) => 1", 2, 1},
        {"```js\r\n(d) => 1\r\n```\r\n", "(d) => 1", 2, 1},
        {"```js\n(d) => `a\n\\`\\`\\`\n`\n```", "(d) => `a\n\\`\\`\\`\n`", 2, 1},
    };
    (void)state;

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const struct spanned *s = &samples[i];
        gbx_guard_span span;
        gbx_report *report;

        assert_int_equal(gbx_guard_check(s->code, strlen(s->code), F, LIMIT, NULL,
                                         &span, &report, NULL),
                         GBX_OK);
        assert_null(report);
        assert_int_equal(span.len, strlen(s->span));
        assert_memory_equal(s->code + span.start, s->span, span.len);
        assert_int_equal(span.line, s->line);
        assert_int_equal(span.column, s->column);
    }
}

static void test_guard__refuses_what_is_not_one_function(void **state)
{
    static const struct sample samples[] = {
        {F, "", "1:1 form"},
        {F, " \n\t ", "1:1 form"},
        {F, "// only", "1:1 form"},
        {F, "```js\n```", "1:1 form"},
        {F, ";;", "1:1 form"},
        {F, "const f = (d) => 1", "1:1 form"},
        {F, "\n  return 1", "2:3 form"},
        {F, "({a: 1})", "1:2 form"},
        {F, "a => 1, b => 2", "1:1 form"},
        {F, "function a() {} function b() {}", "1:1 form"},
        {F, "function* g() { yield 1 }", "1:1 form"},
        {F, "async function* g() { yield 1 }", "1:1 form"},
        {F, "(() => 1)()", "1:1 form"},
        {F, "class A {}", "1:1 form"},
        {F, "if (1) { 2 }", "1:1 form"},
        {F, "'(d) => 1'", "1:1 form"},
        {F, "here:\n```js\n(d) => 1\n```", "2:1 form"},
        {F, "```js\n(d) => 1\n```\n```js\n(d) => 2\n```", "3:1 form"},
    };
    (void)state;

    EXPECT(samples);
}

static void test_guard__says_what_stands_where_a_function_is_needed(void **state)
{
    (void)state;

    expect_words(F, "", "empty", "(data) =>");
    expect_words(F, "/* a */ // b", "only comments", "(data) =>");
    expect_words(F, "const f = (d) => 1", "a declaration", "give only the function");
    expect_words(F, "f = (d) => 1", "an assignment", "give only the function");
    expect_words(F, "return 1", "a 'return' statement", "use the form 'body'");
    expect_words(F, "({a: 1})", "an object", "(data) =>");
    expect_words(F, "[1, 2]", "an array", "(data) =>");
    expect_words(F, "data.filter(x => x)", "a call", "(data) => data.filter");
    expect_words(F, "(d => 1)(2)", "a call", "leave the call at its end away");
    expect_words(F, "a => 1, b => 2", "two expressions", "one function");
    expect_words(F, "if (1) {}", "a statement", "one function");
    expect_words(F, "a(); b()", "2 statements", "(data) => { ... }");
    expect_words(F, "function a() {} function b() {}", "2 functions", "'execute'");
    expect_words(F, "function* g() {}", "a generator", "return an array");
    expect_words(F, "await x", "an 'await' expression", "async (data)");
    expect_words(F, "x:\n```js\n(d) => 1\n```", "Markdown", "the code alone");
}

static void test_guard__leaves_syntax_to_the_engine(void **state)
{
    static const struct sample samples[] = {
        {F, "(d) => {", ""},
        {F, "(d: string) => 1", ""},
        {F, "const f = ; (d) =>", ""},
        {E, "function execute( {", ""},
        {B, "return {", ""},
        {S, "))) what", ""},
        {F, "(d) => { with (d) { 010 } }", ""},
    };
    (void)state;

    EXPECT(samples);
}

/* ---- the other forms ------------------------------------------------------- */

static void test_guard__finds_the_definition_of_execute(void **state)
{
    static const struct sample samples[] = {
        {E, "function execute(i) { return i }", ""},
        {E, "async function run(i) { return i }", ""},
        {E, "const a = 1; const execute = (i) => a", ""},
        {E, "let run = async function () {}", ""},
        {E, "var a = 1, execute = (x) => x", ""},
        {E, "let execute; execute = (x) => x", ""},
        {E, "const { execute } = make()", ""},
        {E, "const execute = once((x) => x)", ""},
        {E, "```js\nfunction execute() {}\n```", ""},
        {E, "function main() {}", "1:1 form"},
        {E, "{ function execute() {} }", "1:1 form"},
        {E, "const execute = 5", "1:1 form"},
        {E, "(input) => input", "1:1 form"},
        {E, "// execute", "1:1 form"},
        {E, "a();\nfunction* execute() {}", "2:1 form"},
        {E, "const x = { execute() {} }", "1:1 form"},
    };
    (void)state;

    EXPECT(samples);
    expect_words(E, "function main() {}", "'execute' or 'run'", "name the function");
    expect_words(E, "(i) => i", "'execute' or 'run'", "the form 'function'");
    expect_words(E, "function* run() {}", "'run' is a generator", "return an array");
    expect_words(E, "const execute = function* () {}", "'execute' is a generator",
                 "return an array");
}

static void test_guard__takes_any_statements_in_body_and_script(void **state)
{
    static const struct sample samples[] = {
        {B, "return params.x + 1", ""},
        {B, "const a = await f(); if (a) return a", ""},
        {S, "await 1; 2", ""},
        {S, "for await (const x of y) {}; return 1", ""},
        {S, "(data) => 1", ""},
        {B, "", "1:1 form"},
        {S, " // nothing", "1:1 form"},
    };
    (void)state;

    EXPECT(samples);
}

/* ---- uses -------------------------------------------------------------------- */

static void test_guard__objects_to_each_use_of_what_is_off(void **state)
{
    static const struct sample samples[] = {
        {F, "(d) => require('fs')", "1:8 require"},
        {F, "(d) => d.map(require)", "1:14 require"},
        {F, "(d) => (require)('x')", "1:9 require"},
        {E, "import a from 'b'\nfunction run() {}", "1:1 import"},
        {F, "(d) => import('a')", "1:8 import"},
        {F, "(d) => import.meta.url", "1:8 import"},
        {E, "export function execute() {}", "1:1 export"},
        {E, "function run() {}\nmodule.exports = run; exports.a = 1",
         "2:1 export, 2:23 export"},
        {F, "(d) => process.env.A + process.argv", "1:8 process, 1:24 process"},
        {F, "(d) => global.x", "1:8 global"},
        {F, "(d) => Buffer.from('a')", "1:8 buffer"},
        {F, "(d) => __dirname + __filename", "1:8 path, 1:20 path"},
        {F, "(d) => eval('1')", "1:8 eval"},
        {F, "(d) => (0, eval)('1')", "1:12 eval"},
        {F, "(d) => new Function('a')", "1:12 function"},
        {F, "(d) => Function('a')()", "1:8 function"},
        {F, "(d) => new (Function)('a')", "1:13 function"},
        {F, "(d) => Function`a`", "1:8 function"},
        {F, "(d) => child_process.exec(d)", "1:8 shell"},
        {F, "(d) => execSync('ls')", "1:8 shell"},
        {F, "(d) => fs.readFileSync('a')", "1:8 file"},
        {F, "(d) => readFileSync('a')", "1:8 file"},
        {F, "async (d) => await fetch('a')", "1:20 network"},
        {F, "(d) => new XMLHttpRequest", "1:12 network"},
        {F, "(d) => new WebSocket('a')", "1:12 network"},
        {F, "(d) => https.get('a') + net.connect(1)", "1:8 network, 1:25 network"},
        {F, "(d) => Deno.readFile('a') + Bun.x", "1:8 runtime, 1:29 runtime"},
        {F, "(d) => WebAssembly.compile(d)", "1:8 wasm"},
        {F, "(d) => new SharedArrayBuffer(1)", "1:12 shared-memory"},
        {F, "(d) => ({process})", "1:10 process"},
        {F, "(d) => ({...process.env})", "1:13 process"},
        {F, "(d) => `a${process}b`", "1:12 process"},
        {F, "(d) => { process = 1 }", "1:10 process"},
        {F, "(d) => { [eval] = d; ({process} = d) }", "1:11 eval, 1:24 process"},
        {S, "\\u0065val('1'); pr\\u{6f}cess.x", "1:1 eval, 1:17 process"},
    };
    (void)state;

    EXPECT(samples);
}

static void test_guard__passes_over_words_that_are_no_uses(void **state)
{
    static const struct sample samples[] = {
        {F, "(d) => 'require(\"fs\")' + \"process\"", ""},
        {F, "(d) => 1 // require('fs')\n", ""},
        {F, "/* eval(process) */ (d) => 1", ""},
        {F, "(d) => `require ${d} process eval(1)`", ""},
        {F, "(d) => /process|eval/.test(d)", ""},
        {F, "(d) => d.process.require.eval()", ""},
        {F, "(d) => d?.process + d['eval']", ""},
        {F, "(d) => ({process: 1, require: d, eval() {}, get fs() { return 1 }})", ""},
        {F, "(d) => class { process = 1; static eval() {} #fs = 2 }", ""},
        {F, "(d) => { process: for (;;) { break process } }", ""},
        {F, "(d) => typeof process", ""},
        {F, "(d) => typeof (require) === 'function'", ""},
        {F, "(d) => d instanceof Function && Function.prototype", ""},
        {F, "(d) => Function.prototype.call === d", ""},
        {F, "(d) => { const {process: p, eval: {x}} = d; return p + x }", ""},
        {F, "(d) => setTimeout(() => console.log(d), 1)", ""},
        {F, "(d) => processor + required + evaluate", ""},
        {F, "(d) => globalThis.process", ""},
        {S, "net = 5 - 3; http; dns", ""},
        {F, "// ```js\n(d) => '\\\n```'", ""},
    };
    (void)state;

    EXPECT(samples);
}

static void test_guard__knows_what_shadows_a_name(void **state)
{
    static const struct sample samples[] = {
        {F, "(process) => process.x", ""},
        {F, "process => process.x", ""},
        {F, "async process => process.x", ""},
        {F,
         "({process, a: {require: fs}}, [http], ...global) => process + fs.x + http.y + "
         "global",
         ""},
        {F, "(process = 1) => process", ""},
        {F, "(d) => { process; var process }", ""},
        {F, "(d) => { if (d) { for (;;) { var process = 1 } } return process }", ""},
        {F, "(d) => { const f = () => process; let process = 1; return f }", ""},
        {F, "(d) => { return fs.x; function fs() {} }", ""},
        {F, "(d) => { class process {} return new process }", ""},
        {F, "(d) => (function process() { return process })", ""},
        {F, "(d) => (class process { a = process })", ""},
        {F, "(d) => { try { d() } catch (process) { return process } }", ""},
        {F, "(d) => { try { d() } catch ({fs}) { return fs.x } }", ""},
        {F, "(d) => { for (let process = 0; process < 1; process++) { process } }", ""},
        {F, "(d) => { for (const fs of d) fs.x; for (const net in d) net.x }", ""},
        {F, "(d) => { switch (d) { case 1: let process; default: process } }", ""},
        {F, "(d) => { let {a = 1, ...process} = d; return process }", ""},
        {E, "const fs = 1; function execute() { return fs.x }", ""},
        {S, "{ { } } let process; { process }", ""},
    };
    (void)state;

    EXPECT(samples);
}

static void test_guard__knows_where_a_shadow_ends(void **state)
{
    static const struct sample samples[] = {
        {F, "(d) => { { let process = 1 } process }", "1:30 process"},
        {F, "(d) => { { function process() {} } process }", "1:36 process"},
        {F, "(d) => { d((process) => process); process }", "1:35 process"},
        {F, "(d) => { for (let process of d) process; process }", "1:42 process"},
        {F, "(d) => { for (var process of d) process; process }", ""},
        {F, "(d) => { try {} catch (process) {} process }", "1:36 process"},
        {F, "(d) => (function process() {}) + process", "1:34 process"},
        {F, "(d) => (class process {}) + process", "1:29 process"},
        {F, "(d, e = process) => { var process }", "1:9 process"},
        {F, "(d, process, e = process) => 1", ""},
        {F, "(d) => { const {[process]: a = process} = d }",
         "1:18 process, 1:32 process"},
        {F, "(d) => ({ [process](process) { return process } })", "1:12 process"},
        {F, "(d) => class { static { var process; process } a = process }",
         "1:52 process"},
        {F, "(d) => { switch (d) { case 1: let process } process }", "1:45 process"},
        {F, "(d) => { var f = function () { var process }; process }", "1:47 process"},
        {F, "(d) => typeof process && process.env", "1:26 process"},
        {F, "(d) => { for (process of d) ; }", "1:15 process"},
    };
    (void)state;

    EXPECT(samples);
}

static void test_guard__lets_a_caller_bind_names_in_form_body(void **state)
{
    static const struct sample samples[] = {
        {B, "return env.A + params.env", ""},
        {B, "return net.x + module.y", "1:8 network, 1:16 export"},
        {S, "return fs.x", "1:8 file"},
        {B, "return process.env + require('a')", "1:8 process, 1:22 require"},
    };
    (void)state;

    EXPECT(samples);
}

static void test_guard__reports_certain_uses_in_code_that_does_not_parse(void **state)
{
    static const struct sample samples[] = {
        {F, "(d: string) => process.env", "1:16 process"},
        {F, "(d) => { const fs = { ; fs.x(1) }", ""},
        {F, "(d) => { let process = ; process.x }", ""},
        {S, "x y z; require('fs')", "1:8 require"},
    };
    (void)state;

    EXPECT(samples);
}

static void test_guard__counts_columns_in_characters(void **state)
{
    static const struct sample samples[] = {
        {F, "(d) => '\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80' + eval(d)", "1:16 eval"},
        {F, "(d) =>\r\n  eval(d)", "2:3 eval"},
        {F, "```js\n(d) => eval(d)\n```", "2:8 eval"},
        {F, "\t(d) => eval(d)", "1:9 eval"},
    };
    (void)state;

    EXPECT(samples);
}

static void test_guard__advises_by_the_module_that_is_wanted(void **state)
{
    (void)state;

    expect_words(F, "(d) => require('fs')", "'require'", "--allow file=DIRECTORY");
    expect_words(F, "(d) => require(\"node:child_process\")", "'require'",
                 "no program");
    expect_words(F, "(d) => import('lodash')", "'import()'", "lodash");
    expect_words(S, "import axios from 'axios'", "'import'",
                 "make the request outside");
    expect_words(F, "(d) => require(d)", "'require'", "JavaScript itself");
    expect_words(F, "(d) => process.env", "'process' is not available", "input");
    expect_words(F, "(d) => new Function(d)", "'Function'", "write the code out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guard__hands_over_exactly_the_function),
        cmocka_unit_test(test_guard__leaves_one_markdown_fence_out),
        cmocka_unit_test(test_guard__refuses_what_is_not_one_function),
        cmocka_unit_test(test_guard__says_what_stands_where_a_function_is_needed),
        cmocka_unit_test(test_guard__leaves_syntax_to_the_engine),
        cmocka_unit_test(test_guard__finds_the_definition_of_execute),
        cmocka_unit_test(test_guard__takes_any_statements_in_body_and_script),
        cmocka_unit_test(test_guard__objects_to_each_use_of_what_is_off),
        cmocka_unit_test(test_guard__passes_over_words_that_are_no_uses),
        cmocka_unit_test(test_guard__knows_what_shadows_a_name),
        cmocka_unit_test(test_guard__knows_where_a_shadow_ends),
        cmocka_unit_test(test_guard__lets_a_caller_bind_names_in_form_body),
        cmocka_unit_test(test_guard__reports_certain_uses_in_code_that_does_not_parse),
        cmocka_unit_test(test_guard__counts_columns_in_characters),
        cmocka_unit_test(test_guard__advises_by_the_module_that_is_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
