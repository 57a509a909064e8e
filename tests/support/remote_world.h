/* SPDX-License-Identifier: MIT */
/*
 * remote_world - callers and runners over a memory_bus with fake relays, in one thread
 * and on a clock of their own: a test is the same each time, but for the random numbers
 * that name things.
 */
#ifndef GBX_TESTS_REMOTE_WORLD_H
#define GBX_TESTS_REMOTE_WORLD_H

#include "fake_relay.h"
#include "memory_bus.h"

#define CALLERS_MAX 3
#define RUNNERS_MAX 3

/* One call at its caller, as an engine would see it. */
typedef struct leased {
    gbx_lease lease; /* first */
    struct world *world;
    unsigned caller;
    size_t sent, call_len; /* of the call, with send() */
    uint8_t *big;          /* the call, if it is not `call` */
    bool keeps;            /* fetches no bytes */
    bool stalls;           /* sends nothing by itself */
    bool answers;          /* says "yes" to each "?" */
    size_t owed;           /* "yes" not yet sent: bytes */
    const char *machine, *engine;
    unsigned granted, refused, ended; /* refused: it ended without evidence */
    enum { UNAVAILABLE = 1, LOST } why;
    char text[256];
    gbx_ending ending;
    size_t received;
    char last[4]; /* the last bytes */
    bool is_open, is_woken;
    int64_t over_ns; /* when refused or ended */
} leased;

typedef struct world {
    broker *broker;
    gbx_remote_url url;
    gbx_bus *caller_buses[CALLERS_MAX], *runner_buses[RUNNERS_MAX];
    gbx_client *clients[CALLERS_MAX];
    gbx_runner plugs[CALLERS_MAX]; /* what the clients' engines call */
    gbx_lessor *servers[RUNNERS_MAX];
    gbx_server_options options[RUNNERS_MAX];
    gbx_contents contents;
    uint32_t capabilities; /* of calls */
    gbx_limits limits;
} world;

extern int64_t world_now_ns;

/* So many callers, and runners with so many seats each. */
world *world_new(unsigned callers, unsigned runners, unsigned seats);
void world_free(world *w);

void runner_start(world *w, unsigned r);
/* kill -9. */
void runner_kill(world *w, unsigned r);
void caller_kill(world *w, unsigned c);

/* All that happens at this moment, and in the next ms milliseconds. */
void world_settle(world *w);
void world_pass(world *w, unsigned ms);

/* A call. */
void call_begin(world *w, leased *k, unsigned caller, const char *text);
/* One of len bytes, in which the text is followed by blanks. */
void call_begin_big(world *w, leased *k, unsigned caller, const char *text, size_t len);
bool call_is_over(const leased *k);
void call_end(leased *k); /* releases it */

#endif
