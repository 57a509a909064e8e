/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_HOST_H
#define GLOVEBOX_HOST_H

/**
 * @file host.h
 * Functions of the host that sandboxed code may call.
 *
 * The general pattern of use:
 *   1. expose functions with gbx_engine_expose(), before the calls that use them;
 *   2. in the function, treat the arguments like any untrusted input;
 *   3. answer with gbx_answer() or gbx_answer_error(), at once or later, from any
 *      thread.
 *
 * The code sees each function as async: `await db.query('...')`. The arguments arrive
 * as one JSON array; the answer is one JSON value. Values that JSON cannot hold are
 * refused in both directions, functions at any depth. Other values lose what they lose
 * in a result (NaN and undefined become null). gbx_limits bounds the number of calls,
 * the calls at once, and the bytes each way.
 *
 * A number identifies each request. A second answer, or one after the call has ended or
 * its worker has died, has no effect.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Identifies one request of sandboxed code; never reused within an engine; never 0. */
typedef uint64_t gbx_request;

/** One request; all pointers are borrowed until the function returns. */
typedef struct gbx_host_call {
    gbx_request request; /**< for the answer */
    gbx_ticket call;     /**< the call it belongs to */
    const char *name;    /**< as it was exposed */
    const char *args;    /**< a JSON array, valid UTF-8, ends in NUL: hostile */
    size_t args_len;     /**< bytes, without the NUL */
    const char *call_id; /**< the name of `call` in the security log */
} gbx_host_call;

/**
 * A function of the host. Called on the thread that drives the call (gbx_execute(): the
 * caller's; gbx_submit(): the engine's), with no lock held. Must not block for long:
 * the call's clock runs, and with gbx_submit() every other call waits. If the work
 * takes time, answer later, from another thread. May answer at once; may submit and
 * abort; must not execute on, expose to or free the same engine.
 */
typedef void (*gbx_host_fn)(void *user, gbx_engine *engine, const gbx_host_call *call);

/**
 * Let code call a function of the host. Every call that starts later has it, if its
 * policy allows the name. Blocks until the template has it.
 *
 * @param name one or more identifiers with dots between, "query" or "db.query", at most
 *             128 bytes; copied. A name that the language or another function uses is
 *             refused, and so is "db" next to "db.query".
 * @param fn   never NULL; must stay valid until the engine is freed.
 * @param user passed to @p fn; borrowed until the engine is freed.
 * @retval GBX_E_USAGE       the name is not valid, or already in use.
 * @retval GBX_E_UNSUPPORTED the engine's runner does not support host functions.
 * @retval GBX_E_CLOSED      no template serves, or the engine is being freed.
 */
GBX_API GBX_MUST_USE gbx_status gbx_engine_expose(gbx_engine *engine, const char *name,
                                                  gbx_host_fn fn, void *user,
                                                  gbx_error *reterr);

/**
 * Answer a request with a value. From any thread, also from inside the function, at
 * most once: a second answer has no effect. The engine must not have been freed.
 *
 * @param json     one JSON value, copied; NULL: undefined.
 * @param json_len bytes.
 * @retval GBX_E_CLOSED not waited for: answered before, or the call has ended.
 * @retval GBX_E_DATA   not JSON; the code was given an error instead.
 */
GBX_API GBX_MUST_USE gbx_status gbx_answer(gbx_engine *engine, gbx_request request,
                                           const char *json, size_t json_len,
                                           gbx_error *reterr);

/**
 * Answer a request with an error: the code's promise is rejected with an Error.
 *
 * @param name    "TypeError", "RangeError" and the like make one of that class; any
 *                other is the error's name; NULL: "Error". At most 255 bytes are used.
 * @param message for the code's author; UTF-8; NULL: "". At most 8191 bytes.
 * @param code    becomes error.code, "ENOENT" and the like; NULL: none. At most 255.
 * @retval GBX_E_CLOSED not waited for: answered before, or the call has ended.
 */
GBX_API GBX_MUST_USE gbx_status gbx_answer_error(gbx_engine *engine,
                                                 gbx_request request, const char *name,
                                                 const char *message, const char *code,
                                                 gbx_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
