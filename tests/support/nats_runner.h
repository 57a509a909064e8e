/* SPDX-License-Identifier: MIT */
/* nats_runner - `glovebox runner` as a process of the test. */
#ifndef GBX_TESTS_NATS_RUNNER_H
#define GBX_TESTS_NATS_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct nats_runner {
    pid_t pid;
    int status;       /* of wait(), after the end */
    char lister[512]; /* the address that sees it */
} nats_runner;

/* Start it with more options (words, separated by single spaces), and wait until it answers
 * to `glovebox runners`. Asserts. */
void nats_runner_start(nats_runner *runner, const char *address, const char *options);
/* The same, where another address may list runners. */
void nats_runner_start_as(nats_runner *runner, const char *address, const char *options,
                          const char *lister);
/* The same in other namespaces: options of unshare(1), which is what signals then reach. */
void nats_runner_start_in(nats_runner *runner, const char *address,
                          const char *namespace);
bool nats_runner_may_start_in(void);
void nats_runner_signal(nats_runner *runner, int signal);
/* Wait for its end. Asserts that it comes. */
void nats_runner_await_end(nats_runner *runner);
void nats_runner_stop(nats_runner *runner); /* by SIGKILL, if it still runs */

/* Run the command with these words, separated by single spaces; returns its exit status. What
 * it prints, on either stream, is in output. */
int glovebox_run(const char *words, char *output, size_t size);

#endif
