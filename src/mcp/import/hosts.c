/* SPDX-License-Identifier: MIT */
/* hosts - see import.h. */
#include "mcp/import/import.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where a path begins. */
typedef enum base { CONFIG, CLAUDE, CLAUDE_FOLDER, USER, CODEX_HOME, HERE } base;

/* "*" among the keys stands for the current folder. */
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

static bool set_keys(gbx_host_place *place, const char *const *keys)
{
    for (size_t i = 0; keys[i] != NULL; i++) {
        char here[PATH_MAX];

        if (strcmp(keys[i], "*") == 0 && getcwd(here, sizeof here) == NULL)
            return false;
        place->keys[i] = strdup(strcmp(keys[i], "*") == 0 ? here : keys[i]);
        if (place->keys[i] == NULL)
            return false;
    }
    return true;
}

static bool fill_place(size_t row, gbx_host_place *place)
{
    char from[PATH_MAX];
    bool is_project = table[row].from == HERE || (table[row].keys[1] != NULL &&
                                                  strcmp(table[row].keys[1], "*") == 0);

    *place = (gbx_host_place){.host = table[row].host};
    if (is_project && !base_path(HERE, place->folder))
        return false;
    return base_path(table[row].from, from) &&
           snprintf(place->path, sizeof place->path, "%s/%s", from, table[row].path) <
               (int)sizeof place->path &&
           set_keys(place, table[row].keys);
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

static bool has_servers(const json_t *root, char *const *keys)
{
    for (size_t k = 0; keys[k] != NULL; k++)
        root = json_object_get(root, keys[k]);
    return json_is_object(root);
}

/* Treat a named file as if it had been found without a name. */
static bool find_known(const char *path, const json_t *root, gbx_host_place *ret)
{
    bool found = false;

    for (int host = 0; host < GBX_HOST_COUNT && !found; host++) {
        gbx_host_place places[8];
        size_t count;

        gbx_host_places((gbx_host_kind)host, places, GBX_COUNTOF(places), &count);
        for (size_t i = 0; i < count; i++) {
            /* Naming a file does not select its "projects". */
            if (!found && strcmp(places[i].keys[0], "projects") != 0 &&
                gbx_host_same_file(places[i].path, path) &&
                has_servers(root, places[i].keys)) {
                *ret = places[i];
                found = true;
            } else {
                gbx_host_place_cleanup(&places[i]);
            }
        }
    }
    return found;
}

/* Another project's file is treated as if that project were the current folder. */
static bool find_project(const char *path, const json_t *root, gbx_host_place *ret)
{
    char real[PATH_MAX];
    size_t len = realpath(path, real) != NULL ? strlen(real) : 0;

    for (size_t i = 0; i < GBX_COUNTOF(table); i++) {
        size_t n = strlen(table[i].path);

        if (table[i].from != HERE || len < n + 2 || real[len - n - 1] != '/' ||
            strcmp(real + len - n, table[i].path) != 0 ||
            !has_servers(root, (char *const *)(uintptr_t)table[i].keys))
            continue;
        *ret = (gbx_host_place){.host = table[i].host};
        memcpy(ret->path, real, len + 1);
        memcpy(ret->folder, real, len - n - 1);
        if (set_keys(ret, table[i].keys))
            return true;
        gbx_host_place_cleanup(ret);
    }
    return false;
}

/* ---- public to other modules -------------------------------------------- */

const char *const gbx_host_names[] = {"claude", "claude-code", "cursor",
                                      "vscode", "codex",       NULL};

const char *gbx_host_title(gbx_host_kind host)
{
    static const char *const titles[] = {"Claude Desktop", "Claude Code", "Cursor",
                                         "VS Code", "Codex"};

    return titles[host];
}

bool gbx_host_fills(gbx_host_kind host)
{
    return host != GBX_HOST_CLAUDE && host != GBX_HOST_CODEX;
}

void gbx_host_places(gbx_host_kind host, gbx_host_place *places, size_t max,
                     size_t *ret_count)
{
    *ret_count = 0;
    for (size_t i = 0; i < GBX_COUNTOF(table) && *ret_count < max; i++) {
        if (table[i].host != host)
            continue;
        if (fill_place(i, &places[*ret_count]))
            ++*ret_count;
        else
            gbx_host_place_cleanup(&places[*ret_count]);
    }
    for (size_t i = 0; i < *ret_count;)
        if (is_again(places, *ret_count, i)) {
            gbx_host_place_cleanup(&places[i]);
            memmove(&places[i], &places[i + 1], (--*ret_count - i) * sizeof *places);
        } else {
            i++;
        }
}

void gbx_host_place_cleanup(gbx_host_place *place)
{
    for (size_t i = 0; i < GBX_HOST_KEYS_MAX; i++)
        free(place->keys[i]);
    memset(place->keys, 0, sizeof place->keys);
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
           strcmp(a->keys[i], b->keys[i]) == 0)
        i++;
    return a->keys[i] == NULL && b->keys[i] == NULL &&
           gbx_host_same_file(a->path, b->path);
}

bool gbx_host_place_of(const char *path, const json_t *root, bool is_toml,
                       gbx_host_place *ret)
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
        if (!has_servers(root, (char *const *)(uintptr_t)looks[i].keys) ||
            is_toml != (looks[i].host == GBX_HOST_CODEX))
            continue;
        *ret = (gbx_host_place){.host = looks[i].host};
        if (realpath(path, ret->path) != NULL && set_keys(ret, looks[i].keys))
            return true;
        gbx_host_place_cleanup(ret);
        return false;
    }
    return false;
}

bool gbx_host_claude_file(const char *name, char path[PATH_MAX])
{
    bool is_state = strcmp(name, ".claude.json") == 0;
    char from[PATH_MAX];

    return base_path(is_state ? CLAUDE : CLAUDE_FOLDER, from) &&
           snprintf(path, PATH_MAX, "%s/%s", from, name) < PATH_MAX;
}

bool gbx_host_codex_file(char path[PATH_MAX])
{
    char from[PATH_MAX];

    return base_path(CODEX_HOME, from) &&
           snprintf(path, PATH_MAX, "%s/config.toml", from) < PATH_MAX;
}

bool gbx_host_own_path(char path[PATH_MAX])
{
    char from[PATH_MAX];

    return base_path(CONFIG, from) &&
           snprintf(path, PATH_MAX, "%s/glovebox/mcp.json", from) < PATH_MAX;
}
