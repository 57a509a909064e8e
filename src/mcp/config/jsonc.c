/* SPDX-License-Identifier: MIT */
/* jsonc - JSON with comments, as editors accept it: blanked for a parser, and edited in
 * place. See config.h. */
#include "mcp/config/config.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_view.h"

#include <stdlib.h>
#include <string.h>

/* The offset behind the string that begins at `at`. */
static size_t past_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++)
        if (text[at] == '\\')
            at++;
    return at < len ? at + 1 : len;
}

/* Can the parser accept that name? It must have no NUL and no half of a
 * surrogate pair. */
static bool is_name(gbx_view name)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, name.len);
    return gbx_view_take_text(name, &text) &&
           (text.len == 0 || memchr(text.data, '\0', text.len) == NULL);
}

static const gbx_jsonc_wanted *find(const gbx_jsonc_wanted *wanted, gbx_view name)
{
    for (; wanted->name != NULL; wanted++)
        if (strcmp(wanted->name, "*") == 0 ? is_name(name)
                                           : gbx_view_is_text(name, wanted->name))
            return wanted;
    return NULL;
}

/* Erase a member, with its comma, only when the next one is known, behind the
 * cursor. The comma before the last member stays. The depth of the wanted tables
 * bounds the recursion. */
static void keep(char *text, gbx_view object, const gbx_jsonc_wanted *wanted)
{
    const char *unwanted = NULL; /* beginning of the last member, if it is to be
                                  * erased */
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(object, &cursor, &name, &value)) {
        const gbx_jsonc_wanted *found = find(wanted, name);

        if (unwanted != NULL)
            gbx_jsonc_erase(text, (size_t)(unwanted - text), (size_t)(name.at - text));
        unwanted = NULL;
        if (found == NULL || (found->below != NULL && gbx_view_kind(value) != '{'))
            unwanted = name.at;
        else if (found->below != NULL)
            keep(text, value, found->below);
    }
    if (unwanted != NULL)
        gbx_jsonc_erase(text, (size_t)(unwanted - text),
                        (size_t)(value.at + value.len - text));
}

void gbx_jsonc_erase(char *text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (text[from] != '\n' && text[from] != '\r')
            text[from] = ' ';
}

/* The offset behind the comment at `at`; or `at` itself if no whole comment is
 * there. */
static size_t gbx_jsonc_past_comment(const char *text, size_t len, size_t at)
{
    const char *end = NULL;

    if (at + 1 >= len || text[at] != '/')
        return at;
    if (text[at + 1] == '/') {
        end = memchr(text + at, '\n', len - at);
        return end != NULL ? (size_t)(end - text) : len;
    }
    if (text[at + 1] == '*')
        end = memmem(text + at + 2, len - at - 2,
                     "*"
                     "/",
                     2);
    return end != NULL ? (size_t)(end - text) + 2 : at;
}

void gbx_jsonc_blank(char *text, size_t len)
{
    size_t comma = len; /* the last non-blank, if it is a comma */

    gbx_jsonc_erase(text, 0, gbx_jsonc_mark_len(text, len));
    for (size_t at = 0; at < len;) {
        size_t end = gbx_jsonc_past_comment(text, len, at);

        if (end > at) {
            gbx_jsonc_erase(text, at, end);
            at = end;
            continue;
        }
        if ((text[at] == ']' || text[at] == '}') && comma < len)
            text[comma] = ' ';
        if (text[at] == ',')
            comma = at;
        else if (strchr(" \t\r\n", text[at]) == NULL || text[at] == '\0')
            comma = len;
        at = text[at] == '"' ? past_string(text, len, at) : at + 1;
    }
}

void gbx_jsonc_keep(char *text, size_t len, const gbx_jsonc_wanted *wanted)
{
    gbx_view root;

    if (!gbx_view_open(text, len, &root) || gbx_view_kind(root) != '{')
        return;
    keep(text, root, wanted);
    gbx_jsonc_blank(text, len); /* removes commas that are now the last */
}

