/* SPDX-License-Identifier: MIT */
/* eras - one process speaks both protocols, and neither leaks into the other: mcp/eras.txt. */
#include "mcp_client.h"
#include "table.h"
#include "test.h"

#include "base/cleanup.h"

#define INFO "{\"name\":\"test\",\"version\":\"1\"}"
#define CAPABILITIES                                                       \
    "{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true," \
    "\"listChanged\":true},\"prompts\":{},\"logging\":{}}"

/* A line of the table, with what its short words stand for. */
static void expand(const char *line, char to[4096])
{
    static const char *const words[][2] = {{"$META", MODERN_META},
                                           {"$CAPS", CAPABILITIES},
                                           {"$INFO", INFO}};
    size_t len = 0;

    for (size_t i; *line != '\0';) {
        for (i = 0; i < GBX_COUNTOF(words); i++)
            if (strncmp(line, words[i][0], strlen(words[i][0])) == 0)
                break;
        if (i < GBX_COUNTOF(words)) {
            len += (size_t)snprintf(to + len, 4096 - len, "%s", words[i][1]);
            line += strlen(words[i][0]);
        } else {
            to[len++] = *line++;
        }
        assert_true(len < 4096);
    }
    to[len] = '\0';
}

static void check_heard(mcp_client *c, char **lines, const char *first)
{
    char wanted[8192];
    char one[4096];

    expand(first, wanted);
    while (strncmp(*lines, "< ", 2) == 0) {
        expand(table_word(lines, "\n") + 2, one);
        (void)strcat(strcat(wanted, "\n"), one);
    }
    mcp_client_expect(c, wanted);
}

static bool check_case(char *claim, char *lines, size_t len)
{
    mcp_client client;
    char said[4096];

    print_message("%s\n", claim);
    assert_true(len > 0);
    mcp_client_open(&client, NULL);
    while (*lines != '\0') {
        char *line = table_word(&lines, "\n");
        char *rest = line;
        const char *what = table_word(&rest, " ");

        if (strcmp(what, "<") == 0) {
            check_heard(&client, &lines, rest);
            continue;
        }
        expand(rest, said);
        if (strcmp(what, ">") == 0)
            mcp_client_say_line(&client, said);
        else if (strcmp(what, "~") == 0)
            (void)mcp_client_expect_part(&client, said);
        else if (strcmp(what, "initialize") == 0)
            mcp_client_initialize(&client, said, "{}");
        else
            gbx_mcp_server_take_too_long(client.server);
    }
    mcp_client_close(&client);
    return true;
}

TEST(both_eras__are_spoken_as_the_table_says)
{
    table_check("unit/mcp/eras.txt", check_case, 11);
}

TEST(instructions__are_told_in_both_eras)
{
    mcp_client client;
    mcp_client *c = &client;

    mcp_client_open(c, NULL);
    gbx_mcp_server_set_instructions(c->server, "say \"please\"");
    mcp_client_say(c, "\"id\":1,\"method\":\"server/discover\",\"params\":{" MODERN_META
                      "}");
    (void)mcp_client_expect_part(c, ",\"instructions\":\"say \\\"please\\\"\"");
    mcp_client_say(c, "\"id\":1,\"method\":\"initialize\",\"params\":{"
                      "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}");
    (void)mcp_client_expect_part(c, ",\"instructions\":\"say \\\"please\\\"\"");
    mcp_client_close(c);
}

TEST_MAIN(NULL, NULL)
