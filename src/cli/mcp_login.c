/* SPDX-License-Identifier: MIT */
/* mcp_login - `glovebox mcp login` and `logout`: sign a person in to a server with a
 * URL, in a browser, or remove the tokens. */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "mcp/config/config.h"
#include "mcp/upstream/oauth.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct login_args {
    gbx_common_args common;
    const char *config;
    bool no_browser;
    bool trust_files;
} login_args;

#define PATIENCE_MS 600000

static const gbx_opt rows[] = {
    GBX_ROW_FLAG(login_args, no_browser, "no-browser",
                 "only print the address to open, on this machine"),
    /* Both commands have the rows from here on. */
    GBX_ROW_TEXT(
        login_args, config, "config", "FILE",
        "whose server it is; default: glovebox/mcp.json below $XDG_CONFIG_HOME or ~/.config"),
    GBX_ROW_TRUST_FILES(login_args, trust_files),
    {0},
};

static const gbx_opt_group login_groups[] = {{"Options", rows, 0},
                                             GBX_COMMON_GROUP,
                                             {0}};
static const gbx_opt_group logout_groups[] = {{"Options", rows + 1, 0},
                                              GBX_COMMON_GROUP,
                                              {0}};

typedef struct login {
    const login_args *args;
    gbx_term err;
    gbx_trust trust;
    char path[PATH_MAX];
    gbx_mcp_config *config;
    const gbx_mcp_upstream_config *server;
} login;

/* Try xdg-open. If that fails, the person opens the address. */
static void start_browser(const char *url)
{
    extern char **environ;
    char program[] = "xdg-open";
    char *argv[] = {program, strdupa(url), NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t pid;

    (void)signal(SIGCHLD, SIG_IGN); /* it is not waited for */
    (void)posix_spawn_file_actions_init(&actions);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        (void)posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    (void)posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    (void)posix_spawnattr_init(&attributes);
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnp(&pid, program, &actions, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
}

static void open_url(void *user, const char *url)
{
    const login *l = user;

    gbx_term_print(&l->err, "Sign in to '%s' at:\n", l->server->name);
    gbx_term_print(&l->err, "  %s\n", url);
    gbx_term_print(&l->err,
                   "In a browser on another machine: paste here the address at "
                   "which it ends.\n");
    if (!l->args->no_browser)
        start_browser(url);
}

static gbx_status find_server(login *l, gbx_trouble *trouble)
{
    const char *name = l->args->common.words[0];
    gbx_error *err = &trouble->err;
    gbx_status status = gbx_mcp_find_server(l->args->config, l->trust, name, l->path,
                                            &l->config, trouble);

    if (status != GBX_OK)
        return status;
    l->server = gbx_mcp_config_server(l->config, name);
    if (l->server->fault != NULL)
        return gbx_fail(err, GBX_E_USAGE, "the server '%s' cannot be used: %.400s",
                        name, l->server->fault);
    if (l->server->url == NULL)
        return gbx_fail(err, GBX_E_USAGE,
                        "the server '%s' is a command, which needs no sign-in here",
                        name);
    return GBX_OK;
}

static gbx_status sign_in(login *l, gbx_error *err)
{
    struct stat st;
    bool is_stream =
        fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    /* Only if a person or a script may write to it. */
    int input = is_stream || isatty(STDIN_FILENO) ? STDIN_FILENO : -1;
    const gbx_oauth_sign_in_options options = {.server = l->server,
                                               .trust = l->trust,
                                               .timeout_ms = PATIENCE_MS,
                                               .input = input,
                                               .stop = -1,
                                               .open = open_url,
                                               .user = l};
    gbx_status status = gbx_oauth_sign_in(&options, err);

    if (status == GBX_OK)
        gbx_term_print(&l->err, "signed in to '%s'\n", l->server->name);
    return status;
}

static gbx_status sign_out(login *l, gbx_error *err)
{
    gbx_status status =
        gbx_oauth_write(l->server->url, l->trust, NULL, GBX_OAUTH_REMOVE, err);

    if (status == GBX_OK)
        gbx_term_print(&l->err, "the tokens of '%s' are removed\n", l->server->name);
    return status;
}

static int login_main(void *parsed)
{
    login l = {.args = parsed};
    gbx_trouble trouble = {0};
    gbx_status status;

    (void)signal(SIGPIPE, SIG_IGN); /* a browser that disconnects must not end us */
    l.err = gbx_term_open(stderr, (gbx_color)l.args->common.color);
    l.trust = l.args->trust_files ? GBX_TRUST_ALL : GBX_TRUST_OWN;
    gbx_cli_hide_memory();
    status = find_server(&l, &trouble);
    if (gbx_trouble_input(&trouble, status))
        (void)gbx_trouble_host(&trouble,
                               l.args->common.command == &gbx_command_mcp_login
                                   ? sign_in(&l, &trouble.err)
                                   : sign_out(&l, &trouble.err));
    gbx_mcp_config_free(l.config);
    if (trouble.err.status == GBX_OK)
        return 0;
    gbx_trouble_print(&l.err, &trouble);
    return trouble.exit;
}

const gbx_command gbx_command_mcp_login = {
    .name = "mcp login",
    .summary = "sign in to a server that wants OAuth",
    .usage = "mcp login [options] SERVER",
    .description =
        "Opens the server's sign-in page in a browser, and keeps the tokens in\n"
        "glovebox/oauth/tokens.json below $XDG_STATE_HOME or ~/.local/state, for this user\n"
        "alone. 'glovebox mcp' sends them to that server and renews them.",
    .examples = "glovebox mcp login tickets",
    .groups = login_groups,
    .args_size = sizeof(login_args),
    .words_min = 1,
    .words_max = 1,
    .words_wrong = "this takes a server",
    .run = login_main,
};

const gbx_command gbx_command_mcp_logout = {
    .name = "mcp logout",
    .summary = "forget the tokens of a server",
    .usage = "mcp logout [options] SERVER",
    .description = "Removes what 'glovebox mcp login' has kept.",
    .examples = "glovebox mcp logout tickets",
    .groups = logout_groups,
    .args_size = sizeof(login_args),
    .words_min = 1,
    .words_max = 1,
    .words_wrong = "this takes a server",
    .run = login_main,
};
