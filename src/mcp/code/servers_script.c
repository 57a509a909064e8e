/* SPDX-License-Identifier: MIT */
/* servers_script - the source of servers.js, called with the names of the servers. */
#include "mcp/code/code_mode.h"

#include "base/json.h"

#include <string.h>

extern const char gbx_script_servers[];

bool gbx_code_preload(gbx_buf *to, const char *const *names, size_t count,
                      uint32_t sleep_ms)
{
    gbx_buf_puts(to, gbx_script_servers);
    gbx_buf_puts(to, "([");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            gbx_buf_puts(to, ",");
        gbx_json_append_string(to, names[i], strlen(names[i]));
    }
    return gbx_buf_printf(to, "],\"" GBX_CODE_HOST_NAME "\",{sleepMs:%u});", sleep_ms);
}
