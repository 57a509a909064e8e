/* SPDX-License-Identifier: MIT */
/* fail - see fail.h. */
#include "base/fail.h"

#include "base/cleanup.h"

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

/* System calls that we need and that some Linux versions lack. */
static const struct call_age {
    const char *call;
    const char *since;
} call_ages[] = {
    {"close_range", GBX_LINUX_MIN},
    {"pidfd_open", "5.3"},
    {"pidfd_send_signal", "5.1"},
    {"seccomp", "3.17"},
};

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
    case ENOENT: return "no such file";
    case EACCES: return "no permission";
    case EISDIR: return "it is a directory";
    default: return strerror(error);
    }
}

const char *gbx_fail_call_reason(const char *call, int error,
                                 char to[GBX_CALL_REASON_SIZE])
{
    const char *since = NULL;

    /* Old seccomp profiles of containers return EPERM for a call that they do not know. */
    for (size_t i = 0; i < GBX_COUNTOF(call_ages); i++)
        if ((error == ENOSYS || error == EPERM) && strcmp(call_ages[i].call, call) == 0)
            since = call_ages[i].since;
    if (since != NULL)
        (void)snprintf(to, GBX_CALL_REASON_SIZE,
                       "%s: %s; it needs Linux %s or later, and no seccomp profile "
                       "that forbids it",
                       call, strerror(error), since);
    else
        (void)snprintf(to, GBX_CALL_REASON_SIZE, "%s: %s", call, strerror(error));
    return to;
}
