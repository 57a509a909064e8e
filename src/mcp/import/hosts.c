/* SPDX-License-Identifier: MIT */
/*
 * hosts - where the MCP hosts that we know keep their servers, and reading their files.
 */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where a host has servers --------------------------------------------------- */

/* Where a path begins. */
typedef enum base { CONFIG, CLAUDE, CLAUDE_FOLDER, USER, CODEX_HOME, HERE } base;

/* "*" among the keys stands for the folder of the project. */
static const struct {
    gbx_host_kind host;
    base from;
    const char *path;
    const char *keys[GBX_HOST_KEYS_MAX + 1];
} table[] = {
    {GBX_HOST_CLAUDE, CONFIG, "Claude/claude_desktop_config.json", {"mcpServers"}},
    {GBX_HOST_CLAUDE_CODE, CLAUDE, ".claude.json", {"projects", "*", "mcpServers"}},
    {GBX_HOST_CLAUDE_CODE, HERE, ".mcp.json", {"mcpServers"}},
    {GBX_HOST_CLAUDE_CODE, CLAUDE, ".claude.json", {"mcpServers"}},
    {GBX_HOST_CURSOR, HERE, ".cursor/mcp.json", {"mcpServers"}},
    {GBX_HOST_CURSOR, USER, ".cursor/mcp.json", {"mcpServers"}},
    {GBX_HOST_VSCODE, HERE, ".vscode/mcp.json", {"servers"}},
    {GBX_HOST_VSCODE, HERE, ".vscode/settings.json", {"mcp", "servers"}},
    {GBX_HOST_VSCODE, CONFIG, "Code/User/mcp.json", {"servers"}},
    {GBX_HOST_VSCODE, CONFIG, "Code/User/settings.json", {"mcp", "servers"}},
    {GBX_HOST_CODEX, HERE, ".codex/config.toml", {"mcp_servers"}},
    {GBX_HOST_CODEX, CODEX_HOME, "config.toml", {"mcp_servers"}},
};

static bool base_path(base from, char out[PATH_MAX])
{
    static const struct {
        const char *variable; /* names the folder itself */
        const char *below;    /* else it is this, below the home directory */
    } bases[] = {[CONFIG] = {"XDG_CONFIG_HOME", "/.config"},
                 [CLAUDE] = {"CLAUDE_CONFIG_DIR", ""},
                 [CLAUDE_FOLDER] = {"CLAUDE_CONFIG_DIR", "/.claude"},
                 [USER] = {"HOME", ""},
                 [CODEX_HOME] = {"CODEX_HOME", "/.codex"}};
    const char *home = getenv("HOME");
    const char *own;

    if (from == HERE)
        return getcwd(out, PATH_MAX) != NULL;
    own = getenv(bases[from].variable);
    if (own != NULL && own[0] == '/')
        return snprintf(out, PATH_MAX, "%s", own) < PATH_MAX;
    if (home == NULL || home[0] != '/')
        return false;
    return snprintf(out, PATH_MAX, "%s%s", home, bases[from].below) < PATH_MAX;
}

static bool path_below(base from, const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX];

    return base_path(from, folder) &&
           snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* The key at that level; NULL after the last. */
static const char *key_at(const gbx_host_place *place, size_t level)
{
    const char *key = place->keys[level];

    return key != NULL && strcmp(key, "*") == 0 ? place->folder : key;
}

/* The value so many levels above the servers, or NULL. */
static json_t *value_above(const json_t *root, const gbx_host_place *place,
                           size_t levels)
{
    json_t *value = (json_t *)(uintptr_t)root;

    for (size_t i = 0; place->keys[i] != NULL && place->keys[i + levels] != NULL; i++)
        value = json_object_get(value, key_at(place, i));
    return value;
}

static bool has_servers(const json_t *root, const gbx_host_place *place)
{
    return json_is_object(value_above(root, place, 0));
}

static bool fill_place(size_t row, gbx_host_place *place)
{
    const char *const *keys = table[row].keys;
    bool is_project =
        table[row].from == HERE || (keys[1] != NULL && strcmp(keys[1], "*") == 0);

    *place = (gbx_host_place){.host = table[row].host, .keys = keys};
    return (!is_project || base_path(HERE, place->folder)) &&
           path_below(table[row].from, table[row].path, place->path);
}

