/* SPDX-License-Identifier: MIT */
/*
 * fail - the only way for a function to report a failure.
 *
 *     return gbx_fail(reterr, GBX_E_OS, "cannot open '%s'", path);
 *
 * Messages are lower case, one line, without punctuation at the end, and say what
 * was being attempted. Bytes that guest code chose never enter one unescaped.
 */
#ifndef GBX_BASE_FAIL_H
#define GBX_BASE_FAIL_H

#include <glovebox/glovebox.h>

/* Fill *reterr (if not NULL) with status, the current errno and a message; returns
 * status. errno is kept. */
gbx_status gbx_fail(gbx_error *reterr, gbx_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a position in the offending input. */
gbx_status gbx_fail_at(gbx_error *reterr, gbx_status status, uint32_t line,
                       uint32_t column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Why a file cannot be read, for messages: a constant, or the text of strerror(). */
const char *gbx_fail_reason(int error);

/* The oldest Linux that has everything that an engine and its processes need. */
#define GBX_LINUX_MIN "5.9"

#define GBX_CALL_REASON_SIZE 128

/* Why a system call failed: its name, the kernel's error and, if this kernel may lack
 * it or a container may forbid it, how to make it available. Returns `to`. */
const char *gbx_fail_call_reason(const char *call, int error,
                                 char to[GBX_CALL_REASON_SIZE]);

#endif
