/* SPDX-License-Identifier: MIT */
/*
 * file - read one regular file below a listed directory, for code in the box.
 *
 * What a path may name is decided by the kernel while it walks (openat2, beneath the
 * directory's own descriptor, through no symbolic link and no mount), and what kind of
 * file it is by the descriptor that is then read. Nothing is decided by looking at a
 * path and using it later, so that nobody can change anything in between.
 *
 * It may block on a slow disk: an I/O thread calls it. Any thread; the policy is only
 * read.
 */
#ifndef GBX_FILE_FILE_H
#define GBX_FILE_FILE_H

#include "policy/policy.h"
#include "wire/messages.h"

/*
 * args_json is what the worker sent, `[path]`: hostile, taken as nothing but a string
 * (docs/internals/files.md has the one rule of how it maps to a file). bytes need not be
 * set up; clean it up afterwards. ret (its id is left alone) is always filled and borrows
 * from bytes: the contents, or an error with name, code and message.
 *
 * wide is the policy that the call's own narrows, or NULL: the files that it keeps for
 * itself are not read by way of a narrower one either.
 *
 * The time, the answer and its text are the same for everything outside of the listed
 * directories, whether it exists or not: none of it is looked at.
 */
void gbx_file_read(const gbx_policy *policy, const gbx_policy *wide, gbx_span args_json,
                   gbx_buf *bytes, gbx_msg_answer *ret);

#endif
