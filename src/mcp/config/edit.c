/* SPDX-License-Identifier: MIT */
/* edit - see edit.h. */
#include "mcp/config/edit.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "mcp/config/jsonc.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX GBX_MIB(80)

static bool look(gbx_edit *edit)
{
    char *copy = malloc(edit->text.len + 1);

    if (copy == NULL)
        return false;
    memcpy(copy, edit->text.data != NULL ? edit->text.data : (const uint8_t *)"",
           edit->text.len);
    copy[edit->text.len] = '\0';
    gbx_jsonc_blank(copy, edit->text.len);
    free(edit->blanked);
    edit->blanked = copy;
    return gbx_view_open(copy, edit->text.len, &edit->root);
}

/* The bytes from from to to become what is in between. */
static bool splice(gbx_edit *edit, size_t from, size_t to, const gbx_buf *between)
{
    gbx_edit next = {.blanked = NULL};

    gbx_buf_init(&next.text, TEXT_MAX);
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

/* The white space at the beginning of the line in which `at` is, if nothing else stands
 * before it there; else *ret_len is 0 and *ret_own false. */
static const char *indent_of(const gbx_edit *edit, const char *at, size_t *ret_len,
                             bool *ret_own)
{
    const char *line = at;

    while (line > edit->blanked && line[-1] != '\n')
        line--;
    *ret_len = strspn(line, " \t");
    *ret_own = line + *ret_len == at && line > edit->blanked;
    return line;
}

/* What separates a new member or element from its neighbour at `at`: a line of its own
 * if that has one, else a blank. */
static void put_gap(const gbx_edit *edit, const char *at, gbx_buf *to)
{
    size_t len;
    bool own;
    const char *indent = indent_of(edit, at, &len, &own);

    if (!own) {
        (void)gbx_buf_puts(to, " ");
        return;
    }
    (void)gbx_buf_puts(to, "\n");
    (void)gbx_buf_append(to, indent, len);
}

/* Into a container that has nothing yet: a line of its own, two blanks deeper. A comment
 * that is in there stays, after it. */
static bool fill_empty(gbx_edit *edit, gbx_view container, const gbx_buf *what)
{
    static const char blanks[] = {' ', '\t', '\r', '\n'};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    size_t from = offset(edit, container.at) + 1;
    size_t to = from + container.len - 2;
    const char *inside = (const char *)edit->text.data + from;
    size_t len;
    bool own;
    const char *indent = indent_of(edit, container.at, &len, &own);

    for (size_t i = 0; i < to - from; i++)
        if (memchr(blanks, inside[i], sizeof blanks) == NULL)
            to = from;
    gbx_buf_init(&buf, TEXT_MAX);
    (void)gbx_buf_puts(&buf, "\n");
    (void)gbx_buf_append(&buf, indent, len);
    (void)gbx_buf_puts(&buf, "  ");
    (void)gbx_buf_append(&buf, what->data, what->len);
    (void)gbx_buf_puts(&buf, "\n");
    (void)gbx_buf_append(&buf, indent, len);
    buf.failed = buf.failed || what->failed;
    return splice(edit, from, to, &buf);
}

/* After the value `last`, whose line begins with what stands at `line_of`. */
static bool add_after(gbx_edit *edit, gbx_view last, const char *line_of,
                      const gbx_buf *what)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    size_t at = offset(edit, last.at + last.len);

    gbx_buf_init(&buf, TEXT_MAX);
    (void)gbx_buf_puts(&buf, ",");
    put_gap(edit, line_of, &buf);
    (void)gbx_buf_append(&buf, what->data, what->len);
    buf.failed = buf.failed || what->failed;
    return splice(edit, at, at, &buf);
}

/* From what the member at from begins with, if nothing else is before it on its line. */
static size_t line_start(const gbx_edit *edit, size_t from)
{
    const char *text = (const char *)edit->text.data;
    size_t at = from;

    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
        at--;
    return at > 0 && text[at - 1] == '\n' ? at : from;
}

/* Past the blanks after `at`, and past a comment up to the end of the line. */
static size_t past_rest(const gbx_edit *edit, size_t at)
{
    const char *text = (const char *)edit->text.data;
    size_t len = edit->text.len;

    while (at < len && (text[at] == ' ' || text[at] == '\t'))
        at++;
    if (at + 1 < len && text[at] == '/' && text[at + 1] == '/')
        while (at < len && text[at] != '\n' && text[at] != '\r')
            at++;
    return at;
}

/* Of the end of a line at `at`; 0: there is none. */
static size_t line_end_len(const gbx_edit *edit, size_t at)
{
    const char *text = (const char *)edit->text.data;

    if (at + 1 < edit->text.len && text[at] == '\r' && text[at + 1] == '\n')
        return 2;
    return at < edit->text.len && text[at] == '\n';
}

