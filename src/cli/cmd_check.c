/* SPDX-License-Identifier: MIT */
/*
 * cmd_check - `glovebox check`: checks code with the guard. If that finds nothing, a
 * worker compiles the code without running it.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"

#include <string.h>

#define CODE_FILE_MAX GBX_MIB(16)
#define JSON_MAX      GBX_MIB(1)

typedef struct check_args {
    gbx_common_args common;
    int form; /* gbx_form */
    bool json;
    gbx_policy_args policy;
} check_args;

static const gbx_opt rows[] = {
    GBX_ROW_CHOICE(check_args, form, "form", "FORM", GBX_FORM_FUNCTION, gbx_form_names,
                   "function (default), execute, body or script: as for 'run'"),
    GBX_ROW_FLAG(check_args, json, "json",
                 "print one JSON object with every violation"),
    {0},
};

static const gbx_opt_group groups[] = {
    {"Options", rows, 0},
    {"Policy", gbx_policy_rows, offsetof(check_args, policy)},
    GBX_COMMON_GROUP,
    {0},
};

/* Findings of the guard, or of the worker, which take precedence. */
typedef struct findings {
    gbx_report *report;
    gbx_result *result; /* of a worker; or NULL */
} findings;

static bool is_refused(const findings *f)
{
    return f->result != NULL && gbx_result_code(f->result) != GBX_CODE_VALUE;
}

static size_t count_of(const findings *f)
{
    return is_refused(f) ? 1 : gbx_report_count(f->report);
}

static gbx_violation violation_of(const findings *f, size_t i)
{
    gbx_location at;

    if (!is_refused(f))
        return gbx_report_get(f->report, i);
    at = gbx_result_location(f->result);
    return (gbx_violation){.code = gbx_result_code(f->result),
                           .line = at.line,
                           .column = at.column,
                           .rule = gbx_result_code(f->result) == GBX_CODE_SYNTAX
                                       ? "syntax"
                                       : "worker",
                           .message = gbx_result_error(f->result),
                           .hint = gbx_result_hint(f->result),
                           .frame = at.frame};
}

static void print_json(const gbx_term *out, const findings *found)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = JSON_MAX};
    size_t count = count_of(found);

    gbx_json_put_open(&buf, NULL, '{');
    gbx_json_put_bool(&buf, "ok", count == 0);
    gbx_json_put_open(&buf, "violations", '[');
    for (size_t i = 0; i < count; i++) {
        gbx_violation v = violation_of(found, i);

        gbx_json_put_open(&buf, NULL, '{');
        gbx_json_put_text(&buf, "code", gbx_code_name(v.code));
        gbx_json_put_integer(&buf, "line", v.line);
        gbx_json_put_integer(&buf, "column", v.column);
        gbx_json_put_text(&buf, "rule", v.rule);
        gbx_json_put_text(&buf, "message", v.message);
        gbx_json_put_text(&buf, "hint", v.hint);
        gbx_json_put_text(&buf, "frame", v.frame);
        (void)gbx_buf_puts(&buf, "}");
    }
    (void)gbx_buf_puts(&buf, "]}");
    gbx_term_json_line(out, &buf);
}

static void print_text(const gbx_term *err, const char *file, const findings *found)
{
    size_t count = count_of(found);

    for (size_t i = 0; i < count; i++) {
        gbx_violation v = violation_of(found, i);

        gbx_term_print(err, "%s:%u:%u: ", file, v.line, v.column);
        gbx_term_paint(err, GBX_PAINT_RED, "%s", gbx_code_name(v.code));
        gbx_term_print(err, ": %s [%s]\n", v.message, v.rule);
        gbx_term_block(err, v.frame, 2);
        if (*v.hint != '\0') {
            gbx_term_paint(err, GBX_PAINT_CYAN, "  hint: ");
            gbx_term_print(err, "%s\n", v.hint);
        }
    }
}

