/* SPDX-License-Identifier: MIT */
/*
 * mcp_gate - calls on their way: what reaches a server, how often, with which bytes, and
 * what comes back of it.
 */
#include "mcp/approval/gate_call.h"
#include "mcp/config/config.h"
#include "mcp_stage.h"
#include "test.h"

#include <sys/stat.h>

#include <jansson.h>

/* ---- decisions ---------------------------------------------------------------------- */

TEST(default__reads_pass_and_others_need_a_person)
{
    gbx_mcp_request nobody = {.can_ask = false};
    outcome o;

    open_gate("");
    o = call(&nobody, "read_file", "{}", "");
    assert_string_equal(o.code, "");
    assert_string_equal(o.result, "{\"content\":[]}");
    assert_int_equal(played.started, 1);
    assert_int_equal(played.learned, 1);
    for (size_t i = 0; i < 3; i++) {
        static const char *const tools[] = {"write_file", "plain", "lies"};

        o = call(&nobody, tools[i], "{}", "");
        assert_string_equal(o.code, "NEEDS_APPROVAL");
        assert_non_null(strstr(o.message, "{\"action\":\"allow\",\"server\":\"files\","
                                          "\"tool\":\""));
        assert_non_null(strstr(o.message, tools[i]));
    }
    assert_int_equal(played.started, 1);
    close_gate();
}

TEST(deny__is_said_before_a_server_is_started)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;

    open_gate("\"rules\": [{\"action\": \"deny\", \"tool\": \"write_*\", \"reason\": "
              "\"it is Friday\"}]");
    o = call(&p, "write_file", "{}", "r-1");
    assert_string_equal(o.code, "DENIED");
    assert_string_equal(o.message, "the rules do not allow this call: it is Friday");
    assert_int_equal(played.learned + played.started + p.asked, 0);
    close_gate();
}

/* What a person runs beside the server. */
static void grant(const char *tool, gbx_grant what)
{
    gbx_grants_file *grants = gbx_grants_file_new(path, GBX_TRUST_OWN);
    gbx_error err = {0};

    assert_non_null(grants);
    if (gbx_grants_file_put(grants, "files", tool, what, &err) != GBX_OK)
        fail_msg("%s", err.message);
    gbx_grants_file_free(grants);
}

static void write_grants(const char *text, mode_t mode)
{
    gbx_grants_file *grants = gbx_grants_file_new(path, GBX_TRUST_OWN);
    const char *file = gbx_grants_file_path(grants);

    assert_int_equal(gbx_file_replace(file, text, strlen(text), 0, NULL, NULL), GBX_OK);
    assert_int_equal(chmod(file, mode), 0);
    gbx_grants_file_free(grants);
}

static int chmod_folder_of_grants(mode_t mode)
{
    gbx_grants_file *grants = gbx_grants_file_new(path, GBX_TRUST_OWN);
    char folder[128];

    (void)snprintf(folder, sizeof folder, "%s", gbx_grants_file_path(grants));
    gbx_grants_file_free(grants);
    *strrchr(folder, '/') = '\0';
    return chmod(folder, mode);
}

static const char *mark(const char *tool)
{
    char text[100];
    gbx_view view;

    (void)snprintf(text, sizeof text, "{\"name\":\"%s\"}", tool);
    assert_true(gbx_view_open(text, strlen(text), &view));
    return gbx_gate_mark(gate, "files", view);
}

