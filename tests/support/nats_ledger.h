/* SPDX-License-Identifier: MIT */
/*
 * nats_ledger - a file in which caller processes note what they see of their calls: a line for
 * each beginning, effect and answer. What was written stays, whoever is killed.
 */
#ifndef GBX_TESTS_NATS_LEDGER_H
#define GBX_TESTS_NATS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#define LEDGER_CALLERS 4096  /* processes: the most */
#define LEDGER_CALLS   65536 /* of one of them: the most */

/* A caller process: run calls on the runners at this address and note them. Returns its exit
 * status, 0 if all calls had an answer. */
int ledger_caller(const char *file, const char *address, unsigned caller,
                  unsigned calls);

typedef struct ledger_entry {
    unsigned char begun, effects, answers, code;
} ledger_entry;

typedef struct ledger {
    ledger_entry *entries[LEDGER_CALLERS]; /* LEDGER_CALLS of each, or NULL */
    bool has_ended[LEDGER_CALLERS];        /* with all its answers */
    unsigned begun[LEDGER_CALLERS];
    unsigned by_code[256];
    unsigned effects;
    size_t fds[2], rss_kib[2]; /* of caller 0 without calls: early, and at the end */
} ledger;

/* Asserts. */
void ledger_read(ledger *l, const char *file);
/* Asserts that no call had two effects, that all of callers that ended have one answer, and that
 * each answer is true. */
void ledger_check(const ledger *l);
void ledger_free(ledger *l);

#endif
