/* SPDX-License-Identifier: MIT */
/* mcp_import_take - see cli.h: reads and decides. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "mcp/config/config.h"
#include "policy/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    GBX_CLEANUP(gbx_free) char *text = gbx_json_text(entry, JSON_COMPACT);
    gbx_view servers = gbx_view_member(im->own.root, "mcpServers");

    if (text == NULL)
        return false;
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

static void take_place(gbx_import *im, gbx_host_file_text *file, gbx_host_place *place)
{
    const json_t *servers = gbx_host_servers(file, place);
    gbx_import_place *to = &im->places[im->place_count];
    size_t before = json_object_size(im->servers);

    if (json_object_size(servers) == 0 || im->place_count == GBX_IMPORT_PLACES_MAX ||
        is_taken(im, place)) {
        gbx_host_place_cleanup(place);
        return;
    }
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

/* ---- public to other modules -------------------------------------------- */

void gbx_import_host(gbx_import *im, gbx_host_kind host)
{
    gbx_host_place places[8];
    size_t count;

    gbx_host_places(host, places, GBX_COUNTOF(places), &count);
    for (size_t i = 0; i < count; i++) {
        gbx_host_file_text file = {.root = NULL};
        gbx_error err = {0};
        gbx_status status = gbx_host_file_read(places[i].path, im->trust, &file, &err);

        if (status == GBX_OK) {
            take_place(im, &file, &places[i]);
        } else {
            if (err.os_errno != ENOENT && err.os_errno != ENOTDIR)
                report(im, places[i].path, status, &err);
            gbx_host_place_cleanup(&places[i]);
        }
        gbx_host_file_cleanup(&file);
    }
}

void gbx_import_file(gbx_import *im, const char *path)
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
