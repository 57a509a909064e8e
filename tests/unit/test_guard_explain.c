/* SPDX-License-Identifier: MIT */
/*
 * test_guard_explain - where an error really is, and how to repair it.
 *
 * The messages are the engine's own, with the positions that it gave.
 */
#include "guard/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct sample {
    const char *code;
    uint32_t line; /* as the engine said */
    uint32_t column;
    const char *message;
    uint32_t at_line; /* as it is explained */
    uint32_t at_column;
    const char *in_hint; /* "" expects no hint */
};

static void expect(const struct sample *samples, size_t count, gbx_form form,
                   gbx_code failed_as)
{
    for (size_t i = 0; i < count; i++) {
        const struct sample *s = &samples[i];
        gbx_guard_advice a = {.line = s->line, .column = s->column};
        bool is_right;

        gbx_guard_explain(s->code, strlen(s->code), form, failed_as, s->message, &a);
        is_right = a.line == s->at_line && a.column == s->at_column &&
                   (*s->in_hint == '\0' ? *a.hint == '\0'
                                        : strstr(a.hint, s->in_hint) != NULL);
        if (!is_right)
            print_message("in: %s\n%s\ngot %u:%u %s\n", s->code, s->message, a.line,
                          a.column, a.hint);
        assert_true(is_right);
    }
}

#define EXPECT(samples, form, code) \
    expect(samples, sizeof(samples) / sizeof((samples)[0]), form, code)

#define F       GBX_FORM_FUNCTION
#define S       GBX_FORM_SCRIPT
#define SYNTAX  GBX_CODE_SYNTAX
#define RUNTIME GBX_CODE_RUNTIME

#define AFTER_ALL ". Expected ')' to end a compound expression."

static void test_guard_explain__knows_typescript(void **state)
{
    static const struct sample samples[] = {
        {"(data: Item[]) => 1", 1, 0, "Unexpected token ':'" AFTER_ALL, 1, 6, "types"},
        {"(data): number => 1", 1, 0, "Unexpected token ':'" AFTER_ALL, 1, 7, "types"},
        {"(d) => {\n  const x: number = 1; }", 2, 0,
         "Unexpected token ':'. const declared variable 'x' must have an initializer.",
         2, 10, "types"},
        {"(d) => { let x: string; }", 1, 0,
         "Unexpected token ':'. Expected ';' after variable declaration.", 1, 15,
         "types"},
        {"(d?) => 1", 1, 0,
         "Unexpected token '('. Expected a parameter pattern or a ')' in parameter list.",
         1, 3, "types"},
        {"(d) => d as any", 1, 0, "Unexpected identifier 'as'" AFTER_ALL, 1, 10, "'as"},
        {"(d) => d satisfies A", 1, 0, "Unexpected identifier 'satisfies'" AFTER_ALL, 1,
         10, "satisfies"},
        {"(d) => d!.length", 1, 0, "Unexpected token '!'" AFTER_ALL, 1, 9, "'!'"},
        {"<T>(d) => d", 1, 0, "Unexpected token '<'", 1, 1, "TypeScript"},
        {"(d) => { class A<T> {} }", 1, 0,
         "Unexpected token '<'. Expected opening '{' at the start of a class body.", 1,
         17, "TypeScript"},
        {"(d) => { const m = new Map<string, number>() }", 1, 0,
         "Unexpected token '>'. const declared variable 'number' must have an initializer.",
         1, 27, "TypeScript"},
        {"(d) => { interface A { a: string } }", 1, 0,
         "Unexpected use of reserved word 'interface' in strict mode", 1, 10,
         "interfaces"},
        {"(d) => { type A = string }", 1, 0, "Unexpected identifier 'A'", 1, 15,
         "aliases"},
        {"(d) => { enum A { B } }", 1, 0, "Unexpected use of reserved word 'enum'", 1,
         10, "enums"},
        {"(d) => { class A { private x = 1 } }", 1, 0,
         "Unexpected identifier 'x'. Expected a ';' following a class field.", 1, 28,
         "#name"},
    };
    (void)state;

    EXPECT(samples, F, SYNTAX);
}

