/* SPDX-License-Identifier: MIT */
/* Servers over HTTP that answer with anything: every one of them is a failure to start, in
 * bounded time and memory, and none gets what was meant for another. And what is left of a
 * secret that a server was told, and told us back. */
#include "core_file.h"
#include "http_server.h"
#include "servers.h"
#include "test.h"
#include "tls_identity.h"

#include "base/cleanup.h"

#define HEAD(type) "HTTP/1.1 200 OK\r\nContent-Type: " type "\r\n\r\n"
#define SSE        HEAD("text/event-stream")
#define LINE                                                                      \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* With the port of the server itself, which is known when it listens. */
static char other_host[256];
static char other_scheme[256];

static const server_reply replies[] = {
    {.path = "/other-host", .bytes = other_host, .then = THEN_HOLD},
    {.path = "/other-scheme", .bytes = other_scheme, .then = THEN_HOLD},
    {.path = "/elsewhere",
     .bytes = SSE "event: endpoint\ndata: http://127.0.0.2/m\n\n",
     .then = THEN_HOLD},
    {.path = "/upward",
     .bytes = SSE "event: endpoint\ndata: //example.com/m\n\n",
     .then = THEN_HOLD},
    {.path = "/file",
     .bytes = SSE "event: endpoint\ndata: file:///etc/passwd\n\n",
     .then = THEN_HOLD},
    {.path = "/endless-event",
     .bytes = SSE,
     .then = THEN_REPEAT,
     .rest = "data: " LINE "\n"},
    {.path = "/endless-line", .bytes = SSE "data: ", .then = THEN_REPEAT, .rest = LINE},
    {.path = "/endless-json",
     .bytes = HEAD("application/json") "[",
     .then = THEN_REPEAT,
     .rest = LINE ","},
    {.path = "/endless-head",
     .bytes = "HTTP/1.1 200 OK\r\n",
     .then = THEN_REPEAT,
     .rest = "X-Y: " LINE "\r\n"},
    {.path = "/garbage", .bytes = HEAD("application/json") "{\"jsonrpc\":"},
    {.path = "/notice",
     .bytes = HEAD("application/json") "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}"},
    {.path = "/own-id",
     .bytes =
         "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"server-error\",\"error\":{\"code\":-32600,\"message\":\"no session\"}}"},
    {.path = "/nothing", .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
    {.path = "/no-http", .bytes = "220 smtp ready\r\n"},
    {.path = "/cut",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
              "Content-Length: 99\r\n\r\n{"},
    {.path = "/comments", .bytes = SSE, .then = THEN_REPEAT, .rest = ": " LINE "\n\n"},
    {.path = "/silent", .bytes = SSE, .then = THEN_HOLD},
};

static const struct {
    const char *path;
    gbx_mcp_transport transport;
    const char *words; /* of the message */
    bool is_waiting;   /* for an end that is the clock's; others come by themselves */
} cases[] = {
    {"/other-host", GBX_MCP_SSE, "an endpoint that is not its own", false},
    {"/other-scheme", GBX_MCP_SSE, "an endpoint that is not its own", false},
    {"/elsewhere", GBX_MCP_SSE, "an endpoint that is not its own", false},
    {"/upward", GBX_MCP_SSE, "an endpoint that is not its own", false},
    {"/file", GBX_MCP_SSE, "an endpoint that is not its own", false},
    {"/endless-event", GBX_MCP_SSE, "its stream of events broke", false},
    {"/endless-line", GBX_MCP_SSE, "its stream of events broke", false},
    {"/endless-event", GBX_MCP_HTTP, "longer than 32 MiB", false},
    {"/endless-line", GBX_MCP_HTTP, "longer than 32 MiB", false},
    {"/endless-json", GBX_MCP_HTTP, "longer than 32 MiB", false},
    {"/endless-head", GBX_MCP_HTTP, "the connection broke", false},
    {"/garbage", GBX_MCP_HTTP, "not JSON", false},
    {"/notice", GBX_MCP_HTTP, "its answer is not valid", false},
    {"/own-id", GBX_MCP_HTTP, "it refused to begin: no session", false},
    {"/nothing", GBX_MCP_HTTP, "it answers with nothing", false},
    {"/no-http", GBX_MCP_HTTP, "HTTP/0.9 when not allowed", false},
    {"/cut", GBX_MCP_HTTP, "the connection broke", false},
    {"/comments", GBX_MCP_HTTP, "it was not ready", true},
    {"/silent", GBX_MCP_HTTP, "it was not ready", true},
    {"/silent", GBX_MCP_SSE, "it was not ready", true},
    {"/hold", GBX_MCP_HTTP, "it was not ready", true},
    {"/drip", GBX_MCP_HTTP, "it was not ready", true},
    {"/missing", GBX_MCP_HTTP, "HTTP status 404", false},
    {"/ok", GBX_MCP_SSE, "with no stream of events", false},
};

static void url_of(const server *web, const char *path, char *text, size_t size)
{
    (void)snprintf(text, size, "http://127.0.0.1:%u%s", server_port(web), path);
}

TEST(hostile__server_cannot_be_started)
{
    server_options options = {.replies = replies, .reply_count = GBX_COUNTOF(replies)};
    server *web = server_start(&options);

    (void)snprintf(other_host, sizeof other_host,
                   SSE "event: endpoint\ndata: http://localhost:%u/m\n\n",
                   server_port(web));
    (void)snprintf(other_scheme, sizeof other_scheme,
                   SSE "event: endpoint\ndata: https://127.0.0.1:%u/m\n\n",
                   server_port(web));
    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        char url[256];
        void *one;
        servers *s;

        url_of(web, cases[i].path, url, sizeof url);
        assert_int_equal(servers_set_up(&one), 0);
        s = one;
        servers_add_url(s, "web", cases[i].transport, url)->start_ms =
            cases[i].is_waiting ? 500 : 30000;
        servers_start(s);
        print_message("%s\n", cases[i].path);
        servers_expect_fault(s, "web", "echo", "{}", GBX_UPSTREAM_START,
                             cases[i].words);
        assert_int_equal(servers_tear_down(&one), 0);
    }
    server_stop(web);
}

