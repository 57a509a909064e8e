/* SPDX-License-Identifier: MIT */
/*
 * servers - upstream servers for a test: a configuration made by hand, and calls that wait
 * for their answer. Everything that was started has a mark and is gone at the end.
 */
#ifndef GBX_TESTS_SERVERS_H
#define GBX_TESTS_SERVERS_H

#include "mcp/upstream/upstream.h"

#include <stdio.h>

#define SERVERS_MAX 8

typedef struct servers {
    gbx_mcp_loop *loop;
    gbx_mcp_config config;
    gbx_mcp_upstream_config list[SERVERS_MAX];
    gbx_upstreams *all;
    char mark[64];
    gbx_gate_hint hint; /* of the calls that follow */
    unsigned changes;   /* how often tools_changed was called */
    unsigned log_lines;
    char last_log[512];
    FILE *background[SERVERS_MAX]; /* their standard input */
    size_t background_count;
    char urls[SERVERS_MAX][128];
} servers;

/* What an answer was. */
typedef struct answer {
    servers *of;
    gbx_upstream_call call;
    bool is_there;
    gbx_upstream_fault fault;
    bool is_retryable;
    int code;
    char message[2048];
    char *result; /* JSON, or NULL; free() it */
    size_t result_len;
    char progress[512]; /* the messages, each with a comma after it */
} answer;

/* cmocka's set-up and tear-down; *state is a servers. The tear-down fails if anything that
 * was started is left. */
int servers_set_up(void **state);
int servers_tear_down(void **state);

/* Add a server before servers_start(): node runs script with these words, blanks between
 * them. The configuration may be changed until then. */
gbx_mcp_upstream_config *servers_add(servers *s, const char *name, const char *script,
                                     const char *words);
/* The same with any command. */
gbx_mcp_upstream_config *servers_add_command(servers *s, const char *name,
                                             const char *command, const char *words);
/* A server that runs by itself, sdk-servers.mjs with these words, and is asked at the
 * address that it prints. */
gbx_mcp_upstream_config *servers_add_address(servers *s, const char *name,
                                             gbx_mcp_transport transport,
                                             const char *words);
/* The same, at an address of the caller's. */
gbx_mcp_upstream_config *servers_add_url(servers *s, const char *name,
                                         gbx_mcp_transport transport, const char *url);
void servers_start(servers *s);

/* The server that misbehaves as told; see bad-upstream.mjs. */
gbx_mcp_upstream_config *servers_add_bad(servers *s, const char *name,
                                         const char *words);

/* Call and wait. args is JSON. */
void servers_call(servers *s, const char *server, const char *tool, const char *args,
                  answer *ret);
/* Call; it is answered by and by. What is given must live as long. */
void servers_begin(servers *s, const char *server, const char *tool, const char *args,
                   answer *ret);
void servers_wait(servers *s, const answer *a);
void servers_turn(servers *s, unsigned ms); /* let the loop run so long */

/* The text of the first content of the answer, in a buffer of the caller's. */
void answer_text(const answer *a, char *text, size_t size);
void answer_cleanup(answer *a);

/* Call, expect success, compare the text, clean up. */
void servers_expect(servers *s, const char *server, const char *tool, const char *args,
                    const char *text);
/* Call, expect this fault; the message holds these words. */
void servers_expect_fault(servers *s, const char *server, const char *tool,
                          const char *args, gbx_upstream_fault fault,
                          const char *words);

/* One server alone, "bad", that misbehaves as told. */
void bad_start(servers *s, const char *words);

#endif