static void test_guard_explain__knows_an_await_that_cannot_be(void **state)
{
    static const struct sample samples[] = {
        {"(d) => { await f(); }", 1, 0, "Unexpected identifier 'f'", 1, 10, "'async'"},
        {"(d) => d.map(x => await f(x))", 1, 0,
         "Unexpected identifier 'f'. Expected ')' to end an argument list.", 1, 19,
         "Promise.all"},
        {"(d) => { d.forEach(function (x) { await x }) }", 1, 0,
         "Unexpected identifier 'x'", 1, 35, "for (const x of list)"},
        {"(d) => { for await (const x of d) {} }", 1, 0,
         "for-await-of can only be used in an async function or async generator.", 1,
         14, "'async'"},
    };
    (void)state;

    EXPECT(samples, F, SYNTAX);
}

static void test_guard_explain__finds_the_bracket_at_fault(void **state)
{
    static const struct sample samples[] = {
        {"(d) => {\n  if (d) {\n  return 1\n}", 5, 0, "Unexpected token ')'", 1, 8,
         "nothing closes"},
        {"(d) => { return d.map(x => x)", 2, 0, "Unexpected token ')'", 1, 8,
         "nothing closes"},
        {"(d) => {\n  return d.map(x => x))\n}", 2, 0,
         "Unexpected token ')'. Expected a ';' following a return statement.", 2, 23,
         "closes nothing"},
        {"(d) => d }", 1, 0, "Unexpected token '}'" AFTER_ALL, 1, 10, "closes nothing"},
        {"(d) => {\n  if (d) {\n  }}\n}\nd();\nreturn d", 5, 0,
         "Unexpected identifier 'd'" AFTER_ALL, 4, 1, "closes nothing"},
        {"(d) => {\n  return [1, 2\n}", 3, 0,
         "Unexpected token '}'. Expected either a closing ']' or a ',' following an array "
         "element.",
         2, 10, "nothing closes"},
        {"(d) => `a ${d`", 1, 0, "Unexpected EOF", 1, 14, "nothing closes"},
    };
    (void)state;

    EXPECT(samples, F, SYNTAX);
}

static void test_guard_explain__finds_the_token_at_fault(void **state)
{
    static const struct sample samples[] = {
        {"(d) => { f(1;\n}", 1, 0,
         "Unexpected token ';'. Expected ')' to end an argument list.", 1, 13,
         "arguments"},
        {"(d) => ({ a: 1 b: 2 })", 1, 0,
         "Unexpected identifier 'b'. Expected '}' to end an object literal.", 1, 16,
         "','"},
        {"(d) => { return d x }", 1, 0,
         "Unexpected identifier 'x'. Expected a ';' following a return statement.", 1,
         19, "operator"},
        {"(d) => 1 +;", 1, 0, "Unexpected token ';'", 1, 11, "a value is missing"},
        {"(d) => { return d ? 1 }", 1, 0,
         "Unexpected token '}'. Expected ':' in ternary operator.", 1, 23, "a ? b : c"},
        {"(d) => { const x; }", 1, 0,
         "Unexpected token ';'. const declared variable 'x' must have an initializer.",
         1, 17, "'let'"},
        {"(d) => { let x = 1; let x = 2 }", 1, 0,
         "Cannot declare a let variable twice: 'x'.", 1, 25, "taken"},
        {"(d) => { const d = 1 }", 1, 0, "Cannot declare a const variable twice: 'd'.",
         1, 16, "taken"},
        {"(d) => { let class = 1 }", 1, 0,
         "Cannot use the keyword 'class' as a lexical variable name.", 1, 14,
         "reserved"},
        {"(d) => {\n  d.map(x => {\n    break;\n  })\n}", 2, 0,
         "'break' is only valid inside a switch or loop statement.", 3, 5, "'return'"},
        {"(d) => { for (;;) { break } continue }", 1, 0,
         "'continue' is only valid inside a loop statement.", 1, 29, "'return'"},
        {"(d) => 'abc", 1, 0, "Unexpected EOF", 1, 8, "closes this string"},
        {"(d) => \"abc\n\"", 1, 0, "Unexpected EOF", 1, 8, "closes this string"},
        {"(d) => /abc", 1, 0, "Unterminated regular expression literal '/abc'", 1, 8,
         "regular expression"},
        {"(d) => \xE2\x80\x9C"
         "a\xE2\x80\x9D",
         1, 0, "Invalid character '\\u201c'", 1, 8, "typographic"},
        {"(d) => 3x", 1, 0, "No identifiers allowed directly after numeric literal", 1,
         8, "digit"},
        {"(d) => 017", 1, 0,
         "Decimal integer literals with a leading zero are forbidden in strict mode", 1,
         8, "0o17"},
        {"(d) => { 1 = d }", 1, 0, "Left side of assignment is not a reference.", 1, 12,
         "==="},
        {"(d) => { try { } }", 1, 0,
         "Unexpected token '}'. Try statements must have at least a catch or finally block.",
         1, 10, "catch (e)"},
        {"(d) => { return a ?? b || c }", 1, 0,
         "Unexpected token '||'. Coalescing and logical operators used together in the "
         "same expression; parentheses must be used to disambiguate.",
         1, 24, "parentheses"},
        {"d => { a: 1, b: 2 }", 1, 0, "Unexpected token ':'", 1, 6, "=> ({ ... })"},
        {"(d) => { if (d) const x = 1; }", 1, 0, "Unexpected keyword 'const'", 1, 17,
         "a declaration cannot stand here"},
        {"(d) => d.map(() => let x = 1)", 1, 0, "Unexpected keyword 'let'", 1, 20,
         "a declaration cannot stand here"},
        {"(d) => { const a = (1 + 2 const b = 3 }", 1, 0,
         "Unexpected keyword 'const'. Expected ')' to end a compound expression.", 1,
         27, "missing before this"},
    };
    (void)state;

    EXPECT(samples, F, SYNTAX);
}

