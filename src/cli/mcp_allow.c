/* SPDX-License-Identifier: MIT */
/* mcp_allow - `glovebox mcp allow` and `deny`: keep a person's decision about calls of
 * one tool. A terminal or --yes is needed, since an agent with a shell could run it. */
#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "cli/cli.h"
#include "mcp/approval/gate.h"
#include "mcp/config/config.h"

#include <string.h>
#include <unistd.h>

typedef struct grant_args {
    gbx_common_args common;
    const char *config;
    bool yes;
    bool trust_files;
} grant_args;

static const gbx_opt rows[] = {
    GBX_ROW_TEXT(
        grant_args, config, "config", "FILE",
        "whose server it is; default: glovebox/mcp.json below $XDG_CONFIG_HOME or ~/.config"),
    GBX_ROW_FLAG(grant_args, yes, "yes", "do not ask: for scripts that a person runs"),
    GBX_ROW_TRUST_FILES(grant_args, trust_files),
    {0},
};

static const gbx_opt_group groups[] = {{"Options", rows, 0}, GBX_COMMON_GROUP, {0}};

gbx_status gbx_mcp_find_server(const char *given, gbx_trust trust, const char *name,
                               char path[PATH_MAX], gbx_mcp_config **ret,
                               gbx_trouble *trouble)
{
    const char *names[256];
    const char *nearest;
    size_t count = 0;
    gbx_status status = gbx_mcp_config_path(given, path, &trouble->err);

    if (status == GBX_OK) {
        trouble->file = path;
        status = gbx_mcp_config_load(path, trust, ret, &trouble->err);
    }
    if (status != GBX_OK)
        return status;
    trouble->file = NULL;
    while (count < (*ret)->server_count && count < GBX_COUNTOF(names)) {
        names[count] = (*ret)->servers[count].name;
        count++;
    }
    nearest = gbx_nearest(name, names, count);
    if (gbx_mcp_config_server(*ret, name) != NULL)
        return GBX_OK;
    return gbx_fail(&trouble->err, GBX_E_USAGE, "unknown server '%.64s' in '%s'%s%s%s",
                    name, path, nearest != NULL ? ": did you mean '" : "",
                    nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static bool is_confirmed(const gbx_term *err)
{
    char answer[16] = "";

    (void)fputs("Is that meant? [y/N] ", err->stream);
    (void)fflush(err->stream);
    return fgets(answer, sizeof answer, stdin) != NULL &&
           (answer[0] == 'y' || answer[0] == 'Y');
}

static void release(gbx_grants_file **grants)
{
    gbx_grants_file_free(*grants);
}

static int grant_main(void *parsed)
{
    const grant_args *args = parsed;
    const gbx_command *self = args->common.command;
    bool allows = self == &gbx_command_mcp_allow;
    const char *server = args->common.words[0];
    const char *tool = args->common.words[1];
    gbx_term err = gbx_term_open(stderr, (gbx_color)args->common.color);
    gbx_trust trust = args->trust_files ? GBX_TRUST_ALL : GBX_TRUST_OWN;
    gbx_trouble trouble = {0};
    gbx_mcp_config *config = NULL;
    GBX_CLEANUP(release) gbx_grants_file *grants = NULL;
    char path[PATH_MAX];
    gbx_status status;

    if (!args->yes && (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)))
        return gbx_command_misuse(
            self, false,
            "a person decides this: run it in a terminal, or with "
            "'--yes'");
    gbx_cli_hide_memory();
    status = gbx_mcp_find_server(args->config, trust, server, path, &config, &trouble);
    gbx_mcp_config_free(config);
    if (status == GBX_OK) {
        gbx_term_print(&err,
                       "Every call of the tool '%s' of the server '%s', with any "
                       "arguments, %s\n",
                       tool, server,
                       allows ? "is made without asking anybody" : "is refused");
        gbx_term_print(&err, "in all sessions with %s,\n", path);
        gbx_term_print(&err, "until 'glovebox mcp %s' says otherwise.%s\n",
                       allows ? "deny" : "allow",
                       allows ? " What the rules deny stays denied." : "");
        if (!args->yes && !is_confirmed(&err))
            return 1;
        grants = gbx_grants_file_new(path, trust);
        status = gbx_grants_file_put(grants, server, tool,
                                     allows ? GBX_GRANT_ALLOW : GBX_GRANT_DENY,
                                     &trouble.err);
        if (status == GBX_OK)
            gbx_term_print(&err, "written to %s\n", gbx_grants_file_path(grants));
    }
    if (gbx_trouble_input(&trouble, status))
        return 0;
    gbx_trouble_print(&err, &trouble);
    return trouble.exit;
}

const gbx_command gbx_command_mcp_allow = {
    .name = "mcp allow",
    .summary = "let a tool be called without asking anybody",
    .usage = "mcp allow [options] SERVER TOOL",
    .description =
        "Every call of that tool is made from now on, also by servers that run already,\n"
        "unless a rule denies it. Says what it covers, and asks in a terminal. The grant\n"
        "is kept in glovebox/grants.json below $XDG_STATE_HOME or ~/.local/state.",
    .examples = "glovebox mcp allow github create_issue --config ./mcp.json",
    .groups = groups,
    .args_size = sizeof(grant_args),
    .words_min = 2,
    .words_max = 2,
    .words_wrong = "this takes a server and a tool of it",
    .run = grant_main,
};

const gbx_command gbx_command_mcp_deny = {
    .name = "mcp deny",
    .summary = "do not let a tool be called",
    .usage = "mcp deny [options] SERVER TOOL",
    .description =
        "Every call of that tool is refused from now on, also by servers that run already,\n"
        "whatever the rules say. Says what it covers, and asks in a terminal. It takes\n"
        "the place of a grant by 'glovebox mcp allow'.",
    .examples = "glovebox mcp deny github delete_repo",
    .groups = groups,
    .args_size = sizeof(grant_args),
    .words_min = 2,
    .words_max = 2,
    .words_wrong = "this takes a server and a tool of it",
    .run = grant_main,
};
