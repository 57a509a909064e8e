/* SPDX-License-Identifier: MIT */
/*
 * hosts - where the MCP hosts that we know keep their servers, and reading their files.
 */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/config/config.h"
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
static const json_t *value_above(const json_t *root, const gbx_host_place *place,
                                 size_t levels)
{
    for (size_t i = 0; place->keys[i] != NULL && place->keys[i + levels] != NULL; i++)
        root = json_object_get(root, key_at(place, i));
    return root;
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

/* Only these members of JSON are decoded: the rest belongs to the host, and our parser
 * might reject it. */
static const gbx_jsonc_wanted in_project[] = {{"mcpServers", NULL},
                                              {"disabledMcpjsonServers", NULL},
                                              {"enabledMcpjsonServers", NULL},
                                              {"enableAllProjectMcpServers", NULL},
                                              {"disabledMcpServers", NULL},
                                              {"hasTrustDialogAccepted", NULL},
                                              {NULL, NULL}};
static const gbx_jsonc_wanted projects[] = {{"*", in_project}, {NULL, NULL}};
static const gbx_jsonc_wanted in_settings[] = {{"servers", NULL},
                                               {"inputs", NULL},
                                               {NULL, NULL}};
static const gbx_jsonc_wanted in_permissions[] = {{"deny", NULL},
                                                  {"ask", NULL},
                                                  {NULL, NULL}};
static const gbx_jsonc_wanted in_ours[] = {{"rules", NULL},
                                           {"defaults", NULL},
                                           {"secrets", NULL},
                                           {NULL, NULL}};
static const gbx_jsonc_wanted wanted[] = {{"mcpServers", NULL},
                                          {"glovebox", in_ours},
                                          {"servers", NULL},
                                          {"inputs", NULL},
                                          {"mcp", in_settings},
                                          {"projects", projects},
                                          {"permissions", in_permissions},
                                          {"disabledMcpjsonServers", NULL},
                                          {"enabledMcpjsonServers", NULL},
                                          {"enableAllProjectMcpServers", NULL},
                                          {NULL, NULL}};

/* Remove byte order mark and comments, check everything, and decode the wanted
 * members only. */
static gbx_status parse(gbx_host_file_text *file, char *text, size_t len,
                        gbx_error *reterr)
{
    gbx_json_fault fault;
    json_error_t e;
    uint32_t line;
    uint32_t column;

    gbx_jsonc_blank(text, len);
    if (!gbx_json_check(text, len, GBX_JSON_DEPTH_MAX, &fault))
        return gbx_fail_at(reterr, GBX_E_DATA, fault.line, fault.column, "%s",
                           fault.message);
    gbx_jsonc_keep(text, len, wanted);
    file->root = json_loads(text, JSON_REJECT_DUPLICATES, &e);
    if (file->root != NULL) {
        /* It may have run out of memory without noticing. */
        (void)gbx_need(gbx_json_is_whole(text, strlen(text), file->root) ? file->root
                                                                         : NULL);
        return GBX_OK;
    }
    gbx_utf8_position(text, len, e.position > 0 ? (size_t)e.position : 0, &line,
                      &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line, column, "%s", e.text);
}

static gbx_status read_json(gbx_host_file_text *file, gbx_error *reterr)
{
    size_t mark_len = gbx_jsonc_mark_len(file->text, file->len);
    size_t len = file->len - mark_len;
    char *copy = gbx_need(malloc(len + 1));
    gbx_status status;

    memcpy(copy, file->text + mark_len, len);
    copy[len] = '\0';
    status = parse(file, copy, len, reterr);
    explicit_bzero(copy, len);
    free(copy);
    return status;
}

/* Numbers in env and headers stand for strings; they are copied as they are written,
 * 1.50 and not 1.5. */
static void keep(json_t *pairs, gbx_view written)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    for (void *at = json_object_iter(pairs);
         at != NULL && gbx_view_next(written, &cursor, &name, &value);
         at = json_object_iter_next(pairs, at))
        if (json_is_number(json_object_iter_value(at)))
            (void)json_object_iter_set_new(pairs, at,
                                           json_stringn(value.at, value.len));
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
        *ret = (gbx_host_place){.host = looks[i].host, .keys = looks[i].keys};
        if (has_servers(root, ret) && is_toml == (looks[i].host == GBX_HOST_CODEX))
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

gbx_status gbx_host_file_read(const char *path, gbx_trust trust,
                              gbx_host_file_text *ret, gbx_error *reterr)
{
    const gbx_trusted_file trusted = {path, "", O_RDONLY | O_NONBLOCK, trust, false};
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    gbx_host_file_text file = {.root = NULL};
    size_t n = strlen(path);
    const char *why;
    gbx_status status;
    gbx_buf buf;

    status = gbx_trusted_file_open(&trusted, &fd, NULL, reterr);
    if (status != GBX_OK)
        return status;
    gbx_buf_init(&buf, FILE_MAX);
    why = read_all(fd, &buf);
    if (why != NULL) {
        gbx_buf_cleanup(&buf);
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", path, why);
    }
    file.text = gbx_need(gbx_buf_take_string(&buf, &file.len));
    file.is_toml = n > 5 && strcmp(path + n - 5, ".toml") == 0;
    status = file.is_toml ? gbx_toml_read(file.text, file.len, &file.root, reterr)
                          : read_json(&file, reterr);
    if (status == GBX_OK)
        *ret = file;
    else
        gbx_host_file_cleanup(&file);
    return status;
}

void gbx_host_file_cleanup(gbx_host_file_text *file)
{
    if (file->text != NULL)
        explicit_bzero(file->text, file->len); /* it may hold secrets */
    free(file->text);
    json_decref(file->root);
    *file = (gbx_host_file_text){.root = NULL};
}

const json_t *gbx_host_servers(const gbx_host_file_text *file,
                               const gbx_host_place *place)
{
    return has_servers(file->root, place) ? value_above(file->root, place, 0) : NULL;
}

const json_t *gbx_host_inputs(const gbx_host_file_text *file,
                              const gbx_host_place *place)
{
    return json_object_get(value_above(file->root, place, 1), "inputs");
}

void gbx_host_keep_numbers(gbx_host_file_text *file, const gbx_host_place *place)
{
    json_t *servers = (json_t *)(uintptr_t)gbx_host_servers(file, place);
    size_t cursor = 0;
    gbx_view name;
    gbx_view written;
    gbx_view at;
    gbx_edit edit;

    if (servers == NULL || file->is_toml ||
        !gbx_edit_open(&edit, file->text, file->len))
        return;
    at = edit.root;
    for (size_t i = 0; place->keys[i] != NULL; i++)
        at = gbx_view_member(at, key_at(place, i));
    /* Decoded values keep the order of the text. */
    for (void *server = json_object_iter(servers);
         server != NULL && gbx_view_next(at, &cursor, &name, &written);
         server = json_object_iter_next(servers, server)) {
        const json_t *entry = json_object_iter_value(server);

        keep(json_object_get(entry, "env"), gbx_view_member(written, "env"));
        keep(json_object_get(entry, "headers"), gbx_view_member(written, "headers"));
    }
    gbx_edit_close(&edit);
}
