/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_HOST_H
#define GLOVEBOX_HOST_H

/**
 * @file host.h
 * Functions of the host that code in the box may call.
 *
 * The general pattern of use:
 *   1. expose functions with gbx_engine_expose(), before the calls that use them;
 *   2. in the function, look at the arguments as at any input of a stranger;
 *   3. answer with gbx_answer() or gbx_answer_error(), at once or later, from any
 *      thread.
 *
 * In the box each is an async function: `await db.query('...')`. Its arguments arrive
 * as one JSON array; its answer is one JSON value. What JSON cannot hold is refused on
 * either side, a function wherever it stands; what is left of other values is what is left
 * of a result's (NaN and undefined are null). How many calls, how many at once and how many bytes each
 * way is bounded by gbx_limits.
 *
 * A request is named by a number: an answer that comes twice, after the call has ended
 * or after its worker has died finds nobody, and does no harm.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Names one request of code in the box; never reused within an engine; 0 is none. */
typedef uint64_t gbx_request;

/** One request; all pointers are borrowed until the function returns. */
typedef struct gbx_host_call {
    gbx_request request; /**< for the answer */
    gbx_ticket call;     /**< the call it belongs to */
    const char *name;    /**< as it was exposed */
    const char *args;    /**< a JSON array, valid UTF-8, ends in NUL: hostile */
    size_t args_len;     /**< bytes, without the NUL */
} gbx_host_call;

/**
 * A function of the host. Called on the thread that drives the call (gbx_execute():
 * the caller's; gbx_submit(): the engine's), with no lock held. Must not block for
 * long: the call's clock runs, and with gbx_submit() every other call waits. What takes
 * time is answered later, from another thread. May answer at once; may submit and
 * abort; must not execute on, expose to or free the same engine.
 */
typedef void (*gbx_host_fn)(void *user, gbx_engine *engine, const gbx_host_call *call);

/**
 * Let code call a function of the host. Every call that starts later has it, if its
 * policy allows the name. Blocks until the template has it.
 *
 * @param name one or more identifiers with dots between, "query" or "db.query", at most
 *             128 bytes; copied. A name that the language or another function has is
 *             refused, and so is "db" beside "db.query".
 * @param fn   never NULL; stays until the engine is freed.
 * @param user passed to @p fn; borrowed until the engine is freed.
 * @retval GBX_E_USAGE       the name is no name, or taken.
 * @retval GBX_E_UNSUPPORTED the engine's runner has no functions of the host.
 * @retval GBX_E_CLOSED      no template serves, or the engine is being freed.
 */
GBX_API GBX_MUST_USE gbx_status gbx_engine_expose(gbx_engine *engine, const char *name,
                                                  gbx_host_fn fn, void *user,
                                                  gbx_error *reterr);

/**
 * Answer a request with a value. From any thread, also from inside the function, at
 * most once: the second answer finds nobody. The engine must not have been freed.
 *
 * @param json     one JSON value, copied; NULL: undefined.
 * @param json_len bytes.
 * @retval GBX_E_CLOSED nobody waits: answered before, or the call has ended.
 * @retval GBX_E_DATA   not JSON; the code was given an error instead.
 */
GBX_API GBX_MUST_USE gbx_status gbx_answer(gbx_engine *engine, gbx_request request,
                                           const char *json, size_t json_len,
                                           gbx_error *reterr);

/**
 * Answer a request with an error: in the box the promise is rejected with an Error.
 *
 * @param name    "TypeError", "RangeError" and the like make one of that class; any
 *                other is the error's name; NULL: "Error". At most 255 bytes are used.
 * @param message for who must repair the code; UTF-8; NULL: "". At most 8191 bytes.
 * @param code    becomes error.code, "ENOENT" and the like; NULL: none. At most 255.
 * @retval GBX_E_CLOSED nobody waits: answered before, or the call has ended.
 */
GBX_API GBX_MUST_USE gbx_status gbx_answer_error(gbx_engine *engine,
                                                 gbx_request request, const char *name,
                                                 const char *message, const char *code,
                                                 gbx_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
