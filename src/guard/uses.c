/* SPDX-License-Identifier: MIT */
/*
 * uses - finds uses of blocked names. It records only names of the table in
 * blocked_names.c, so a scope's names are a set in one word, with constant-time lookup.
 */
#include "guard/internal.h"

#include "syntax/arena.h"

#include <string.h>

#define NO_SCOPE UINT32_MAX

struct scope {
    uint32_t parent; /* NO_SCOPE for the first; else lower than its own index */
    uint32_t end;    /* index of the first node after it */
    uint32_t hoists; /* the scope that var declarations in this one hoist to */
    uint64_t names;  /* declared here; judge() adds those of the scopes around it */
};

struct use {
    uint32_t node;
    uint32_t scope;
    size_t word;
};

struct pass {
    gbx_tree *t;
    size_t base;
    gbx_form form;
    const gbx_guard_world *world;
    gbx_findings *f;
    struct scope *scopes;
    uint32_t scope_count;
    uint32_t scope_room;
    uint32_t scope; /* the innermost open one */
    struct use *uses;
    uint32_t use_count;
    uint32_t use_room;
    uint64_t declared; /* anywhere */
    uint64_t broken;   /* seen where the text does not parse: uncertain */
};

static uint64_t bit(size_t word)
{
    return word == GBX_NO_WORD ? 0 : UINT64_C(1) << word;
}

static size_t word_at(const gbx_tree *t, uint32_t i)
{
    const gbx_node *n = &t->nodes[i];

    return gbx_word_find(t->text + n->start, n->end - n->start);
}

static void open_scope(struct pass *p, uint32_t end, bool takes_var)
{
    if (p->scope_count == p->scope_room) {
        p->scope_room = p->scope_room * 2 + 16;
        p->scopes = gbx_arena_realloc(p->scopes, p->scope_room * sizeof *p->scopes);
    }
    p->scopes[p->scope_count] =
        (struct scope){p->scope, end,
                       takes_var ? p->scope_count : p->scopes[p->scope].hoists, 0};
    p->scope = p->scope_count++;
}

static void declare_name(struct pass *p, uint32_t scope, uint32_t i)
{
    uint64_t name;

    if (i == GBX_NO_NODE)
        return;
    name = bit(word_at(p->t, i));
    p->t->nodes[i].binding = true;
    p->scopes[scope].names |= name;
    p->declared |= name;
}

/* Declare all names in the pattern i; its default values and computed keys are
 * uses. */
static void declare_pattern(struct pass *p, uint32_t scope, uint32_t i)
{
    const gbx_node *nodes = p->t->nodes;
    uint32_t end;

    if (i == GBX_NO_NODE)
        return;
    end = nodes[i].next;
    while (i < end) {
        if (nodes[i].field == GBX_FIELD_RIGHT ||
            nodes[i].kind == GBX_NODE_COMPUTED_NAME) {
            i = nodes[i].next;
            continue;
        }
        if (nodes[i].kind == GBX_NODE_IDENTIFIER ||
            nodes[i].kind == GBX_NODE_SHORTHAND_PATTERN)
            declare_name(p, scope, i);
        i++;
    }
}

static void declare_variables(struct pass *p, uint32_t scope, uint32_t i)
{
    const gbx_node *nodes = p->t->nodes;

    for (uint32_t c = i + 1; c < nodes[i].next; c = nodes[c].next)
        if (nodes[c].kind == GBX_NODE_DECLARATOR)
            declare_pattern(p, scope, gbx_tree_child(p->t, c, GBX_FIELD_NAME));
}

static void enter_for_in(struct pass *p, uint32_t i)
{
    uint32_t kind = gbx_tree_child(p->t, i, GBX_FIELD_KIND);
    uint32_t scope;

    open_scope(p, p->t->nodes[i].next, false);
    if (kind == GBX_NO_NODE)
        return; /* for (x of ...): x is used, not declared */
    scope = gbx_tree_is(p->t, kind, "var") ? p->scopes[p->scope].hoists : p->scope;
    declare_pattern(p, scope, gbx_tree_child(p->t, i, GBX_FIELD_LEFT));
}

