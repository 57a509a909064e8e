/* SPDX-License-Identifier: MIT */
/*
 * hint_table - what a failure means and how to repair it: one table of all texts.
 *
 * The worker finds the row, since only it reads the code. It sends the row's number,
 * and the host takes the text from its own copy of the table: a worker that was taken
 * over cannot write advice. Both come from one build, so their numbers agree.
 */
#ifndef GBX_SYNTAX_HINT_TABLE_H
#define GBX_SYNTAX_HINT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The rows that code names; in the table, rows that only a pattern finds follow.
 * HINT(name, hint), FAULT(name, message, hint): with a message in place of the engine's.
 */
/* clang-format off */
#define GBX_HINT_MAP(HINT, FAULT)                                                      \
    HINT(NONE, "")                                                                     \
    HINT(AWAIT, "'await' works only directly inside an async function: write 'async' " \
         "before it")                                                                  \
    HINT(AWAIT_MAP, "make the callback async and wait for all: await "                 \
         "Promise.all(list.map(async (x) => ...))")                                    \
    HINT(AWAIT_EACH, "a callback cannot make the loop wait: use for (const x of "      \
         "list) { await ...; }")                                                       \
    HINT(OPEN, "nothing closes this bracket: close it where what it holds ends")       \
    FAULT(CLOSE_ROUND, "Unexpected token ')'",                                         \
          "this bracket closes nothing: remove it, or open it before")                 \
    FAULT(CLOSE_SQUARE, "Unexpected token ']'",                                        \
          "this bracket closes nothing: remove it, or open it before")                 \
    FAULT(CLOSE_CURLY, "Unexpected token '}'",                                         \
          "this bracket closes nothing: remove it, or open it before")                 \
    HINT(JSX, "this is JSX, but code has no page, so return data, not elements")       \
    HINT(PROSE, "this is prose, not code: give the code alone")                        \
    HINT(ENTITY, "the code has HTML entities: write < > & and quotes as they are")     \
    HINT(PYTHON, "this looks like Python: write it in JavaScript")                     \
    HINT(SQL, "this looks like SQL: write it in JavaScript")                           \
    HINT(USING, "there is no 'using' here: declare it with const, and end what needs " \
         "it in try { ... } finally { ... }")                                          \
    HINT(STRING, "nothing closes this string: a string in quotes ends on its line, "   \
         "one in `backquotes` may go on")                                              \
    HINT(OBJECT, "'{' after '=>' begins a body: to return an object put it in "        \
         "parentheses, => ({ ... })")                                                  \
    HINT(STATEMENT, "a statement stands where a function is needed: write (data) => "  \
         "{ ...; return ...; }")                                                       \
    HINT(VALUE, "a value is missing before this")                                      \
    HINT(CUT, "the code ends here, and something is missing: send all of it")          \
    HINT(PROMISE, "this is a promise, since it comes from an async function: write "   \
         "'await' before the call, and 'async' before the function around it")         \
    HINT(CONST, "a const cannot be assigned to: declare it with 'let'")                \
    HINT(MISSING, "the value before the last '.' or '[' is missing for at least one "  \
         "item: test it, or write '?.' instead of '.'")                                \
    HINT(ARGUMENT, "what it is given is null or undefined: test it, or give a "        \
         "default, value ?? {}")                                                       \
    HINT(PATTERN, "the value on the right is missing: give it a default, const { a } " \
         "= value ?? {}")                                                              \
    HINT(ITERATE, "this value is not a list: for an object use "                       \
         "Object.entries(value), and test for null")                                   \
    HINT(ARRAY, "the value has no such method: it is not an array; look at what the "  \
         "input is, e.g. data.items or Object.values(data)")                           \
    HINT(SEMICOLON, "a ';' is missing at the end of this line: the '(' or '[' on the " \
         "next one continues it")                                                      \
    HINT(METHOD, "no such function: check its name and what the value is")             \
    HINT(FILES, "of fs there is readFile(path, encoding) alone, which gives a "        \
         "promise: nothing waits, lists or writes here; write await "                  \
         "fs.readFile(path, 'utf8')")                                                  \
    HINT(DECLARE, "declare the variable with let or const: strict mode does not make " \
         "it by itself")                                                               \
    HINT(SCOPE, "this name is declared in another scope: let, const and parameters "   \
         "end with the block or function they are in")                                 \
    HINT(UNKNOWN, "declare it, or check its spelling")                                 \
    HINT(EARLY, "this name is used before its let, const or class is reached: move "   \
         "the declaration up")                                                         \
    HINT(SCRIPT_INPUT, "in form 'script' the input is called 'input'")                 \
    HINT(TYPES, "types are removed from code that is right otherwise, and are not "    \
         "values: look for the mistake here, or just before")                          \
    FAULT(ESCAPED_BREAK, "a backslash stands outside of a string",                     \
          "the code has \\n as two characters: send line breaks, which JSON writes "   \
          "as one \\n")                                                                \
    FAULT(ESCAPED_QUOTE, "a backslash stands outside of a string",                     \
          "the code has \\ before a quote that opens a string: it was escaped once "   \
          "too often")                                                                 \
    FAULT(CLOSES_NOTHING, "this bracket closes nothing",                               \
          "remove it, or open it before")                                              \
    FAULT(UNREADABLE, "neither JavaScript nor TypeScript can be read here",            \
          "look for a slip here, or a little before; a type that is right can be "     \
          "left away")                                                                 \
    FAULT(DECORATOR, "a decorator is more than a type", "leave decorators out")        \
    FAULT(ENUM, "an enum is more than a type",                                         \
          "use an object: const Color = { Red: 'red' }")                               \
    FAULT(IMPORT_ALIAS, "an import alias is more than a type",                         \
          "use const: code has no modules")                                            \
    FAULT(NAMESPACE, "a namespace is more than a type", "use an object")               \
    FAULT(MODULE, "a module is more than a type", "use an object")                     \
    FAULT(CAST_CALLED, "what 'as' or 'satisfies' gives is called without parentheses", \
          "write (value as Type)(...)")                                                \
    FAULT(TYPE_END, "it cannot be told where the type ends",                           \
          "put parentheses around it: (value as A.B.C)")                               \
    FAULT(PROPERTY_PARAMETER, "a parameter that is a property is more than a type",    \
          "declare the field and assign it in the constructor")                        \
    FAULT(LONG_CAST, "a cast of several lines is refused", "write value as Type")      \
    FAULT(ACCESSOR, "an accessor field is more than a type", "leave 'accessor' out")   \
    HINT(UNAWAITED, "") /* the host completes the text with the call, */               \
    HINT(UNAWAITED_LIST, "") /* or a call for each item of a list */                   \
    HINT(UNCALLED, "") /* with the function, */                                        \
    HINT(MISSING_FIELD, "") /* with a member that no record has, the nearest field, */ \
    HINT(MISSING_MEMBER, "") /* the same for results of calls, */                      \
    HINT(DATASET_OF_ALL, "") /* with a dataset; the argument is an object of all, */   \
    HINT(DATASET_OTHER, "") /* or another dataset, */                                  \
    HINT(DATASET_ITSELF, "") /* or that dataset, */                                    \
    HINT(NO_DATASET, "") /* or one that does not exist */                              \
    HINT(DATASETS, "data is an object of all datasets: write data.NAME, or name one "  \
         "in the argument 'dataset'")                                                  \
    HINT(NO_INPUT, "no input was given: send it in the argument 'input'")              \
    HINT(INPUT_TEXT, "input is a text: give the value itself in the argument "         \
         "'input', or use JSON.parse(input)")                                          \
    HINT(GLOBALS, "servers, discover, artifact, progress, sleep and input are there "  \
         "already: leave the parameter out") /* of code mode */                        \
    HINT(CONTENT, "a call gives the content itself, without .content or "              \
         ".structuredContent: use the value; servers.NAME.tool(args, { raw: true }) "  \
         "has them")                                                                   \
    HINT(TOOLS, "tools are called by their server: servers[\"NAME\"].call(\"tool\", "  \
         "{ name: value })") /* code mode adds its servers */                          \
    HINT(UNKNOWN_CALL, "declare this function, or check its spelling")
