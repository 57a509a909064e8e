/* SPDX-License-Identifier: MIT */
/* cmd_check - `glovebox check`: only the guard, without engine or process. */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"

#include <string.h>

#define CODE_FILE_MAX GBX_MIB(16)
#define JSON_MAX      GBX_MIB(1)

typedef struct check_args {
    int form; /* gbx_form */
    bool json;
    gbx_policy_args policy;
    gbx_common_args common;
} check_args;

static const char *const forms[] = {"function", "execute", "body", "script", NULL};

static const gbx_opt rows[] = {
    {"form", "FORM", "function (default), execute, body or script: as for 'run'",
     GBX_OPT_CHOICE, offsetof(check_args, form), GBX_FORM_FUNCTION, 0, forms},
    {"json", NULL, "print one JSON object with every violation", GBX_OPT_FLAG,
     offsetof(check_args, json), 0, 0, NULL},
};

static const gbx_opt_table table = {"Options", rows, GBX_COUNTOF(rows)};
static const gbx_opt_table *const tables[] = {&table, &gbx_policy_table,
                                              &gbx_common_table};

static void append_member(gbx_buf *buf, const char *name, const char *text)
{
    (void)gbx_buf_printf(buf, ",\"%s\":", name);
    (void)gbx_json_append_string(buf, text, strlen(text));
}

static void print_json(const gbx_term *out, const gbx_report *report)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};
    size_t count = gbx_report_count(report);

    gbx_buf_init(&buf, JSON_MAX);
    (void)gbx_buf_printf(&buf, "{\"ok\":%s,\"violations\":[",
                         count == 0 ? "true" : "false");
    for (size_t i = 0; i < count; i++) {
        gbx_violation v = gbx_report_get(report, i);

        (void)gbx_buf_printf(&buf, "%s{\"code\":\"%s\",\"line\":%u,\"column\":%u",
                             i == 0 ? "" : ",", gbx_code_name(v.code), v.line,
                             v.column);
        append_member(&buf, "rule", v.rule);
        append_member(&buf, "message", v.message);
        append_member(&buf, "hint", v.hint);
        append_member(&buf, "frame", v.frame);
        (void)gbx_buf_puts(&buf, "}");
    }
    if (gbx_buf_puts(&buf, "]}"))
        gbx_term_json(out, (const char *)buf.data, buf.len);
    (void)fputc('\n', out->stream);
}

static void print_text(const gbx_term *err, const char *file, const gbx_report *report)
{
    size_t count = gbx_report_count(report);

    for (size_t i = 0; i < count; i++) {
        gbx_violation v = gbx_report_get(report, i);

        gbx_term_foreign(err, file, strlen(file), GBX_ESCAPE_LINE);
        (void)fprintf(err->stream, ":%u:%u: ", v.line, v.column);
        gbx_term_paint(err, GBX_PAINT_RED, "%s", gbx_code_name(v.code));
        (void)fputs(": ", err->stream);
        gbx_term_foreign(err, v.message, strlen(v.message), GBX_ESCAPE_LINE);
        (void)fprintf(err->stream, " [%s]\n", v.rule);
        gbx_term_block(err, v.frame, 2);
        if (*v.hint != '\0') {
            gbx_term_paint(err, GBX_PAINT_CYAN, "  hint: ");
            gbx_term_foreign(err, v.hint, strlen(v.hint), GBX_ESCAPE_LINE);
            (void)fputc('\n', err->stream);
        }
    }
}

static void free_policy(gbx_policy **policy)
{
    gbx_policy_free(*policy);
}

/* Read and check; on failure *trouble says why. */
static bool check(const char *path, check_args *args, gbx_file_text *text,
                  gbx_report **ret_report, gbx_trouble *trouble)
{
    GBX_CLEANUP(free_policy) gbx_policy *policy = NULL;
    gbx_status status;

    if (!gbx_policy_args_make(&args->policy, &policy, trouble))
        return false;
    status = gbx_file_text_read(path, CODE_FILE_MAX, text, &trouble->err);

    if (status == GBX_E_DATA) {
        gbx_trouble_code(trouble, GBX_CODE_INVALID_CODE, NULL);
        return false;
    }
    if (status != GBX_OK) {
        gbx_trouble_input(trouble, status);
        return false;
    }
    if (gbx_file_text_check_utf8(text, &trouble->err) != GBX_OK) {
        gbx_trouble_code(trouble, GBX_CODE_INVALID_CODE, text->name);
        return false;
    }
    status = gbx_policy_check(policy, text->data, text->len, (gbx_form)args->form, NULL,
                              ret_report, &trouble->err);
    if (status != GBX_OK)
        gbx_trouble_host(trouble, status);
    return status == GBX_OK;
}

static void free_report(gbx_report **report)
{
    gbx_report_free(*report);
}

static int check_main(const gbx_command *self, int argc, char **argv)
{
    check_args args = {0};
    void *const into[] = {&args, &args.policy, &args.common};
    GBX_CLEANUP(gbx_file_text_cleanup) gbx_file_text text = {0};
    GBX_CLEANUP(free_report) gbx_report *report = NULL;
    gbx_trouble trouble = {0};
    gbx_term out;
    gbx_term err;
    int count = 0;
    int status = gbx_command_parse(self, into, argc, argv, &count);

    if (status >= 0)
        return status;
    if (count > 1)
        return gbx_command_misuse(self, args.json, "check takes one file");
    out = gbx_term_open(stdout, (gbx_color)args.common.color);
    err = gbx_term_open(stderr, (gbx_color)args.common.color);
    if (!check(count == 1 ? argv[0] : "-", &args, &text, &report, &trouble)) {
        if (args.json)
            gbx_trouble_print_json(&out, &trouble);
        else
            gbx_trouble_print(&err, &trouble);
        return gbx_cli_finish(trouble.exit);
    }
    if (args.json)
        print_json(&out, report);
    else
        print_text(&err, text.name, report);
    return gbx_cli_finish(gbx_report_count(report) == 0
                              ? 0
                              : gbx_code_exit(gbx_report_get(report, 0).code));
}

const gbx_command gbx_command_check = {
    .name = "check",
    .summary = "check code without running it",
    .usage = "check [FILE | -] [options]",
    .description =
        "Parses the code of FILE, or of standard input, and names everything that 'run'\n"
        "would refuse, with its position. Runs nothing. Without a violation it prints\n"
        "nothing and exits with 0; else with the status of the first violation: 15\n"
        "(INVALID_CODE) or 12 (SYNTAX). Code that passes can still fail: the check saves\n"
        "work, the seal protects. The options of 'run' that allow something count here.",
    .examples = "glovebox check report.js\n"
                "glovebox check sync.js --allow fetch=api.example.com\n"
                "cat tool.js | glovebox check --form body --json",
    .tables = tables,
    .table_count = GBX_COUNTOF(tables),
    .run = check_main,
};
