/* SPDX-License-Identifier: MIT */
/* doctor_attack - the attack matrix, for people and for programs. */
#ifndef GBX_CLI_DOCTOR_ATTACK_H
#define GBX_CLI_DOCTOR_ATTACK_H

#include "cli/attack_matrix.h"
#include "cli/term.h"

/* Attack by layer; then what the signs mean, and the sum. */
void gbx_matrix_print(const gbx_term *out, const gbx_matrix *matrix);

void gbx_matrix_print_json(const gbx_term *out, const gbx_matrix *matrix);

#endif
