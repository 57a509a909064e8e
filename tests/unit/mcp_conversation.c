/* SPDX-License-Identifier: MIT */
/*
 * conversation - a server with a client in the test's own process, and what they say to each
 * other: the files mcp/eras.txt, lists.txt, requests.txt, hold.txt and ask.txt.
 *
 *     mcp_conversation FILE
 *
 * Each case has a server of its own. Its lines:
 *
 *     > LINE                  the client says it
 *     < LINE                  that is all that it has heard since; "< " lines that follow each
 *                             other are heard together; "<" alone: nothing
 *     ~ TEXT                  a part of what it has heard
 *     count LEAST MOST TEXT   how often that is in what it has heard
 *     initialize VERSION [CAPABILITIES]   and its answer
 *     for FIRST LAST LINE     the line once for each number, which is $N
 *     is NAME VALUE           see values[] and on_is(); "let NAME VALUE" sets a number
 *     wait [NAME VALUE]       until something is heard, or until a number has that value
 *
 * and those of verbs[] and checks[]. The tools "wait" and "ask" last until "finish WORK TEXT": WORK counts
 * their calls from 1. In a line, the words of words[] stand for texts; $STATE1 is the first
 * requestState that was heard ("#1" where it was heard), $WRONG the last one with one digit
 * changed.
 */
#include "table.h"
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
    char arguments[256]; /* of the last call */
    char trace[64];      /* its traceparent */
    char answers[256];   /* a word each */
    char content[256];   /* of the last answer */
    int calls, cancels, answered, ended, idled, gave_up;
    int asks; /* questions of a call of "ask" */
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

static int number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0')
        fail_msg("'%s' is not a number", text);
    return (int)value;
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
    {"$CAPS", "{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true,"
              "\"listChanged\":true},\"prompts\":{},\"logging\":{}}"},
    {"$INFO", "{\"name\":\"test\",\"version\":\"1\"}"},
    {"$FORM", "\"message\":\"May I?\",\"requestedSchema\":{\"type\":\"object\","
              "\"properties\":{}}"},
    {"$A128", A32 A32 A32 A32},
    {"$DONE", "\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"isError\":false"},
    {"$NL", "\n"},
};

/* Appends what a word that begins at *at stands for; false: none does. */
static bool append_word(gbx_buf *to, const char **at, const char *n)
{
    char handle[GBX_MCP_HANDLE_SIZE];
    char *end;

    for (size_t i = 0; i < GBX_COUNTOF(words); i++) {
        size_t len = strlen(words[i][0]);

        if (strncmp(*at, words[i][0], len) == 0) {
            *at += len;
            return gbx_buf_puts(to, words[i][1]);
        }
    }
    if (strncmp(*at, "$STATE", 6) == 0) {
        bool is_n = n != NULL && strncmp(*at + 6, "$N", 2) == 0;
        long which = is_n ? number(n) : strtol(*at + 6, &end, 10);

        assert_in_range(which, 1, s.state_count);
        *at = is_n ? *at + 8 : end;
        return gbx_buf_puts(to, s.states[which - 1]);
    }
    if (strncmp(*at, "$WRONG", 6) == 0) {
        *at += 6;
        memcpy(handle, s.states[s.state_count - 1], sizeof handle);
        handle[30] = handle[30] == 'a' ? 'b' : 'a';
        return gbx_buf_puts(to, handle);
    }
    if (strncmp(*at, "$LARGE", 6) == 0) {
        *at += 6;
        return gbx_buf_printf(to, "%*s", (int)GBX_MIB(12), "x");
    }
    if (n == NULL || strncmp(*at, "$N", 2) != 0)
        return false;
    *at += 2;
    return gbx_buf_puts(to, n);
}

/* The line with its words replaced; the caller frees it. n: of "for", or NULL. */
static char *expand(const char *line, const char *n)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = GBX_MIB(16)};

    while (*line != '\0')
        if (*line != '$' || !append_word(&to, &line, n))
            assert_true(gbx_buf_append(&to, line++, 1));
    return gbx_buf_take_string(&to, NULL);
}

/* ---- the client ---------------------------------------------------------------- */

static bool on_send(void *user, const void *data, size_t len)
{
    return !s.is_deaf && gbx_buf_append(&((client *)user)->told, data, len);
}

static bool on_is_full(void *user)
{
    (void)user;
    return s.is_full;
}

static void on_give_up(void *user)
{
    (void)user;
    s.gave_up++;
}

