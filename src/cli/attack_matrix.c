/* SPDX-License-Identifier: MIT */
/* attack_matrix - one attack-mode template per column, one process per cell. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "engine/engine.h"
#include "worker/worker.h"

#define ALL_LAYERS ((1u << GBX_LAYER_COUNT) - 1)

static uint32_t layers_off(size_t column)
{
    if (column == GBX_COLUMN_ALL)
        return 0;
    if (column == GBX_COLUMN_NONE)
        return ALL_LAYERS;
    return ALL_LAYERS & ~(GBX_LAYER_BIT(column) | gbx_attack_companion(column));
}

static gbx_cell cell_of(gbx_attack_outcome outcome, int detail)
{
    switch (outcome) {
    case GBX_ATTACK_KILLED:
    case GBX_ATTACK_DIED: return GBX_CELL_KILLED;
    case GBX_ATTACK_REFUSED: return GBX_CELL_REFUSED;
    case GBX_ATTACK_SUCCEEDED: return GBX_CELL_BREACH;
    case GBX_ATTACK_UNKNOWN:
        return detail == GBX_ATTACK_EXIT_ABSENT ? GBX_CELL_ABSENT : GBX_CELL_UNKNOWN;
    default: return GBX_CELL_UNKNOWN;
    }
}

static gbx_status fill_column(gbx_matrix *matrix, gbx_jit jit, size_t column,
                              gbx_error *reterr)
{
    gbx_attack_session *session = NULL;
    gbx_status status =
        gbx_attack_open(NULL, jit, layers_off(column), &session, reterr);

    if (status != GBX_OK)
        return status;
    matrix->tried[column] = column >= GBX_LAYER_COUNT ||
                            (gbx_attack_layers(session) & GBX_LAYER_BIT(column)) != 0;
    for (uint32_t i = 0; matrix->tried[column] && i < GBX_ATTACK_COUNT; i++) {
        int detail = -1;
        gbx_attack_outcome outcome = gbx_attack_try(session, i, &detail);

        matrix->cells[i][column] = cell_of(outcome, detail);
    }
    gbx_attack_close(session);
    return GBX_OK;
}

static bool is_stopped(gbx_cell cell)
{
    return cell == GBX_CELL_KILLED || cell == GBX_CELL_REFUSED;
}

/* ---- public to other modules -------------------------------------------- */

const gbx_attack_info *gbx_matrix_info(size_t i)
{
    return gbx_attack_info_get(i);
}

bool gbx_matrix_stops(const gbx_matrix *matrix, size_t attack, size_t column)
{
    const gbx_cell *row = matrix->cells[attack];
    uint32_t companion = gbx_attack_companion(column);

    /* What the companion stops by itself does not count for the layer. */
    if (companion != 0 && is_stopped(row[__builtin_ctz(companion)]))
        return false;
    return row[GBX_COLUMN_NONE] == GBX_CELL_BREACH && is_stopped(row[column]);
}

gbx_status gbx_matrix_fill(gbx_matrix *matrix, gbx_jit jit,
                           void (*progress)(const char *name), gbx_error *reterr)
{
    GBX_CLEANUP(gbx_attack_victims_close) gbx_attack_victims victims;

    *matrix = (gbx_matrix){0};
    gbx_attack_victims_open(&victims);
    for (size_t column = 0; column < GBX_COLUMN_COUNT; column++) {
        gbx_status status;

        if (progress != NULL)
            progress(gbx_matrix_column_name(column));
        status = fill_column(matrix, jit, column, reterr);
        /* A template that cannot start with one layer alone leaves its column empty. */
        if (status != GBX_OK && column >= GBX_LAYER_COUNT)
            return status;
    }
    return GBX_OK;
}

gbx_matrix_sum gbx_matrix_add_up(const gbx_matrix *matrix)
{
    gbx_matrix_sum sum = {0};

    for (size_t i = 0; i < GBX_ATTACK_COUNT; i++) {
        const gbx_cell *row = matrix->cells[i];
        unsigned layers = 0;

        sum.breaches += row[GBX_COLUMN_ALL] == GBX_CELL_BREACH;
        sum.unanswered += row[GBX_COLUMN_ALL] == GBX_CELL_UNKNOWN;
        if (row[GBX_COLUMN_NONE] != GBX_CELL_BREACH)
            continue;
        for (size_t column = 0; column < GBX_LAYER_COUNT; column++)
            layers += gbx_matrix_stops(matrix, i, column);
        sum.attacks++;
        sum.stopped += is_stopped(row[GBX_COLUMN_ALL]);
        sum.twice += layers >= 2;
    }
    return sum;
}

const char *gbx_matrix_column_name(size_t column)
{
    static const char *const names[] = {
#define XX(name, text, required, what) text,
        GBX_LAYER_MAP(XX)
#undef XX
            "all layers",
        "no layer",
    };

    return names[column];
}
