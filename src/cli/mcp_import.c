/* SPDX-License-Identifier: MIT */
/*
 * mcp_import - `glovebox mcp import`: collects servers of hosts into a configuration of
 * ours.
 *
 * First everything is read and decided; then, if the new configuration loads, ours is
 * written, with a backup. The hosts' files stay unchanged.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "mcp/config/config.h"
#include "mcp/import/import.h"
#include "policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GBX_IMPORT_PLACES_MAX 32

/* One place that has servers, and their outcome. */
typedef struct gbx_import_place {
    gbx_host_place place;
    gbx_buf taken; /* servers that now start here: "a, b" */
    bool has_us;   /* it runs us with our file */
} gbx_import_place;

typedef struct gbx_import {
    gbx_host_box box;
    char own_path[PATH_MAX];
    int own_lock;          /* keeps others from changing our file; -1: none */
    char *own;             /* our file's text */
    json_t *added;         /* servers that go into it */
    mode_t withheld;       /* rights that others lack for a file that servers came
                              from */
    gbx_status own_status; /* of loading our file unchanged */
    gbx_error own_err;
    json_t *servers; /* all of ours: the old ones, and those added now */
    gbx_import_place places[GBX_IMPORT_PLACES_MAX];
    size_t place_count;
    char reported[PATH_MAX]; /* the last unreadable file */
    int exit;                /* of the first unreadable file; 0: none */
    gbx_term out;
    gbx_term err;
} gbx_import;

static void release_json(json_t **value)
{
    json_decref(*value);
}

/* Report an unreadable file: its path, and the command's exit status. */
static void gbx_import_name_file(gbx_trouble *trouble, const char *path,
                                 gbx_status status)
{
    trouble->file = path;
    gbx_trouble_input(trouble, status);
}

/* ---- what is said ------------------------------------------------------------------ */

/* Printed after flushing standard output, which is about earlier files. A file that is
 * needed for several things is reported once. */
static void report(gbx_import *im, const char *path, gbx_status status,
                   const gbx_error *err)
{
    gbx_trouble trouble = {.err = *err};
    const char *host = err->os_errno == ENOENT
                           ? gbx_nearest(path, gbx_host_names, GBX_HOST_COUNT)
                           : NULL;
    char hint[64];

    if (strcmp(im->reported, path) == 0)
        return;
    (void)snprintf(im->reported, sizeof im->reported, "%s", path);
    gbx_import_name_file(&trouble, path, status);
    if (host != NULL) {
        (void)snprintf(hint, sizeof hint, "did you mean the host '%s'?", host);
        trouble.hint = hint;
    }
    (void)fflush(im->out.stream);
    gbx_trouble_print(&im->err, &trouble);
    if (im->exit == 0)
        im->exit = trouble.exit;
}

/* ---- taking ------------------------------------------------------------------------- */

/* A host's server's name here, by index: as it is there, with the host's name, also
 * with a number. */
static void name_of(const char *name, gbx_host_kind host, unsigned index,
                    char out[GBX_HOST_NAME_SIZE])
{
    char clean[GBX_HOST_NAME_SIZE];

    gbx_mcp_clean_name(name, clean);
    if (index == 0)
        (void)snprintf(out, GBX_HOST_NAME_SIZE, "%s", clean);
    else if (index == 1)
        (void)snprintf(out, GBX_HOST_NAME_SIZE, "%.50s-%s", clean,
                       gbx_host_names[host]);
    else
        (void)snprintf(out, GBX_HOST_NAME_SIZE, "%.44s-%s-%u", clean,
                       gbx_host_names[host], index);
}

/* Choose a name that none of our other servers has. */
static void choose_name(const gbx_import *im, const char *name, gbx_host_kind host,
                        char out[GBX_HOST_NAME_SIZE])
{
    unsigned index = 0;

    do {
        name_of(name, host, index++, out);
    } while (json_object_get(im->servers, out) != NULL);
}

/* Some hosts write out defaults that others leave out. */
static json_t *without_defaults(const json_t *entry)
{
    static const char *const lists[] = {"args", "env", "headers"};
    json_t *copy = json_copy((json_t *)(uintptr_t)entry);
    const char *type = json_string_value(json_object_get(copy, "type"));
    const char *usual = json_object_get(copy, "url") != NULL ? "http" : "stdio";

    for (size_t i = 0; i < GBX_COUNTOF(lists); i++) {
        const json_t *list = json_object_get(copy, lists[i]);

        if (json_object_size(list) == 0 && json_array_size(list) == 0)
            (void)json_object_del(copy, lists[i]);
    }
    if (type != NULL && strcmp(type, usual) == 0)
        (void)json_object_del(copy, "type");
    if (!json_is_true(json_object_get(copy, "disabled")))
        (void)json_object_del(copy, "disabled");
    if (!json_is_false(json_object_get(copy, "enabled")))
        (void)json_object_del(copy, "enabled");
    return copy;
}

