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
    const json_t *inputs; /* of its file, only while that is read */
    gbx_buf taken;        /* servers that now start here: "a, b" */
    bool has_us;          /* it runs us with our file */
} gbx_import_place;

typedef struct gbx_import {
    gbx_trust trust; /* of all files that are read */
    char own_path[PATH_MAX];
    int own_lock;    /* keeps others from changing our file; -1: none */
    gbx_edit own;    /* our file with its changes */
    bool own_is_new; /* it does not exist yet */
    bool own_changed;
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

/* Report an unreadable file: its path, and the command's exit status. */
static void gbx_import_name_file(gbx_trouble *trouble, const char *path,
                                 gbx_status status)
{
    trouble->file = path;
    gbx_trouble_input(trouble, status);
}

/* ---- what is said ------------------------------------------------------------------ */

static void say_name(const gbx_import *im, const char *name)
{
    (void)fputs("  ", im->out.stream);
    gbx_term_foreign(&im->out, name, strlen(name), GBX_ESCAPE_LINE);
    (void)fputs(": ", im->out.stream);
}

/* Notes are printed after the server's outcome. */
static void on_note(void *user, const char *note)
{
    gbx_buf *notes = user;

    (void)gbx_buf_puts(notes, note);
    (void)gbx_buf_puts(notes, "\n");
}

static void say_notes(const gbx_import *im, const gbx_buf *notes)
{
    const char *at = (const char *)notes->data;
    const char *end = at != NULL ? at + notes->len : at;

    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));

        (void)fputs("    note: ", im->out.stream);
        gbx_term_foreign(&im->out, at, (size_t)(line - at), GBX_ESCAPE_LINE);
        (void)fputc('\n', im->out.stream);
        at = line + 1;
    }
}

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

static bool put_server(gbx_import *im, const char *name, json_t *entry)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_need(gbx_json_text(entry, JSON_COMPACT));
    gbx_view servers = gbx_view_member(im->own.root, "mcpServers");

    if (gbx_view_kind(servers) != '{') {
        if (!gbx_edit_add_member(&im->own, im->own.root, "mcpServers", "{}"))
            return false;
        servers = gbx_view_member(im->own.root, "mcpServers");
    }
    im->own_changed = true;
    return gbx_edit_add_member(&im->own, servers, name, text) &&
           json_object_set(im->servers, name, entry) == 0;
}

/* If our file does not load, whether it does with them is only known at the end. */
static const char *taken(const gbx_import *im)
{
    return im->own_status == GBX_OK ? "taken" : "to be taken";
}

/* Is it unapproved, though it would start? */
static bool is_unapproved(const gbx_host_answers *answers, const char *name,
                          const json_t *entry)
{
    return !answers->all_on && json_object_get(answers->on, name) == NULL &&
           json_object_get(answers->off, name) == NULL &&
           !json_is_true(json_object_get(entry, "disabled")) &&
           !json_is_false(json_object_get(entry, "enabled"));
}

/* Decide about an entry that is not us: ours becomes its form here, or NULL, and chosen
 * its name here. False: it is left alone. */
static bool take_entry(gbx_import *im, gbx_host_kind host, const char *name,
                       json_t *ours, char chosen[GBX_HOST_NAME_SIZE])
{
    bool there = ours != NULL && find_there(im, name, ours, chosen);
    bool done = there;

    if (ours != NULL && !there) {
        choose_name(im, name, host, chosen);
        done = put_server(im, chosen, ours);
    }
    if (there)
        (void)fputs("is there already\n", im->out.stream);
    else if (!done)
        (void)fputs("not taken\n", im->out.stream);
    else if (strcmp(chosen, name) == 0)
        (void)fprintf(im->out.stream, "%s\n", taken(im));
    else
        (void)fprintf(im->out.stream, "%s as %s\n", taken(im), chosen);
    return done;
}

/* An unapproved one must also be complete: somebody will switch it on. */
static void take_other(gbx_import *im, gbx_import_place *to, const char *name,
                       const json_t *entry, const gbx_host_answers *answers,
                       gbx_buf *notes)
{
    char chosen[GBX_HOST_NAME_SIZE];
    json_t *ours = gbx_host_take(&to->place, to->inputs, entry,
                                 json_string_value(json_object_get(answers->off, name)),
                                 on_note, notes);
    bool waits = ours != NULL && is_unapproved(answers, name, entry);

    if (waits)
        (void)json_object_set_new(ours, "disabled", json_true());
    if (take_entry(im, to->place.host, name, ours, chosen)) {
        const json_t *here = json_object_get(im->servers, chosen);
        bool is_off = json_is_true(json_object_get(here, "disabled")) ||
                      json_is_false(json_object_get(here, "enabled"));

        if (waits && is_off)
            on_note(notes,
                    "it is taken as disabled, since it comes with the folder, and "
                    "no approval of it is known");
        if (!is_off)
            (void)gbx_buf_printf(&to->taken, "%s%s", to->taken.len > 0 ? ", " : "",
                                 name);
    }
    json_decref(ours);
}

