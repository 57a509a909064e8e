/* SPDX-License-Identifier: MIT */
/* layer_state - which layers of the seal are in effect, and why one is not. */
#include "seal/internal.h"

#include <stdarg.h>
#include <stdio.h>

bool gbx_layer_is_off(gbx_seal *seal, gbx_layer layer)
{
    if (!(seal->layers_off & GBX_LAYER_BIT(layer)))
        return false;
    gbx_layer_lacks(seal, layer, "left out on request");
    return true;
}

void gbx_layer_stands(gbx_seal *seal, gbx_layer layer)
{
    seal->layers[layer].stands = true;
    seal->layers[layer].reason[0] = 0;
}

void gbx_layer_lacks(gbx_seal *seal, gbx_layer layer, const char *format, ...)
{
    gbx_layer_state *state = &seal->layers[layer];
    va_list args;

    state->stands = false;
    va_start(args, format);
    (void)vsnprintf(state->reason, sizeof state->reason, format, args);
    va_end(args);
}
