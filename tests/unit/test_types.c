/* SPDX-License-Identifier: MIT */
/* What is left of TypeScript, character by character where it stood. That it does what it
 * should, the engine says (tests/integration/test_code_typed.c). */
#include "analysis/internal.h"
#include "syntax/arena.h"
#include "test.h"

#include <ctype.h>

#define TEXT_MAX 500

static const struct row {
    const char *name;
    const char *code;
    const char *left; /* each run of blanks as one; "~": why it is refused */
} rows[] = {
    {"variance of an interface", "interface A<in T, out U, in out V> { a: T }\n(0)",
     ";\n(0)"},
    {"of an alias", "type D<in out T extends object = {}> = T\n(0)", ";\n(0)"},
    {"of a class", "class E<out T> { m<const U>(u: U) { return u } }",
     "class E { m (u ) { return u } }"},
    {"of one among others, behind a comment",
     "interface A<\n  // one\n  out B extends C.D = C.D,\n  out E = unknown,\n> extends F<B> {}",
     ";\n\n\n\n"},
    {"names of type parameters that look so", "class A<out, In> { a: out }",
     "class A { a; }"},
    {"a variable of such a name", "const a: any = [b, out as any, out in a, c < out]",
     "const a = [b, out , out in a, c < out]"},
    {"a static field that is only declared",
     "class A { y = 1\n static declare x: T; private static declare readonly q: T\n z = 1 }",
     "class A { y = 1\n ; ; ;\n z = 1 }"},
    {"a static field whose name is declare",
     "class A<in T> { static declare = 1; static\n declare\n x = 1 }",
     "class A { static declare = 1; static\n declare\n x = 1 }"},
    {"a static index signature", "class A { y = 1\n static [k: string]: T\n z = 1 }",
     "class A { y = 1\n ; ;\n z = 1 }"},
    {"a static computed name",
     "class A<in T> { static [k]: T = 1; static [k ? 1 : 2] = 2 }",
     "class A { static [k] = 1; static [k ? 1 : 2] = 2 }"},
    {"a field whose name is a modifier elsewhere",
     "class P { title: string; abstract: string = ''; private accessor?: T; readonly abstract!: T }",
     "class P { title; ; abstract = ''; ; accessor ; ; ; abstract ; }"},
    {"a method",
     "class P { abstract(): string { return 1 } private accessor<T>(x: T) {} }",
     "class P { abstract() { return 1 } ; accessor (x ) {} }"},
    {"an abstract one is none",
     "abstract class P { abstract abstract(): T; abstract a: T }",
     " class P { ; ; ; }"},
    {"an accessor field is refused", "class A { accessor x = 1 }",
     "~an accessor field is more than a type @10"},
    {"a static one is", "class A { static accessor x: T = 1 }",
     "~an accessor field is more than a type @17"},
    {"an import of nothing but types", "import { type A, type B as C } from 'a'\nb()",
     ";\nb()"},
    {"an export of nothing but types", "export { type A, type B }\nb()", ";\nb()"},
    {"an export of nothing", "export {}\nexport { };\nb()", ";\n;\nb()"},
    {"an export of a value", "export { b }\nexport {} from 'a'",
     "export { b }\nexport {} from 'a'"},
    {"comparisons of what is given", "f(input.a < input.b, data.c > (1))",
     "f(input.a < input.b, data.c > (1))"},
    {"one type argument, even of a function's name",
     "const n = f<bigint>(x).a; function bigint() {}",
     "const n = f (x).a; function bigint() {}"},
    {"a return type on a line of its own", "const f = (a: T)\n: U => a",
     "const f = (a\n ) => a"},
    {"an import of a value", "import { type A, b } from 'a'",
     "import { type A, b } from 'a'"},
    {"an import of a value and types", "import a, { type A } from 'a'",
     "import a, { type A } from 'a'"},
    {"an import of all", "import * as a from 'a'", "import * as a from 'a'"},
};

struct work {
    const char *code;
    char to[TEXT_MAX];
    gbx_types_fault fault;
    bool is_typescript;
};

static void take(void *user)
{
    struct work *w = user;

    w->is_typescript = gbx_types_take(w->code, strlen(w->code), w->to, &w->fault);
}

/* In its place. */
static void collapse(char *text)
{
    size_t n = 0;

    for (size_t i = 0; text[i] != 0; i++)
        if (text[i] != ' ' ||
            (text[i + 1] != ' ' && text[i + 1] != '\n' && text[i + 1] != 0))
            text[n++] = text[i];
    text[n] = 0;
}

static bool is_as_expected(const struct row *row)
{
    struct work w = {.code = row->code};
    char was[TEXT_MAX];

    strcpy(w.to, row->code);
    assert_int_equal(gbx_arena_run((size_t)100 << 20, take, &w), GBX_ARENA_DONE);
    assert_int_equal(strlen(w.to), strlen(row->code));
    collapse(w.to);
    if (w.fault.hint != GBX_HINT_NONE)
        (void)snprintf(was, sizeof was, "~%s @%zu",
                       gbx_hint_row_of(w.fault.hint)->message, w.fault.offset);
    else
        (void)snprintf(was, sizeof was, "%s", w.is_typescript ? w.to : "no TypeScript");
    if (strcmp(was, row->left) == 0)
        return true;
    print_message("%s\n  expected %s\n  was      %s\n", row->name, row->left, was);
    return false;
}

TEST(types__leave_the_code_where_it_stood)
{
    size_t wrong = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        wrong += !is_as_expected(&rows[i]);
    assert_int_equal(wrong, 0);
}

TEST_MAIN(NULL, NULL)