TEST(grant__decides_from_the_next_call_on)
{
    gbx_mcp_request nobody = {.can_ask = false};
    outcome o;
    char command[200];

    open_gate("");
    o = call(&nobody, "plain", "{}", "");
    assert_string_equal(o.code, "NEEDS_APPROVAL");
    (void)snprintf(command, sizeof command,
                   "ask the person to run `glovebox mcp allow files plain --config %s`",
                   path);
    assert_non_null(strstr(o.message, command));
    assert_string_equal(mark("plain"), "asks a person");

    grant("plain", GBX_GRANT_ALLOW);
    assert_string_equal(call(&nobody, "plain", "{}", "").code, "");
    assert_string_equal(call(&nobody, "plain", "{\"a\":1}", "r").code, "");
    assert_non_null(strstr(lines, "\"answer\":\"allowed for good\""));
    assert_string_equal(mark("plain"), "");
    assert_string_equal(call(&nobody, "write_file", "{}", "").code, "NEEDS_APPROVAL");

    grant("plain", GBX_GRANT_DENY);
    grant("read_file", GBX_GRANT_DENY);
    assert_string_equal(call(&nobody, "plain", "{}", "").code, "DENIED");
    o = call(&nobody, "read_file", "{}", "");
    assert_string_equal(o.code, "DENIED");
    assert_non_null(strstr(o.message, "by 'glovebox mcp deny'"));
    assert_string_equal(mark("read_file"), "denied");
    close_gate();
}

TEST(grant__is_of_its_configuration_and_below_what_is_denied)
{
    gbx_mcp_request nobody = {.can_ask = false};

    open_gate("\"rules\": [{\"action\": \"deny\", \"tool\": \"plain\"}]");
    grant("plain", GBX_GRANT_ALLOW);
    assert_non_null(
        strstr(call(&nobody, "plain", "{}", "").message, "the rules do not allow"));
    write_grants("{\"/other.json\": {\"files\": {\"write_file\": \"allow\"}}}", 0600);
    assert_string_equal(call(&nobody, "write_file", "{}", "").code, "NEEDS_APPROVAL");
    close_gate();
}

TEST(grants__that_nobody_can_tell_let_nothing_pass)
{
    gbx_mcp_request nobody = {.can_ask = false};
    outcome o;

    open_gate("");
    write_grants("{}", 0602);
    o = call(&nobody, "read_file", "{}", "");
    assert_string_equal(o.code, "DENIED");
    assert_non_null(strstr(o.message, "chmod go-w"));
    assert_string_equal(mark("read_file"), "denied");
    write_grants("[1]", 0600);
    o = call(&nobody, "read_file", "{}", "");
    assert_non_null(strstr(o.message, "are not a JSON object"));
    write_grants("{}", 0600);
    assert_string_equal(call(&nobody, "read_file", "{}", "").code, "");
    close_gate();

    open_gate("");
    assert_int_equal(chmod_folder_of_grants(0777), 0);
    assert_string_equal(call(&nobody, "read_file", "{}", "").code, "DENIED");
    assert_int_equal(chmod_folder_of_grants(0700), 0);
    assert_string_equal(call(&nobody, "read_file", "{}", "").code, "");
    close_gate();
}

TEST(mark__says_what_depends_on_arguments)
{
    open_gate("\"rules\": [{\"action\": \"ask\", \"tool\": \"plain\", \"args\": "
              "{\"path\": \"/srv/**\"}}, {\"action\": \"ask\", \"tool\": \"lies\", "
              "\"args\": {\"a\": 1}}, {\"action\": \"allow\", \"tool\": \"plain\"}, "
              "{\"action\": \"deny\", \"tool\": [\"plain\", \"write_*\"]}]");
    write_grants("{}", 0600);
    assert_string_equal(mark("plain"), "depends on arguments");
    assert_string_equal(mark("lies"), "asks a person");
    assert_string_equal(mark("write_file"), "denied");
    grant("plain", GBX_GRANT_ALLOW);
    assert_string_equal(mark("plain"), "");
    write_grants("{}", 0600); /* for the tests that follow */
    close_gate();
}

TEST(arguments__that_parsers_read_differently_go_nowhere)
{
    static const char *const args[] = {"{\"a\":1,\"a\":2}", "[]", "{", "",
                                       "{\"__proto__\":{}}"};
    gbx_mcp_request p = person(ONCE);

    open_gate("\"rules\": [{\"action\": \"allow\"}]");
    for (size_t i = 0; i < GBX_COUNTOF(args); i++)
        assert_string_equal(call(&p, "plain", args[i], "").code, "INVALID_ARGS");
    assert_int_equal(played.started, 0);
    close_gate();
}

