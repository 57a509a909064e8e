/* SPDX-License-Identifier: MIT */
/*
 * realm - the JavaScript environment of one call. Only this folder uses the engine.
 *
 * A process has one realm at a time, with one context, on one thread. It is made and
 * locked down in the template, before any byte of a call is known. It runs at most one
 * call, in a fork.
 *
 * Guest code can write any text but cannot choose a gbx_failure: the failing step of
 * this C code determines it. All text that leaves is UTF-8 and cut to the limits of
 * wire/messages.h.
 */
#ifndef GBX_REALM_REALM_H
#define GBX_REALM_REALM_H

#include "base/cleanup.h"
#include "wire/messages.h"

/* ---- interpose.c: threads ----------------------------------------------- */

/* Call before the engine is used: stops its allocator from starting a thread. */
void gbx_realm_forbid_threads(void);

typedef struct gbx_realm gbx_realm;

/* Functions that a running call needs from the process around it. All run on the one
 * thread. */
typedef struct gbx_realm_host {
    void *user;
    /* One console line, or a piece of one longer than GBX_LOG_LINE_MAX. */
    void (*log)(void *user, const gbx_msg_log *line);
    /* Wait for at most ms milliseconds: no job can run before. Does not return if the
     * host has disconnected. */
    void (*wait)(void *user, uint32_t ms);
    /* Milliseconds of a monotonic clock. */
    double (*now_ms)(void *user);
    /* The code calls a function of the host; msg is borrowed until return. NULL: the
     * host has no functions to call. Answers come during wait(), by
     * gbx_realm_answer(). */
    void (*request)(void *user, const gbx_msg_hostcall *msg);
    void (*cancel)(void *user, uint32_t id);
    /* A limit refused a call: GBX_LIMITED_*, each reported once. NULL: not reported. */
    void (*limited)(void *user, uint8_t limit);
} gbx_realm_host;

/* How the call ended; exactly one of the two is filled. Owned by the realm. */
typedef struct gbx_realm_outcome {
    bool ok;
    gbx_msg_result result;
    gbx_msg_error error;
} gbx_realm_outcome;

/* ---- in the template ----------------------------------------------------- */

/* One script of the host; everything but the last three fields is borrowed. */
typedef struct gbx_realm_preload {
    gbx_span name;
    gbx_span source; /* UTF-8 */
    bool failed;     /* set by gbx_realm_new(): it threw, or does not compile */
    uint32_t line;   /* where, from 1; 0: unknown */
    uint32_t column;
} gbx_realm_preload;

/* Options for making a realm. */
typedef struct gbx_realm_setup {
    unsigned globals;            /* gbx_globals */
    uint32_t capabilities;       /* gbx_capability bits besides console and timers */
    gbx_span functions;          /* names of the host's functions, a line each */
    gbx_realm_preload *preloads; /* run in this order, before the lockdown is done */
    size_t preload_count;
    void (*on_preload)(void *user, size_t index); /* before each one runs; may be
                                                     NULL */
    void *user;
} gbx_realm_setup;

/* Create the VM, the context, and the parts that do not depend on a setup. NULL with a
 * reason if the engine is not the one that this program was built for; the reason is
 * valid until the next call. */
gbx_realm *gbx_realm_begin(const char **ret_reason);

/* Add what the setup asks for, and lock the realm down. Call once. */
bool gbx_realm_complete(gbx_realm *realm, const gbx_realm_setup *setup,
                        const char **ret_reason);

/* gbx_realm_begin() and gbx_realm_complete() in one call. */
gbx_realm *gbx_realm_new(const gbx_realm_setup *setup, const char **ret_reason);

/* Add a function of the host, "query" or "db.query". False if the name is in use. */
bool gbx_realm_expose(gbx_realm *realm, gbx_span name);

typedef struct gbx_realm_data {
    gbx_span name;
    gbx_span text;
    unsigned format; /* gbx_data_format bits */
} gbx_realm_data;

/* Why a text is refused, and where; line 0: unknown. */
typedef struct gbx_realm_fault {
    uint32_t line;
    uint32_t column;
    char message[192];
} gbx_realm_fault;

/* Parse text and keep it as datasets.NAME. False with the fault if it is not valid. */
bool gbx_realm_load(gbx_realm *realm, const gbx_realm_data *data,
                    gbx_realm_fault *ret_fault);

/* Run what every call runs, so that no fork pays for it. how_much: 0 is the least; 1
 * adds dates, Intl, regular expressions, sorting and errors. Call before or after the
 * realm is complete. */
void gbx_realm_warm(gbx_realm *realm, int how_much);

/* The same for the parts that the setup added: capabilities and preloads. */
void gbx_realm_warm_own(gbx_realm *realm, int how_much);

/* Collect garbage, and prepare the allocator's next free blocks. Call after loading. */
void gbx_realm_settle(gbx_realm *realm, int how_much);

/* "JavaScriptCore 2.50.6 of 2026-06-30": version and build date of the library. The
 * first call reads files. */
const char *gbx_realm_engine(void);

/* True if the engine's genuine out-of-memory error can be distinguished from a
 * forged one. */
bool gbx_realm_knows_oom(const gbx_realm *realm);

/* True if garbage that the engine does not count is collected before it fills the
 * memory limit. */
bool gbx_realm_collects_garbage(void);

/* ---- in the worker -------------------------------------------------------- */

/* After the fork, before READY: a tiny run that proves that engine and seal work. */
bool gbx_realm_prove(gbx_realm *realm);

/* The same, after running the function that a preload has left to be run before a
 * call. */
bool gbx_realm_prepare(gbx_realm *realm);

/* Run all that a worker runs before a call, and more. For the template, and for its
 * children that observe which pages are written: workers get those from the start. */
bool gbx_realm_rehearse(gbx_realm *realm);

/* An input of this size or more must be followed by a NUL in the same mapping: the
 * engine needs text in that form, and a copy would cost as much memory as the text. */
#define GBX_REALM_LARGE_INPUT GBX_KIB(64)

/* Stop using the free blocks of the template's slabs. New cells then get new memory,
 * where a part of a huge page costs less than one page of the template's. */
void gbx_realm_leave_slabs(void);

/* Set how many more bytes the process may allocate: garbage is collected before they
 * are used up. */
void gbx_realm_limit_memory(uint64_t bytes);

/* Run the call to its end: compile, call, drain jobs and timers, serialise. What
 * call points to is borrowed until return; what *ret points to belongs to the realm. */
void gbx_realm_run(gbx_realm *realm, const gbx_msg_call *call,
                   const gbx_realm_host *host, gbx_realm_outcome *ret);

/* Deliver the host's answer to a request; only from inside wait(). Runs the code's
 * reactions. */
void gbx_realm_answer(gbx_realm *realm, const gbx_msg_answer *msg);

/* True once the kernel has refused memory to the allocator (realm/interpose.c). At the
 * first refusal, notify is called, once: it must not allocate. gbx_realm_on_refusal()
 * forgets earlier refusals. The program itself must link the realm: the engine does not
 * see an allocator or a clock in a shared library. */
void gbx_realm_on_refusal(void (*notify)(void *user), void *user);
bool gbx_realm_was_refused(void);

/* ---- the end ------------------------------------------------------------ */

/* For a realm that is not the process's last, as in the memory runner. */

/* End the VM and everything in it; gbx_realm_new() may then make another. A worker
 * never does this: it ends with its process. NULL is ignored. */
void gbx_realm_free(gbx_realm *realm);

#endif
