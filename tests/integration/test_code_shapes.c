/* SPDX-License-Identifier: MIT */
/* Code as models write it: each shape has the value that is meant, and errors have the
 * positions of what was written. */
#include "mcp/code/code.h"
#include "script_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const script_row shapes[] = {
    {"a comment after the function", "async () => {\n  return 5;\n} // done\n// all",
     "5"},
    {"a comment behind it", "() => { return 5 } // done", "5"},
    {"a comment behind an export", "export default () => { return 5 } // hi", "5"},
    {"a comment behind types", "(d: any) => { return 5 } // a", "5"},
    {"statements with return", "const a = 1;\nreturn a + input.n;", "6"},
    {"the last expression", "const a = 1;\na + input.n", "6"},
    {"with await before it", "const a = await Promise.resolve(1);\na + input.n", "6"},
    {"an object in parentheses", "({a: input.n})", "{\"a\":5}"},
    {"an async arrow", "async () => { return input.n }", "5"},
    {"an async arrow with a semicolon", "async () => input.n ;\n", "5"},
    {"an arrow of the input", "async ({n}) => n + 1", "6"},
    {"an arrow in parentheses", "(async () => { await null; return 3 })", "3"},
    {"an arrow that is called already", "(async () => { await null; return 3 })()",
     "3"},
    {"with await", "await (async () => 3)()", "3"},
    {"a function expression", "(function (data) { return data.n })", "5"},
    {"an arrow after statements", "const k = 2;\nasync () => k * input.n", "10"},
    {"run", "async function run() { return input.n }", "5"},
    {"run with the input", "async function run(data) { return data.n }", "5"},
    {"main after helpers",
     "function help() { return 4 }\nasync function main() {\n"
     "  return help() }",
     "4"},
    {"execute as a constant", "const execute = async (i) => i.n;", "5"},
    {"the only function, whatever its name", "async function getAll() { return 7 }",
     "7"},
    {"run that is called already", "async function run() { return 1 }\nrun()", "1"},
    {"and awaited", "async function run() { return 1 }\nconst x = await run();\nx + 1",
     "2"},
    {"and returned", "async function run() { return 1 }\nreturn await run();", "1"},
    {"called before it is declared", "run();\nasync function run() { return 8 }", "8"},
    {"called once, not twice",
     "globalThis.n = 0;\nasync function main() { n++; return n }\nmain();", "1"},
    {"called in a chain", "async function main() { return 9 }\nmain().catch(String)",
     "9"},
    {"a name that recurs inside is no call",
     "function run(k) { return k.n ? k.n * run({n: k.n - 1}) : 1 }", "120"},
    {"two functions of which none is known are no value",
     "function a() { return 1 }\nfunction b() { return 2 }", "undefined"},
    {"declarations alone are no value", "const a = 1; let b = 2;", "undefined"},
    {"export default an arrow", "export default async () => input.n", "5"},
    {"export default a function without a name",
     "export default async function () { return input.n }", "5"},
    {"export default a function with one",
     "export default async function work() { return input.n }", "5"},
    {"export a function", "export async function run() { return input.n }", "5"},
    {"exports among others", "export const k = 2;\nexport function run() { return k }",
     "2"},
    {"export default a name",
     "async function main(i) { return i.n }\nexport default main;", "5"},
    {"a name of a function at the end", "const main = async () => 5;\nmain", "5"},
    {"a name of any function at the end", "async function doIt() { return 3 }\ndoIt;",
     "3"},
    {"a name at the end of what was called",
     "let n = 0;\nfunction f() { return ++n }\nf();\nn", "1"},
    {"module.exports of a function", "module.exports = async (i) => i.n;", "5"},
    {"of one with a name", "module.exports = async function main(i) {\n return i.n\n}",
     "5"},
    {"of a name", "const f = () => 4\nmodule.exports = f", "4"},
    {"of a value before constants", "module.exports = [k + 1]\nvar k = 2", "[null]"},
    {"of functions by their names",
     "const help = () => 3\nasync function main() { return help() }\n"
     "module.exports = { main, aid: help };",
     "3"},
    {"exports of a handler", "exports.handler = async (event) => event.n", "5"},
    {"exports of a run that is short", "const k = 2\nexports.run = ({n}) => n + k",
     "7"},
    {"exports of names of functions",
     "function help() { return 3 }\nasync function run() { return help() }\n"
     "exports.run = run\nmodule.exports.help = help",
     "3"},
    {"module.exports of an object of values",
     "const x = 3; module.exports = { x, y: 4 }", "{\"x\":3,\"y\":4}"},
    {"module that is declared is another",
     "const module = {}; module.exports = () => 1\nmodule.exports()", "1"},
    {"of an object of other functions is nobody's value",
     "module.exports = { go() { return 1 } }", "~'module' does not exist"},
    {"nor is one that is used as well",
     "module.exports = () => 1\nreturn module.exports()", "~'module' does not exist"},
    {"nor one beside another", "exports.first = () => 1\nexports.second = () => 2",
     "~'exports' does not exist"},
    {"nor a short one before others", "exports.k = 1\nconst a = 1",
     "~'exports' does not exist"},
    {"nor one in a function", "function f() { module.exports = 1 }\nf()",
     "~'module' does not exist"},
    {"export default an object", "export default { a: 1, b: input.n }",
     "{\"a\":1,\"b\":5}"},
    {"export default a value", "const a = 2;\nexport default a + 1;", "3"},
    {"an object at the end", "const rows = [1];\n{ count: rows.length }",
     "{\"count\":1}"},
    {"an object of a name at the end", "const total = 5;\n{ total }", "{\"total\":5}"},
    {"an object of several names at the end",
     "const r = await 1, total = 5, late = 1;\n{ r, total, /* and */ late }",
     "{\"r\":1,\"total\":5,\"late\":1}"},
    {"and without await", "const total = 5, late = 1;\n{\n  total,\n  late\n}",
     "{\"total\":5,\"late\":1}"},
    {"but no block of statements", "const total = 5, late = 1;\n{ total, late; }", "1"},
    {"an object of both at the end", "const total = 5;\n{ total, n: 2 }",
     "{\"total\":5,\"n\":2}"},
    {"an object alone", "{ a: 1, b: [input.n] }", "{\"a\":1,\"b\":[5]}"},
    {"an object of both at the end of lines that are all indented",
     "  const total = 5;\n  {\n    total,\n    n: { a: 2 },\n  }\n",
     "{\"total\":5,\"n\":{\"a\":2}}"},
    {"and in a fence", "```js\n\tconst n = 5;\n\t{ n, m: 2 }\n```",
     "{\"n\":5,\"m\":2}"},
    {"half an object", "const total = 5;\n{ total, n: }", "~SyntaxError"},
    {"nor braces before the end", "const r = {a: 1};\n{ a } = r;\nglobalThis.b = 2;",
     "~SyntaxError"},
    {"a block at the end", "let a = 1;\n{ a = 2; }", "2"},
    {"a block of two at the end", "let a = 1;\n{ a++; a }", "2"},
    {"a fence", "```js\nreturn input.n\n```", "5"},
    {"a fence with a function", "```typescript\nasync () => {\n return 6 }\n```\n",
     "6"},
    {"a fence with run", "```\nasync function run() { return 7 }\n```", "7"},
    {"comments around", "// one\nasync () => 1 // two\n/* three */", "1"},
    {"a directive first", "'use strict';\nreturn 4", "4"},
    {"a loop at the end has no value", "let s = 0; for (const i of [1, 2]) s += i;",
     "undefined"},
    {"with await neither", "let s = 0; for (const i of [1, 2]) s += await i;",
     "undefined"},
    {"nor has one before a constant", "for (const i of [1]) i;\nconst a = 1;",
     "undefined"},
    {"an if at the end has that of its branch",
     "if (input.n > 9) 1; else if (input.n > 4) { let a = 1; a + 1 } else { 3 }", "2"},
    {"with await too",
     "const n = await 5;\nif (n > 9) 1; else if (n > 4) { let a = 1; a + 1 } else { 3 }",
     "2"},
    {"a try at the end", "try { null.x } catch (e) { e.name } finally { 5 }",
     "\"TypeError\""},
    {"with await as well", "try { await 1; 2 } catch { 3 } finally { 4 };", "2"},
    {"a loop in one has no value", "if (input) { for (const i of [1]) i; } else { 1 }",
     "undefined"},
    {"a block at the end with await", "let a = await 1;\n{ a++; a }", "2"},
    {"names that the box gives may be reused",
     "const params = 1, env = 2, result = 3; return params + env + result", "6"},
    {"input too", "const input = {n: 1}; return input.n", "1"},
    {"export default a function beside constants",
     "const T = [1, 2];\nexport default async function collect(i) { return T.length + i.n }",
     "7"},
    {"export default a function beside helpers",
     "function h() { return 4 }\nexport default async function collect() { return h() }",
     "4"},
    {"export default a function before constants",
     "export default function collect() { return k }\nconst k = 3;", "3"},
    {"export default a function that is called already",
     "let n = 0;\nexport default function f() { return ++n }\nconst a = f();\nn", "1"},
    {"export default a name before its function",
     "export default work;\nasync function work(i) { return i.n }", "5"},
    {"export default a class calls no other function",
     "function h() { return 1 }\nexport default class X {}", "undefined"},
    {"main, whose helper is called run",
     "async function run(k) { return k + 1 }\nasync function main() { return await run(3) "
     "}",
     "4"},
    {"a known name that the script uses stops the search",
     "let n = 0;\nfunction main() { return ++n }\nfunction handler() { n += 10 }\n"
     "const a = main();\nif (a) throw new Error(`${n}`)",
     "~Error: 1"},
    {"a function at the end beside constants",
     "const T = [1, 2];\nasync function collect(i) { return T.length + i.n }", "7"},
    {"an arrow in a constant at the end beside constants",
     "const T = [1, 2];\nexport const collect = async () => T.length;", "2"},
    {"the function that calls the others",
     "function a() { return 6 }\nfunction b() { return a() }", "6"},
    {"a function at the end of a script that acts by itself is not called",
     "const a = await Promise.resolve(1);\nfunction undo() { return 2 }", "undefined"},
    {"nor one before a constant", "function a() { return 1 }\nconst b = 2;",
     "undefined"},
    {"a class at the end is no value", "class A {}", "undefined"},
    {"a generator is not called", "function* run() { yield 1 }", "undefined"},
    {"a line without a semicolon is not joined to the function at the end",
     "const k = 1\nasync () => k", "1"},
    {"nor to one in an export",
     "const k = [2]\nexport default async function () {\n return k }", "[2]"},
    {"nor to one in parentheses, where the export keeps them apart",
     "const k = 3\nexport default (async () => k)", "3"},
    {"two directives and a function", "'use strict'\n'other'\nfunction () { return 4 }",
     "4"},
    {"export default an arrow before its helpers",
     "export default async (i) => help() + i.n\nfunction help() { return k }\nconst k = 4",
     "9"},
    {"a function without a name before them",
     "const k = 1\nexport default async function (i) { return help() + i.n }\n"
     "function help() { return k }",
     "6"},
    {"a value before them", "export default [help()]\nfunction help() { return 4 }\n",
     "[4]"},
    {"an object", "const a = 1\nexport default { a }\nexport const meta = 2",
     "{\"a\":1}"},
    {"but what is returned counts", "export default [1]\nfunction help() {}\nreturn 2",
     "2"},
    {"and what is called at the end",
     "export default main\nasync function main() { return 3 }\nawait main()", "3"},
    {"or anywhere",
     "let n = 1\nexport default main\nfunction main() { n++ }\nmain()\n"
     "if (n != 2) throw new Error(`${n}`)",
     "undefined"},
    {"nothing but comments is refused", "// nothing", "~the code is only comments"},
};

