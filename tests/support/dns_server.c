/* SPDX-License-Identifier: MIT */
/* dns_server - see dns_server.h. */
#include "dns_server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAMES_MAX  128
#define PACKET_MAX 4096
#define HEADER     12

enum { TYPE_A = 1, TYPE_CNAME = 5, TYPE_AAAA = 28 };

struct dns_server {
    const dns_name *names;
    size_t count;
    int fd;
    char address[32];
    pthread_t thread;
    pthread_mutex_t lock;
    unsigned asked[NAMES_MAX][2]; /* for A, for AAAA */
};

typedef struct packet {
    uint8_t bytes[PACKET_MAX];
    size_t len;
    size_t question_end;
    unsigned answers;
} packet;

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "dns_server: %s failed\n", what);
    abort();
}

static void put(packet *to, const void *data, size_t len)
{
    must(to->len + len <= sizeof to->bytes, "a packet of that size");
    memcpy(to->bytes + to->len, data, len);
    to->len += len;
}

static void put_record(packet *to, uint16_t name_at, uint16_t type, const void *data,
                       uint16_t len)
{
    uint8_t head[12] = {(uint8_t)(0xC0 | name_at >> 8),
                        (uint8_t)name_at,
                        0,
                        (uint8_t)type,
                        0,
                        1,
                        0,
                        0,
                        0,
                        0,
                        (uint8_t)(len >> 8),
                        (uint8_t)len};

    put(to, head, sizeof head);
    put(to, data, len);
    to->answers++;
}

/* Names a, b, c..., each pointing to the next; returns where the last one stands. */
static uint16_t put_chain(packet *to, unsigned links)
{
    uint16_t at = HEADER;

    for (unsigned i = 0; i < links; i++) {
        uint8_t name[3] = {1, (uint8_t)('a' + i % 26), 0};

        put_record(to, at, TYPE_CNAME, name, sizeof name);
        at = (uint16_t)(to->len - sizeof name);
    }
    return at;
}

/* The question's name in lower case with dots; false if it is none. */
static bool read_question(packet *in, char *name, size_t size, uint16_t *ret_type)
{
    size_t at = HEADER;
    size_t len = 0;

    while (at < in->len && in->bytes[at] != 0) {
        uint8_t n = in->bytes[at++];

        if (n > 63 || at + n > in->len || len + n + 2 > size)
            return false;
        if (len > 0)
            name[len++] = '.';
        for (uint8_t i = 0; i < n; i++)
            name[len++] = (char)tolower(in->bytes[at + i]);
        at += n;
    }
    name[len] = '\0';
    if (at + 5 > in->len)
        return false;
    *ret_type = (uint16_t)(in->bytes[at + 1] << 8 | in->bytes[at + 2]);
    in->question_end = at + 5;
    return true;
}

/* What is said to question number n: the n-th part of the text, or the last. */
static void pick(const char *answers, unsigned n, char *part, size_t size)
{
    const char *at = answers;
    const char *bar;

    while (n > 0 && (bar = strchr(at, '|')) != NULL) {
        at = bar + 1;
        n--;
    }
    (void)snprintf(part, size, "%.*s", (int)strcspn(at, "|"), at);
}

static void put_address(packet *to, uint16_t name_at, uint16_t type, const char *word)
{
    uint8_t bytes[16];

    if (type == TYPE_A && inet_pton(AF_INET, word, bytes) == 1)
        put_record(to, name_at, TYPE_A, bytes, 4);
    else if (type == TYPE_AAAA && inet_pton(AF_INET6, word, bytes) == 1)
        put_record(to, name_at, TYPE_AAAA, bytes, 16);
}

