/* SPDX-License-Identifier: MIT */
/*
 * question - a person sees the call, and answers for this call or for more.
 *
 * The shown text is hostile: it is escaped, and a cut says how much is missing. A
 * request has one question open at a time, since the answer may settle the next ones.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/approval/tool_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX GBX_KIB(32)

/* "deny" is the first: some clients preselect the first. For the same reason the form
 * has no default. */
typedef enum choice { DENY, ONCE, RUN_SAME, RUN, SESSION, ALWAYS, CHOICES } choice;

/* Some clients show titles, which say what an answer covers; the message explains it
 * for all clients. */
static const struct {
    const char *answer;
    const char *title;
} choices[CHOICES] = {
    [DENY] = {"deny", "deny"},
    [ONCE] = {"allow this call", "allow this call"},
    [RUN_SAME] = {"allow for this run, with the same arguments",
                  "allow for this run, with the same arguments"},
    [RUN] = {"allow for this run", "allow for this run, with any arguments"},
    [SESSION] = {"allow for this session",
                 "allow for this session, with any arguments"},
    [ALWAYS] = {"always allow", "always allow, by the rule shown"},
};

static bool is_offered(const gbx_gate_call *call, choice c)
{
    return (call->offered & 1u << c) != 0;
}

/* A call that is not shown completely can only be allowed once. */
static void choose_offers(gbx_gate_call *call, bool is_whole)
{
    free(call->rule);
    call->rule = is_whole && gbx_grants_file_is_open(call->gate->standing)
                     ? gbx_gate_rule_of(call)
                     : NULL;
    call->offered = 1u << DENY | 1u << ONCE;
    if (is_whole)
        call->offered |= 1u << SESSION;
    if (is_whole && call->run[0] != '\0')
        call->offered |= 1u << RUN_SAME | 1u << RUN;
    if (call->rule != NULL)
        call->offered |= 1u << ALWAYS;
}

/* ---- the message ----------------------------------------------------------------- */

static void put_text(gbx_buf *to, const char *text)
{
    (void)gbx_utf8_append_escaped(to, text, strlen(text),
                                  GBX_ESCAPE_TEXT | GBX_ESCAPE_ALL);
}

static void put_name(gbx_buf *to, const char *name)
{
    (void)gbx_utf8_append_escaped(to, name, strlen(name),
                                  GBX_ESCAPE_LINE | GBX_ESCAPE_ALL);
}

static void put_asked(gbx_buf *to, const gbx_gate_call *call, const char *calls)
{
    if (call->verdict.rule == GBX_GATE_NO_RULE)
        (void)gbx_buf_printf(to, "%s that no rule is about", calls);
    else
        (void)gbx_buf_printf(to, "%s that rule %zu asks about", calls,
                             call->verdict.rule + 1);
}

static void put_always(gbx_buf *to, const gbx_gate_call *call)
{
    put_asked(to, call, "every call that this rule allows, of those");
    (void)gbx_buf_puts(to, ", from now on; arguments that it does not name may be any. "
                           "It is kept in ");
    put_name(to, gbx_grants_file_path(call->gate->standing));
    (void)gbx_buf_puts(to, ":\n  ");
    put_text(to, call->rule);
}

static void put_covered(gbx_buf *to, const gbx_gate_call *call, choice c)
{
    switch (c) {
    case DENY:
        if (call->run[0] == '\0')
            (void)gbx_buf_puts(to, "not this call");
        else
            put_asked(to, call,
                      "neither this call nor, in this run, another of this tool");
        return;
    case ONCE: (void)gbx_buf_puts(to, "this call, once"); return;
    case RUN_SAME:
        (void)gbx_buf_puts(to,
                           "every call of this tool in this run with these arguments");
        return;
    case RUN: put_asked(to, call, "every call of this tool in this run"); return;
    case SESSION:
        put_asked(to, call, "every call of this tool in this session");
        return;
    case ALWAYS: put_always(to, call); return;
    case CHOICES: return;
    }
}

static void put_choices(gbx_buf *to, const gbx_gate_call *call)
{
    (void)gbx_buf_puts(to, "\n\nWhat the answers cover:");
    for (choice c = 0; c < CHOICES; c++)
        if (is_offered(call, c)) {
            (void)gbx_buf_printf(to, "\n- %s: ", choices[c].title);
            put_covered(to, call, c);
        }
    if (!is_offered(call, SESSION))
        (void)gbx_buf_puts(to, "\nNo more can be allowed, since not every part of the "
                               "arguments is shown.");
}

