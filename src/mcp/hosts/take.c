/* SPDX-License-Identifier: MIT */
/* take - see take.h. */
#include "mcp/hosts/take.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"
#include "mcp/config/variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_NAME_SIZE 128

typedef struct taking {
    const gbx_host_place *place;
    const json_t *inputs; /* what the editor asks for, or NULL */
    gbx_host_note_fn note;
    void *user;
} taking;

static void say(const taking *t, const char *format, const char *what)
{
    char note[GBX_ERROR_MESSAGE_SIZE + 256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(note, sizeof note, format, what);
#pragma GCC diagnostic pop
    t->note(t->user, note);
}

/* ---- variables that editors fill in ------------------------------------------------ */

/* What an input is without an answer, or NULL. A brace would end the reference early. */
static const char *default_of(const taking *t, const char *id, size_t len)
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

/* What nobody has set for something else: an input may be called "user" or "path". */
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

/* With a number, where inputs before that one would have the name, too. */
static void name_input(const taking *t, const char *id, size_t len,
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
static void put_input(const taking *t, const char *id, size_t len, gbx_buf *to)
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

/* The folder of the project, whole or its name alone; false: it is not what is meant, or
 * there is none. Of several folders of a workspace only this one is known. */
static bool put_folder(const taking *t, const char *inner, size_t len, gbx_buf *to)
{
    static const char whole[] = "workspaceFolder";
    static const char last[] = "workspaceFolderBasename";
    const char *folder = t->place->folder;
    const char *slash = strrchr(folder, '/');
    bool is_last = len == sizeof last - 1 && memcmp(inner, last, len) == 0;
    bool is_whole = len >= sizeof whole - 1 &&
                    memcmp(inner, whole, sizeof whole - 1) == 0 &&
                    (len == sizeof whole - 1 || inner[sizeof whole - 1] == ':');

    if (folder[0] == '\0' || (!is_last && !is_whole))
        return false;
    return gbx_buf_puts(to, is_last && slash != NULL ? slash + 1 : folder);
}

/* One reference at text, "${...}" of len bytes. */
static void put_reference(const taking *t, const char *text, size_t len, gbx_buf *to)
{
    const char *inner = text + 2;
    size_t inner_len = len - 3;

    if (inner_len > 6 && strncmp(inner, "input:", 6) == 0)
        put_input(t, inner + 6, inner_len - 6, to);
    else if (inner_len > 4 && strncmp(inner, "env:", 4) == 0)
        (void)gbx_buf_printf(to, "${%.*s}", (int)inner_len - 4, inner + 4);
    else if (inner_len == 8 && strncmp(inner, "userHome", 8) == 0)
        (void)gbx_buf_puts(to, "${HOME}");
    else if (!put_folder(t, inner, inner_len, to))
        (void)gbx_buf_append(to, text, len);
}

/* A string with the variables of editors as ours. */
static json_t *take_text(const taking *t, const json_t *value)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    const char *text = json_string_value(value);

    gbx_buf_init(&buf, GBX_MIB(1));
    while (*text != '\0') {
        size_t plain = strcspn(text, "$");
        const char *end;

        (void)gbx_buf_append(&buf, text, plain);
        text += plain;
        end = text[0] == '$' && text[1] == '{' ? strchr(text, '}') : NULL;
        if (end != NULL) {
            put_reference(t, text, (size_t)(end + 1 - text), &buf);
            text = end + 1;
        } else if (*text != '\0') {
            (void)gbx_buf_append(&buf, text++, 1);
        }
    }
    return buf.failed
               ? NULL
               : json_stringn(buf.data != NULL ? (const char *)buf.data : "", buf.len);
}

/* All strings in value, however deep; entries of hosts are shallow. */
static void take_texts(const taking *t, json_t *value)
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

/* ---- what one host alone writes ------------------------------------------------------ */

static json_t *own_key(json_t *entry)
{
    json_t *own = json_object_get(entry, "glovebox");

    if (own == NULL) {
        own = json_object();
        (void)json_object_set_new(entry, "glovebox", own);
    }
    return own;
}

static void take_seconds(json_t *entry, const char *theirs, const char *ours)
{
    const json_t *value = json_object_get(entry, theirs);
    double seconds = json_number_value(value);

    if (json_is_number(value) && seconds > 0 && seconds <= 600)
        (void)json_object_set_new(own_key(entry), ours,
                                  json_integer((json_int_t)(seconds * 1000)));
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

static void take_codex(const taking *t, json_t *entry)
{
    json_t *names = json_object_get(entry, "env_vars");
    json_t *ms = json_object_get(entry, "startup_timeout_ms");

    take_seconds(entry, "startup_timeout_sec", "startMs");
    take_seconds(entry, "tool_timeout_sec", "timeoutMs");
    if (json_is_integer(ms) && json_integer_value(ms) >= 1 &&
        json_integer_value(ms) <= 600000)
        (void)json_object_set(own_key(entry), "startMs", ms);
    (void)json_object_del(entry, "startup_timeout_ms");
    if (json_is_array(names) && json_array_size(names) > 0 &&
        json_is_string(json_array_get(names, 0)))
        (void)json_object_set(own_key(entry), "env", names);
    take_codex_headers(entry);
    if (json_object_get(entry, "enabled_tools") != NULL ||
        json_object_get(entry, "disabled_tools") != NULL)
        say(t, "%s have no effect: write rules instead", "its lists of tools");
}

/* Servers of a project run in its folder, or in one below it. */
static void take_folder(const taking *t, json_t *entry)
{
    const char *folder = t->place->folder;
    const json_t *cwd = json_object_get(entry, "cwd");
    const char *text = json_string_value(cwd);
    bool is_relative = text != NULL && text[0] != '/' && strncmp(text, "${", 2) != 0;

    if (json_object_get(entry, "command") == NULL)
        return;
    if (folder[0] == '\0' && is_relative)
        say(t, "its %s is relative: here that is below the folder of the configuration",
            "\"cwd\"");
    else if (folder[0] != '\0' && cwd == NULL)
        (void)json_object_set_new(entry, "cwd", json_string(folder));
    else if (folder[0] != '\0' && is_relative)
        (void)json_object_set_new(entry, "cwd", json_sprintf("%s/%s", folder, text));
}

static void look_for_trouble(const taking *t, const json_t *entry)
{
    if (json_object_get(entry, "envFile") != NULL)
        say(t,
            "its %s is not read: give the variables to glovebox itself, and name them "
            "under \"glovebox\": {\"env\": [...]}",
            "\"envFile\"");
    if (json_object_get(entry, "oauth") != NULL ||
        json_object_get(entry, "auth") != NULL)
        say(t, "it signs in by %s, which is not done here: give it a header", "OAuth");
}

/* Would it be taken as ours? Variables that are not set are another question. */
static bool is_whole(const taking *t, const json_t *entry)
{
    json_t *copy = json_deep_copy(entry);
    json_t *root = json_pack("{s:{s:o}}", "mcpServers", "x", copy);
    GBX_CLEANUP(gbx_free)
    char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    static const char name[] = "mcpServers.x"; /* of no interest to who has it */
    gbx_mcp_config *config = NULL;
    gbx_error err = {0};
    const char *why;
    char *advice;
    bool done;

    json_decref(root);
    if (text == NULL)
        return false;
    done = gbx_mcp_config_parse(text, strlen(text), NULL, &config, &err) == GBX_OK;
    if (done && config->servers[0].fault != NULL)
        say(t, "%s", config->servers[0].fault);
    gbx_mcp_config_free(config);
    explicit_bzero(text, strlen(text));
    if (done)
        return true;
    why = err.message;
    advice = strstr(err.message, GBX_VARIABLES_IMPORT); /* that is being done */
    if (advice != NULL)
        *advice = '\0';
    if (strncmp(why, name, sizeof name - 1) == 0) {
        why += sizeof name - 1;
        why += strspn(why, ".: ");
    }
    say(t, "it is left alone: %s", why);
    return false;
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
    taking t = {place, inputs, note, user};
    json_t *ours = json_is_object(entry) ? json_deep_copy(entry) : NULL;

    if (ours == NULL) {
        say(&t, "it is left alone: %s", "it is no object");
        return NULL;
    }
    if (place->host == GBX_HOST_CODEX)
        take_codex(&t, ours);
    else
        take_texts(&t, ours);
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

void gbx_host_clean_name(const char *name, char out[GBX_HOST_NAME_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_.-";
    size_t len = 0;

    for (; *name != '\0' && len + 1 < GBX_HOST_NAME_SIZE; name++)
        if (strchr(letters, *name) != NULL)
            out[len++] = *name;
        else if (len > 0 && out[len - 1] != '-')
            out[len++] = '-';
    out[len] = '\0';
    if (len == 0)
        (void)snprintf(out, GBX_HOST_NAME_SIZE, "server");
}
