/* SPDX-License-Identifier: MIT */
/*
 * approval - calls on their way to a server that is played, past a person who is played: the
 * files mcp/gate.txt, questions.txt, shown.txt and secrets.txt.
 *
 *     mcp_approval FILE
 *
 * The verbs are those of verbs[], of steps.h, and:
 *
 *     open MEMBERS            a session over a configuration whose own key holds these
 *     person ANSWER           what a person says from now on: an answer of the form (see answers[]),
 *                             a word of how[], or the form's content; "absent": nobody is there
 *     as PERSON RUN           whose calls follow, from 1, and in which run; at first 1 and none
 *     call TOOL ARGUMENTS [=> CODE]   to its end; the code may be "ok"
 *     start TOOL ARGUMENTS    one that is not waited for; "done CALL [CODE]" says that it has
 *                             ended, CALL counting from 1, and "cancel CALL" cancels it
 *     is WHAT VALUE           WHAT is a text of find_text() or a number of find_number()
 *     has WHAT PART           or "begins WHAT PART"
 *     last call               from now on each call ends its run
 *     logged COUNT PART       how often it is in the security log
 *     server wants a sign-in  refuses calls until a person has signed in; "server wants sign-ins":
 *                             always. "signs in": once the person is asked, they do; "signs in not":
 *                             they cannot
 */
#include "mcp_stage.h"
#include "steps.h"
#include "test.h"

#include "mcp/approval/gate_call.h"
#include "mcp/config/config.h"

#include <sys/stat.h>
#include <unistd.h>

#define PERSONS_MAX 2

typedef struct outcome {
    size_t count;
    char code[32];
    char message[8192];
    char result[1024];
    char end[64]; /* of the result, from its last comma on */
    char progress[64];
    bool retryable;
} outcome;

/* ---- a session ------------------------------------------------------------------------ */

/* A call, and how it has ended. */
typedef struct played_call {
    gbx_tool_call call;
    outcome *to;
} played_call;

static gbx_mcp_loop *loop;
static gbx_mcp_config *config;
static gbx_gate *gate;
static char folder[] = "/tmp/gbx-gate-XXXXXX";
static char path[64];      /* of the configuration */
static char written[4096]; /* in it */
static char lines[65536];  /* of the security log */

static struct {
    gbx_mcp_request persons[PERSONS_MAX];
    gbx_mcp_request *person;
    char run[32];
    outcome outcomes[CALLS_MAX]; /* of what was started; the first: of the last call */
    gbx_tool_call *calls[CALLS_MAX];
    size_t started;
    char *kept[CALLS_MAX];
    size_t kept_count;
    int lock;      /* on the grants */
    bool ends_run; /* with each call */
} s;

static void on_line(void *user, const char *line, size_t len)
{
    (void)strncat(lines, line, len);
}

static void keep_end(gbx_view result, outcome *to)
{
    const char *comma = result.len > 0 ? memrchr(result.at, ',', result.len) : NULL;

    if (comma != NULL)
        (void)snprintf(to->end, sizeof to->end, "%.*s",
                       (int)(result.len - (size_t)(comma + 1 - result.at)), comma + 1);
}

static outcome *outcome_of(gbx_tool_call *call)
{
    return ((played_call *)(void *)call)->to;
}

static void on_done(gbx_tool_call *call, const gbx_gate_reply *reply)
{
    outcome *to = outcome_of(call);

    to->count++;
    to->retryable = reply->retryable;
    (void)snprintf(to->code, sizeof to->code, "%s",
                   reply->code != NULL ? reply->code : "");
    (void)snprintf(to->message, sizeof to->message, "%s", reply->message);
    (void)snprintf(to->result, sizeof to->result, "%.*s", (int)reply->result.len,
                   reply->result.at != NULL ? reply->result.at : "");
    keep_end(reply->result, to);
    if (s.ends_run)
        gbx_gate_end_run(gate, call->run);
    gbx_tool_call_release(call);
}

static void on_progress(gbx_tool_call *call, const char *message, size_t len)
{
    outcome *to = outcome_of(call);

    (void)snprintf(to->progress, sizeof to->progress, "%.*s", (int)len, message);
}

static void on_drop(gbx_tool_call *call)
{
    free(call);
}

/* The text stays to the end of the case: what is played points to it. */
static char *kept(const char *text)
{
    assert_true(s.kept_count < CALLS_MAX);
    s.kept[s.kept_count] = strdup(text);
    assert_non_null(s.kept[s.kept_count]);
    return s.kept[s.kept_count++];
}

