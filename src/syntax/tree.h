/* SPDX-License-Identifier: MIT */
/*
 * tree - parse JavaScript within a time bound, and flatten the syntax tree.
 *
 * The flat form is one array in source order, parents before children; the nodes below
 * i are those from i + 1 up to next. Every pass over it is a loop, so nesting of the
 * code cannot exhaust the stack, and no pass takes more than linear time.
 *
 * All of it lives in the arena of the running gbx_arena_run().
 */
#ifndef GBX_SYNTAX_TREE_H
#define GBX_SYNTAX_TREE_H

#include <tree_sitter/api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The node kinds that passes ask for, by the grammar's name; sorted, and all others are
 * OTHER. XX(name, grammar_name)
 */
#define GBX_NODE_MAP(XX)                                           \
    XX(ERROR, "ERROR")                                             \
    XX(ARGUMENTS, "arguments")                                     \
    XX(ARRAY, "array")                                             \
    XX(ARRAY_PATTERN, "array_pattern")                             \
    XX(ARROW, "arrow_function")                                    \
    XX(ASSIGNMENT, "assignment_expression")                        \
    XX(ASSIGNMENT_PATTERN, "assignment_pattern")                   \
    XX(AUGMENTED, "augmented_assignment_expression")               \
    XX(AWAIT, "await_expression")                                  \
    XX(BREAK, "break_statement")                                   \
    XX(CALL, "call_expression")                                    \
    XX(CATCH, "catch_clause")                                      \
    XX(CLASS, "class")                                             \
    XX(CLASS_BODY, "class_body")                                   \
    XX(CLASS_DECLARATION, "class_declaration")                     \
    XX(CLASS_STATIC_BLOCK, "class_static_block")                   \
    XX(COMMENT, "comment")                                         \
    XX(COMPUTED_NAME, "computed_property_name")                    \
    XX(CONTINUE, "continue_statement")                             \
    XX(DO, "do_statement")                                         \
    XX(ELSE, "else_clause")                                        \
    XX(EMPTY, "empty_statement")                                   \
    XX(EXPORT, "export_statement")                                 \
    XX(EXPRESSION_STATEMENT, "expression_statement")               \
    XX(FOR_IN, "for_in_statement")                                 \
    XX(FOR, "for_statement")                                       \
    XX(PARAMETERS, "formal_parameters")                            \
    XX(FUNCTION_DECLARATION, "function_declaration")               \
    XX(FUNCTION, "function_expression")                            \
    XX(GENERATOR, "generator_function")                            \
    XX(GENERATOR_DECLARATION, "generator_function_declaration")    \
    XX(HASH_BANG, "hash_bang_line")                                \
    XX(HTML_COMMENT, "html_comment")                               \
    XX(IDENTIFIER, "identifier")                                   \
    XX(IF, "if_statement")                                         \
    XX(IMPORT_WORD, "import")                                      \
    XX(IMPORT_CLAUSE, "import_clause")                             \
    XX(IMPORT_SPECIFIER, "import_specifier")                       \
    XX(IMPORT, "import_statement")                                 \
    XX(JSX_ELEMENT, "jsx_element")                                 \
    XX(JSX_SELF_CLOSING, "jsx_self_closing_element")               \
    XX(LABELED, "labeled_statement")                               \
    XX(LEXICAL_DECLARATION, "lexical_declaration")                 \
    XX(MEMBER, "member_expression")                                \
    XX(META_PROPERTY, "meta_property")                             \
    XX(METHOD, "method_definition")                                \
    XX(NAMESPACE_IMPORT, "namespace_import")                       \
    XX(NEW, "new_expression")                                      \
    XX(NUMBER, "number")                                           \
    XX(OBJECT, "object")                                           \
    XX(OBJECT_PATTERN, "object_pattern")                           \
    XX(PAIR, "pair")                                               \
    XX(PARENTHESIZED, "parenthesized_expression")                  \
    XX(PROPERTY_NAME, "property_identifier")                       \
    XX(REGEX, "regex")                                             \
    XX(RETURN, "return_statement")                                 \
    XX(SEQUENCE, "sequence_expression")                            \
    XX(SHORTHAND, "shorthand_property_identifier")                 \
    XX(SHORTHAND_PATTERN, "shorthand_property_identifier_pattern") \
    XX(SPREAD, "spread_element")                                   \
    XX(BLOCK, "statement_block")                                   \
    XX(STRING, "string")                                           \
    XX(STRING_FRAGMENT, "string_fragment")                         \
    XX(SUBSCRIPT, "subscript_expression")                          \
    XX(SWITCH_BODY, "switch_body")                                 \
    XX(SWITCH, "switch_statement")                                 \
    XX(TEMPLATE, "template_string")                                \
    XX(TRY, "try_statement")                                       \
    XX(UNARY, "unary_expression")                                  \
    XX(UPDATE, "update_expression")                                \
    XX(USING_DECLARATION, "using_declaration")                     \
    XX(VAR_DECLARATION, "variable_declaration")                    \
    XX(DECLARATOR, "variable_declarator")                          \
    XX(WHILE, "while_statement")

