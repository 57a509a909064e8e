/* SPDX-License-Identifier: MIT */
/* main - the table of commands, what they share, and the commands help and version. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"

#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const char *const colors[] = {"auto", "always", "never", NULL};

const gbx_opt gbx_common_rows[] = {
    GBX_ROW_CHOICE(gbx_common_args, color, "color", "WHEN", GBX_COLOR_AUTO, colors,
                   "auto (default: on a terminal), always or never"),
    GBX_ROW_FLAG(gbx_common_args, help, "help", "print this help"),
    {0},
};

static void print_error(const char *message)
{
    gbx_term err = gbx_term_open(stderr, GBX_COLOR_AUTO);

    gbx_term_headline(&err, NULL, message);
    (void)fputc('\n', stderr);
}

/* Flush standard output; returns status, or NO_OUTPUT if something was not written. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return status;
    print_error("cannot write to standard output");
    return GBX_CLI_EXIT_NO_OUTPUT;
}

static void on_full_file(int signal)
{
}

static const gbx_command command_help;
static const gbx_command command_version;

/* In the order of the help. */
static const gbx_command *const commands[] = {
    &gbx_command_run,   &gbx_command_replay, &gbx_command_check,   &gbx_command_audit,
    &gbx_command_mcp,   &gbx_command_runner, &gbx_command_runners, &gbx_command_doctor,
    &gbx_command_bench, &command_help,       &command_version,     NULL,
};

#define NAMES_MAX 16

/* Find a command by the last word of its name, or NULL; *ret_nearest is then a likely
 * word, or NULL. */
static const gbx_command *command_find(const gbx_command *const *list, const char *word,
                                       const char **ret_nearest)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    for (; list[count] != NULL; count++) {
        const char *space = strchr(list[count]->name, ' ');

        names[count] = space != NULL ? space + 1 : list[count]->name;
        if (strcmp(names[count], word) == 0)
            return list[count];
    }
    *ret_nearest = gbx_nearest(word, names, count);
    return NULL;
}

/* The sub-command of that word, or NULL; word may be NULL. */
static const gbx_command *command_sub(const gbx_command *command, const char *word)
{
    const char *nearest;

    return command->subcommands != NULL && word != NULL
               ? command_find(command->subcommands, word, &nearest)
               : NULL;
}

/* above: the command with sub-commands, or NULL. */
static int unknown_command(const gbx_command *above, const char *word)
{
    const char *before = above != NULL ? above->name : "";
    const char *gap = above != NULL ? " " : "";
    const char *nearest = NULL;
    char message[256];

    if (command_find(above != NULL ? above->subcommands : commands, word, &nearest) !=
        NULL)
        (void)snprintf(message, sizeof message,
                       "a command comes before its options: write '%s%s%s' first",
                       before, gap, word);
    else if (nearest != NULL)
        (void)snprintf(message, sizeof message,
                       "unknown command '%s%s%.80s': did you mean '%s%s%s'?", before,
                       gap, word, before, gap, nearest);
    else
        (void)snprintf(message, sizeof message, "unknown command '%s%s%.80s'", before,
                       gap, word);
    return gbx_command_misuse(above, false, message);
}

#define TOPIC_STATUS "exit-status"

static void indent(FILE *to, const char *first, const char *rest, const char *text)
{
    const char *prefix = first;

    while (*text != '\0') {
        size_t len = strcspn(text, "\n");

        (void)fprintf(to, "%s%.*s\n", prefix, (int)len, text);
        text += len + (text[len] == '\n' ? 1 : 0);
        prefix = rest;
    }
}

static void command_print_help(FILE *to, const gbx_command *command)
{
    indent(to, "usage: glovebox ", "       glovebox ", command->usage);
    (void)fprintf(to, "\n%s\n", command->description);
    for (size_t i = 0; command->subcommands != NULL && command->subcommands[i] != NULL;
         i++)
        (void)fprintf(to, "%s  %-16s %s\n", i == 0 ? "\nCommands:\n" : "",
                      command->subcommands[i]->name, command->subcommands[i]->summary);
    gbx_opt_print(to, command->groups);
    if (command->examples != NULL) {
        (void)fputs("\nExamples:\n", to);
        indent(to, "  ", "  ", command->examples);
    }
}

static void print_help(FILE *to)
{
    (void)fputs("usage: glovebox COMMAND [options]\n\n"
                "Runs untrusted JavaScript next to data that must not leak.\n\n"
                "Commands:\n",
                to);
    for (size_t i = 0; commands[i] != NULL; i++)
        (void)fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    (void)fputs("\n'glovebox help COMMAND' explains one; 'glovebox help " TOPIC_STATUS
                "' "
                "lists the exit\nstatuses; 'man glovebox' is the manual.\n",
                to);
}

int gbx_command_misuse(const gbx_command *command, bool as_json, const char *message)
{
    gbx_trouble trouble = {0};

    if (as_json) {
        gbx_term out = gbx_term_open(stdout, GBX_COLOR_AUTO);

        (void)gbx_trouble_host(&trouble,
                               gbx_fail(&trouble.err, GBX_E_USAGE, "%s", message));
        gbx_trouble_print_json(&out, &trouble);
        return trouble.exit;
    }
    print_error(message);
    (void)fprintf(stderr, "try 'glovebox help%s%s'\n", command != NULL ? " " : "",
                  command != NULL ? command->name : "");
    return gbx_status_exit(GBX_E_USAGE);
}

/* The limit alone does not apply to cores that the kernel pipes to a program. */
void gbx_cli_hide_memory(void)
{
    struct rlimit cores;

    (void)prctl(PR_SET_DUMPABLE, 0);
    if (getrlimit(RLIMIT_CORE, &cores) < 0)
        return;
    cores.rlim_cur = 0;
    (void)setrlimit(RLIMIT_CORE, &cores);
}

