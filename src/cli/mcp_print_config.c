/* SPDX-License-Identifier: MIT */
/* mcp_print_config - `glovebox mcp print-config`: what a host needs to have us. The
 * snippet goes to standard output, where it belongs is said on standard error. */
#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/shell.h"
#include "cli/failure.h"
#include "cli/mcp_commands.h"
#include "mcp/data/spec.h"
#include "mcp/hosts/take.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGS_MAX (2 * GBX_OPT_LIST_MAX + 8)

typedef struct print_args {
    const char *config;
    const char *name;
    gbx_opt_list data;
    gbx_common_args common;
} print_args;

static const gbx_opt rows[] = {
    {"config", "FILE",
     "have the host start 'glovebox mcp --config FILE'; default without --data: "
     "glovebox/mcp.json below $XDG_CONFIG_HOME or ~/.config",
     GBX_OPT_TEXT, offsetof(print_args, config), 0, 0, NULL},
    {"data", "NAME=FILE",
     "have it start with that dataset, as 'mcp' takes it; repeatable", GBX_OPT_LIST,
     offsetof(print_args, data), 0, 0, NULL},
    {"name", "NAME", "what the host calls the server; default: glovebox", GBX_OPT_TEXT,
     offsetof(print_args, name), 0, 0, NULL},
};

static const gbx_opt_table table = {"Options", rows, GBX_COUNTOF(rows)};
static const gbx_opt_table *const tables[] = {&table, &gbx_common_table};

/* What the host is to start us with; texts are the caller's. */
typedef struct words {
    const char *list[ARGS_MAX];
    size_t count;
    gbx_buf texts[GBX_OPT_LIST_MAX];
    gbx_spec specs[GBX_OPT_LIST_MAX];
    size_t text_count;
    char config[PATH_MAX];
    json_t *needs; /* of config */
} words;

/* NAME=FILE and NAME=sqlite:FILE?query=...: the file as it is from any folder. What 'mcp'
 * would refuse is refused here, where somebody sees it. */
static gbx_status put_data(words *w, const char *text, gbx_error *reterr)
{
    size_t index = w->text_count;
    gbx_buf *whole = &w->texts[index];
    gbx_spec *spec = &w->specs[index];
    char here[PATH_MAX] = "";
    gbx_status status = gbx_spec_parse(text, spec, reterr);

    if (status != GBX_OK)
        return status;
    gbx_buf_init(whole, GBX_KIB(64));
    w->text_count++;
    for (size_t i = 0; i < index; i++)
        if (strcmp(w->specs[i].name, spec->name) == 0)
            return gbx_fail(reterr, GBX_E_USAGE, "there are two datasets named '%s'",
                            spec->name);
    if (text[spec->path_at] != '/' && getcwd(here, sizeof here) == NULL)
        status = gbx_fail(reterr, GBX_E_OS, "cannot tell what folder this is");
    (void)gbx_buf_append(whole, text, spec->path_at);
    (void)gbx_buf_puts(whole, strcmp(here, "/") == 0 ? "" : here);
    (void)gbx_buf_puts(whole, text[spec->path_at] != '/' ? "/" : "");
    (void)gbx_buf_puts(whole, text + spec->path_at);
    if (!gbx_buf_append(whole, "", 1) && status == GBX_OK)
        status = gbx_fail(reterr, GBX_E_USAGE, "the dataset is too long");
    w->list[w->count++] = "--data";
    w->list[w->count++] = (const char *)whole->data;
    return status;
}

static gbx_status fill_words(words *w, const print_args *args, gbx_error *reterr)
{
    gbx_status status = GBX_OK;
    bool has_config = args->config != NULL;

    w->list[w->count++] = "mcp";
    if (has_config)
        status = gbx_mcp_whole_path(args->config, w->config, reterr);
    if (!has_config &&
        args->data.count == 0) { /* what import writes: else it is nothing */
        status = gbx_mcp_own_config(w->config, reterr);
        has_config = true;
    }
    if (has_config) {
        w->list[w->count++] = "--config";
        w->list[w->count++] = w->config;
        w->needs = gbx_host_needs(w->config);
    }
    for (size_t i = 0; i < args->data.count && status == GBX_OK; i++)
        status = put_data(w, args->data.item[i], reterr);
    w->list[w->count] = NULL;
    return status;
}

