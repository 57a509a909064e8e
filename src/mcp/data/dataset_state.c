/* SPDX-License-Identifier: MIT */
/* dataset_state - which datasets there are, and whether each is read. */
#include "mcp/data/datasets.h"

#define NAMED_MAX 20 /* datasets named in a list */

bool gbx_data_is_described(const gbx_dataset_state *set)
{
    return set->told.type != NULL || set->is_settled;
}

bool gbx_data_is_ready(const gbx_mcp_data *d, const gbx_dataset_state *set)
{
    if (!d->is_engine_done || d->engine == NULL)
        return d->is_engine_done;
    if (set != NULL)
        return set->is_settled;
    for (size_t i = 0; i < d->count; i++)
        if (!d->sets[i].is_settled)
            return false;
    return true;
}

void gbx_data_say_names(const gbx_mcp_data *d, gbx_buf *to)
{
    (void)gbx_buf_printf(to, "there %s ", d->count == 1 ? "is" : "are");
    for (size_t i = 0; i < d->count && i < NAMED_MAX; i++)
        (void)gbx_buf_printf(to, "%s%s", i > 0 ? ", " : "", d->sets[i].spec.name);
    (void)gbx_buf_puts(to, d->count > NAMED_MAX ? ", ..." : "");
}
