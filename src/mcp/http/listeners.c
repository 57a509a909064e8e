/* SPDX-License-Identifier: MIT */
/*
 * listeners - the listening sockets: an address, a socket file, or the sockets that
 * systemd has opened.
 *
 * Only the owner of a socket file can use it (mode 0600). A socket file on which no
 * process listens any more is replaced; a file of another kind never is.
 */
#include "mcp/http/http.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

/* The first descriptor that systemd passes. */
#define INHERITED_FD 3

/* ---- addresses ------------------------------------------------------------------ */

/* Split at the last colon, and remove the brackets. False: the text is not valid. */
static bool split(const char *text, char host[64], uint16_t *ret_port)
{
    const char *colon = strrchr(text, ':');
    const char *port = colon != NULL ? colon + 1 : text;
    size_t len = colon != NULL ? (size_t)(colon - text) : 0;
    size_t digits = strspn(port, "0123456789");
    unsigned long number = strtoul(port, NULL, 10);

    if (digits == 0 || digits > 5 || port[digits] != '\0' || number > UINT16_MAX)
        return false;
    if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    if (len >= 64 || (colon != NULL && len == 0))
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    *ret_port = (uint16_t)number;
    return true;
}

/* Parse "[ADDR:]PORT". False: it is not valid. */
static bool read_address(const char *text, gbx_socket_address *ret)
{
    char host[64];
    uint16_t port;

    *ret = (gbx_socket_address){0};
    if (!split(text, host, &port))
        return false;
    if (host[0] == '\0' || strcmp(host, "localhost") == 0)
        (void)snprintf(host, sizeof host, "127.0.0.1");
    if (inet_pton(AF_INET, host, &ret->in.sin_addr) == 1) {
        ret->in.sin_family = AF_INET;
        ret->in.sin_port = htons(port);
        return true;
    }
    ret->in6.sin6_family = AF_INET6;
    ret->in6.sin6_port = htons(port);
    return inet_pton(AF_INET6, host, &ret->in6.sin6_addr) == 1;
}

bool gbx_http_is_public(const gbx_http_options *o)
{
    return o->is_behind_proxy || o->tls_cert != NULL;
}

static gbx_status check_local(const gbx_http_options *o,
                              const gbx_socket_address *address, gbx_error *err)
{
    sa_family_t family = address->any.ss_family;
    /* Only programs of this machine can reach it. */
    bool is_local =
        family == AF_UNIX ||
        (family == AF_INET ? (ntohl(address->in.sin_addr.s_addr) >> 24) == 127
                           : IN6_IS_ADDR_LOOPBACK(&address->in6.sin6_addr));

    if (is_local || gbx_http_is_public(o))
        return GBX_OK;
    return gbx_fail(
        err, GBX_E_USAGE,
        "other machines reach this address: give '--tls-cert', '--tls-key' and "
        "'--token-file' or '--oauth'; or put a proxy with TLS in front, "
        "and give '--behind-proxy' in place of the certificate");
}

gbx_status gbx_http_listeners_check(const gbx_http_options *o, gbx_error *reterr)
{
    struct sockaddr_un file;
    gbx_socket_address address;

    if (o->socket != NULL && strlen(o->socket) >= sizeof file.sun_path)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the path of '--socket' has more than %zu bytes",
                        sizeof file.sun_path - 1);
    if (o->address == NULL || strcmp(o->address, GBX_HTTP_SYSTEMD) == 0)
        return GBX_OK;
    if (!read_address(o->address, &address))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "'--http' needs PORT or ADDR:PORT, and ADDR in digits, or "
                        "'" GBX_HTTP_SYSTEMD "'");
    return check_local(o, &address, reterr);
}

/* ---- listening ------------------------------------------------------------------- */

static void name_listener(gbx_http_listener *listener,
                          const gbx_socket_address *address, bool has_tls)
{
    bool is_v6 = address->any.ss_family == AF_INET6;
    char text[INET6_ADDRSTRLEN] = "";

    if (address->any.ss_family == AF_UNIX) {
        (void)snprintf(listener->name, sizeof listener->name, "%s",
                       address->un.sun_path);
        return;
    }
    (void)inet_ntop(address->any.ss_family,
                    is_v6 ? (const void *)&address->in6.sin6_addr
                          : (const void *)&address->in.sin_addr,
                    text, sizeof text);
    listener->port = ntohs(is_v6 ? address->in6.sin6_port : address->in.sin_port);
    (void)snprintf(listener->host, sizeof listener->host, is_v6 ? "[%s]" : "%s", text);
    (void)snprintf(listener->name, sizeof listener->name,
                   is_v6 ? "http%s://[%s]:%u" : "http%s://%s:%u", has_tls ? "s" : "",
                   text, listener->port);
}

