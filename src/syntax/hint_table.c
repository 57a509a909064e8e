/* SPDX-License-Identifier: MIT */
/* hint_table - the rows: those with a name, then those with a pattern. The first pattern
 * that matches is used: specific ones come before general ones. */
#include "syntax/hint_table.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "syntax/tree.h"

#include <string.h>

/* clang-format off */
#define HINT(name, hint)           [GBX_HINT_##name] = {GBX_HINT_OF_CODE, NULL, hint, NULL},
#define FAULT(name, message, hint) [GBX_HINT_##name] = {GBX_HINT_OF_CODE, NULL, hint, message},
#define SYNTAX(pattern, hint)      {GBX_HINT_OF_SYNTAX, pattern, hint, NULL}
#define FAILURE(pattern, hint)     {GBX_HINT_OF_FAILURE, pattern, hint, NULL}
#define NAMES(pattern, hint)       {GBX_HINT_OF_NAME, pattern, hint, NULL}

static const gbx_hint_row rows[] = {
    GBX_HINT_MAP(HINT, FAULT)
    /* The engine's messages about syntax. */
    SYNTAX("must have an initializer",
           "give the const a value, or declare it with 'let'"),
    SYNTAX("variable twice",
           "this name is taken in the same scope: choose another, or assign without "
           "let or const"),
    SYNTAX("that shadows a",
           "this name is taken in the same scope: choose another, or assign without "
           "let or const"),
    SYNTAX("for-await-of can only",
           "'await' works only directly inside an async function: write 'async' before "
           "it"),
    SYNTAX("is only valid inside a",
           "use 'return' to leave a callback, or a for loop, which can be left and "
           "continued"),
    SYNTAX("'with' statements", "strict mode has no 'with': name the object each time"),
    SYNTAX("leading zero",
           "write octal numbers as 0o17, and others without the zero before"),
    SYNTAX("Cannot delete unqualified",
           "strict mode cannot delete a variable: set it to null"),
    SYNTAX("Cannot modify", "strict mode does not assign to this name: choose another"),
    SYNTAX("Invalid character '\\u201", "replace the typographic quotes by ' or \""),
    SYNTAX("Invalid character: '@'",
           "decorators are not JavaScript yet: call the function"),
    SYNTAX("Invalid character", "remove this character, or put it in a string"),
    SYNTAX("numeric escape", "write a character by its number as \\x41 or \\u0041"),
    SYNTAX("invalid flags",
           "the flags of a regular expression are of dgimsuvy, each once"),
    SYNTAX("Invalid regular expression",
           "write \\ before a character that is meant as itself: \\( \\[ \\+"),
    SYNTAX("Return statements", "'return' works only inside a function"),
    SYNTAX("parameter named", "give each parameter a name of its own"),
    SYNTAX("undeclared label",
           "write it without a label, or label the loop: name: for (...)"),
    SYNTAX("only allowed inside blocks",
           "put the function in braces, or assign it: const f = function () { ... }"),
    SYNTAX("Unterminated regular expression",
           "nothing closes this regular expression: a '/' in it is written \\/"),
    SYNTAX("comment was not closed", "close the comment with */"),
    SYNTAX("Function statements must have a name",
           "name the function, or assign it: const f = function () { ... }"),
    SYNTAX("directly after numeric literal",
           "a name cannot begin with a digit; or an operator is missing"),
    SYNTAX("undeclared private names", "declare the private field in the class: #name;"),
    SYNTAX("is not a reference",
           "only a variable or a property can be assigned to; to compare, use ==="),
    SYNTAX("Coalescing and logical",
           "put parentheses around one of the two: (a ?? b) || c"),
    SYNTAX("Ambiguous unary expression", "put parentheses around it: (-a) ** 2"),
    SYNTAX("at least a catch or finally", "add catch (e) { ... } after the try block"),
    SYNTAX("Expected ':' in ternary", "a ? b : c needs its third part"),
    SYNTAX("start a for-loop header", "write for (const x of list) { ... }"),
    SYNTAX("Unexpected identifier 'and'", "write && in place of 'and'"),
    SYNTAX("Unexpected identifier 'or'", "write || in place of 'or'"),
    SYNTAX("to end an argument list",
           "a ',' or ')' is missing before this, in the arguments of a call"),
    SYNTAX("to end an object literal", "a ',' is missing before this, in an object"),
    SYNTAX("following an array element",
           "a ',' or ']' is missing before this, in an array"),
    SYNTAX("to end a subscript", "a ']' is missing before this"),
    SYNTAX("in parameter list",
           "the parameters before '=>' are not valid: names, patterns and default "
           "values, each name once"),
    SYNTAX("after a parameter declaration",
           "a ',' is missing before this, in the parameters"),
    SYNTAX("import call expects",
           "modules cannot be loaded: use what JavaScript itself has"),
    SYNTAX("keyword 'import'",
           "modules cannot be loaded: use what JavaScript itself has"),
    SYNTAX("keyword 'export'",
           "leave 'export' out, and all of a statement that does no more than export: "
           "the code is not a module"),
    SYNTAX("keyword 'else'", "this 'else' has no 'if': look at the brackets before it"),
    SYNTAX("keyword 'catch'",
           "this 'catch' has no 'try': look at the brackets before it"),
    SYNTAX("keyword 'case'",
           "this 'case' is in no 'switch': look at the brackets before it"),
    SYNTAX("yield expression", "'yield' works only in a generator: function* () { ... }"),
    SYNTAX("Cannot use the keyword", "this word is reserved: choose another name"),
    SYNTAX("Cannot use the reserved word", "this word is reserved: choose another name"),
    SYNTAX("super is not valid", "'super' works only in a method of a class or object"),
    SYNTAX("following a return statement",
           "an operator, ';' or new line is missing before this"),
    SYNTAX("after variable declaration",
           "an operator, ',' or ';' is missing before this"),
    SYNTAX("following a class field", "a ';' or new line is missing before this"),
    SYNTAX("property name after '.'", "a property name is missing before this"),
    SYNTAX("Unexpected identifier", "an operator, ',' or ';' is missing before this"),
    SYNTAX("Unexpected number", "an operator, ',' or ';' is missing before this"),
    SYNTAX("Unexpected string literal", "an operator, ',' or ';' is missing before this"),
    SYNTAX("keyword 'const'. Expected",
           "an operator, ';' or closing bracket is missing before this"),
    SYNTAX("keyword 'let'. Expected",
           "an operator, ';' or closing bracket is missing before this"),
    SYNTAX("keyword 'const'",
           "a declaration cannot stand here: put it in braces, { const x = ...; }, and "
           "where a value is needed end them with return"),
    SYNTAX("keyword 'let'",
           "a declaration cannot stand here: put it in braces, { const x = ...; }, and "
           "where a value is needed end them with return"),
    SYNTAX("Unexpected keyword",
           "an operator, ';' or closing bracket is missing before this"),
    SYNTAX("Unexpected token", "something is missing or too much here"),
    /* Its messages about what was thrown. */
    FAILURE("cannot serialize BigInt",
            "JSON has no BigInt: return String(n), or Number(n)"),
    FAILURE("BigInt, which JSON", "JSON has no BigInt: return String(n), or Number(n)"),
    FAILURE("parse String to BigInt",
            "the text is not a whole number: test it, or use Number(text)"),
    FAILURE("BigInt", "make both the same kind: Number(n), or BigInt(x)"),
    FAILURE("cyclic structure",
            "JSON cannot hold a value that contains itself: return only the fields "
            "that are needed"),
    FAILURE("can never settle", "resolve it on every path, and await what it depends on"),
    FAILURE("not extensible",
            "the object is sealed or frozen: make a copy, { ...object }"),
    FAILURE("Unable to delete property",
            "the object is sealed or frozen: make a copy without it"),
    FAILURE("readonly property",
            "the object is frozen, or the property has only a getter: make a copy, { "
            "...object } or [...list]"),
    FAILURE("call stack size exceeded",
            "the recursion does not end, or goes too deep: check its end, or write a "
            "loop"),
    FAILURE("without |new|", "a class is called with 'new'"),
    FAILURE("is not a constructor",
            "only a class or a plain function can be called with 'new'"),
    FAILURE("cannot be destructured",
            "the value on the right is missing: give it a default, const { a } = value "
            "?? {}"),
    FAILURE("null or undefined",
            "what it is given is null or undefined: test it, or give a default, value "
            "?? {}"),
    FAILURE("AggregateError",
            "every promise was rejected: catch the error, its 'errors' say why"),
    FAILURE("with no initial value",
            "give reduce its second argument, the value for an empty list"),
    FAILURE("callback must be a function",
            "pass a function, not the result of calling it"),
    FAILURE("comparator argument",
            "pass a function of two items: list.sort((a, b) => a - b)"),
    FAILURE("Invalid Date",
            "the text is not a date: test with Number.isNaN(date.getTime())"),
    FAILURE("Invalid time value",
            "the text is not a date: test with Number.isNaN(date.getTime())"),
    FAILURE("'super()' must be called", "call super() first in the constructor"),
    FAILURE("is not an Object. (evaluating",
            "'in' needs an object on its right; for text use includes()"),
    FAILURE("Unexpected identifier \"object\"",
            "it is an object already: leave JSON.parse away"),
    FAILURE("JSON Parse error", "the text is not JSON: test it, or parse it inside try"),
    FAILURE("Invalid regular expression",
            "write \\\\ before characters with a meaning of their own"),
    FAILURE("EvalError", "code cannot be made from a string here: write it out"),
    FAILURE("Right hand side of instanceof", "instanceof needs a class on its right"),
    FAILURE("WeakMap keys", "use Map: its keys can be anything"),
    FAILURE("Array length must be", "a length is a whole number from 0 to 4294967295"),
    /* Names that do not exist here. */
    NAMES("fetch Request Response Headers",
          "fetch is off: allow it with --allow fetch=HOST, or make the request outside"),
    NAMES("AbortController AbortSignal",
          "it comes with fetch: allow that with --allow fetch=HOST, or do without it"),
    NAMES("XMLHttpRequest WebSocket EventSource axios http https",
          "code has no network: make the request outside and give its answer as the "
          "input"),
    NAMES("fs",
          "files are off: allow them with --allow file=DIRECTORY, or give the data as "
          "the input"),
    NAMES("crypto createHash createHmac",
          "hashing is off: allow it with --allow crypto, or compute the hash outside"),
    NAMES("env",
          "variables are off: allow them with --allow env=NAME, or give the value as "
          "the input"),
    NAMES("require module exports process global Buffer path os child_process __dirname "
          "__filename setImmediate Deno Bun",
          "this is not Node.js: no module, file or process can be reached; give what "
          "the code needs as its input"),
    NAMES("window document localStorage sessionStorage navigator location alert prompt "
          "confirm history self Worker Blob File FormData HTMLElement",
          "this is not a browser and has no page; work on the input and return a value"),
    NAMES("string number boolean any unknown never Record Partial Pick Readonly",
          "types are removed from code, and are not values: write what is meant"),
    NAMES("$json $input $node $items $now $jmespath",
          "this is not n8n: code is given its data as its input, (data) => ..."),
    NAMES("None True False print len elif self range str int dict",
          "this is Python's word: write it in JavaScript"),
    NAMES("_ $ lodash jQuery moment dayjs DateTime luxon zod R d3 Papa math",
          "no library is loaded: use the methods of Array, Object, Map and Intl"),
    NAMES("setTimeout setInterval clearTimeout clearInterval sleep",
          "timers are switched off for this call: compute the value at once"),
    NAMES("queueMicrotask", "use Promise.resolve().then(...)"),
    NAMES("console",
          "the console is switched off for this call: return what is to be seen"),
    NAMES("structuredClone", "copy with JSON.parse(JSON.stringify(value))"),
    NAMES("URL URLSearchParams",
          "take addresses apart with split() or a regular expression"),
    NAMES("TextEncoder TextDecoder",
          "use encodeURIComponent(), or codePointAt() in a loop"),
    NAMES("atob btoa", "base64 is not built in: decode it outside"),
    NAMES("performance", "use Date.now()"),
    NAMES("Temporal", "use Date and Intl.DateTimeFormat"),
    NAMES("SharedArrayBuffer Atomics", "there is one thread: use ArrayBuffer"),
    NAMES("WebAssembly", "write it in JavaScript"),
    NAMES("arguments", "an arrow function has no 'arguments': write (...args) => ..."),
    NAMES("NULL nil null_ Null", "write null"),
    NAMES("data input items rows records",
          "the input is the function's parameter: (data) => ...; in form 'body' it is "
          "'params'"),
    NAMES("params env context",
          "these names exist only in form 'body': here the input is the function's "
          "parameter"),
};
/* clang-format on */

