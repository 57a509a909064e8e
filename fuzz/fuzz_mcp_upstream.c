/* SPDX-License-Identifier: MIT */
/*
 * fuzz_mcp_upstream - a server that says anything, a line of the input at a time, over a
 * way that refuses, breaks and forgets: every call has one answer, or was dropped, and all
 * that the server is told is messages.
 *
 * A line that begins with a control character is something else that happens (act()). The
 * first byte chooses the way, and how the session begins.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"
#include "mcp/upstream/servers.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 16

/* A way to the server: the session's hooks, as long as it has it. */
typedef struct way {
    gbx_link link;
    struct way *before;
    gbx_link_hooks hooks;
    bool is_full;
    uint64_t sent;
} way;

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_upstreams *all;
    gbx_upstream_id *server;
    gbx_upstream_call calls[CALLS_MAX];
    char tools[CALLS_MAX][32]; /* which they borrow */
} scene;

static way *newest; /* NULL: all are left */

static bool take(gbx_link *link, const gbx_link_message *said)
{
    way *w = (way *)link;
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    int64_t id = 0;

    assert(said->len > 0 &&
           memchr(said->text, '\n', said->len) == said->text + said->len - 1);
    assert(gbx_rpc_read(said->text, said->len - 1, &message, &fault));
    if (message.kind == GBX_RPC_REQUEST)
        assert(gbx_id_read(message.id, &id));
    assert(id == said->id);
    if (w->is_full)
        return false;
    w->sent += said->len;
    return true;
}

static void forget(gbx_link *link, int64_t id)
{
    assert(link != NULL && id != 0);
}

static void agree(gbx_link *link, const char *version, bool is_modern)
{
    assert(link != NULL && *version != '\0');
    assert(!is_modern || strcmp(version, "2026-07-28") == 0);
}

static void leave(gbx_link *link, bool is_hopeless)
{
    way **at = &newest;

    while (&(*at)->link != link)
        at = &(*at)->before;
    *at = (*at)->before;
    free(link);
}

static void add_words(const gbx_link *link, char *text, size_t size)
{
    assert(strlen(text) < size);
}

static const char *containment(gbx_link *link)
{
    return "";
}

static const gbx_link_ops process_ops = {take,      forget,      agree, leave,
                                         add_words, containment, true};
static const gbx_link_ops address_ops = {take,      forget,      agree, leave,
                                         add_words, containment, false};

static gbx_status begin(const gbx_link_options *options, const gbx_link_ops *ops,
                        gbx_link **ret)
{
    way *w = calloc(1, sizeof *w);

    assert(w != NULL);
    *w = (way){.link = {ops}, .before = newest, .hooks = options->hooks};
    newest = w;
    *ret = &w->link;
    return GBX_OK;
}

/* In the places of the true ones. */
gbx_status gbx_link_stdio(const gbx_link_options *options, gbx_link **ret,
                          gbx_error *reterr)
{
    return begin(options, &process_ops, ret);
}

gbx_status gbx_link_http(const gbx_link_options *options, gbx_link **ret,
                         gbx_error *reterr)
{
    return begin(options, &address_ops, ret);
}

void gbx_http_client_finish(gbx_http_client *web, uint32_t ms)
{
    assert(web == NULL && ms > 0);
}

void gbx_http_client_free(gbx_http_client *web)
{
    assert(web == NULL);
}

void gbx_yard_clear(gbx_yard *yard, uint32_t patience_ms)
{
    assert(LIST_EMPTY(&yard->processes) && patience_ms > 0);
}

/* ---- who calls ------------------------------------------------------------ */

static void on_done(void *user, const gbx_upstream_reply *reply)
{
    const gbx_upstream_call *call = user;

    assert(!call->is_open);
    assert(reply->message != NULL || reply->fault == GBX_UPSTREAM_OK);
    assert(reply->fault != GBX_UPSTREAM_OK || gbx_view_kind(reply->result) == '{');
}

static void on_progress(void *user, const char *message, size_t len)
{
    const gbx_upstream_call *call = user;

    assert(call->is_open && message != NULL && len > 0);
}

/* Every other question is answered at once, the others later. */
static unsigned last_question;

static void on_ask(void *user, const gbx_upstream_question *question)
{
    const gbx_upstream_call *call = user;

    assert((question->schema.at == NULL) != (question->url.at == NULL));
    last_question = question->number;
    if (question->number % 2 == 0 && call->is_open)
        gbx_upstream_answer(call->all, question->number, "accept",
                            (gbx_view){"{\"a\": 1}", 8});
}

static unsigned can_ask(void *user)
{
    return GBX_MCP_ASK_FORM | GBX_MCP_ASK_URL;
}

static void start_call(scene *s, const char *tool)
{
    gbx_upstream_call *call = s->calls;

    while (call < s->calls + CALLS_MAX && call->is_open)
        call++;
    if (call == s->calls + CALLS_MAX)
        return;
    /* An earlier one is started again, as it was left. */
    call->server = s->server;
    call->args = (gbx_view){"{\"x\": [1, \"y\"]}", 15};
    call->progress = on_progress;
    call->ask = on_ask;
    call->can_ask = can_ask(NULL);
    call->done = on_done;
    call->user = call;
    call->tool = strcpy(s->tools[call - s->calls], tool);
    gbx_upstream_start(s->all, call);
}

