/* SPDX-License-Identifier: MIT */
/*
 * realm - the JavaScript world of one call. The only folder that knows the engine.
 *
 * One realm a process, one context ever, one thread ever. Made and locked down in
 * the template, before any byte of a call is known; run at most once, in a fork.
 *
 * Guest code can write any text but cannot choose a gbx_failure: that is decided by
 * which step of this C code failed. All text that leaves is UTF-8 and cut to the
 * limits of wire/messages.h.
 */
#ifndef GBX_REALM_REALM_H
#define GBX_REALM_REALM_H

#include "base/cleanup.h"
#include "wire/messages.h"

/* ---- threads.c ----------------------------------------------------------- */

/* There is one, and there will be no other. */

/* Before the engine is touched: tell its allocator to start no thread of its own. */
void gbx_realm_forbid_threads(void);

typedef struct gbx_realm gbx_realm;

/* What a running call asks of the process around it. All run on the one thread. */
typedef struct gbx_realm_host {
    void *user;
    /* One console line, or a piece of one longer than GBX_LOG_LINE_MAX. */
    void (*log)(void *user, const gbx_msg_log *line);
    /* Nothing can run for ms milliseconds: come back then. Does not return if the
     * host has gone. */
    void (*wait)(void *user, uint32_t ms);
    /* Milliseconds on a clock that only goes forward. */
    double (*now_ms)(void *user);
    /* The code calls a function of the host; msg is borrowed until return. NULL:
     * there are none. Answers come during wait(), by gbx_realm_answer(). */
    void (*request)(void *user, const gbx_msg_hostcall *msg);
    void (*cancel)(void *user, uint32_t id);
    /* A limit kept a call back: GBX_LIMITED_*, each once. NULL: nobody asks. */
    void (*limited)(void *user, uint8_t limit);
} gbx_realm_host;

/* How the call ended; exactly one of the two is filled. Owned by the realm. */
typedef struct gbx_realm_outcome {
    bool ok;
    gbx_msg_result result;
    gbx_msg_error error;
} gbx_realm_outcome;

/* ---- in the template ----------------------------------------------------- */

/* One script of the host's own; all but the last three is borrowed. */
typedef struct gbx_realm_preload {
    gbx_span name;
    gbx_span source; /* UTF-8 */
    bool failed;     /* set by gbx_realm_new(): it threw, or does not compile */
    uint32_t line;   /* where, from 1; 0: unknown */
    uint32_t column;
} gbx_realm_preload;

/* What a realm is made with. */
typedef struct gbx_realm_setup {
    unsigned globals;            /* gbx_globals */
    uint32_t capabilities;       /* gbx_capability bits beside console and timers */
    gbx_span functions;          /* names of the host's functions, a line each */
    gbx_realm_preload *preloads; /* run in this order, before the lockdown is done */
    size_t preload_count;
    void (*on_preload)(void *user, size_t index); /* about to run it; may be NULL */
    void *user;
} gbx_realm_setup;

/* Create the VM and the context, and what all engines have. NULL with a reason if the
 * engine is not what this program was built for; it lives until the next call. */
gbx_realm *gbx_realm_begin(const char **ret_reason);

/* Add what one engine has, and lock the realm down. Once. */
bool gbx_realm_complete(gbx_realm *realm, const gbx_realm_setup *setup,
                        const char **ret_reason);

/* Both. */
gbx_realm *gbx_realm_new(const gbx_realm_setup *setup, const char **ret_reason);

/* One more function of the host, "query" or "db.query". False if the name is taken. */
bool gbx_realm_expose(gbx_realm *realm, gbx_span name);

/* Parse JSON and keep it as datasets.NAME. False with a reason (UTF-8, ends in NUL,
 * at most reason_size bytes) if it is not JSON. */
bool gbx_realm_load(gbx_realm *realm, gbx_span name, gbx_span json, char *reason,
                    size_t reason_size);

/* Touch what every call touches, so that no fork pays for it: how_much 0 the least,
 * 1 dates, Intl, regular expressions, sorting, errors too. Before or after it is
 * complete. */
void gbx_realm_warm(gbx_realm *realm, int how_much);

/* The same of what one engine has: capabilities and preloads. */
void gbx_realm_warm_own(gbx_realm *realm, int how_much);

/* Collect, and take the places that the next allocations need: after what was loaded. */
void gbx_realm_settle(gbx_realm *realm, int how_much);

/* Of a realm that was settled before it was complete. */
void gbx_realm_settle_again(gbx_realm *realm);

/* "JavaScriptCore 2.50.6" and the like. */
const char *gbx_realm_engine(void);

/* True if the engine's own out-of-memory error can be told from a forged one. */
bool gbx_realm_knows_oom(const gbx_realm *realm);

/* True if garbage that the engine does not count is collected before it fills the memory
 * limit. */
bool gbx_realm_collects_garbage(void);

/* ---- in the worker -------------------------------------------------------- */

/* After the fork, before READY: one tiny evaluation that proves engine and seal. */
bool gbx_realm_prove(gbx_realm *realm);

/* The same, and what a preload has left to be run before a call. */
bool gbx_realm_prepare(gbx_realm *realm);

/* More than that, and what a preload has left to be run before a call. In the template, and
 * in children of it that look at what it writes: workers have those pages from the start. */
bool gbx_realm_rehearse(gbx_realm *realm);

/* The same, and what calls over many records do. */
bool gbx_realm_rehearse_more(gbx_realm *realm);

/* From this size on an input must be followed by a NUL in the same mapping: the engine
 * wants its text so, and a copy would cost as much memory as the text. */
#define GBX_REALM_LARGE_INPUT GBX_KIB(64)

/* The process may allocate so many bytes more: garbage is collected before it fills them. */
void gbx_realm_limit_memory(uint64_t bytes);

/* Run the call to its end: compile, call, drain jobs and timers, serialise. What call
 * points to is borrowed until return, what *ret points to is the realm's. */
void gbx_realm_run(gbx_realm *realm, const gbx_msg_call *call,
                   const gbx_realm_host *host, gbx_realm_outcome *ret);

/* The host's answer to a request; only from inside wait(). Runs the code's reactions. */
void gbx_realm_answer(gbx_realm *realm, const gbx_msg_answer *msg);

/* Set when the allocator was refused memory by the kernel (realm/refusal.c); on the
 * first time, once, notify is called: it must not allocate. Refusals before the call
 * of gbx_realm_on_refusal() are forgotten. The program itself must link the realm:
 * from a shared library neither the allocator nor the clock is seen by the engine. */
void gbx_realm_on_refusal(void (*notify)(void *user), void *user);
bool gbx_realm_was_refused(void);

/* ---- free.c -------------------------------------------------------------- */

/* A realm that is not the process's last: only the memory runner has such. */

/* End the VM and everything in it; gbx_realm_new() may then make another. A worker
 * never does this: its end is its process's. NULL is ignored. */
void gbx_realm_free(gbx_realm *realm);

#endif