static void test_guard_explain__finds_what_the_engine_had_read_on_from(void **state)
{
    static const struct sample samples[] = {
        {"(d) => {\n\n  return d.#p;\n}", 4, 0,
         "Cannot reference undeclared private names: \"#p\"", 3, 12, "private field"},
        {"(d) => {\n  let a = 1; delete a\n}", 3, 0,
         "Cannot delete unqualified property 'a' in strict mode.", 2, 14, "null"},
        {"(d) => {\n  try { d() }\n}", 3, 0,
         "Unexpected token '}'. Try statements must have at least a catch or finally block.",
         2, 3, "catch (e)"},
        {"(d) => {\n  return /(/\n}", 3, 0, "Invalid regular expression: missing )", 2,
         10, "before a character"},
    };
    (void)state;

    EXPECT(samples, F, SYNTAX);
}

static void test_guard_explain__knows_what_is_between_two_values(void **state)
{
    static const struct sample samples[] = {
        {"(d) => ({a: 1 b: 2})", 1, 15, "Unexpected identifier 'b'", 1, 15,
         "in an object"},
        {"(d) => [1 2]", 1, 11, "Unexpected number '2'", 1, 11, "in an array"},
        {"(d) => d(1 2)", 1, 12, "Unexpected number '2'", 1, 12, "in the arguments"},
        {"(d) => d b", 1, 10, "Unexpected identifier 'b'", 1, 10, "an operator"},
        {"(d) => [b, c b]", 1, 14, "Unexpected identifier 'b'", 1, 14, "in an array"},
    };
    (void)state;

    EXPECT(samples, F, SYNTAX);
}

static void test_guard_explain__knows_what_is_no_javascript_at_all(void **state)
{
    static const struct sample samples[] = {
        {"return d.length", 1, 0, "Unexpected keyword 'return'", 1, 1,
         "where a function is needed"},
        {"Here is the code", 1, 0, "Unexpected identifier 'is'" AFTER_ALL, 1, 6,
         "prose"},
        {"(d) => <div>a</div>", 1, 0, "Unexpected token '<'", 1, 8, "JSX"},
        {"def f(x):", 1, 0, "Unexpected identifier 'f'", 1, 5, "Python"},
        {"print \"a\"", 1, 0, "Unexpected string literal \"a\"", 1, 7, "Python"},
        {"SELECT a FROM b", 1, 0, "Unexpected identifier 'a'", 1, 8, "SQL"},
        {"SELECT * FROM b", 1, 0, "Unexpected identifier 'b'", 1, 15, "SQL"},
        {"() => { using a = b; }", 1, 15, "Unexpected identifier 'a'", 1, 15,
         "finally"},
    };
    (void)state;

    EXPECT(samples, F, SYNTAX);
}

