/* SPDX-License-Identifier: MIT */
/*
 * server_spawn - starts a server below its keeper, with an environment of its own. It
 * uses posix_spawn instead of fork, which would copy our memory map, in a time that
 * grows with our size.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include "mcp/upstream/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the environment --------------------------------------------------------- */

/* The basic variables that most programs need. */
static const char *const names[] = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"};

/* As in confstr(_CS_PATH), plus /usr/local: without any PATH nothing is found. */
#define PATH_OF_LAST_RESORT "/usr/local/bin:/usr/bin:/bin"

/* The last value of a name counts. The caller has left room for one more string. */
static void put(char **environment, const char *name, const char *value)
{
    size_t len = strlen(name);
    size_t at = 0;

    if (value == NULL)
        return;
    while (environment[at] != NULL &&
           (strncmp(environment[at], name, len) != 0 || environment[at][len] != '='))
        at++;
    gbx_wipe(environment[at]);
    environment[at] = gbx_printed("%s=%s", name, value);
}

char **gbx_environ_new(const gbx_mcp_upstream_config *config)
{
    size_t room = GBX_COUNTOF(names) + config->inherit_count + config->env_count + 2;
    char **environment = gbx_need(calloc(room, sizeof *environment));

    put(environment, "PATH", PATH_OF_LAST_RESORT);
    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        put(environment, names[i], getenv(names[i]));
    for (size_t i = 0; i < config->inherit_count; i++)
        put(environment, config->inherit[i], getenv(config->inherit[i]));
    for (size_t i = 0; i < config->env_count; i++)
        put(environment, config->env[i].name, config->env[i].value);
    return environment;
}

void gbx_environ_free(char **environment)
{
    for (size_t i = 0; environment[i] != NULL; i++)
        gbx_wipe(environment[i]);
    free(environment);
}

/* ---- the process ------------------------------------------------------------- */

/* The child's ends first get descriptors from this one on, so that placing one
 * overwrites no other. */
#define CLEAR_OF 16

#define ENDS 4

void gbx_spawned_server_close(gbx_spawned_server *spawned)
{
    for (size_t i = 0; i < ENDS; i++)
        gbx_fd_close(&spawned->fds[i]);
    gbx_fd_close(&spawned->pidfd);
}

/* A server's input is a socket, so that writing to it never raises SIGPIPE. */
static bool open_pair(int *ours, int *theirs, int number)
{
    int pair[2];
    bool is_socket = number == STDIN_FILENO || number == GBX_KEEPER_FD;
    int type = number == GBX_KEEPER_FD ? SOCK_SEQPACKET : SOCK_STREAM;
    int moved;

    if ((is_socket ? socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair)
                   : pipe2(pair, O_CLOEXEC)) < 0)
        return false;
    *ours = pair[0];
    *theirs = pair[1];
    if (number == STDIN_FILENO)
        (void)shutdown(pair[0], SHUT_RD);
    if (fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
        return false;
    if (*theirs >= CLEAR_OF)
        return true;
    moved = fcntl(*theirs, F_DUPFD_CLOEXEC, CLEAR_OF);
    if (moved < 0)
        return false;
    gbx_fd_close(theirs);
    *theirs = moved;
    return true;
}

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* $GLOVEBOX_KEEPER if it is set (except in a set-id program); else next to this
 * program; else where it was installed. */
static bool find_keeper(char *path, size_t size)
{
    const char *named = secure_getenv("GLOVEBOX_KEEPER");
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    const char *slash;

    if (named != NULL && *named != 0)
        return (size_t)snprintf(path, size, "%s", named) < size && is_program(path);
    exe[n > 0 ? n : 0] = 0;
    slash = strrchr(exe, '/');
    if (slash != NULL &&
        (size_t)snprintf(path, size, "%.*s/glovebox-keeper", (int)(slash - exe), exe) <
            size &&
        is_program(path))
        return true;
    return (size_t)snprintf(path, size, "%s", GLOVEBOX_KEEPER_INSTALLED) < size &&
           is_program(path);
}

/* Returns 0 or an errno value. */
static int execute(const char *path, char *const *argv, char *const *environment,
                   const int ends[ENDS], pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all;
    sigset_t none;
    int error = 0;

    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes,
                                   POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    for (int i = 0; i < ENDS && error == 0; i++)
        error = posix_spawn_file_actions_adddup2(&actions, ends[i], i);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, GBX_KEEPER_FD + 1);
    gbx_cpu_roam();
    if (error == 0)
        error = posix_spawn(ret_pid, path, &actions, &attributes, argv, environment);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* keeper, mode, descriptors, directory, program, arguments; number is borrowed. */
static char **arguments_of(const gbx_mcp_upstream_config *config, bool is_plain,
                           char *number)
{
    static char name[] = "glovebox-keeper";
    static char best[] = GBX_KEEPER_BEST;
    static char plain[] = GBX_KEEPER_PLAIN;
    static char here[] = "";
    char **argv = gbx_need(calloc(config->arg_count + 6, sizeof *argv));

    argv[0] = name;
    argv[1] = is_plain ? plain : best;
    argv[2] = number;
    argv[3] = config->cwd != NULL ? config->cwd : here;
    argv[4] = config->command;
    if (config->arg_count > 0)
        memcpy(argv + 5, config->args, config->arg_count * sizeof *argv);
    return argv;
}

/* Start the keeper, with its ends of all pipes and sockets. */
static gbx_status start_keeper(const gbx_mcp_upstream_config *config,
                               const gbx_yard *yard, const int ends[ENDS], pid_t *ret,
                               gbx_error *reterr)
{
    char number[24];
    char path[PATH_MAX] = "";
    GBX_CLEANUP(gbx_free) char **argv = arguments_of(config, yard->is_plain, number);
    char **environment;

    if (!find_keeper(path, sizeof path))
        return gbx_fail(reterr, GBX_E_OS,
                        "cannot find 'glovebox-keeper' beside this program: set "
                        "GLOVEBOX_KEEPER to where it is");
    (void)snprintf(number, sizeof number, "%llu",
                   (unsigned long long)yard->descriptors);
    environment = gbx_environ_new(config);
    errno = execute(path, argv, environment, ends, ret);
    gbx_environ_free(environment);
    return errno == 0 ? GBX_OK
                      : gbx_fail(reterr, GBX_E_OS, "cannot execute '%s': %s", path,
                                 strerror(errno));
}

gbx_status gbx_server_spawn(const gbx_mcp_upstream_config *config, const gbx_yard *yard,
                            gbx_spawned_server *ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_spawned_server_close)
    gbx_spawned_server theirs = {-1, {-1, -1, -1, -1}}; /* the child's ends */
    char reason[GBX_CALL_REASON_SIZE];
    gbx_status status = GBX_OK;
    pid_t pid = 0;

    *ret = (gbx_spawned_server){-1, {-1, -1, -1, -1}};
    for (int i = 0; i < ENDS && status == GBX_OK; i++)
        if (!open_pair(&ret->fds[i], &theirs.fds[i], i))
            status = gbx_fail(reterr, GBX_E_OS, "cannot connect to a server: %s",
                              strerror(errno));
    if (status == GBX_OK)
        status = start_keeper(config, yard, theirs.fds, &pid, reterr);
    if (status == GBX_OK) {
        ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (ret->pidfd >= 0)
            return GBX_OK;
        status = gbx_fail(reterr, GBX_E_OS, "cannot watch a server: %s",
                          gbx_fail_call_reason("pidfd_open", errno, reason));
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    gbx_spawned_server_close(ret);
    return status;
}
