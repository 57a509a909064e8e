/* SPDX-License-Identifier: MIT */
/* cmd_help - `glovebox help` and `glovebox version`: the commands' own rows, and the tables of
 * status.h. */
#include "base/cleanup.h"
#include "cli/cli.h"

#include <string.h>

#define TOPIC_STATUS "exit-status"

static const gbx_opt_table *const tables[] = {&gbx_common_table};

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

static int help_main(const gbx_command *self, int argc, char **argv)
{
    gbx_common_args common = {0};
    void *const into[] = {&common};
    const gbx_command *command;
    const gbx_command *sub;
    const char *nearest = NULL;
    char message[200];
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    command = count > 0 ? gbx_command_find(argv[0], &nearest) : NULL;
    sub = command != NULL ? gbx_command_sub(command, count > 1 ? argv[1] : NULL) : NULL;
    if (count > (sub != NULL ? 2 : 1))
        return gbx_command_misuse(self, false, "help takes one topic");
    if (count == 0) {
        gbx_cli_print_help(stdout);
    } else if (strcmp(argv[0], TOPIC_STATUS) == 0) {
        print_statuses();
    } else if (command == NULL) {
        (void)snprintf(message, sizeof message, "there is no help on '%.80s'", argv[0]);
        return gbx_command_misuse(self, false, message);
    } else {
        gbx_command_print_help(stdout, sub != NULL ? sub : command);
    }
    return gbx_cli_finish(0);
}

void gbx_command_print_help(FILE *to, const gbx_command *command)
{
    indent(to, "usage: glovebox ", "       glovebox ", command->usage);
    (void)fprintf(to, "\n%s\n", command->description);
    for (size_t i = 0; command->subcommands != NULL && command->subcommands[i] != NULL;
         i++)
        (void)fprintf(to, "%s  %-16s %s\n", i == 0 ? "\nCommands:\n" : "",
                      command->subcommands[i]->name, command->subcommands[i]->summary);
    gbx_opt_print(to, command->tables, command->table_count);
    if (command->examples != NULL) {
        (void)fputs("\nExamples:\n", to);
        indent(to, "  ", "  ", command->examples);
    }
}

void gbx_cli_print_help(FILE *to)
{
    (void)fputs(
        "usage: glovebox COMMAND [options]\n\n"
        "Runs JavaScript that nobody vouches for, beside data that must not leak.\n\n"
        "Commands:\n",
        to);
    for (size_t i = 0; gbx_commands[i] != NULL; i++)
        (void)fprintf(to, "  %-9s %s\n", gbx_commands[i]->name,
                      gbx_commands[i]->summary);
    (void)fputs("\n'glovebox help COMMAND' explains one; 'glovebox help " TOPIC_STATUS
                "' "
                "lists the exit\nstatuses; 'man glovebox' is the manual.\n",
                to);
}

const gbx_command gbx_command_help = {
    .name = "help",
    .summary = "explain a command, or the exit statuses",
    .usage = "help [COMMAND | " TOPIC_STATUS "]",
    .description =
        "Explains one command with its options, lists the exit statuses, or,\n"
        "without a topic, lists the commands.",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = help_main,
};

/* cmd_version - `glovebox version`: one line that a script can read. */

static int version_main(const gbx_command *self, int argc, char **argv)
{
    gbx_common_args common = {0};
    void *const into[] = {&common};
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    if (count > 0)
        return gbx_command_misuse(self, false, "version takes no argument");
    (void)printf("glovebox %s\n", gbx_version());
    return gbx_cli_finish(0);
}

const gbx_command gbx_command_version = {
    .name = "version",
    .summary = "print the version",
    .usage = "version",
    .description =
        "Prints the version. The versions of the engine and of what else is\n"
        "used are in 'glovebox doctor'.",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = version_main,
};