static void on_idle(void *user)
{
    (void)user;
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
static const char *hear(void)
{
    static char heard[65536];
    size_t len;

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
    finish(work, &(gbx_mcp_result){.text = text,
                                   .text_len = strlen(text),
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
        gbx_mcp_ask(request, "May I?", "{\"type\":\"object\",\"properties\":{}}",
                    on_answer, kept);
    assert_int_equal(s.answered, answered); /* never from inside */
}

static void call_wait(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    (void)user;
    work(request, arguments, 0);
}

static void call_ask(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    (void)user;
    work(request, arguments, s.asks);
}

static void call_done(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    (void)user;
    (void)arguments;
    gbx_mcp_finish(request, &(gbx_mcp_result){.text = "done", .text_len = 4});
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

    (void)user;
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
    return &s.works[number(table_word(rest, " ")) - 1];
}

static void on_say(char *rest)
{
    say(rest);
}

static void on_part(char *rest)
{
    const char *heard = hear();

    if (strstr(heard, rest) == NULL)
        fail_msg("'%s' is not in '%s'", rest, heard);
}

static void on_count(char *rest)
{
    int least = number(table_word(&rest, " "));
    int most = number(table_word(&rest, " "));
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

    *value = number(rest);
}

static void on_wait(char *rest)
{
    const char *name = table_word(&rest, " ");

    while (*name != '\0' ? *value_of(name) != number(rest) : s.now->told.len == 0)
        (void)event_base_loop(gbx_mcp_loop_base(s.now->loop), EVLOOP_ONCE);
}

/* The server does not look at its clock meanwhile. */
static void on_sleep(char *rest)
{
    int ms = number(rest);

    (void)nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
}

static void on_client(char *rest)
{
    use_client(number(rest));
}

/* "OPTION MS": instead of the one that the case has begun with */
static void on_server(char *rest)
{
    const char *option = table_word(&rest, " ");
    uint32_t ms = (uint32_t)number(rest);

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

static void on_too_long(char *rest)
{
    (void)rest;
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
    (void)rest;
    gbx_mcp_server_hold(s.now->server);
}

static void on_release(char *rest)
{
    (void)rest;
    gbx_mcp_server_release(s.now->server);
}

static void on_end(char *rest)
{
    (void)rest;
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

    finish(work, &(gbx_mcp_result){.structured = rest,
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

static const struct {
    const char *name;
    void (*run)(char *rest);
} verbs[] = {
    {">", on_say},
    {"~", on_part},
    {"count", on_count},
    {"initialize", on_initialize},
    {"is", on_is},
    {"let", on_let},
    {"wait", on_wait},
    {"sleep", on_sleep},
    {"client", on_client},
    {"server", on_server},
    {"too long", on_too_long},
    {"instructions", on_instructions},
    {"updated", on_updated},
    {"hold", on_hold},
    {"release", on_release},
    {"end", on_end},
    {"finish", on_finish},
    {"structured", on_structured},
    {"minds", on_minds},
    {"progress", on_progress},
    {"log", on_log},
};

/* "no" in front: it fails. */
static const struct {
    const char *name;
    bool (*holds)(char *rest);
} checks[] = {
    {"tool", set_tool},
    {"resource", set_resource},
    {"hears", is_heard},
};

/* What follows the name in the line; NULL: it begins otherwise. */
static char *after(char *line, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(line, name, len) != 0 || (line[len] != ' ' && line[len] != '\0'))
        return NULL;
    return line + len + (line[len] == ' ');
}

static void run_line(const char *line, const char *n)
{
    char *text = expand(line, n);
    char *plain = after(text, "no");
    bool is_run = false;
    char *rest;

    for (size_t i = 0; !is_run && i < GBX_COUNTOF(verbs); i++)
        if ((rest = after(text, verbs[i].name)) != NULL) {
            verbs[i].run(rest);
            is_run = true;
        }
    for (size_t i = 0; !is_run && i < GBX_COUNTOF(checks); i++)
        if ((rest = after(plain != NULL ? plain : text, checks[i].name)) != NULL) {
            if (checks[i].holds(rest) != (plain == NULL))
                fail_msg("it does not hold: %s", line);
            is_run = true;
        }
    if (!is_run)
        fail_msg("no such verb: '%s'", line);
    free(text);
}

static void run_for(char *rest)
{
    int first = number(table_word(&rest, " "));
    int last = number(table_word(&rest, " "));

    for (int i = first; i <= last; i++) {
        char n[16];

        (void)snprintf(n, sizeof n, "%d", i);
        run_line(rest, n);
    }
}

/* The line and those behind it that begin with "<" are what was heard. */
static void check_heard(const char *line, char **lines)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf wanted = {.ceiling = GBX_MIB(1)};

    for (;;) {
        char *text = expand(line[1] == ' ' ? line + 2 : "", NULL);

        assert_true(gbx_buf_puts(&wanted, text));
        free(text);
        if (**lines != '<')
            break;
        assert_true(gbx_buf_puts(&wanted, "\n"));
        line = table_word(lines, "\n");
    }
    assert_true(gbx_buf_append(&wanted, "", 1));
    assert_string_equal(hear(), (const char *)wanted.data);
}

static bool check_case(char *claim, char *lines, size_t len)
{
    print_message("%s\n", claim);
    assert_true(len > 0);
    s = (struct scene){.options = {.name = "test", .version = "1", .ask_ms = 60000},
                       .asks = 1,
                       .ends_when_answered = true,
                       .ends_when_cancelled = true};
    use_client(1);
    while (*lines != '\0') {
        char *line = table_word(&lines, "\n");

        if (*line == '<')
            check_heard(line, &lines);
        else if (strncmp(line, "for ", 4) == 0)
            run_for(line + 4);
        else
            run_line(line, NULL);
    }
    for (int i = 0; i < s.calls; i++)
        if (s.works[i] != NULL)
            finish_text(&s.works[i], "end", true);
    for (int i = 0; i < CLIENTS; i++)
        close_client(&s.clients[i]);
    return true;
}

static const char *file;

TEST(conversations__are_as_the_file_has_them)
{
    table_check(file, check_case, 1);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    file = argv[1];
    return tests_run(NULL, NULL);
}
