/* SPDX-License-Identifier: MIT */
/* host_entry - see import.h. */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* VS Code adds to its PATH. Every other host replaces it, as we do. */
static void take_path(json_t *entry)
{
    json_t *env = json_object_get(entry, "env");
    const char *path = json_string_value(json_object_get(env, "PATH"));

    if (path != NULL)
        (void)json_object_set_new(env, "PATH", json_sprintf("${PATH}:%s", path));
}

/* Only editors read it. */
static void drop_env_file(const gbx_host_entry_reader *t, json_t *entry)
{
    if (json_object_get(entry, "envFile") == NULL)
        return;
    gbx_host_entry_say(t,
                       "its \"%s\" is left out, since the host does not read it either",
                       "envFile");
    (void)json_object_del(entry, "envFile");
}

/* Only VS Code expands "~" in an argument to the home directory, as we do. */
static void take_tildes(const gbx_host_entry_reader *t, json_t *entry)
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
static void take_folder(const gbx_host_entry_reader *t, json_t *entry)
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
        gbx_host_entry_say(
            t, "its %s is relative: here that is below the folder of the configuration",
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
static void look_for_trouble(const gbx_host_entry_reader *t, const json_t *entry)
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
        gbx_host_entry_say(t, rows[i].note, rows[i].key);
    }
}

/* Leaves out the position, which refers to no real file, and the advice to import,
 * which is happening now. */
static void say_why(const gbx_host_entry_reader *t, const char *fault, bool is_left)
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
    gbx_host_entry_say(t, is_left ? "it is left alone: %s" : "%s", text);
}

/* Is it a valid entry for us? Unset variables do not matter here. */
static bool is_whole(const gbx_host_entry_reader *t, const json_t *entry)
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

/* ---- public to other modules -------------------------------------------- */

const json_t *gbx_host_servers(const gbx_host_file_text *file,
                               const gbx_host_place *place)
{
    const json_t *at = file->root;

    for (size_t i = 0; place->keys[i] != NULL; i++)
        at = json_object_get(at, place->keys[i]);
    return json_is_object(at) ? at : NULL;
}

const json_t *gbx_host_inputs(const gbx_host_file_text *file,
                              const gbx_host_place *place)
{
    const json_t *at = file->root;

    for (size_t i = 0; place->keys[i] != NULL && place->keys[i + 1] != NULL; i++)
        at = json_object_get(at, place->keys[i]);
    return json_object_get(at, "inputs");
}

json_t *gbx_host_take(const gbx_host_place *place, const json_t *inputs,
                      const json_t *entry, const char *off_by, gbx_host_note_fn note,
                      void *user)
{
    const gbx_host_entry_reader t = {place, inputs, note, user};
    json_t *ours = json_is_object(entry) ? json_deep_copy(entry) : NULL;

    if (ours == NULL) {
        gbx_host_entry_say(&t, "it is left alone: %s", "it is not an object");
        return NULL;
    }
    gbx_host_entry_texts(&t, ours);
    if (place->host == GBX_HOST_CODEX)
        take_codex(ours);
    if (place->host == GBX_HOST_VSCODE)
        take_path(ours);
    if (place->host != GBX_HOST_VSCODE && place->host != GBX_HOST_CURSOR)
        drop_env_file(&t, ours);
    take_tildes(&t, ours);
    take_folder(&t, ours);
    if (off_by != NULL) {
        (void)json_object_set_new(ours, "disabled", json_true());
        gbx_host_entry_say(&t, "it is taken as disabled, as '%s' has it", off_by);
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
