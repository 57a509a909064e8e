/* SPDX-License-Identifier: MIT */
/* nats_server - a real nats-server on loopback, whose files are in the test's scratch folder.
 * The kernel chooses its port. */
#ifndef GBX_TESTS_NATS_SERVER_H
#define GBX_TESTS_NATS_SERVER_H

#include <sys/types.h>

typedef struct nats_server {
    pid_t pid;
    int port;
    char url[64]; /* nats://127.0.0.1:PORT */
    char options[8192];
} nats_server;

/* Ends the test program with status 77 if there is no nats-server. */
void nats_server_need(void);

/* options: lines of its configuration; "" for none. */
void nats_server_start(nats_server *server, const char *options);

/* Again on its port, after it was stopped. */
void nats_server_restart(nats_server *server);
void nats_server_stop(nats_server *server, int signal);

#endif
