/* SPDX-License-Identifier: MIT */
/* Code as models write it: each shape has the value that is meant, and errors have the
 * positions of what was written. */
#include "calls.h"
#include "mcp/code/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gbx_engine *engine;

static int start(void **state)
{
    (void)state;
    engine = engine_start(NULL);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    gbx_engine_free(engine);
    return 0;
}

/* The value; or what went wrong, with its place in `code`. The input is {"n": 5}. */
static char *outcome(const char *code)
{
    static const char input[] = "{\"n\":5}";
    gbx_call call = GBX_CALL_INIT;
    gbx_script script;
    gbx_result *result;
    uint32_t line, column;
    char *text = NULL;

    assert_int_equal(gbx_script_make(code, strlen(code), GBX_SCRIPT_INPUT, &script,
                                     NULL),
                     GBX_OK);
    if (script.message != NULL) {
        assert_true(asprintf(&text, "%s @%u:%u", script.message, script.line,
                             script.column) > 0);
        gbx_script_cleanup(&script);
        return text;
    }
    call.form = GBX_FORM_SCRIPT;
    call.code = script.code;
    call.code_len = script.code_len;
    call.input = input;
    call.input_len = sizeof input - 1;
    result = call_run(engine, &call);
    line = gbx_result_location(result).line;
    column = gbx_result_location(result).column;
    gbx_script_map(&script, &line, &column);
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        assert_true(
            asprintf(&text, "%s @%u:%u", gbx_result_error(result), line, column) > 0);
    else
        text = strdup(gbx_result_value(result, NULL)[0] != 0
                          ? gbx_result_value(result, NULL)
                          : "undefined");
    gbx_result_free(result);
    gbx_script_cleanup(&script);
    return text;
}

struct row {
    const char *name;
    const char *code;
    const char *value; /* "~": how it begins */
};

static const struct row shapes[] = {
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
    {"nothing but comments is refused", "// nothing", "~the code is only comments"},
};

static const struct row positions[] = {
    {"in statements", "const a = 1;\n  nope();", "~ReferenceError"},
    {"in an arrow", "async () => {\n  null.x;\n}", "~TypeError"},
    {"on the line of an arrow", "async () => null.x", "~TypeError"},
};

static const struct row places[] = {
    {"statements", "let a;\n  nope();", "2:3"},
    {"an arrow", "async () => {\n    nope();\n}", "2:5"},
    {"on the first line of an arrow", "async () => nope()", "1:13"},
    {"in branches", "if (0) 1; else { 2; nope() }", "1:21"},
    {"in a last expression", "let a = await 1;\nnope()", "2:1"},
    {"in run", "async function run() {\n  nope() }", "2:3"},
    {"in a fence", "```js\nasync () => nope()\n```", "2:13"},
    {"before a call that is returned", "nope();\nfunction nop() {}", "1:1"},
};

