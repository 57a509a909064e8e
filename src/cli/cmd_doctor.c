/* SPDX-License-Identifier: MIT */
/*
 * cmd_doctor - `glovebox doctor`: what works on this machine and what does not.
 *
 * It starts a real engine: a separate probe could find other things than a worker does.
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "engine/engine.h"
#include "seal/seal.h"
#include "worker/attack_table.h"
#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- doctor --attack: the matrix ----------------------------------------------- */

/*
 * Try every attack of worker/attack_table.h against each layer alone.
 *
 * Processes of the installed worker program seal themselves as a worker does, with all
 * layers, with none, and with each layer alone, and then attack. The other results are
 * compared with those without any layer: an attack that fails even then does not apply
 * to this machine.
 *
 * One attack-mode template per column, one process per cell.
 */

enum {
#define XX(...) +1
    GBX_ATTACK_COUNT = GBX_ATTACK_MAP(XX)
#undef XX
};

/* Columns: the layers by number, then these two. */
enum { GBX_COLUMN_ALL = GBX_LAYER_COUNT, GBX_COLUMN_NONE, GBX_COLUMN_COUNT };

typedef struct gbx_matrix {
    bool tried[GBX_COLUMN_COUNT]; /* the layer works on this machine */
    gbx_attack_outcome cells[GBX_ATTACK_COUNT][GBX_COLUMN_COUNT];
} gbx_matrix;

typedef struct matrix_sum {
    unsigned attacks;  /* number that succeed here without any layer */
    unsigned stopped;  /* of these, stopped with every layer */
    unsigned twice;    /* of these, stopped by at least two layers alone */
    unsigned breaches; /* of all attacks, successes with every layer: must be 0 */
    unsigned unanswered;
} matrix_sum;

#define ALL_LAYERS ((1u << GBX_LAYER_COUNT) - 1)

static gbx_status fill_column(gbx_matrix *matrix, gbx_jit jit, size_t column,
                              gbx_error *reterr)
{
    gbx_attack_session *session = NULL;
    gbx_status status;
    uint32_t off = 0;

    if (column == GBX_COLUMN_NONE)
        off = ALL_LAYERS;
    else if (column != GBX_COLUMN_ALL)
        off = ALL_LAYERS & ~(GBX_LAYER_BIT(column) | gbx_attack_companion(column));
    status = gbx_attack_open(NULL, jit, off, &session, reterr);
    if (status != GBX_OK)
        return status;
    matrix->tried[column] = column >= GBX_LAYER_COUNT ||
                            (gbx_attack_layers(session) & GBX_LAYER_BIT(column)) != 0;
    for (uint32_t i = 0; matrix->tried[column] && i < GBX_ATTACK_COUNT; i++) {
        int detail;

        matrix->cells[i][column] = gbx_attack_try(session, i, &detail);
    }
    gbx_attack_close(session);
    return GBX_OK;
}

static bool is_stopped(gbx_attack_outcome cell)
{
    return cell == GBX_ATTACK_KILLED || cell == GBX_ATTACK_DIED ||
           cell == GBX_ATTACK_REFUSED;
}

/* True if the layer alone stops an attack that succeeds without it. */
static bool matrix_stops(const gbx_matrix *matrix, size_t attack, size_t column)
{
    const gbx_attack_outcome *row = matrix->cells[attack];
    uint32_t companion = gbx_attack_companion(column);

    /* An attack that the companion stops by itself does not count for the layer. */
    if (companion != 0 && is_stopped(row[__builtin_ctz(companion)]))
        return false;
    return row[GBX_COLUMN_NONE] == GBX_ATTACK_SUCCEEDED && is_stopped(row[column]);
}

static const char *matrix_column_name(size_t column)
{
    if (column < GBX_LAYER_COUNT)
        return gbx_layers[column].name;
    return column == GBX_COLUMN_ALL ? "all layers" : "no layer";
}