static bool put_message(gbx_buf *to, gbx_gate_call *call)
{
    size_t rule = call->verdict.rule;
    const char *reason =
        rule != GBX_GATE_NO_RULE ? call->gate->config->rules->items[rule].reason : NULL;

    (void)gbx_buf_puts(to, "Allow a call of the tool ");
    put_name(to, call->tool);
    (void)gbx_buf_puts(to, " of the server ");
    put_name(to, call->server);
    (void)gbx_buf_puts(to, "?");
    if (call->line != 0)
        (void)gbx_buf_printf(to, "\nLine %u of the script makes it.", call->line);
    if (rule == GBX_GATE_NO_RULE)
        (void)gbx_buf_puts(to, "\nNo rule is about this call.");
    else
        (void)gbx_buf_printf(to, "\nRule %zu asks%s", rule + 1,
                             reason != NULL ? ": " : ".");
    if (reason != NULL)
        put_text(to, reason);
    (void)gbx_buf_puts(to, "\n\nArguments:\n");
    choose_offers(call, gbx_gate_show_args(call->args, to));
    put_choices(to, call);
    return gbx_buf_append(to, "", 1);
}

static bool put_schema(gbx_buf *to, const gbx_gate_call *call)
{
    (void)gbx_buf_puts(to, "{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":"
                           "\"string\",\"title\":\"Answer\",\"enum\":[");
    for (choice c = 0; c < CHOICES; c++)
        if (is_offered(call, c))
            (void)gbx_buf_printf(to, "%s\"%s\"", c > 0 ? "," : "", choices[c].answer);
    (void)gbx_buf_puts(to, "],\"enumNames\":[");
    for (choice c = 0; c < CHOICES; c++)
        if (is_offered(call, c))
            (void)gbx_buf_printf(to, "%s\"%s\"", c > 0 ? "," : "", choices[c].title);
    (void)gbx_buf_puts(to, "]}},\"required\":[\"answer\"]}");
    return gbx_buf_append(to, "", 1);
}

/* ---- calls that no person decides --------------------------------------- */

/* Quote a word as a shell needs it, unless it is plain. */
static void put_word(gbx_buf *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:=@%+,";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        (void)gbx_buf_printf(to, " %s", word);
        return;
    }
    (void)gbx_buf_puts(to, " '");
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'')
            (void)gbx_buf_puts(to, "'\\''");
        else
            (void)gbx_buf_append(to, c, 1);
    (void)gbx_buf_puts(to, "'");
}

/* The command by which a person could allow the tool. It is not for the author of the
 * call, which may have a shell. */
static void put_command(const gbx_gate_call *call, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "glovebox mcp allow");
    put_word(to, call->server);
    put_word(to, call->tool);
    (void)gbx_buf_puts(to, " --config");
    put_word(to, call->gate->config->path);
}

/* Refuse, naming the command and the rule that would let the call pass. */
static void refuse_unasked(gbx_gate_call *call, const char *why)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf how;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf rule;

    gbx_buf_init(&how, GBX_KIB(16));
    gbx_buf_init(&rule, GBX_GATE_RULE_MAX);
    call->answer = "nobody";
    if (call->gate->config->path != NULL) {
        (void)gbx_buf_puts(&how, "do not allow it yourself: ask the person to run `");
        put_command(call, &how);
        (void)gbx_buf_puts(&how,
                           "` in a terminal, which allows every call of this tool, "
                           "or to add ");
    } else {
        (void)gbx_buf_puts(&how, "to allow it for good, add ");
    }
    if (gbx_gate_rule_for(call->gate->config->rules, &call->verdict, call->server,
                          call->tool, call->args, &rule))
        (void)gbx_buf_puts(&how, "this rule");
    else
        (void)gbx_buf_puts(&how, "a rule that fits its arguments as they are written");
    if (call->verdict.rule != GBX_GATE_NO_RULE)
        (void)gbx_buf_printf(&how, " before rule %zu in", call->verdict.rule + 1);
    else
        (void)gbx_buf_puts(&how, " at the end of");
    (void)gbx_buf_puts(&how, " \"rules\" under \"glovebox\" in the configuration");
    gbx_gate_refuse(call, "NEEDS_APPROVAL",
                    "a person has to allow this call, and %s; %.*s%s%.*s", why,
                    (int)how.len, (const char *)how.data,
                    rule.failed || rule.len == 0 ? "" : ": ",
                    rule.failed ? 0 : (int)rule.len, (const char *)rule.data);
}

/* Count a question; false if too many were asked lately. */
static bool take_question(gbx_gate *gate)
{
    int64_t now = gbx_clock_now_ns();

    gate->questions +=
        (double)(now - gate->questions_ns) / 60e9 * GBX_GATE_QUESTIONS_MAX;
    gate->questions_ns = now;
    if (gate->questions > GBX_GATE_QUESTIONS_MAX)
        gate->questions = GBX_GATE_QUESTIONS_MAX;
    if (gate->questions < 1)
        return false;
    gate->questions -= 1;
    return true;
}

/* ---- the answer --------------------------------------------------------- */

/* CHOICES: not one of the offered answers. */
static choice choice_of(const gbx_gate_call *call, gbx_view content)
{
    gbx_view answer = gbx_view_member(content, "answer");
    choice c = DENY;

    while (c < CHOICES &&
           !(is_offered(call, c) && gbx_view_is_text(answer, choices[c].answer)))
        c++;
    return c;
}

