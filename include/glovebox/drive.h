/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_DRIVE_H
#define GLOVEBOX_DRIVE_H

/**
 * @file drive.h
 * A call driven by the caller's own event loop: gbx_execute() in steps that never
 * block.
 *
 * This is the only one of the three ways to make a call that wakes no thread of the
 * library: the thread that steps handles the worker's messages and the answers to them.
 * That saves thread switches, so calls that often use host functions are faster.
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
 * Begin a call. Never blocks, except with a runner other than the process one: there
 * the call has ended when this returns.
 *
 * @param engine     must outlive the drive: free the drive first.
 * @param call       as for gbx_submit(): copied, or with GBX_CALL_LENT borrowed until
 *                   gbx_drive_step() has returned the result.
 * @param ret_drive  free it with gbx_drive_free(); untouched on failure.
 * @param ret_ticket for gbx_abort(); may be NULL.
 *
 * Callbacks of the call (log lines, host functions) run on the thread that is in
 * gbx_drive_step(), with no lock held. Any thread may answer a function.
 */
GBX_API GBX_MUST_USE gbx_status gbx_drive_new(gbx_engine *engine, const gbx_call *call,
                                              gbx_drive **ret_drive,
                                              gbx_ticket *ret_ticket,
                                              gbx_error *reterr);

/** A descriptor that is readable when there is something to do, a deadline included.
 *  It never changes; owned by the drive; for waiting only. */
GBX_API int gbx_drive_fd(const gbx_drive *drive);

/**
 * Do what can be done without blocking; one thread at a time.
 *
 * @return the result, once; free it with gbx_result_free(). NULL: the call has not
 *         ended, or its result was returned before.
 */
GBX_API GBX_MUST_USE gbx_result *gbx_drive_step(gbx_drive *drive);

/**
 * For use after a step that returned NULL. 1 if the worker runs or waits for at most
 * one answer, and no other call of the engine is under way: then thread and worker
 * alternate and should share a processor. The library already wakes the worker on the
 * processor of the stepping thread. A loop with nothing else to do gains as much again
 * if it stays on that processor while it waits.
 */
GBX_API int gbx_drive_takes_turns(const gbx_drive *drive);

/** End the call, if it has not ended, and free the drive. Not from one of its
 *  callbacks. NULL is ignored. */
GBX_API void gbx_drive_free(gbx_drive *drive);

#ifdef __cplusplus
}
#endif

#endif