/* ---- glovebox help, glovebox version ------------------------------------------- */

static const gbx_opt_group groups[] = {GBX_COMMON_GROUP, {0}};

static void print_status(int exit, const char *name, const char *text)
{
    (void)printf("  %3d  %-17s %s\n", exit, name, text);
}

static void print_statuses(void)
{
    (void)puts("The code ended, well or badly:");
#define XX(name, number, exit, text) \
    print_status(exit, number == 0 ? "OK" : #name, text);
    GBX_CODE_MAP(XX)
#undef XX
    (void)puts("\nThe command could not do its part:");
#define XX(name, number, exit, rpc, text) \
    if (exit != 0)                        \
        print_status(exit, #name, text);
    GBX_STATUS_MAP(XX)
#undef XX
#define XX(name, exit, text) print_status(exit, #name, text);
    GBX_CLI_EXIT_MAP(XX)
#undef XX
}

static int help_main(void *args)
{
    const gbx_common_args *common = args;
    char *const *words = common->words;
    int count = common->word_count;
    const gbx_command *command;
    const gbx_command *sub;
    const char *nearest = NULL;
    char message[200];

    command = count > 0 ? command_find(commands, words[0], &nearest) : NULL;
    sub = command != NULL ? command_sub(command, count > 1 ? words[1] : NULL) : NULL;
    if (count > (sub != NULL ? 2 : 1))
        return gbx_command_misuse(&command_help, false, "help takes one topic");
    if (count == 0) {
        print_help(stdout);
    } else if (strcmp(words[0], TOPIC_STATUS) == 0) {
        print_statuses();
    } else if (command == NULL) {
        (void)snprintf(message, sizeof message, "no help on '%.80s'", words[0]);
        return gbx_command_misuse(&command_help, false, message);
    } else {
        command_print_help(stdout, sub != NULL ? sub : command);
    }
    return 0;
}

static const gbx_command command_help = {
    .name = "help",
    .summary = "explain a command, or the exit statuses",
    .usage = "help [COMMAND | " TOPIC_STATUS "]",
    .description =
        "Explains one command with its options, lists the exit statuses, or,\n"
        "without a topic, lists the commands.",
    .groups = groups,
    .args_size = sizeof(gbx_common_args),
    .words_max = INT_MAX,
    .run = help_main,
};

/* `glovebox version`: one line that a script can read. */

static int version_main(void *args)
{
    (void)printf("glovebox %s\n", gbx_version());
    return 0;
}

static const gbx_command command_version = {
    .name = "version",
    .summary = "print the version",
    .usage = "version",
    .description =
        "Prints the version. The versions of the engine and of what else is\n"
        "used are in 'glovebox doctor'.",
    .groups = groups,
    .args_size = sizeof(gbx_common_args),
    .run = version_main,
};

static int run_command(const gbx_command *command, int argc, char **argv)
{
    GBX_CLEANUP(gbx_free) char *args = gbx_need(calloc(1, command->args_size));
    gbx_common_args *common = (void *)args;
    bool has_json = false, as_json = false;
    char message[80];
    gbx_error err;

    /* Find --json before parsing, since an error may come before it. */
    for (const gbx_opt_group *g = command->groups; g->rows != NULL; g++)
        for (const gbx_opt *row = g->rows; row->name != NULL; row++)
            has_json |= strcmp(row->name, "json") == 0;
    for (int i = 0; has_json && i < argc && strcmp(argv[i], "--") != 0; i++)
        as_json |= strcmp(argv[i], "--json") == 0;
    *common = (gbx_common_args){.command = command,
                                .words = argv,
                                .options = GBX_OPTIONS_INIT};
    if (gbx_opt_parse(command->groups, args, argc, argv, &common->word_count, &err) !=
        GBX_OK)
        return gbx_command_misuse(command, as_json, err.message);
    if (common->help) {
        command_print_help(stdout, command);
        return 0;
    }
    if (command->subcommands != NULL && common->word_count > 0)
        return unknown_command(command, common->words[0]);
    (void)snprintf(message, sizeof message, "%s takes no argument", command->name);
    if (common->word_count < command->words_min ||
        common->word_count > command->words_max)
        return gbx_command_misuse(command, as_json,
                                  command->words_wrong != NULL ? command->words_wrong
                                                               : message);
    return command->run(args);
}

/* For jansson, whose copy of a configuration may contain secrets. */
static void wipe_and_free(void *data)
{
    if (data != NULL)
        explicit_bzero(data, malloc_usable_size(data));
    free(data);
}

int main(int argc, char **argv)
{
    const gbx_command *command = &command_help;
    const gbx_command *sub;
    const char *nearest;
    struct sigaction action = {.sa_handler = on_full_file, .sa_flags = SA_RESTART};

    /* Write a console line or a code frame at once, not word by word. */
    (void)setvbuf(stderr, NULL, _IOLBF, 0);
    /* Make a write beyond RLIMIT_FSIZE fail, which is reported, instead of ending the
     * process. This needs a handler, since programs that we start would inherit
     * SIG_IGN. */
    (void)sigaction(SIGXFSZ, &action, NULL);
    json_set_alloc_funcs(malloc, wipe_and_free);
    if (argc < 2) {
        print_help(stderr);
        return gbx_status_exit(GBX_E_USAGE);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        command = &command_version;
    else if (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)
        command = command_find(commands, argv[1], &nearest);
    if (command == NULL)
        return unknown_command(NULL, argv[1]);
    sub = command_sub(command, argc > 2 ? argv[2] : NULL);
    if (sub != NULL)
        return finish(run_command(sub, argc - 3, argv + 3));
    return finish(run_command(command, argc - 2, argv + 2));
}
