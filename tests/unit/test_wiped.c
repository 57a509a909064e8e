/* SPDX-License-Identifier: MIT */
/* What may hold a secret is wiped before its memory is freed: each owner of such a text. */
#include "freed.h"
#include "test.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "engine/hostcall.h"
#include "fetch/internal.h"
#include "mcp/config/config.h"
#include "mcp/upstream/internal.h"
#include "policy/policy.h"

/* In two halves, so that this program's own text is no find. */
#define HEAD   "wip3d-secret"
#define TAIL   "-of-the-test"
#define SECRET HEAD TAIL

/* What stands behind it makes a buffer grow. */
#define X64  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define LONG X64 X64 X64 X64 X64 X64 X64 X64

static void begin(void)
{
    freed_watch(HEAD, TAIL);
}

static void end(const char *what)
{
    if (freed_was_seen())
        fail_msg("%s: a secret was freed", what);
}

TEST(wiped__configuration)
{
    static const char text[] =
        "{\"mcpServers\":{\"a\":{\"command\":\"/bin/true\",\"args\":[\"--key=" SECRET
        "\"],\"env\":{\"KEY\":\"" SECRET LONG "\"}},"
        "\"b\":{\"url\":\"http://127.0.0.1:9/mcp\",\"headers\":{"
        "\"Authorization\":\"Bearer " SECRET "\",\"Mcp-Session-Id\":\"" SECRET "\"}}}}";
    gbx_mcp_config *config = NULL;

    begin();
    assert_int_equal(gbx_mcp_config_parse(text, strlen(text), "/tmp/mcp.json",
                                          GBX_TRUST_OWN, &config, NULL),
                     GBX_OK);
    end("while it is read");
    begin();
    gbx_mcp_config_free(config);
    end("when it is freed");
}

TEST(wiped__message_that_waits)
{
    static const char text[] = "{\"text\":\"" SECRET "\"}\n";
    const gbx_link_message message = {.text = text, .len = strlen(text), .id = 1};
    gbx_http_waiting *waiting = gbx_http_waiting_new(&message);

    begin();
    gbx_http_waiting_free(waiting);
    end("a message that waits");
}

TEST(wiped__reply_of_the_host)
{
    const gbx_msg_answer answer = {
        .json = {(const uint8_t *)SECRET, sizeof SECRET - 1}};
    gbx_reply *copy = gbx_reply_copy(&answer);

    assert_non_null(copy);
    begin();
    gbx_reply_wipe(copy);
    end("a reply");
}

TEST(wiped__head_of_an_answer)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json = {0};
    gbx_response response;
    gbx_fault fault = {0};

    gbx_buf_init_secret(&json, GBX_KIB(64));
    gbx_response_init(&response, 100);
    begin();
    assert_true(
        gbx_response_add_header(&response, "a", 1, SECRET, strlen(SECRET), &fault));
    assert_true(gbx_response_write(&response, "http://a/", false, &json));
    gbx_response_cleanup(&response);
    end("a head");
}

static bool list_had_it;

static void look_through_list(struct curl_slist *list)
{
    for (; list != NULL; list = list->next)
        list_had_it |= strstr(list->data, SECRET) != NULL;
}

TEST(wiped__headers_of_a_request)
{
    gbx_libcurl lib = {0};
    gbx_http_headers headers = {.lib = &lib};
    void (*free_list)(struct curl_slist * list);

    assert_int_equal(gbx_libcurl_load(&lib, NULL), GBX_OK);
    begin();
    gbx_http_header_add_value(&headers, "A", "Bearer " SECRET,
                              strlen("Bearer " SECRET));
    gbx_http_header_add_value(&headers, "B", "\xff" SECRET, 1 + strlen(SECRET));
    end("while they are written");
    assert_non_null(strstr(headers.list->data, SECRET));
    free_list = lib.curl_slist_free_all;
    lib.curl_slist_free_all = look_through_list;
    list_had_it = false;
    gbx_libcurl_wipe(&lib, headers.list);
    assert_false(list_had_it);
    free_list(headers.list);
    gbx_libcurl_unload(&lib);
}

TEST_MAIN(NULL, NULL)
