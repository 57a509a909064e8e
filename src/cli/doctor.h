/* SPDX-License-Identifier: MIT */
/* doctor - the engine's report as a table that people can read. */
#ifndef GBX_CLI_DOCTOR_H
#define GBX_CLI_DOCTOR_H

#include "base/json_view.h"
#include "cli/term.h"

/* What the layers come to. */
typedef struct gbx_doctor_count {
    unsigned total;
    unsigned standing;
    unsigned required_missing;
} gbx_doctor_count;

gbx_doctor_count gbx_doctor_count_layers(gbx_view report);

/* Every member of the report: versions first, then the layers, then the rest. */
void gbx_doctor_print(const gbx_term *out, gbx_view report);

#endif
