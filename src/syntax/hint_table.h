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

/* The rows that code names; in the table, rows that only a pattern finds follow. */
typedef enum gbx_hint {
    GBX_HINT_NONE,
    GBX_HINT_AWAIT,
    GBX_HINT_AWAIT_MAP,
    GBX_HINT_AWAIT_EACH,
    GBX_HINT_OPEN,
    GBX_HINT_CLOSE_ROUND,
    GBX_HINT_CLOSE_SQUARE,
    GBX_HINT_CLOSE_CURLY,
    GBX_HINT_JSX,
    GBX_HINT_PROSE,
    GBX_HINT_ENTITY,
    GBX_HINT_PYTHON,
    GBX_HINT_SQL,
    GBX_HINT_USING,
    GBX_HINT_STRING,
    GBX_HINT_OBJECT,
    GBX_HINT_STATEMENT,
    GBX_HINT_VALUE,
    GBX_HINT_CUT,
    GBX_HINT_PROMISE,
    GBX_HINT_CONST,
    GBX_HINT_MISSING,
    GBX_HINT_ARGUMENT,
    GBX_HINT_PATTERN,
    GBX_HINT_ITERATE,
    GBX_HINT_ARRAY,
    GBX_HINT_SEMICOLON,
    GBX_HINT_METHOD,
    GBX_HINT_FILES,
    GBX_HINT_DECLARE,
    GBX_HINT_SCOPE,
    GBX_HINT_UNKNOWN,
    GBX_HINT_EARLY,
    GBX_HINT_SCRIPT_INPUT,
    GBX_HINT_TYPES,
    GBX_HINT_ESCAPED_BREAK,
    GBX_HINT_ESCAPED_QUOTE,
    GBX_HINT_CLOSES_NOTHING,
    GBX_HINT_UNREADABLE,
    GBX_HINT_DECORATOR,
    GBX_HINT_ENUM,
    GBX_HINT_IMPORT_ALIAS,
    GBX_HINT_NAMESPACE,
    GBX_HINT_MODULE,
    GBX_HINT_CAST_CALLED,
    GBX_HINT_TYPE_END,
    GBX_HINT_PROPERTY_PARAMETER,
    GBX_HINT_LONG_CAST,
    GBX_HINT_ACCESSOR,
    GBX_HINT_UNAWAITED,      /* the host completes the text with the call, */
    GBX_HINT_UNAWAITED_LIST, /* or a call for each item of a list */
    GBX_HINT_UNCALLED,       /* with the function, */
    GBX_HINT_MISSING_FIELD,  /* with a member that no record has, the nearest field, */
    GBX_HINT_MISSING_MEMBER, /* the same for results of calls, */
    GBX_HINT_DATASET_OF_ALL, /* with a dataset; the argument is an object of all, */
    GBX_HINT_DATASET_OTHER,  /* or another dataset, */
    GBX_HINT_DATASET_ITSELF, /* or that dataset, */
    GBX_HINT_NO_DATASET,     /* or one that does not exist */
    GBX_HINT_DATASETS,
    GBX_HINT_NO_INPUT,
    GBX_HINT_INPUT_TEXT,
    GBX_HINT_GLOBALS, /* of code mode */
    GBX_HINT_CONTENT,
    GBX_HINT_TOOLS, /* code mode adds its servers */
    GBX_HINT_UNKNOWN_CALL,
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
