/* SPDX-License-Identifier: MIT */
/* mcp_import - see cli.h. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- our own file, locked against other writers meanwhile ---------------------- */

/* Load our file as it is in im. */
static gbx_status load(const gbx_import *im, gbx_error *reterr)
{
    gbx_mcp_config *config = NULL;
    gbx_status status =
        gbx_mcp_config_parse((const char *)im->own.text.data, im->own.text.len,
                             im->own_path, im->trust, &config, reterr);

    gbx_mcp_config_free(config);
    return status;
}

/* Two first imports at once would each write only their own servers. */
static gbx_status lock_new(gbx_import *im, gbx_error *reterr)
{
    gbx_status status;

    gbx_file_make_folders(im->own_path);
    status =
        gbx_file_lock_folder(im->own_path, GBX_FILE_LOCK_MS, &im->own_lock, reterr);
    if (status == GBX_OK && access(im->own_path, F_OK) == 0)
        gbx_fd_close(&im->own_lock); /* the file exists by now, and has its own lock */
    return status;
}

/* Another import could change the file. A read-only one can be replaced all the
 * same. */
static bool lock_own(gbx_import *im, gbx_trouble *trouble)
{
    gbx_status status = GBX_OK;
    struct stat st;

    if (access(im->own_path, F_OK) < 0 && errno == ENOENT)
        status = lock_new(im, &trouble->err);
    if (status == GBX_OK && stat(im->own_path, &st) == 0 && S_ISREG(st.st_mode) &&
        access(im->own_path, W_OK) == 0)
        status = gbx_file_lock(im->own_path, im->trust, &im->own_lock, &trouble->err);
    if (status == GBX_OK)
        return true;
    if (trouble->err.os_errno == EPERM) {
        gbx_import_name_file(trouble, im->own_path, status);
        return false;
    }
    gbx_trouble_output(trouble);
    trouble->hint = "somebody else is changing it: try again";
    return false;
}

void gbx_import_name_file(gbx_trouble *trouble, const char *path, gbx_status status)
{
    trouble->file = path;
    gbx_trouble_input(trouble, status);
}

static bool gbx_import_open(gbx_import *im, const char *path, bool is_dry,
                            gbx_trouble *trouble)
{
    gbx_host_file_text file = {.root = NULL};
    gbx_status status = GBX_OK;

    if (path == NULL)
        status = gbx_mcp_own_config(im->own_path, &trouble->err);
    else
        status = gbx_mcp_whole_path(path, im->own_path, &trouble->err);
    if (status != GBX_OK) {
        gbx_trouble_input(trouble, status);
        return false;
    }
    if (!is_dry && !lock_own(im, trouble))
        return false;
    status = gbx_host_file_read(im->own_path, im->trust, &file, &trouble->err);
    im->own_is_new = status == GBX_E_OS && trouble->err.os_errno == ENOENT;
    if (status != GBX_OK && !im->own_is_new) {
        gbx_import_name_file(trouble, im->own_path, status);
        return false;
    }
    trouble->err = (gbx_error){0};
    im->servers = json_object();
    if (file.root != NULL)
        (void)json_object_update(im->servers, json_object_get(file.root, "mcpServers"));
    if (file.root != NULL)
        (void)json_object_update(im->servers, json_object_get(file.root, "servers"));
    if (im->servers == NULL ||
        !gbx_edit_open(&im->own, im->own_is_new ? "{\n}\n" : file.text,
                       im->own_is_new ? 4 : file.len)) {
        gbx_host_file_cleanup(&file);
        (void)gbx_fail(&trouble->err, GBX_E_NOMEM, "out of memory");
        gbx_trouble_host(trouble, GBX_E_NOMEM);
        return false;
    }
    gbx_host_file_cleanup(&file);
    im->own_status = load(im, &im->own_err);
    return true;
}

static bool gbx_import_check(gbx_import *im, gbx_trouble *trouble)
{
    gbx_error err = {0};
    gbx_status status = load(im, &err);

    if (status == GBX_OK)
        return true;
    trouble->err = im->own_err;
    if (im->own_status == GBX_OK) /* its line numbers refer to a file that does not
                                     exist */
        (void)gbx_fail(&trouble->err, status, "with these servers '%s' is none: %s",
                       im->own_path, err.message);
    else
        status = im->own_status;
    gbx_import_name_file(trouble, im->own_path, status);
    trouble->hint = "nothing has been written";
    return false;
}

/* Open our file. It is locked until gbx_import_close(), unless is_dry. */
static void gbx_import_close(gbx_import *im)
{
    for (size_t i = 0; i < im->place_count; i++) {
        gbx_host_place_cleanup(&im->places[i].place);
        gbx_buf_cleanup(&im->places[i].taken);
    }
    gbx_edit_close(&im->own);
    json_decref(im->servers);
    gbx_fd_close(&im->own_lock);
}

typedef struct import_args {
    gbx_opt_list from;
    const char *config;
    bool dry_run;
    bool trust_files;
    gbx_common_args common;
} import_args;

static const gbx_opt rows[] = {
    {"from", "HOST|FILE",
     "claude, claude-code, cursor, vscode or codex, or a file of one of them; repeatable; "
     "default: all of these hosts, in this folder and for this user",
     GBX_OPT_LIST, offsetof(import_args, from), 0, 0, NULL},
    {"config", "FILE",
     "where the servers go; default: glovebox/mcp.json below $XDG_CONFIG_HOME or "
     "~/.config",
     GBX_OPT_TEXT, offsetof(import_args, config), 0, 0, NULL},
    {"dry-run", NULL, "print what would be done, and write nothing", GBX_OPT_FLAG,
     offsetof(import_args, dry_run), 0, 0, NULL},
    GBX_OPT_TRUST_FILES(import_args, trust_files),
};

