/* SPDX-License-Identifier: MIT */
/* engine_args - repeats ranges of glovebox.h only to name the option in errors; the
 * library checks them again. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const gbx_form_names[] = {"function", "execute", "body", "script", NULL};
const char *const gbx_require_names[] = {"default", "strict", NULL};
const char *const gbx_jit_names[] = {"full", "baseline", "off", NULL};
static const char *const globals[] = {"standard", "minimal", NULL};
static const char *const speculations[] = {"default", "guarded", NULL};

static const gbx_opt limit_rows[] = {
    {"timeout", "MS", "wall clock of the call, in milliseconds (default 5000)",
     GBX_OPT_NUMBER, offsetof(gbx_limit_args, timeout_ms), 1, 600000, NULL},
    {"cpu", "MS", "processor time of the call (default: the timeout)", GBX_OPT_NUMBER,
     offsetof(gbx_limit_args, cpu_ms), 1, 600000, NULL},
    {"memory", "MB", "memory of the call, in units of 1,048,576 bytes (default 128)",
     GBX_OPT_NUMBER, offsetof(gbx_limit_args, memory_mib), 8, 4096, NULL},
    {"max-output", "BYTES",
     "size of the value as JSON (default 1048576; of mcp 10485760)", GBX_OPT_NUMBER,
     offsetof(gbx_limit_args, output_bytes), 1, 268435456, NULL},
};

static const gbx_opt engine_rows[] = {
    {"require", "LEVEL",
     "default: start if the required layers are in effect; strict: start "
     "only if all layers are",
     GBX_OPT_CHOICE, offsetof(gbx_engine_args, require), GBX_REQUIRE_DEFAULT, 0,
     gbx_require_names},
    {"jit", "LEVEL",
     "full, baseline or off: how much of the just-in-time compiler runs "
     "(default full; off with --require strict)",
     GBX_OPT_CHOICE, offsetof(gbx_engine_args, jit), GBX_JIT_FULL, 0, gbx_jit_names},
    {"globals", "SET",
     "standard: ECMAScript without what the lockdown removes; "
     "minimal: a short list (default standard)",
     GBX_OPT_CHOICE, offsetof(gbx_engine_args, globals), GBX_GLOBALS_STANDARD, 0,
     globals},
    {"runner", "NAME",
     "where the call runs: process (default); memory: in the command's "
     "own process, without isolation, for tests only",
     GBX_OPT_TEXT, offsetof(gbx_engine_args, runner), 0, 0, NULL},
    {"total-memory", "MB",
     "memory of all processes together, in units of 1,048,576 bytes; needs a "
     "delegated control group (default: what the workers may need, at most three "
     "quarters of the memory)",
     GBX_OPT_NUMBER, offsetof(gbx_engine_args, total_memory_mib), 64, 1048576, NULL},
    {"total-cpu", "PERCENT",
     "processor time of all processes together; 100 is one processor; needs a "
     "delegated control group (default: no limit)",
     GBX_OPT_NUMBER, offsetof(gbx_engine_args, total_cpu_percent), 1, 1000000, NULL},
    {"worker-uid", "UID",
     "user and group of the processes of calls, if the command runs as root (default: "
     "a free one from 61184 to 65519)",
     GBX_OPT_NUMBER, offsetof(gbx_engine_args, worker_uid), 1, UINT32_MAX - 1, NULL},
    {"speculation", "LEVEL",
     "default: as the kernel sets it for every program; guarded: calls run without "
     "store bypass and indirect branch speculation, and slower; needs support of the "
     "machine",
     GBX_OPT_CHOICE, offsetof(gbx_engine_args, speculation), GBX_SPECULATION_DEFAULT, 0,
     speculations},
};

const gbx_opt_table gbx_limit_table = {"Limits", limit_rows, GBX_COUNTOF(limit_rows)};
const gbx_opt_table gbx_engine_table = {"Engine", engine_rows,
                                        GBX_COUNTOF(engine_rows)};

gbx_options gbx_engine_args_options(const gbx_engine_args *engine,
                                    const gbx_limit_args *limits)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.require = (gbx_require)engine->require;
    options.jit = (gbx_jit)engine->jit;
    options.globals = (gbx_globals)engine->globals;
    options.runner_name = engine->runner;
    options.total_memory_bytes = GBX_MIB(engine->total_memory_mib);
    options.total_cpu_percent = engine->total_cpu_percent;
    options.worker_uid = (uint32_t)engine->worker_uid;
    options.speculation = (gbx_speculation)engine->speculation;
    if (limits != NULL) {
        options.limits.timeout_ms = (uint32_t)limits->timeout_ms;
        options.limits.cpu_ms = (uint32_t)limits->cpu_ms;
        options.limits.memory_bytes = GBX_MIB(limits->memory_mib);
        options.limits.output_bytes = limits->output_bytes;
    }
    return options;
}

/* ---- what code may reach: --policy, --allow and the like ------------------------ */

/* Arguments never contain a secret's value: every process of
 * the machine can read them. */

