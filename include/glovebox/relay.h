/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_RELAY_H
#define GLOVEBOX_RELAY_H

/**
 * @file relay.h
 * The other half of a lease (runner.h): runs another machine's call in a worker of this
 * one. It believes nothing of what it is given: a call is checked against its limits,
 * and a worker's messages are checked before they are passed on.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One call of another machine. Not thread-safe: one function at a time. */
typedef struct gbx_relay gbx_relay;

/**
 * Make an engine for calls that need @p contents. It has their preloads, datasets, names
 * of functions and capabilities, and nothing behind them.
 *
 * @param own its other options: pool, worker program, log, and limits, which are the
 *            most that a call may ask for (0: the most there is). Globals, JIT,
 *            capabilities, policy and preloads come from the contents, and what they
 *            require is added.
 * @retval GBX_E_DATA the contents are not valid: message, line and column say where.
 * @retval GBX_E_USAGE they ask for more than @p own allows.
 */
GBX_API GBX_MUST_USE gbx_status gbx_relay_engine(const gbx_contents *contents,
                                                 const gbx_options *own,
                                                 gbx_engine **ret_engine,
                                                 gbx_error *reterr);

/**
 * Run a call. Never blocks. Step it at once, and whenever its descriptor is readable.
 *
 * @param frame  the call as the lease sent it; copied.
 * @param limits of this call; 0: the engine's.
 * @retval GBX_E_DATA it is not one whole call, or asks for more than its limits, or for
 *                    what the engine does not have.
 */
GBX_API GBX_MUST_USE gbx_status gbx_relay_new(gbx_engine *engine, const void *frame,
                                              size_t len, const gbx_limits *limits,
                                              gbx_relay **ret_relay, gbx_error *reterr);

/** Readable when gbx_relay_step() has something to do. */
GBX_API int gbx_relay_fd(const gbx_relay *relay);

/**
 * Do what can be done now; call it also after gbx_relay_feed(), gbx_relay_taken() and
 * gbx_relay_abort(). Never blocks.
 *
 * @param ret_data   bytes for the lease; valid until the next function.
 * @param ret_ending how the worker ended, and no more bytes follow these; or NULL.
 * @return their number. Until they are taken, the worker is held.
 */
GBX_API size_t gbx_relay_step(gbx_relay *relay, const void **ret_data,
                              const gbx_ending **ret_ending);

/** The first @p len of these bytes are with the lease. */
GBX_API void gbx_relay_taken(gbx_relay *relay, size_t len);

/**
 * Bytes for the worker; copied. After the call's end they are ignored. What no host
 * sends ends the call as BROKEN.
 *
 * @retval GBX_E_DATA they are more than the call's answers may be: abort it.
 */
GBX_API GBX_MUST_USE gbx_status gbx_relay_feed(gbx_relay *relay, const void *data,
                                               size_t len);

/** Kill the worker. The end comes with the next steps. */
GBX_API void gbx_relay_abort(gbx_relay *relay);

/** Ends the call if it has not ended. NULL is ignored. */
GBX_API void gbx_relay_free(gbx_relay *relay);

#ifdef __cplusplus
}
#endif

#endif