static void test_guard_explain__keeps_positions_in_the_callers_text(void **state)
{
    static const struct sample samples[] = {
        {"```js\n(d: string) => 1\n```", 2, 0, "Unexpected token ':'" AFTER_ALL, 2, 3,
         "types"},
        {"// \xC3\xA9\r\n/* \xE2\x82\xAC */ (d: X) => 1", 2, 0,
         "Unexpected token ':'" AFTER_ALL, 2, 11, "types"},
        {"```js\n(d) => {\n```\n", 4, 0, "Unexpected token ')'", 2, 8,
         "nothing closes"},
        {"(d) => 1", 9, 9, "something new", 1, 9, ""},
    };
    (void)state;

    EXPECT(samples, F, SYNTAX);
}

static void test_guard_explain__knows_a_promise_that_was_not_awaited(void **state)
{
    static const struct sample samples[] = {
        {"const g = async () => [1]; const r = g(); return r.map(x => x)", 1, 55,
         "TypeError: r.map is not a function. (In 'r.map(x => x)', 'r.map' is undefined)",
         1, 52, "promise"},
        {"async function g() {} return g().a.b", 1, 35,
         "TypeError: undefined is not an object (evaluating 'g().a.b')", 1, 35,
         "promise"},
        {"const g = async () => 1; for (const x of g()) {}", 1, 43,
         "TypeError: x of g is not a function. (In 'x of g()', 'x of g' is undefined)",
         1, 42, "promise"},
        {"const g = async () => 1; const [a] = g()", 1, 32,
         "TypeError: undefined is not a function (near '...[a]...')", 1, 32, "promise"},
        {"const o = { async g() {} }; const r = o.g(); return [...r]", 1, 53,
         "TypeError: Spread syntax requires ...iterable[Symbol.iterator] to be a function",
         1, 53, "promise"},
        {"const r = Promise.all([1]); return r.map(x => x)", 1, 41,
         "TypeError: r.map is not a function. (In 'r.map(x => x)', 'r.map' is undefined)",
         1, 38, "promise"},
        {"return fs.readFile('x','utf8').split('b')", 1, 36,
         "TypeError: fs.readFile('x','utf8').split is not a function. (In "
         "'fs.readFile('x','utf8').split('b')', 'fs.readFile('x','utf8').split' is "
         "undefined)",
         1, 32, "promise"},
        {"return JSON.parse(fs.readFile('x'))", 1, 18,
         "SyntaxError: JSON Parse error: Unexpected identifier \"object\"", 1, 18,
         "promise"},
        {"return JSON.parse(await fs.readFile('x'))", 1, 18,
         "SyntaxError: JSON Parse error: Unexpected identifier \"object\"", 1, 18,
         "leave JSON.parse away"},
        {"const t = fs.promises.readFile('x'); return t.split('b')", 1, 52,
         "TypeError: t.split is not a function. (In 't.split('b')', 't.split' is "
         "undefined)",
         1, 47, "promise"},
        {"return fetch('x').json()", 1, 23,
         "TypeError: fetch('x').json is not a function. (In 'fetch('x').json()', "
         "'fetch('x').json' is undefined)",
         1, 19, "promise"},
        {"const fetch = () => [1]; return fetch('x').json()", 1, 48,
         "TypeError: fetch('x').json is not a function. (In 'fetch('x').json()', "
         "'fetch('x').json' is undefined)",
         1, 44, "no such function"},
        {"const g = () => 1; const r = g(); return r.map(x => x)", 1, 47,
         "TypeError: r.map is not a function. (In 'r.map(x => x)', 'r.map' is undefined)",
         1, 44, "not an array"},
    };
    (void)state;

    EXPECT(samples, S, RUNTIME);
}

static void test_guard_explain__knows_a_bigint_that_is_returned(void **state)
{
    static const struct sample samples[] = {
        {"(d) => 1n", 0, 0,
         "result is a BigInt, which JSON cannot hold: use String(value) or Number(value)",
         0, 0, "return String(n)"},
        {"(d) => 1n + 1", 1, 11,
         "TypeError: Invalid mix of BigInt and other type in addition.", 1, 11,
         "the same kind"},
        {"(d) => BigInt('x')", 1, 14, "SyntaxError: Failed to parse String to BigInt",
         1, 14, "not a whole number"},
    };
    (void)state;

    EXPECT(samples, F, RUNTIME);
}

