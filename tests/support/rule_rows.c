/* SPDX-License-Identifier: MIT */
/* rule_rows - see rule_rows.h. */
#include "rule_rows.h"

#include "base/cleanup.h"
#include "parsed_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const answers[] = {"allow", "ask", "deny", "fault", "no arguments"};

/* ---- public to the tests -------------------------------------------------- */

gbx_mcp_config *config_of(const char *rules)
{
    char text[2048];

    (void)snprintf(text, sizeof text,
                   "{\"mcpServers\":{\"files\":{\"command\":\"x\"},"
                   "\"git.hub\":{\"command\":\"x\"},\"web\":{\"command\":\"x\"}},"
                   "\"glovebox\":{\"rules\":[%s]}}",
                   rules);
    return parsed_config(NULL, text);
}

answer ask_with(const gbx_gate_rules *rules, const char *call, gbx_gate_hint hint)
{
    char server[64];
    char tool[64];
    int at = 0;
    gbx_view args;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why;
    gbx_gate_verdict verdict;

    gbx_buf_init(&why, GBX_KIB(1));
    assert_int_equal(sscanf(call, "%63[^/]/%63[^ ] %n", server, tool, &at), 2);
    if (!gbx_gate_args_open(call + at, strlen(call + at), &args, &why)) {
        assert_true(why.len > 0);
        return NO_ARGS;
    }
    verdict = gbx_rules_decide(rules, server, tool, NULL, args, hint);
    assert_false(verdict.needs_hint);
    return verdict.fault != NULL ? FAULT : (answer)verdict.action;
}

void check_rows(const row *rows, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        gbx_mcp_config *config = config_of(rows[i].rules);
        answer got = ask_with(config->rules, rows[i].call, GBX_GATE_HINT_OTHER);

        if (got != rows[i].wanted) {
            print_error("%s\n    %s: %s, not %s\n", rows[i].rules, rows[i].call,
                        answers[got], answers[rows[i].wanted]);
            wrong++;
        }
        gbx_mcp_config_free(config);
    }
    assert_int_equal(wrong, 0);
}