static void take_server(gbx_import *im, gbx_import_place *to, const char *name,
                        const json_t *entry, const gbx_host_answers *answers)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf notes;

    gbx_buf_init(&notes, GBX_KIB(64));
    say_name(im, name);
    if (gbx_host_is_us(entry)) {
        bool is_ours = gbx_host_is_us_with(entry, im->own_path);

        (void)fputs(is_ours ? "that is glovebox\n"
                            : "that is glovebox, with something else\n",
                    im->out.stream);
        to->has_us = to->has_us || is_ours;
        return;
    }
    take_other(im, to, name, entry, answers, &notes);
    if (!notes.failed)
        say_notes(im, &notes);
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
        (void)fputs("  note: what ", im->out.stream);
        gbx_term_foreign(&im->out, path, strlen(path), GBX_ESCAPE_LINE);
        (void)fputs(" denies, or asks about, is not taken: write rules, or use "
                    "'glovebox mcp deny'\n",
                    im->out.stream);
    }
}

static void take_servers(gbx_import *im, gbx_import_place *to, const json_t *servers)
{
    GBX_CLEANUP(gbx_host_answers_cleanup) gbx_host_answers answers = {.off = NULL};
    char path[PATH_MAX];
    gbx_error err = {0};
    gbx_status status =
        gbx_host_answers_read(&to->place, im->trust, &answers, path, &err);
    const char *name;
    json_t *entry;

    if (status == GBX_OK) {
        json_object_foreach((json_t *)(uintptr_t)servers, name, entry)
        {
            take_server(im, to, name, entry, &answers);
        }
        say_permissions(im, &answers);
    } else {
        (void)fputs("  not taken: which of them are switched off cannot be read\n",
                    im->out.stream);
        report(im, path, status, &err);
    }
}

/* Users who may not read a host's file must not read its contents in ours. */
static void withhold(gbx_import *im, const char *path)
{
    struct stat st;

    im->withheld |= stat(path, &st) == 0 ? ~st.st_mode & 0077 : 0077;
}

static void take_place(gbx_import *im, gbx_host_file_text *file,
                       const gbx_host_place *place)
{
    const json_t *servers = gbx_host_servers(file, place);
    gbx_import_place *to = &im->places[im->place_count];
    size_t before = json_object_size(im->servers);

    if (json_object_size(servers) == 0 || im->place_count == GBX_IMPORT_PLACES_MAX ||
        is_taken(im, place))
        return;
    *to = (gbx_import_place){.place = *place, .inputs = gbx_host_inputs(file, place)};
    gbx_buf_init(&to->taken, GBX_KIB(64));
    gbx_host_keep_numbers(file, place);
    im->place_count++;
    (void)fprintf(im->out.stream, "%s, ", gbx_host_title(place->host));
    gbx_term_foreign(&im->out, place->path, strlen(place->path), GBX_ESCAPE_LINE);
    (void)fputc('\n', im->out.stream);
    take_servers(im, to, servers);
    if (json_object_size(im->servers) > before)
        withhold(im, place->path);
    to->inputs = NULL;
}

/* ---- places of hosts ----------------------------------------------------------- */

/* Read every place of one host. An unreadable one is reported, sets im->exit, and does
 * not keep the rest from being imported. */
static void gbx_import_host(gbx_import *im, gbx_host_kind host)
{
    gbx_host_place places[GBX_HOST_PLACES_MAX];
    size_t count = gbx_host_places(host, places);

    for (size_t i = 0; i < count; i++) {
        gbx_host_file_text file = {.root = NULL};
        gbx_error err = {0};
        gbx_status status = gbx_host_file_read(places[i].path, im->trust, &file, &err);

        if (status == GBX_OK)
            take_place(im, &file, &places[i]);
        else if (err.os_errno != ENOENT && err.os_errno != ENOTDIR)
            report(im, places[i].path, status, &err);
        gbx_host_file_cleanup(&file);
    }
}

/* The same for a file by its path. */
static void gbx_import_file(gbx_import *im, const char *path)
{
    gbx_host_file_text file = {.root = NULL};
    gbx_host_place place;
    gbx_error err = {0};
    gbx_status status = gbx_host_file_read(path, im->trust, &file, &err);

    if (status == GBX_OK) {
        if (gbx_host_place_of(path, file.root, file.is_toml, &place)) {
            place.is_named = true;
            take_place(im, &file, &place);
        } else {
            status = gbx_fail(&err, GBX_E_DATA,
                              "no servers in '%s': neither \"mcpServers\" "
                              "nor \"servers\", nor [mcp_servers.NAME]",
                              path);
        }
    }
    if (status != GBX_OK)
        report(im, path, status, &err);
    gbx_host_file_cleanup(&file);
}

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
    im->servers = gbx_need(json_object());
    (void)json_object_update(im->servers, json_object_get(file.root, "mcpServers"));
    (void)json_object_update(im->servers, json_object_get(file.root, "servers"));
    if (!gbx_edit_open(&im->own, im->own_is_new ? "{\n}\n" : file.text,
                       im->own_is_new ? 4 : file.len))
        status = gbx_fail(&trouble->err, GBX_E_DATA, "it is not JSON");
    gbx_host_file_cleanup(&file);
    if (status == GBX_E_DATA) {
        gbx_import_name_file(trouble, im->own_path, status);
        return false;
    }
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
    for (size_t i = 0; i < im->place_count; i++)
        gbx_buf_cleanup(&im->places[i].taken);
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
