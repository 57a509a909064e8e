/* SPDX-License-Identifier: MIT */
/* print_result - what a call ended with: its value on `out`, all else on `err`. */
#ifndef GBX_CLI_PRINT_RESULT_H
#define GBX_CLI_PRINT_RESULT_H

#include "cli/term.h"

#include <glovebox/glovebox.h>
#include <stdbool.h>

/* The exit status that belongs to the result's code. json: the whole of it on `out`.
 * logs_shown: its console lines were printed before. */
int gbx_result_print(const gbx_term *out, const gbx_term *err, gbx_result *result,
                     bool json, bool logs_shown);

#endif