#define BASE64 \
    "new Uint8Array(bytes).toBase64() and Uint8Array.fromBase64(text) are there"
#define NETWORK_TOOL                                                                \
    "code has no network: call a tool that has it, servers.NAME.tool(args); await " \
    "discover(\"fetch url\") finds one"
#define FILE_TOOL                                                                   \
    "code has no files: call a tool that has them, servers.NAME.tool(args); await " \
    "discover(\"read file\") finds one, and await artifact(name, value) keeps a value"

/* Hints that only the operator could follow, and what they mean for the author of code.
 * In order: specific ones before general ones. */
static const struct {
    const char *part;
    const char *advice; /* NULL: the hint itself */
    const char
        *with_tools; /* the same in code mode, whose scripts have tools; or NULL */
} settings[] = {
    {"--allow fetch=SITE", "ask a site that is allowed, or do without this request",
     "ask a site that is allowed, or call a tool of a server, servers.NAME.tool(args)"},
    {"it comes with fetch", "it comes with fetch, which is off here: do without it",
     "a call is bounded by its options, servers.NAME.tool(args, { timeoutMs: 5000 }), "
     "and the first of several is await Promise.race([...])"},
    {"--allow fetch", "fetch is off here: use the tools and data that there are",
     NETWORK_TOOL},
    {"make the request outside", NULL, NETWORK_TOOL},
    {"--allow file", "files are off here: use the tools and data that there are",
     FILE_TOOL},
    {"write it outside", NULL, FILE_TOOL},
    {"--allow crypto", "hashing is off here: do without it",
     "no hashes are computed in the code: call a tool that does, if await "
     "discover(\"hash\") finds one"},
    {"--allow env", "variables are off here: write the value into the code",
     "give the value to the code as its input"},
    {"base64 is not built in", BASE64,
     BASE64 "; await artifact(name, bytes) keeps bytes as they are"},
    {"or load the data as a dataset", "give the code less data at once", NULL},
    {"raise the memory limit",
     "work on the data in smaller pieces, and keep only what is needed", NULL},
    {"loop that does not end", "look for a loop that does not end, or do less at once",
     NULL},
    {"or raise the limit", "the host did not answer in time: try again", NULL},
    {"the host lacks",
     "whoever runs this must free some of what is lacking, or raise its limit", NULL},
    {"find who killed it", "the process of the code was killed: try again", NULL},
    {"run fewer calls at once", "too many calls run: run fewer at once, or try later",
     NULL},
};

