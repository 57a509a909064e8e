/* SPDX-License-Identifier: MIT */
/* cmd_bench - `glovebox bench`: measures this machine. */
#include "base/cleanup.h"
#include "base/json.h"
#include "bench/bench.h"
#include "cli/cli.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define JSON_MAX GBX_KIB(64)

typedef struct bench_args {
    gbx_common_args common;
    bool json;
} bench_args;

static const gbx_opt rows[] = {
    GBX_ROW_FLAG(bench_args, json, "json", "print one JSON object"),
    {0},
};

static const gbx_opt_group groups[] = {
    {"Options", rows, 0},
    {"Engine", gbx_engine_rows, offsetof(gbx_common_args, options)},
    GBX_COMMON_GROUP,
    {0},
};

static const struct {
    const char *progress;
    void (*measure)(gbx_bench *bench);
} stages[] = {
    {"calls", gbx_bench_calls},          {"deadlines and aborts", gbx_bench_ends},
    {"100,000 records", gbx_bench_data}, {"computing", gbx_bench_compute},
    {"processes", gbx_bench_processes},  {"engines", gbx_bench_engines},
};

static void print_json(const gbx_term *out, const gbx_bench *bench,
                       const struct utsname *machine, long cpus)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = JSON_MAX};

    gbx_json_put_open(&buf, NULL, '{');
    gbx_json_put_text(&buf, "version", gbx_version());
    gbx_json_put_text(&buf, "kernel", machine->release);
    gbx_json_put_text(&buf, "machine", machine->machine);
    gbx_json_put_integer(&buf, "cpus", cpus);
    gbx_json_put_open(&buf, "measures", '[');
    for (size_t i = 0; i < bench->count; i++) {
        const gbx_bench_row *row = &bench->rows[i];

        gbx_json_put_open(&buf, NULL, '{');
        gbx_json_put_text(&buf, "id", row->id);
        gbx_json_put_text(&buf, "name", row->label);
        if (row->skipped[0] != '\0') {
            gbx_json_put_text(&buf, "skipped", row->skipped);
        } else {
            gbx_json_put_number(&buf, "value", row->value);
            gbx_json_put_text(&buf, "unit", row->unit);
        }
        gbx_json_put_text(&buf, "code", row->code);
        (void)gbx_buf_puts(&buf, "}");
    }
    (void)gbx_buf_puts(&buf, "]}");
    gbx_term_json_line(out, &buf);
}

static void print_table(const gbx_term *out, const gbx_bench *bench,
                        const struct utsname *machine, long cpus)
{
    (void)fprintf(out->stream, "glovebox %s, Linux %s, %s, %ld CPUs\n\n", gbx_version(),
                  machine->release, machine->machine, cpus);
    for (size_t i = 0; i < bench->count; i++) {
        const gbx_bench_row *row = &bench->rows[i];

        (void)fprintf(out->stream, "  %-47s", row->label);
        if (row->skipped[0] == '\0') {
            gbx_term_paint(out, GBX_PAINT_BOLD, "%10.*f",
                           row->value < 10    ? 3
                           : row->value < 100 ? 1
                                              : 0,
                           row->value);
            (void)fprintf(out->stream, " %s\n", row->unit);
        } else {
            gbx_term_paint(out, GBX_PAINT_YELLOW, "   skipped: ");
            gbx_term_print(out, "%s\n", row->skipped);
        }
    }
}

static int bench_main(void *parsed)
{
    bench_args *args = parsed;
    gbx_bench bench = {.options = &args->common.options};
    struct utsname machine = {0};
    gbx_trouble trouble = {0};
    gbx_engine *engine = gbx_bench_engine(&bench, NULL, 0, &trouble.err);
    gbx_term out;
    bool shows_progress = isatty(STDERR_FILENO) == 1;

    if (engine == NULL) { /* the machine cannot run a call */
        (void)gbx_trouble_host(&trouble, trouble.err.status);
        return gbx_trouble_report(&trouble, args->json, args->common.color);
    }
    gbx_engine_free(engine);
    for (size_t i = 0; i < GBX_COUNTOF(stages); i++) {
        if (shows_progress)
            (void)fprintf(stderr, "measuring %s ...\n", stages[i].progress);
        stages[i].measure(&bench);
    }
    out = gbx_term_open(stdout, (gbx_color)args->common.color);
    (void)uname(&machine);
    if (args->json)
        print_json(&out, &bench, &machine, sysconf(_SC_NPROCESSORS_ONLN));
    else
        print_table(&out, &bench, &machine, sysconf(_SC_NPROCESSORS_ONLN));
    return 0;
}

const gbx_command gbx_command_bench = {
    .name = "bench",
    .summary = "measure calls, data, computing and memory on this machine",
    .usage = "bench [options]",
    .description =
        "Measures this machine: calls warm and cold, one after the other and many a second,\n"
        "deadlines and aborts, 100,000 records, computing, and the memory of an idle\n"
        "worker. Takes about half a minute; other load distorts it.",
    .examples = "glovebox bench\n"
                "glovebox bench --jit off --json",
    .groups = groups,
    .args_size = sizeof(bench_args),
    .run = bench_main,
};
