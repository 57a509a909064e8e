/* SPDX-License-Identifier: MIT */
/*
 * host_entry_text - the texts of an entry: which references a host fills in, and their
 * equivalents here.
 *
 * A text that its host leaves as it is must not become a variable here.
 */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"

#include <stdio.h>
#include <string.h>

#define INPUT_NAME_SIZE 128

/* The default of an input, or NULL. A brace would end the reference early. */
static const char *default_of(const gbx_host_entry_reader *t, const char *id,
                              size_t len)
{
    for (size_t i = 0; i < json_array_size(t->inputs); i++) {
        const json_t *input = json_array_get(t->inputs, i);
        const char *name = json_string_value(json_object_get(input, "id"));
        const char *text = json_string_value(json_object_get(input, "default"));

        if (name != NULL && strlen(name) == len && memcmp(name, id, len) == 0)
            return text != NULL && strchr(text, '}') == NULL ? text : NULL;
    }
    return NULL;
}

/* The prefix keeps an input called "user" or "path" from naming an existing
 * variable. */
static void upper_name(const char *id, size_t len, char name[INPUT_NAME_SIZE])
{
    size_t n = sizeof "INPUT_" - 1;

    (void)snprintf(name, INPUT_NAME_SIZE, "INPUT_");
    for (size_t i = 0; i < len && n + 1 < INPUT_NAME_SIZE; i++, n++) {
        char c = (char)(id[i] >= 'a' && id[i] <= 'z' ? id[i] - 32 : id[i]);

        name[n] = (char)((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_');
    }
    name[n] = '\0';
}

/* Adds a number if earlier inputs lead to the same name. */
static void name_input(const gbx_host_entry_reader *t, const char *id, size_t len,
                       char name[INPUT_NAME_SIZE + 24])
{
    char other[INPUT_NAME_SIZE];
    size_t number = 1;

    upper_name(id, len, name);
    for (size_t i = 0; i < json_array_size(t->inputs); i++) {
        const json_t *input = json_array_get(t->inputs, i);
        const char *its = json_string_value(json_object_get(input, "id"));

        if (its == NULL)
            continue;
        if (strlen(its) == len && memcmp(its, id, len) == 0)
            break;
        upper_name(its, strlen(its), other);
        number += strcmp(other, name) == 0;
    }
    if (number > 1)
        (void)snprintf(name + strlen(name), 24, "_%zu", number);
}

/* ${input:api-key} becomes ${INPUT_API_KEY}, or ${INPUT_API_KEY:-default}. */
static void put_input(const gbx_host_entry_reader *t, const char *id, size_t len,
                      gbx_buf *to)
{
    const char *otherwise = default_of(t, id, len);
    char name[INPUT_NAME_SIZE + 24];

    name_input(t, id, len, name);
    if (otherwise != NULL)
        (void)gbx_buf_printf(to, "${%s:-%s}", name, otherwise);
    else
        (void)gbx_buf_printf(to, "${%s}", name);
    gbx_host_entry_say(
        t,
        otherwise != NULL
            ? "the editor asks for a value: without the variable %s it is the default"
            : "the editor asks for a value: set it as the variable %s",
        name);
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* Put the project's folder, or only its name; false: the reference means something
 * else, or the folder is unknown. Of a workspace's several folders, only this one is
 * known, by its name. */
static bool put_folder(const gbx_host_entry_reader *t, const char *inner, size_t len,
                       gbx_buf *to)
{
    static const char named[] = "workspaceFolder:";
    const char *folder = t->place->folder;
    const char *slash = strrchr(folder, '/');
    const char *name = slash != NULL ? slash + 1 : folder;
    size_t skip = sizeof named - 1;
    bool is_name = is_word(inner, len, "workspaceFolderBasename");
    bool is_folder = is_word(inner, len, "workspaceFolder") ||
                     (len > skip && memcmp(inner, named, skip) == 0 &&
                      is_word(inner + skip, len - skip, name));

    if (folder[0] == '\0' || (!is_name && !is_folder))
        return false;
    gbx_variables_escape(is_name ? name : folder, to);
    return true;
}

/* Can only an editor fill it in? It is kept, and reading the entry reports it. */
static bool is_of_editors(const char *inner, size_t len)
{
    static const char *const names[] = {"cwd",          "defaultBuildTask",
                                        "execPath",     "extensionInstallFolder",
                                        "file",         "fileBasename",
                                        "fileDirname",  "fileBasenameNoExtension",
                                        "fileExtname",  "fileWorkspaceFolder",
                                        "lineNumber",   "fileDirnameBasename",
                                        "columnNumber", "relativeFile",
                                        "selectedText", "relativeFileDirname",
                                        "workspaceRoot"};
    static const char *const beginnings[] = {"command:", "config:", "workspaceFolder"};

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (strlen(names[i]) == len && memcmp(inner, names[i], len) == 0)
            return true;
    for (size_t i = 0; i < GBX_COUNTOF(beginnings); i++)
        if (strncmp(inner, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Any other reference: in Claude Code it is a variable. Editors leave it as it is, and
 * the server may fill it in from its env. */
static void put_other(const gbx_host_entry_reader *t, const char *text, size_t len,
                      gbx_buf *to)
{
    if (t->place->host != GBX_HOST_CLAUDE_CODE && !is_of_editors(text + 2, len - 3))
        (void)gbx_buf_puts(to, "$");
    (void)gbx_buf_append(to, text, len);
}

static bool is_separator(const char *inner, size_t len)
{
    static const char name[] = "pathSeparator";

    return (len == 1 && *inner == '/') ||
           (len == sizeof name - 1 && memcmp(inner, name, len) == 0);
}

/* Translate one reference, "${...}" of len bytes. */
static void put_reference(const gbx_host_entry_reader *t, const char *text, size_t len,
                          gbx_buf *to)
{
    const char *inner = text + 2;
    size_t inner_len = len - 3;

    if (inner_len > 6 && strncmp(inner, "input:", 6) == 0)
        put_input(t, inner + 6, inner_len - 6, to);
    else if (inner_len > 4 && strncmp(inner, "env:", 4) == 0)
        (void)gbx_buf_printf(to, "${%.*s}", (int)inner_len - 4, inner + 4);
    else if (inner_len == 8 && strncmp(inner, "userHome", 8) == 0)
        (void)gbx_buf_puts(to, "${HOME}");
    else if (t->place->host != GBX_HOST_CLAUDE_CODE && is_separator(inner, inner_len))
        (void)gbx_buf_puts(to, "/");
    else if (!put_folder(t, inner, inner_len, to))
        put_other(t, text, len, to);
}

/* Put dollars that begin no reference; before a '{' each of them is doubled. */
static void put_dollars(size_t dollars, bool before_brace, gbx_buf *to)
{
    for (size_t i = 0; i < (before_brace ? 2 * dollars : dollars); i++)
        (void)gbx_buf_puts(to, "$");
}

/* Begins with "${" or an escaped "$${": dollars before it must be escaped. */
static bool begins_reference(const gbx_buf *ours)
{
    size_t dollars = 0;

    while (dollars < ours->len && ours->data[dollars] == '$')
        dollars++;
    return dollars > 0 && dollars < ours->len && ours->data[dollars] == '{';
}

/* Put a reference that ends at `end`, after the literal dollars before it. */
static void put_whole(const gbx_host_entry_reader *t, size_t dollars, const char *text,
                      const char *end, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf ours;

    gbx_buf_init(&ours, GBX_MIB(1));
    put_reference(t, text, (size_t)(end + 1 - text), &ours);
    put_dollars(dollars, begins_reference(&ours), to);
    (void)gbx_buf_append(to, ours.data, ours.len);
    to->failed = to->failed || ours.failed;
}

static void put_filled(const gbx_host_entry_reader *t, const char *text, gbx_buf *to)
{
    while (*text != '\0') {
        size_t plain = strcspn(text, "$");
        size_t dollars = strspn(text + plain, "$");
        const char *brace = text + plain + dollars;
        const char *end = dollars > 0 && *brace == '{' ? strchr(brace, '}') : NULL;

        (void)gbx_buf_append(to, text, plain);
        if (end != NULL)
            put_whole(t, dollars - 1, brace - 1, end, to);
        else
            put_dollars(dollars, *brace == '{', to);
        text = end != NULL ? end + 1 : brace;
    }
}

/* Translate a string's references, or escape them all: not every host fills them in. */
static json_t *take_text(const gbx_host_entry_reader *t, const json_t *value)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    const char *text = json_string_value(value);

    gbx_buf_init(&buf, GBX_MIB(1));
    if (gbx_host_fills(t->place->host))
        put_filled(t, text, &buf);
    else
        gbx_variables_escape(text, &buf);
    return buf.failed
               ? NULL
               : json_stringn(buf.data != NULL ? (const char *)buf.data : "", buf.len);
}

/* ---- public to other modules -------------------------------------------- */

/* Recursive; hosts' entries are shallow. */
void gbx_host_entry_texts(const gbx_host_entry_reader *t, json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *item = json_array_get(value, i);

        if (json_is_string(item))
            (void)json_array_set_new(value, i, take_text(t, item));
        else
            gbx_host_entry_texts(t, item);
    }
    for (void *at = json_object_iter(value); at != NULL;
         at = json_object_iter_next(value, at)) {
        json_t *item = json_object_iter_value(at);

        if (json_is_string(item))
            (void)json_object_iter_set_new(value, at, take_text(t, item));
        else
            gbx_host_entry_texts(t, item);
    }
}

void gbx_host_entry_say(const gbx_host_entry_reader *t, const char *format,
                        const char *what)
{
    char note[GBX_ERROR_MESSAGE_SIZE + 256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(note, sizeof note, format, what);
#pragma GCC diagnostic pop
    t->note(t->user, note);
}