/* Is the same place listed again later, as one of the user's? */
static bool is_again(const gbx_host_place *places, size_t count, size_t index)
{
    for (size_t i = index + 1; i < count; i++)
        if (gbx_host_same_place(&places[index], &places[i]))
            return true;
    return false;
}

/* ---- named files ---------------------------------------------------------------- */

/* Treat a named file as if it had been found without a name. */
static bool find_known(const char *path, const json_t *root, gbx_host_place *ret)
{
    for (int host = 0; host < GBX_HOST_COUNT; host++) {
        gbx_host_place places[GBX_HOST_PLACES_MAX];
        size_t count = gbx_host_places((gbx_host_kind)host, places);

        for (size_t i = 0; i < count; i++)
            /* Naming a file does not select its "projects". */
            if (strcmp(places[i].keys[0], "projects") != 0 &&
                gbx_host_same_file(places[i].path, path) &&
                has_servers(root, &places[i])) {
                *ret = places[i];
                return true;
            }
    }
    return false;
}

/* Another project's file is treated as if that project were the current folder. */
static bool find_project(const char *path, const json_t *root, gbx_host_place *ret)
{
    char real[PATH_MAX];
    size_t len = realpath(path, real) != NULL ? strlen(real) : 0;

    for (size_t i = 0; i < GBX_COUNTOF(table); i++) {
        size_t n = strlen(table[i].path);

        if (table[i].from != HERE || len < n + 2 || real[len - n - 1] != '/' ||
            strcmp(real + len - n, table[i].path) != 0)
            continue;
        *ret = (gbx_host_place){.host = table[i].host, .keys = table[i].keys};
        memcpy(ret->path, real, len + 1);
        memcpy(ret->folder, real, len - n - 1);
        if (has_servers(root, ret))
            return true;
    }
    return false;
}

/* ---- reading a file -------------------------------------------------------------- */

/* Claude Code keeps histories in its file. */
#define FILE_MAX GBX_MIB(64)

/* Read a regular file; reading a pipe would block. NULL, or the reason for
 * failing, with errno. */
static const char *read_all(int fd, gbx_buf *to)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return gbx_fail_reason(errno);
    errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    if (!S_ISREG(st.st_mode))
        return errno == EISDIR ? gbx_fail_reason(errno) : "it is not a file";
    errno = EFBIG;
    if (st.st_size >= (off_t)to->ceiling)
        return "it is too large";
    return gbx_buf_read(to, fd) ? NULL : gbx_fail_reason(errno);
}

/* Take {"value"} or {"message", "line", "column"}. */
static gbx_status take_answer(json_t *answer, json_t **ret, gbx_error *reterr)
{
    gbx_status status = GBX_OK;
    json_t *value = json_object_get(answer, "value");

    if (value != NULL)
        *ret = json_incref(value);
    else
        status =
            gbx_fail_at(reterr, GBX_E_DATA,
                        (uint32_t)json_integer_value(json_object_get(answer, "line")),
                        (uint32_t)json_integer_value(json_object_get(answer, "column")),
                        "%s", json_string_value(json_object_get(answer, "message")));
    json_decref(answer);
    return status;
}

static bool is_toml(const char *path)
{
    size_t len = strlen(path);

    return len > 5 && strcmp(path + len - 5, ".toml") == 0;
}

static gbx_status parse(gbx_host_box *box, const char *path, const gbx_buf *text,
                        json_t **ret, gbx_error *reterr)
{
    const char *bytes = text->data != NULL ? (const char *)text->data : "";
    json_t *answer = NULL;
    gbx_status status;
    uint32_t line;
    uint32_t column;
    size_t at;

    if (!gbx_utf8_valid(text->data, text->len, &at)) {
        gbx_utf8_position(bytes, text->len, at, &line, &column);
        return gbx_fail_at(reterr, GBX_E_DATA, line, column, "invalid UTF-8");
    }
    status = gbx_host_box_ask(box, "read",
                              gbx_need(json_pack("{s:o,s:b}", "text",
                                                 json_stringn(bytes, text->len),
                                                 "isToml", is_toml(path))),
                              &answer, reterr);
    return status == GBX_OK ? take_answer(answer, ret, reterr) : status;
}

