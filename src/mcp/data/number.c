/* SPDX-License-Identifier: MIT */
/* number - see number.h. The locale is the C locale: the command sets no other. */
#include "mcp/data/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- public to other modules -------------------------------------------- */

bool gbx_number_put(gbx_buf *to, double value, int digits)
{
    char text[40];

    if (!isfinite(value))
        return gbx_buf_puts(to, "null");
    for (int n = digits < 15 ? digits : 15;; n++) {
        (void)snprintf(text, sizeof text, "%.*g", n, value);
        if (n >= digits || strtod(text, NULL) == value)
            return gbx_buf_puts(to, text);
    }
}

bool gbx_number_put_count(gbx_buf *to, uint64_t count)
{
    if (count >= 1000) {
        (void)gbx_number_put_count(to, count / 1000);
        return gbx_buf_printf(to, ",%03u", (unsigned)(count % 1000));
    }
    return gbx_buf_printf(to, "%u", (unsigned)count);
}

bool gbx_number_put_size(gbx_buf *to, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB"};
    double size = (double)bytes;
    size_t unit = 0;

    if (bytes < 1000)
        return gbx_buf_printf(to, "%u bytes", (unsigned)bytes);
    for (size /= 1000; size >= 1000 && unit < 2; unit++)
        size /= 1000;
    return gbx_buf_printf(to, size < 10 ? "%.1f %s" : "%.0f %s", size, units[unit]);
}
