/* SPDX-License-Identifier: MIT */
/* main - the table of commands, and what they share. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "policy/json_reader.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const char *const colors[] = {"auto", "always", "never", NULL};

static const gbx_opt common_rows[] = {
    {"color", "WHEN", "auto (default: on a terminal), always or never", GBX_OPT_CHOICE,
     offsetof(gbx_common_args, color), GBX_COLOR_AUTO, 0, colors},
    {"help", NULL, "print this help", GBX_OPT_FLAG, offsetof(gbx_common_args, help), 0,
     0, NULL},
};

static void print_error(const char *message)
{
    gbx_term err = gbx_term_open(stderr, GBX_COLOR_AUTO);

    gbx_term_headline(&err, NULL, message);
    (void)fputc('\n', stderr);
}

static int unknown_command(const char *name)
{
    const char *nearest = NULL;
    char message[256];

    (void)gbx_command_find(name, &nearest);
    (void)snprintf(message, sizeof message, "there is no command '%.80s'%s%s%s", name,
                   nearest != NULL ? ": did you mean '" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    print_error(message);
    (void)fputs("try 'glovebox help'\n", stderr);
    return gbx_status_exit(GBX_E_USAGE);
}

/* Decides the error's format before parsing, as the error may come before --json. */
static bool asks_for_json(const gbx_command *command, int argc, char **argv)
{
    bool has_option = false;

    for (size_t t = 0; t < command->table_count; t++)
        for (size_t i = 0; i < command->tables[t]->count; i++)
            has_option |= strcmp(command->tables[t]->rows[i].name, "json") == 0;
    for (int i = 0; has_option && i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static void on_full_file(int signal)
{
    (void)signal;
}

/* A log or a recording that reaches RLIMIT_FSIZE is a failed write, which is reported,
 * and does not end the process. This needs a handler, since programs that we start
 * would inherit SIG_IGN. */
static void outlive_full_files(void)
{
    struct sigaction action = {.sa_handler = on_full_file, .sa_flags = SA_RESTART};

    (void)sigaction(SIGXFSZ, &action, NULL);
}

/* ---- public to other modules -------------------------------------------- */

const gbx_opt_table gbx_common_table = {"Other", common_rows, GBX_COUNTOF(common_rows)};

const gbx_command *const gbx_commands[] = {
    &gbx_command_run,  &gbx_command_replay,  &gbx_command_check,
    &gbx_command_mcp,  &gbx_command_doctor,  &gbx_command_bench,
    &gbx_command_help, &gbx_command_version, NULL,
};

const gbx_command *gbx_command_find(const char *name, const char **ret_nearest)
{
    const char *names[GBX_COUNTOF(gbx_commands)];
    size_t count = 0;

    for (; gbx_commands[count] != NULL; count++) {
        names[count] = gbx_commands[count]->name;
        if (strcmp(names[count], name) == 0)
            return gbx_commands[count];
    }
    *ret_nearest = gbx_nearest(name, names, count);
    return NULL;
}

const gbx_command *gbx_command_sub(const gbx_command *command, const char *word)
{
    size_t len = strlen(command->name) + 1; /* with the space */

    if (command->subcommands == NULL || word == NULL)
        return NULL;
    for (size_t i = 0; command->subcommands[i] != NULL; i++)
        if (strcmp(command->subcommands[i]->name + len, word) == 0)
            return command->subcommands[i];
    return NULL;
}

int gbx_command_parse(const gbx_command *command, void *const *into, int argc,
                      char **argv, int *ret_count)
{
    const gbx_common_args *common = into[command->table_count - 1];
    bool as_json = asks_for_json(command, argc, argv);
    gbx_error err;

    if (gbx_opt_parse(command->tables, command->table_count, into, argc, argv,
                      ret_count, &err) != GBX_OK)
        return gbx_command_misuse(command, as_json, err.message);
    if (!common->help)
        return -1;
    gbx_command_print_help(stdout, command);
    return gbx_cli_finish(0);
}

int gbx_command_misuse(const gbx_command *command, bool as_json, const char *message)
{
    gbx_trouble trouble = {0};

    if (as_json) {
        gbx_term out = gbx_term_open(stdout, GBX_COLOR_AUTO);

        gbx_trouble_host(&trouble, gbx_fail(&trouble.err, GBX_E_USAGE, "%s", message));
        gbx_trouble_print_json(&out, &trouble);
        return gbx_cli_finish(trouble.exit);
    }
    print_error(message);
    (void)fprintf(stderr, "try 'glovebox help %s'\n", command->name);
    return gbx_status_exit(GBX_E_USAGE);
}

/* The limit does not apply where cores go to a program. */
void gbx_cli_hide_memory(void)
{
    struct rlimit cores;

    (void)prctl(PR_SET_DUMPABLE, 0);
    if (getrlimit(RLIMIT_CORE, &cores) < 0)
        return;
    cores.rlim_cur = 0;
    (void)setrlimit(RLIMIT_CORE, &cores);
}

int gbx_cli_finish(int status)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return status;
    print_error("cannot write to standard output");
    return GBX_CLI_EXIT_NO_OUTPUT;
}

int main(int argc, char **argv)
{
    const gbx_command *command = &gbx_command_help;
    const gbx_command *sub;
    const char *nearest;

    /* A console line or a code frame is a single write, not one per word. */
    (void)setvbuf(stderr, NULL, _IOLBF, 0);
    outlive_full_files();
    gbx_json_wipe_freed();
    if (argc < 2) {
        gbx_cli_print_help(stderr);
        return gbx_status_exit(GBX_E_USAGE);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        command = &gbx_command_version;
    else if (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)
        command = gbx_command_find(argv[1], &nearest);
    if (command == NULL)
        return unknown_command(argv[1]);
    sub = gbx_command_sub(command, argc > 2 ? argv[2] : NULL);
    if (sub != NULL)
        return sub->run(sub, argc - 3, argv + 3);
    return command->run(command, argc - 2, argv + 2);
}
