/* SPDX-License-Identifier: MIT */
/* attack_matrix - one attack-mode template per column, one process per cell. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "engine/engine.h"
#include "worker/worker.h"

#include <string.h>

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

/* The description of attack number i. */
static const gbx_attack_info *gbx_matrix_info(size_t i)
{
    return gbx_attack_info_get(i);
}

/* True if the layer alone stops an attack that succeeds without it. */
static bool gbx_matrix_stops(const gbx_matrix *matrix, size_t attack, size_t column)
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

/* Shows a column if its layer alone stops anything; the others are
 * listed below the table, so that nothing is left out silently. */

#define JSON_MAX   GBX_MIB(1)
#define NAME_WIDTH 42

/* Heading of a column: three letters, explained below the table. */
static const char *const short_names[] = {
    [GBX_LAYER_USER_NS] = "usr",      [GBX_LAYER_PID_NS] = "pid",
    [GBX_LAYER_NET_NS] = "net",       [GBX_LAYER_MOUNT_NS] = "mnt",
    [GBX_LAYER_IPC_NS] = "ipc",       [GBX_LAYER_UTS_NS] = "uts",
    [GBX_LAYER_CGROUP_NS] = "cgn",    [GBX_LAYER_LANDLOCK] = "lsm",
    [GBX_LAYER_SECCOMP] = "sec",      [GBX_LAYER_NO_NEW_PRIVS] = "nnp",
    [GBX_LAYER_NO_CAPS] = "cap",      [GBX_LAYER_MDWE] = "mdw",
    [GBX_LAYER_NOT_DUMPABLE] = "dmp", [GBX_LAYER_RLIMITS] = "rlm",
    [GBX_LAYER_NO_FDS] = "fds",       [GBX_LAYER_DEATH_SIGNAL] = "dth",
    [GBX_LAYER_CGROUP] = "cgl",
};
_Static_assert(GBX_COUNTOF(short_names) == GBX_LAYER_COUNT, "one heading a layer");

static const char *const cell_names[] = {
    [GBX_CELL_UNKNOWN] = "unknown", [GBX_CELL_KILLED] = "killed",
    [GBX_CELL_REFUSED] = "refused", [GBX_CELL_BREACH] = "breach",
    [GBX_CELL_ABSENT] = "absent",
};

static bool is_shown(const gbx_matrix *matrix, size_t column)
{
    for (size_t i = 0; i < GBX_ATTACK_COUNT; i++)
        if (gbx_matrix_stops(matrix, i, column))
            return true;
    return false;
}

static void print_heading(const gbx_term *out, const gbx_matrix *matrix,
                          const char *topic)
{
    (void)fputc('\n', out->stream);
    gbx_term_paint(out, GBX_PAINT_BOLD, "%-*s", NAME_WIDTH + 9, topic);
    for (size_t column = 0; column < GBX_LAYER_COUNT; column++)
        if (is_shown(matrix, column))
            gbx_term_paint(out, GBX_PAINT_DIM, " %s", short_names[column]);
    (void)fputc('\n', out->stream);
}

static void print_row(const gbx_term *out, const gbx_matrix *matrix, size_t i)
{
    const gbx_cell *row = matrix->cells[i];
    gbx_cell all = row[GBX_COLUMN_ALL];
    bool is_real = row[GBX_COLUMN_NONE] == GBX_CELL_BREACH;

    (void)fprintf(out->stream, "  %-*s ", NAME_WIDTH - 2, gbx_matrix_info(i)->name);
    gbx_term_paint(out,
                   all == GBX_CELL_BREACH    ? GBX_PAINT_RED
                   : all == GBX_CELL_UNKNOWN ? GBX_PAINT_YELLOW
                                             : GBX_PAINT_GREEN,
                   "%-8s", all == GBX_CELL_BREACH ? "BREACH" : cell_names[all]);
    for (size_t column = 0; column < GBX_LAYER_COUNT; column++) {
        if (!is_shown(matrix, column))
            continue;
        if (!is_real)
            gbx_term_paint(out, GBX_PAINT_DIM, "   -");
        else if (gbx_matrix_stops(matrix, i, column))
            gbx_term_paint(out, GBX_PAINT_GREEN, "   x");
        else
            gbx_term_paint(out, GBX_PAINT_NONE, "   %c",
                           row[column] == GBX_CELL_UNKNOWN ? '?' : '.');
    }
    (void)fputc('\n', out->stream);
}

