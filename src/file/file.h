/* SPDX-License-Identifier: MIT */
/*
 * file - read one regular file below a listed directory, for sandboxed code.
 *
 * The kernel checks a path while it walks it (openat2, beneath the directory's own
 * descriptor, through no symbolic link and no mount). The type of the file is checked
 * on the descriptor that is then read. No path is checked first and used later, so
 * nothing can be changed in between.
 *
 * It may block on a slow disk: an I/O thread calls it. Any thread; the policy is only
 * read.
 */
#ifndef GBX_FILE_FILE_H
#define GBX_FILE_FILE_H

#include "base/buf.h"
#include "policy/policy.h"
#include "wire/messages.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- io_thread.c --------------------------------------------------------- */

/*
 * The one thread of an engine that may block on a file.
 *
 * Reading a regular file can wait for a disk indefinitely, and no event shows when it
 * would not. Such jobs run here, one after the other, in the order of submission, so
 * that the supervisor's loop never waits.
 *
 * The first job starts the thread; it receives no signal. A job that never ends (a file
 * on a server that is down) holds up the jobs behind it and the stop: the supervisor,
 * not this thread, enforces each call's deadline.
 */

typedef struct gbx_io gbx_io;

/* Exactly one of the two functions is called, once, with user: run on the I/O
 * thread, or, if the stop came first, drop on the thread that stops. Both may call
 * any function of the program except gbx_io_stop(). */
typedef struct gbx_io_job {
    void (*run)(void *user);
    void (*drop)(void *user);
    void *user;
} gbx_io_job;

/* Room for queue_max waiting jobs; starts no thread yet. NULL if memory is out. */
gbx_io *gbx_io_start(size_t queue_max);

/* Any thread. False if the queue is full, the thread cannot be started now or a stop
 * has begun: then neither function is ever called. Copies job. */
bool gbx_io_submit(gbx_io *io, const gbx_io_job *job);

/* Wait for the running job, drop the waiting ones, free io. Called by one thread,
 * once; after that no other may use io. NULL is ignored. */
void gbx_io_stop(gbx_io *io);

/* ---- path.c -------------------------------------------------------------- */

/*
 * Turns the path that the code wrote into the names to try below a directory.
 *
 * Text only: nothing here looks at a file or protects anything. A name that leads out
 * of the directory is passed on unchanged, for the kernel to refuse.
 */

/* Extract the path from `[path]`; it ends in NUL and contains no other. NULL, or the
 * fault: a constant text, and the code of the error. */
typedef struct gbx_path_fault {
    const char *name; /* "TypeError" */
    const char *code;
    const char *text;
} gbx_path_fault;

const gbx_path_fault *gbx_path_from_args(gbx_span args_json, gbx_buf *path);

/* The names for a path below one directory, in the order in which to try them; NULL
 * if not applicable. */
typedef struct gbx_path_names {
    const char *named; /* the path begins with the policy's name for the directory:
                          the rest of it, or "." */
    const char *whole; /* the unchanged path, unless that is the same */
} gbx_path_names;

/*
 * ret borrows from path. Components are compared one by one. "." and repeated slashes
 * are ignored, ".." is a component like any other, and nothing is normalised: names are
 * bytes.
 */
void gbx_path_below(const char *path, const char *root_name, gbx_path_names *ret);

/* ---- file.c -------------------------------------------------------------- */

/*
 * Read a file. args_json is what the worker sent, `[path]`: hostile, read only as a
 * string (docs/internals/files.md has the rule that maps it to a file). bytes need not
 * be set up; clean it up afterwards. ret (except its id) is always filled and borrows
 * from bytes: the contents, or an error with name, code and message.
 *
 * wide is the policy that the call's policy narrows, or NULL. Files that it keeps
 * private are not readable through the narrower one either.
 *
 * Everything outside the listed directories gets the same answer and text in the same
 * time, whether it exists or not: it is never looked at.
 */
void gbx_file_read(const gbx_policy *policy, const gbx_policy *wide, gbx_span args_json,
                   gbx_buf *bytes, gbx_msg_answer *ret);

#endif