TEST(arguments__that_are_refused_are_named)
{
    static const struct {
        const char *args;
        const char *said;
    } rows[] = {
        {"{\"to\":\"x\",\"text\":\"Hi \\ud83c\"}",
         "the argument 'text' holds half of a character: "},
        {"{\"rows\":[{\"a\":1},{\"b c\":[2, \"\\udc00\"]}]}",
         "the argument 'rows[1].b c[1]' holds half of a character: "},
        {"{\"id\":9223372036854775808}",
         "the argument 'id' is a number that not every program reads alike: "},
        {"{\"a\":{\"b\":1e999}}",
         "the argument 'a.b' is a number that not every program reads alike: "},
        {"{\"a\":{\"b\\u0000\":1}}", "the argument 'a.b\\u{0}' has NUL in its name"},
        {"{\"a\":{\"b\":1,\"b\":2}}", "the argument 'a.b' is there twice"},
        {"{\"b\":0,\"a\":[{\"b\":1},{\"b\":{},\"c\":\"\",\"\\u0062\":2}]}",
         "the argument 'a[1].b' is there twice"},
        {"{\"a\":[{\"\\u005f_proto__\":1}]}",
         "the argument 'a[0].__proto__' cannot have that name"},
        {"7", "the arguments are not an object"},
    };
    gbx_mcp_request p = person(ONCE);

    open_gate("\"rules\": [{\"action\": \"allow\"}]");
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        outcome o = call(&p, "plain", rows[i].args, "");

        assert_string_equal(o.code, "INVALID_ARGS");
        assert_memory_equal(o.message, rows[i].said, strlen(rows[i].said));
    }
    close_gate();
}

TEST(arguments__reach_the_server_as_they_were_judged)
{
    static const char args[] = "{\"b\" : 1.50e1, \"a\":\"\\u00e9\" }";
    gbx_mcp_request p = person(ONCE);

    open_gate("\"rules\": [{\"action\": \"allow\"}]");
    assert_string_equal(call(&p, "plain", args, "").code, "");
    assert_string_equal(played.calls[0]->args, args);
    assert_string_equal(played.calls[0]->meta, "\"traceparent\":\"00-abc-def-01\"");
    close_gate();
}

TEST(tool__that_the_server_does_not_have_is_asked_about_nobody)
{
    gbx_mcp_request p = person(ONCE);

    open_gate("\"rules\": [{\"action\": \"ask\"}]");
    assert_string_equal(call(&p, "raed_file", "{}", "").code, "NOT_FOUND");
    assert_int_equal(p.asked, 0);
    close_gate();
}

TEST(fault__of_a_server_has_its_name)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;

    open_gate("");
    played.fault = GBX_UPSTREAM_TIMEOUT;
    played.result = "no answer in time";
    o = call(&p, "read_file", "{}", "");
    assert_string_equal(o.code, "UPSTREAM_TIMEOUT");
    assert_string_equal(o.message, "no answer in time");
    assert_true(o.retryable);
    close_gate();
}

TEST(fault__of_a_tool_that_may_write_says_that_it_may_have)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;

    open_gate("");
    played.fault = GBX_UPSTREAM_TIMEOUT;
    played.result = "no answer in time";
    o = call(&p, "write_file", "{}", "");
    assert_string_equal(o.message, "no answer in time; " GBX_GATE_DOUBT);
    close_gate();
}

TEST(fault__that_is_long_keeps_head_and_tail)
{
    gbx_mcp_request p = person(ONCE);
    static char words[40001];
    outcome o;

    memset(words, 'w', 40000);
    strcpy(words + 39991, "the cause");
    open_gate("");
    played.fault = GBX_UPSTREAM_TIMEOUT;
    played.result = words;
    o = call(&p, "read_file", "{}", "");
    assert_memory_equal(o.message, "wwww", 4);
    assert_non_null(strstr(o.message, "w [... 35904 bytes ...] w"));
    assert_string_equal(o.message + strlen(o.message) - 10, "wthe cause");
    close_gate();
}