/*
 * The scope of a function begins at its parameters: the computed name of a method is
 * outside it. The body's block opens another scope, since a parameter's default value
 * does not see the body's declarations.
 */
static void enter_parameters(struct pass *p, uint32_t i)
{
    const gbx_node *nodes = p->t->nodes;
    uint32_t parent = nodes[i].parent;

    open_scope(p, parent == GBX_NO_NODE ? p->t->count : nodes[parent].next, true);
    if (parent != GBX_NO_NODE && (nodes[parent].kind == GBX_NODE_FUNCTION ||
                                  nodes[parent].kind == GBX_NODE_GENERATOR))
        declare_name(p, p->scope, gbx_tree_child(p->t, parent, GBX_FIELD_NAME));
    declare_pattern(p, p->scope, i);
}

static void declare_import(struct pass *p, uint32_t i)
{
    const gbx_node *nodes = p->t->nodes;
    uint32_t alias = gbx_tree_child(p->t, i, GBX_FIELD_ALIAS);

    if (nodes[i].kind == GBX_NODE_IMPORT_SPECIFIER) {
        declare_name(p, p->scope,
                     alias != GBX_NO_NODE ? alias
                                          : gbx_tree_child(p->t, i, GBX_FIELD_NAME));
        return;
    }
    for (uint32_t c = i + 1; c < nodes[i].next; c = nodes[c].next)
        if (nodes[c].kind == GBX_NODE_IDENTIFIER)
            declare_name(p, p->scope, c);
}

static void declare_and_enter(struct pass *p, uint32_t i)
{
    const gbx_node *n = &p->t->nodes[i];
    uint32_t name;

    switch (n->kind) {
    case GBX_NODE_PARAMETERS: enter_parameters(p, i); break;
    case GBX_NODE_ARROW:
        if (gbx_tree_child(p->t, i, GBX_FIELD_PARAMETER) != GBX_NO_NODE) {
            open_scope(p, n->next, true);
            declare_name(p, p->scope, gbx_tree_child(p->t, i, GBX_FIELD_PARAMETER));
        }
        break;
    case GBX_NODE_FUNCTION:
    case GBX_NODE_GENERATOR:
        name = gbx_tree_child(p->t, i, GBX_FIELD_NAME);
        if (name != GBX_NO_NODE) /* declared with the parameters */
            p->t->nodes[name].binding = true;
        break;
    case GBX_NODE_FUNCTION_DECLARATION:
    case GBX_NODE_GENERATOR_DECLARATION:
        declare_name(p, p->scope, gbx_tree_child(p->t, i, GBX_FIELD_NAME));
        break;
    case GBX_NODE_CLASS:
    case GBX_NODE_CLASS_DECLARATION:
        name = gbx_tree_child(p->t, i, GBX_FIELD_NAME);
        if (n->kind == GBX_NODE_CLASS_DECLARATION)
            declare_name(p, p->scope, name);
        open_scope(p, n->next, false);
        declare_name(p, p->scope, name);
        break;
    case GBX_NODE_BLOCK: {
        bool is_body = n->parent != GBX_NO_NODE &&
                       (gbx_tree_is_function(p->t, n->parent) ||
                        p->t->nodes[n->parent].kind == GBX_NODE_CLASS_STATIC_BLOCK);

        open_scope(p, n->next, is_body);
        break;
    }
    case GBX_NODE_FOR:
    case GBX_NODE_SWITCH_BODY: open_scope(p, n->next, false); break;
    case GBX_NODE_FOR_IN: enter_for_in(p, i); break;
    case GBX_NODE_CATCH:
        open_scope(p, n->next, false);
        declare_pattern(p, p->scope, gbx_tree_child(p->t, i, GBX_FIELD_PARAMETER));
        break;
    case GBX_NODE_LEXICAL_DECLARATION:
    case GBX_NODE_USING_DECLARATION: declare_variables(p, p->scope, i); break;
    case GBX_NODE_VAR_DECLARATION:
        declare_variables(p, p->scopes[p->scope].hoists, i);
        break;
    case GBX_NODE_IMPORT_CLAUSE:
    case GBX_NODE_NAMESPACE_IMPORT:
    case GBX_NODE_IMPORT_SPECIFIER: declare_import(p, i); break;
    default: break;
    }
}

