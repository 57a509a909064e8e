/* SPDX-License-Identifier: MIT */
/* host_entry - turns a host's entry of a server into ours. */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_NAME_SIZE 128

/* An entry being imported. */
typedef struct entry_reader {
    const gbx_host_place *place;
    const json_t *inputs; /* the editor's inputs, or NULL */
    gbx_host_note_fn note;
    void *user;
} entry_reader;

/* A note; format has one "%s". */
static void say(const entry_reader *t, const char *format, const char *what)
{
    char note[GBX_ERROR_MESSAGE_SIZE + 256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(note, sizeof note, format, what);
#pragma GCC diagnostic pop
    t->note(t->user, note);
}

/* ---- texts ------------------------------------------------------------------- */

/*
 * Which references a host fills in, and their equivalents here. A text that its host
 * leaves as it is must not become a variable here.
 */

static bool is_word(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* The default of an input, or NULL. A brace would end the reference early. */
static const char *default_of(const entry_reader *t, const char *id, size_t len)
{
    for (size_t i = 0; i < json_array_size(t->inputs); i++) {
        const json_t *input = json_array_get(t->inputs, i);
        const char *name = json_string_value(json_object_get(input, "id"));
        const char *text = json_string_value(json_object_get(input, "default"));

        if (name != NULL && is_word(id, len, name))
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
static void name_input(const entry_reader *t, const char *id, size_t len,
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
        if (is_word(id, len, its))
            break;
        upper_name(its, strlen(its), other);
        number += strcmp(other, name) == 0;
    }
    if (number > 1)
        (void)snprintf(name + strlen(name), 24, "_%zu", number);
}

/* ${input:api-key} becomes ${INPUT_API_KEY}, or ${INPUT_API_KEY:-default}. */
static void put_input(const entry_reader *t, const char *id, size_t len, gbx_buf *to)
{
    const char *otherwise = default_of(t, id, len);
    char name[INPUT_NAME_SIZE + 24];

    name_input(t, id, len, name);
    if (otherwise != NULL)
        (void)gbx_buf_printf(to, "${%s:-%s}", name, otherwise);
    else
        (void)gbx_buf_printf(to, "${%s}", name);
    say(t,
        otherwise != NULL
            ? "the editor asks for a value: without the variable %s it is the default"
            : "the editor asks for a value: set it as the variable %s",
        name);
}

/* Put the project's folder, or only its name; false: the reference means something
 * else, or the folder is unknown. Of a workspace's several folders, only this one is
 * known, by its name. */
static bool put_folder(const entry_reader *t, const char *inner, size_t len,
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
        if (is_word(inner, len, names[i]))
            return true;
    for (size_t i = 0; i < GBX_COUNTOF(beginnings); i++)
        if (strncmp(inner, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Translate one reference, "${...}" of len bytes. */
static void put_reference(const entry_reader *t, const char *text, size_t len,
                          gbx_buf *to)
{
    const char *inner = text + 2;
    size_t inner_len = len - 3;

    if (inner_len > 6 && strncmp(inner, "input:", 6) == 0)
        put_input(t, inner + 6, inner_len - 6, to);
    else if (inner_len > 4 && strncmp(inner, "env:", 4) == 0)
        (void)gbx_buf_printf(to, "${%.*s}", (int)inner_len - 4, inner + 4);
    else if (is_word(inner, inner_len, "userHome"))
        (void)gbx_buf_puts(to, "${HOME}");
    else if (t->place->host != GBX_HOST_CLAUDE_CODE &&
             (is_word(inner, inner_len, "/") ||
              is_word(inner, inner_len, "pathSeparator")))
        (void)gbx_buf_puts(to, "/");
    else if (!put_folder(t, inner, inner_len, to)) {
        /* Any other reference: in Claude Code it is a variable. Editors leave it as it
         * is, and the server may fill it in from its env. */
        if (t->place->host != GBX_HOST_CLAUDE_CODE && !is_of_editors(inner, inner_len))
            (void)gbx_buf_puts(to, "$");
        (void)gbx_buf_append(to, text, len);
    }
}

/* Put dollars that begin no reference; before a '{' each of them is doubled. */
static void put_dollars(size_t dollars, bool before_brace, gbx_buf *to)
{
    for (size_t i = 0; i < (before_brace ? 2 * dollars : dollars); i++)
        (void)gbx_buf_puts(to, "$");
}

/* Put a reference that ends at `end`, after the literal dollars before it. */
static void put_whole(const entry_reader *t, size_t dollars, const char *text,
                      const char *end, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf ours;
    size_t begin = 0;

    gbx_buf_init(&ours, GBX_MIB(1));
    put_reference(t, text, (size_t)(end + 1 - text), &ours);
    while (begin < ours.len && ours.data[begin] == '$')
        begin++;
    /* Dollars before "${" or an escaped "$${" must be escaped. */
    put_dollars(dollars, begin > 0 && begin < ours.len && ours.data[begin] == '{', to);
    (void)gbx_buf_append(to, ours.data, ours.len);
    to->failed = to->failed || ours.failed;
}

static void put_filled(const entry_reader *t, const char *text, gbx_buf *to)
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
static json_t *take_text(const entry_reader *t, const json_t *value)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    const char *text = json_string_value(value);

    gbx_buf_init(&buf, GBX_MIB(1));
    if (t->place->host != GBX_HOST_CLAUDE && t->place->host != GBX_HOST_CODEX)
        put_filled(t, text, &buf);
    else
        gbx_variables_escape(text, &buf);
    return buf.failed
               ? NULL
               : json_stringn(buf.data != NULL ? (const char *)buf.data : "", buf.len);
}

/* Rewrite every string below value so that it means to us what it means to its host.
 * Recursive; hosts' entries are shallow. */
static void take_texts(const entry_reader *t, json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *item = json_array_get(value, i);

        if (json_is_string(item))
            (void)json_array_set_new(value, i, take_text(t, item));
        else
            take_texts(t, item);
    }
    for (void *at = json_object_iter(value); at != NULL;
         at = json_object_iter_next(value, at)) {
        json_t *item = json_object_iter_value(at);

        if (json_is_string(item))
            (void)json_object_iter_set_new(value, at, take_text(t, item));
        else
            take_texts(t, item);
    }
}

/* ---- members of one host ------------------------------------------------ */

static json_t *own_key(json_t *entry)
{
    json_t *own = json_object_get(entry, "glovebox");

    if (own == NULL) {
        own = json_object();
        (void)json_object_set_new(entry, "glovebox", own);
    }
    return own;
}

/* Copy a time in seconds as ours in milliseconds, limited to our maximum. */
static void take_seconds(json_t *entry, const char *theirs, const char *ours,
                         double max)
{
    const json_t *value = json_object_get(entry, theirs);
    double seconds = json_number_value(value);

    if (json_is_number(value) && seconds > 0)
        (void)json_object_set_new(
            own_key(entry), ours,
            json_integer((json_int_t)((seconds < max ? seconds : max) * 1000)));
    (void)json_object_del(entry, theirs);
}

static void take_codex_headers(json_t *entry)
{
    json_t *headers = json_object_get(entry, "http_headers");
    json_t *from_env = json_object_get(entry, "env_http_headers");
    const char *bearer =
        json_string_value(json_object_get(entry, "bearer_token_env_var"));
    char text[300];
    const char *name;
    json_t *value;

    headers = json_is_object(headers) ? json_incref(headers) : json_object();
    json_object_foreach(from_env, name, value)
    {
        (void)snprintf(text, sizeof text, "${%s}",
                       json_is_string(value) ? json_string_value(value) : "");
        (void)json_object_set_new(headers, name, json_string(text));
    }
    if (bearer != NULL) {
        (void)snprintf(text, sizeof text, "Bearer ${%s}", bearer);
        (void)json_object_set_new(headers, "Authorization", json_string(text));
    }
    if (json_object_size(headers) > 0)
        (void)json_object_set(entry, "headers", headers);
    json_decref(headers);
    (void)json_object_del(entry, "http_headers");
    (void)json_object_del(entry, "env_http_headers");
    (void)json_object_del(entry, "bearer_token_env_var");
}

static void take_codex(json_t *entry)
{
    json_t *names = json_object_get(entry, "env_vars");
    json_t *ms = json_object_get(entry, "startup_timeout_ms");

    take_seconds(entry, "startup_timeout_sec", "startMs", 600);
    take_seconds(entry, "tool_timeout_sec", "timeoutMs", 3600);
    if (json_is_integer(ms) && json_integer_value(ms) >= 1 &&
        json_integer_value(ms) <= 600000)
        (void)json_object_set(own_key(entry), "startMs", ms);
    (void)json_object_del(entry, "startup_timeout_ms");
    if (json_array_size(names) > 0) /* we reject invalid names, too */
        (void)json_object_set(own_key(entry), "env", names);
    take_codex_headers(entry);
}

/* text below folder, or folder alone if text is NULL. A folder's name is escaped, so
 * that no variable begins in it. */
static json_t *below(const char *folder, const char *text)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf path;

    gbx_buf_init(&path, GBX_MIB(1));
    gbx_variables_escape(folder, &path);
    if (text != NULL)
        (void)gbx_buf_printf(&path, "/%s", text);
    return path.failed ? NULL : json_stringn((const char *)path.data, path.len);
}

static bool is_tilde(const char *text)
{
    return text[0] == '~' && (text[1] == '/' || text[1] == '\0');
}

/* Judges only the written text; a path that begins with a variable does not count. */
static bool is_relative(const char *text)
{
    return text != NULL && text[0] != '/' && !is_tilde(text) &&
           strncmp(text, "${", 2) != 0;
}

/* Only VS Code expands "~" in an argument to the home directory, as we do. */
static void take_tildes(const entry_reader *t, json_t *entry)
{
    json_t *args = json_object_get(entry, "args");

    for (size_t i = 0; i < json_array_size(args); i++) {
        const char *text = json_string_value(json_array_get(args, i));
        size_t escapes = text != NULL ? strspn(text, "\\") : 0;

        if (text != NULL && is_tilde(text + escapes) &&
            (escapes > 0 || t->place->host != GBX_HOST_VSCODE))
            (void)json_array_set_new(args, i, json_sprintf("\\%s", text));
    }
}

/* Servers of a project run in its folder or below. Other servers run in the home
 * directory with VS Code, and wherever the host was started with other hosts. */
static void take_folder(const entry_reader *t, json_t *entry)
{
    const char *folder = t->place->folder;
    const char *command = json_string_value(json_object_get(entry, "command"));
    const char *cwd = json_string_value(json_object_get(entry, "cwd"));
    const char *file = json_string_value(json_object_get(entry, "envFile"));

    if (command == NULL)
        return;
    if (folder[0] == '\0' && t->place->host == GBX_HOST_VSCODE)
        folder = "~";
    if (folder[0] != '\0' && is_relative(file))
        (void)json_object_set_new(entry, "envFile", below(folder, file));
    if (folder[0] != '\0') {
        if (cwd == NULL || is_relative(cwd))
            (void)json_object_set_new(entry, "cwd", below(folder, cwd));
        return;
    }
    if (is_relative(cwd) ||
        (cwd == NULL && is_relative(command) && strchr(command, '/') != NULL)) {
        say(t, "its %s is relative: here that is below the folder of the configuration",
            cwd != NULL ? "\"cwd\"" : "\"command\"");
    }
}

/* ["*"]: every tool. */
static bool is_all(const json_t *value)
{
    const char *first = json_string_value(json_array_get(value, 0));

    return first != NULL && strcmp(first, "*") == 0;
}

/* Note what hosts do for a server and we do not. */
static void look_for_trouble(const entry_reader *t, const json_t *entry)
{
    static const char sign_in[] =
        "it signs in by OAuth (\"%s\"), which is not done here: give it a header";
    static const char no_rule[] =
        "what its \"%s\" says of tools is not taken: write rules, or use 'glovebox mcp "
        "deny'";
    static const struct {
        const char *key;
        const char *note;
    } rows[] = {
        {"enabled_tools", no_rule},
        {"disabled_tools", no_rule},
        {"tools", no_rule},
        {"includeTools", no_rule},
        {"excludeTools", no_rule},
        {"disabledTools", no_rule},
        {"default_tools_approval_mode", no_rule},
        {"headersHelper", "its \"%s\" is not run: give it a header with a variable"},
        {"sandboxEnabled", "its \"%s\" is not done here: the server runs as it is"},
        {"bearer_token", "its \"%s\" is not taken: give it a header with a variable"},
        {"oauth", sign_in},
        {"scopes", sign_in},
        {"oauth_resource", sign_in},
        {"auth", sign_in},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        const json_t *value = json_object_get(entry, rows[i].key);

        if (value == NULL || json_is_null(value) || json_is_false(value) ||
            is_all(value))
            continue;
        say(t, rows[i].note, rows[i].key);
    }
}

/* Leaves out the position, which refers to no real file, and the advice to import,
 * which is happening now. */
static void say_why(const entry_reader *t, const char *fault, bool is_left)
{
    static const char name[] = ": mcpServers.x";
    const char *why = strstr(fault, name);
    const char *advice;
    char text[GBX_ERROR_MESSAGE_SIZE];

    why = why != NULL ? why + sizeof name - 1 : fault;
    why += strspn(why, ".: ");
    advice = strstr(why, GBX_VARIABLES_IMPORT);
    (void)snprintf(text, sizeof text, "%.*s",
                   (int)(advice != NULL ? (size_t)(advice - why) : strlen(why)), why);
    say(t, is_left ? "it is left alone: %s" : "%s", text);
}

/* Is it a valid entry for us? Unset variables do not matter here. */
static bool is_whole(const entry_reader *t, const json_t *entry)
{
    json_t *copy = json_deep_copy(entry);
    json_t *root = json_pack("{s:{s:o}}", "mcpServers", "x", copy);
    GBX_CLEANUP(gbx_free)
    char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    gbx_mcp_config *config = NULL;
    gbx_error err = {0};
    const char *why = NULL;
    bool done;

    json_decref(root);
    if (text == NULL)
        return false;
    done = gbx_mcp_config_parse(text, strlen(text), NULL, GBX_TRUST_OWN, &config,
                                &err) == GBX_OK;
    explicit_bzero(text, strlen(text));
    if (!done)
        why = err.message;
    else if (config->servers[0].fault != NULL)
        why = config->servers[0].fault;
    if (why != NULL)
        say_why(t, why, !done || config->servers[0].is_malformed);
    done = done && !config->servers[0].is_malformed;
    gbx_mcp_config_free(config);
    return done;
}

json_t *gbx_host_take(const gbx_host_place *place, const json_t *inputs,
                      const json_t *entry, const char *off_by, gbx_host_note_fn note,
                      void *user)
{
    const entry_reader t = {place, inputs, note, user};
    json_t *ours = json_is_object(entry) ? json_deep_copy(entry) : NULL;
    const char *path;
    json_t *env;

    if (ours == NULL) {
        say(&t, "it is left alone: %s", "it is not an object");
        return NULL;
    }
    take_texts(&t, ours);
    if (place->host == GBX_HOST_CODEX)
        take_codex(ours);
    env = json_object_get(ours, "env");
    path = json_string_value(json_object_get(env, "PATH"));
    /* VS Code adds to its PATH. Every other host replaces it, as we do. */
    if (place->host == GBX_HOST_VSCODE && path != NULL)
        (void)json_object_set_new(env, "PATH", json_sprintf("${PATH}:%s", path));
    /* Only editors read it. */
    if (place->host != GBX_HOST_VSCODE && place->host != GBX_HOST_CURSOR &&
        json_object_get(ours, "envFile") != NULL) {
        say(&t, "its \"%s\" is left out, since the host does not read it either",
            "envFile");
        (void)json_object_del(ours, "envFile");
    }
    take_tildes(&t, ours);
    take_folder(&t, ours);
    if (off_by != NULL) {
        (void)json_object_set_new(ours, "disabled", json_true());
        say(&t, "it is taken as disabled, as '%s' has it", off_by);
    }
    look_for_trouble(&t, ours);
    if (is_whole(&t, ours))
        return ours;
    json_decref(ours);
    return NULL;
}

bool gbx_host_is_us(const json_t *entry)
{
    const char *command = json_string_value(json_object_get(entry, "command"));
    const json_t *args = json_object_get(entry, "args");
    const char *first = json_string_value(json_array_get(args, 0));
    const char *slash = command != NULL ? strrchr(command, '/') : NULL;

    return command != NULL && first != NULL && strcmp(first, "mcp") == 0 &&
           strcmp(slash != NULL ? slash + 1 : command, "glovebox") == 0;
}

bool gbx_host_is_us_with(const json_t *entry, const char *config)
{
    const json_t *args = json_object_get(entry, "args");

    for (size_t i = 1; gbx_host_is_us(entry) && i < json_array_size(args); i++) {
        const char *arg = json_string_value(json_array_get(args, i));
        const char *path = NULL;

        if (arg != NULL && strncmp(arg, "--config=", 9) == 0)
            path = arg + 9;
        else if (arg != NULL && strcmp(arg, "--config") == 0)
            path = json_string_value(json_array_get(args, i + 1));
        if (path != NULL && path[0] == '/' && gbx_host_same_file(path, config))
            return true;
    }
    return false;
}
