/* SPDX-License-Identifier: MIT */
/*
 * conversation - a server with a client in the test's own process, and what they say to each
 * other: the files mcp/eras.txt, lists.txt, requests.txt, hold.txt and ask.txt.
 *
 *     mcp_conversation FILE
 *
 * Each case has a server of its own. Its verbs are those of verbs[], of steps.h, and:
 *
 *     > LINE                  the client says it
 *     < LINE                  the next line that it has heard; "<" alone: it has heard nothing
 *     ~ TEXT                  a part of what it has heard
 *     count LEAST MOST TEXT   how often that is in what it has heard
 *     initialize VERSION [CAPABILITIES]   and its answer
 *     is NAME VALUE           see values[] and on_is(); "let NAME VALUE" sets a number
 *     wait [NAME VALUE]       until something is heard, or until a number has that value
 *
 * The tools "wait" and "ask" last until "finish WORK TEXT": WORK counts their calls from 1. A
 * requestState is "#1" where it was heard and $STATE1 where it is said.
 */
#include "steps.h"
#include "test.h"

#include "base/cleanup.h"
#include "mcp/server/server_state.h"

#include <time.h>

#define WORKS_MAX  2000
#define STATES_MAX 200
#define CLIENTS    2

typedef struct client {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_buf told; /* all lines that were not read yet */
} client;

static struct scene {
    client clients[CLIENTS];
    client *now;
    gbx_mcp_server_options options;
    gbx_mcp_request *works[WORKS_MAX]; /* NULL: finished */
    char states[STATES_MAX][GBX_MCP_HANDLE_SIZE];
    int state_count;
    char *unread;        /* lines that were heard with others, or NULL */
    char arguments[256]; /* of the last call */
    char trace[64];      /* its traceparent */
    char answers[256];   /* a word each */
    char content[256];   /* of the last answer */
    int calls, cancels, answered, ended, idled, gave_up;
    int asks;                      /* questions of a call of "ask" */
    int asks_url;                  /* the last of them: with an address */
    int is_watched, shown, hidden; /* the page: does a person look at it? */
    int is_deaf, is_full, ends_when_answered, ends_when_cancelled;
} s;

static const struct {
    const char *name;
    int *value;
} values[] = {
    {"calls", &s.calls},
    {"cancels", &s.cancels},
    {"answered", &s.answered},
    {"ended", &s.ended}, /* questions without an answer */
    {"idled", &s.idled},
    {"gave_up", &s.gave_up},
    {"asks", &s.asks},
    {"asks_url", &s.asks_url},
    {"is_watched", &s.is_watched},
    {"shown", &s.shown},
    {"hidden", &s.hidden},
    {"is_deaf", &s.is_deaf},
    {"is_full", &s.is_full},
    {"ends_when_answered", &s.ends_when_answered},
    {"ends_when_cancelled", &s.ends_when_cancelled},
};

static int *value_of(const char *name)
{
    for (size_t i = 0; i < GBX_COUNTOF(values); i++)
        if (strcmp(values[i].name, name) == 0)
            return values[i].value;
    fail_msg("no number '%s'", name);
    return NULL;
}

/* ---- words --------------------------------------------------------------------- */

#define MODERN(capabilities)                                                 \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":{" capabilities "}}"
#define A32 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const char *const words[][2] = {
    {"$RPC", "\"jsonrpc\":\"2.0\""},
    {"$META", MODERN("")},
    {"$CAN_ASK", MODERN("\"elicitation\":{}")},
    {"$CAN_OPEN", MODERN("\"elicitation\":{\"url\":{}}")},
    {"$CAPS", "{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true,"
              "\"listChanged\":true},\"prompts\":{},\"logging\":{}}"},
    {"$INFO", "{\"name\":\"test\",\"version\":\"1\"}"},
    {"$FORM", "\"message\":\"May I?\",\"requestedSchema\":{\"type\":\"object\","
              "\"properties\":{}}"},
    {"$A128", A32 A32 A32 A32},
    {"$DONE", "\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"isError\":false"},
    {NULL},
};