static bool in_error(const gbx_tree *t, uint32_t i)
{
    uint32_t parent = t->nodes[i].parent;

    return t->nodes[i].missing ||
           (parent != GBX_NO_NODE && t->nodes[parent].kind == GBX_NODE_ERROR);
}

static void note_use(struct pass *p, uint32_t i)
{
    size_t word = word_at(p->t, i);

    if (word == GBX_NO_WORD || gbx_word_get(word)->use == GBX_USE_KEYWORD)
        return;
    if (in_error(p->t, i)) {
        p->broken |= bit(word);
        return;
    }
    if (p->use_count == p->use_room) {
        p->use_room = p->use_room * 2 + 16;
        p->uses = gbx_arena_realloc(p->uses, p->use_room * sizeof *p->uses);
    }
    p->uses[p->use_count++] = (struct use){i, p->scope, word};
}

/* ---- judging -------------------------------------------------------------- */

/* The hint for the module that a string below i names; without one, otherwise. */
static const char *module_hint(const struct pass *p, uint32_t i, const char *otherwise)
{
    const gbx_tree *t = p->t;

    for (uint32_t c = i + 1; i != GBX_NO_NODE && c < t->nodes[i].next;
         c = t->nodes[c].next) {
        const gbx_node *n = &t->nodes[c];
        const char *hint;

        if (n->kind != GBX_NODE_STRING || n->end - n->start < 2)
            continue;
        hint = gbx_module_hint(t->text + n->start + 1, n->end - n->start - 2,
                               p->world->capabilities);
        return hint != NULL ? hint : otherwise;
    }
    return otherwise;
}

static void object_to(struct pass *p, uint32_t i, size_t index, const char *shown,
                      uint32_t names_module)
{
    const gbx_word *word = gbx_word_get(index);

    gbx_findings_add(p->f, GBX_CODE_INVALID_CODE, word->rule,
                     p->base + p->t->nodes[i].start,
                     module_hint(p, names_module,
                                 gbx_word_hint(word, p->world->capabilities)),
                     "'%s' %s", shown, word->what);
}

/* import type { A } from 'a' is TypeScript, which this grammar only half reads. */
static bool may_import_types(const gbx_tree *t, uint32_t i)
{
    for (uint32_t c = i + 1; t->has_error && c < t->nodes[i].next; c++)
        if (t->nodes[c].kind == GBX_NODE_ERROR || gbx_tree_is(t, c, "type"))
            return true;
    return false;
}

/* `x: import('a').B` is TypeScript too. */
static bool may_be_type(const gbx_tree *t, uint32_t i)
{
    size_t at = t->nodes[i].start;

    while (at > 0 && strchr(" \n", t->text[at - 1]) != NULL)
        at--;
    return at > 0 && strchr(":<|&", t->text[at - 1]) != NULL;
}

static void judge_keyword(struct pass *p, uint32_t i)
{
    const gbx_tree *t = p->t;
    uint32_t parent = t->nodes[i].parent;

    if (in_error(t, i))
        return;
    switch (t->nodes[i].kind) {
    case GBX_NODE_IMPORT:
        if (!may_import_types(t, i))
            object_to(p, i, gbx_word_find("import", 6), "import", i);
        break;
    case GBX_NODE_IMPORT_WORD:
        if (t->nodes[i].field == GBX_FIELD_FUNCTION && !may_be_type(t, i))
            object_to(p, i, gbx_word_find("import", 6), "import()",
                      gbx_tree_child(t, parent, GBX_FIELD_ARGUMENTS));
        break;
    case GBX_NODE_META_PROPERTY:
        if (strncmp(t->text + t->nodes[i].start, "import", 6) == 0)
            object_to(p, i, gbx_word_find("import", 6), "import.meta", GBX_NO_NODE);
        break;
    default: break;
    }
}