TEST(tool__that_does_not_only_read_any_more_is_judged_again)
{
    gbx_mcp_request nobody = {.can_ask = false};
    gbx_mcp_request p = person(ONCE);

    open_gate("");
    played.changes = true;
    assert_string_equal(call(&nobody, "read_file", "{}", "").code, "NEEDS_APPROVAL");
    assert_non_null(strstr(lines, "\"decision\":\"ask\""));
    assert_int_equal(p.asked, 0);
    assert_string_equal(call(&p, "read_file", "{}", "").code, "");
    assert_int_equal(p.asked, 1);
    assert_int_equal(played.calls[1]->hint, GBX_GATE_HINT_OTHER);
    close_gate();
}

TEST(tool__that_changes_with_each_look_is_refused)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;

    open_gate("");
    played.fault = GBX_UPSTREAM_CHANGED;
    played.result = "the server says another thing of this tool than before";
    o = call(&p, "read_file", "{}", "");
    assert_string_equal(o.message, played.result);
    assert_int_equal(played.started, 3);
    close_gate();
}

TEST(trust__is_in_what_was_looked_at_alone)
{
    gbx_mcp_request p = person(ONCE);

    open_gate(
        "\"rules\": [{\"action\": \"allow\", \"tool\": \"write_file\"}, {\"action\": "
        "\"allow\", \"readOnly\": false}]");
    (void)call(&p, "write_file", "{}", "");
    (void)call(&p, "plain", "{}", "");
    (void)call(&p, "read_file", "{}", "");
    assert_int_equal(played.calls[0]->hint, GBX_GATE_HINT_UNKNOWN);
    assert_int_equal(played.calls[1]->hint, GBX_GATE_HINT_OTHER);
    assert_int_equal(played.calls[2]->hint, GBX_GATE_HINT_READS);
    close_gate();
}

TEST(tools__that_stay_unknown_are_not_asked_for_ever)
{
    gbx_mcp_request p = person(ONCE);

    open_gate("");
    played.learns_nothing = true;
    assert_string_equal(call(&p, "read_file", "{}", "").code, "UPSTREAM_PROTOCOL");
    assert_int_equal(played.learned, 1);
    close_gate();
}

/* ---- the log, and the end ------------------------------------------------------------------ */

TEST(log__has_a_line_for_every_call)
{
    gbx_mcp_request p = person(ONCE);
    json_t *line;

    open_gate("\"rules\": [{\"action\": \"ask\", \"tool\": \"plain\"}]");
    (void)call(&p, "plain", "{\"secret\":\"argument\"}", "9f3a61c2-1");
    line = json_loads(lines, 0, NULL);
    assert_non_null(line);
    assert_string_equal(json_string_value(json_object_get(line, "event")), "mcp.call");
    assert_string_equal(json_string_value(json_object_get(line, "run")), "9f3a61c2-1");
    assert_string_equal(json_string_value(json_object_get(line, "server")), "files");
    assert_string_equal(json_string_value(json_object_get(line, "tool")), "plain");
    assert_string_equal(json_string_value(json_object_get(line, "decision")), "ask");
    assert_string_equal(json_string_value(json_object_get(line, "answer")), "once");
    assert_int_equal(json_integer_value(json_object_get(line, "rule")), 1);
    assert_int_equal(json_integer_value(json_object_get(line, "line")), 7);
    assert_true(json_is_true(json_object_get(line, "ok")));
    assert_null(strstr(lines, "argument\""));
    json_decref(line);
    lines[0] = '\0';
    (void)call(&p, "x\n{\"event\":\"fake\"}", "[]", "");
    assert_ptr_equal(strchr(lines, '\n'), lines + strlen(lines) - 1);
    assert_non_null(strstr(lines, "\"code\":\"INVALID_ARGS\""));
    assert_null(strstr(lines, "\"decision\""));
    close_gate();
}