/* $STATE1 is the first requestState that was heard, $WRONG the last with one digit changed. */
static bool print_state(FILE *to, const char **at)
{
    char handle[GBX_MCP_HANDLE_SIZE];
    char *end;
    long which;

    if (strncmp(*at, "$WRONG", 6) == 0) {
        *at += 6;
        memcpy(handle, s.states[s.state_count - 1], sizeof handle);
        handle[30] = handle[30] == 'a' ? 'b' : 'a';
        return fputs(handle, to) >= 0;
    }
    if (strncmp(*at, "$STATE", 6) != 0)
        return false;
    which = strtol(*at + 6, &end, 10);
    assert_in_range(which, 1, s.state_count);
    *at = end;
    return fputs(s.states[which - 1], to) >= 0;
}

/* ---- the client ---------------------------------------------------------------- */

static bool on_send(void *user, const void *data, size_t len)
{
    return !s.is_deaf && gbx_buf_append(&((client *)user)->told, data, len);
}

static bool on_is_full(void *user)
{
    return s.is_full;
}

static void on_give_up(void *user)
{
    s.gave_up++;
}

static void on_idle(void *user)
{
    s.idled++;
}

/* Each requestState is kept; in what was heard it becomes "#" and its number. */
static void keep_states(char *heard)
{
    static const char key[] = "\"requestState\":\"";

    while ((heard = strstr(heard, key)) != NULL) {
        char *at = heard + strlen(key);
        size_t len = strcspn(at, "\"");
        char name[16];

        heard = at;
        assert_int_equal(len, GBX_MCP_HANDLE_SIZE - 1);
        assert_true(s.state_count < STATES_MAX);
        (void)snprintf(s.states[s.state_count++], GBX_MCP_HANDLE_SIZE, "%s", at);
        (void)snprintf(name, sizeof name, "#%d", s.state_count);
        memcpy(at, name, strlen(name));
        memmove(at + strlen(name), at + len, strlen(at + len) + 1);
    }
}

/* What was said since the last call, without the newline at its end. */
static char *hear(void)
{
    static char heard[65536];
    size_t len;

    if (s.unread != NULL)
        fail_msg("it was heard, too: %s", s.unread);
    /* Only what is active now. */
    for (int i = 0; i < 5; i++)
        (void)event_base_loop(gbx_mcp_loop_base(s.now->loop), EVLOOP_NONBLOCK);
    len = s.now->told.len < sizeof heard ? s.now->told.len : sizeof heard - 1;
    if (len > 0)
        memcpy(heard, s.now->told.data, len);
    if (len > 0 && heard[len - 1] == '\n')
        len--;
    heard[len] = '\0';
    s.now->told.len = 0;
    keep_states(heard);
    return heard;
}

static void use_client(int which)
{
    gbx_mcp_client_hooks hooks = {.send = on_send,
                                  .is_full = on_is_full,
                                  .give_up = on_give_up,
                                  .idle = on_idle};

    s.now = &s.clients[which - 1];
    if (s.now->server != NULL)
        return;
    gbx_buf_init(&s.now->told, GBX_MIB(256));
    s.now->loop = gbx_mcp_loop_new();
    assert_non_null(s.now->loop);
    s.now->server = gbx_mcp_server_new(s.now->loop, &s.options);
    hooks.user = s.now;
    gbx_mcp_server_connect(s.now->server, &hooks);
}

static void close_client(client *c)
{
    if (c->server == NULL)
        return;
    s.now = c;
    gbx_mcp_server_end(c->server);
    (void)hear();
    gbx_mcp_server_free(c->server);
    gbx_mcp_loop_free(c->loop);
    gbx_buf_cleanup(&c->told);
}

static void say(const char *line)
{
    gbx_mcp_server_take(s.now->server, line, strlen(line));
}

/* ---- tools ---------------------------------------------------------------------- */

static void finish(gbx_mcp_request **work, const gbx_mcp_result *result)
{
    gbx_mcp_request *request = *work;

    assert_non_null(request);
    *work = NULL;
    gbx_mcp_finish(request, result);
}

static void finish_text(gbx_mcp_request **work, const char *text, bool is_error)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf content = {.ceiling = GBX_MIB(64)};

    (void)gbx_buf_puts(&content, "[{\"type\":\"text\"");
    gbx_json_put_shown(&content, "text", text, strlen(text));
    (void)gbx_buf_puts(&content, "}]");
    finish(work, &(gbx_mcp_result){.content = (char *)content.data,
                                   .content_len = content.len,
                                   .is_error = is_error});
}