/* The host would start us with something else. */
static gbx_status check_words(const words *w, gbx_host_kind host, const char *program,
                              gbx_error *reterr)
{
    const char *filled = gbx_host_keeps(host, program) ? NULL : program;

    for (size_t i = 0; i < w->count && filled == NULL; i++)
        filled = gbx_host_keeps(host, w->list[i]) ? NULL : w->list[i];
    return filled == NULL
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_USAGE,
                          "%s fills in '${...}', and '%s' cannot be written for it",
                          gbx_host_title(host), filled);
}

static void free_words(words *w)
{
    for (size_t i = 0; i < w->text_count; i++) {
        gbx_buf_cleanup(&w->texts[i]);
        gbx_spec_cleanup(&w->specs[i]);
    }
    json_decref(w->needs);
}

/* The host would say that the server has failed, and not why. */
static void print_missing(const print_args *args, const words *w)
{
    char path[PATH_MAX];

    if (w->config[0] != '\0' && access(w->config, F_OK) != 0)
        (void)fprintf(
            stderr,
            "There is no %s yet: 'glovebox mcp import%s%s' makes one of the servers "
            "that hosts have;\n--data NAME=FILE serves data instead.\n",
            w->config, args->config != NULL ? " --config " : "",
            args->config != NULL ? args->config : "");
    for (size_t i = 0; i < w->text_count; i++)
        if (access(w->specs[i].path, F_OK) != 0 &&
            gbx_mcp_whole_path(w->specs[i].path, path, NULL) == GBX_OK)
            (void)fprintf(stderr, "There is no %s yet, for --data %s.\n", path,
                          w->specs[i].name);
}

static void print_places(gbx_host_kind host)
{
    gbx_host_place places[8];
    size_t count;

    gbx_host_places(host, places, GBX_COUNTOF(places), &count);
    (void)fprintf(stderr, "%s reads this from%s\n", gbx_host_title(host),
                  count > 0 ? ":"
                            : " its file in the home directory, and there is none");
    for (size_t i = 0; i < count; i++) {
        if (places[i].keys[1] == NULL)
            (void)fprintf(stderr, "  %s\n", places[i].path);
        gbx_host_place_cleanup(&places[i]);
    }
}

/* Claude Code has a command for it. */
static void print_claude_command(const char *name, const char *program, const words *w)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line;

    gbx_buf_init(&line, GBX_MIB(1));
    (void)gbx_shell_append(&line, name);
    (void)gbx_buf_puts(&line, " --");
    (void)gbx_shell_append(&line, program);
    for (size_t i = 0; i < w->count; i++)
        (void)gbx_shell_append(&line, w->list[i]);
    (void)fprintf(stderr, "or run:\n  claude mcp add --scope user%.*s\n", (int)line.len,
                  (const char *)line.data);
}

/* This program, as a host has to start it. */
static bool own_program(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

    if (n <= 0)
        return false;
    path[n] = '\0';
    return true;
}

static void print_needs(const json_t *needs)
{
    for (size_t i = 0; i < json_array_size(needs); i++)
        (void)fprintf(stderr, "%s%s", i > 0 ? ", " : "Needs ",
                      json_string_value(json_array_get(needs, i)));
    if (json_array_size(needs) > 0)
        (void)
            fputs(": the configuration refers to it, and Claude Desktop passes on what "
                  "\"env\" of this entry has, and little else\n",
                  stderr);
}