static const script_row positions[] = {
    {"in statements", "const a = 1;\n  nope();", "~ReferenceError"},
    {"in an arrow", "async () => {\n  null.x;\n}", "~TypeError"},
    {"on the line of an arrow", "async () => null.x", "~TypeError"},
};

static const script_row places[] = {
    {"statements", "let a;\n  nope();", "2:3"},
    {"an arrow", "async () => {\n    nope();\n}", "2:5"},
    {"on the first line of an arrow", "async () => nope()", "1:13"},
    {"in branches", "if (0) 1; else { 2; nope() }", "1:21"},
    {"in a last expression", "let a = await 1;\nnope()", "2:1"},
    {"in run", "async function run() {\n  nope() }", "2:3"},
    {"in a fence", "```js\nasync () => nope()\n```", "2:13"},
    {"in a function behind a line without a semicolon", "let a\nasync () => nope()",
     "2:13"},
    {"in an export before others", "let a\nexport default () => nope()\nlet b", "2:22"},
    {"of a slip in an export",
     "export default async function main() {\n  const x = ;\n}", "2:13"},
    {"of one in an export without a name",
     "const k = 1\nexport default async function () {\n  const x = ;\n}", "3:13"},
    {"of one in an arrow that is exported",
     "export const k = 1\nexport default async () => {\n  const x = ;\n}", "3:13"},
    {"before a call that is returned", "nope();\nfunction nop() {}", "1:1"},
};

