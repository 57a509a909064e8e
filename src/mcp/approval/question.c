/* SPDX-License-Identifier: MIT */
/*
 * question - asks a person about a call; the answer covers this call or more.
 *
 * The shown text is hostile: it is escaped, and a cut says how much is missing. A
 * request has one question open at a time, since the answer may settle the next ones.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/approval/gate_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX GBX_KIB(32)

#define SHOWN_ARGS 3000 /* bytes of arguments */
#define WHOLE_MAX \
    GBX_MIB(128) /* limit before the cut to SHOWN_ARGS: a byte may take six */

/* Each try halves the limit of texts, from LONGEST down to SHORTEST bytes. Lists keep
 * 1/ITEMS_OF as many items. */
#define LONGEST  2048u
#define SHORTEST 32u
#define ITEMS_OF 32u

/* "deny" is the first: some clients preselect the first. For the same reason the form
 * has no default. */
typedef enum choice { DENY, ONCE, RUN_SAME, RUN, SESSION, ALWAYS, CHOICES } choice;

/* Some clients show titles, which say what an answer covers; the message explains it
 * for all clients. The scope is used for every answer but ONCE. */
static const struct {
    const char *answer;
    const char *title;
    const char *covers; /* these calls */
    bool is_limited;    /* to those that the same rule asks about */
    const char *logged;
    gbx_gate_scope scope;
} choices[CHOICES] = {
    [DENY] = {"deny", "deny",
              "neither this call nor, in this run, another of this tool", true,
              "declined", GBX_GATE_SCOPE_RUN},
    [ONCE] = {"allow this call", "allow this call", "this call, once", false, "once",
              GBX_GATE_SCOPE_RUN_SAME},
    [RUN_SAME] = {"allow for this run, with the same arguments",
                  "allow for this run, with the same arguments",
                  "every call of this tool in this run with these arguments", false,
                  "same", GBX_GATE_SCOPE_RUN_SAME},
    [RUN] = {"allow for this run", "allow for this run, with any arguments",
             "every call of this tool in this run", true, "run", GBX_GATE_SCOPE_RUN},
    [SESSION] = {"allow for this session", "allow for this session, with any arguments",
                 "every call of this tool in this session", true, "session",
                 GBX_GATE_SCOPE_SESSION},
    [ALWAYS] = {"always allow", "always allow, by the rule shown",
                "every call that this rule allows, of those", true, "always",
                GBX_GATE_SCOPE_RULE},
};

static bool is_offered(const gbx_tool_call *call, choice c)
{
    return (call->offered & 1u << c) != 0;
}

/* A call that is not shown completely can only be allowed once, and so can what is not a
 * call of a tool: grants name tools. */
static void choose_offers(gbx_tool_call *call, bool is_whole)
{
    is_whole = is_whole && call->subject == GBX_GATE_TOOL;
    free(call->rule);
    call->rule = is_whole && !call->gate->options.keeps_no_answers &&
                         gbx_grants_file_is_open(call->gate->standing)
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

/* ---- the arguments --------------------------------------------------------------- */

/*
 * The author of a call could hide its purpose behind long texts. So long values are
 * shortened, the longest most, until every argument is visible. A person can still
 * allow a call that is not shown completely, but only this one call.
 */

/* One try: if the output does not fit into `to`, the try has failed. */
typedef struct sheet {
    gbx_buf *to;
    size_t limit; /* of each text */
} sheet;

static void put_argument(sheet *s, gbx_view value, size_t depth);

static void put_line(sheet *s, size_t depth)
{
    (void)gbx_buf_printf(s->to, "\n%*s", (int)depth * 2, "");
}

static void put_shortened(gbx_buf *to, gbx_view text, size_t limit)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf whole = {.ceiling = text.len};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf ends = {.ceiling = text.len + GBX_KIB(1)};

    if (!gbx_view_append_text(text, &whole) ||
        !gbx_utf8_append_ends(&ends, whole.data, whole.len, limit))
        to->failed = true;
    else if (gbx_view_kind(text) == '"')
        (void)gbx_json_append_string(to, ends.data, ends.len);
    else
        (void)gbx_buf_append(to, ends.data, ends.len);
}

/* Put the first items of an array or object that is not empty. */
static void put_first(sheet *s, gbx_view value, size_t most, size_t depth)
{
    bool named = gbx_view_kind(value) == '{';
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name, item;

    (void)gbx_buf_puts(s->to, named ? "{" : "[");
    while (!s->to->failed && gbx_view_next(value, &cursor, &name, &item)) {
        if (count++ >= most)
            continue;
        (void)gbx_buf_puts(s->to, count > 1 ? "," : "");
        put_line(s, depth + 1);
        if (named) {
            put_shortened(s->to, name, SIZE_MAX);
            (void)gbx_buf_puts(s->to, ": ");
        }
        put_argument(s, item, depth + 1);
    }
    if (count > most) {
        (void)gbx_buf_puts(s->to, most > 0 ? "," : "");
        put_line(s, depth + 1);
        (void)gbx_buf_printf(s->to, "%s\"[... %zu more ...]\"",
                             named ? "\"...\": " : "", count - most);
    }
    put_line(s, depth);
    (void)gbx_buf_puts(s->to, named ? "}" : "]");
}

