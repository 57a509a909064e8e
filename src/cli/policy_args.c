/* SPDX-License-Identifier: MIT */
/* policy_args - see cli.h. Arguments never contain a secret's value: every process of
 * the machine can read them. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    GBX_CLEANUP(gbx_free) char *copy = strdup(text);
    char *source;
    char *sites;
    gbx_status status;

    if (copy == NULL)
        return gbx_fail(err, GBX_E_NOMEM, "no memory for the policy");
    source = strchr(copy, '=');
    sites = source != NULL ? strrchr(source, '@') : NULL;
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

/* ---- public to other modules -------------------------------------------- */

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
