/* SPDX-License-Identifier: MIT */
/*
 * cmd_doctor - `glovebox doctor`: what works on this machine and what does not.
 *
 * It asks a real engine, started like any other: a separate probe could find things
 * that the worker does not.
 */
#include "base/cleanup.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints all of the report, known or not: a member that a later library adds
 * appears by itself. */

/* A summary of the layers. */
typedef struct gbx_doctor_count {
    unsigned total;
    unsigned standing;
    unsigned required_missing;
} gbx_doctor_count;

#define LABEL_WIDTH 18
#define TEXT_MAX    GBX_KIB(16)

static int print_text(const gbx_term *out, gbx_view view)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};

    gbx_buf_init(&buf, TEXT_MAX);
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

/* "", [] and {} say nothing. */
static bool is_empty(gbx_view value)
{
    return value.len == 2 && strchr("\"[{", *value.at) != NULL;
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

static gbx_doctor_count gbx_doctor_count_layers(gbx_view report)
{
    gbx_view layers = gbx_view_member(report, "layers");
    gbx_doctor_count count = {0};
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

/* Every member of the report: versions first, then the layers, then the rest. */
static void gbx_doctor_print(const gbx_term *out, gbx_view report)
{
    gbx_doctor_count count = gbx_doctor_count_layers(report);
    gbx_view layers = gbx_view_member(report, "layers");
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(report, &cursor, &name, &value))
        if (value.at != layers.at && !is_empty(value))
            print_member(out, name, value);
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
}

typedef struct doctor_args {
    bool json;
    bool attack;
    gbx_engine_args engine;
    gbx_common_args common;
} doctor_args;

static const gbx_opt rows[] = {
    {"json", NULL, "print the report as one JSON object", GBX_OPT_FLAG,
     offsetof(doctor_args, json), 0, 0, NULL},
    {"attack", NULL,
     "let sealed processes attack their seal, with all layers and with each alone; "
     "prints a table of attacks and layers",
     GBX_OPT_FLAG, offsetof(doctor_args, attack), 0, 0, NULL},
};

static const gbx_opt_table table = {"Options", rows, GBX_COUNTOF(rows)};
static const gbx_opt_table *const tables[] = {&table, &gbx_engine_table,
                                              &gbx_common_table};

static gbx_status get_report(const gbx_engine_args *args, char **ret_json,
                             gbx_error *err)
{
    gbx_options options = gbx_engine_args_options(args, NULL);
    gbx_engine *engine = NULL;
    gbx_status status;

    options.pool_size = 1;
    status = gbx_engine_new(&options, &engine, err);
    if (status == GBX_OK)
        status = gbx_engine_report(engine, ret_json, err);
    gbx_engine_free(engine);
    return status;
}

static void print_trouble(const doctor_args *args, const gbx_term *out,
                          const gbx_term *err, const gbx_trouble *trouble)
{
    if (args->json)
        gbx_trouble_print_json(out, trouble);
    else
        gbx_trouble_print(err, trouble);
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
    gbx_status status = get_report(&args->engine, &json, &refusal.err);

    if (status != GBX_OK)
        gbx_trouble_host(&refusal, status);
    refusal.hint = NULL; /* the hint is to run this command */
    if (status == GBX_E_UNSUPPORTED && args->engine.require == GBX_REQUIRE_STRICT) {
        /* Strict refuses to start: show the state without it, and the refusal. */
        args->engine.require = GBX_REQUIRE_DEFAULT;
        status = get_report(&args->engine, &json, &trouble.err);
    }
    if (status != GBX_OK || !gbx_view_open(json, strlen(json), &report)) {
        print_trouble(args, &out, &err, &refusal);
        return refusal.exit;
    }
    if (args->json) {
        gbx_term_json(&out, json, strlen(json));
        (void)fputc('\n', out.stream);
    } else {
        gbx_doctor_print(&out, report);
    }
    if (refusal.exit != 0) {
        gbx_trouble_print(&err, &refusal);
        return refusal.exit;
    }
    return gbx_doctor_count_layers(report).required_missing == 0
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
    gbx_term err = gbx_term_open(stderr, (gbx_color)args->common.color);
    GBX_CLEANUP(gbx_free) gbx_matrix *matrix = calloc(1, sizeof *matrix);
    gbx_jit jit = args->engine.jit != GBX_JIT_DEFAULT ? (gbx_jit)args->engine.jit
                  : args->engine.require == GBX_REQUIRE_STRICT ? GBX_JIT_OFF
                                                               : GBX_JIT_FULL;
    gbx_trouble trouble = {0};
    gbx_status status;

    if (matrix == NULL)
        status = gbx_fail(&trouble.err, GBX_E_NOMEM, "no memory for the matrix");
    else
        status = gbx_matrix_fill(matrix, jit,
                                 isatty(STDERR_FILENO) == 1 ? show_progress : NULL,
                                 &trouble.err);
    if (status != GBX_OK) {
        gbx_trouble_host(&trouble, status);
        print_trouble(args, &out, &err, &trouble);
        return trouble.exit;
    }
    if (args->json)
        gbx_matrix_print_json(&out, matrix);
    else
        gbx_matrix_print(&out, matrix);
    return gbx_matrix_add_up(matrix).breaches == 0 ? 0
                                                   : gbx_code_exit(GBX_CODE_VIOLATION);
}

static int doctor_main(const gbx_command *self, int argc, char **argv)
{
    doctor_args args = {0};
    void *const into[] = {&args, &args.engine, &args.common};
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    if (count > 0)
        return gbx_command_misuse(self, args.json, "doctor takes no argument");
    return gbx_cli_finish(args.attack ? attack(&args) : doctor(&args));
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
        "tried natively from inside; exit status 20 if one succeeds. None does harm.",
    .examples = "glovebox doctor\n"
                "glovebox doctor --attack\n"
                "glovebox doctor --require strict --json",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = doctor_main,
};
