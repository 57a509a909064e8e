/* SPDX-License-Identifier: MIT */
/*
 * mcp_import - `glovebox mcp import`: adds the servers that hosts have configured to
 * our configuration.
 *
 * First everything is read and decided; then, if the new configuration loads, ours is
 * written, with a backup. The hosts' files stay unchanged.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "mcp/config/config.h"
#include "mcp/import/import.h"
#include "mcp/rpc/rpc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_MAX GBX_MIB(64)

typedef struct importing {
    gbx_host_files files;
    char own_path[PATH_MAX];
    int own_lock;          /* keeps others from changing our file; -1: none */
    char *own;             /* our file's text, with the servers once there is a plan */
    gbx_buf own_json;      /* our file for the script */
    gbx_status own_status; /* of loading our file unchanged */
    gbx_error own_err;
    gbx_view plan;
    int exit; /* of the first unreadable file; 0: none */
    gbx_term out;
    gbx_term err;
} importing;

typedef struct import_args {
    gbx_common_args common;
    gbx_opt_list from;
    const char *config;
    bool dry_run;
    bool trust_files;
} import_args;

static const gbx_opt rows[] = {
    GBX_ROW_LIST(
        import_args, from, "from", "HOST|FILE",
        "claude, claude-code, cursor, vscode or codex, or a file of one of them; repeatable; "
        "default: all of these hosts, in this folder and for this user"),
    GBX_ROW_TEXT(
        import_args, config, "config", "FILE",
        "where the servers go; default: glovebox/mcp.json below $XDG_CONFIG_HOME or "
        "~/.config"),
    GBX_ROW_FLAG(import_args, dry_run, "dry-run",
                 "print what would be done, and write nothing"),
    GBX_ROW_TRUST_FILES(import_args, trust_files),
    {0},
};

static const gbx_opt_group groups[] = {{"Options", rows, 0}, GBX_COMMON_GROUP, {0}};

/* A member of the plan; NULL: it is not a string. */
static char *text_of(gbx_view object, const char *name)
{
    return gbx_view_string(gbx_view_member(object, name), OWN_MAX * 2);
}

/* ---- messages -------------------------------------------------------------------- */

/* Printed after flushing standard output, which is about earlier files. */
static void report(void *user, const char *path, const gbx_error *err)
{
    static const char *const hosts[] = {"claude", "claude-code", "cursor", "vscode",
                                        "codex"};
    importing *im = user;
    gbx_trouble trouble = {.file = path, .err = *err};
    const char *host = trouble.err.os_errno == ENOENT
                           ? gbx_nearest(path, hosts, GBX_COUNTOF(hosts))
                           : NULL;
    char hint[64];

    (void)gbx_trouble_input(&trouble, trouble.err.status);
    if (host != NULL) {
        (void)snprintf(hint, sizeof hint, "did you mean the host '%s'?", host);
        trouble.hint = hint;
    }
    (void)fflush(im->out.stream);
    gbx_trouble_print(&im->err, &trouble);
    if (im->exit == 0)
        im->exit = trouble.exit;
}

static void say_steps(importing *im)
{
    gbx_view steps = gbx_view_member(im->plan, "steps");
    size_t cursor = 0;
    gbx_view name;
    gbx_view step;

    while (gbx_view_next(steps, &cursor, &name, &step)) {
        GBX_CLEANUP(gbx_free) char *line = text_of(step, "say");
        GBX_CLEANUP(gbx_free) char *path = text_of(step, "fail");
        GBX_CLEANUP(gbx_free) char *why = text_of(step, "why");
        gbx_error err = {0};

        if (line != NULL)
            gbx_term_print(&im->out, "%s\n", line);
        if (why == NULL)
            continue;
        (void)gbx_fail(&err, GBX_E_DATA, "%s", why);
        report(im, path, &err);
    }
}

/* ---- our own file, locked against other writers meanwhile ---------------------- */

/* Check that im->own loads as a configuration. */
static gbx_status load(const importing *im, gbx_error *reterr)
{
    gbx_mcp_config *config = NULL;
    gbx_status status = gbx_mcp_config_parse(im->own, strlen(im->own), im->own_path,
                                             im->files.trust, &config, reterr);

    gbx_mcp_config_free(config);
    return status;
}

static bool fail_own(const importing *im, gbx_status status, gbx_trouble *trouble)
{
    trouble->file = im->own_path;
    return gbx_trouble_input(trouble, status);
}

/* Read our file, which need not exist. */
static bool read_own(importing *im, gbx_trouble *trouble)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf value = {0};
    gbx_buf *json = &im->own_json;
    gbx_status status =
        gbx_host_files_read(&im->files, im->own_path, &text, &value, &trouble->err);

    if (status != GBX_OK && trouble->err.os_errno != ENOENT)
        return fail_own(im, status, trouble);
    im->own = gbx_need(status == GBX_OK ? gbx_buf_take_string(&text, NULL)
                                        : strdup("{\n}\n"));
    trouble->err = (gbx_error){0};
    im->own_status = load(im, &im->own_err);
    gbx_buf_init_secret(json, OWN_MAX * 2);
    gbx_json_put_open(json, NULL, '{');
    gbx_json_put_text(json, "path", im->own_path);
    gbx_json_put_text(json, "text", im->own);
    gbx_json_put_json(json, "value", (const char *)value.data, value.len);
    gbx_json_put_bool(json, "isFine", im->own_status == GBX_OK);
    (void)gbx_need(gbx_buf_puts(json, "}") ? json : NULL);
    return true;
}

