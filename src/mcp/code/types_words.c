/* SPDX-License-Identifier: MIT */
/*
 * types_words - modifiers where the grammar does not allow them, and names that it
 * takes for modifiers. As in TypeScript, the next token decides which of the two a word
 * is.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "guard/tree.h"

#include <ctype.h>
#include <string.h>

static size_t skip_blanks(const gbx_tree *t, size_t at)
{
    while (at < t->len && isspace((unsigned char)t->text[at]))
        at++;
    return at;
}

static bool is_name_byte(char c)
{
    return (unsigned char)c >= 0x80 || gbx_text_is_name((unsigned char)c);
}

static size_t word_end(const gbx_tree *t, size_t at)
{
    while (at < t->len && is_name_byte(t->text[at]))
        at++;
    return at;
}

static bool is_word(const gbx_tree *t, size_t at, const char *word)
{
    size_t len = strlen(word);

    return word_end(t, at) - at == len && memcmp(t->text + at, word, len) == 0;
}

/* at: the end of a modifier. If no name follows on its line, the word is itself a
 * name. */
static bool is_modifier_at(const gbx_tree *t, size_t at)
{
    while (at < t->len && (t->text[at] == ' ' || t->text[at] == '\t'))
        at++;
    return at < t->len &&
           (is_name_byte(t->text[at]) || strchr("[#'\"", t->text[at]) != NULL);
}

/* `[key: string]`: an expression in brackets never begins so. */
static bool is_index_at(const gbx_tree *t, size_t at)
{
    size_t name, end;

    if (at >= t->len || t->text[at] != '[')
        return false;
    name = skip_blanks(t, at + 1);
    end = word_end(t, name);
    at = skip_blanks(t, end);
    return end > name && at < t->len && t->text[at] == ':';
}

/* A `static` that the grammar expects after what follows. */
static bool is_early_static(const gbx_tree *t, size_t next)
{
    return (is_word(t, next, "declare") || is_word(t, next, "accessor")) &&
           is_modifier_at(t, word_end(t, next));
}

/* `out as T`, `out in all`: here the word is a name. */
static bool is_operator_at(const gbx_tree *t, size_t at)
{
    static const char *const words[] = {"as",         "extends", "in",
                                        "instanceof", "of",      "satisfies"};

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (is_word(t, at, words[i]))
            return true;
    return false;
}

/* Is the word before it the `in` or `out` of `<in out T extends U>`? */
static bool is_varied_at(const gbx_tree *t, size_t at)
{
    return at < t->len && is_name_byte(t->text[at]) && !is_operator_at(t, at);
}

/* The character to write over node i before blanks; 0: none. before: the last character
 * of the code. */
static char mark_of(const gbx_tree *t, uint32_t i, char before)
{
    size_t end = t->nodes[i].end;

    if (gbx_tree_is(t, i, "static")) {
        size_t next = skip_blanks(t, end);

        /* Keep the line before from continuing at the bracket. */
        return is_index_at(t, next) ? ';' : is_early_static(t, next) ? ' ' : 0;
    }
    if (gbx_tree_is(t, i, "in") || gbx_tree_is(t, i, "out"))
        return (before == '<' || before == ',') && is_varied_at(t, skip_blanks(t, end))
                   ? ' '
                   : 0;
    if (gbx_tree_is(t, i, "abstract") || gbx_tree_is(t, i, "accessor")) {
        size_t next = skip_blanks(t, end);

        /* The grammar takes it for a modifier, whatever follows. */
        return next < t->len && strchr(":?!=;(<}", t->text[next]) != NULL ? '_' : 0;
    }
    return 0;
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_types_repair_words(const gbx_tree *t, char *text, char *to)
{
    bool changed = false;
    char before = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        const gbx_node *node = &t->nodes[i];
        size_t len = node->end - node->start;
        char mark = mark_of(t, i, before);

        if (mark != 0) {
            memset(text + node->start, mark == '_' ? '_' : ' ', len);
            text[node->start] = mark;
            changed = true;
        }
        if (mark != 0 && mark != '_')
            memcpy(to + node->start, text + node->start, len);
        if (node->next == i + 1 && node->kind != GBX_NODE_COMMENT && len > 0)
            before = text[node->end - 1];
    }
    return changed;
}
