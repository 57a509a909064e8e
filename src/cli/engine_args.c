/* SPDX-License-Identifier: MIT */
/* engine_args - options of engines and policies. Ranges of glovebox.h are repeated only
 * to name the option in errors; the library checks them again. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const gbx_form_names[] = {"function", "execute", "body", "script", NULL};
const char *const gbx_require_names[] = {"default", "strict", NULL};
const char *const gbx_jit_names[] = {"full", "baseline", "off", "long", NULL};
static const char *const globals[] = {"standard", "minimal", NULL};
static const char *const speculations[] = {"default", "guarded", NULL};

const gbx_opt gbx_limit_rows[] = {
    GBX_ROW_NUMBER(gbx_options, limits.timeout_ms, "timeout", "MS", 1, 600000,
                   "wall clock of the call, in milliseconds (default 5000)"),
    GBX_ROW_NUMBER(gbx_options, limits.cpu_ms, "cpu", "MS", 1, 600000,
                   "processor time of the call (default: the timeout)"),
    GBX_ROW_MIB(gbx_options, limits.memory_bytes, "memory", 8, 4096,
                "memory of the call, in units of 1,048,576 bytes (default 128)"),
    GBX_ROW_NUMBER(gbx_options, limits.output_bytes, "max-output", "BYTES", 1,
                   268435456,
                   "size of the value as JSON (default 1048576; of mcp 10485760)"),
    {0},
};

const gbx_opt gbx_engine_rows[] = {
    GBX_ROW_CHOICE(gbx_options, require, "require", "LEVEL", GBX_REQUIRE_DEFAULT,
                   gbx_require_names,
                   "default: start if the required layers are in effect; strict: start "
                   "only if all layers are"),
    GBX_ROW_CHOICE(gbx_options, jit, "jit", "LEVEL", GBX_JIT_FULL, gbx_jit_names,
                   "full, baseline, off or long: how much of the just-in-time compiler "
                   "runs (default full; off with --require strict); long suits calls "
                   "of seconds"),
    GBX_ROW_CHOICE(gbx_options, globals, "globals", "SET", GBX_GLOBALS_STANDARD,
                   globals,
                   "standard: ECMAScript without what the lockdown removes; "
                   "minimal: a short list (default standard)"),
    GBX_ROW_TEXT(
        gbx_options, runner_name, "runner", "NAME",
        "where the call runs: process (default); nats://HOST[:PORT][?pool=NAME&"
        "creds=FILE...]: on a machine where 'glovebox runner' waits; memory: in "
        "the command's own process, without isolation, for tests only"),
    GBX_ROW_MIB(
        gbx_options, total_memory_bytes, "total-memory", 64, 1048576,
        "memory of all processes together, in units of 1,048,576 bytes; needs a "
        "delegated control group (default: what the workers may need, at most three "
        "quarters of the memory)"),
    GBX_ROW_NUMBER(
        gbx_options, total_cpu_percent, "total-cpu", "PERCENT", 1, 1000000,
        "processor time of all processes together; 100 is one processor; needs a "
        "delegated control group (default: no limit)"),
    GBX_ROW_NUMBER(
        gbx_options, worker_uid, "worker-uid", "UID", 1, UINT32_MAX - 1,
        "user and group of the processes of calls, if the command runs as root (default: "
        "a free one from 61184 to 65519)"),
    GBX_ROW_CHOICE(
        gbx_options, speculation, "speculation", "LEVEL", GBX_SPECULATION_DEFAULT,
        speculations,
        "default: as the kernel sets it for every program; guarded: calls run without "
        "store bypass and indirect branch speculation, and slower; needs support of the "
        "machine"),
    {0},
};

/* ---- what code may reach: --policy, --allow and the like ------------------------ */

/* Arguments never contain a secret's value: every process of
 * the machine can read them. */

const gbx_opt gbx_policy_rows[] = {
    GBX_ROW_TEXT(
        gbx_policy_args, file, "policy", "FILE",
        "what the code may reach, as JSON; without it and --allow: console and timers"),
    GBX_ROW_LIST(
        gbx_policy_args, allow, "allow", "WHAT",
        "allow one thing more: fetch=SITE,..., file=DIRECTORY,..., crypto, env=NAME,..., "
        "console, timers or functions=NAME,...; repeatable"),
    GBX_ROW_LIST(
        gbx_policy_args, secrets, "secret", "NAME=X@SITE",
        "{{secret:NAME}} in a header becomes the value of the environment variable X, "
        "or of the file X if X has a slash, for SITE,... only. The code never sees it; "
        "repeatable"),
    GBX_ROW_TRUST_FILES(gbx_policy_args, trust_files),
    {0},
};

static bool fail_option(gbx_policy_args *args, const char *option, const char *text,
                        gbx_status status, gbx_trouble *trouble)
{
    (void)snprintf(args->at_fault, sizeof args->at_fault, "%s %.64s", option, text);
    trouble->file = args->at_fault;
    return gbx_trouble_host(trouble, status);
}

/* NAME=SOURCE@SITE,SITE. The last '@' counts: a path may have one, a site has none. */
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
    /* The library's columns are relative to a part of the option: leave them
     * out. */
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
        return gbx_trouble_input(trouble, status);
    }
    status = gbx_policy_parse_with("{}", 2, NULL, flags, ret, err);
    if (status == GBX_OK)
        status = gbx_policy_allow(*ret, "console", err);
    if (status == GBX_OK)
        status = gbx_policy_allow(*ret, "timers", err);
    return gbx_trouble_host(trouble, status);
}

bool gbx_policy_args_make(gbx_policy_args *args, gbx_policy **ret, gbx_trouble *trouble)
{
    GBX_CLEANUP(gbx_policy_release) gbx_policy *policy = NULL;
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

        gbx_buf_init(&line, GBX_KIB(4)); /* PIPE_BUF: written at once */
        if (gbx_buf_puts(&line, "glovebox: warning: ") &&
            gbx_utf8_append_escaped(&line, warning, strlen(warning), GBX_ESCAPE_LINE) &&
            gbx_buf_puts(&line, "\n"))
            (void)gbx_fd_offer(STDERR_FILENO, line.data, line.len, 0);
    }
}