static void close_gate(void)
{
    if (gate == NULL)
        return;
    gbx_mcp_loop_stop(loop, 0);
    gbx_gate_free(gate);
    gate = NULL;
    /* A server may say something between our end and its own. */
    for (size_t i = 0; i < played.started; i++)
        if (played.calls[i]->event != NULL)
            played.calls[i]->call->progress(played.calls[i]->user, "late", 4);
    (void)event_base_loop(played.base, EVLOOP_NONBLOCK);
    for (size_t i = 0; i < played.started; i++) {
        if (played.calls[i]->event != NULL)
            event_free(played.calls[i]->event);
        free(played.calls[i]->args);
        free(played.calls[i]->meta);
        free(played.calls[i]);
    }
    played.started = 0;
    (void)close(played.signing[0]);
    (void)close(played.signing[1]);
    gbx_mcp_loop_free(loop);
    gbx_mcp_config_free(config);
}

/* A gate over a configuration whose own key holds what is given. */
static void on_open(char *ours)
{
    static const char tools[] =
        "[{\"name\":\"read_file\",\"annotations\":{\"readOnlyHint\":true}},"
        "{\"name\":\"write_file\",\"annotations\":{\"readOnlyHint\":false}},"
        "{\"name\":\"lies\",\"annotations\":{\"readOnlyHint\":\"true\"}},"
        "{\"name\":\"plain\"}]";
    const gbx_gate_options options = {.on_line = on_line, .takes_sign_ins = true};
    gbx_error err = {0};
    FILE *file = fopen(path, "w");

    close_gate();
    (void)snprintf(written, sizeof written,
                   "{ // mine\n  \"mcpServers\": {\"files\": {\"command\": \"x\"}, "
                   "\"web\": {\"command\": \"y\"}},\n"
                   "  \"glovebox\": {%s}\n}\n",
                   ours);
    assert_non_null(file);
    assert_true(fputs(written, file) >= 0);
    assert_int_equal(fclose(file), 0);
    if (gbx_mcp_config_load(path, GBX_TRUST_OWN, &config, &err) != GBX_OK)
        fail_msg("%s", err.message);
    loop = gbx_mcp_loop_new();
    assert_non_null(loop);
    played =
        (gbx_upstreams){.base = gbx_mcp_loop_base(loop), .result = "{\"content\":[]}"};
    assert_int_equal(pipe(played.signing), 0);
    assert_true(gbx_view_open(tools, strlen(tools), &played.tools));
    gate = gbx_gate_new(loop, config, &played, &options);
    lines[0] = '\0';
}

static void settle(void)
{
    for (int i = 0; i < 50; i++)
        (void)event_base_loop(played.base, EVLOOP_NONBLOCK);
}

/* "TOOL ARGUMENTS" */
static gbx_tool_call *start(outcome *to, char *rest)
{
    played_call *call = calloc(1, sizeof *call);
    const char *tool = table_word(&rest, " ");

    assert_non_null(call);
    *to = (outcome){.count = 0};
    call->to = to;
    call->call = (gbx_tool_call){.up.server = gbx_mcp_config_server(config, "files"),
                                 .up.tool = strdup(tool),
                                 .args_text = strdup(rest),
                                 .args_len = strlen(rest),
                                 .request = s.person,
                                 .line = 7,
                                 .holders = 1,
                                 .done = on_done,
                                 .drop = on_drop,
                                 .progress = on_progress};
    (void)snprintf(call->call.run, sizeof call->call.run, "%s", s.run);
    gbx_gate_start(gate, &call->call);
    assert_int_equal(to->count, 0);
    return &call->call;
}

/* "" is "ok"; "" wanted: any */
static void check_code(const outcome *o, const char *wanted)
{
    const char *code = o->code[0] != '\0' ? o->code : "ok";

    assert_int_equal(o->count, 1);
    if (*wanted != '\0' && strcmp(code, wanted) != 0)
        fail_msg("%s, and not %s: %s", code, wanted, o->message);
}

static void on_call(char *rest)
{
    char *said = rest;

    (void)table_word(&said, " => ");
    (void)start(&s.outcomes[0], rest);
    settle();
    check_code(&s.outcomes[0], said);
}

static void on_start(char *rest)
{
    assert_true(++s.started < CALLS_MAX);
    s.calls[s.started] = start(&s.outcomes[s.started], rest);
}

static outcome *named_outcome(char **rest)
{
    return &s.outcomes[steps_number(rest)];
}