const char *const gbx_host_names[] = {"claude", "claude-code", "cursor",
                                      "vscode", "codex",       NULL};

const char *gbx_host_title(gbx_host_kind host)
{
    static const char *const titles[] = {"Claude Desktop", "Claude Code", "Cursor",
                                         "VS Code", "Codex"};

    return titles[host];
}

size_t gbx_host_places(gbx_host_kind host, gbx_host_place places[GBX_HOST_PLACES_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < GBX_COUNTOF(table); i++)
        if (table[i].host == host && fill_place(i, &places[count]))
            count++;
    for (size_t i = 0; i < count;)
        if (is_again(places, count, i))
            memmove(&places[i], &places[i + 1], (--count - i) * sizeof *places);
        else
            i++;
    return count;
}

bool gbx_host_same_file(const char *a, const char *b)
{
    char real_a[PATH_MAX];
    char real_b[PATH_MAX];

    return strcmp(realpath(a, real_a) != NULL ? real_a : a,
                  realpath(b, real_b) != NULL ? real_b : b) == 0;
}

bool gbx_host_same_place(const gbx_host_place *a, const gbx_host_place *b)
{
    size_t i = 0;

    while (a->keys[i] != NULL && b->keys[i] != NULL &&
           strcmp(key_at(a, i), key_at(b, i)) == 0)
        i++;
    return a->keys[i] == NULL && b->keys[i] == NULL &&
           gbx_host_same_file(a->path, b->path);
}

bool gbx_host_place_of(const char *path, const json_t *root, gbx_host_place *ret)
{
    static const struct {
        gbx_host_kind host;
        const char *keys[GBX_HOST_KEYS_MAX + 1];
    } looks[] = {{GBX_HOST_CODEX, {"mcp_servers"}},
                 {GBX_HOST_CLAUDE_CODE, {"mcpServers"}},
                 {GBX_HOST_VSCODE, {"servers"}},
                 {GBX_HOST_VSCODE, {"mcp", "servers"}}};

    if (find_known(path, root, ret) || find_project(path, root, ret))
        return true;
    for (size_t i = 0; i < GBX_COUNTOF(looks); i++) {
        *ret = (gbx_host_place){.host = looks[i].host, .keys = looks[i].keys};
        if (has_servers(root, ret) &&
            is_toml(path) == (looks[i].host == GBX_HOST_CODEX))
            return realpath(path, ret->path) != NULL;
    }
    return false;
}

bool gbx_host_claude_file(const char *name, char path[PATH_MAX])
{
    bool is_state = strcmp(name, ".claude.json") == 0;

    return path_below(is_state ? CLAUDE : CLAUDE_FOLDER, name, path);
}

bool gbx_host_codex_file(char path[PATH_MAX])
{
    return path_below(CODEX_HOME, "config.toml", path);
}

bool gbx_host_own_path(char path[PATH_MAX])
{
    return path_below(CONFIG, "glovebox/mcp.json", path);
}

gbx_status gbx_host_file_read(gbx_host_box *box, const char *path, json_t **ret,
                              char **ret_text, gbx_error *reterr)
{
    const gbx_trusted_file trusted = {path, "", O_RDONLY | O_NONBLOCK, box->trust,
                                      false};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    const char *why;
    gbx_status status = gbx_trusted_file_open(&trusted, &fd, NULL, reterr);

    if (status != GBX_OK)
        return status;
    gbx_buf_init_secret(&text, FILE_MAX);
    why = read_all(fd, &text);
    if (why != NULL)
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", path, why);
    status = parse(box, path, &text, ret, reterr);
    if (status == GBX_OK && ret_text != NULL)
        *ret_text = gbx_need(gbx_buf_take_string(&text, NULL));
    return status;
}

json_t *gbx_host_servers(const json_t *root, const gbx_host_place *place)
{
    return has_servers(root, place) ? value_above(root, place, 0) : NULL;
}

json_t *gbx_host_inputs(const json_t *root, const gbx_host_place *place)
{
    return json_object_get(value_above(root, place, 1), "inputs");
}