/* "disabled" does not count as a difference, unless only ours is: then a host whose
 * server starts does not have it here. */
static bool is_same(const json_t *ours, const json_t *entry)
{
    json_t *a = without_defaults(ours);
    json_t *b = without_defaults(entry);
    bool same;

    if (json_is_true(json_object_get(b, "disabled")) ||
        !json_is_true(json_object_get(a, "disabled"))) {
        (void)json_object_del(a, "disabled");
        (void)json_object_del(b, "disabled");
    }
    same = json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return same;
}

/* Find the same server, under a name that it may have got before from any host; the
 * name goes to out. Numbers go no higher than there are servers, unless somebody has
 * removed some. False: it is new. */
static bool find_there(const gbx_import *im, const char *name, const json_t *entry,
                       char out[GBX_HOST_NAME_SIZE])
{
    for (int host = 0; host < GBX_HOST_COUNT; host++)
        for (unsigned i = 0; i <= json_object_size(im->servers) + 1; i++) {
            name_of(name, (gbx_host_kind)host, i, out);
            if (is_same(json_object_get(im->servers, out), entry))
                return true;
        }
    return false;
}

/* If our file does not load, whether it does with them is only known at the end. */
static const char *taken(const gbx_import *im)
{
    return im->own_status == GBX_OK ? "taken" : "to be taken";
}

static bool is_off(const json_t *entry)
{
    return json_is_true(json_object_get(entry, "disabled")) ||
           json_is_false(json_object_get(entry, "enabled"));
}

/* Is it unapproved, though it would start? */
static bool is_unapproved(const gbx_host_answers *answers, const char *name,
                          const json_t *entry)
{
    return !answers->all_on && json_object_get(answers->on, name) == NULL &&
           json_object_get(answers->off, name) == NULL && !is_off(entry);
}

/* Decide about an entry that is not us: ours is its form here, or NULL; its name here goes
 * to chosen. False: it is left alone. */
static bool take_entry(gbx_import *im, gbx_host_kind host, const char *name,
                       json_t *ours, char chosen[GBX_HOST_NAME_SIZE])
{
    bool there = ours != NULL && find_there(im, name, ours, chosen);

    if (ours != NULL && !there) {
        choose_name(im, name, host, chosen);
        (void)json_object_set(im->added, chosen, ours);
        (void)json_object_set(im->servers, chosen, ours);
    }
    if (there)
        (void)fputs("is there already\n", im->out.stream);
    else if (ours == NULL)
        (void)fputs("not taken\n", im->out.stream);
    else if (strcmp(chosen, name) == 0)
        (void)fprintf(im->out.stream, "%s\n", taken(im));
    else
        (void)fprintf(im->out.stream, "%s as %s\n", taken(im), chosen);
    return ours != NULL;
}

/* found: its form here with the notes. An unapproved one must also be complete: somebody
 * will switch it on. */
static void take_other(gbx_import *im, gbx_import_place *to, const char *name,
                       const json_t *entry, const gbx_host_answers *answers,
                       const json_t *found)
{
    json_t *ours = json_object_get(found, "entry");
    const json_t *notes = json_object_get(found, "notes");
    bool waits = ours != NULL && is_unapproved(answers, name, entry);
    char chosen[GBX_HOST_NAME_SIZE];
    bool is_taken;

    if (waits)
        (void)json_object_set_new(ours, "disabled", json_true());
    is_taken = take_entry(im, to->place.host, name, ours, chosen);
    for (size_t i = 0; i < json_array_size(notes); i++)
        gbx_term_print(&im->out, "    note: %s\n",
                       json_string_value(json_array_get(notes, i)));
    if (!is_taken)
        return;
    if (!is_off(json_object_get(im->servers, chosen)))
        (void)gbx_buf_printf(&to->taken, "%s%s", to->taken.len > 0 ? ", " : "", name);
    else if (waits)
        gbx_term_print(&im->out, "    note: %s\n",
                       "it is taken as disabled, since it comes with the folder, and "
                       "no approval of it is known");
}

static void take_server(gbx_import *im, gbx_import_place *to, const char *name,
                        const json_t *entry, const gbx_host_answers *answers,
                        const json_t *found)
{
    bool is_ours = gbx_host_is_us_with(entry, im->own_path);

    gbx_term_print(&im->out, "  %s: ", name);
    if (gbx_host_is_us(entry))
        (void)fputs(is_ours ? "that is glovebox\n"
                            : "that is glovebox, with something else\n",
                    im->out.stream);
    else
        take_other(im, to, name, entry, answers, found);
    to->has_us = to->has_us || is_ours;
}