static void on_cancel(void *user)
{
    s.cancels++;
    if (s.ends_when_cancelled)
        finish_text(user, "cancelled", true);
}

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    static const char *const names[] = {"accept", "decline", "cancel",
                                        "late",   "nobody",  "ended"};
    gbx_mcp_request **work = user;
    size_t len = strlen(s.answers);

    s.answered++;
    s.ended += answer == GBX_MCP_ANSWER_ENDED;
    (void)snprintf(s.answers + len, sizeof s.answers - len, "%s%s", len > 0 ? " " : "",
                   names[answer]);
    (void)snprintf(s.content, sizeof s.content, "%.*s", (int)content.len,
                   content.at != NULL ? content.at : "");
    if (s.ends_when_answered && s.answered == s.asks && *work != NULL)
        finish_text(work, "done", false);
}

static void work(gbx_mcp_request *request, gbx_view arguments, int asks)
{
    gbx_view trace = gbx_mcp_request_meta(request, "traceparent");
    gbx_mcp_request **kept = &s.works[s.calls++];
    int answered = s.answered;

    assert_true(s.calls < WORKS_MAX);
    *kept = request;
    (void)snprintf(s.arguments, sizeof s.arguments, "%.*s", (int)arguments.len,
                   arguments.at);
    (void)snprintf(s.trace, sizeof s.trace, "%.*s", (int)trace.len,
                   trace.at != NULL ? trace.at : "");
    gbx_mcp_on_cancel(request, on_cancel, kept);
    for (int i = 0; i < asks; i++)
        if (i >= asks - s.asks_url)
            gbx_mcp_ask_url(request, "Go there", "https://example.com/", "1", on_answer,
                            kept);
        else
            gbx_mcp_ask(request, "May I?", "{\"type\":\"object\",\"properties\":{}}",
                        NULL, on_answer, kept);
    assert_int_equal(s.answered, answered); /* never from inside */
}

static void call_wait(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    work(request, arguments, 0);
}

static void call_ask(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    work(request, arguments, s.asks);
}

static void call_done(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    finish_text(&request, "done", false);
}

/* "NAME|DESCRIPTION|INPUT SCHEMA|OUTPUT SCHEMA|TITLE|ANNOTATIONS|META", from the end on less
 * of it. */
static bool set_tool(char *cells)
{
    const char *cell[7] = {""};

    for (size_t i = 0; i < GBX_COUNTOF(cell) && cells != NULL; i++)
        cell[i] = strsep(&cells, "|");
    return gbx_mcp_server_set_tool(
        s.now->server,
        &(gbx_mcp_tool){.name = cell[0],
                        .description = cell[1],
                        .input_schema = cell[2] != NULL ? cell[2] : "{}",
                        .output_schema = cell[3],
                        .title = cell[4],
                        .annotations = cell[5],
                        .meta = cell[6],
                        .call = strcmp(cell[0], "wait") == 0  ? call_wait
                                : strcmp(cell[0], "ask") == 0 ? call_ask
                                                              : call_done});
}

static void on_read(void *user, gbx_mcp_request *request, const char *uri)
{
    char contents[256];

    (void)snprintf(contents, sizeof contents, "[{\"uri\":\"%s\",\"text\":\"t\"}]", uri);
    gbx_mcp_finish_resource(request, contents, strlen(contents));
}

/* "URI", "URI TEMPLATE" or "URI pending" */
static bool set_resource(char *rest)
{
    gbx_mcp_resource resource = {.uri = table_word(&rest, " "),
                                 .name = "n",
                                 .mime_type = "text/plain",
                                 .read = on_read,
                                 .is_pending = strcmp(rest, "pending") == 0};

    if (*rest != '\0' && !resource.is_pending)
        resource.uri_template = rest;
    return gbx_mcp_server_set_resource(s.now->server, &resource);
}

/* ---- verbs: each is given the rest of its line ----------------------------------- */

static gbx_mcp_request **named_work(char **rest)
{
    return &s.works[steps_number(rest) - 1];
}

static void on_say(char *rest)
{
    say(rest);
}

static void on_heard(char *rest)
{
    if (s.unread == NULL)
        s.unread = hear();
    assert_string_equal(strsep(&s.unread, "\n"), rest);
}

static void on_part(char *rest)
{
    const char *heard = hear();

    if (strstr(heard, rest) == NULL)
        fail_msg("'%s' is not in '%s'", rest, heard);
}

