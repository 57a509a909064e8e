/* SPDX-License-Identifier: MIT */
/* free - see realm.h. Values need no separate release: they go with the VM. */
#include "realm/realm.h"

#include "realm/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- public to other modules -------------------------------------------- */

void gbx_realm_free(gbx_realm *realm)
{
    if (realm == NULL)
        return;
    JSStringRef *const names[] = {
        &realm->url,           &realm->eval_off,  &realm->input_name, &realm->n_then,
        &realm->n_name,        &realm->n_message, &realm->n_cause,    &realm->n_errors,
        &realm->n_constructor, &realm->n_stack,   &realm->n_line,     &realm->n_column,
        &realm->n_source_url,  &realm->n_status,  &realm->n_value,    &realm->n_execute,
        &realm->n_run,         &realm->n_params,  &realm->n_env,      &realm->n_console,
    };

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (*names[i] != NULL)
            JSStringRelease(*names[i]);
    free(realm->timers.slots);
    free(realm->timers.heap);
    free(realm->large);
    if (realm->ctx != NULL)
        JSGlobalContextRelease(realm->ctx);
    memset(realm, 0, sizeof *realm);
}
