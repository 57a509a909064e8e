/* SPDX-License-Identifier: MIT */
/*
 * nats_proxy - the links between processes and a nats-server: one address for each process. The
 * test sees every frame that a process publishes, before and after it is passed on, and says
 * what happens to the link. One thread serves all.
 */
#ifndef GBX_TESTS_NATS_PROXY_H
#define GBX_TESTS_NATS_PROXY_H

#include <stdbool.h>
#include <stdint.h>

#define PROXY_LINKS 8

typedef enum proxy_verdict {
    PROXY_PASS,
    PROXY_CUT,  /* close the connection: what was not passed on is lost */
    PROXY_HOLD, /* nothing passes for `hold_ms`, in either direction; nothing is lost */
} proxy_verdict;

/* link: of the process that publishes; type: of the frame (gbx_remote_type). Called on the
 * proxy's thread. */
typedef proxy_verdict (*proxy_fn)(void *user, unsigned link, uint8_t type,
                                  bool is_passed, unsigned *hold_ms);

typedef struct nats_proxy nats_proxy;

/* Asserts. */
nats_proxy *nats_proxy_start(int server_port, unsigned links, proxy_fn fn, void *user);
int nats_proxy_port(const nats_proxy *proxy, unsigned link);
void nats_proxy_stop(nats_proxy *proxy); /* NULL is ignored */

#endif