typedef enum gbx_node_kind {
    GBX_NODE_OTHER,
    GBX_NODE_TOKEN, /* punctuation or a keyword: its text says which */
#define XX(name, text) GBX_NODE_##name,
    GBX_NODE_MAP(XX)
#undef XX
} gbx_node_kind;

/* What a node is to its parent; sorted, all others are NONE. XX(name, grammar_name) */
#define GBX_FIELD_MAP(XX)          \
    XX(ALIAS, "alias")             \
    XX(ARGUMENT, "argument")       \
    XX(ARGUMENTS, "arguments")     \
    XX(BODY, "body")               \
    XX(CONSTRUCTOR, "constructor") \
    XX(DECLARATION, "declaration") \
    XX(FUNCTION, "function")       \
    XX(KIND, "kind")               \
    XX(LEFT, "left")               \
    XX(NAME, "name")               \
    XX(OBJECT, "object")           \
    XX(PARAMETER, "parameter")     \
    XX(PARAMETERS, "parameters")   \
    XX(PROPERTY, "property")       \
    XX(RIGHT, "right")             \
    XX(VALUE, "value")

typedef enum gbx_node_field {
    GBX_FIELD_NONE,
#define XX(name, text) GBX_FIELD_##name,
    GBX_FIELD_MAP(XX)
#undef XX
} gbx_node_field;

#define GBX_NO_NODE UINT32_MAX

typedef struct gbx_node {
    uint32_t start; /* bytes, within the text parsed */
    uint32_t end;
    uint32_t next;   /* index past the last node below this one */
    uint32_t parent; /* GBX_NO_NODE for the root */
    uint16_t symbol; /* the grammar's number for it: gbx_tree_symbol_name() */
    uint8_t kind;
    uint8_t field;
    bool missing; /* the parser inserted it; it has no bytes */
    bool binding; /* for the passes: this name is declared here, not used */
} gbx_node;

typedef struct gbx_tree {
    const char *text; /* borrowed */
    size_t len;
    const TSLanguage *language;
    TSParser *parser;
    TSTree *tree; /* NULL: parsing took too long */
    TSNode root;
    bool has_error;
    gbx_node *nodes; /* NULL until gbx_tree_flatten() */
    uint32_t count;
} gbx_tree;

/* False if the time bound or the thread's budget was exceeded: then t has no
 * tree. */
bool gbx_tree_parse(gbx_tree *t, const char *text, size_t len);

/* The same with another grammar; nodes of both grammars must have the same names. */
bool gbx_tree_parse_as(gbx_tree *t, const TSLanguage *language, const char *text,
                       size_t len);

void gbx_tree_flatten(gbx_tree *t);

/* The grammar's name of node i; for a token, also a missing one, its text. */
const char *gbx_tree_symbol_name(const gbx_tree *t, uint32_t i);

/* ---- the flat form -------------------------------------------------------- */

/* The first child of i with that field, or GBX_NO_NODE. */
uint32_t gbx_tree_child(const gbx_tree *t, uint32_t i, gbx_node_field field);

/* The first child of i that is not a comment, a token or missing, or GBX_NO_NODE. */
uint32_t gbx_tree_inner(const gbx_tree *t, uint32_t i);

/* The first child of i that is that token, or GBX_NO_NODE. It may be blank in the text. */
uint32_t gbx_tree_token(const gbx_tree *t, uint32_t i, const char *text);

/* True if the bytes of node i (GBX_NO_NODE has none) are exactly text. */
bool gbx_tree_is(const gbx_tree *t, uint32_t i, const char *text);

bool gbx_tree_is_text(const gbx_tree *t, uint32_t i, const char *text, size_t len);

/* The kind of i; GBX_NODE_OTHER for GBX_NO_NODE. */
gbx_node_kind gbx_tree_kind(const gbx_tree *t, uint32_t i);

/* In the following four, i may be GBX_NO_NODE. */
bool gbx_tree_is_comment(const gbx_tree *t, uint32_t i);
/* True if i is a plain or async function, but not a method. */
bool gbx_tree_is_callable(const gbx_tree *t, uint32_t i);
bool gbx_tree_is_generator(const gbx_tree *t, uint32_t i);

/* The expression of an expression statement, the parentheses around it left out. */
uint32_t gbx_tree_unwrap(const gbx_tree *t, uint32_t i);

/* Node i with the parentheses around it, or i if there are none. */
uint32_t gbx_tree_outer(const gbx_tree *t, uint32_t i);

/* True if i is a function of any sort, a method included. */
bool gbx_tree_is_function(const gbx_tree *t, uint32_t i);

/* True if function i has the token async. */
bool gbx_tree_is_async(const gbx_tree *t, uint32_t i);

/* ---- leaves ------------------------------------------------------- */

/*
 * The code as a sequence of tokens, for questions that a tree with errors cannot
 * answer.
 *
 * Strings and regular expressions are one token each; comments are left out. It lives
 * in the arena, as the tree does.
 */

#define GBX_NO_LEAF UINT32_MAX

typedef struct gbx_leaves {
    const gbx_tree *t;
    uint32_t *nodes;
    uint32_t count;
} gbx_leaves;

