/* SPDX-License-Identifier: MIT */
/* cmd_audit - `glovebox audit`: grades an MCP server by whether its tools' arguments
 * can reach code, a shell or a weak sandbox. */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "scan/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX GBX_MIB(256)

typedef struct audit_args {
    gbx_common_args common;
    bool json;
    bool sarif;
    const char *html;
    int least; /* index in grades, from 1; 0: C */
} audit_args;

static const char *const grades[] = {"A", "B", "C", "D", "F", NULL};

static const gbx_opt rows[] = {
    GBX_ROW_FLAG(audit_args, json, "json", "print one JSON object with every finding"),
    GBX_ROW_FLAG(audit_args, sarif, "sarif",
                 "print SARIF 2.1.0, as code hosts and editors show it"),
    GBX_ROW_TEXT(audit_args, html, "html", "FILE",
                 "write the report as one page, without scripts; \"-\": to standard "
                 "output, and nothing else"),
    GBX_ROW_CHOICE(audit_args, least, "min", "GRADE", 1, grades,
                   "A, B, C (default), D or F: the lowest grade that is a success"),
    {0},
};

static const gbx_opt_group groups[] = {
    {"Options", rows, 0},
    GBX_COMMON_GROUP,
    {0},
};

/* pieces: [{"paint","text"}, ...]. The text comes from the project: escape it. */
static void print_text(const gbx_term *out, gbx_view pieces)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view piece;

    while (gbx_view_next(pieces, &cursor, &name, &piece)) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf raw = {.ceiling = TEXT_MAX};
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf safe = {.ceiling = TEXT_MAX};
        const gbx_view paint = gbx_view_member(piece, "paint");
        uint64_t number = GBX_PAINT_NONE;

        (void)gbx_view_append_text(gbx_view_member(piece, "text"), &raw);
        (void)gbx_decimal_read(paint.at, paint.len, GBX_PAINT_CYAN, &number);
        if (raw.len == 0 || !gbx_utf8_append_escaped(&safe, (const char *)raw.data,
                                                     raw.len, GBX_ESCAPE_TEXT))
            continue;
        gbx_term_paint(out, (gbx_paint)number, "%.*s", (int)safe.len,
                       (const char *)safe.data);
    }
}

static bool write_page(const char *path, gbx_view report, gbx_trouble *trouble)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf page = {.ceiling = TEXT_MAX};

    (void)gbx_view_append_text(gbx_view_member(report, "html"), &page);
    (void)gbx_need(page.failed ? NULL : page.data);
    if (strcmp(path, "-") == 0) {
        (void)fwrite(page.data, 1, page.len, stdout);
        return true;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd >= 0 && gbx_fd_write(fd, page.data, page.len))
        return true;
    return gbx_trouble_output(trouble,
                              gbx_fail(&trouble->err, GBX_E_OS, "cannot write '%s': %s",
                                       path, gbx_fail_reason(errno)));
}

static bool print_report(const audit_args *args, gbx_view report, gbx_trouble *trouble)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json = {.ceiling = TEXT_MAX};
    gbx_term out = gbx_term_open(stdout, (gbx_color)args->common.color);

    if (args->html != NULL && !write_page(args->html, report, trouble))
        return false;
    if (args->html != NULL && strcmp(args->html, "-") == 0)
        return true;
    if (!args->json && !args->sarif) {
        print_text(&out, gbx_view_member(report, "text"));
        return true;
    }
    (void)gbx_view_append_text(gbx_view_member(report, args->json ? "json" : "sarif"),
                               &json);
    gbx_term_json_line(&out, &json);
    return true;
}

static int audit_main(void *parsed)
{
    audit_args *args = parsed;
    GBX_CLEANUP(gbx_interrupt_stop) gbx_interrupt interrupt = {0};
    GBX_CLEANUP(gbx_scan_free) gbx_scan scan = {0};
    gbx_trouble trouble = {0};
    gbx_status status;

    if (args->json && args->sarif)
        return gbx_command_misuse(args->common.command, false,
                                  "either --json or --sarif");
    scan.path = args->common.word_count == 1 ? args->common.words[0] : ".";
    scan.least = args->least > 0 ? grades[args->least - 1] : "C";
    status = gbx_interrupt_start(&interrupt, &trouble.err);
    scan.signal = interrupt.abort;
    if (status == GBX_OK)
        status = gbx_scan_run(&scan, &trouble.err);
    if (!gbx_trouble_input(&trouble, status) ||
        !print_report(args, scan.report, &trouble))
        return gbx_trouble_report(&trouble, args->json, args->common.color);
    return gbx_view_is_true(gbx_view_member(scan.report, "isFine"))
               ? 0
               : GBX_CLI_EXIT_BELOW_GRADE;
}

const gbx_command gbx_command_audit = {
    .name = "audit",
    .summary = "grade an MCP server by what its tools' arguments can reach",
    .usage = "audit [DIR | FILE | PACKAGE.tgz] [options]",
    .description =
        "Reads the JavaScript and TypeScript of an MCP server, here or in DIR, FILE or\n"
        "a package as npm packs it. Follows the arguments of its tools through\n"
        "variables, calls and files, and reports where they are run as code, where they\n"
        "reach a shell, and sandboxes that do not hold, with what to write instead.\n"
        "Each finding takes points from 100; the grade is A to F. Nothing of the server\n"
        "is run: sealed processes parse it. Exits with 0 at the grade of --min or\n"
        "above, else with 1. Tests and node_modules are left out.",
    .examples = "glovebox audit\n"
                "glovebox audit ~/src/my-server --html report.html\n"
                "glovebox audit my-server-1.0.0.tgz --min A --json",
    .groups = groups,
    .args_size = sizeof(audit_args),
    .words_max = 1,
    .words_wrong = "audit takes one folder, file or package",
    .run = audit_main,
};