static void test_shapes__have_the_value_that_is_meant(void **state)
{
    (void)state;
    CHECK(shapes, NULL);
}

static void test_errors__have_the_place_in_what_was_written(void **state)
{
    (void)state;
    CHECK(positions, NULL);
    CHECK(places, "@");
}

/* Of code that calls nothing, the function that may have been meant to be called. */
static void test_a_function_that_nothing_calls__is_known(void **state)
{
    static const char *const rows[][2] = {
        {"const a = await 1;\nfunction undo() { return 2 }", "undo"},
        {"```js\nconst x: number = 1; console.log(1)\nconst late = () => 2\n```",
         "late"},
        {"function a() { return 1 }\nfunction b() { return 2 }", "b"},
        {"function a() { return 1 }", ""},
        {"function a() { return 1 }\na()", ""},
        {"return 1", ""},
    };
    gbx_script script;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(gbx_script_make(rows[i][0], strlen(rows[i][0]), "input",
                                         &script, NULL),
                         GBX_OK);
        assert_int_equal(script.uncalled_len, strlen(rows[i][1]));
        assert_memory_equal(rows[i][0] + script.uncalled, rows[i][1],
                            script.uncalled_len);
        gbx_script_cleanup(&script);
    }
}

static void test_text_that_is_no_code__stays_as_it_is(void **state)
{
    static const char *const texts[] = {"",           "\xFF\xFE",  "a b c (",
                                        "```\n",      "((((((((",  "class {",
                                        "type X = {", "return `${"};
    gbx_script script;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(gbx_script_make(texts[i], strlen(texts[i]), "input", &script,
                                         NULL),
                         GBX_OK);
        assert_string_equal(script.code, texts[i]);
        gbx_script_cleanup(&script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes__have_the_value_that_is_meant),
        cmocka_unit_test(test_errors__have_the_place_in_what_was_written),
        cmocka_unit_test(test_a_function_that_nothing_calls__is_known),
        cmocka_unit_test(test_text_that_is_no_code__stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, script_rows_start, script_rows_finish);
}