/* progress is called before each column with its name; it may be NULL. */
static gbx_status matrix_fill(gbx_matrix *matrix, gbx_jit jit,
                              void (*progress)(const char *name), gbx_error *reterr)
{
    GBX_CLEANUP(gbx_attack_victims_close) gbx_attack_victims victims;

    gbx_attack_victims_open(&victims);
    for (size_t column = 0; column < GBX_COLUMN_COUNT; column++) {
        gbx_status status;

        if (progress != NULL)
            progress(matrix_column_name(column));
        status = fill_column(matrix, jit, column, reterr);
        /* A template that cannot start with one layer alone leaves its column empty. */
        if (status != GBX_OK && column >= GBX_LAYER_COUNT)
            return status;
    }
    return GBX_OK;
}

static matrix_sum matrix_add_up(const gbx_matrix *matrix)
{
    matrix_sum sum = {0};

    for (size_t i = 0; i < GBX_ATTACK_COUNT; i++) {
        const gbx_attack_outcome *row = matrix->cells[i];
        unsigned layers = 0;

        sum.breaches += row[GBX_COLUMN_ALL] == GBX_ATTACK_SUCCEEDED;
        sum.unanswered += row[GBX_COLUMN_ALL] == GBX_ATTACK_UNKNOWN;
        if (row[GBX_COLUMN_NONE] != GBX_ATTACK_SUCCEEDED)
            continue;
        for (size_t column = 0; column < GBX_LAYER_COUNT; column++)
            layers += matrix_stops(matrix, i, column);
        sum.attacks++;
        sum.stopped += is_stopped(row[GBX_COLUMN_ALL]);
        sum.twice += layers >= 2;
    }
    return sum;
}

#define JSON_MAX   GBX_MIB(1)
#define NAME_WIDTH 40

static const char *const cell_names[] = {
    [GBX_ATTACK_UNKNOWN] = "unknown", [GBX_ATTACK_KILLED] = "killed",
    [GBX_ATTACK_REFUSED] = "refused", [GBX_ATTACK_SUCCEEDED] = "breach",
    [GBX_ATTACK_DIED] = "killed",     [GBX_ATTACK_ABSENT] = "absent",
};

/* The attack, its outcome against the whole seal, and the layers that stop it alone. */
static void print_row(const gbx_term *out, const gbx_matrix *matrix, size_t i)
{
    const gbx_attack_outcome *row = matrix->cells[i];
    gbx_attack_outcome all = row[GBX_COLUMN_ALL];
    const char *separator = "";

    (void)fprintf(out->stream, "  %-*s ", NAME_WIDTH, gbx_attack_info_get(i)->name);
    gbx_term_paint(out,
                   all == GBX_ATTACK_SUCCEEDED ? GBX_PAINT_RED
                   : all == GBX_ATTACK_UNKNOWN ? GBX_PAINT_YELLOW
                                               : GBX_PAINT_GREEN,
                   "%-8s ", all == GBX_ATTACK_SUCCEEDED ? "BREACH" : cell_names[all]);
    if (row[GBX_COLUMN_NONE] != GBX_ATTACK_SUCCEEDED)
        gbx_term_paint(out, GBX_PAINT_DIM, "(fails without any layer)");
    for (size_t column = 0; column < GBX_LAYER_COUNT; column++)
        if (matrix_stops(matrix, i, column)) {
            (void)fprintf(out->stream, "%s%s", separator, matrix_column_name(column));
            separator = ", ";
        }
    (void)fputc('\n', out->stream);
}