/* What is a comma to a parser, from one value's end to the next one's key. */
static size_t comma_after(const gbx_edit *edit, gbx_view value)
{
    return offset(edit, memchr(value.at + value.len, ',',
                               edit->text.len - offset(edit, value.at) - value.len));
}

static bool is_line_start(const gbx_edit *edit, size_t at)
{
    return at > 0 && edit->text.data[at - 1] == '\n';
}

static bool cut(gbx_edit *edit, size_t from, size_t to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf nothing;

    gbx_buf_init(&nothing, 1);
    return splice(edit, from, to, &nothing);
}

/* A member that another follows goes with its comma. */
static bool cut_before(gbx_edit *edit, gbx_view key, gbx_view value)
{
    size_t from = offset(edit, key.at);
    size_t start = line_start(edit, from);
    size_t to = past_rest(edit, comma_after(edit, value) + 1);

    if (line_end_len(edit, to) > 0 && is_line_start(edit, start))
        return cut(edit, start, to + line_end_len(edit, to));
    return cut(edit, from, to);
}

/* Of the comma between the value that ends at `at` and the end of the list; 0: there is
 * none. To a parser it is a blank, as commas in comments are. */
static size_t closing_comma(const gbx_edit *edit, size_t at)
{
    const char *text = (const char *)edit->text.data;
    size_t len = edit->text.len;

    while (at < len && strchr(" \t\r\n/", text[at]) != NULL)
        at = text[at] == '/' ? gbx_jsonc_past_comment(text, len, at) : at + 1;
    return at < len && text[at] == ',' ? at : 0;
}

/* The last one goes with the comma after it, else with the one before it. */
static bool cut_last(gbx_edit *edit, gbx_view key, gbx_view value, gbx_view before)
{
    const uint8_t *text;
    size_t start = line_start(edit, offset(edit, key.at));
    size_t to = offset(edit, value.at + value.len);
    size_t comma = before.at != NULL ? comma_after(edit, before) : 0;
    size_t closing = closing_comma(edit, to);
    size_t rest;
    bool ends_line;

    if (closing > 0 && !cut(edit, closing, closing + 1))
        return false;
    text = edit->text.data;
    rest = past_rest(edit, to);
    ends_line = line_end_len(edit, rest) > 0;
    if (ends_line)
        to = rest;
    /* With the end of the line before, if there is one after it: a comment may end so. */
    if (is_line_start(edit, start) && ends_line)
        start -= start > 1 && text[start - 2] == '\r' ? 2 : 1;
    while (!is_line_start(edit, start) &&
           (text[start - 1] == ' ' || text[start - 1] == '\t'))
        start--;
    return cut(edit, start, to) &&
           (comma == 0 || closing > 0 || cut(edit, comma, comma + 1));
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_edit_open(gbx_edit *edit, const char *text, size_t len)
{
    *edit = (gbx_edit){.blanked = NULL};
    gbx_buf_init(&edit->text, TEXT_MAX);
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
    if (edit->text.data != NULL)
        explicit_bzero(edit->text.data, edit->text.capacity);
    gbx_buf_cleanup(&edit->text);
    *edit = (gbx_edit){.blanked = NULL};
}

bool gbx_edit_replace(gbx_edit *edit, gbx_view value, const char *json)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    size_t from = offset(edit, value.at);

    gbx_buf_init(&buf, TEXT_MAX);
    (void)gbx_buf_puts(&buf, json);
    return splice(edit, from, from + value.len, &buf);
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

bool gbx_edit_add_item(gbx_edit *edit, gbx_view array, size_t index, const char *json)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf what;
    gbx_view name;
    gbx_view value;
    gbx_view last = {NULL, 0};
    size_t cursor = 0;

    gbx_buf_init(&what, TEXT_MAX);
    (void)gbx_buf_puts(&what, json);
    for (size_t i = 0; gbx_view_next(array, &cursor, &name, &value); i++) {
        if (i == index) {
            (void)gbx_buf_puts(&what, ",");
            put_gap(edit, value.at, &what);
            return splice(edit, offset(edit, value.at), offset(edit, value.at), &what);
        }
        last = value;
    }
    return last.at == NULL ? fill_empty(edit, array, &what)
                           : add_after(edit, last, last.at, &what);
}

bool gbx_edit_remove_member(gbx_edit *edit, gbx_view object, size_t index)
{
    gbx_view key;
    gbx_view value;
    gbx_view next_key;
    gbx_view next;
    gbx_view before = {NULL, 0};
    size_t cursor = 0;

    for (size_t i = 0; gbx_view_next(object, &cursor, &key, &value); i++) {
        if (i == index)
            return gbx_view_next(object, &cursor, &next_key, &next)
                       ? cut_before(edit, key, value)
                       : cut_last(edit, key, value, before);
        before = value;
    }
    return false;
}