/* False: nothing is sent. */
static bool answer(packet *to, uint16_t type, char *part)
{
    uint16_t name_at = HEADER;
    uint8_t flags = 0;
    char *state = NULL;
    char *word;
    size_t cut = 0;

    for (word = strtok_r(part, " ", &state); word != NULL;
         word = strtok_r(NULL, " ", &state)) {
        if (strcmp(word, "silent") == 0)
            return false;
        if (strcmp(word, "nx") == 0)
            flags = 3;
        else if (strcmp(word, "fail") == 0)
            flags = 2;
        else if (strcmp(word, "trunc") == 0)
            to->bytes[2] |= 2;
        else if (strcmp(word, "wrong-id") == 0)
            to->bytes[0] ^= 0x55;
        else if (strcmp(word, "lie") == 0)
            to->bytes[HEADER + 1] ^= 1;
        else if (strcmp(word, "cname") == 0)
            name_at = put_chain(to, 6);
        else if (strcmp(word, "loop") == 0)
            put_record(to, HEADER, TYPE_CNAME, "\xC0\x0C", 2);
        else if (strcmp(word, "short") == 0)
            cut = 7;
        else if (strcmp(word, "garbage") == 0)
            memset(to->bytes + 2, 0xAA, to->len - 2);
        else
            put_address(to, name_at, type, word);
    }
    to->bytes[2] |= 0x80;
    to->bytes[3] = (uint8_t)(0x80 | flags);
    to->bytes[7] = (uint8_t)to->answers;
    to->len -= cut;
    return true;
}

/* The answer, in place of the question; false: none is sent. */
static bool reply(dns_server *server, packet *p)
{
    char name[256];
    char part[1024] = "nx";
    uint16_t type;

    if (p->len < HEADER || !read_question(p, name, sizeof name, &type))
        return false;
    (void)pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->count; i++)
        if (strcmp(server->names[i].name, name) == 0)
            pick(server->names[i].answers,
                 server->asked[i][type == TYPE_AAAA ? 1 : 0]++, part, sizeof part);
    (void)pthread_mutex_unlock(&server->lock);
    p->len = p->question_end; /* without additional records */
    memset(p->bytes + 6, 0, 6);
    return answer(p, type, part);
}

static void *serve(void *user)
{
    dns_server *server = user;

    for (;;) {
        struct sockaddr_storage from;
        socklen_t from_len = sizeof from;
        packet p = {.len = 0};
        ssize_t n = recvfrom(server->fd, p.bytes, sizeof p.bytes, 0,
                             (struct sockaddr *)&from, &from_len);

        if (n <= 0) /* an empty datagram is how it is stopped */
            return NULL;
        p.len = (size_t)n;
        if (reply(server, &p))
            (void)sendto(server->fd, p.bytes, p.len, 0, (struct sockaddr *)&from,
                         from_len);
    }
}

/* ---- public to the tests ------------------------------------------------- */

dns_server *dns_server_start(const dns_name *names, size_t count)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    dns_server *server = calloc(1, sizeof *server);

    must(server != NULL && count <= NAMES_MAX, "calloc");
    server->names = names;
    server->count = count;
    server->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    must(server->fd >= 0 && bind(server->fd, (struct sockaddr *)&at, len) == 0 &&
             getsockname(server->fd, (struct sockaddr *)&at, &len) == 0,
         "a socket");
    (void)snprintf(server->address, sizeof server->address, "127.0.0.1:%u",
                   (unsigned)ntohs(at.sin_port));
    must(pthread_mutex_init(&server->lock, NULL) == 0, "pthread_mutex_init");
    must(pthread_create(&server->thread, NULL, serve, server) == 0, "pthread_create");
    return server;
}

void dns_server_stop(dns_server *server)
{
    struct sockaddr_in at;
    socklen_t len = sizeof at;

    must(getsockname(server->fd, (struct sockaddr *)&at, &len) == 0, "getsockname");
    must(sendto(server->fd, "", 0, 0, (struct sockaddr *)&at, len) == 0, "sendto");
    (void)pthread_join(server->thread, NULL);
    (void)close(server->fd);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}

const char *dns_server_address(const dns_server *server)
{
    return server->address;
}

unsigned dns_server_questions(dns_server *server, const char *name, char type)
{
    unsigned count = 0;

    (void)pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->count; i++)
        if (name == NULL || strcmp(server->names[i].name, name) == 0)
            count += server->asked[i][type == '6' ? 1 : 0];
    (void)pthread_mutex_unlock(&server->lock);
    return count;
}