static bool is_done(char *rest)
{
    const outcome *o = named_outcome(&rest);

    if (o->count == 0)
        return false;
    check_code(o, rest);
    return true;
}

/* Until a call that was started has ended. */
static void on_wait(char *rest)
{
    const outcome *o = named_outcome(&rest);

    while (o->count == 0)
        (void)event_base_loop(played.base, EVLOOP_ONCE);
}

static void on_settle(char *rest)
{
    settle();
}

static void on_turn(char *rest)
{
    (void)event_base_loop(played.base, EVLOOP_NONBLOCK);
}

static void on_cancel(char *rest)
{
    gbx_gate_cancel(s.calls[steps_number(&rest)]);
}

static void on_close(char *rest)
{
    close_gate();
}

static void on_end_run(char *rest)
{
    gbx_gate_end_run(gate, rest);
}

static void on_last_call(char *rest)
{
    s.ends_run = true;
}

/* So many refusals may be logged, and no second will be over. */
static void on_rate(char *rest)
{
    gate->refusals.left = (double)steps_number(&rest);
    gate->refusals.at_ns = INT64_MAX;
}

/* ---- the person and the server ------------------------------------------------------ */

static const char *const answers[][2] = {
    {"once", "{\"answer\":\"allow this call\"}"},
    {"same", "{\"answer\":\"allow for this run, with the same arguments\"}"},
    {"run", "{\"answer\":\"allow for this run\"}"},
    {"session", "{\"answer\":\"allow for this session\"}"},
    {"always", "{\"answer\":\"always allow\"}"},
};

static const char *const how[] = {
    [GBX_MCP_ANSWER_ACCEPT] = "accept", [GBX_MCP_ANSWER_DECLINE] = "decline",
    [GBX_MCP_ANSWER_CANCEL] = "cancel", [GBX_MCP_ANSWER_ENDED] = "ended",
    [GBX_MCP_ANSWER_LATE] = "late",     [GBX_MCP_ANSWER_NOBODY] = "nobody",
};

static void on_person(char *rest)
{
    s.person->can_ask =
        strcmp(rest, "absent") != 0 ? GBX_MCP_ASK_FORM | GBX_MCP_ASK_URL : 0;
    s.person->is_deaf = false;
    s.person->how = GBX_MCP_ANSWER_ACCEPT;
    s.person->content = *rest == '{' ? kept(rest) : NULL;
    for (size_t i = 0; i < GBX_COUNTOF(answers); i++)
        if (strcmp(rest, answers[i][0]) == 0)
            s.person->content = answers[i][1];
    for (size_t i = 0; i < GBX_COUNTOF(how); i++)
        if (strcmp(rest, how[i]) == 0)
            s.person->how = (gbx_mcp_answer)i;
}

static void on_deaf(char *rest)
{
    s.person->is_deaf = true;
}

static void on_as(char *rest)
{
    s.person = &s.persons[steps_number(&rest) - 1];
    (void)snprintf(s.run, sizeof s.run, "%s", rest);
}

/* What the server does from now on. */
static void on_server(char *rest)
{
    played.changes = strcmp(rest, "changes") == 0;
    played.hold = strcmp(rest, "holds") == 0;
    played.learns_nothing = strcmp(rest, "learns nothing") == 0;
    played.wants_sign_in = strncmp(rest, "wants", 5) == 0;
    played.wants_another = strcmp(rest, "wants sign-ins") == 0;
}

/* From the thread: the person is asked. */
static void await_question(void)
{
    for (size_t before = s.person->asked; s.person->asked == before;)
        (void)event_base_loop(played.base, EVLOOP_ONCE);
}

static void on_signs_in(char *rest)
{
    await_question();
    assert_int_equal(write(played.signing[1], *rest == '\0' ? "y" : "n", 1), 1);
}

static void on_result(char *rest)
{
    played.result = kept(rest);
}

static void on_fault(char *rest)
{
    const char *name = table_word(&rest, " ");

    played.fault = strcmp(name, "TIMEOUT") == 0   ? GBX_UPSTREAM_TIMEOUT
                   : strcmp(name, "CHANGED") == 0 ? GBX_UPSTREAM_CHANGED
                                                  : GBX_UPSTREAM_REFUSED;
    played.result = kept(rest);
}

/* ---- grants: what a person runs beside the server --------------------------------------- */

