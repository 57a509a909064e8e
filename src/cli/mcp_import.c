/* SPDX-License-Identifier: MIT */
/* mcp_import - see mcp_import.h. */
#include "cli/mcp_import.h"

#include "base/cleanup.h"
#include "cli/mcp_commands.h"
#include "cli/policy_args.h"
#include "mcp/config/config.h"
#include "mcp/config/replace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct import_args {
    gbx_opt_list from;
    const char *config;
    bool dry_run;
    bool rewrite;
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
    {"rewrite", NULL,
     "also have the hosts start glovebox in place of the servers that were taken",
     GBX_OPT_FLAG, offsetof(import_args, rewrite), 0, 0, NULL},
    {"dry-run", NULL, "say what would be done, and write nothing", GBX_OPT_FLAG,
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

static bool import_all(gbx_import *im, const import_args *args, gbx_trouble *trouble)
{
    if (!gbx_import_open(im, args->config, args->dry_run, trouble))
        return false;
    read_hosts(im, args);
    if (im->place_count == 0 && im->exit != 0)
        return true; /* that has been said */
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
    return !args->rewrite || gbx_import_rewrite(im, args->dry_run, trouble);
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

/* Said where it is not the name that everybody expects. */
static void say_name_of_us(const gbx_import *im, const char *name)
{
    if (name[0] != '\0' && strcmp(name, "glovebox") != 0)
        (void)fprintf(im->out.stream, ", with glovebox as '%s'", name);
}

/* What its host would lose, of all places in that file; NULL: nothing. */
static const char *why_left(const gbx_import *im, const gbx_import_place *place)
{
    size_t untaken = 0;
    size_t less = 0;
    size_t unapproved = 0;

    for (size_t i = 0; i < im->place_count; i++)
        if (gbx_host_same_file(im->places[i].place.path, place->place.path)) {
            untaken += im->places[i].found - im->places[i].taken;
            less += im->places[i].less;
            unapproved += im->places[i].unapproved;
        }
    return untaken > 0 ? "servers that were not taken"
           : less > 0
               ? "servers that will not do here what they do there: see the notes"
           : unapproved > 0
               ? "servers without a known approval: look at them, and name "
                 "the file by '--from'"
               : NULL;
}

/* Has a place of the same file been before that one? */
static bool is_said(const gbx_import *im, size_t index)
{
    const gbx_import_place *place = &im->places[index];

    for (size_t i = 0; i < index; i++)
        if (im->places[i].found > 0 &&
            gbx_host_same_file(im->places[i].place.path, place->place.path))
            return true;
    return false;
}

/* A host that goes on with its servers, past us and our rules: who asked for another has
 * to hear of it, a script by the exit status. */
static void leave_file(gbx_import *im, const gbx_import_place *place, const char *why)
{
    (void)fprintf(im->out.stream, "not rewritten: %s has %s\n", place->place.path, why);
    if (im->exit == 0)
        im->exit = gbx_status_exit(GBX_E_DATA);
}

/* What would stand in for the servers that are taken is an entry of a person's: Codex has
 * to be told by it which variables we need. */
static bool check_entry(gbx_import *im, const gbx_import_place *place,
                        const gbx_host_file_text *file, const json_t *needs)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why;
    const json_t *servers = gbx_host_servers(file, &place->place);
    const char *name;
    json_t *entry;

    gbx_buf_init(&why, GBX_KIB(64));
    json_object_foreach((json_t *)(uintptr_t)servers, name, entry)
    {
        if (!file->is_toml || !gbx_host_is_us_with(entry, im->own_path) ||
            gbx_host_gives(entry, needs))
            continue;
        (void)gbx_buf_puts(&why, "glovebox without the variables that it needs now: "
                                 "write ");
        (void)gbx_host_put_needs(needs, &why);
        (void)gbx_buf_printf(&why, " into [mcp_servers.%s]", name);
        leave_file(im, place,
                   gbx_buf_append(&why, "", 1) ? (const char *)why.data
                                               : "glovebox without variables");
        return false;
    }
    return true;
}

static void release(json_t **value)
{
    json_decref(*value);
}

static bool write_place(gbx_import *im, const gbx_import_place *from, bool is_dry,
                        gbx_trouble *trouble)
{
    GBX_CLEANUP(gbx_host_file_cleanup) gbx_host_file_text file = {.root = NULL};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    char backup[PATH_MAX];
    char program[PATH_MAX];
    char name[GBX_HOST_NAME_SIZE] = "";
    GBX_CLEANUP(release) json_t *needs = gbx_host_needs(im->own_path);
    const gbx_host_start us = {program, im->own_path, needs};
    gbx_status status =
        gbx_host_file_read(from->place.path, im->trust, &file, &trouble->err);

    gbx_buf_init(&text, GBX_MIB(80));
    if (status != GBX_OK) {
        gbx_trouble_input(trouble, status);
        return false;
    }
    if (!gbx_mcp_own_program(program)) {
        status = gbx_fail(&trouble->err, GBX_E_OS, "cannot tell where this program is");
        gbx_trouble_host(trouble, status);
        return false;
    }
    if (!gbx_host_keeps(from->place.host, program) ||
        !gbx_host_keeps(from->place.host, im->own_path)) {
        leave_file(im, from,
                   "no way to write '${', which is in the path of glovebox or of its "
                   "configuration");
        return true;
    }
    if (!check_entry(im, from, &file, needs))
        return true;
    if (!gbx_host_rewrite(&file, &from->place, &us, name, &text)) {
        leave_file(im, from, "servers where they cannot be replaced");
        return true;
    }
    if (is_dry) {
        (void)fprintf(im->out.stream, "would rewrite %s", from->place.path);
        say_name_of_us(im, name);
        (void)fputc('\n', im->out.stream);
        return true;
    }
    status = gbx_file_replace(from->place.path, (const char *)text.data, text.len, 0,
                              backup, &trouble->err);
    if (status != GBX_OK) {
        gbx_trouble_output(trouble);
        return false;
    }
    (void)fprintf(im->out.stream, "rewrote %s", from->place.path);
    say_name_of_us(im, name);
    say_backup(im, backup);
    if (from->place.host == GBX_HOST_CLAUDE)
        gbx_mcp_say_needs(im->out.stream, "  note: it needs ", needs);
    return true;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_import_write(gbx_import *im, gbx_trouble *trouble)
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

bool gbx_import_rewrite(gbx_import *im, bool is_dry, gbx_trouble *trouble)
{
    for (size_t i = 0; i < im->place_count; i++) {
        const gbx_import_place *from = &im->places[i];

        if (from->found == 0)
            continue;
        if (why_left(im, from) != NULL) {
            if (!is_said(im, i))
                leave_file(im, from, why_left(im, from));
        } else if (!write_place(im, from, is_dry, trouble)) {
            return false;
        }
    }
    return true;
}

const gbx_command gbx_command_mcp_import = {
    .name = "mcp import",
    .summary = "take over the servers that hosts have configured",
    .usage = "mcp import [options]",
    .description =
        "Reads the servers of Claude Desktop, Claude Code, Cursor, VS Code and Codex, and\n"
        "writes them into a configuration for 'glovebox mcp --config'. What is there\n"
        "stays; a server that is there already is not taken again, another of the same\n"
        "name gets a name of its own. What a project has and nobody is known to have\n"
        "approved is taken as disabled, unless --from names the file. With --rewrite the\n"
        "hosts start glovebox instead; a file that has a server that could not be taken,\n"
        "is less here than there, or has no known approval, stays wholly as it is. Every\n"
        "file that changes is kept as it was beside it. A file that cannot be read, or is\n"
        "not rewritten, is said, and all others are taken; the exit status is 65 then, or\n"
        "66 if it may not be read.",
    .examples = "glovebox mcp import --dry-run\n"
                "glovebox mcp import --from cursor --rewrite\n"
                "glovebox mcp import --from ./team.json --config ./mcp.json",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = import_main,
};