/* The recursion is as deep as the arguments, whose depth is limited. */
static void put_argument(sheet *s, gbx_view value, size_t depth)
{
    char kind = gbx_view_kind(value);
    size_t cursor = 0;
    gbx_view name, item;

    if (kind != '{' && kind != '[')
        put_shortened(s->to, value, s->limit);
    else if (!gbx_view_next(value, &cursor, &name, &item))
        (void)gbx_buf_puts(s->to, kind == '{' ? "{}" : "[]");
    else
        put_first(s, value, depth == 0 ? SIZE_MAX : s->limit / ITEMS_OF, depth);
}

static bool print(gbx_view args, size_t limit, size_t ceiling, gbx_buf *to)
{
    sheet s = {.to = to, .limit = limit};

    gbx_buf_cleanup(to);
    gbx_buf_init(to, ceiling);
    put_argument(&s, args, 0);
    return !to->failed;
}

/* Append the arguments, escaped, on several lines. False if any part is left out. */
static bool show_args(gbx_view args, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = SHOWN_ARGS};
    size_t shown;
    bool is_whole;
    bool fits;

    /* A longer text cannot fit, however it is escaped. */
    is_whole =
        args.len <= (size_t)SHOWN_ARGS * 6 && print(args, SIZE_MAX, SHOWN_ARGS, &text);
    fits = is_whole;
    for (size_t limit = LONGEST; !fits && limit >= SHORTEST; limit /= 2)
        fits = print(args, limit, limit > SHORTEST ? SHOWN_ARGS : WHOLE_MAX, &text);
    if (!fits) {
        (void)gbx_buf_puts(to, "(they cannot be shown)");
        return false;
    }
    shown = gbx_utf8_cut(text.data, text.len, SHOWN_ARGS);
    (void)gbx_utf8_append_escaped(to, text.data, shown,
                                  GBX_ESCAPE_TEXT | GBX_ESCAPE_ALL);
    if (shown < text.len)
        (void)gbx_buf_printf(to, "\n... and %zu bytes more that are not shown here",
                             text.len - shown);
    return is_whole;
}

/* ---- the message ----------------------------------------------------------------- */

static void put_text(gbx_buf *to, const char *text)
{
    (void)gbx_utf8_append_escaped(to, text, strlen(text),
                                  GBX_ESCAPE_TEXT | GBX_ESCAPE_ALL);
}

static void put_covered(gbx_buf *to, const gbx_tool_call *call, choice c)
{
    size_t rule = call->verdict.rule;

    if (c == DENY && call->run[0] == '\0') {
        (void)gbx_buf_puts(to, "not this call");
        return;
    }
    (void)gbx_buf_puts(to, choices[c].covers);
    if (choices[c].is_limited && rule == GBX_GATE_NO_RULE)
        (void)gbx_buf_puts(to, " that no rule is about");
    else if (choices[c].is_limited)
        (void)gbx_buf_printf(to, " that rule %zu asks about", rule + 1);
    if (c != ALWAYS)
        return;
    (void)gbx_buf_puts(to, ", from now on; arguments that it does not name may be "
                           "any. It is kept in ");
    gbx_gate_put_name(to, gbx_grants_file_path(call->gate->standing));
    (void)gbx_buf_puts(to, ":\n  ");
    put_text(to, call->rule);
}

static bool put_message(gbx_buf *to, gbx_tool_call *call)
{
    size_t rule = call->verdict.rule;
    const char *reason = gbx_gate_reason(call);

    (void)gbx_buf_printf(to, "Allow a call of the %s ",
                         gbx_gate_subject_name(call->subject));
    gbx_gate_put_name(to, call->up.tool);
    (void)gbx_buf_puts(to, " of the server ");
    gbx_gate_put_name(to, call->up.server->name);
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
    choose_offers(call, show_args(call->args, to));
    (void)gbx_buf_puts(to, "\n\nWhat the answers cover:");
    for (choice c = 0; c < CHOICES; c++)
        if (is_offered(call, c)) {
            (void)gbx_buf_printf(to, "\n- %s: ", choices[c].title);
            put_covered(to, call, c);
        }
    if (!is_offered(call, SESSION) && call->subject == GBX_GATE_TOOL)
        (void)gbx_buf_puts(to, "\nNo more can be allowed, since not every part of the "
                               "arguments is shown.");
    return gbx_buf_append(to, "", 1);
}

static bool put_schema(gbx_buf *to, const gbx_tool_call *call)
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

