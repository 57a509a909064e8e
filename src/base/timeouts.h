/* SPDX-License-Identifier: MIT */
/*
 * timeouts - the table of all times to wait for processes and for servers, and between
 * retries. All are far longer than a loaded machine needs.
 *
 * Some tests link tests/support/scaled_timeouts.c: there GLOVEBOX_TIMEOUTS=20 in the
 * environment makes each a fifth. The product does not read that variable.
 */
#ifndef GBX_BASE_TIMEOUTS_H
#define GBX_BASE_TIMEOUTS_H

#include "base/clock.h"

#include <stdint.h>

/* XX(name, milliseconds, what is waited for) */
#define GBX_TIMEOUT_MAP(XX)                                                            \
    /* waits of the engine for its processes */                                        \
    XX(HELLO, 30000, "a template to load the engine and to say so")                    \
    XX(FORK, 15000, "a template to fork, or it hangs")                                 \
    XX(ZYGOTE, 2000, "a zygote that starts, or forks a template; then do without it")  \
    XX(ZYGOTE_RETRY, 1000, "a zygote after a failure; twice as long after each more")  \
    XX(ZYGOTE_IDLE, 10000, "the next template, until there is no zygote for it")       \
    XX(READY, 10000, "a forked worker to say that it is sealed")                       \
    XX(LOAD, 60000, "a template to parse a dataset")                                   \
    XX(END, 3000, "a template to report the end of a worker, which may free much")     \
    XX(CLOSED, 100,                                                                    \
       "the end of a worker that has closed its channel: it comes at once")            \
    XX(GROUP, 2000, "a killed control group to be empty")                              \
    XX(ATTACK_FRAME, 20000, "each answer in a session of attacks")                     \
    XX(ATTACK, 3000, "an attack: one that hangs has come to nothing")                  \
    /* waits between a caller and the runners of other machines */                     \
    XX(ASKED, 2000, "an answer to the question for a seat")                            \
    XX(MAKING, 10000, "the next part of the contents of an engine")                    \
    XX(SEAT, 10000, "a call, for the seat that it was given; longer if it is large")   \
    XX(BEAT, 500, "the next sign of life to the other side")                           \
    XX(PEER, 3000, "one from the other side")                                          \
    XX(NOBODY, 1000, "a runner, where nobody answers")                                 \
    /* waits of the client for MCP servers */                                          \
    XX(CHECK, 5000, "a ping, after a call that has taken too long")                    \
    XX(START_PLACE, 3000, "a start that others wait for to be over")                   \
    XX(START_LOOK, 500, "a place for a start, until it is looked for again")           \
    XX(RETRY, 500, "a start after the second failure; twice as long after each more")  \
    XX(OPEN, 30000, "a start after too many failures")                                 \
    XX(LIST, 250, "the next question for a list of tools")                             \
    XX(LISTEN, 5000, "a stream of changes that did not open; twice as long each time") \
    XX(LISTEN_MAX, 60000, "and no longer than this")                                   \
    XX(CONNECT, 10000, "a connection to a server")                                     \
    XX(STREAM, 3000, "a stream that has ended, unless the server says otherwise")      \
    XX(STREAM_MIN, 500, "and whatever it says")                                        \
    XX(STREAM_MAX, 60000, "twice as long each time that it does not open")             \
    XX(RESUME, 1000, "the rest of an answer, unless the server says otherwise")        \
    XX(RESUME_MIN, 500, "and whatever it says")                                        \
    XX(ASIDE, 5000, "a message that nobody waits for to be taken")                     \
    XX(SETTLE, 1000, "the message before the first that is answered")                  \
    XX(OAUTH, 30000, "an authorization server to answer")                              \
    XX(OAUTH_LOCK, 100, "another process that renews the same token")                  \
    XX(FAREWELL, 2000, "a DELETE that nobody waits for")                               \
    XX(REPORT, 2000, "word of the end of a server whose output has ended")             \
    XX(STDIO_END, 2000, "a server to end by itself, and again after SIGTERM")          \
    XX(LAST_END, 250, "each step of the end of all servers")                           \
    XX(LAST_FAREWELL, 200, "the last words to servers at an address")                  \
    XX(SPANS, 10000, "a collector of traces to take spans")                            \
    XX(LAST_SPANS, 150, "the same at our end")

typedef enum gbx_timeout {
#define XX(name, ms, what) GBX_TIMEOUT_##name,
    GBX_TIMEOUT_MAP(XX)
#undef XX
} gbx_timeout;

uint32_t gbx_timeout_ms(gbx_timeout timeout);

static inline int64_t gbx_timeout_ns(gbx_timeout timeout)
{
    return gbx_timeout_ms(timeout) * GBX_NS_PER_MS;
}

static inline struct timeval gbx_timeout_timeval(gbx_timeout timeout)
{
    return gbx_clock_timeval(gbx_timeout_ms(timeout));
}

#endif
