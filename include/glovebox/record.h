/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_RECORD_H
#define GLOVEBOX_RECORD_H

/**
 * @file record.h
 * Record what a call did, and run the same call again.
 *
 * The general pattern of use:
 *   1. make a recording with gbx_recording_new(), give it to one call in
 *      gbx_call.record, and keep gbx_recording_text() once the call has ended;
 *   2. later, load the text with gbx_recording_load();
 *   3. start an engine for it with gbx_recording_engine(), load the same datasets;
 *   4. run a call that sets gbx_call.replay and at most its input, another time limit
 *      (limits.timeout_ms, limits.cpu_ms), a signal and a log callback. Everything else
 *      comes from the recording and is refused in the call;
 *   5. ask gbx_result_replay() whether it went as before.
 *
 * A recorded call has a seed and a fixed clock; both are fresh unless its caller chose
 * them. Otherwise it is an ordinary call.
 *
 * A replay reaches nothing: it calls no host function, reads no file and fetches
 * nothing. Every answer is the recorded one, given at the recorded point. The code runs
 * in a sealed worker like any other: a recording is input, from any source.
 *
 * A recording contains the code, its arguments, the values of env, every answer as the
 * code saw it, and the result. It contains no value of a secret: secrets are filled in
 * and removed on the host's side of the recording. docs/internals/recordings.md
 * describes every line.
 *
 * Threads: a recording belongs to its call until that has ended. After that, or once
 * loaded, any number of threads and calls may read it.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bits for gbx_recording_new(). */
typedef enum gbx_record_flag {
    GBX_RECORD_INPUT = 1, /**< keep the input too, not only its size and digest */
} gbx_record_flag;

/**
 * An empty recording for one call. NULL if memory is out or @p flags has an unknown
 * bit.
 *
 * A call with a recording that is not empty is refused. The text grows to 256 MiB at
 * most; what happens after that is not recorded.
 */
GBX_API gbx_recording *gbx_recording_new(uint32_t flags);

/** Not while a call uses it. NULL is ignored. */
GBX_API void gbx_recording_free(gbx_recording *recording);

/**
 * The recording as JSON, one object a line, in UTF-8, ending in NUL; "" until its call
 * has ended. Borrowed until gbx_recording_free(). @p ret_len may be NULL.
 */
GBX_API const char *gbx_recording_text(const gbx_recording *recording, size_t *ret_len);

/** 1 if the recording is complete; 0 if it grew too large, memory was out, or its
 *  call has not ended. An incomplete one can be replayed up to its end. */
GBX_API int gbx_recording_is_whole(const gbx_recording *recording);

/**
 * Load the text of a recording from any source: all of it is checked.
 *
 * @param text          copied.
 * @param ret_recording set on GBX_OK only; free with gbx_recording_free().
 * @retval GBX_E_DATA not a recording, or not one of this version; see line and column.
 */
GBX_API GBX_MUST_USE gbx_status gbx_recording_load(const char *text, size_t text_len,
                                                   gbx_recording **ret_recording,
                                                   gbx_error *reterr);

/**
 * Start an engine in which a recording can be replayed. Its code finds the recorded
 * globals, capabilities, functions and env, but nothing is behind them.
 *
 * Any other engine works too if it has the same globals and datasets and at least the
 * same capabilities and functions; the functions are not called.
 *
 * @param options as for gbx_engine_new(); NULL for all defaults. Limits that are zero
 *                are the recorded ones. capabilities, policy, globals and runner must
 *                be left alone: they come from the recording.
 */
GBX_API GBX_MUST_USE gbx_status gbx_recording_engine(const gbx_recording *recording,
                                                     const gbx_options *options,
                                                     gbx_engine **ret_engine,
                                                     gbx_error *reterr);

/** How a replay went. */
typedef enum gbx_replayed {
    GBX_REPLAYED_NOT = 0,        /**< the result is not from a replay */
    GBX_REPLAYED_SAME = 1,       /**< all host calls and the result, byte for byte */
    GBX_REPLAYED_UP_TO = 2,      /**< the same until the recorded call was stopped by
                                      its clock, its machine or its caller, which a
                                      replay cannot repeat; the result's code is the
                                      recorded one */
    GBX_REPLAYED_DIVERGED = 3,   /**< something differs; the result is DIVERGED */
    GBX_REPLAYED_UNFINISHED = 4, /**< the same, until the replay itself was stopped;
                                      the result's code says by what */
} gbx_replayed;

/** How a replay went, and where it first differed from the recording. All text is
 *  UTF-8, borrowed from the result, never NULL, and hostile. */
typedef struct gbx_replay {
    gbx_replayed how;
    uint32_t host_calls;  /**< number of those that went as recorded */
    uint32_t host_call;   /**< DIVERGED: the number, from 1, of the first host call
                               that differed; 0: not at a host call */
    uint32_t line;        /**< DIVERGED: of the recording, from 1; 0: none */
    const char *what;     /**< DIVERGED: what differs, in one line */
    const char *recorded; /**< DIVERGED: what was recorded, perhaps cut */
    const char *came;     /**< DIVERGED: what came in its place, perhaps cut */
    const char *recorded_engine; /**< the recording's JavaScript engine */
    const char *engine;          /**< the replay's */
    gbx_code recorded_code;      /**< how the recorded call ended */
} gbx_replay;

/** How the replay went that produced @p result. */
GBX_API gbx_replay gbx_result_replay(const gbx_result *result);

#ifdef __cplusplus
}
#endif

#endif