/* Two values of --from, or a value and a file, may be the same place. */
static bool is_taken(const gbx_import *im, const gbx_host_place *place)
{
    for (size_t i = 0; i < im->place_count; i++)
        if (gbx_host_same_place(&im->places[i].place, place))
            return true;
    return false;
}

/* Once they are behind us, their host sees only our tools. */
static void say_permissions(const gbx_import *im, const gbx_host_answers *answers)
{
    const char *path;
    json_t *value;

    json_object_foreach(answers->permissions, path, value)
    {
        gbx_term_print(&im->out,
                       "  note: what %s denies, or asks about, is not taken: write "
                       "rules, or use 'glovebox mcp deny'\n",
                       path);
    }
}

static void take_servers(gbx_import *im, gbx_import_place *to, const json_t *root)
{
    GBX_CLEANUP(gbx_host_answers_cleanup) gbx_host_answers answers = {.off = NULL};
    GBX_CLEANUP(release_json) json_t *found = NULL;
    char path[PATH_MAX];
    gbx_error err = {0};
    gbx_status status =
        gbx_host_answers_read(&im->box, &to->place, &answers, path, &err);
    const char *name;
    json_t *entry;
    size_t i = 0;

    if (status != GBX_OK) {
        (void)fputs("  not taken: which of them are switched off cannot be read\n",
                    im->out.stream);
        report(im, path, status, &err);
        return;
    }
    status = gbx_host_take(&im->box, &to->place, root, answers.off, &found, &err);
    if (status != GBX_OK) {
        report(im, to->place.path, status, &err);
        return;
    }
    json_object_foreach(gbx_host_servers(root, &to->place), name, entry)
    {
        take_server(im, to, name, entry, &answers, json_array_get(found, i++));
    }
    say_permissions(im, &answers);
}

/* Users who may not read a host's file must not read its contents in ours. */
static void withhold(gbx_import *im, const char *path)
{
    struct stat st;

    im->withheld |= stat(path, &st) == 0 ? ~st.st_mode & 0077 : 0077;
}

static void take_place(gbx_import *im, const json_t *root, const gbx_host_place *place)
{
    gbx_import_place *to = &im->places[im->place_count];
    size_t before = json_object_size(im->servers);

    if (json_object_size(gbx_host_servers(root, place)) == 0 ||
        im->place_count == GBX_IMPORT_PLACES_MAX || is_taken(im, place))
        return;
    *to = (gbx_import_place){.place = *place};
    gbx_buf_init(&to->taken, GBX_KIB(64));
    im->place_count++;
    gbx_term_print(&im->out, "%s, %s\n", gbx_host_title(place->host), place->path);
    take_servers(im, to, root);
    if (json_object_size(im->servers) > before)
        withhold(im, place->path);
}

/* ---- places of hosts ----------------------------------------------------------- */

/* Read every place of one host. An unreadable one is reported, sets im->exit, and does
 * not keep the rest from being imported. */
static void gbx_import_host(gbx_import *im, gbx_host_kind host)
{
    gbx_host_place places[GBX_HOST_PLACES_MAX];
    size_t count = gbx_host_places(host, places);

    for (size_t i = 0; i < count; i++) {
        GBX_CLEANUP(release_json) json_t *root = NULL;
        gbx_error err = {0};
        gbx_status status =
            gbx_host_file_read(&im->box, places[i].path, &root, NULL, &err);

        if (status == GBX_OK)
            take_place(im, root, &places[i]);
        else if (err.os_errno != ENOENT && err.os_errno != ENOTDIR)
            report(im, places[i].path, status, &err);
    }
}

/* The same for a file by its path. */
static void gbx_import_file(gbx_import *im, const char *path)
{
    GBX_CLEANUP(release_json) json_t *root = NULL;
    gbx_host_place place;
    gbx_error err = {0};
    gbx_status status = gbx_host_file_read(&im->box, path, &root, NULL, &err);

    if (status == GBX_OK) {
        if (gbx_host_place_of(path, root, &place)) {
            place.is_named = true;
            take_place(im, root, &place);
        } else {
            status = gbx_fail(&err, GBX_E_DATA,
                              "no servers in '%s': neither \"mcpServers\" "
                              "nor \"servers\", nor [mcp_servers.NAME]",
                              path);
        }
    }
    if (status != GBX_OK)
        report(im, path, status, &err);
}

/* ---- our own file, locked against other writers meanwhile ---------------------- */

/* Load our file as it is in im. */
static gbx_status load(const gbx_import *im, gbx_error *reterr)
{
    gbx_mcp_config *config = NULL;
    gbx_status status = gbx_mcp_config_parse(im->own, strlen(im->own), im->own_path,
                                             im->box.trust, &config, reterr);

    gbx_mcp_config_free(config);
    return status;
}

/* Another import could change the file: two first ones at once would each write only
 * their own servers. */