static void on_count(char *rest)
{
    int least = (int)steps_number(&rest);
    int most = (int)steps_number(&rest);
    int count = 0;

    for (const char *at = hear(); (at = strstr(at, rest)) != NULL; at++)
        count++;
    assert_in_range(count, least, most);
}

static void on_initialize(char *rest)
{
    const char *version = table_word(&rest, " ");
    char line[1024];

    (void)snprintf(line, sizeof line,
                   "{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\","
                   "\"params\":{\"protocolVersion\":\"%s\",\"capabilities\":%s,"
                   "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
                   version, *rest != '\0' ? rest : "{}");
    say(line);
    on_part((char[]){"\"serverInfo\""});
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

static void on_is(char *rest)
{
    const char *name = table_word(&rest, " ");
    char value[16];

    if (strcmp(name, "arguments") == 0)
        assert_string_equal(s.arguments, rest);
    else if (strcmp(name, "trace") == 0)
        assert_string_equal(s.trace, rest);
    else if (strcmp(name, "answers") == 0)
        assert_string_equal(s.answers, rest);
    else if (strcmp(name, "content") == 0)
        assert_string_equal(s.content, rest);
    else {
        (void)snprintf(value, sizeof value, "%d",
                       strcmp(name, "unfinished") == 0
                           ? (int)gbx_mcp_server_unfinished(s.now->server)
                           : *value_of(name));
        if (strcmp(value, rest) != 0)
            fail_msg("%s is %s, and not %s", name, value, rest);
    }
}

static void on_let(char *rest)
{
    int *value = value_of(table_word(&rest, " "));

    *value = (int)steps_number(&rest);
}

static void on_wait(char *rest)
{
    const char *name = table_word(&rest, " ");
    const int *value = *name != '\0' ? value_of(name) : NULL;
    int wanted = value != NULL ? (int)steps_number(&rest) : 0;

    while (value != NULL ? *value != wanted : s.now->told.len == 0)
        (void)event_base_loop(gbx_mcp_loop_base(s.now->loop), EVLOOP_ONCE);
}

/* The server does not look at its clock meanwhile. */
static void on_sleep(char *rest)
{
    int ms = (int)steps_number(&rest);

    (void)nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
}

static void on_client(char *rest)
{
    use_client((int)steps_number(&rest));
}

/* "OPTION MS": instead of the one that the case has begun with */
static void on_server(char *rest)
{
    const char *option = table_word(&rest, " ");
    uint32_t ms = (uint32_t)steps_number(&rest);

    if (strcmp(option, "ask_ms") == 0)
        s.options.ask_ms = ms;
    else if (strcmp(option, "hold_ms") == 0)
        s.options.hold_ms = ms;
    else
        s.options.beat_ms = ms;
    close_client(s.now);
    *s.now = (client){0};
    use_client(1);
}

static bool on_is_watched(const void *user)
{
    return s.is_watched > 0;
}

static void on_show(void *user, uint64_t number, const char *json)
{
    assert_int_equal(number, ++s.shown);
    (void)snprintf(s.content, sizeof s.content, "%s", json);
}

static void on_hide(void *user, uint64_t number)
{
    s.hidden++;
}

/* "opens", "leaves", or "NUMBER ANSWER" */
static void on_page(char *rest)
{
    static const gbx_mcp_page page = {.is_watched = on_is_watched,
                                      .show = on_show,
                                      .hide = on_hide};
    gbx_view answer;

    s.is_watched = strcmp(rest, "leaves") != 0;
    if (strcmp(rest, "opens") == 0) {
        gbx_mcp_server_set_page(s.now->server, &page);
    } else if (!s.is_watched) {
        gbx_mcp_page_left(s.now->server);
    } else {
        uint64_t number = (uint64_t)steps_number(&rest);

        assert_true(gbx_view_open(rest, strlen(rest), &answer));
        gbx_mcp_page_answer(s.now->server, number, answer);
    }
}

static void on_too_long(char *rest)
{
    gbx_mcp_server_take_too_long(s.now->server);
}

static void on_instructions(char *rest)
{
    gbx_mcp_server_set_instructions(s.now->server, rest);
}

static void on_updated(char *rest)
{
    gbx_mcp_server_resource_updated(s.now->server, rest);
}

static void on_hold(char *rest)
{
    gbx_mcp_server_hold(s.now->server);
}

static void on_release(char *rest)
{
    gbx_mcp_server_release(s.now->server);
}

static void on_end(char *rest)
{
    gbx_mcp_server_end(s.now->server);
}

static void on_finish(char *rest)
{
    gbx_mcp_request **work = named_work(&rest);

    finish_text(work, rest, false);
}

static void on_structured(char *rest)
{
    gbx_mcp_request **work = named_work(&rest);

    finish(work, &(gbx_mcp_result){.content = "[]",
                                   .content_len = 2,
                                   .structured = rest,
                                   .structured_len = strlen(rest),
                                   .meta = "{\"k\":1}",
                                   .is_error = true});
}

/* "WORK yes" or "WORK no": whether it wants to know that it is cancelled. */
static void on_minds(char *rest)
{
    gbx_mcp_request **work = named_work(&rest);

    gbx_mcp_on_cancel(*work, strcmp(rest, "yes") == 0 ? on_cancel : NULL, work);
}

/* "WORK FIGURE TOTAL [MESSAGE]"; FIGURE "-": the next */
static void on_progress(char *rest)
{
    gbx_mcp_request *work = *named_work(&rest);
    const char *figure = table_word(&rest, " ");
    double total = strtod(table_word(&rest, " "), NULL);

    if (strcmp(figure, "-") == 0)
        gbx_mcp_progress(work, total, rest, strlen(rest));
    else
        gbx_mcp_progress_at(work, strtod(figure, NULL), total,
                            *rest != '\0' ? rest : NULL, strlen(rest));
}

static gbx_log_level level_of(const char *name)
{
    static const char *const names[] = {"debug", "log", "info", "warn", "error"};
    size_t i = 0;

    while (strcmp(names[i], name) != 0)
        assert_true(++i < GBX_COUNTOF(names));
    return (gbx_log_level)i;
}

/* "WORK LEVEL TEXT" */
static void on_log(char *rest)
{
    gbx_mcp_request *work = *named_work(&rest);
    gbx_log_level level = level_of(table_word(&rest, " "));

    gbx_mcp_log_line(work, level, rest, strlen(rest));
}

/* "WORK progress", or "WORK LEVEL" of a line */
static bool is_heard(char *rest)
{
    gbx_mcp_request *work = *named_work(&rest);

    return strcmp(rest, "progress") == 0 ? gbx_mcp_hears_progress(work)
                                         : gbx_mcp_hears_line(work, level_of(rest));
}

static const steps_verb verbs[] = {
    {">", on_say, NULL},
    {"<", on_heard, NULL},
    {"~", on_part, NULL},
    {"count", on_count, NULL},
    {"initialize", on_initialize, NULL},
    {"is", on_is, NULL},
    {"let", on_let, NULL},
    {"wait", on_wait, NULL},
    {"sleep", on_sleep, NULL},
    {"client", on_client, NULL},
    {"server", on_server, NULL},
    {"page", on_page, NULL},
    {"too long", on_too_long, NULL},
    {"instructions", on_instructions, NULL},
    {"updated", on_updated, NULL},
    {"hold", on_hold, NULL},
    {"release", on_release, NULL},
    {"end", on_end, NULL},
    {"finish", on_finish, NULL},
    {"structured", on_structured, NULL},
    {"minds", on_minds, NULL},
    {"progress", on_progress, NULL},
    {"log", on_log, NULL},
    {"tool", NULL, set_tool},
    {"resource", NULL, set_resource},
    {"hears", NULL, is_heard},
    {NULL, NULL, NULL},
};

static void set_up(void)
{
    s = (struct scene){.options = {.name = "test", .version = "1", .ask_ms = 60000},
                       .asks = 1,
                       .ends_when_answered = true,
                       .ends_when_cancelled = true};
    use_client(1);
}

static void tear_down(void)
{
    for (int i = 0; i < s.calls; i++)
        if (s.works[i] != NULL)
            finish_text(&s.works[i], "end", true);
    for (int i = 0; i < CLIENTS; i++)
        close_client(&s.clients[i]);
}

int main(int argc, char **argv)
{
    static const steps_program program = {.verbs = verbs,
                                          .words = words,
                                          .word = print_state,
                                          .set_up = set_up,
                                          .tear_down = tear_down};

    return steps_main(argc, argv, &program);
}
