/* SPDX-License-Identifier: MIT */
/* doctor - prints all of the report, known or not: a member that a later library adds
 * appears by itself. */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <string.h>

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

/* ---- public to other modules -------------------------------------------- */

gbx_doctor_count gbx_doctor_count_layers(gbx_view report)
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

void gbx_doctor_print(const gbx_term *out, gbx_view report)
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