static void print_layers(const gbx_term *out, const gbx_matrix *matrix, bool shown,
                         const char *title)
{
    const char *separator = "";
    int width = fprintf(out->stream, "  %s", title);

    for (size_t column = 0; column < GBX_LAYER_COUNT; column++) {
        if (is_shown(matrix, column) != shown)
            continue;
        width += fprintf(out->stream, "%s", separator);
        if (width > 64)
            width = fprintf(out->stream, "\n     ") - 1;
        width += fprintf(out->stream, " %s%s%s%s", shown ? short_names[column] : "",
                         shown ? " " : "", gbx_matrix_column_name(column),
                         matrix->tried[column] ? "" : " (not here)");
        separator = ",";
    }
    (void)fputc('\n', out->stream);
}

static void print_sum(const gbx_term *out, const gbx_matrix *matrix)
{
    gbx_matrix_sum sum = gbx_matrix_add_up(matrix);

    (void)fprintf(out->stream, "\n%u attacks; ", (unsigned)GBX_ATTACK_COUNT);
    gbx_term_paint(out, sum.breaches == 0 ? GBX_PAINT_GREEN : GBX_PAINT_RED,
                   sum.breaches == 0 ? "none succeeds" : "%u SUCCEED", sum.breaches);
    (void)fprintf(out->stream, " against the whole seal");
    if (sum.unanswered > 0)
        (void)fprintf(out->stream, ", %u gave no answer", sum.unanswered);
    (void)fprintf(out->stream,
                  ".\nWithout any layer %u succeed on this machine: the seal stops %u, "
                  "and %u are stopped by\nat least two layers, each of them alone.\n",
                  sum.attacks, sum.stopped, sum.twice);
}

void gbx_matrix_print(const gbx_term *out, const gbx_matrix *matrix)
{
    const char *topic = "";

    for (size_t i = 0; i < GBX_ATTACK_COUNT; i++) {
        const gbx_attack_info *info = gbx_matrix_info(i);

        if (strcmp(topic, info->topic) != 0) {
            topic = info->topic;
            print_heading(out, matrix, topic);
        }
        print_row(out, matrix, i);
    }
    (void)fputs(
        "\nFirst column: against the whole seal. Then each layer alone:\n"
        "  x stops it, . does not, ? gave no answer, - nothing to stop: it fails without "
        "any layer\n",
        out->stream);
    print_layers(out, matrix, true, "columns:");
    print_layers(out, matrix, false, "alone they stop none of these:");
    print_sum(out, matrix);
}

void gbx_matrix_print_json(const gbx_term *out, const gbx_matrix *matrix)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};
    gbx_matrix_sum sum = gbx_matrix_add_up(matrix);

    gbx_buf_init(&buf, JSON_MAX);
    (void)gbx_buf_puts(&buf, "{\"attacks\":[");
    for (size_t i = 0; i < GBX_ATTACK_COUNT; i++) {
        const gbx_attack_info *info = gbx_matrix_info(i);
        const gbx_cell *row = matrix->cells[i];

        (void)gbx_buf_printf(&buf, "%s{\"id\":\"%s\",\"topic\":\"%s\",\"name\":",
                             i == 0 ? "" : ",", info->id, info->topic);
        (void)gbx_json_append_string(&buf, info->name, strlen(info->name));
        (void)gbx_buf_printf(&buf, ",\"all\":\"%s\",\"none\":\"%s\",\"alone\":{",
                             cell_names[row[GBX_COLUMN_ALL]],
                             cell_names[row[GBX_COLUMN_NONE]]);
        for (size_t column = 0; column < GBX_LAYER_COUNT; column++)
            (void)gbx_buf_printf(&buf, "%s\"%s\":\"%s\"", column == 0 ? "" : ",",
                                 gbx_matrix_column_name(column),
                                 cell_names[row[column]]);
        (void)gbx_buf_puts(&buf, "}}");
    }
    (void)gbx_buf_printf(&buf,
                         "],\"summary\":{\"attacks\":%u,\"real\":%u,\"stopped\":%u,"
                         "\"twice\":%u,\"breaches\":%u,\"unanswered\":%u}}",
                         (unsigned)GBX_ATTACK_COUNT, sum.attacks, sum.stopped,
                         sum.twice, sum.breaches, sum.unanswered);
    if (!buf.failed)
        gbx_term_json(out, (const char *)buf.data, buf.len);
    (void)fputc('\n', out->stream);
}