static void print_sum(const gbx_term *out, const gbx_matrix *matrix)
{
    matrix_sum sum = matrix_add_up(matrix);

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

static void matrix_print(const gbx_term *out, const gbx_matrix *matrix)
{
    const char *topic = "";

    (void)fputs(
        "Each attack against the whole seal, and the layers that stop it alone:\n",
        out->stream);
    for (size_t i = 0; i < GBX_ATTACK_COUNT; i++) {
        const gbx_attack_info *info = gbx_attack_info_get(i);

        if (strcmp(topic, info->topic) != 0) {
            topic = info->topic;
            gbx_term_paint(out, GBX_PAINT_BOLD, "\n%s\n", topic);
        }
        print_row(out, matrix, i);
    }
    for (size_t column = 0; column < GBX_LAYER_COUNT; column++)
        if (!matrix->tried[column])
            (void)fprintf(out->stream, "\nnot on this machine: %s",
                          matrix_column_name(column));
    print_sum(out, matrix);
}

static void matrix_print_json(const gbx_term *out, const gbx_matrix *matrix)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = JSON_MAX};
    matrix_sum sum = matrix_add_up(matrix);

    (void)gbx_buf_puts(&buf, "{\"attacks\":[");
    for (size_t i = 0; i < GBX_ATTACK_COUNT; i++) {
        const gbx_attack_info *info = gbx_attack_info_get(i);
        const gbx_attack_outcome *row = matrix->cells[i];

        gbx_json_put_open(&buf, NULL, '{');
        gbx_json_put_text(&buf, "id", info->id);
        gbx_json_put_text(&buf, "topic", info->topic);
        gbx_json_put_text(&buf, "name", info->name);
        gbx_json_put_text(&buf, "all", cell_names[row[GBX_COLUMN_ALL]]);
        gbx_json_put_text(&buf, "none", cell_names[row[GBX_COLUMN_NONE]]);
        gbx_json_put_open(&buf, "alone", '{');
        for (size_t column = 0; column < GBX_LAYER_COUNT; column++)
            gbx_json_put_text(&buf, matrix_column_name(column),
                              cell_names[row[column]]);
        (void)gbx_buf_puts(&buf, "}}");
    }
    (void)gbx_buf_printf(&buf,
                         "],\"summary\":{\"attacks\":%u,\"real\":%u,\"stopped\":%u,"
                         "\"twice\":%u,\"breaches\":%u,\"unanswered\":%u}}",
                         (unsigned)GBX_ATTACK_COUNT, sum.attacks, sum.stopped,
                         sum.twice, sum.breaches, sum.unanswered);
    gbx_term_json_line(out, &buf);
}

/* ---- the report ---------------------------------------------------------------- */

/* Prints every member of the report, including those that a later library adds. */

/* A summary of the layers. */
typedef struct layer_count {
    unsigned total;
    unsigned standing;
    unsigned required_missing;
} layer_count;

#define LABEL_WIDTH     18
#define TEXT_MAX        GBX_KIB(16)
#define ENGINE_DAYS_MAX 90

static int print_text(const gbx_term *out, gbx_view view)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = TEXT_MAX};

    if (!gbx_view_append_text(view, &buf) || buf.len == 0)
        return 0;
    gbx_term_foreign(out, (const char *)buf.data, buf.len, GBX_ESCAPE_LINE);
    return (int)buf.len;
}

/* name value, name value, ... */
static void print_object(const gbx_term *out, gbx_view object)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    for (int i = 0; gbx_view_next(object, &cursor, &name, &value); i++) {
        if (i > 0)
            (void)fputs(", ", out->stream);
        if (gbx_view_kind(name) == '"') {
            (void)print_text(out, name);
            (void)fputc(' ', out->stream);
        }
        (void)print_text(out, value); /* deeper values as JSON */
    }
}

static void print_member(const gbx_term *out, gbx_view name, gbx_view value)
{
    char kind = gbx_view_kind(value);
    int width = print_text(out, name);

    (void)fprintf(out->stream, "%*s", width < LABEL_WIDTH ? LABEL_WIDTH - width : 1,
                  "");
    if (kind == '{' || kind == '[')
        print_object(out, value);
    else
        (void)print_text(out, value);
    (void)fputc('\n', out->stream);
}