/* Refuse, naming the command and the rule that would let the call pass. */
static void refuse_unasked(gbx_tool_call *call, const char *why)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf how = {.ceiling = GBX_KIB(16)};
    GBX_CLEANUP(gbx_free) char *rule = NULL;
    const char *page = call->gate->options.page;
    bool has_page = page != NULL && page[0] != '\0';

    call->answer = "nobody";
    if (call->subject != GBX_GATE_TOOL) {
        gbx_gate_refuse(call, "NEEDS_APPROVAL",
                        "a person has to allow this, and %s; a rule that allows this "
                        "%s, before the one that asks, does it for good",
                        why, gbx_gate_subject_name(call->subject));
        return;
    }
    rule = gbx_gate_rule_of(call);
    if (has_page || call->gate->config->path != NULL)
        (void)gbx_buf_puts(&how, "do not allow it yourself: ask the person to ");
    if (has_page)
        (void)gbx_buf_printf(&how, "open %s, and then make this call again, or to ",
                             page);
    if (call->gate->config->path != NULL) {
        (void)gbx_buf_puts(&how, "run `");
        /* The command is for the person, not for the author of the call, which may
         * have a shell. */
        (void)gbx_buf_puts(&how, "glovebox mcp allow");
        put_word(&how, call->up.server->name);
        put_word(&how, call->up.tool);
        (void)gbx_buf_puts(&how, " --config");
        put_word(&how, call->gate->config->path);
        (void)gbx_buf_puts(&how,
                           "` in a terminal, which allows every call of this tool, "
                           "or to add ");
    } else {
        (void)gbx_buf_puts(&how, has_page ? "add " : "to allow it for good, add ");
    }
    (void)gbx_buf_puts(&how,
                       rule != NULL
                           ? "this rule"
                           : "a rule that fits its arguments as they are written");
    if (call->verdict.rule != GBX_GATE_NO_RULE)
        (void)gbx_buf_printf(&how, " before rule %zu in", call->verdict.rule + 1);
    else
        (void)gbx_buf_puts(&how, " at the end of");
    (void)gbx_buf_puts(&how, " \"rules\" under \"glovebox\" in the configuration");
    gbx_gate_refuse(call, "NEEDS_APPROVAL",
                    "a person has to allow this call, and %s; %.*s%s%s", why,
                    (int)how.len, (const char *)how.data, rule != NULL ? ": " : "",
                    rule != NULL ? rule : "");
}

/* ---- the answer --------------------------------------------------------- */

/* Returns CHOICES if the answer was not offered. */
static choice choice_of(const gbx_tool_call *call, gbx_view content)
{
    gbx_view answer = gbx_view_member(content, "answer");
    choice c = DENY;

    while (c < CHOICES &&
           !(is_offered(call, c) && gbx_view_is_text(answer, choices[c].answer)))
        c++;
    return c;
}

static void keep_for_ever(gbx_tool_call *call)
{
    char text[GBX_ERROR_MESSAGE_SIZE + 80];
    gbx_error err = {0};
    int len;

    if (gbx_gate_keep_rule(call, &err) == GBX_OK)
        return;
    call->answer = "unwritten"; /* the person must know */
    len = snprintf(text, sizeof text, "it is allowed for this session alone: %s",
                   err.message);
    gbx_mcp_progress(call->request, -1, text, (size_t)len);
    gbx_mcp_log_line(call->request, GBX_LOG_WARN, text, (size_t)len);
}

static void keep(gbx_tool_call *call, choice c)
{
    call->answer = choices[c].logged;
    if (c == ALWAYS)
        keep_for_ever(call);
    if (c != ONCE)
        gbx_gate_remember(call->gate, call, choices[c].scope, c != DENY);
}

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    gbx_tool_call *call = user;
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
        keep(call, DENY);
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

static void ask(gbx_tool_call *call)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = MESSAGE_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf schema = {.ceiling = 1024};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf about = {.ceiling = GBX_KIB(4)};

    gbx_json_put_text(&about, "server", call->up.server->name);
    gbx_json_put_text(&about, "tool", call->up.tool);
    if (call->line != 0)
        gbx_json_put_integer(&about, "line", call->line);
    if (!put_message(&message, call) || !put_schema(&schema, call) ||
        !gbx_buf_append(&about, "", 1)) {
        refuse_unasked(call, "it cannot be shown");
        return;
    }
    call->state = GBX_TOOL_CALL_ASKING;
    call->holders++;
    gbx_mcp_ask(call->request, (const char *)message.data, (const char *)schema.data,
                (const char *)about.data, on_answer, call);
}

void gbx_gate_question(gbx_tool_call *call)
{
    switch (call->subject == GBX_GATE_TOOL ? gbx_gate_look_up(call->gate, call)
                                           : GBX_GRANT_NONE) {
    case GBX_GRANT_ALLOW:
        call->answer = "before";
        gbx_gate_pass(call);
        return;
    case GBX_GRANT_DENY:
        call->answer = "declined before";
        gbx_gate_refuse(call, "DENIED", "a person has declined this tool for this run");
        return;
    case GBX_GRANT_NONE: break;
    }
    if (call->request == NULL ||
        (gbx_mcp_can_ask(call->request) & GBX_MCP_ASK_FORM) == 0)
        refuse_unasked(call, "the client cannot ask anybody");
    else if (gbx_gate_is_busy(call->gate, call->request))
        call->state = GBX_TOOL_CALL_WAITING;
    else if (!gbx_bucket_take(&call->gate->questions, gbx_clock_now_ns()))
        refuse_unasked(call, "there were too many questions in the last minute");
    else
        ask(call);
}
