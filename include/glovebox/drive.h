/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_DRIVE_H
#define GLOVEBOX_DRIVE_H

/**
 * @file drive.h
 * A call driven by the caller's own event loop: gbx_execute() in steps that never block.
 *
 * Of the three ways to make a call this one wakes no thread of the library: what the
 * worker says, and what answers it, is handled on the thread that steps. Calls that ask
 * functions of the host many times are quicker by the changes of threads.
 *
 *     gbx_drive_new(engine, &call, &drive, &ticket, &error);
 *     // wait until gbx_drive_fd(drive) is readable, with poll, epoll, libuv, GLib ...
 *     result = gbx_drive_step(drive);   // NULL: not yet; wait again
 *     gbx_drive_free(drive);
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gbx_drive gbx_drive;

/**
 * Begin a call. Never blocks, but on a runner that is not the process one: there the call
 * has ended when this returns.
 *
 * @param engine     outlives the drive: free that first.
 * @param call       as for gbx_submit(): copied, or with GBX_CALL_LENT borrowed until
 *                   gbx_drive_step() has returned the result.
 * @param ret_drive  to be freed with gbx_drive_free(); untouched on failure.
 * @param ret_ticket for gbx_abort(); may be NULL.
 *
 * Callbacks of the call (log lines, functions of the host) come on the thread that is in
 * gbx_drive_step(), with no lock held; a function may be answered from any thread.
 */
GBX_API GBX_MUST_USE gbx_status gbx_drive_new(gbx_engine *engine, const gbx_call *call,
                                              gbx_drive **ret_drive,
                                              gbx_ticket *ret_ticket,
                                              gbx_error *reterr);

/** A descriptor that is readable when there is something to do, a deadline included.
 *  The same all the time; owned by the drive; for waiting only. */
GBX_API int gbx_drive_fd(const gbx_drive *drive);

/**
 * Do what can be done without blocking; one thread at a time.
 *
 * @return the result, once, to be freed with gbx_result_free(); NULL: not over, or over
 *         and returned before.
 */
GBX_API GBX_MUST_USE gbx_result *gbx_drive_step(gbx_drive *drive);

/**
 * After a step that returned NULL: does the worker run, or wait for one answer at most, while no
 * other call of the engine is under way? Then thread and worker take turns, and are better off on
 * one processor: the worker is woken on that of the thread that steps, as is. A loop that has
 * nothing else to do wins as much again if it stays there while it waits.
 */
GBX_API int gbx_drive_takes_turns(const gbx_drive *drive);

/** End the call, if it has not ended, and forget it. Not from one of its callbacks.
 *  NULL is ignored. */
GBX_API void gbx_drive_free(gbx_drive *drive);

#ifdef __cplusplus
}
#endif

#endif
