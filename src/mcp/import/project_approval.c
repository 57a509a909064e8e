/* SPDX-License-Identifier: MIT */
/*
 * project_approval - a person's decisions about servers that are stored outside
 * their entries.
 *
 * A project's file comes from the project's author. Claude Code, Cursor, VS Code and
 * Codex ask before they start its servers, and Claude Code keeps the answers in its
 * settings. A rejected server must not start here, and neither must one that nobody was
 * asked about. The project's own settings cannot approve servers unless its folder is
 * trusted, since they come from the same author.
 */
#include "mcp/import/import.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char rejected[] = "disabledMcpjsonServers";
static const char approved[] = "enabledMcpjsonServers";
static const char all_approved[] = "enableAllProjectMcpServers";
static const char disabled[] = "disabledMcpServers";

/* Decisions being read. */
typedef struct reading {
    gbx_host_box *box;
    gbx_host_answers *to;
    char *path; /* of the file being read */
    bool is_project_file;
    bool may_approve;
    gbx_error *reterr;
} reading;

static void release_json(json_t **value)
{
    json_decref(*value);
}

/* Add every name in list; an earlier entry for a name stays. */
static void add_names(const reading *r, const json_t *list, json_t *to)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));

        if (name != NULL && json_object_get(to, name) == NULL)
            (void)json_object_set_new(to, name, json_string(r->path));
    }
}

/* Add the answers about a project's file. */
static void add_answers(const reading *r, const json_t *settings)
{
    add_names(r, json_object_get(settings, rejected), r->to->off);
    if (!r->may_approve)
        return;
    add_names(r, json_object_get(settings, approved), r->to->on);
    r->to->all_on =
        r->to->all_on || json_is_true(json_object_get(settings, all_approved));
}

static bool is_of_servers(const json_t *patterns)
{
    for (size_t i = 0; i < json_array_size(patterns); i++) {
        const char *pattern = json_string_value(json_array_get(patterns, i));

        if (pattern != NULL && strncmp(pattern, "mcp__", 5) == 0)
            return true;
    }
    return false;
}

/* Read the file at r->path; a missing file counts as empty. */
static gbx_status read_file(const reading *r, json_t **ret)
{
    gbx_error err = {0};
    gbx_status status = gbx_host_file_read(r->box, r->path, ret, NULL, &err);

    if (err.os_errno == ENOENT || err.os_errno == ENOTDIR)
        return GBX_OK;
    if (status != GBX_OK && r->reterr != NULL)
        *r->reterr = err;
    return status;
}

/* Read a file of settings. */
static gbx_status add_settings(const reading *r, const char *folder, const char *name)
{
    GBX_CLEANUP(release_json) json_t *root = NULL;
    const json_t *permissions;
    gbx_status status;

    if (snprintf(r->path, PATH_MAX, "%s%s", folder, name) >= PATH_MAX)
        return GBX_OK;
    status = read_file(r, &root);
    if (r->is_project_file)
        add_answers(r, root);
    /* Permissions of tools are not imported, but a person must be informed of them. */
    permissions = json_object_get(root, "permissions");
    if (is_of_servers(json_object_get(permissions, "deny")) ||
        is_of_servers(json_object_get(permissions, "ask")))
        (void)json_object_set_new(r->to->permissions, r->path, json_true());
    return status;
}

/* Add the answers for that folder: "projects" of the user's file. */
static gbx_status add_project(const reading *r, const char *folder, bool *ret_trusted)
{
    GBX_CLEANUP(release_json) json_t *root = NULL;
    gbx_status status;
    const json_t *project;

    *ret_trusted = false;
    if (!gbx_host_claude_file(".claude.json", r->path))
        return GBX_OK;
    status = read_file(r, &root);
    project = json_object_get(json_object_get(root, "projects"), folder);
    if (r->is_project_file)
        add_answers(r, project);
    add_names(r, json_object_get(project, disabled), r->to->off);
    *ret_trusted = json_is_true(json_object_get(project, "hasTrustDialogAccepted"));
    return status;
}

static gbx_status read_claude_code(reading *r, const char *folder)
{
    char user[PATH_MAX];
    bool is_trusted;
    gbx_status status = add_project(r, folder, &is_trusted);

    r->may_approve = is_trusted;
    if (status == GBX_OK)
        status = add_settings(r, folder, "/.claude/settings.local.json");
    if (status == GBX_OK)
        status = add_settings(r, folder, "/.claude/settings.json");
    r->may_approve = true;
    if (status == GBX_OK && gbx_host_claude_file("settings.json", user))
        status = add_settings(r, user, "");
    if (status == GBX_OK)
        status = add_settings(r, "/etc/claude-code", "/managed-settings.json");
    return status;
}

/* Codex reads a project's file only if the user's file says that the
 * folder is trusted. */
static gbx_status read_codex(const reading *r, const char *folder)
{
    GBX_CLEANUP(release_json) json_t *root = NULL;
    gbx_status status;
    const char *level;

    if (!gbx_host_codex_file(r->path))
        return GBX_OK;
    status = read_file(r, &root);
    level = json_string_value(
        json_object_get(json_object_get(json_object_get(root, "projects"), folder),
                        "trust_level"));
    r->to->all_on = level != NULL && strcmp(level, "trusted") == 0;
    return status;
}

gbx_status gbx_host_answers_read(gbx_host_box *box, const gbx_host_place *place,
                                 gbx_host_answers *ret, char path[PATH_MAX],
                                 gbx_error *reterr)
{
    const char *name = strrchr(place->path, '/');
    bool is_claude_file = name != NULL && strcmp(name, "/.mcp.json") == 0;
    reading r = {box, ret, path, is_claude_file, true, reterr};
    char folder[PATH_MAX];
    char user[PATH_MAX];
    /* The user's file of Claude Code also has places for projects. */
    bool is_of_project =
        place->folder[0] != '\0' && strcmp(place->keys[0], "projects") != 0;

    *ret = (gbx_host_answers){json_object(), json_object(), json_object(),
                              place->is_named || !is_of_project};
    if (place->host == GBX_HOST_CODEX && !ret->all_on)
        return read_codex(&r, place->folder);
    if (place->host != GBX_HOST_CLAUDE_CODE ||
        !(is_claude_file || (gbx_host_claude_file(".claude.json", user) &&
                             gbx_host_same_file(place->path, user))))
        return GBX_OK;
    if (place->folder[0] != '\0')
        (void)snprintf(folder, sizeof folder, "%s", place->folder);
    else if (getcwd(folder, sizeof folder) == NULL)
        return GBX_OK;
    return read_claude_code(&r, folder);
}

void gbx_host_answers_cleanup(gbx_host_answers *answers)
{
    json_decref(answers->off);
    json_decref(answers->on);
    json_decref(answers->permissions);
    *answers = (gbx_host_answers){.off = NULL};
}