static bool lock_own(gbx_import *im, gbx_trouble *trouble)
{
    gbx_file_make_folders(im->own_path);
    if (gbx_file_lock(im->own_path, GBX_FILE_LOCK_MS, &im->own_lock, &trouble->err) ==
        GBX_OK)
        return true;
    gbx_trouble_output(trouble);
    trouble->hint = "somebody else is changing it: try again";
    return false;
}

/* Open our file. It is locked until gbx_import_close(), unless is_dry. */
static bool gbx_import_open(gbx_import *im, const char *path, bool is_dry,
                            gbx_trouble *trouble)
{
    GBX_CLEANUP(release_json) json_t *root = NULL;
    gbx_status status = path == NULL
                            ? gbx_mcp_own_config(im->own_path, &trouble->err)
                            : gbx_mcp_whole_path(path, im->own_path, &trouble->err);

    if (status != GBX_OK) {
        gbx_trouble_input(trouble, status);
        return false;
    }
    if (!is_dry && !lock_own(im, trouble))
        return false;
    status = gbx_host_file_read(&im->box, im->own_path, &root, &im->own, &trouble->err);
    if (status == GBX_E_OS && trouble->err.os_errno == ENOENT)
        im->own = gbx_need(strdup("{\n}\n"));
    else if (status != GBX_OK) {
        gbx_import_name_file(trouble, im->own_path, status);
        return false;
    }
    trouble->err = (gbx_error){0};
    im->added = gbx_need(json_object());
    im->servers = gbx_need(json_object());
    (void)json_object_update(im->servers, json_object_get(root, "mcpServers"));
    (void)json_object_update(im->servers, json_object_get(root, "servers"));
    im->own_status = load(im, &im->own_err);
    return true;
}

static bool is_changed(const gbx_import *im)
{
    return json_object_size(im->added) > 0;
}

/* Add the servers to our file's text; all else of it stays as it is. */
static gbx_status edit(gbx_import *im, gbx_error *reterr)
{
    GBX_CLEANUP(release_json) json_t *text = NULL;
    json_t *question =
        gbx_need(json_pack("{s:s,s:O}", "text", im->own, "servers", im->added));
    gbx_status status = gbx_host_box_ask(&im->box, "add", question, &text, reterr);

    if (status != GBX_OK)
        return status;
    free(im->own);
    im->own = gbx_need(strdup(json_string_value(text)));
    return load(im, reterr);
}

/* Will our file load with its changes? Otherwise nothing is written. A rule may have
 * waited for the servers that are added now. */
static bool gbx_import_check(gbx_import *im, gbx_trouble *trouble)
{
    gbx_error err = im->own_err;
    gbx_status status = is_changed(im) ? edit(im, &err) : im->own_status;

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

static void gbx_import_close(gbx_import *im)
{
    for (size_t i = 0; i < im->place_count; i++)
        gbx_buf_cleanup(&im->places[i].taken);
    free(im->own);
    json_decref(im->added);
    json_decref(im->servers);
    gbx_host_box_close(&im->box);
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

    return is_changed(im) && stat(im->own_path, &st) == 0 &&
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
        gbx_term_print(&im->out, "next: take %.*s out of %s", (int)at->taken.len,
                       (const char *)at->taken.data, at->place.path);
        if (!at->has_us)
            gbx_term_print(&im->out,
                           ", and put in glovebox, as docs/mcp.md shows: 'glovebox mcp "
                           "--config %s'",
                           im->own_path);
        (void)fputc('\n', im->out.stream);
    }
}

static bool gbx_import_write(gbx_import *im, gbx_trouble *trouble)
{
    char backup[PATH_MAX];
    bool narrows = takes_rights(im);

    if (!is_changed(im)) {
        gbx_term_print(&im->out, "nothing to write to %s\n", im->own_path);
        return true;
    }
    if (gbx_file_replace(im->own_path, im->own, strlen(im->own), im->withheld, backup,
                         &trouble->err) != GBX_OK) {
        gbx_trouble_output(trouble);
        return false;
    }
    gbx_term_print(&im->out, "wrote %s%s%s%s\n", im->own_path, narrows ? NARROWED : "",
                   backup[0] != '\0' ? "; as it was: " : "", backup);
    return true;
}

static bool import_all(gbx_import *im, const import_args *args, gbx_trouble *trouble)
{
    gbx_trust trust = args->trust_files ? GBX_TRUST_ALL : GBX_TRUST_OWN;
    gbx_status status = gbx_host_box_open(&im->box, trust, &trouble->err);

    if (status != GBX_OK) {
        gbx_trouble_host(trouble, status);
        return false;
    }
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
        gbx_term_print(&im->out, "%s %s%s\n",
                       is_changed(im) ? "would write" : "nothing to write to",
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