#ifdef GBX_CODE_TAKES_TYPES
static const struct row types[] = {
    {"annotations", "const f = (a: number, b?: string): number => a;\nreturn f(2)",
     "2"},
    {"interfaces and aliases",
     "interface A { a: number }\ntype B = A | null;\nconst b: B = {a: 3};\nreturn b.a",
     "3"},
    {"what follows a type is not joined to what is before it",
     "const a = 1\ntype T = string\n(() => 2)()", "2"},
    {"generics", "async function run<T>(x: T): Promise<T> { return x }", "{\"n\":5}"},
    {"type arguments of a call are no comparison",
     "const f = (x) => x;\nreturn f<string>('a')", "\"a\""},
    {"of an object type, too", "const f = (x) => x;\nreturn f<{a: string}>('a')",
     "\"a\""},
    {"of new", "return [...new Map<string, number>([['a', 1]]).keys()]", "[\"a\"]"},
    {"as, satisfies and !",
     "const a = {b: 1} as const;\nconst c = (a satisfies object)!;\nreturn c!.b as any",
     "1"},
    {"casts", "const a = <any>4;\nreturn a", "4"},
    {"classes",
     "abstract class P { abstract f(): void; }\nclass A<T> extends P implements I {\n"
     " private readonly x: number = 1;\n public y!: string;\n static z?: T;\n"
     " constructor(x: number);\n constructor(x) { super(); this.q = x }\n"
     " f?(): number;\n protected async g(this: A, k: number): Promise<number> { return "
     "k } }\nreturn new A(1).g(5)",
     "5"},
    {"a this parameter alone", "function f(this: any) { return 1 }\nreturn f()", "1"},
    {"overloads",
     "function f(a: string): void;\nfunction f(a: any) { return a }\nreturn "
     "f(3)",
     "3"},
    {"declare", "declare const servers2: any;\ndeclare function x(): void;\nreturn 1",
     "1"},
    {"predicates and asserts",
     "function a(x): x is string { return true }\nfunction b(x): asserts x {}\nreturn "
     "a(1)",
     "true"},
    {"import of types", "import type { A } from 'a';\nreturn 2", "2"},
    {"export of types", "export interface A {}\nexport type B = 1;\nreturn 2", "2"},
    {"a type of several lines before an arrow",
     "const f = (a: number): {\n  b: number,\n} => ({b: a});\nreturn f(1)",
     "{\"b\":1}"},
    {"catch and for", "try { throw 1 } catch (e: unknown) { return e as number }", "1"},
    {"two comparisons are no call with types",
     "const lo = 1, w = {max: 5}, f = (...of) => of; let x = 3\n"
     "return [...f(x < lo, x > (w.max)), ...f(x < 5, w.max > (x + 1)), x < lo | w > (x)]",
     "[false,false,true,true,0]"},
    {"but of a variable that shares its name with a type",
     "const A = {}, f = (...of) => of\ntype A = number\nclass B {}\n"
     "return [f<A>(1), f<B, B[]>(2)]",
     "[[1],[2]]"},
    {"comparisons stay", "const a = 1, b = 2, c = 3;\nreturn a < b && b > (c)",
     "false"},
    {"a line that ends in a type is not joined to a parenthesis",
     "const log = []\nconst f = () => { log.push('f') }\nconst g = f as any\n"
     "(() => { log.push('next') })()\nreturn log",
     "[\"next\"]"},
    {"nor to a list whose item may be a type",
     "const one = 1, b = [5] as Array<number>\n[one].forEach(String)\nreturn b", "[5]"},
    {"nor after as const, to a list",
     "const a = [9, 8]\nconst b = a as const\n[1].forEach(String)\nreturn b", "[9,8]"},
    {"nor after satisfies and a comment",
     "const a = ((x) => x) satisfies Function // a\n/* b */ (0)\nreturn typeof a",
     "\"function\""},
    {"an operator on the next line is of the same expression",
     "const a = 4 as number\n+ 1\nconst b = (a as any\n- 2)\nreturn [a, b]", "[5,3]"},
    {"an object at the end has types", "const n = 1\n{ a: n as number }", "{\"a\":1}"},
    {"a field is not joined to the next one's name",
     "class A { y = 1\n readonly ['z'] = 2\n private readonly ['q'] = 3\n"
     " private in = 5 }\nreturn new A()",
     "{\"y\":1,\"z\":2,\"q\":3,\"in\":5}"},
    {"nor to a generator",
     "class A { y = 1\n private *gen() { yield this.y } }\nreturn [...new A().gen()]",
     "[1]"},
    {"type parameters of several lines after async",
     "const f = async <\n  T extends object,\n>(x: T): Promise<T> => x;\nreturn f({a: 1})",
     "{\"a\":1}"},
    {"with a return type of several lines",
     "const f = async <T,>\n(x: T, k: number): Promise<{\n a: T }> => ({a: x});\nreturn f(k = 2)\nvar k",
     "{\"a\":2}"},
    {"a type whose name has dots is all type",
     "const y = {C: 1}\nreturn [y as A.B.C, y satisfies A.B.C.D, `${(y as A.B.C).C}`]",
     "[{\"C\":1},{\"C\":1},\"1\"]"},
    {"and so is what is made of it",
     "const y = [{C: 1}], f = (x) => x\n"
     "return [y as A.B.C<D>[], y as A.B.C | D.E.F, f(y as keyof A.B.C), y as () => A.B.C, "
     "y as A.B.C & {C: 1}, y as A.B.C['C'], y as A.B.C satisfies D.E.F].flat()",
     "~[{\"C\":1},{\"C\":1},{\"C\":1},{\"C\":1},{\"C\":1},{\"C\":1},{\"C\":1}]"},
    {"and an operator behind it is none of it",
     "const y = null, z = {C: 1}\nconst a = y as A.B\n  .C\n(0)\n"
     "return [a, y as A.B.C ?? 3, z as A.B.C ? 1 : 2, (z as A.B.C).C]",
     "[null,3,1,1]"},
    {"and the end of the line ends it", "const y = [1] as A.B.C\n(() => 2)()\nreturn y",
     "[1]"},
    {"a type without a name has no member", "return [3] as number[]\n  .map(String)",
     "[\"3\"]"},
    {"a call of a type is refused", "const f = (x) => x as Foo\n  .map(1)",
     "~what 'as' or 'satisfies' gives is called"},
    {"a name that never ends is refused",
     "return 1 as A.B.C | D.E.F | G.H.I | J.K.L | M.N.O | P.Q.R | S.T.U | V.W.X | Y.Z.A",
     "it cannot be told where the type ends @1:10"},
    {"a field that is only declared is none",
     "class A { constructor(o) { Object.assign(this, o) } }\n"
     "class B extends A { y = 1\n declare id: number\n public declare readonly a?: 5 }\n"
     "return new B({id: 1, a: 2})",
     "{\"id\":1,\"a\":2,\"y\":1}"},
    {"nor is an abstract one",
     "abstract class A { abstract name: string; protected abstract readonly b: number }\n"
     "class B extends A { get name() { return 'b' } }\nreturn [new B().name, 'b' in new B()]",
     "[\"b\",false]"},
    {"a field may have such a name",
     "class A { declare = 1; abstract = 2 }\n"
     "return new A()",
     "{\"declare\":1,\"abstract\":2}"},
    {"an object of several at the end has types",
     "const n: number = 1\n{ n, m: 2 as number }", "{\"n\":1,\"m\":2}"},
    {"a cast of several lines is refused", "return <\n any\n>5",
     "a cast of several lines is refused @1:8"},
    {"an enum is refused", "const a = 1;\n  enum A { B }",
     "an enum is more than a type @2:3"},
    {"a namespace is", "namespace A { const b = 1 }", "~a namespace is more"},
    {"a parameter property is", "class A { constructor(private x: number) {} }",
     "a parameter that is a property is more than a type @1:23"},
    {"a decorator is", "@d class A {}", "~a decorator is more"},
};