/* Compile in a worker: the guard knows JavaScript's grammar, not its other rules. */
static bool ask_worker(const check_args *args, gbx_policy *policy,
                       const gbx_file_text *text, findings *ret, gbx_trouble *trouble)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = GBX_CALL_INIT;
    gbx_engine *engine = NULL;
    gbx_status status;

    options.pool_size = 1;
    options.max_workers = 1;
    options.policy = policy;
    call.form = (gbx_form)args->form;
    call.flags = GBX_CALL_COMPILE;
    call.code = text->data;
    call.code_len = text->len;
    status = gbx_engine_new(&options, &engine, &trouble->err);
    if (status == GBX_OK)
        status = gbx_execute(engine, &call, &ret->result, &trouble->err);
    gbx_engine_free(engine);
    return gbx_trouble_host(trouble, status);
}

/* Read and check; on failure *trouble says why. */
static bool check(const char *path, check_args *args, gbx_file_text *text,
                  findings *ret, gbx_trouble *trouble)
{
    GBX_CLEANUP(gbx_policy_release) gbx_policy *policy = NULL;
    gbx_status status;

    if (!gbx_policy_args_make(&args->policy, &policy, trouble))
        return false;
    status = gbx_file_text_read(path, CODE_FILE_MAX, text, &trouble->err);
    if (status == GBX_E_DATA)
        return gbx_trouble_code(trouble, GBX_CODE_INVALID_CODE, NULL);
    if (!gbx_trouble_input(trouble, status))
        return false;
    if (gbx_file_text_check_utf8(text, &trouble->err) != GBX_OK)
        return gbx_trouble_code(trouble, GBX_CODE_INVALID_CODE, text->name);
    status = gbx_policy_check(policy, text->data, text->len, (gbx_form)args->form, NULL,
                              &ret->report, &trouble->err);
    if (!gbx_trouble_host(trouble, status))
        return false;
    if (gbx_report_count(ret->report) > 0) {
        gbx_violation first = gbx_report_get(ret->report, 0);

        if (first.code != GBX_CODE_SYNTAX || first.hint[0] != 0)
            return true;
    }
    /* The guard found nothing, or a syntax error without a hint. */
    return ask_worker(args, policy, text, ret, trouble);
}

static void free_findings(findings *found)
{
    gbx_report_free(found->report);
    gbx_result_free(found->result);
}

static int check_main(void *parsed)
{
    check_args *args = parsed;
    gbx_term out = gbx_term_open(stdout, (gbx_color)args->common.color);
    gbx_term err = gbx_term_open(stderr, (gbx_color)args->common.color);
    GBX_CLEANUP(gbx_file_text_cleanup) gbx_file_text text = {0};
    GBX_CLEANUP(free_findings) findings found = {NULL, NULL};
    gbx_trouble trouble = {0};

    if (!check(args->common.word_count == 1 ? args->common.words[0] : "-", args, &text,
               &found, &trouble))
        return gbx_trouble_report(&trouble, args->json, args->common.color);
    if (args->json)
        print_json(&out, &found);
    else
        print_text(&err, text.name, &found);
    return count_of(&found) == 0 ? 0 : gbx_code_exit(violation_of(&found, 0).code);
}

const gbx_command gbx_command_check = {
    .name = "check",
    .summary = "check code without running it",
    .usage = "check [FILE | -] [options]",
    .description =
        "Parses the code of FILE, or of standard input, and names everything that 'run'\n"
        "would refuse, with its position. If nothing is found, a sealed process compiles\n"
        "the code. Runs nothing. Without a violation it prints nothing and exits with 0;\n"
        "else with the status of the first violation: 15 (INVALID_CODE) or 12 (SYNTAX).\n"
        "Code that passes can still fail. The options of 'run' that allow something count\n"
        "here.",
    .examples = "glovebox check report.js\n"
                "glovebox check sync.js --allow fetch=api.example.com\n"
                "cat tool.js | glovebox check --form body --json",
    .groups = groups,
    .args_size = sizeof(check_args),
    .words_max = 1,
    .words_wrong = "check takes one file",
    .run = check_main,
};
