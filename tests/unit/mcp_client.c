/* SPDX-License-Identifier: MIT */
/* mcp_client - see mcp_client.h. */
#include "mcp_client.h"
#include "test.h"

#include "base/cleanup.h"

static bool on_send(void *user, const void *data, size_t len)
{
    mcp_client *client = user;

    return !client->is_deaf && gbx_buf_append(&client->told, data, len);
}

static bool on_is_full(void *user)
{
    return ((mcp_client *)user)->is_full;
}

static void on_give_up(void *user)
{
    ((mcp_client *)user)->gave_up++;
}

static void on_idle(void *user)
{
    ((mcp_client *)user)->idled++;
}

void mcp_client_open(mcp_client *client, const gbx_mcp_server_options *options)
{
    static const gbx_mcp_server_options usual = {.name = "test", .version = "1"};
    gbx_mcp_client_hooks hooks = {.user = client,
                                  .send = on_send,
                                  .is_full = on_is_full,
                                  .give_up = on_give_up,
                                  .idle = on_idle};

    *client = (mcp_client){.loop = gbx_mcp_loop_new()};
    gbx_buf_init(&client->told, (size_t)256 * 1024 * 1024);
    assert_non_null(client->loop);
    client->server =
        gbx_mcp_server_new(client->loop, options != NULL ? options : &usual);
    gbx_mcp_server_connect(client->server, &hooks);
}

void mcp_client_close(mcp_client *client)
{
    gbx_mcp_server_end(client->server);
    (void)mcp_client_hear(client);
    gbx_mcp_server_free(client->server);
    gbx_mcp_loop_free(client->loop);
    gbx_buf_cleanup(&client->told);
}

void mcp_client_say_line(mcp_client *client, const char *line)
{
    gbx_mcp_server_take(client->server, line, strlen(line));
}

void mcp_client_say(mcp_client *client, const char *members)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {.ceiling = GBX_MIB(16)};

    (void)gbx_buf_puts(&line, "{\"jsonrpc\":\"2.0\",");
    (void)gbx_buf_puts(&line, members);
    (void)gbx_buf_puts(&line, "}");
    gbx_mcp_server_take(client->server, (const char *)line.data, line.len);
}

void mcp_client_initialize(mcp_client *client, const char *version,
                           const char *capabilities)
{
    char members[1024];

    (void)snprintf(members, sizeof members,
                   "\"id\":\"init\",\"method\":\"initialize\",\"params\":{"
                   "\"protocolVersion\":\"%s\",\"capabilities\":%s,"
                   "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}",
                   version, capabilities);
    mcp_client_say(client, members);
    (void)mcp_client_expect_part(client, "\"serverInfo\"");
    mcp_client_say(client, "\"method\":\"notifications/initialized\"");
}

const char *mcp_client_hear(mcp_client *client)
{
    static char heard[65536];
    size_t len;

    /* Only what is active now: no test waits for a timer here. */
    for (int i = 0; i < 5; i++)
        (void)event_base_loop(gbx_mcp_loop_base(client->loop), EVLOOP_NONBLOCK);
    len = client->told.len < sizeof heard ? client->told.len : sizeof heard - 1;
    if (len > 0)
        memcpy(heard, client->told.data, len);
    if (len > 0 && heard[len - 1] == '\n')
        len--;
    heard[len] = '\0';
    client->told.len = 0;
    return heard;
}

void mcp_client_expect(mcp_client *client, const char *lines)
{
    assert_string_equal(mcp_client_hear(client), lines);
}

const char *mcp_client_expect_part(mcp_client *client, const char *part)
{
    const char *heard = mcp_client_hear(client);

    if (strstr(heard, part) == NULL)
        fail_msg("'%s' is not in '%s'", part, heard);
    return heard;
}
