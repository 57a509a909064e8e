/* SPDX-License-Identifier: MIT */
/* TypeScript as models write it: it is run without its types, and errors have the positions
 * of what was written. */
#include "script_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#ifdef GBX_CODE_TAKES_TYPES
static const script_row types[] = {
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
    {"of two comparisons the second may be with a sign, or a list",
     "const a = 1, b = 2, c = 3, d = [4], f = (...of) => of\n"
     "return [...f(a < b, c > -1), ...[a < b, c > +5], ...f(a < b, c > [5][0]), a < b | c > -1,\n"
     "  ...f(a < b, c > // of all\n -9), ...f(a < b, c /* d */ > /* e */ d[0])]",
     "[true,true,true,false,true,false,1,true,true,true,false]"},
    {"type arguments of a template are no comparison",
     "const sql = (s, ...of) => s.raw.join('?') + of, o = {f: (x) => sql, g: sql}\n"
     "return [sql<Row>`a${1 as any}`, sql<Row[]>`b`, o.g<{a: string; b: () => void}>`c`,\n"
     "  o.f(1)<string | number>\n`d${sql<X>`e`}`, sql<Map<string, A.B>>`f`]",
     "[\"a?1\",\"b\",\"c\",\"d?e\",\"f\"]"},
    {"nor of the call of what may be missing",
     "const f = (x) => x, none = null, T = 1\n"
     "return [f<T>?.(1), f<Map<string, T[]>>?.(2), none<T>?.(3) ?? 4]",
     "[1,2,4]"},
    {"nor of an imported type",
     "const f = (x: import('y').Z<string>): Promise<import(\"./z\").A.B<{a: 1}>[]> => x\n"
     "return f(1)",
     "1"},
    {"nor one that reads as an expression",
     "return ((x) => x)(Array<import('y').Z>(3)).length", "3"},
    {"what a template is compared with stays",
     "const a = 1, b = 2, c = '3'\nreturn [(a < b) > `x`, a < 2 > `0`, a+1<b || c > `x`]",
     "[false,true,false]"},
    {"nor does a class beside a variable make types of them",
     "class Limit { static max = 9 }\nconst x = 3, lo = 1, f = (...of) => of\n"
     "return [...f(x < lo, Limit.max > (x)), x < lo, Limit.max > (x + 8), f<Limit>(1)[0],\n"
     "  ...f(Limit.min < Limit.max, Limit.max > (x))]",
     "[false,true,false,false,1,false,true]"},
    {"what a type is given to may be no call",
     "const f = (x) => x\nconst g = f<string>\nconst h = [f<number>, 5]\n"
     "return [g(1), h[0](2), (f<{a: 1}>)(3), f<number> ? 4 : 5]",
     "[1,2,3,4]"},
    {"a variable is no operand of a call without arguments",
     "const T = 1, f = () => 2\nreturn f<T>()", "2"},
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
    {"nor is its name a word before what follows",
     "class A { get: number\n static?: string\n set!: () => void\n constructor(o) { this.o = o }\n"
     " async: any\n static: string\n go() { return this.o }\n get: number | // b\n null\n ['x'] = 1 }\n"
     "return [new A(2).go(), Object.keys(new A(1))]",
     "[2,[\"get\",\"static\",\"set\",\"async\",\"x\",\"o\"]]"},
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

static const script_row type_places[] = {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types__are_taken_out_and_nothing_moves),
    };

    return cmocka_run_group_tests(tests, script_rows_start, script_rows_finish);
}