/* Its folder is there. */
static char *grants_path(void)
{
    static char file[128];
    gbx_grants_file *grants = gbx_grants_file_new(path, GBX_TRUST_OWN);
    char parent[80];

    assert_non_null(grants);
    (void)snprintf(file, sizeof file, "%s", gbx_grants_file_path(grants));
    gbx_grants_file_free(grants);
    (void)snprintf(parent, sizeof parent, "%s/glovebox", folder);
    (void)mkdir(parent, 0700);
    return file;
}

/* "allow TOOL" or "deny TOOL" */
static void on_grant(char *rest)
{
    gbx_grants_file *grants = gbx_grants_file_new(path, GBX_TRUST_OWN);
    bool is_deny = strcmp(table_word(&rest, " "), "deny") == 0;
    gbx_grant grant = is_deny ? GBX_GRANT_DENY : GBX_GRANT_ALLOW;
    gbx_error err = {0};

    assert_non_null(grants);
    if (gbx_grants_file_put(grants, "files", rest, grant, &err) != GBX_OK)
        fail_msg("%s", err.message);
    gbx_grants_file_free(grants);
}

/* "MODE TEXT" */
static void on_grants(char *rest)
{
    const char *file = grants_path();
    mode_t mode = (mode_t)strtoul(table_word(&rest, " "), NULL, 8);

    assert_int_equal(gbx_file_replace(file, rest, strlen(rest), NULL, NULL), GBX_OK);
    assert_int_equal(chmod(file, mode), 0);
}

static void on_grants_folder(char *rest)
{
    char *file = grants_path();

    *strrchr(file, '/') = '\0';
    assert_int_equal(chmod(file, (mode_t)strtoul(rest, NULL, 8)), 0);
}

/* A link that leads to itself: the file is there, and nothing tells what it says. */
static void on_grants_loop(char *rest)
{
    assert_int_equal(symlink(grants_path(), grants_path()), 0);
}

static void on_forget(char *rest)
{
    char *file = grants_path();

    (void)unlink(file);
    *strrchr(file, '/') = '\0';
    (void)rmdir(file);
}

static void on_lock(char *rest)
{
    const char *file = grants_path();

    assert_int_equal(gbx_file_lock(file, GBX_FILE_LOCK_MS, &s.lock, NULL), GBX_OK);
}

static void on_unlock(char *rest)
{
    (void)close(s.lock);
}

/* ---- what came of it --------------------------------------------------------------- */

static const char *mark_of(const char *tool)
{
    char text[100];
    gbx_view view;

    (void)snprintf(text, sizeof text, "{\"name\":\"%s\"}", tool);
    assert_true(gbx_view_open(text, strlen(text), &view));
    return gbx_gate_mark(gate, "files", view);
}

static bool is_marked(char *rest)
{
    const char *tool = table_word(&rest, " ");

    return strcmp(mark_of(tool), rest) == 0;
}

/* first_...: of the first call that was started. NULL: no text has the name. */
static const char *find_text(const char *name)
{
    static const char *const hints[] = {[GBX_GATE_HINT_UNKNOWN] = "unknown",
                                        [GBX_GATE_HINT_MISSING] = "missing",
                                        [GBX_GATE_HINT_READS] = "reads",
                                        [GBX_GATE_HINT_OTHER] = "other"};
    const outcome *o = &s.outcomes[0];
    const played_sending *sent =
        played.started > 0 ? played.calls[played.started - 1] : NULL;
    const struct {
        const char *name;
        const char *text;
    } texts[] = {
        {"message", o->message},
        {"result", o->result},
        {"progress", o->progress},
        {"first_message", s.outcomes[1].message},
        {"first_progress", s.outcomes[1].progress},
        {"first_end", s.outcomes[1].end},
        {"question", s.person->message},
        {"form", s.person->schema},
        {"notice", s.person->told},
        {"warning", s.person->logged},
        {"log", lines},
        {"hint", sent != NULL ? hints[sent->hint] : ""},
        {"sent", sent != NULL ? sent->args : ""},
        {"meta", sent != NULL ? sent->meta : ""},
    };

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (strcmp(texts[i].name, name) == 0)
            return texts[i].text;
    return NULL;
}

static size_t find_number(const char *name)
{
    const struct {
        const char *name;
        size_t value;
    } numbers[] = {
        {"asked", s.person->asked},
        {"asked_at_once", s.person->most_open},
        {"started", played.started},
        {"learned", played.learned},
        {"retryable", s.outcomes[0].retryable},
    };

    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++)
        if (strcmp(numbers[i].name, name) == 0)
            return numbers[i].value;
    fail_msg("nothing is called '%s'", name);
    return 0;
}

