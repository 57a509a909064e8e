/* SPDX-License-Identifier: MIT */
/*
 * loop_runner - a runner with leases whose other machine is this process: each lease is
 * a relay of a second engine. With LOOP_RUNNER in the environment, every engine of a
 * test that names no runner gets one, so that the test runs as it is over leases.
 */
#ifndef GBX_TESTS_LOOP_RUNNER_H
#define GBX_TESTS_LOOP_RUNNER_H

#include <glovebox/relay.h>

#define LOOP_MACHINE "next door"

/* A runner for gbx_options.runner; own: options of the engines behind it, or NULL. It is
 * freed with its engine, or by dispose(). Asserts. */
gbx_runner loop_runner_new(const gbx_options *own);

/* True if engines get one. */
int loop_runner_is_on(void);

/* The engine that the runner was made for. */
void loop_runner_is_of(const gbx_runner *runner, const gbx_engine *front);

/* The report of the engine behind this one of a test; of itself if there is none. *ret:
 * for gbx_string_free(). False if it has one and no call has needed it yet, or if there
 * is no report. */
int loop_runner_report(gbx_engine *front, char **ret);

#endif