static const struct row type_places[] = {
    {"after types on the line", "const a: Array<string> = nope();", "1:26"},
    {"after a type of other letters", "const a: '\xC3\xBC\xE2\x82\xAC' = nope();",
     "1:17"},
    {"of a comma that is missing, not of the first type",
     "interface A { x: number }\nconst a: A = {x: 1};\nconst b = {\n  x: 1\n  y: 2\n};",
     "5:3"},
    {"of a bracket that is missing",
     "const a: number = 1;\nif (a > 0 {\n  return a;\n}", "2:11"},
    {"of a brace that is missing",
     "const r: Array<{id: number}> = [];\nfor (const k of r) {\n  k.id;\n", "2:20"},
    {"of one too many", "async function run(): Promise<number> {\n  return 1;\n}}\n",
     "3:2"},
    {"and of one in a function that is returned",
     "async function run(): Promise<number> {\n  if (input) {\n  return await 1;\n}\n",
     "1:39"},
    {"of a slip before what is more than a type",
     "const a: number = 1;\nconst b = (a + ;\nenum E { A }", "2:16"},
    {"of what only looks like types", "const a: = 1;\nglobalThis.ran = a as any",
     "1:8"},
    {"after types of several lines", "interface A {\n  b: number\n}\n  nope()", "4:3"},
};
#endif

static size_t check(const struct row *rows, size_t count, const char *prefix)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const char *expected = rows[i].value;
        char *text = outcome(rows[i].code);
        char *at = prefix != NULL ? strrchr(text, '@') : NULL;
        const char *was = at != NULL ? at + 1 : text;
        bool same = expected[0] == '~'
                        ? strncmp(was, expected + 1, strlen(expected + 1)) == 0
                        : strcmp(was, expected) == 0;

        if (!same)
            print_message("%s\n  expected %s\n  was      %s\n", rows[i].name, expected,
                          text);
        wrong += !same;
        free(text);
    }
    return wrong;
}

#define CHECK(rows, prefix) \
    assert_int_equal(check(rows, sizeof(rows) / sizeof(rows)[0], prefix), 0)

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

static void test_types__are_taken_out_and_nothing_moves(void **state)
{
    (void)state;
#ifdef GBX_CODE_TAKES_TYPES
    CHECK(types, NULL);
    CHECK(type_places, "@");
#else
    print_message("skipped: built without the grammar of TypeScript\n");
    skip();
#endif
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
        cmocka_unit_test(test_types__are_taken_out_and_nothing_moves),
        cmocka_unit_test(test_a_function_that_nothing_calls__is_known),
        cmocka_unit_test(test_text_that_is_no_code__stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, start, finish);
}