/* Add a listening socket. Takes ownership of fd. */
static gbx_status add_listener(gbx_http_listeners *all, const gbx_http_options *o,
                               int fd, gbx_error *err)
{
    gbx_http_listener *listener = &all->items[all->count];
    gbx_socket_address address = {0};
    socklen_t len = sizeof address;

    *listener = (gbx_http_listener){.fd = fd};
    all->count++;
    if (getsockname(fd, &address.some, &len) < 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        return gbx_fail(err, GBX_E_OS, "cannot listen: %s", strerror(errno));
    name_listener(listener, &address, o->tls_cert != NULL);
    return check_local(o, &address, err);
}

static gbx_status fail_listening(gbx_error *err, int fd, const char *name)
{
    int number = errno;

    gbx_fd_close(&fd);
    errno = number;
    return gbx_fail(err, GBX_E_OS, "cannot listen on '%s': %s", name, strerror(number));
}

static gbx_status open_address(gbx_http_listeners *all, const gbx_http_options *o,
                               gbx_error *err)
{
    static const int on = 1;
    gbx_socket_address address;
    socklen_t len;
    int fd;

    (void)read_address(o->address, &address);
    len = address.any.ss_family == AF_INET ? sizeof address.in : sizeof address.in6;
    fd = socket(address.any.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, &address.some, len) < 0 || listen(fd, BACKLOG) < 0)
        return fail_listening(err, fd, o->address);
    return add_listener(all, o, fd, err);
}

static gbx_status open_file(gbx_http_listeners *all, const gbx_http_options *o,
                            gbx_error *err)
{
    gbx_socket_address address = {.un = {.sun_family = AF_UNIX}};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;
    mode_t mask;
    bool is_bound;

    (void)snprintf(address.un.sun_path, sizeof address.un.sun_path, "%s", o->socket);
    /* Remove a socket file on which no process listens. */
    if (probe >= 0 && connect(probe, &address.some, sizeof address.un) < 0 &&
        errno == ECONNREFUSED && lstat(address.un.sun_path, &st) == 0 &&
        S_ISSOCK(st.st_mode))
        (void)unlink(address.un.sun_path);
    gbx_fd_close(&probe);
    mask = umask(0177);
    is_bound = fd >= 0 && bind(fd, &address.some, sizeof address.un) == 0;
    (void)umask(mask);
    if (!is_bound)
        return fail_listening(err, fd, o->socket);
    if (lstat(o->socket, &all->made) == 0)
        all->file = o->socket;
    if (listen(fd, BACKLOG) < 0)
        return fail_listening(err, fd, o->socket);
    return add_listener(all, o, fd, err);
}

/* ---- sockets of systemd ---------------------------------------------------------- */

/* The number of descriptors that systemd passed to the process pid. */
static int count_inherited(pid_t pid)
{
    const char *owner = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");

    if (owner == NULL || count == NULL || strtol(owner, NULL, 10) != pid)
        return 0;
    return (int)strtol(count, NULL, 10);
}

void gbx_http_close_inherited(pid_t pid)
{
    int count = count_inherited(pid);

    if (count > 0)
        (void)close_range(INHERITED_FD, INHERITED_FD + (unsigned)count - 1, 0);
}

static gbx_status take_inherited(gbx_http_listeners *all, const gbx_http_options *o,
                                 gbx_error *err)
{
    int count = count_inherited(getpid());
    gbx_status status = GBX_OK;

    if (count <= 0 || count > GBX_HTTP_LISTENERS_MAX - 1)
        return gbx_fail(err, GBX_E_USAGE,
                        "'--http " GBX_HTTP_SYSTEMD "' takes 1 to %d sockets of a "
                        ".socket unit; there are %d",
                        GBX_HTTP_LISTENERS_MAX - 1, count);
    for (int i = 0; status == GBX_OK && i < count; i++) {
        int listens = 0;
        socklen_t len = sizeof listens;

        if (getsockopt(INHERITED_FD + i, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) <
                0 ||
            listens == 0)
            return gbx_fail(
                err, GBX_E_USAGE,
                "descriptor %d of systemd does not listen: the .socket unit "
                "needs 'ListenStream=' and 'Accept=no'",
                INHERITED_FD + i);
        status = add_listener(all, o, INHERITED_FD + i, err);
    }
    return status;
}

/* ---- all listeners ------------------------------------------------------------- */

gbx_status gbx_http_listeners_open(gbx_http_listeners *all, const gbx_http_options *o,
                                   gbx_error *reterr)
{
    gbx_status status = GBX_OK;

    if (o->address != NULL && strcmp(o->address, GBX_HTTP_SYSTEMD) == 0)
        status = take_inherited(all, o, reterr);
    else if (o->address != NULL)
        status = open_address(all, o, reterr);
    if (status == GBX_OK && o->socket != NULL)
        status = open_file(all, o, reterr);
    return status;
}

void gbx_http_listeners_close(gbx_http_listeners *all)
{
    struct stat now;

    for (size_t i = 0; i < all->count; i++)
        gbx_fd_close(&all->items[i].fd);
    /* Another server may have created its own file at this path. */
    if (all->file != NULL && lstat(all->file, &now) == 0 &&
        now.st_dev == all->made.st_dev && now.st_ino == all->made.st_ino)
        (void)unlink(all->file);
    all->file = NULL;
}
