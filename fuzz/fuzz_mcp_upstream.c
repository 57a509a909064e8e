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

/* The one way that there is: the session's hooks, as long as it has it. */
typedef struct way {
    gbx_link link;
    gbx_link_hooks hooks;
    bool is_there;
    bool is_full;
    uint64_t sent;
} way;

typedef struct call {
    int64_t id; /* 0: nobody waits */
} call;

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_session *session;
    call calls[CALLS_MAX];
    bool is_lost;
} scene;

static way the_way;

static bool take(gbx_link *link, const gbx_link_message *said)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    int64_t id = 0;

    assert(link == &the_way.link && the_way.is_there);
    assert(said->len > 0 &&
           memchr(said->text, '\n', said->len) == said->text + said->len - 1);
    assert(gbx_rpc_read(said->text, said->len - 1, &message, &fault));
    if (message.kind == GBX_RPC_REQUEST)
        assert(gbx_id_read(message.id, &id));
    assert(id == said->id);
    if (the_way.is_full)
        return false;
    the_way.sent += said->len;
    return true;
}

static void forget(gbx_link *link, int64_t id)
{
    (void)link;
    assert(the_way.is_there && id != 0);
}

static void agree(gbx_link *link, const char *version, bool is_modern)
{
    (void)link;
    assert(the_way.is_there && *version != '\0');
    assert(!is_modern || strcmp(version, "2026-07-28") == 0);
}

static void leave(gbx_link *link, bool is_hopeless)
{
    (void)link;
    (void)is_hopeless;
    assert(the_way.is_there);
    the_way.is_there = false;
}

static void add_words(const gbx_link *link, char *text, size_t size)
{
    (void)link;
    assert(strlen(text) < size);
}

static const char *containment(gbx_link *link)
{
    (void)link;
    return "";
}

static const gbx_link_ops process_ops = {take,      forget,      agree, leave,
                                         add_words, containment, false, true};
static const gbx_link_ops address_ops = {take,      forget,      agree, leave,
                                         add_words, containment, true,  false};

static gbx_status begin(const gbx_link_options *options, const gbx_link_ops *ops,
                        gbx_link **ret)
{
    the_way = (way){.link = {ops}, .hooks = options->hooks, .is_there = true};
    *ret = &the_way.link;
    return GBX_OK;
}

/* In the places of the true ones. */
gbx_status gbx_link_stdio(const gbx_link_options *options, gbx_link **ret,
                          gbx_error *reterr)
{
    (void)reterr;
    return begin(options, &process_ops, ret);
}

gbx_status gbx_link_http(const gbx_link_options *options, gbx_link **ret,
                         gbx_error *reterr)
{
    (void)reterr;
    return begin(options, &address_ops, ret);
}

/* ---- who calls ------------------------------------------------------------ */

static void on_answer(void *user, const gbx_upstream_reply *reply)
{
    call *c = user;

    assert(c->id != 0);
    assert(reply->message != NULL || reply->fault == GBX_UPSTREAM_OK);
    assert(reply->fault != GBX_UPSTREAM_OK || gbx_view_kind(reply->result) == '{');
    c->id = 0;
}

static void on_progress(void *user, const char *message, size_t len)
{
    const call *c = user;

    assert(c->id != 0 && message != NULL && len > 0);
}

static void start_call(scene *s, const char *tool)
{
    call *c = s->calls;

    while (c < s->calls + CALLS_MAX && c->id != 0)
        c++;
    if (c == s->calls + CALLS_MAX || s->session->phase != GBX_PHASE_READY)
        return;
    c->id = gbx_session_start_call(s->session, &(gbx_session_call){
                                                   .tool = tool,
                                                   .args = "{\"x\": [1, \"y\"]}",
                                                   .args_len = 15,
                                                   .user = c,
                                                   .progress = on_progress,
                                                   .answer = on_answer,
                                               });
}

static void drop_call(scene *s, size_t nth)
{
    call *c = &s->calls[nth % CALLS_MAX];
    int64_t id = c->id;

    c->id = 0;
    if (id != 0)
        gbx_session_drop_call(s->session, id, "cancelled");
}

static void on_session(void *user, gbx_session *session)
{
    const scene *s = user;

    assert(!s->is_lost && session->phase != GBX_PHASE_LOST);
    assert(session->facts.version[0] != '\0');
}