/* Open our file. It is locked until cleanup(), unless is_dry. */
static bool open_own(importing *im, const char *path, bool is_dry, gbx_trouble *trouble)
{
    gbx_status status = gbx_mcp_config_path(path, im->own_path, &trouble->err);

    if (!gbx_trouble_input(trouble, status))
        return false;
    /* Two imports at once would each write only their own servers. */
    if (!is_dry &&
        !gbx_trouble_output(trouble, gbx_file_lock(im->own_path, GBX_FILE_LOCK_MS,
                                                   &im->own_lock, &trouble->err))) {
        trouble->hint = "somebody else is changing it: try again";
        return false;
    }
    return read_own(im, trouble);
}

static bool is_changed(const importing *im)
{
    return gbx_view_kind(gbx_view_member(im->plan, "text")) == '"';
}

/* Check that our file loads with its changes; else nothing is written. Unchanged it may
 * not load, if a rule names a server that is added now. */
static bool check_own(importing *im, gbx_trouble *trouble)
{
    gbx_error err = im->own_err;
    gbx_status status = im->own_status;

    if (is_changed(im)) {
        free(im->own);
        im->own = gbx_need(text_of(im->plan, "text"));
        status = load(im, &err);
    }
    if (status == GBX_OK)
        return true;
    trouble->err = im->own_err;
    if (im->own_status == GBX_OK) /* its line numbers refer to a file that does not
                                     exist */
        (void)gbx_fail(&trouble->err, status, "with these servers '%s' is none: %s",
                       im->own_path, err.message);
    else
        status = im->own_status;
    trouble->hint = "nothing has been written";
    return fail_own(im, status, trouble);
}

static void cleanup(importing *im)
{
    free(im->own);
    gbx_buf_cleanup(&im->own_json);
    gbx_host_files_close(&im->files);
    gbx_fd_close(&im->own_lock);
}

/* ---- the command ------------------------------------------------------------------- */

static void say_what_is_left(const importing *im)
{
    gbx_view next = gbx_view_member(im->plan, "next");
    size_t cursor = 0;
    gbx_view name;
    gbx_view line;

    while (gbx_view_next(next, &cursor, &name, &line)) {
        GBX_CLEANUP(gbx_free) char *text = gbx_need(gbx_view_string(line, line.len));

        gbx_term_print(&im->out, "%s\n", text);
    }
}

static bool write_own(importing *im, gbx_trouble *trouble)
{
    char backup[PATH_MAX];

    if (!is_changed(im)) {
        gbx_term_print(&im->out, "nothing to write to %s\n", im->own_path);
        return true;
    }
    if (gbx_file_replace(im->own_path, im->own, strlen(im->own), backup,
                         &trouble->err) != GBX_OK)
        return gbx_trouble_output(trouble, GBX_E_OS);
    gbx_term_print(&im->out, "wrote %s%s%s\n", im->own_path,
                   backup[0] != '\0' ? "; as it was: " : "", backup);
    return true;
}

static bool import_all(importing *im, const import_args *args, gbx_trouble *trouble)
{
    gbx_trust trust = args->trust_files ? GBX_TRUST_ALL : GBX_TRUST_OWN;
    gbx_status status = gbx_host_files_open(&im->files, trust, &trouble->err);

    if (status == GBX_OK && !open_own(im, args->config, args->dry_run, trouble))
        return false;
    if (status == GBX_OK)
        status = gbx_host_files_plan(&im->files, &im->own_json, args->from.item,
                                     args->from.count, &im->plan, &trouble->err);
    if (!gbx_trouble_host(trouble, status))
        return false;
    say_steps(im);
    if (!gbx_view_is_true(gbx_view_member(im->plan, "hasPlaces"))) {
        if (im->exit != 0)
            return true; /* already reported */
        (void)gbx_fail(&trouble->err, GBX_E_OS, "no host has any servers here");
        trouble->err.os_errno = 0;
        return gbx_trouble_input(trouble, GBX_E_OS);
    }
    if (!check_own(im, trouble))
        return false;
    if (args->dry_run) {
        gbx_term_print(&im->out, "%s %s\n",
                       is_changed(im) ? "would write" : "nothing to write to",
                       im->own_path);
        return true;
    }
    if (!write_own(im, trouble))
        return false;
    say_what_is_left(im);
    return true;
}

static int import_main(void *parsed)
{
    const import_args *args = parsed;
    GBX_CLEANUP(cleanup)
    importing im = {.own_lock = -1, .files = {.unreadable = report, .user = &im}};
    gbx_trouble trouble = {0};

    im.out = gbx_term_open(stdout, (gbx_color)args->common.color);
    im.err = gbx_term_open(stderr, (gbx_color)args->common.color);
    if (import_all(&im, args, &trouble))
        return im.exit;
    (void)fflush(stdout);
    gbx_trouble_print(&im.err, &trouble);
    return trouble.exit;
}

const gbx_command gbx_command_mcp_import = {
    .name = "mcp import",
    .summary = "take over the servers that hosts have configured",
    .usage = "mcp import [options]",
    .description =
        "Reads the servers of Claude Desktop, Claude Code, Cursor, VS Code and Codex, and\n"
        "adds them to a configuration for 'glovebox mcp --config'. Existing entries stay;\n"
        "a server that is there already is not added again, and another of the same name\n"
        "gets its own name. Servers of a project's own file are disabled unless --from\n"
        "names the file. The hosts' files stay as they are; the output says what to remove\n"
        "from them and what to add. A file that cannot be read is reported and the others\n"
        "are imported; the exit status is then 65, or 66 if it may not be read.",
    .examples = "glovebox mcp import --dry-run\n"
                "glovebox mcp import --from cursor\n"
                "glovebox mcp import --from ./team.json --config ./mcp.json",
    .groups = groups,
    .args_size = sizeof(import_args),
    .words_wrong = "mcp import takes no argument: see '--from'",
    .run = import_main,
};
