/* SPDX-License-Identifier: MIT */
/* link_stdio - a server that is a child process: one message a line. */
#include "mcp/upstream/link.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "mcp/upstream/internal.h"

#include <assert.h>
#include <stdlib.h>

typedef struct link_stdio {
    gbx_link link;
    gbx_link_hooks hooks;
    gbx_process *process;
} link_stdio;

static void on_line(void *user, const char *line, size_t len)
{
    link_stdio *l = user;

    l->hooks.message(l->hooks.user, line, len, 0);
}

static void on_long_line(void *user, const char *head, size_t head_len,
                         const char *tail, size_t tail_len)
{
    link_stdio *l = user;

    l->hooks.too_long(l->hooks.user, head, head_len, tail, tail_len);
}

static void on_deaf(void *user, uint64_t written)
{
    link_stdio *l = user;

    l->hooks.deaf(l->hooks.user, written, "it has closed its input");
}

static void on_error_line(void *user, const char *line)
{
    link_stdio *l = user;

    l->hooks.log(l->hooks.user, line);
}

static void on_ended(void *user, const char *why, bool is_lasting)
{
    link_stdio *l = user;

    l->hooks.lost(l->hooks.user, why, is_lasting);
    free(l);
}

static bool send_message(gbx_link *link, const gbx_link_message *message)
{
    return gbx_process_send(((link_stdio *)link)->process, message->text, message->len);
}

/* Nothing to do: the session cancels the request by a notification. */
static void forget(gbx_link *link, int64_t id)
{
    (void)link;
    (void)id;
}

static void agree(gbx_link *link, const char *version, bool is_modern)
{
    (void)link;
    (void)version;
    (void)is_modern;
}

static void leave(gbx_link *link, bool is_hopeless)
{
    gbx_process_leave(((link_stdio *)link)->process, is_hopeless);
    free(link);
}

static void add_words(const gbx_link *link, char *text, size_t size)
{
    gbx_process_add_words(((const link_stdio *)link)->process, text, size);
}

static const char *containment(const gbx_link *link)
{
    static const char *const words[] = {
        [GBX_CONTAIN_UNKNOWN] = "",
        [GBX_CONTAIN_PID_NS] = "pid namespace",
        [GBX_CONTAIN_PID_NS_ONLY] = "pid namespace, but it sees the host's processes",
        [GBX_CONTAIN_SUBREAPER] =
            "no namespace to be had: its processes are killed one by one",
    };

    return words[gbx_process_containment(((const link_stdio *)link)->process)];
}

static const gbx_link_ops ops = {
    .send = send_message,
    .forget = forget,
    .agree = agree,
    .leave = leave,
    .add_words = add_words,
    .containment = containment,
    .is_process = true,
};

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_link_stdio(const gbx_link_options *options, gbx_link **ret,
                          gbx_error *reterr)
{
    const gbx_mcp_upstream_config *config = options->config;
    link_stdio *l = calloc(1, sizeof *l);
    char **environment = gbx_environ_new(config);
    gbx_process_options process = {
        .loop = options->loop,
        .yard = options->yard,
        .command = {.program = config->command,
                    .args = config->args,
                    .environment = environment,
                    .directory = config->cwd,
                    .descriptors = options->yard->descriptors},
        .line_max = GBX_LINK_MESSAGE_MAX,
        .waiting_max = GBX_LINK_WAITING_MAX,
        .patience_ms = gbx_timeout_ms(GBX_TIMEOUT_STDIO_END),
        .hooks = {l, on_line, on_long_line, on_error_line, on_deaf, on_ended},
    };
    gbx_status status;

    if (l == NULL || environment == NULL)
        status = gbx_fail(reterr, GBX_E_NOMEM, "cannot start a server: out of memory");
    else
        status = gbx_process_start(&process, &l->process, reterr);
    gbx_environ_free(environment);
    if (status != GBX_OK) {
        free(l);
        return status;
    }
    assert(l != NULL); /* or it would have failed */
    l->link.ops = &ops;
    l->hooks = options->hooks;
    *ret = &l->link;
    return GBX_OK;
}