/* Our headers are for the address that was configured. */
TEST_WITH(servers_set_up, servers_tear_down, redirect__is_not_followed)
{
    servers *s = *state;
    gbx_mcp_variable header = {(char[]){"Authorization"}, (char[]){"Bearer sesame"}};
    server *other = server_start(NULL);
    server *web = server_start(NULL);
    char url[256];

    (void)snprintf(url, sizeof url,
                   "http://127.0.0.1:%u/to/307/http:%%2F%%2F127.0.0.1:%u%%2Fok",
                   server_port(web), server_port(other));
    servers_add_url(s, "web", GBX_MCP_HTTP, url)->headers = &header;
    s->list[0].header_count = 1;
    servers_start(s);
    servers_expect_fault(s, "web", "echo", "{}", GBX_UPSTREAM_START, "HTTP status 307");

    assert_int_equal(server_connections(other), 0);
    assert_true(server_connections(web) > 0);
    server_stop(web);
    server_stop(other);
}

TEST_WITH(servers_set_up, servers_tear_down,
          certificate__of_no_known_authority_is_for_a_person_to_mend)
{
    servers *s = *state;
    tls_identity *identity = identity_new("127.0.0.1", false);
    server_options options = {.identity = identity};
    server *web = server_start(&options);
    char url[256];
    answer a;

    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u/ok", server_port(web));
    servers_add_url(s, "web", GBX_MCP_HTTP, url);
    servers_start(s);
    servers_call(s, "web", "echo", "{}", &a);

    assert_int_equal(a.fault, GBX_UPSTREAM_START);
    assert_non_null(strstr(a.message, "certificate"));
    assert_false(a.is_retryable);
    answer_cleanup(&a);
    server_stop(web);
    identity_free(identity);
}

/* One call whose arguments end in a secret, and which comes back with it. */
static void echo_secret(servers *s, size_t len)
{
    size_t size = len + 64;
    char *args = malloc(size);
    answer a;

    assert_non_null(args);
    (void)memset(args, 'x', size);
    (void)memcpy(args, "{\"k\":\"", 6);
    (void)snprintf(args + 6 + len, size - 6 - len, "%s%s\"}", "c0re-secret",
                   "-of-the-test");
    servers_call(s, "bad", "echo", args, &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    assert_true(a.result_len > len);
    explicit_bzero(a.result, a.result_len);
    answer_cleanup(&a);
    explicit_bzero(args, size);
    free(args);
}

TEST_WITH(servers_set_up, servers_tear_down,
          secret__is_in_no_core_once_its_call_has_ended)
{
    static char control[64]; /* that a core is looked through well */
    core_file core;
    const char *why;

    bad_start(*state, "");
    for (size_t len = 1000000; len > 0;
         len /= 7) /* what is freed last is kept longest */
        echo_secret(*state, len);
    (void)snprintf(control, sizeof control, "%s%s", "control-", "of-the-search");
    if (!core_file_take(&core, &why)) {
        print_message("skipped: %s\n", why);
        skip();
    }
    assert_true(core_file_has(&core, "control-", "of-the-search"));
    assert_false(core_file_has(&core, "c0re-secret", "-of-the-test"));
    core_file_drop(&core);
}

TEST_MAIN(NULL, NULL)