size_t gbx_jsonc_mark_len(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* ---- editing -------------------------------------------------------------------- */

#define TEXT_MAX GBX_MIB(80)

static bool look(gbx_edit *edit)
{
    char *copy = gbx_need(malloc(edit->text.len + 1));

    memcpy(copy, edit->text.data != NULL ? edit->text.data : (const uint8_t *)"",
           edit->text.len);
    copy[edit->text.len] = '\0';
    gbx_jsonc_blank(copy, edit->text.len);
    free(edit->blanked);
    edit->blanked = copy;
    return gbx_view_open(copy, edit->text.len, &edit->root);
}

/* Replace the bytes in [from, to) by `between`. */
static bool splice(gbx_edit *edit, size_t from, size_t to, const gbx_buf *between)
{
    gbx_edit next = {.blanked = NULL};

    gbx_buf_init_secret(&next.text, TEXT_MAX);
    (void)gbx_buf_append(&next.text, edit->text.data, from);
    (void)gbx_buf_append(&next.text, between->data, between->len);
    (void)gbx_buf_append(&next.text, edit->text.data + to, edit->text.len - to);
    if (between->failed || next.text.failed || !look(&next)) {
        gbx_edit_close(&next);
        return false;
    }
    gbx_edit_close(edit);
    *edit = next;
    return true;
}

static size_t offset(const gbx_edit *edit, const char *at)
{
    return (size_t)(at - edit->blanked);
}

/* The length of the line end at `at`, or 0. */
static size_t line_end_len(const gbx_edit *edit, size_t at)
{
    const char *text = (const char *)edit->text.data;

    if (at + 1 < edit->text.len && text[at] == '\r' && text[at + 1] == '\n')
        return 2;
    return at < edit->text.len && text[at] == '\n';
}

/* Append a line end as the first line has it. */
static void put_line_end(const gbx_edit *edit, gbx_buf *to)
{
    const char *text = edit->blanked;
    const char *end = strchr(text, '\n');

    (void)gbx_buf_puts(to,
                       end != NULL && end > text && end[-1] == '\r' ? "\r\n" : "\n");
}

/* The white space at the beginning of the line of `at`. *ret_own: only white space and
 * comments come before `at` on that line. False on the first line: the text may be
 * part of another. */
static const char *indent_of(const gbx_edit *edit, size_t at, size_t *ret_len,
                             bool *ret_own)
{
    const char *text = (const char *)edit->text.data;
    size_t line = at;

    while (line > 0 && text[line - 1] != '\n')
        line--;
    *ret_len = 0;
    while (text[line + *ret_len] == ' ' || text[line + *ret_len] == '\t')
        ++*ret_len;
    *ret_own = line > 0 && line + strspn(edit->blanked + line, " \t") >= at;
    return text + line;
}

/* Separate a new member or element from its neighbour at `at`: by a new line if the
 * neighbour has its own line, or if the line ends at `where` it goes; else by a
 * blank. */
static void put_gap(const gbx_edit *edit, size_t at, size_t where, gbx_buf *to)
{
    size_t len;
    bool own;
    const char *indent = indent_of(edit, at, &len, &own);

    if (!own && line_end_len(edit, where) == 0) {
        (void)gbx_buf_puts(to, " ");
        return;
    }
    put_line_end(edit, to);
    (void)gbx_buf_append(to, indent, len);
    (void)gbx_buf_puts(to, own ? "" : "  ");
}

/* Fill an empty container: on a new line, two blanks deeper. A comment in it stays,
 * after the new text. */
static bool fill_empty(gbx_edit *edit, gbx_view container, const gbx_buf *what)
{
    static const char blanks[] = {' ', '\t', '\r', '\n'};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    size_t from = offset(edit, container.at) + 1;
    size_t to = from + container.len - 2;
    const char *inside = (const char *)edit->text.data + from;
    size_t len;
    bool own;
    const char *indent = indent_of(edit, from - 1, &len, &own);

    for (size_t i = 0; i < to - from; i++)
        if (memchr(blanks, inside[i], sizeof blanks) == NULL)
            to = from;
    gbx_buf_init_secret(&buf, TEXT_MAX);
    put_line_end(edit, &buf);
    (void)gbx_buf_append(&buf, indent, len);
    (void)gbx_buf_puts(&buf, "  ");
    (void)gbx_buf_append(&buf, what->data, what->len);
    put_line_end(edit, &buf);
    (void)gbx_buf_append(&buf, indent, len);
    buf.failed = buf.failed || what->failed;
    return splice(edit, from, to, &buf);
}

/* The offset of a comma after the list's last value, which ends at `at`; 0: it has
 * none. The comma is already a blank in `blanked`, as are commas in comments. */
static size_t closing_comma(const gbx_edit *edit, size_t at)
{
    const char *text = (const char *)edit->text.data;
    size_t len = edit->text.len;

    while (at < len && strchr(" \t\r\n/", text[at]) != NULL)
        at = text[at] == '/' ? gbx_jsonc_past_comment(text, len, at) : at + 1;
    return at < len && text[at] == ',' ? at : 0;
}

/* Skip the comments after `at` on its line; returns `at` if it has none. */
static size_t past_comments(const gbx_edit *edit, size_t at)
{
    const char *text = (const char *)edit->text.data;
    size_t end = at;

    for (size_t from = at; from < edit->text.len; from = end) {
        while (from < edit->text.len && (text[from] == ' ' || text[from] == '\t'))
            from++;
        end = gbx_jsonc_past_comment(text, edit->text.len, from);
        if (end == from || memchr(text + from, '\n', end - from) != NULL)
            break;
        at = end - (text[end - 1] == '\r');
    }
    return at;
}

/* Add after the value `last` and its comments on the same line; the layout follows
 * `line_of`. If the list ended with a comma, it does so again. */
static bool add_after(gbx_edit *edit, gbx_view last, const char *line_of,
                      const gbx_buf *what)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    size_t from = offset(edit, last.at + last.len);
    size_t closing = closing_comma(edit, from);
    size_t to = past_comments(edit, closing > 0 ? closing + 1 : from);

    gbx_buf_init_secret(&buf, TEXT_MAX);
    (void)gbx_buf_puts(&buf, closing > 0 ? "" : ",");
    (void)gbx_buf_append(&buf, edit->text.data + from, to - from);
    put_gap(edit, offset(edit, line_of), to, &buf);
    (void)gbx_buf_append(&buf, what->data, what->len);
    (void)gbx_buf_puts(&buf, closing > 0 ? "," : "");
    buf.failed = buf.failed || what->failed;
    return splice(edit, from, to, &buf);
}