static void test_guard_explain__knows_what_fs_has(void **state)
{
    static const struct sample samples[] = {
        {"(d) => fs.readFileSync('x')", 1, 23,
         "TypeError: fs.readFileSync is not a function. (In 'fs.readFileSync('x')', "
         "'fs.readFileSync' is undefined)",
         1, 11, "await fs.readFile"},
        {"(d) => fs.promises.writeFile('x')", 1, 29,
         "TypeError: fs.promises.writeFile is not a function. (In "
         "'fs.promises.writeFile('x')', 'fs.promises.writeFile' is undefined)",
         1, 20, "await fs.readFile"},
        {"(d) => { const fs = {}; return fs.find('x') }", 1, 39,
         "TypeError: fs.find is not a function. (In 'fs.find('x')', 'fs.find' is "
         "undefined)",
         1, 35, "not an array"},
    };
    (void)state;

    EXPECT(samples, F, RUNTIME);
}

static void test_guard_explain__knows_missing_values(void **state)
{
    static const struct sample samples[] = {
        {"(d) => d.a.b", 1, 11, "TypeError: null is not an object (evaluating 'd.a.b')",
         1, 11, "'?.'"},
        {"(d) => { const [x] = null }", 1, 16,
         "TypeError: null is not an object (evaluating '[x]')", 1, 16, "?? {}"},
        {"(d) => [d].x.y", 1, 14,
         "TypeError: undefined is not an object (evaluating '[d].x.y')", 1, 14, "'?.'"},
        {"(d) => Object.keys(d.x)", 1, 19,
         "TypeError: undefined is not an object (evaluating 'Object.keys(d.x)')", 1, 19,
         "what it is given"},
        {"(d) => Object.entries(d.x)", 1, 22,
         "TypeError: Object.entries requires that input parameter not be null or "
         "undefined",
         1, 22, "what it is given"},
        {"(d) => Promise.any([])", 1, 8, "AggregateError", 1, 8, "'errors'"},
        {"(d) => { const {x} = d.y }", 1, 10,
         "TypeError: Right side of assignment cannot be destructured", 1, 10, "?? {}"},
        {"(d) => { for (const x of {}) {} }", 1, 26,
         "TypeError: undefined is not a function (near '...x of {}...')", 1, 26,
         "Object.entries"},
        {"(d) => d.foo()", 1, 13,
         "TypeError: d.foo is not a function. (In 'd.foo()', 'd.foo' is undefined)", 1,
         10, "no such function"},
    };
    (void)state;

    EXPECT(samples, F, RUNTIME);
}

static void test_guard_explain__knows_names(void **state)
{
#define NONE "ReferenceError: Can't find variable: "
    static const struct sample samples[] = {
        {"(d) => fetch(d)", 1, 13, NONE "fetch", 1, 8, "--allow fetch"},
        {"(d) => require(d)", 1, 15, NONE "require", 1, 8, "not Node.js"},
        {"(d) => process.env", 1, 15, NONE "process", 1, 8, "not Node.js"},
        {"(d) => window.x", 1, 14, NONE "window", 1, 8, "not a browser"},
        {"(d) => f<number>(d)", 1, 16, NONE "number", 1, 10, "TypeScript"},
        {"(d) => None", 1, 12, NONE "None", 1, 8, "Python"},
        {"(d) => _.map(d)", 1, 9, NONE "_", 1, 8, "no library"},
        {"() => DateTime.now()", 1, 15, NONE "DateTime", 1, 7, "no library"},
        {"(d) => setTimeout(d)", 1, 18, NONE "setTimeout", 1, 8, "timers"},
        {"() => data.length", 1, 11, NONE "data", 1, 7, "parameter"},
        {"(d) => { y = 1 }", 1, 13, NONE "y", 1, 10, "let or const"},
        {"(d) => { { let z = 1 } return z }", 1, 32, NONE "z", 1, 31, "another scope"},
        {"(d) => parseFlot(d)", 1, 17, NONE "parseFlot", 1, 8, "spelling"},
        {"(d) => {\n  x;\n  let x = 1\n}", 2, 3,
         "ReferenceError: Cannot access uninitialized variable.", 2, 3, "move the"},
        {"(d) => { const c = 1; c = 2 }", 1, 1,
         "TypeError: Attempted to assign to readonly property.", 1, 23, "'let'"},
        {"(d) => { for (const c of d) { c++ } }", 1, 1,
         "TypeError: Attempted to assign to readonly property.", 1, 1, "copy"},
        {"(d) => { const o = Object.freeze({}); o.a = 2 }", 1, 40,
         "TypeError: Attempted to assign to readonly property.", 1, 40, "frozen"},
    };
    (void)state;

    EXPECT(samples, F, RUNTIME);
}

