/* SPDX-License-Identifier: MIT */
/* fetch_error - see internal.h. */
#include "fetch/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *code;
    const char *error;
} faults[] = {{"", ""},
#define XX(name, code, error) {code, error},
              GBX_FAULT_MAP(XX)
#undef XX
};

/* ---- public to other modules -------------------------------------------- */

bool gbx_fault_set(gbx_fault *fault, gbx_fault_code code, const char *format, ...)
{
    va_list args;

    if (fault->code != GBX_FAULT_NONE)
        return false;
    fault->code = code;
    va_start(args, format);
    (void)vsnprintf(fault->message, sizeof fault->message, format, args);
    va_end(args);
    return false;
}

void gbx_fault_detail(gbx_fault *fault, const char *format, ...)
{
    va_list args;

    if (fault->detail[0] != '\0')
        return;
    va_start(args, format);
    (void)vsnprintf(fault->detail, sizeof fault->detail, format, args);
    va_end(args);
}

const char *gbx_fault_code_text(gbx_fault_code code)
{
    return faults[code].code;
}

const char *gbx_fault_error_name(gbx_fault_code code)
{
    return faults[code].error;
}

gbx_quoted gbx_fault_quote(const void *text, size_t len)
{
    gbx_quoted quoted = {.text = ""};
    const char *more;
    gbx_buf buf;

    /* An escape has up to ten bytes; one that does not fit is left out whole. */
    gbx_buf_init(&buf, sizeof quoted.text - sizeof "...");
    (void)gbx_utf8_append_escaped(&buf, text, len < 60 ? len : 60, GBX_ESCAPE_LINE);
    more = len > 60 || buf.failed ? "..." : "";
    if (buf.len > 0)
        memcpy(quoted.text, buf.data, buf.len);
    memcpy(quoted.text + buf.len, more, strlen(more) + 1);
    gbx_buf_cleanup(&buf);
    return quoted;
}
