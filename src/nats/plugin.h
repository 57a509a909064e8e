/* SPDX-License-Identifier: MIT */
/* plugin - a bus on NATS, and what libglovebox-runner-nats.so.0 exports, found by dlsym(). */
#ifndef GBX_NATS_PLUGIN_H
#define GBX_NATS_PLUGIN_H

#include "remote/remote.h"

#define GBX_NATS_LIBRARY "libglovebox-runner-nats.so.0"

/*
 * Connect; name is what the server shows of this connection. GBX_E_CLOSED: it cannot be
 * reached, or does not take us.
 *
 * The connection is made anew whenever it is lost, with the credentials that the files
 * then have. What is published in between is refused. url must live as long as the bus.
 */
gbx_status gbx_bus_nats_open(const gbx_remote_url *url, const char *name, gbx_bus **ret,
                             gbx_error *reterr);

/* Of the library that it was built with. Whoever loads another one refuses it. */
extern const char gbx_runner_version[];

/* The caller's side: options->runner_name is the whole address. */
gbx_status gbx_runner_open(const gbx_options *options, gbx_runner *ret,
                           gbx_error *reterr);

/* The runner's side: returns after stop_fd was readable, and all calls have ended. */
gbx_status gbx_runner_serve(const char *url, const gbx_server_options *options,
                            int stop_fd, gbx_error *reterr);

/* The answers of all runners within wait_ms, as a JSON array to be freed: see service.h. */
gbx_status gbx_runner_list(const char *url, uint32_t wait_ms, char **ret_json,
                           gbx_error *reterr);

#endif