static void test_guard_explain__knows_what_a_script_calls_its_input(void **state)
{
    static const struct sample samples[] = {
        {"data.length", 1, 5, NONE "data", 1, 1, "called 'input'"},
        {"params.x", 1, 7, NONE "params", 1, 1, "called 'input'"},
        {"env.x", 1, 4, NONE "env", 1, 1, "--allow env"},
    };
    (void)state;

    EXPECT(samples, S, RUNTIME);
}

static void test_guard_explain__knows_values_that_are_no_json(void **state)
{
    static const struct sample samples[] = {
        {"(d) => 10n", 0, 0, "TypeError: JSON.stringify cannot serialize BigInt.", 0, 0,
         "String(n)"},
        {"(d) => d", 0, 0,
         "TypeError: JSON.stringify cannot serialize cyclic structures.", 0, 0,
         "contains itself"},
        {"(d) => 1n + 1", 1, 8,
         "TypeError: Invalid mix of BigInt and other type in addition.", 1, 8,
         "same kind"},
        {"(d) => JSON.parse(d)", 1, 8,
         "SyntaxError: JSON Parse error: Unexpected identifier \"object\"", 1, 8,
         "object already"},
        {"(d) => new Promise(() => {})", 0, 0, "the promise returned can never settle",
         0, 0, "every path"},
        {"(d) => f()", 1, 8, "RangeError: Maximum call stack size exceeded.", 1, 8,
         "recursion"},
    };
    (void)state;

    EXPECT(samples, F, RUNTIME);
}

static void test_guard_explain__says_nothing_about_the_unknown(void **state)
{
    static const struct sample samples[] = {
        {"(d) => { throw new Error('a') }", 1, 20, "Error: a", 1, 20, ""},
        {"(d) => 1", 0, 0, "", 0, 0, ""},
        {"(d) => 1", 1, 3, "'", 1, 3, ""},
    };
    gbx_guard_advice a = {.line = 7, .column = 7};
    (void)state;

    EXPECT(samples, F, RUNTIME);
    gbx_guard_explain(NULL, 0, F, SYNTAX, NULL, &a);
    assert_int_equal(a.line, 7);
    assert_string_equal(a.hint, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guard_explain__knows_typescript),
        cmocka_unit_test(test_guard_explain__knows_an_await_that_cannot_be),
        cmocka_unit_test(test_guard_explain__finds_the_bracket_at_fault),
        cmocka_unit_test(test_guard_explain__finds_the_token_at_fault),
        cmocka_unit_test(test_guard_explain__finds_what_the_engine_had_read_on_from),
        cmocka_unit_test(test_guard_explain__knows_what_is_between_two_values),
        cmocka_unit_test(test_guard_explain__knows_what_is_no_javascript_at_all),
        cmocka_unit_test(test_guard_explain__keeps_positions_in_the_callers_text),
        cmocka_unit_test(test_guard_explain__knows_a_promise_that_was_not_awaited),
        cmocka_unit_test(test_guard_explain__knows_a_bigint_that_is_returned),
        cmocka_unit_test(test_guard_explain__knows_what_fs_has),
        cmocka_unit_test(test_guard_explain__knows_missing_values),
        cmocka_unit_test(test_guard_explain__knows_names),
        cmocka_unit_test(test_guard_explain__knows_what_a_script_calls_its_input),
        cmocka_unit_test(test_guard_explain__knows_values_that_are_no_json),
        cmocka_unit_test(test_guard_explain__says_nothing_about_the_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