const gbx_hint_row *gbx_hint_row_of(uint32_t number)
{
    return &rows[number < GBX_COUNTOF(rows) ? number : GBX_HINT_NONE];
}

const char *gbx_hint_for_code(const char *hint, bool has_tools)
{
    for (size_t i = 0; i < GBX_COUNTOF(settings); i++) {
        if (strstr(hint, settings[i].part) == NULL)
            continue;
        if (has_tools && settings[i].with_tools != NULL)
            return settings[i].with_tools;
        return settings[i].advice != NULL ? settings[i].advice : hint;
    }
    return hint;
}

uint32_t gbx_hint_find(gbx_hint_kind kind, const char *message)
{
    for (uint32_t i = GBX_HINTS_NAMED; i < GBX_COUNTOF(rows); i++)
        if (rows[i].kind == kind && strstr(message, rows[i].pattern) != NULL)
            return i;
    return GBX_HINT_NONE;
}

uint32_t gbx_hint_of_name(const char *name, size_t len)
{
    for (uint32_t i = GBX_HINTS_NAMED; i < GBX_COUNTOF(rows); i++)
        if (rows[i].kind == GBX_HINT_OF_NAME &&
            gbx_text_is_listed(rows[i].pattern, name, len))
            return i;
    return GBX_HINT_NONE;
}
