/* SPDX-License-Identifier: MIT */
/* cmd_bench - `glovebox bench`: measures here and now, without comparing. */
#include "base/cleanup.h"
#include "base/json.h"
#include "bench/bench.h"
#include "cli/cli.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define JSON_MAX GBX_KIB(64)

typedef struct bench_args {
    bool json;
    gbx_engine_args engine;
    gbx_common_args common;
} bench_args;

static const gbx_opt rows[] = {
    {"json", NULL, "print one JSON object", GBX_OPT_FLAG, offsetof(bench_args, json), 0,
     0, NULL},
};

static const gbx_opt_table table = {"Options", rows, GBX_COUNTOF(rows)};
static const gbx_opt_table *const tables[] = {&table, &gbx_engine_table,
                                              &gbx_common_table};

static const struct {
    const char *progress;
    void (*measure)(gbx_bench *bench);
} groups[] = {
    {"calls", gbx_bench_calls},          {"deadlines and aborts", gbx_bench_ends},
    {"100,000 records", gbx_bench_data}, {"computing", gbx_bench_compute},
    {"processes", gbx_bench_processes},
};

static void print_json(const gbx_term *out, const gbx_bench *bench,
                       const struct utsname *machine, long cpus)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};

    gbx_buf_init(&buf, JSON_MAX);
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

static int bench_main(const gbx_command *self, int argc, char **argv)
{
    bench_args args = {0};
    void *const into[] = {&args, &args.engine, &args.common};
    gbx_options options;
    gbx_bench bench = {.options = &options};
    struct utsname machine = {0};
    gbx_trouble trouble = {0};
    gbx_engine *engine;
    gbx_term out;
    bool shows_progress = isatty(STDERR_FILENO) == 1;
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    if (count > 0)
        return gbx_command_misuse(self, args.json, "bench takes no argument");
    options = gbx_engine_args_options(&args.engine, NULL);
    engine = gbx_bench_engine(&bench, NULL, 0, &trouble.err);
    if (engine == NULL) { /* the machine cannot run a call */
        gbx_trouble_host(&trouble, trouble.err.status);
        return gbx_cli_finish(
            gbx_trouble_report(&trouble, args.json, args.common.color));
    }
    gbx_engine_free(engine);
    for (size_t i = 0; i < GBX_COUNTOF(groups); i++) {
        if (shows_progress)
            (void)fprintf(stderr, "measuring %s ...\n", groups[i].progress);
        groups[i].measure(&bench);
    }
    out = gbx_term_open(stdout, (gbx_color)args.common.color);
    (void)uname(&machine);
    if (args.json)
        print_json(&out, &bench, &machine, sysconf(_SC_NPROCESSORS_ONLN));
    else
        print_table(&out, &bench, &machine, sysconf(_SC_NPROCESSORS_ONLN));
    return gbx_cli_finish(0);
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
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = bench_main,
};