static size_t count_of(const char *what)
{
    size_t count = 0;

    for (const char *at = lines; (at = strstr(at, what)) != NULL; at += strlen(what))
        count++;
    return count;
}

TEST(log__is_not_flooded_by_what_a_run_is_refused)
{
    gbx_mcp_request p = person(ONCE);

    open_gate("\"rules\": [{\"action\": \"deny\", \"tool\": \"write_*\"}]");
    for (size_t i = 0; i < 57; i++)
        assert_string_equal(call(&p, "write_file", "{}", "r-1").code, "DENIED");
    assert_int_equal(count_of("\"mcp.call\""), 50);
    assert_string_equal(call(&p, "read_file", "{}", "r-1").code, "");
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "");
    (void)call(&p, "write_file", "{}", "r-2");
    (void)call(&p, "write_file", "{}", "");
    assert_int_equal(count_of("\"mcp.call\""), 54);
    assert_int_equal(count_of("log.dropped"), 0);
    lines[0] = '\0';
    gbx_gate_end_run(gate, "r-1");
    gbx_gate_end_run(gate, "r-2");
    assert_int_equal(count_of("\n"), 1);
    assert_non_null(strstr(lines, "\"event\":\"log.dropped\""));
    assert_non_null(strstr(lines, "\"run\":\"r-1\",\"lines\":7}"));
    close_gate();
}

TEST(log__has_no_more_refusals_than_its_rate_in_all_runs)
{
    gbx_mcp_request p = person(ONCE);

    open_gate("\"rules\": [{\"action\": \"deny\", \"tool\": \"write_*\"}]");
    gate->refusals.left = 2;
    gate->refusals.at_ns = INT64_MAX; /* no second will be over */
    for (size_t i = 0; i < 3; i++)
        (void)call(&p, "write_file", "{}", i == 0 ? "r-1" : "r-2");
    assert_int_equal(count_of("\"mcp.call\""), 2);
    lines[0] = '\0';
    close_gate();
    assert_int_equal(count_of("\n"), 1);
    assert_non_null(strstr(lines, "\"run\":\"r-2\",\"lines\":1}"));
}

TEST(cancel__ends_a_call_wherever_it_is)
{
    gbx_mcp_request p = person(ONCE);
    outcome o[3] = {{.count = 0}};
    gbx_tool_call *calls[3];

    open_gate("\"rules\": [{\"action\": \"allow\", \"tool\": \"read_file\"}]");
    played.hold = true;
    calls[0] = start(&o[0], &p, "read_file", "{}", "r-1");
    settle();
    assert_int_equal(played.started, 1);
    calls[1] = start(&o[1], &p, "read_file", "{}", "r-1"); /* has not begun */
    calls[2] = start(&o[2], &p, "plain", "{}", "r-1");
    for (size_t i = 0; i < 3; i++) {
        gbx_gate_cancel(calls[i]);
        gbx_gate_cancel(calls[i]);
        assert_int_equal(o[i].count, 0);
    }
    settle();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(o[i].count, 1);
        assert_string_equal(o[i].code, "ABORTED");
    }
    assert_int_equal(played.started, 1);
    close_gate();
}

TEST(free__ends_what_is_in_flight)
{
    gbx_mcp_request p = person(ONCE);
    outcome o[3] = {{.count = 0}};

    open_gate("\"rules\": [{\"action\": \"allow\", \"tool\": \"read_file\"}]");
    played.hold = true;
    (void)start(&o[0], &p, "read_file", "{}", "r-1");
    settle();
    (void)start(&o[1], &p, "plain", "{}", "r-1");
    (void)event_base_loop(played.base, EVLOOP_NONBLOCK);
    (void)start(&o[2], &p, "plain", "{}", "r-1");
    close_gate();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(o[i].count, 1);
        assert_string_equal(o[i].code, "ABORTED");
        assert_string_not_equal(o[i].progress, "late");
    }
}

TEST_MAIN(stage_setup, stage_teardown)
