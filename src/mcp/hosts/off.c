/* SPDX-License-Identifier: MIT */
/*
 * off - what a person has switched off elsewhere than in a server's entry.
 *
 * Claude Code asks before it starts a server of a project's .mcp.json, and keeps the
 * answer in its settings: a server that was rejected there must not start here.
 */
#include "mcp/hosts/take.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char rejected[] = "disabledMcpjsonServers";
static const char disabled[] = "disabledMcpServers";

/* Every name of list: what was said of it first stays. */
static void add_names(const json_t *list, const char *path, json_t *off)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));

        if (name != NULL && json_object_get(off, name) == NULL)
            (void)json_object_set_new(off, name, json_string(path));
    }
}

/* A file of settings, which need not be there. */
static gbx_status add_settings(const char *folder, const char *name, json_t *off,
                               char path[PATH_MAX], gbx_error *reterr)
{
    gbx_host_file_text file = {.root = NULL};
    gbx_error err = {0};
    gbx_status status;

    if (snprintf(path, PATH_MAX, "%s%s", folder, name) >= PATH_MAX)
        return GBX_OK;
    status = gbx_host_file_read(path, &file, &err);
    if (status == GBX_OK)
        add_names(json_object_get(file.root, rejected), path, off);
    else if (err.os_errno == ENOENT || err.os_errno == ENOTDIR)
        status = GBX_OK;
    else if (reterr != NULL)
        *reterr = err;
    gbx_host_file_cleanup(&file);
    return status;
}

/* What was answered in that folder: "projects" of the user's file. */
static gbx_status add_project(const char *folder, bool is_project_file, json_t *off,
                              char path[PATH_MAX], gbx_error *reterr)
{
    gbx_host_file_text file = {.root = NULL};
    gbx_error err = {0};
    gbx_status status;
    const json_t *project;

    if (!gbx_host_claude_file(".claude.json", path))
        return GBX_OK;
    status = gbx_host_file_read(path, &file, &err);
    project = json_object_get(json_object_get(file.root, "projects"), folder);
    if (status == GBX_OK && is_project_file)
        add_names(json_object_get(project, rejected), path, off);
    if (status == GBX_OK)
        add_names(json_object_get(project, disabled), path, off);
    else if (err.os_errno == ENOENT || err.os_errno == ENOTDIR)
        status = GBX_OK;
    else if (reterr != NULL)
        *reterr = err;
    gbx_host_file_cleanup(&file);
    return status;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_host_switched_off(const gbx_host_place *place, json_t *off,
                                 char path[PATH_MAX], gbx_error *reterr)
{
    const char *name = strrchr(place->path, '/');
    bool is_project_file = name != NULL && strcmp(name, "/.mcp.json") == 0;
    char folder[PATH_MAX];
    char user[PATH_MAX];
    gbx_status status;

    if (place->host != GBX_HOST_CLAUDE_CODE ||
        !(is_project_file || (gbx_host_claude_file(".claude.json", user) &&
                              gbx_host_same_file(place->path, user))))
        return GBX_OK;
    if (place->folder[0] != '\0')
        (void)snprintf(folder, sizeof folder, "%s", place->folder);
    else if (getcwd(folder, sizeof folder) == NULL)
        return GBX_OK;
    status = add_project(folder, is_project_file, off, path, reterr);
    if (!is_project_file)
        return status;
    if (status == GBX_OK)
        status =
            add_settings(folder, "/.claude/settings.local.json", off, path, reterr);
    if (status == GBX_OK)
        status = add_settings(folder, "/.claude/settings.json", off, path, reterr);
    if (status == GBX_OK && gbx_host_claude_file("settings.json", user))
        status = add_settings(user, "", off, path, reterr);
    return status;
}