static const gbx_opt rows[] = {
    {"policy", "FILE",
     "what the code may reach, as JSON; without it and --allow: console and timers",
     GBX_OPT_TEXT, offsetof(gbx_policy_args, file), 0, 0, NULL},
    {"allow", "WHAT",
     "allow one thing more: fetch=SITE,..., file=DIRECTORY,..., crypto, env=NAME,..., "
     "console, timers or functions=NAME,...; repeatable",
     GBX_OPT_LIST, offsetof(gbx_policy_args, allow), 0, 0, NULL},
    {"secret", "NAME=X@SITE",
     "{{secret:NAME}} in a header becomes the value of the environment variable X, "
     "or of the file X if X has a slash, for SITE,... only. The code never sees it; "
     "repeatable",
     GBX_OPT_LIST, offsetof(gbx_policy_args, secrets), 0, 0, NULL},
    GBX_OPT_TRUST_FILES(gbx_policy_args, trust_files),
};

static bool fail_option(gbx_policy_args *args, const char *option, const char *text,
                        gbx_status status, gbx_trouble *trouble)
{
    (void)snprintf(args->at_fault, sizeof args->at_fault, "%s %.64s", option, text);
    trouble->file = args->at_fault;
    gbx_trouble_host(trouble, status);
    return false;
}

/* NAME=SOURCE@SITE,SITE. A path may have an '@' in it, a site has none: the last counts. */
static gbx_status add_secret(gbx_policy *policy, const char *text, gbx_error *err)
{
    GBX_CLEANUP(gbx_free) char *copy = gbx_need(strdup(text));
    char *source = strchr(copy, '=');
    char *sites = source != NULL ? strrchr(source, '@') : NULL;
    gbx_status status;

    if (sites == NULL)
        return gbx_fail(err, GBX_E_USAGE,
                        "'--secret' needs NAME=X@SITE: X is the name of an "
                        "environment variable, or the path of a file");
    *source++ = '\0';
    *sites++ = '\0';
    status = gbx_policy_secret_from(policy, copy, source, sites, NULL, err);
    /* The library's columns are relative to a part: here only the whole can be
     * shown. */
    if (status != GBX_OK)
        err->line = err->column = 0;
    return status;
}

static bool begin(gbx_policy_args *args, gbx_policy **ret, gbx_trouble *trouble)
{
    const uint32_t flags = args->trust_files ? GBX_POLICY_TRUST_FILES : 0;
    gbx_error *err = &trouble->err;
    gbx_status status = GBX_OK;

    if (args->file != NULL) {
        status = gbx_policy_load_with(args->file, flags, ret, err);
        if (status == GBX_OK)
            return true;
        trouble->file = args->file;
        gbx_trouble_input(trouble, status);
        return false;
    }
    status = gbx_policy_parse_with("{}", 2, NULL, flags, ret, err);
    if (status == GBX_OK)
        status = gbx_policy_allow(*ret, "console", err);
    if (status == GBX_OK)
        status = gbx_policy_allow(*ret, "timers", err);
    if (status != GBX_OK)
        gbx_trouble_host(trouble, status);
    return status == GBX_OK;
}

static void release(gbx_policy **policy)
{
    gbx_policy_free(*policy);
}

const gbx_opt_table gbx_policy_table = {"Policy", rows, GBX_COUNTOF(rows)};

bool gbx_policy_args_make(gbx_policy_args *args, gbx_policy **ret, gbx_trouble *trouble)
{
    GBX_CLEANUP(release) gbx_policy *policy = NULL;
    gbx_status status;

    *ret = NULL;
    if (args->file == NULL && args->allow.count == 0 && args->secrets.count == 0)
        return true;
    if (args->file != NULL || args->secrets.count > 0)
        gbx_cli_hide_memory();
    if (!begin(args, &policy, trouble))
        return false;
    for (size_t i = 0; i < args->allow.count; i++) {
        status = gbx_policy_allow(policy, args->allow.item[i], &trouble->err);
        if (status != GBX_OK)
            return fail_option(args, "--allow", args->allow.item[i], status, trouble);
    }
    for (size_t i = 0; i < args->secrets.count; i++) {
        status = add_secret(policy, args->secrets.item[i], &trouble->err);
        if (status != GBX_OK)
            return fail_option(args, "--secret", args->secrets.item[i], status,
                               trouble);
    }
    gbx_policy_print_warnings(policy);
    *ret = policy;
    policy = NULL;
    return true;
}

void gbx_policy_print_warnings(const gbx_policy *policy)
{
    const char *warning;

    for (size_t i = 0; (warning = gbx_policy_warning(policy, i)) != NULL; i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line;

        gbx_buf_init(&line, GBX_KIB(4)); /* a pipe accepts so much at once */
        if (gbx_buf_puts(&line, "glovebox: warning: ") &&
            gbx_utf8_append_escaped(&line, warning, strlen(warning), GBX_ESCAPE_LINE) &&
            gbx_buf_puts(&line, "\n"))
            (void)gbx_fd_offer(STDERR_FILENO, line.data, line.len, 0);
    }
}