void gbx_leaves_init(gbx_leaves *l, const gbx_tree *t);

/* The offset of leaf k, which must exist. */
size_t gbx_leaf_start(const gbx_leaves *l, uint32_t k);

/* The leaves [*ret_first, *ret_end) that begin in [start, end) of the text. */
void gbx_leaves_between(const gbx_leaves *l, size_t start, size_t end,
                        uint32_t *ret_first, uint32_t *ret_end);

/* True if k is a leaf (GBX_NO_LEAF is none) and its bytes are exactly text. */
bool gbx_leaf_is(const gbx_leaves *l, uint32_t k, const char *text);

/* The same for any of the words, which are separated by single spaces. */
bool gbx_leaf_is_one_of(const gbx_leaves *l, uint32_t k, const char *words);

/* True if k is a name, or a keyword used as one. */
bool gbx_leaf_is_name(const gbx_leaves *l, uint32_t k);

/* The leaf before k, or GBX_NO_LEAF. */
uint32_t gbx_leaf_before(const gbx_leaves *l, uint32_t k);

/* The innermost bracket that is open at k, or GBX_NO_LEAF if none is near. */
uint32_t gbx_leaf_opener(const gbx_leaves *l, uint32_t k);

/* True if the parser had trouble at k: it is part of an error or follows one. */
bool gbx_leaf_is_suspect(const gbx_leaves *l, uint32_t k);

/* True if k begins TypeScript syntax: an annotation, 'as', 'interface', '!' etc. */
bool gbx_leaf_is_typescript(const gbx_leaves *l, uint32_t k);

/* ---- faults -------------------------------------------------------------------- */

/* The first bracket without its partner, or GBX_NO_NODE. *ret_is_open: it is not
 * closed; else it closes nothing. */
uint32_t gbx_tree_unpaired(const gbx_tree *t, bool *ret_is_open);

/* Where the first error of the flat tree t begins; the end if it has none. */
size_t gbx_tree_first_error(const gbx_tree *t);

/* The offset of the next c, from that offset on, outside of the strings, templates,
 * regular expressions and comments of the flat tree t; the end if there is none. */
size_t gbx_tree_find_bare(const gbx_tree *t, char c, size_t from);

/* True if node i is a string without a closing quote, or one that goes past its
 * line. */
bool gbx_tree_is_open_string(const gbx_tree *t, uint32_t i);

/* ---- time ------------------------------------------------------------------ */

/*
 * A budget for all parsing of a thread together.
 *
 * Each parse also has its own bound. A caller that makes several parses of one text, or
 * must continue with something else, sets a budget for its thread; a parse that exceeds
 * it gives up as if it had reached its own bound. It counts the thread's processor
 * time, not wall clock: a busy machine must not change what is found.
 */

typedef struct gbx_time_budget {
    int64_t left_ns;  /* what is left; a zeroed budget parses nothing */
    bool is_wall;     /* of wall clock, and the only bound: a sealed process may read no
                         other clock. Ordinary code is far from it on any machine */
    bool is_lost;     /* a parse was given up because of it */
    int64_t until_ns; /* the rest is internal */
    struct gbx_time_budget *outer;
} gbx_time_budget;

/* In effect for this thread until gbx_time_budget_end(). Of nested budgets only the
 * inner one is in effect. */
void gbx_time_budget_begin(gbx_time_budget *patience);
void gbx_time_budget_end(gbx_time_budget *patience);

/* True if this thread has a budget and it is exceeded. */
bool gbx_time_budget_is_over(void);

/* True if this thread has a budget of wall clock. */
bool gbx_time_budget_is_wall(void);

/* The processor time of this thread. */
int64_t gbx_time_budget_now_ns(void);

/* ---- the region ------------------------------------------------------------------ */

/*
 * Which bytes of the caller's text are the code.
 *
 * Models answer with their code in a Markdown fence: a fence around all of the text is
 * left out. Everything else stays in place, so that an offset in the region plus its
 * start is an offset in the caller's text.
 */

typedef struct gbx_region {
    size_t start; /* first byte of the code, white space before it left out */
    size_t end;   /* past its last, white space after it left out */
} gbx_region;

/* Leave out a byte order mark, white space and one fence around the code. */
gbx_region gbx_text_region(const char *text, size_t len);

/* True if a line in [from, end) begins a Markdown fence; its offset is stored. */
bool gbx_text_find_fence(const char *text, size_t from, size_t end, size_t *ret_at);

/* True if c can be part of a JavaScript name; every byte past ASCII counts as such. */
bool gbx_text_is_name(unsigned char c);

/* The length of the name that text, which ends in NUL, begins with; 0: none. */
size_t gbx_text_name_length(const char *text);

/* Overwrite [start, end) with blanks: lines and columns stay the same. */
void gbx_text_blank(char *to, size_t start, size_t end);

/* Find the text between open and the next close, after part, in a NUL-terminated text;
 * false: none. */
bool gbx_text_quoted(const char *text, const char *part, const char *open,
                     const char *close, const char **ret_text, size_t *ret_len);

#endif
