/* SPDX-License-Identifier: MIT */
/* rule_rows - see rule_rows.h. */
#include "rule_rows.h"

#include "base/cleanup.h"
#include "parsed_config.h"
#include "table.h"
#include "test.h"

static bool is_decided(const gbx_mcp_config *config, const char *call,
                       const char *wanted)
{
    const char *got = decided(config->rules, call);

    if (strcmp(got, wanted) != 0)
        print_error("%s: %s, not %s\n", call, got, wanted);
    return strcmp(got, wanted) == 0;
}

static bool check_case(char *rules, char *calls, size_t len)
{
    gbx_mcp_config *config = config_of(rules);
    bool right = len > 0;

    while (*calls != '\0') {
        char *call = table_word(&calls, "\n");
        const char *wanted = table_word(&call, " ");

        right = is_decided(config, call, wanted) && right;
    }
    gbx_mcp_config_free(config);
    return right;
}

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

const char *decided(const gbx_gate_rules *rules, const char *call)
{
    static const char *const answers[] = {
        [GBX_GATE_ALLOW] = "allow", [GBX_GATE_ASK] = "ask", [GBX_GATE_DENY] = "deny"};
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
        return "malformed";
    }
    verdict = gbx_rules_decide(rules, server, tool, NULL, args, GBX_GATE_HINT_OTHER);
    assert_false(verdict.needs_hint);
    return verdict.fault != NULL ? "fault" : answers[verdict.action];
}

void check_decided(const char *rules, const char *call, const char *wanted)
{
    gbx_mcp_config *config = config_of(rules);

    if (!is_decided(config, call, wanted))
        fail_msg("by %s", rules);
    gbx_mcp_config_free(config);
}

void check_rules(const char *path, size_t at_least)
{
    table_check(path, check_case, at_least);
}