static void drop_call(scene *s, size_t nth)
{
    gbx_upstream_call *call = &s->calls[nth % CALLS_MAX];

    if (call->is_open)
        gbx_upstream_cancel(call);
}

static void on_changed(void *user, const char *server)
{
    const scene *s = user;

    assert(strcmp(server, "s") == 0 &&
           gbx_upstreams_info(s->all, s->server).era[0] != '\0');
}

static void on_log(void *user, const char *server, const char *line)
{
    for (; *line != '\0'; line++)
        assert((unsigned char)*line >= 0x20 && *line != 0x7F);
}

/* ---- what happens --------------------------------------------------------- */

static int fire(const struct event_base *base, const struct event *event, void *user)
{
    size_t *nth = user;
    struct event *timer;

    if (event_get_fd(event) != -1 || (*nth)-- != 0)
        return 0;
    memcpy(&timer, &event, sizeof timer);
    event_active(timer, EV_TIMEOUT, 0);
    return 1;
}

static void fire_timer(scene *s, size_t nth)
{
    (void)event_base_foreach_event(gbx_mcp_loop_base(s->loop), fire, &nth);
}

/* What a way tells, in text's first bytes: which, about whom, how. */
static void tell(char what, const char *text, size_t len)
{
    const gbx_link_hooks *hooks = &newest->hooks;
    int64_t id = len > 0 ? (unsigned char)text[0] : 0;
    unsigned how = len > 1 ? (unsigned char)text[1] : 0;
    const char *rest = len > 2 ? text + 2 : text;
    size_t rest_len = len > 2 ? len - 2 : 0;

    switch (what) {
    case 1: hooks->message(hooks->user, rest, rest_len, id); break;
    case 2: hooks->too_long(hooks->user); break;
    case 3:
        hooks->unanswered(hooks->user, id,
                          how % 2 != 0 ? GBX_UPSTREAM_EXIT : GBX_UPSTREAM_PROTOCOL,
                          "no answer", (gbx_unanswered)(how % 6));
        break;
    case 4:
        hooks->unanswered(hooks->user, id, GBX_UPSTREAM_EXIT, "forgotten",
                          how % 2 != 0 ? GBX_UNANSWERED_AWAY
                                       : GBX_UNANSWERED_FORGOTTEN);
        break;
    case 5: hooks->deaf(hooks->user, newest->sent - how % 128, "deaf"); break;
    case 6: hooks->missed(hooks->user); break;
    default: {
        gbx_link_hooks last = *hooks;

        leave(&newest->link, false);
        last.lost(last.user, "lost", how % 2 != 0);
        break;
    }
    }
}

static gbx_session *session_of(const scene *s)
{
    return s->all->servers[0].session_count > 0 ? s->all->servers[0].sessions[0] : NULL;
}

static void act(scene *s, const char *text, size_t len)
{
    gbx_session *session = session_of(s);
    char tool[32] = "a";

    if (text[0] < 8) {
        tell(text[0], text + 1, len - 1);
        return;
    }
    if (len > 1 && len - 1 < sizeof tool) {
        memcpy(tool, text + 1, len - 1);
        tool[len - 1] = '\0';
    }
    switch (text[0]) {
    case 8: start_call(s, tool); break;
    case 9: drop_call(s, (size_t)(unsigned char)tool[0]); break;
    case 15:
        gbx_upstream_answer(s->all, last_question, "decline", (gbx_view){0});
        break;
    case 11:
        if (session != NULL)
            gbx_session_check(session);
        break;
    case 12:
        if (session != NULL)
            gbx_session_list_now(session);
        break;
    case 13: newest->is_full = !newest->is_full; break;
    case 14: fire_timer(s, (size_t)(unsigned char)tool[0] % 8); break;
    default: break;
    }
}

static void play(scene *s, const char *at, size_t size)
{
    while (size > 0 && newest != NULL) {
        const char *newline = memchr(at, '\n', size);
        size_t len = newline != NULL ? (size_t)(newline - at) : size;

        if (len > 0 && *at > 0 && *at < 16)
            act(s, at, len);
        else if (len > 0)
            newest->hooks.message(newest->hooks.user, at, len, 0);
        (void)event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_NONBLOCK);
        size -= len + (newline != NULL);
        at += len + (newline != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[] = "s";
    gbx_mcp_upstream_config server = {.name = name,
                                      .timeout_ms = 60000,
                                      .start_ms = 30000,
                                      .calls_at_once = 8,
                                      .processes = 1,
                                      .eager = true};
    gbx_mcp_config config = {.servers = &server,
                             .server_count = 1,
                             .settings.calls_at_once = 32};
    scene s = {.loop = gbx_mcp_loop_new(), .server = &server};
    gbx_upstream_hooks hooks = {&s, on_changed, NULL, on_log, can_ask};

    assert(s.loop != NULL);
    if (size > 0) {
        server.transport = (data[0] & 1) != 0 ? GBX_MCP_HTTP : GBX_MCP_STDIO;
        if ((data[0] & 3) == 3)
            server.transport = GBX_MCP_SSE;
        s.all = gbx_upstreams_new(s.loop, &config, &hooks);
        play(&s, (const char *)data + 1, size - 1);
        gbx_upstreams_free(s.all);
        assert(newest == NULL);
        for (size_t i = 0; i < CALLS_MAX; i++)
            assert(!s.calls[i].is_open);
    }
    gbx_mcp_loop_free(s.loop);
    return 0;
}