bool gbx_edit_open(gbx_edit *edit, const char *text, size_t len)
{
    *edit = (gbx_edit){.blanked = NULL};
    gbx_buf_init_secret(&edit->text, TEXT_MAX);
    if (gbx_buf_append(&edit->text, text, len) && look(edit))
        return true;
    gbx_edit_close(edit);
    return false;
}

void gbx_edit_close(gbx_edit *edit)
{
    if (edit->blanked != NULL)
        explicit_bzero(edit->blanked, edit->text.len);
    free(edit->blanked);
    gbx_buf_cleanup(&edit->text);
    *edit = (gbx_edit){.blanked = NULL};
}

bool gbx_edit_add_member(gbx_edit *edit, gbx_view object, const char *name,
                         const char *json)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf what;
    gbx_view key;
    gbx_view value;
    gbx_view last_key = {NULL, 0};
    gbx_view last = {NULL, 0};
    size_t cursor = 0;

    gbx_buf_init(&what, TEXT_MAX);
    (void)gbx_json_append_string(&what, name, strlen(name));
    (void)gbx_buf_puts(&what, ": ");
    (void)gbx_buf_puts(&what, json);
    while (gbx_view_next(object, &cursor, &key, &value)) {
        last_key = key;
        last = value;
    }
    return last.at == NULL ? fill_empty(edit, object, &what)
                           : add_after(edit, last, last_key.at, &what);
}
