/* SPDX-License-Identifier: MIT */
/*
 * fuzz_mcp_config - configurations, and arguments that rules judge.
 *
 * Input: what it is (a byte), then its text. What is refused has a message without
 * control characters; no pattern of an allowing rule fits a path that leads out of its
 * folder.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"
#include "mcp/rules/rules.h"

#include <stdlib.h>
#include <string.h>

static void check_message(const gbx_error *error)
{
    assert(error->message[0] != '\0');
    for (const char *at = error->message; *at != '\0'; at++)
        assert((unsigned char)*at >= 0x20 && *at != 0x7F);
}

static void configuration(const char *text, size_t len)
{
    gbx_mcp_config *config = NULL;
    gbx_error error = {0};

    if (gbx_mcp_config_parse(text, len, "/nonexistent/mcp.json", GBX_TRUST_OWN, &config,
                             &error) != GBX_OK)
        check_message(&error);
    gbx_mcp_config_free(config);
}

static const char rules[] =
    "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}, \"glovebox\": {\"rules\": ["
    "{\"action\": \"deny\", \"args\": {\"path\": [\"/etc/**\", \"**/.ssh/**\"], \"n\": 3}},"
    "{\"action\": \"ask\", \"args\": {\"e[].url\": \"https://*.example.com/**\"}},"
    "{\"action\": \"allow\", \"args\": {\"path\": \"/data/**\"}}]}}";

static gbx_mcp_config *judge;

/* A path below /data by every reading: the one rule that allows says so. */
static void check_allowed(gbx_view args)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf path;
    const char *text;

    gbx_buf_init(&path, args.len);
    assert(gbx_view_take_text(gbx_view_member(args, "path"), &path));
    assert(gbx_buf_append(&path, "", 1));
    text = (const char *)path.data;
    assert(strlen(text) == path.len - 1);
    assert(strncmp(text, "/data", 5) == 0 && (text[5] == '/' || text[5] == '\0'));
    assert(strstr(text, "/../") == NULL && strstr(text, "/..\\") == NULL);
    assert(strlen(text) < 3 || strcmp(text + strlen(text) - 3, "/..") != 0);
}

static void arguments(const char *text, size_t len)
{
    gbx_view args = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why;
    gbx_gate_verdict verdict;

    if (judge == NULL)
        assert(gbx_mcp_config_parse(rules, sizeof rules - 1, NULL, GBX_TRUST_OWN,
                                    &judge, NULL) == GBX_OK);
    gbx_buf_init(&why, GBX_KIB(1));
    if (!gbx_gate_args_open(text, len, &args, &why)) {
        assert(why.len > 0 && args.at == NULL);
        return;
    }
    verdict = gbx_rules_decide(judge->rules, "a", "t", NULL, args, GBX_GATE_HINT_OTHER);
    assert(!verdict.needs_hint);
    assert((verdict.fault == NULL) == (verdict.fault_path == NULL));
    if (verdict.fault == NULL && verdict.action == GBX_GATE_ALLOW)
        check_allowed(args);
}

/* The text is a pattern, a line end, and what it is held against. */
static void pattern(char *text, size_t len)
{
    char *end = memchr(text, '\n', len);
    const char *why;
    size_t rest;

    if (end == NULL || end == text || end - text > GBX_GLOB_MAX)
        return;
    *end = '\0';
    rest = len - (size_t)(end + 1 - text);
    if (strlen(text) != (size_t)(end - text))
        return;
    if (gbx_glob_value(text, end + 1, rest, GBX_GLOB_EXACT, &why))
        /* What is allowed exactly is no less than what may be meant. */
        assert(gbx_glob_value(text, end + 1, rest, GBX_GLOB_WIDE, &why) || why != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0)
        return 0;
    text = malloc(size);
    assert(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 3) {
    case 0: configuration(text, size - 1); break;
    case 1: arguments(text, size - 1); break;
    default: pattern(text, size - 1); break;
    }
    free(text);
    return 0;
}