static int print(const print_args *args, gbx_host_kind host)
{
    GBX_CLEANUP(free_words) words w = {.count = 0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    const char *name = args->name != NULL ? args->name : "glovebox";
    gbx_term err = gbx_term_open(stderr, (gbx_color)args->common.color);
    gbx_trouble trouble = {0};
    char program[PATH_MAX];
    gbx_status status;

    gbx_buf_init(&text, GBX_MIB(1));
    status = fill_words(&w, args, &trouble.err);
    if (status == GBX_OK && !own_program(program)) {
        status = gbx_fail(&trouble.err, GBX_E_OS, "cannot tell where this program is");
        gbx_trouble_host(&trouble, status);
    } else {
        if (status == GBX_OK)
            status = check_words(&w, host, program, &trouble.err);
        if (status == GBX_OK &&
            !gbx_host_print(host, name, program, w.list, w.needs, &text))
            status = gbx_fail(&trouble.err, GBX_E_NOMEM, "memory is out");
        if (status != GBX_OK)
            gbx_trouble_input(&trouble, status);
    }
    if (status != GBX_OK) {
        gbx_trouble_print(&err, &trouble);
        return trouble.exit;
    }
    print_missing(args, &w);
    print_places(host);
    if (host == GBX_HOST_CLAUDE)
        print_needs(w.needs);
    if (host == GBX_HOST_CLAUDE_CODE)
        print_claude_command(name, program, &w);
    (void)fwrite(text.data, 1, text.len, stdout);
    return gbx_cli_finish(0);
}

static int unknown_host(const gbx_command *self, const char *word)
{
    const char *nearest = gbx_nearest(word, gbx_host_names, GBX_HOST_COUNT);
    char message[200];

    (void)snprintf(message, sizeof message,
                   "there is no host '%.40s': claude, claude-code, cursor, vscode or "
                   "codex%s%s%s",
                   word, nearest != NULL ? "; did you mean '" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return gbx_command_misuse(self, false, message);
}

/* Claude Code and Codex make names of tools of it. */
static int check_name(const gbx_command *self, gbx_host_kind host, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    char message[100];

    if (name == NULL || name[strspn(name, letters)] == '\0' ||
        (host != GBX_HOST_CLAUDE_CODE && host != GBX_HOST_CODEX))
        return 0;
    (void)snprintf(message, sizeof message,
                   "%s takes names of letters, digits, '_' and '-'",
                   gbx_host_title(host));
    return gbx_command_misuse(self, false, message);
}

static int print_config_main(const gbx_command *self, int argc, char **argv)
{
    print_args args = {.config = NULL};
    void *const into[] = {&args, &args.common};
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    if (count != 1)
        return gbx_command_misuse(self, false,
                                  "mcp print-config takes the name of a host");
    if (args.name != NULL && args.name[0] == '\0')
        return gbx_command_misuse(self, false, "the name of a server is not empty");
    for (int i = 0; i < GBX_HOST_COUNT; i++)
        if (strcmp(argv[0], gbx_host_names[i]) == 0) {
            status = check_name(self, (gbx_host_kind)i, args.name);
            return status != 0 ? status : print(&args, (gbx_host_kind)i);
        }
    return unknown_host(self, argv[0]);
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_mcp_own_config(char path[PATH_MAX], gbx_error *reterr)
{
    return gbx_host_own_path(path)
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_USAGE,
                          "there is no home directory: give the file by '--config'");
}

gbx_status gbx_mcp_whole_path(const char *path, char out[PATH_MAX], gbx_error *reterr)
{
    char here[PATH_MAX] = "";
    struct stat st;
    int error = path[0] == '\0' ? ENOENT : 0;

    if (error == 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        error = EISDIR;
    if (error == 0 && realpath(path, out) != NULL)
        return GBX_OK;
    if (error == 0 && path[0] != '/' && getcwd(here, sizeof here) == NULL)
        error = errno;
    if (error == 0 && snprintf(out, PATH_MAX, "%s%s%s", here, path[0] != '/' ? "/" : "",
                               path) >= PATH_MAX)
        error = ENAMETOOLONG;
    return error == 0
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_OS, "cannot read the configuration '%s': %s",
                          path, gbx_fail_reason(error));
}

const gbx_command gbx_command_mcp_print_config = {
    .name = "mcp print-config",
    .summary = "print what a host needs to have this server",
    .usage = "mcp print-config claude|claude-code|cursor|vscode|codex [options]",
    .description =
        "Prints the configuration with which a host starts 'glovebox mcp': this program by\n"
        "its whole path, and the arguments given here. Where it belongs is said on\n"
        "standard error.",
    .examples =
        "glovebox mcp print-config claude-code --config ~/.config/glovebox/mcp.json\n"
        "glovebox mcp print-config cursor --data orders=./orders.csv",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = print_config_main,
};