static void print_layer(const gbx_term *out, gbx_view layer)
{
    bool stands = gbx_view_is_true(gbx_view_member(layer, "stands"));
    bool is_required = gbx_view_is_true(gbx_view_member(layer, "required"));
    gbx_view reason = gbx_view_member(layer, "reason");
    int width;

    (void)fputs("  ", out->stream);
    gbx_term_paint(out,
                   stands        ? GBX_PAINT_GREEN
                   : is_required ? GBX_PAINT_RED
                                 : GBX_PAINT_YELLOW,
                   "%-8s",
                   stands        ? "stands"
                   : is_required ? "MISSING"
                                 : "absent");
    width = print_text(out, gbx_view_member(layer, "name"));
    (void)fprintf(out->stream, "%*s", width < 19 ? 19 - width : 1, "");
    (void)print_text(out, gbx_view_member(layer, "what"));
    if (is_required)
        gbx_term_paint(out, GBX_PAINT_DIM, " (required)");
    (void)fputc('\n', out->stream);
    if (!stands && gbx_view_kind(reason) == '"' && reason.len > 2) {
        (void)fputs("          why: ", out->stream);
        (void)print_text(out, reason);
        (void)fputc('\n', out->stream);
    }
}

static layer_count count_layers(gbx_view report)
{
    gbx_view layers = gbx_view_member(report, "layers");
    layer_count count = {0};
    size_t cursor = 0;
    gbx_view name;
    gbx_view layer;

    while (gbx_view_next(layers, &cursor, &name, &layer)) {
        bool stands = gbx_view_is_true(gbx_view_member(layer, "stands"));

        count.total++;
        if (stands)
            count.standing++;
        else if (gbx_view_is_true(gbx_view_member(layer, "required")))
            count.required_missing++;
    }
    return count;
}

static void warn_of_age(const gbx_term *out, gbx_view report)
{
    gbx_view view = gbx_view_member(report, "engineDays");
    long days = view.at != NULL ? strtol(view.at, NULL, 10) : 0;

    if (days > ENGINE_DAYS_MAX)
        gbx_term_paint(
            out, GBX_PAINT_YELLOW,
            "\nThe engine is %ld days old. Newer ones may close security holes: "
            "update the system's\npackages, or the bundle or npm package of "
            "Glovebox that brought it.\n",
            days);
}

/* Every member of the report: versions first, then the layers, then the rest. */
static void print_report(const gbx_term *out, gbx_view report)
{
    layer_count count = count_layers(report);
    gbx_view layers = gbx_view_member(report, "layers");
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(report, &cursor, &name, &value)) {
        bool is_empty = value.len == 2 && strchr("\"[{", *value.at) != NULL;

        if (value.at != layers.at && !is_empty)
            print_member(out, name, value);
    }
    if (layers.at == NULL)
        return; /* this runner has no seal: see "isolated" */
    (void)fputs("\nlayers of the seal\n", out->stream);
    cursor = 0;
    while (gbx_view_next(layers, &cursor, &name, &value))
        print_layer(out, value);
    (void)fprintf(out->stream, "\n%u of %u layers stand", count.standing, count.total);
    if (count.required_missing > 0)
        gbx_term_paint(out, GBX_PAINT_RED, "; %u required %s missing",
                       count.required_missing,
                       count.required_missing == 1 ? "layer is" : "layers are");
    (void)fputc('\n', out->stream);
    warn_of_age(out, report);
}

typedef struct doctor_args {
    gbx_common_args common;
    const char *nats;
    bool json;
    bool attack;
} doctor_args;

static const gbx_opt rows[] = {
    GBX_ROW_FLAG(doctor_args, json, "json", "print the report as one JSON object"),
    GBX_ROW_FLAG(
        doctor_args, attack, "attack",
        "let sealed processes attack their seal, with all layers and with each alone; "
        "prints the layers that stop each attack"),
    GBX_ROW_TEXT(doctor_args, nats, "nats", "URL",
                 "test a connection to runners, and a call there: an address as of "
                 "--runner"),
    {0},
};

static const gbx_opt_group groups[] = {
    {"Options", rows, 0},
    {"Engine", gbx_engine_rows, offsetof(gbx_common_args, options)},
    GBX_COMMON_GROUP,
    {0},
};

static gbx_status get_report(const gbx_options *options, char **ret_json,
                             gbx_error *err)
{
    gbx_engine *engine = NULL;
    gbx_status status = gbx_engine_new(options, &engine, err);

    if (status == GBX_OK)
        status = gbx_engine_report(engine, ret_json, err);
    gbx_engine_free(engine);
    return status;
}

