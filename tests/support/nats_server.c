/* SPDX-License-Identifier: MIT */
/* nats_server - see nats_server.h. */
#include "nats_server.h"
#include "scratch.h"
#include "test.h"
#include "until.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program(void)
{
    static const char *const paths[] = {"/usr/sbin/nats-server", "/usr/bin/nats-server",
                                        "/usr/local/bin/nats-server"};

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (access(paths[i], X_OK) == 0)
            return paths[i];
    return NULL;
}

void nats_server_need(void)
{
    if (program() != NULL)
        return;
    (void)fputs("skipped: there is no nats-server\n", stderr);
    exit(77);
}

/* With option -1 the server takes a free port, and says which in a file. */
static bool reads_port(void *user)
{
    nats_server *server = user;
    char name[64];
    char text[256] = "";
    const char *at;
    FILE *file;

    (void)snprintf(name, sizeof name, "nats-server_%d.ports", (int)server->pid);
    file = fopen(scratch_path(name), "re");
    if (file == NULL)
        return false;
    (void)fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    at = strstr(text, "://127.0.0.1:");
    server->port = at != NULL ? atoi(strchr(at + 3, ':') + 1) : 0;
    return server->port > 0;
}

static bool takes_connections(void *user)
{
    const nats_server *server = user;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)server->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_open = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;

    (void)close(fd);
    return is_open;
}

static void begin(nats_server *server)
{
    char config_file[64];
    char log_file[64];
    char *argv[] = {"nats-server", "-c", config_file, "-l", log_file, NULL};
    char config[9000];
    posix_spawnattr_t attributes;
    sigset_t none;

    (void)snprintf(config, sizeof config,
                   "listen: \"127.0.0.1:%d\"\nports_file_dir: \"%s\"\n%s",
                   server->port > 0 ? server->port : -1, scratch, server->options);
    scratch_write("nats.conf", config);
    (void)snprintf(config_file, sizeof config_file, "%s/nats.conf", scratch);
    (void)snprintf(log_file, sizeof log_file, "%s/nats.log", scratch);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    assert_int_equal(posix_spawn(&server->pid, program(), NULL, &attributes, argv,
                                 environ),
                     0);
    (void)posix_spawnattr_destroy(&attributes);
}

void nats_server_start(nats_server *server, const char *options)
{
    *server = (nats_server){0};
    (void)snprintf(server->options, sizeof server->options, "%s", options);
    begin(server);
    assert_true(until(reads_port, server, 10000));
    assert_true(until(takes_connections, server, 10000));
    (void)snprintf(server->url, sizeof server->url, "nats://127.0.0.1:%d",
                   server->port);
}

void nats_server_restart(nats_server *server)
{
    begin(server);
    assert_true(until(takes_connections, server, 10000));
}

void nats_server_stop(nats_server *server, int signal)
{
    if (server->pid == 0)
        return;
    (void)kill(server->pid, signal);
    (void)waitpid(server->pid, NULL, 0);
    server->pid = 0;
}