static bool is_that(char *rest)
{
    const char *name = table_word(&rest, " ");
    const char *text = find_text(name);

    if (text != NULL)
        return strcmp(text, rest) == 0;
    return find_number(name) == (size_t)steps_number(&rest);
}

static bool has_part(char *rest)
{
    const char *text = find_text(table_word(&rest, " "));

    return strstr(text, rest) != NULL;
}

static bool begins_so(char *rest)
{
    const char *text = find_text(table_word(&rest, " "));

    return strncmp(text, rest, strlen(rest)) == 0;
}

static bool is_logged(char *rest)
{
    long wanted = steps_number(&rest);
    long count = 0;

    for (const char *at = lines; (at = strstr(at, rest)) != NULL; at += strlen(rest))
        count++;
    return count == wanted;
}

static void on_clear_log(char *rest)
{
    lines[0] = '\0';
}

/* The configuration is as it was written. */
static bool is_same_config(char *rest)
{
    char now[sizeof written];
    FILE *file = fopen(path, "r");
    size_t len;

    assert_non_null(file);
    len = fread(now, 1, sizeof now - 1, file);
    now[len] = '\0';
    (void)fclose(file);
    return strcmp(now, written) == 0;
}

/* ---- the program ------------------------------------------------------------------- */

static const steps_verb verbs[] = {
    {"open", on_open, NULL},
    {"close", on_close, NULL},
    {"person", on_person, NULL},
    {"deaf", on_deaf, NULL},
    {"as", on_as, NULL},
    {"server", on_server, NULL},
    {"signs in", on_signs_in, NULL},
    {"result", on_result, NULL},
    {"fault", on_fault, NULL},
    {"call", on_call, NULL},
    {"start", on_start, NULL},
    {"settle", on_settle, NULL},
    {"turn", on_turn, NULL},
    {"wait", on_wait, NULL},
    {"cancel", on_cancel, NULL},
    {"end run", on_end_run, NULL},
    {"last call", on_last_call, NULL},
    {"rate", on_rate, NULL},
    {"grant", on_grant, NULL},
    {"grants folder", on_grants_folder, NULL},
    {"grants loop", on_grants_loop, NULL},
    {"grants", on_grants, NULL},
    {"forget", on_forget, NULL},
    {"lock", on_lock, NULL},
    {"unlock", on_unlock, NULL},
    {"clear log", on_clear_log, NULL},
    {"done", NULL, is_done},
    {"mark", NULL, is_marked},
    {"is", NULL, is_that},
    {"has", NULL, has_part},
    {"begins", NULL, begins_so},
    {"logged", NULL, is_logged},
    {"same configuration", NULL, is_same_config},
    {NULL, NULL, NULL},
};

static const char *const words[][2] = {
    {"$PATH", path},
    {"$SECRETS",
     "\"rules\": [{\"action\": \"allow\"}], \"secrets\": {\"KEY\": {\"value\": "
     "\"t0ken-of-the-test\", \"servers\": [\"files\"]}, \"QUOTED\": {\"value\": "
     "\"a\\\"b\\\\c,d:efgh\", \"servers\": [\"files\"]}}"},
    /* What the first rule does not ask about is denied. */
    {"$ASK_THEN_DENY",
     "\"rules\": [{\"action\": \"ask\", \"tool\": \"plain\", \"args\": {\"path\": "
     "\"/srv/**\"}}, {\"action\": \"deny\", \"tool\": \"plain\"}]"},
    {"$RTL", "\xE2\x80\xAE"},
    {"$ESC", "\x1b"},
    {NULL},
};

static void set_up(void)
{
    memset(&s, 0, sizeof s);
    s.person = s.persons;
}

static void tear_down(void)
{
    close_gate();
    on_forget(NULL);
    while (s.kept_count > 0)
        free(s.kept[--s.kept_count]);
}

int main(int argc, char **argv)
{
    static const steps_program program = {.verbs = verbs,
                                          .words = words,
                                          .set_up = set_up,
                                          .tear_down = tear_down};
    int failed;

    (void)umask(077);
    /* Nobody's grants but the test's. */
    if (mkdtemp(folder) == NULL || setenv("XDG_STATE_HOME", folder, 1) != 0)
        return 2;
    (void)snprintf(path, sizeof path, "%s/mcp.json", folder);
    failed = steps_main(argc, argv, &program);
    (void)unlink(path);
    (void)rmdir(folder);
    return failed;
}