static void free_string(char **string)
{
    gbx_string_free(*string);
}

static int doctor(doctor_args *args)
{
    gbx_term out = gbx_term_open(stdout, (gbx_color)args->common.color);
    gbx_term err = gbx_term_open(stderr, (gbx_color)args->common.color);
    GBX_CLEANUP(free_string) char *json = NULL;
    gbx_trouble refusal = {0};
    gbx_trouble trouble = {0};
    gbx_view report;
    gbx_status status;

    args->common.options.pool_size = 1;
    status = get_report(&args->common.options, &json, &refusal.err);
    (void)gbx_trouble_host(&refusal, status);
    refusal.hint = NULL; /* the hint is to run this command */
    if (status == GBX_E_UNSUPPORTED &&
        args->common.options.require == GBX_REQUIRE_STRICT) {
        /* Strict refuses to start: show the state without it, and the refusal. */
        args->common.options.require = GBX_REQUIRE_DEFAULT;
        status = get_report(&args->common.options, &json, &trouble.err);
    }
    if (status != GBX_OK || !gbx_view_open(json, strlen(json), &report))
        return gbx_trouble_report(&refusal, args->json, args->common.color);
    if (args->json) {
        gbx_term_json(&out, json, strlen(json));
        (void)fputc('\n', out.stream);
    } else {
        print_report(&out, report);
    }
    if (refusal.exit != 0) {
        gbx_trouble_print(&err, &refusal);
        return refusal.exit;
    }
    return count_layers(report).required_missing == 0
               ? 0
               : gbx_status_exit(GBX_E_UNSUPPORTED);
}

static void show_progress(const char *name)
{
    (void)fprintf(stderr, "attacking: %s ...\n", name);
}

static int attack(const doctor_args *args)
{
    gbx_term out = gbx_term_open(stdout, (gbx_color)args->common.color);
    gbx_matrix matrix = {0};
    gbx_jit jit = args->common.options.jit != GBX_JIT_DEFAULT ? args->common.options.jit
                  : args->common.options.require == GBX_REQUIRE_STRICT ? GBX_JIT_OFF
                                                                       : GBX_JIT_FULL;
    gbx_trouble trouble = {0};
    gbx_status status =
        matrix_fill(&matrix, jit, isatty(STDERR_FILENO) == 1 ? show_progress : NULL,
                    &trouble.err);

    if (!gbx_trouble_host(&trouble, status))
        return gbx_trouble_report(&trouble, args->json, args->common.color);
    if (args->json)
        matrix_print_json(&out, &matrix);
    else
        matrix_print(&out, &matrix);
    return matrix_add_up(&matrix).breaches == 0 ? 0 : gbx_code_exit(GBX_CODE_VIOLATION);
}

static int doctor_main(void *parsed)
{
    doctor_args *args = parsed;

    if (args->nats != NULL)
        return gbx_doctor_nats(args->nats, &args->common.options,
                               (gbx_color)args->common.color);
    return args->attack ? attack(args) : doctor(args);
}

const gbx_command gbx_command_doctor = {
    .name = "doctor",
    .summary = "show which layers of the seal are in effect on this machine",
    .usage = "doctor [options]",
    .description =
        "Starts an engine and reports versions, the level of just-in-time compilation, and\n"
        "each layer of the seal: whether it is in effect and, if not, why and what would\n"
        "bring it. Exit status 69 if a required layer is missing, or, with\n"
        "--require strict, any layer. With --attack, more than a hundred attacks are\n"
        "tried natively from inside; exit status 20 if one succeeds. None does harm. With\n"
        "--nats, it tests a connection to runners on other machines, and a call there.",
    .examples = "glovebox doctor\n"
                "glovebox doctor --attack\n"
                "glovebox doctor --require strict --json\n"
                "glovebox doctor --nats nats://127.0.0.1:4222",
    .groups = groups,
    .args_size = sizeof(doctor_args),
    .run = doctor_main,
};