/* Report to the person who chose "always" that it holds for the session only. */
static void say_unwritten(gbx_gate_call *call, const gbx_error *err)
{
    char text[GBX_ERROR_MESSAGE_SIZE + 80];
    int len = snprintf(text, sizeof text, "it is allowed for this session alone: %s",
                       err->message);

    gbx_mcp_progress(call->request, -1, text, (size_t)len);
    gbx_mcp_log_line(call->request, GBX_LOG_WARN, text, (size_t)len);
}

static void keep_for_ever(gbx_gate_call *call)
{
    gbx_error err = {0};

    call->answer = "always";
    if (gbx_gate_keep_rule(call, &err) != GBX_OK) {
        call->answer = "unwritten";
        say_unwritten(call, &err);
    }
    gbx_gate_remember(call->gate, call, GBX_GATE_SCOPE_RULE, true);
}

static void keep(gbx_gate_call *call, choice c)
{
    static const struct {
        const char *answer;
        gbx_gate_scope scope;
    } rows[CHOICES] = {[RUN_SAME] = {"same", GBX_GATE_SCOPE_RUN_SAME},
                       [RUN] = {"run", GBX_GATE_SCOPE_RUN},
                       [SESSION] = {"session", GBX_GATE_SCOPE_SESSION}};

    if (c == ONCE) {
        call->answer = "once";
    } else if (c == ALWAYS) {
        keep_for_ever(call);
    } else {
        call->answer = rows[c].answer;
        gbx_gate_remember(call->gate, call, rows[c].scope, true);
    }
}

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    gbx_gate_call *call = user;
    choice c;

    if (!gbx_gate_called_back(call))
        return;
    c = choice_of(call, content);
    if (answer == GBX_MCP_ANSWER_NOBODY) {
        refuse_unasked(call, "the client cannot ask anybody");
    } else if (answer == GBX_MCP_ANSWER_LATE) {
        refuse_unasked(call, "nobody has answered in time");
    } else if (answer == GBX_MCP_ANSWER_ENDED) {
        gbx_gate_refuse(call, "ABORTED", "the call was cancelled");
    } else if (answer == GBX_MCP_ANSWER_CANCEL) {
        call->answer = "dismissed";
        gbx_gate_refuse(call, "DENIED", "nobody has allowed this call");
    } else if (answer == GBX_MCP_ANSWER_DECLINE || c == DENY) {
        call->answer = "declined";
        gbx_gate_remember(call->gate, call, GBX_GATE_SCOPE_RUN, false);
        gbx_gate_refuse(call, "DENIED", "a person has declined this call");
    } else if (c == CHOICES) {
        call->answer = "dismissed";
        gbx_gate_refuse(call, "DENIED",
                        "nobody has allowed this call: the client came back with none "
                        "of the answers that it was offered");
    } else {
        gbx_mcp_request *request = call->request;
        gbx_gate *gate = call->gate;

        keep(call, c);
        gbx_gate_pass(call);
        gbx_gate_next_question(gate, request);
    }
}

static void ask(gbx_gate_call *call)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf schema;

    gbx_buf_init(&message, MESSAGE_MAX);
    gbx_buf_init(&schema, 1024);
    if (!put_message(&message, call) || !put_schema(&schema, call)) {
        refuse_unasked(call, "it cannot be shown");
        return;
    }
    call->state = GBX_GATE_ASKING;
    call->callbacks++;
    gbx_mcp_ask(call->request, (const char *)message.data, (const char *)schema.data,
                on_answer, call);
}

static bool is_busy(const gbx_gate *gate, const gbx_mcp_request *request)
{
    for (const gbx_gate_call *call = gate->calls; call != NULL; call = call->next)
        if (call->request == request && call->state == GBX_GATE_ASKING)
            return true;
    return false;
}

/* ---- for the other parts ---------------------------------------------------- */

void gbx_gate_question(gbx_gate_call *call)
{
    switch (gbx_gate_look_up(call->gate, call)) {
    case GBX_GATE_GRANTED:
        call->answer = "before";
        gbx_gate_pass(call);
        return;
    case GBX_GATE_DECLINED:
        call->answer = "declined before";
        gbx_gate_refuse(call, "DENIED", "a person has declined this tool for this run");
        return;
    case GBX_GATE_OPEN: break;
    }
    if (call->request == NULL || !gbx_mcp_can_ask(call->request))
        refuse_unasked(call, "the client cannot ask anybody");
    else if (is_busy(call->gate, call->request))
        call->state = GBX_GATE_QUEUED;
    else if (!take_question(call->gate))
        refuse_unasked(call, "there were too many questions in the last minute");
    else
        ask(call);
}

void gbx_gate_next_question(gbx_gate *gate, gbx_mcp_request *request)
{
    if (is_busy(gate, request))
        return;
    for (gbx_gate_call *call = gate->calls; call != NULL; call = call->next)
        if (call->request == request && call->state == GBX_GATE_QUEUED) {
            event_active(call->later, EV_TIMEOUT, 0);
            return;
        }
}
