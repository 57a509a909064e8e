/* SPDX-License-Identifier: MIT */
/*
 * upstream - rounds of 20 calls of `echo`, one after the other and all at once, by the
 * client to upstream servers alone: glovebox-upstream-bench ROUNDS COMMAND [ARGUMENT...]
 * prints {"sequential": [ms, ...], "parallel": [ms, ...]}.
 */
#include "mcp/upstream/upstream.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 20

typedef struct bench {
    gbx_mcp_loop *loop;
    gbx_upstreams *all;
    gbx_upstream_id *server;
    gbx_upstream_call calls[CALLS];
    unsigned answered;
    unsigned failed;
} bench;

static void on_done(void *user, const gbx_upstream_reply *reply)
{
    bench *b = user;

    b->answered++;
    b->failed += reply->fault != GBX_UPSTREAM_OK;
    (void)event_base_loopbreak(gbx_mcp_loop_base(b->loop));
}

static void begin(bench *b, gbx_upstream_call *call)
{
    static const char args[] = "{\"message\":\"hello\"}";

    *call = (gbx_upstream_call){.server = b->server,
                                .tool = "echo",
                                .args = {args, sizeof args - 1},
                                .done = on_done,
                                .user = b};
    gbx_upstream_start(b->all, call);
}

static void wait_for(bench *b, unsigned answers)
{
    while (b->answered < answers)
        (void)event_base_loop(gbx_mcp_loop_base(b->loop), EVLOOP_ONCE);
}

/* Milliseconds for 20 calls, so many at once. */
static double round_of(bench *b, unsigned at_once)
{
    int64_t start_ns = gbx_clock_now_ns();
    unsigned before = b->answered;

    for (unsigned i = 0; i < CALLS; i += at_once) {
        for (unsigned j = 0; j < at_once; j++)
            begin(b, &b->calls[j]);
        wait_for(b, before + i + at_once);
    }
    return (double)(gbx_clock_now_ns() - start_ns) / (double)GBX_NS_PER_MS;
}

static void print_rounds(bench *b, const char *name, unsigned at_once, long rounds)
{
    printf("\"%s\":[", name);
    for (long i = 0; i < rounds; i++)
        printf("%s%.3f", i > 0 ? "," : "", round_of(b, at_once));
    printf("]");
}

int main(int argc, char **argv)
{
    char name[] = "server";
    gbx_mcp_upstream_config server = {.name = name, .calls_at_once = CALLS};
    gbx_mcp_config config = {.servers = &server, .server_count = 1};
    bench b = {0};
    long rounds;

    if (argc < 3) {
        (void)fprintf(stderr, "usage: %s ROUNDS COMMAND [ARGUMENT...]\n", argv[0]);
        return 64;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    rounds = strtol(argv[1], NULL, 10);
    server.command = argv[2];
    server.args = argv + 3;
    server.arg_count = (size_t)argc - 3;
    b.loop = gbx_mcp_loop_new();
    if (b.loop == NULL)
        return 71;
    b.server = &server;
    b.all = gbx_upstreams_new(b.loop, &config, NULL);
    (void)round_of(&b, 1); /* the server's start, and its compiler's warming up */
    (void)round_of(&b, 1);
    printf("{");
    print_rounds(&b, "sequential", 1, rounds);
    printf(",");
    print_rounds(&b, "parallel", CALLS, rounds);
    printf("}\n");
    gbx_upstreams_free(b.all);
    gbx_mcp_loop_free(b.loop);
    return b.failed == 0 ? 0 : 1;
}