static bool is_objectionable(const struct pass *p, uint32_t i, gbx_word_use use)
{
    const gbx_tree *t = p->t;
    uint32_t parent;
    bool is_called, is_object;

    i = gbx_tree_outer(t, i);
    parent = t->nodes[i].parent;
    if (parent == GBX_NO_NODE)
        return use == GBX_USE_ANY;
    is_called = t->nodes[i].field == GBX_FIELD_FUNCTION ||
                (t->nodes[i].field == GBX_FIELD_CONSTRUCTOR &&
                 t->nodes[parent].kind == GBX_NODE_NEW);
    is_object = t->nodes[i].field == GBX_FIELD_OBJECT;
    if (use == GBX_USE_CALL)
        return is_called;
    if (use == GBX_USE_HOST)
        return is_called || is_object;
    return t->nodes[parent].kind != GBX_NODE_UNARY ||
           !gbx_tree_is(t, parent + 1, "typeof");
}

/*
 * If the arguments of the call of fetch at i begin with a plain string, check before
 * anything runs whether the policy allows it. Anything else (an escape, a variable, a
 * template) is checked when it is fetched.
 */
static void judge_fetch(struct pass *p, uint32_t i)
{
    const gbx_tree *t = p->t;
    char site[GBX_GUARD_SITE_SIZE];
    uint32_t arguments;
    uint32_t first;
    const gbx_node *n;

    i = gbx_tree_outer(t, i);
    if (p->world->may_fetch == NULL || t->nodes[i].field != GBX_FIELD_FUNCTION)
        return;
    arguments = gbx_tree_child(t, t->nodes[i].parent, GBX_FIELD_ARGUMENTS);
    first = arguments != GBX_NO_NODE ? gbx_tree_inner(t, arguments) : GBX_NO_NODE;
    if (first == GBX_NO_NODE || t->nodes[first].kind != GBX_NODE_STRING)
        return;
    n = &t->nodes[first];
    if (n->end - n->start < 2 ||
        memchr(t->text + n->start, '\\', n->end - n->start) != NULL ||
        p->world->may_fetch(p->world->user, t->text + n->start + 1,
                            n->end - n->start - 2, site))
        return;
    gbx_findings_add(p->f, GBX_CODE_INVALID_CODE, "site", p->base + n->start,
                     "allow it with --allow fetch=SITE, or ask a site that is allowed",
                     "the policy does not allow '%s'", site);
}

/* The length of the property name in i.name or i['name']; 0: none. */
static size_t property_of(const gbx_tree *t, uint32_t i, const char **ret_name)
{
    uint32_t parent = t->nodes[i].parent;
    uint32_t name = GBX_NO_NODE;
    size_t quote = 0;

    if (parent == GBX_NO_NODE || t->nodes[i].field != GBX_FIELD_OBJECT)
        return 0;
    if (t->nodes[parent].kind == GBX_NODE_MEMBER)
        name = gbx_tree_child(t, parent, GBX_FIELD_PROPERTY);
    for (uint32_t c = t->nodes[i].next;
         t->nodes[parent].kind == GBX_NODE_SUBSCRIPT && c < t->nodes[parent].next;
         c = t->nodes[c].next)
        if (t->nodes[c].kind == GBX_NODE_STRING) {
            name = c;
            quote = 1;
        }
    if (name == GBX_NO_NODE || t->nodes[name].end - t->nodes[name].start < 2 * quote)
        return 0;
    *ret_name = t->text + t->nodes[name].start + quote;
    return t->nodes[name].end - t->nodes[name].start - 2 * quote;
}

/* Object if the fs at i, which only reads, is used to change files. */
static void judge_file(struct pass *p, uint32_t i)
{
    const gbx_tree *t = p->t;
    const char *name = "";
    size_t len;

    i = gbx_tree_outer(t, i);
    len = property_of(t, i, &name);
    if (len == 8 && memcmp(name, "promises", 8) == 0) {
        i = gbx_tree_outer(t, t->nodes[i].parent);
        len = property_of(t, i, &name);
    }
    if (!gbx_word_is_write(name, len) ||
        !is_objectionable(p, t->nodes[i].parent, GBX_USE_ANY))
        return;
    gbx_findings_add(p->f, GBX_CODE_INVALID_CODE, "file", p->base + t->nodes[i].start,
                     GBX_WRITE_HINT,
                     "'fs.%.*s' is not available: files can only be read", (int)len,
                     name);
}

