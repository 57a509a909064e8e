/* SPDX-License-Identifier: MIT */
/* mcp_prompts - the words are for a model; what it knows of data and servers it has from
 * the descriptions of the tools, so that is not said twice. */
#include "cli/mcp_prompts.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/nearest.h"
#include "mcp/rpc/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX GBX_MIB(1)

static const char compute_words[] =
    ", which takes one function. The function sees the data, you do not: fields and "
    "types are in the tool's description. Return what answers the question (counts, "
    "sums, a few rows), never whole datasets. If a call fails, repair the code as the "
    "error says and call again.";

static const char execute_words[] =
    ", which takes one script. Look up the tools that you need first, with their "
    "types. Call what is independent at once with "
    "Promise.all, filter and join in the code, and return what was asked for, not what "
    "was read. Where the script would change something, be sure that it is meant.";

static bool is_known(const gbx_mcp_prompt_about *about, const char *name)
{
    for (size_t i = 0; i < about->count; i++)
        if (strcmp(about->names[i], name) == 0)
            return true;
    return false;
}

static void fail_unknown(const gbx_mcp_prompt_about *about, gbx_mcp_request *request,
                         const char *name)
{
    const char *nearest =
        gbx_nearest(name, (const char *const *)about->names, about->count);
    char text[512];

    (void)snprintf(text, sizeof text, "there is no %s '%.100s'%s%s%s", about->thing,
                   name, nearest != NULL ? ": did you mean '" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    gbx_mcp_fail(request, GBX_MCP_INVALID_PARAMS, text);
}

/* The one that it is about, which is known, or "" if it is left out; forms of hosts send an
 * empty text for that, and some clients null. False: the request has failed. */
static bool take_name(const gbx_mcp_prompt_about *about, gbx_mcp_request *request,
                      gbx_view arguments, char *ret, size_t size)
{
    gbx_view view = gbx_view_member(arguments, about->thing);
    char text[128];

    *ret = '\0';
    if (view.at == NULL || gbx_view_kind(view) == 'n')
        return true;
    if (!gbx_rpc_copy_text(view, ret, size)) {
        (void)snprintf(text, sizeof text, "'%s' is not the name of a %s", about->thing,
                       about->thing);
        gbx_mcp_fail(request, GBX_MCP_INVALID_PARAMS, text);
        return false;
    }
    if (*ret == '\0' || is_known(about, ret))
        return true;
    fail_unknown(about, request, ret);
    return false;
}

static void on_get(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    const gbx_mcp_prompt_about *about = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = TEXT_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf result = {.ceiling = TEXT_MAX * 2};
    bool is_data = strcmp(about->thing, "dataset") == 0;
    char name[1024];

    if (!take_name(about, request, arguments, name, sizeof name))
        return;
    (void)gbx_view_append_text(gbx_view_member(arguments, "task"), &text);
    if (name[0] != '\0')
        (void)gbx_buf_printf(&text, "\n\nThis is about the %s %s.", about->thing, name);
    (void)gbx_buf_printf(&text, "\n\nUse the tool %s", about->tool);
    (void)gbx_buf_puts(&text, is_data ? compute_words : execute_words);
    (void)gbx_buf_puts(&result,
                       "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":"
                       "\"text\",\"text\":");
    (void)gbx_json_append_string(&result, text.data, text.len);
    (void)gbx_buf_puts(&result, "}}]}");
    if (text.failed || result.failed)
        gbx_mcp_fail(request, GBX_MCP_INVALID_PARAMS, "the task is too long");
    else
        gbx_mcp_finish_prompt(request, (char *)result.data, result.len);
}

static void on_complete(void *user, const char *argument, const char *prefix,
                        gbx_buf *names)
{
    const gbx_mcp_prompt_about *about = user;
    const char *comma = "";

    for (size_t i = 0; strcmp(argument, about->thing) == 0 && i < about->count; i++) {
        if (strncmp(about->names[i], prefix, strlen(prefix)) != 0)
            continue;
        (void)gbx_buf_puts(names, comma);
        (void)gbx_json_append_string(names, about->names[i], strlen(about->names[i]));
        comma = ",";
    }
}

/* Up to its '=', if it has one. */
static bool add_name(gbx_mcp_prompt_about *about, const char *text)
{
    char **more = reallocarray(about->names, about->count + 1, sizeof *more);

    if (more == NULL)
        return false;
    about->names = more;
    more[about->count] = strndup(text, strcspn(text, "="));
    if (more[about->count] == NULL)
        return false;
    about->count++;
    return true;
}

static bool offer(gbx_mcp_prompt_about *about, gbx_mcp_server *server,
                  const char *description)
{
    char arguments[512];

    (void)
        snprintf(arguments, sizeof arguments,
                 "[{\"name\":\"task\",\"description\":\"what is to be found out or "
                 "done\",\"required\":true},{\"name\":\"%s\",\"description\":\"the %s "
                 "that it is about, if it is one\",\"required\":false}]",
                 about->thing, about->thing);
    return gbx_mcp_server_set_prompt(server,
                                     &(gbx_mcp_prompt){.name = about->tool,
                                                       .description = description,
                                                       .arguments = arguments,
                                                       .get = on_get,
                                                       .complete = on_complete,
                                                       .user = about});
}

static void free_names(gbx_mcp_prompt_about *about)
{
    for (size_t i = 0; i < about->count; i++)
        free(about->names[i]);
    free(about->names);
    *about = (gbx_mcp_prompt_about){0};
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_mcp_prompts_compute(gbx_mcp_prompts *prompts, gbx_mcp_server *server,
                                   const char *const *specs, size_t count,
                                   gbx_error *reterr)
{
    gbx_mcp_prompt_about *about = &prompts->compute;
    bool ok = true;

    about->tool = "compute";
    about->thing = "dataset";
    for (size_t i = 0; ok && i < count; i++)
        ok = add_name(about, specs[i]);
    if (ok &&
        offer(about, server, "Find something out by code over data that stays unseen"))
        return GBX_OK;
    return gbx_fail(reterr, GBX_E_NOMEM, "out of memory");
}

gbx_status gbx_mcp_prompts_execute(gbx_mcp_prompts *prompts, gbx_mcp_server *server,
                                   const gbx_mcp_config *config, gbx_error *reterr)
{
    gbx_mcp_prompt_about *about = &prompts->execute;
    bool ok = true;

    if (asprintf(&prompts->execute_tool, "%sexecute", config->settings.tool_prefix) < 0)
        prompts->execute_tool = NULL;
    about->tool = prompts->execute_tool;
    about->thing = "server";
    for (size_t i = 0; ok && i < config->server_count; i++)
        ok = config->servers[i].disabled || add_name(about, config->servers[i].name);
    if (ok && about->tool != NULL &&
        offer(about, server, "Do something by one script over other servers"))
        return GBX_OK;
    return gbx_fail(reterr, GBX_E_NOMEM, "out of memory");
}

void gbx_mcp_prompts_cleanup(gbx_mcp_prompts *prompts)
{
    free_names(&prompts->compute);
    free_names(&prompts->execute);
    free(prompts->execute_tool);
    prompts->execute_tool = NULL;
}
