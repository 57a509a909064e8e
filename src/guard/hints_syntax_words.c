/* SPDX-License-Identifier: MIT */
/* hints_syntax_words - the engine's messages about syntax, and a hint for each. */
#include "guard/internal.h"

#include "base/cleanup.h"

#define HINT_AWAIT \
    "'await' works only directly inside an async function: write 'async' before it"
#define HINT_QUOTES "replace the typographic quotes by ' or \""
#define HINT_NAME   "this word is reserved: choose another name"
#define HINT_DECLARATION                                                                \
    "a declaration cannot stand here: put it in braces, { const x = ...; }, and where " \
    "a value is needed end them with return"
#define HINT_TWICE \
    "this name is taken in the same scope: choose another, or assign without let or const"
#define HINT_JUMP \
    "use 'return' to leave a callback, or a for loop, which can be left and continued"
#define HINT_MISSING "an operator, ';' or closing bracket is missing before this"

/* Particular messages come before general ones. */
static const gbx_wording wordings[] = {
    {"must have an initializer", "give the const a value, or declare it with 'let'"},
    {"variable twice", HINT_TWICE},
    {"that shadows a", HINT_TWICE},
    {"for-await-of can only", HINT_AWAIT},
    {"is only valid inside a", HINT_JUMP},
    {"'with' statements", "strict mode has no 'with': name the object each time"},
    {"leading zero", "write octal numbers as 0o17, and others without the zero before"},
    {"Cannot delete unqualified",
     "strict mode cannot delete a variable: set it to null"},
    {"Cannot modify", "strict mode does not assign to this name: choose another"},
    {"Invalid character '\\u201", HINT_QUOTES},
    {"Invalid character: '@'", "decorators are not JavaScript yet: call the function"},
    {"Invalid character", "remove this character, or put it in a string"},
    {"numeric escape", "write a character by its number as \\x41 or \\u0041"},
    {"invalid flags", "the flags of a regular expression are of dgimsuvy, each once"},
    {"Invalid regular expression",
     "write \\ before a character that is meant as itself: \\( \\[ \\+"},
    {"Return statements", "'return' works only inside a function"},
    {"parameter named", "give each parameter a name of its own"},
    {"undeclared label",
     "write it without a label, or label the loop: name: for (...)"},
    {"only allowed inside blocks",
     "put the function in braces, or assign it: const f = function () { ... }"},
    {"Unterminated regular expression",
     "nothing closes this regular expression: a '/' in "
     "it is written \\/"},
    {"comment was not closed", "close the comment with */"},
    {"Function statements must have a name",
     "name the function, or assign it: const f = function () { ... }"},
    {"directly after numeric literal",
     "a name cannot begin with a digit; or an operator "
     "is missing"},
    {"undeclared private names", "declare the private field in the class: #name;"},
    {"is not a reference",
     "only a variable or a property can be assigned to; to compare, "
     "use ==="},
    {"Coalescing and logical", "put parentheses around one of the two: (a ?? b) || c"},
    {"Ambiguous unary expression", "put parentheses around it: (-a) ** 2"},
    {"at least a catch or finally", "add catch (e) { ... } after the try block"},
    {"Expected ':' in ternary", "a ? b : c needs its third part"},
    {"start a for-loop header", "write for (const x of list) { ... }"},
    {"to end an argument list",
     "a ',' or ')' is missing before this, in the arguments of a call"},
    {"to end an object literal", "a ',' is missing before this, in an object"},
    {"following an array element", "a ',' or ']' is missing before this, in an array"},
    {"to end a subscript", "a ']' is missing before this"},
    {"in parameter list",
     "the parameters before '=>' are not valid: names, patterns and "
     "default values, each name once"},
    {"after a parameter declaration",
     "a ',' is missing before this, in the parameters"},
    {"import call expects", "modules cannot be loaded: use what JavaScript itself has"},
    {"keyword 'import'", "modules cannot be loaded: use what JavaScript itself has"},
    {"keyword 'export'", "leave 'export' out: the code is not a module"},
    {"keyword 'else'", "this 'else' has no 'if': look at the brackets before it"},
    {"keyword 'catch'", "this 'catch' has no 'try': look at the brackets before it"},
    {"keyword 'case'", "this 'case' is in no 'switch': look at the brackets before it"},
    {"yield expression", "'yield' works only in a generator: function* () { ... }"},
    {"Cannot use the keyword", HINT_NAME},
    {"Cannot use the reserved word", HINT_NAME},
    {"super is not valid", "'super' works only in a method of a class or object"},
    {"following a return statement",
     "an operator, ';' or new line is missing before this"},
    {"after variable declaration", "an operator, ',' or ';' is missing before this"},
    {"following a class field", "a ';' or new line is missing before this"},
    {"property name after '.'", "a property name is missing before this"},
    {"Unexpected identifier", "an operator, ',' or ';' is missing before this"},
    {"Unexpected number", "an operator, ',' or ';' is missing before this"},
    {"Unexpected string literal", "an operator, ',' or ';' is missing before this"},
    {"keyword 'const'. Expected", HINT_MISSING},
    {"keyword 'let'. Expected", HINT_MISSING},
    {"keyword 'const'", HINT_DECLARATION},
    {"keyword 'let'", HINT_DECLARATION},
    {"Unexpected keyword", HINT_MISSING},
    {"Unexpected token", "something is missing or too much here"},
};

/* ---- public to other modules -------------------------------------------- */

const char *gbx_syntax_wording(const char *message)
{
    return gbx_wording_find(wordings, GBX_COUNTOF(wordings), message);
}