/* True for crypto.randomUUID with helpers on: it is one of them. */
static bool is_random_uuid(const struct pass *p, uint32_t i, const gbx_word *word)
{
    static const char uuid[] = "randomUUID";
    const char *name = "";

    return (p->world->capabilities & GBX_CAP_HELPERS) != 0 &&
           word->capability == GBX_CAP_CRYPTO && word->is_given &&
           property_of(p->t, gbx_tree_outer(p->t, i), &name) == sizeof uuid - 1 &&
           memcmp(name, uuid, sizeof uuid - 1) == 0;
}

/* True if a capability, the host or the caller provides the name. */
static bool is_given(const struct pass *p, uint32_t i, const gbx_word *word)
{
    const gbx_guard_world *world = p->world;

    if (word->is_given && (world->capabilities & word->capability) != 0)
        return true;
    if (is_random_uuid(p, i, word))
        return true;
    if (p->form == GBX_FORM_BODY && word->use == GBX_USE_HOST) {
        if (strcmp(word->name, "env") == 0)
            return true; /* a parameter of every body */
        i = gbx_tree_outer(p->t, i);
        /* A binding is data, which cannot be called; it may have any name. */
        if (world->may_bind && !word->is_given &&
            p->t->nodes[i].field != GBX_FIELD_FUNCTION)
            return true;
    }
    return world->has_name != NULL && world->has_name(world->user, word->name);
}

static void judge(struct pass *p)
{
    for (uint32_t s = 1; s < p->scope_count; s++)
        p->scopes[s].names |= p->scopes[p->scopes[s].parent].names;
    for (uint32_t k = 0; k < p->use_count; k++) {
        const struct use *u = &p->uses[k];
        const gbx_word *word = gbx_word_get(u->word);
        uint32_t parent = p->t->nodes[u->node].parent;
        uint64_t hidden = p->scopes[u->scope].names;

        /* In code that does not parse, a declaration may not have been seen as one. */
        if (p->t->has_error)
            hidden = p->declared | p->broken;
        if (hidden & bit(u->word) || !is_objectionable(p, u->node, word->use))
            continue;
        if (is_given(p, u->node, word)) {
            if (word->is_given && word->capability == GBX_CAP_FETCH &&
                (p->world->capabilities & GBX_CAP_FETCH) != 0)
                judge_fetch(p, u->node);
            if (word->is_given && word->capability == GBX_CAP_FILE &&
                (p->world->capabilities & GBX_CAP_FILE) != 0)
                judge_file(p, u->node);
            continue;
        }
        object_to(p, u->node, u->word, word->name,
                  p->t->nodes[u->node].field == GBX_FIELD_FUNCTION
                      ? gbx_tree_child(p->t, parent, GBX_FIELD_ARGUMENTS)
                      : GBX_NO_NODE);
    }
}

void gbx_uses_find(gbx_tree *t, size_t base, gbx_form form,
                   const gbx_guard_world *world, gbx_findings *f)
{
    struct pass p = {
        .t = t, .base = base, .form = form, .world = world, .f = f, .scope = NO_SCOPE};

    open_scope(&p, t->count, true);
    for (uint32_t i = 0; i < t->count; i++) {
        while (i >= p.scopes[p.scope].end)
            p.scope = p.scopes[p.scope].parent;
        declare_and_enter(&p, i);
        if (t->nodes[i].binding)
            continue;
        switch (t->nodes[i].kind) {
        case GBX_NODE_IDENTIFIER:
        case GBX_NODE_SHORTHAND:
        case GBX_NODE_SHORTHAND_PATTERN: note_use(&p, i); break;
        default: judge_keyword(&p, i); break;
        }
    }
    judge(&p);
}