static const gbx_opt_table table = {"Options", rows, GBX_COUNTOF(rows)};
static const gbx_opt_table *const tables[] = {&table, &gbx_common_table};

#define NARROWED ", with no more rights for others than the files of the hosts have"

static bool takes_rights(const gbx_import *im)
{
    struct stat st;

    return im->own_changed && stat(im->own_path, &st) == 0 &&
           (st.st_mode & im->withheld) != 0;
}

static void read_hosts(gbx_import *im, const import_args *args)
{
    for (int i = 0; i < GBX_HOST_COUNT && args->from.count == 0; i++)
        gbx_import_host(im, (gbx_host_kind)i);
    for (size_t k = 0; k < args->from.count; k++) {
        int host = 0;

        while (host < GBX_HOST_COUNT &&
               strcmp(gbx_host_names[host], args->from.item[k]) != 0)
            host++;
        if (host < GBX_HOST_COUNT)
            gbx_import_host(im, (gbx_host_kind)host);
        else
            gbx_import_file(im, args->from.item[k]);
    }
}

/* The host continues to use a server, bypassing us and our rules, until a person
 * removes it there. */
static void say_what_is_left(const gbx_import *im)
{
    for (size_t i = 0; i < im->place_count; i++) {
        const gbx_import_place *at = &im->places[i];

        if (at->taken.len == 0)
            continue;
        (void)fputs("next: take ", im->out.stream);
        gbx_term_foreign(&im->out, (const char *)at->taken.data, at->taken.len,
                         GBX_ESCAPE_LINE);
        (void)fputs(" out of ", im->out.stream);
        gbx_term_foreign(&im->out, at->place.path, strlen(at->place.path),
                         GBX_ESCAPE_LINE);
        if (!at->has_us) {
            (void)fputs(", and put in glovebox, as docs/mcp.md shows: 'glovebox mcp "
                        "--config ",
                        im->out.stream);
            gbx_term_foreign(&im->out, im->own_path, strlen(im->own_path),
                             GBX_ESCAPE_LINE);
            (void)fputs("'", im->out.stream);
        }
        (void)fputc('\n', im->out.stream);
    }
}

static void say_backup(const gbx_import *im, const char *backup)
{
    if (backup[0] == '\0') {
        (void)fputc('\n', im->out.stream);
        return;
    }
    (void)fputs("; as it was: ", im->out.stream);
    gbx_term_foreign(&im->out, backup, strlen(backup), GBX_ESCAPE_LINE);
    (void)fputc('\n', im->out.stream);
}

/* Will our file load with its changes? Otherwise nothing is written. A rule may have
 * waited for the servers that are added now. */
static bool gbx_import_write(gbx_import *im, gbx_trouble *trouble)
{
    char backup[PATH_MAX];
    bool narrows = takes_rights(im);

    if (!im->own_changed) {
        (void)fprintf(im->out.stream, "nothing to write to %s\n", im->own_path);
        return true;
    }
    if (gbx_file_replace(im->own_path, (const char *)im->own.text.data,
                         im->own.text.len, im->withheld, backup,
                         &trouble->err) != GBX_OK) {
        gbx_trouble_output(trouble);
        return false;
    }
    (void)fprintf(im->out.stream, "wrote %s%s", im->own_path, narrows ? NARROWED : "");
    say_backup(im, backup);
    return true;
}

static bool import_all(gbx_import *im, const import_args *args, gbx_trouble *trouble)
{
    if (!gbx_import_open(im, args->config, args->dry_run, trouble))
        return false;
    read_hosts(im, args);
    if (im->place_count == 0 && im->exit != 0)
        return true; /* already reported */
    if (im->place_count == 0) {
        (void)gbx_fail(&trouble->err, GBX_E_OS, "no host has any servers here");
        trouble->err.os_errno = 0;
        gbx_trouble_input(trouble, GBX_E_OS);
        return false;
    }
    if (!gbx_import_check(im, trouble))
        return false;
    if (args->dry_run)
        (void)fprintf(im->out.stream, "%s %s%s\n",
                      im->own_changed ? "would write" : "nothing to write to",
                      im->own_path, takes_rights(im) ? NARROWED : "");
    else if (!gbx_import_write(im, trouble))
        return false;
    if (!args->dry_run)
        say_what_is_left(im);
    return true;
}

static int import_main(const gbx_command *self, int argc, char **argv)
{
    import_args args = {.config = NULL};
    void *const into[] = {&args, &args.common};
    GBX_CLEANUP(gbx_import_close) gbx_import im = {.own_lock = -1};
    gbx_trouble trouble = {0};
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    if (count > 0)
        return gbx_command_misuse(self, false,
                                  "mcp import takes no argument: see '--from'");
    im.trust = args.trust_files ? GBX_TRUST_ALL : GBX_TRUST_OWN;
    im.out = gbx_term_open(stdout, (gbx_color)args.common.color);
    im.err = gbx_term_open(stderr, (gbx_color)args.common.color);
    if (import_all(&im, &args, &trouble))
        return gbx_cli_finish(im.exit);
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
        "gets its own name. Servers of a project's own file are disabled unless they are\n"
        "known to be approved, or --from names the file. The hosts' files stay as they\n"
        "are; the output says what to remove from them and what to add. A file that cannot\n"
        "be read is reported and the others are imported; the exit status is then 65, or\n"
        "66 if it may not be read.",
    .examples = "glovebox mcp import --dry-run\n"
                "glovebox mcp import --from cursor\n"
                "glovebox mcp import --from ./team.json --config ./mcp.json",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = import_main,
};
