/* SPDX-License-Identifier: MIT */
/* fail - see fail.h. */
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0))) static void fill(gbx_error *reterr,
                                                       gbx_status status,
                                                       const char *format, va_list args)
{
    int e = errno;

    if (reterr != NULL) {
        *reterr = (gbx_error){.status = status, .os_errno = status == GBX_E_OS ? e : 0};
        (void)vsnprintf(reterr->message, sizeof reterr->message, format, args);
    }
    errno = e;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_fail(gbx_error *reterr, gbx_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(reterr, status, format, args);
    va_end(args);
    return status;
}

gbx_status gbx_fail_at(gbx_error *reterr, gbx_status status, uint32_t line,
                       uint32_t column, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(reterr, status, format, args);
    va_end(args);
    if (reterr != NULL) {
        reterr->line = line;
        reterr->column = column;
    }
    return status;
}

const char *gbx_fail_reason(int error)
{
    switch (error) {
    case ENOENT: return "there is no such file";
    case EACCES: return "no permission";
    case EISDIR: return "it is a directory";
    default: return strerror(error);
    }
}