static void on_checked(void *user)
{
    const scene *s = user;

    assert(!s->is_lost);
}

static void on_log(void *user, const char *line)
{
    (void)user;
    for (; *line != '\0'; line++)
        assert((unsigned char)*line >= 0x20 && *line != 0x7F);
}

static void on_ending(void *user, gbx_session *session, const char *why)
{
    const scene *s = user;

    assert(!s->is_lost && session->calls > 0 && *why != '\0');
}

static void on_lost(void *user, gbx_session *session, const char *why)
{
    scene *s = user;

    assert(!s->is_lost && session->phase == GBX_PHASE_LOST && *why != '\0');
    assert(!the_way.is_there && session->calls == 0);
    s->is_lost = true;
    for (size_t i = 0; i < CALLS_MAX; i++)
        assert(s->calls[i].id == 0);
}

/* ---- what happens --------------------------------------------------------- */

static int fire(const struct event_base *base, const struct event *event, void *user)
{
    size_t *nth = user;
    struct event *timer;

    (void)base;
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
    const gbx_link_hooks *hooks = &the_way.hooks;
    int64_t id = len > 0 ? (unsigned char)text[0] : 0;
    unsigned how = len > 1 ? (unsigned char)text[1] : 0;
    const char *rest = len > 2 ? text + 2 : text;
    size_t rest_len = len > 2 ? len - 2 : 0;

    switch (what) {
    case 1: hooks->message(hooks->user, rest, rest_len, id); break;
    case 2: hooks->too_long(hooks->user, text, len / 2, text, len); break;
    case 3:
        hooks->unanswered(hooks->user, id,
                          how % 2 != 0 ? GBX_UPSTREAM_EXIT : GBX_UPSTREAM_PROTOCOL,
                          "no answer", (gbx_unanswered)(how % 6));
        break;
    case 4: hooks->forgotten(hooks->user, id, "forgotten", how % 2 != 0); break;
    case 5: hooks->deaf(hooks->user, the_way.sent - how % 128, "deaf"); break;
    case 6: hooks->missed(hooks->user); break;
    default:
        the_way.is_there = false;
        hooks->lost(hooks->user, "lost", how % 2 != 0);
        break;
    }
}

static void act(scene *s, const char *text, size_t len)
{
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
    case 11: gbx_session_check(s->session); break;
    case 12: gbx_session_list_now(s->session); break;
    case 13: the_way.is_full = !the_way.is_full; break;
    case 14: fire_timer(s, (size_t)(unsigned char)tool[0] % 8); break;
    default: break;
    }
}

static void play(scene *s, const char *at, size_t size)
{
    while (size > 0 && the_way.is_there) {
        const char *newline = memchr(at, '\n', size);
        size_t len = newline != NULL ? (size_t)(newline - at) : size;

        if (len > 0 && *at > 0 && *at < 16)
            act(s, at, len);
        else if (len > 0)
            the_way.hooks.message(the_way.hooks.user, at, len, 0);
        (void)event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_NONBLOCK);
        size -= len + (newline != NULL);
        at += len + (newline != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_mcp_upstream_config config = {.name = "s", .timeout_ms = 60000};
    gbx_yard yard = {.secrets = NULL};
    scene s = {.loop = gbx_mcp_loop_new()};
    gbx_session_options options = {
        .loop = s.loop,
        .yard = &yard,
        .config = &config,
        .start_ms = 30000,
        .hooks = {&s, on_session, on_session, on_checked, on_log, on_ending, on_lost},
    };

    assert(s.loop != NULL);
    if (size > 0) {
        config.transport = (data[0] & 1) != 0 ? GBX_MCP_HTTP : GBX_MCP_STDIO;
        if ((data[0] & 3) == 3)
            config.transport = GBX_MCP_SSE;
        assert(gbx_session_new(&options, &s.session, NULL) == GBX_OK);
        play(&s, (const char *)data + 1, size - 1);
        if (the_way.is_there)
            the_way.hooks.unanswered(the_way.hooks.user, 1, GBX_UPSTREAM_EXIT, "end",
                                     GBX_UNANSWERED);
        gbx_session_free(s.session);
        assert(!the_way.is_there);
    }
    gbx_mcp_loop_free(s.loop);
    return 0;
}