/* clang-format on */

typedef enum gbx_hint {
#define HINT(name, hint)           GBX_HINT_##name,
#define FAULT(name, message, hint) GBX_HINT_##name,
    GBX_HINT_MAP(HINT, FAULT)
#undef HINT
#undef FAULT
        GBX_HINTS_NAMED,
} gbx_hint;

typedef enum gbx_hint_kind {
    GBX_HINT_OF_CODE = 0, /* found by the tree */
    GBX_HINT_OF_SYNTAX,   /* the pattern is part of the engine's message about syntax */
    GBX_HINT_OF_FAILURE,  /* the same for a thrown error */
    GBX_HINT_OF_NAME,     /* the pattern lists names that do not exist */
} gbx_hint_kind;

typedef struct gbx_hint_row {
    uint8_t kind;
    const char *pattern;
    const char *hint;
    const char *message; /* in place of the engine's; or NULL */
} gbx_hint_row;

/* The row of that number; a number without a row has an empty hint. */
const gbx_hint_row *gbx_hint_row_of(uint32_t number);

/* The hint for the author of code, who cannot change settings: a constant, or the hint
 * itself. has_tools: it is a script of code mode. */
const char *gbx_hint_for_code(const char *hint, bool has_tools);

/* The first row of that kind whose pattern is part of the message, or GBX_HINT_NONE. */
uint32_t gbx_hint_find(gbx_hint_kind kind, const char *message);

/* The row whose pattern has that name, or GBX_HINT_NONE. */
uint32_t gbx_hint_of_name(const char *name, size_t len);

#endif
