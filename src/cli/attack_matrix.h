/* SPDX-License-Identifier: MIT */
/*
 * attack_matrix - every attack of worker/attack_table.h against every layer alone.
 *
 * Processes of the installed worker program seal themselves as a worker does, with all
 * layers, with none, and with each layer alone, and then attack. The other results are
 * compared with those without any layer: an attack that fails even then does not apply
 * to this machine.
 */
#ifndef GBX_CLI_ATTACK_MATRIX_H
#define GBX_CLI_ATTACK_MATRIX_H

#include "base/fail.h"
#include "seal/seal.h"
#include "worker/attack_table.h"

#include <stdbool.h>

typedef enum gbx_cell {
    GBX_CELL_UNKNOWN, /* not tried, or no answer */
    GBX_CELL_KILLED,  /* the process was killed for it */
    GBX_CELL_REFUSED, /* the kernel refused it */
    GBX_CELL_BREACH,  /* it succeeded */
    GBX_CELL_ABSENT,  /* the target does not exist on this machine */
} gbx_cell;

enum {
#define XX(function, id, topic, name, layers, note) GBX_ATTACK_NUMBER_##function,
    GBX_ATTACK_MAP(XX)
#undef XX
        GBX_ATTACK_COUNT
};

/* Columns: the layers by number, then these two. */
enum { GBX_COLUMN_ALL = GBX_LAYER_COUNT, GBX_COLUMN_NONE, GBX_COLUMN_COUNT };

typedef struct gbx_matrix {
    bool tried[GBX_COLUMN_COUNT]; /* the layer works on this machine */
    gbx_cell cells[GBX_ATTACK_COUNT][GBX_COLUMN_COUNT];
} gbx_matrix;

typedef struct gbx_matrix_sum {
    unsigned attacks;  /* number that succeed here without any layer */
    unsigned stopped;  /* of these, stopped with every layer */
    unsigned twice;    /* of these, stopped by at least two layers alone */
    unsigned breaches; /* of all attacks, successes with every layer: must be 0 */
    unsigned unanswered;
} gbx_matrix_sum;

/* The description of attack number i. */
const gbx_attack_info *gbx_matrix_info(size_t i);

/* True if the layer alone stops an attack that succeeds without it. */
bool gbx_matrix_stops(const gbx_matrix *matrix, size_t attack, size_t column);

/* progress is called before each column with a name; may be NULL. */
gbx_status gbx_matrix_fill(gbx_matrix *matrix, gbx_jit jit,
                           void (*progress)(const char *name), gbx_error *reterr);

gbx_matrix_sum gbx_matrix_add_up(const gbx_matrix *matrix);

const char *gbx_matrix_column_name(size_t column);

#endif
