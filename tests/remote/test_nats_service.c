/* SPDX-License-Identifier: MIT */
/* nats_service - a runner answers NATS' service protocol, and the list of those that do
 * believes nothing. */
#include "base/cleanup.h"
#include "base/json.h"
#include "nats/plugin.h"
#include "nats_server.h"
#include "remote/remote.h"
#include "scratch.h"
#include "test.h"
#include "until.h"

#include <jansson.h>
#include <signal.h>
#include <stdatomic.h>

static nats_server server;
static gbx_bus *bus;
static gbx_remote_url url;

static int all_begin(void **state)
{
    gbx_error err;

    if (scratch_begin(state) != 0)
        return -1;
    nats_server_start(&server, "");
    return gbx_remote_url_parse(server.url, &url, &err) == GBX_OK &&
                   gbx_bus_nats_open(&url, "test", &bus, &err) == GBX_OK
               ? 0
               : -1;
}

static int all_end(void **state)
{
    bus->ops->close(bus);
    nats_server_stop(&server, SIGKILL);
    return scratch_end(state);
}

static void describe(void *user, gbx_buf *to)
{
    gbx_json_put_text(to, "machine", "lab \"1\"");
    gbx_json_put_text(to, "running", "3");
}

static json_t *listed(void)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_service_list(bus, &url, 300);
    json_t *list;

    list = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_array(list));
    return list;
}

static void has(json_t *object, const char *key, const char *value)
{
    assert_string_equal(json_string_value(json_object_get(object, key)), value);
}

typedef struct heard {
    char text[4096];
    atomic_bool is_there;
} heard;

static void on_answer(void *user, gbx_bus_event event, const gbx_bus_message *m)
{
    heard *h = user;

    if (event != GBX_BUS_MESSAGE)
        return;
    (void)snprintf(h->text, sizeof h->text, "%.*s", (int)m->body.len,
                   (const char *)m->body.data);
    h->is_there = true;
}

static bool is_heard(void *user)
{
    return ((heard *)user)->is_there;
}

/* NULL: no answer. */
static json_t *answer_to(const char *subject)
{
    static heard heards[16];
    static unsigned turn;
    heard *h = &heards[turn++];
    char inbox[32];

    (void)snprintf(inbox, sizeof inbox, "inbox.%u", turn);
    assert_non_null(bus->ops->subscribe(bus, inbox, NULL, on_answer, h));
    assert_true(bus->ops->publish(bus, subject, inbox, (gbx_span){0}, (gbx_span){0}));
    return until(is_heard, h, 300) ? json_loads(h->text, 0, NULL) : NULL;
}

TEST(service__lists_nobody_at_once)
{
    double from = now_ms();
    char *text = gbx_service_list(bus, &url, 30000);
    json_t *list;

    assert_true(now_ms() - from < 10000);
    assert_string_equal(text, "[]");
    free(text);
    list = listed();
    json_decref(list);
}

TEST(service__answers_each_question_of_the_protocol)
{
    gbx_service s = {bus, "abc123", describe, NULL, NULL};
    json_t *answer;

    assert_true(gbx_service_open(&s));
    answer = answer_to("$SRV.PING");
    has(answer, "type", "io.nats.micro.v1.ping_response");
    has(answer, "name", "glovebox-runner");
    has(answer, "id", "abc123");
    has(answer, "version", GBX_VERSION);
    json_decref(answer);
    answer = answer_to("$SRV.INFO.glovebox-runner");
    has(answer, "type", "io.nats.micro.v1.info_response");
    has(json_object_get(answer, "metadata"), "machine", "lab \"1\"");
    has(json_object_get(answer, "metadata"), "running", "3");
    json_decref(answer);
    json_decref(answer_to("$SRV.INFO.glovebox-runner.abc123"));
    assert_null(answer_to("$SRV.INFO.glovebox-runner.other"));
    assert_null(answer_to("$SRV.INFO.other-service"));
    assert_null(answer_to("$SRV.ELSE"));
    bus->ops->unsubscribe(bus, s.subscription);
    assert_null(answer_to("$SRV.PING.glovebox-runner.abc123"));
}

TEST(service__lists_those_that_answer)
{
    gbx_service one = {bus, "one", describe, NULL, NULL};
    gbx_service two = {bus, "two", describe, NULL, NULL};
    json_t *list;

    assert_true(gbx_service_open(&one) && gbx_service_open(&two));
    list = listed();
    assert_int_equal(json_array_size(list), 2);
    has(json_array_get(list, 0), "name", "glovebox-runner");
    json_decref(list);
    bus->ops->unsubscribe(bus, one.subscription);
    bus->ops->unsubscribe(bus, two.subscription);
}

static void on_question_lie(void *user, gbx_bus_event event, const gbx_bus_message *m)
{
    static const char *const lies[] = {
        "",
        "null",
        "[]",
        "{",
        "{}}",
        "{},{}",
        "]",
        "{\"a\":\"\xff\"}",
        "{\"a\":[[[[[[[[[[[[]]]]]]]]]]]]}",
    };
    static char large[70000];

    if (event != GBX_BUS_MESSAGE)
        return;
    for (size_t i = 0; i < GBX_COUNTOF(lies); i++)
        (void)bus->ops->publish(bus, m->reply, NULL, gbx_span_of(lies[i]),
                                (gbx_span){0});
    memset(large, ' ', sizeof large);
    memcpy(large, "{}", 2);
    (void)bus->ops->publish(bus, m->reply, NULL,
                            (gbx_span){(uint8_t *)large, sizeof large}, (gbx_span){0});
    for (int i = 0; i < 1500; i++)
        (void)bus->ops->publish(bus, m->reply, NULL, gbx_span_of("{ \"n\": 1 }"),
                                (gbx_span){0});
}

TEST(service__takes_only_json_objects_and_no_more_than_a_thousand)
{
    void *liar = bus->ops->subscribe(bus, "$SRV.INFO.glovebox-runner", NULL,
                                     on_question_lie, NULL);
    GBX_CLEANUP(gbx_free) char *text = gbx_service_list(bus, &url, 20000);
    json_t *list;

    list = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(list), 1000);
    assert_int_equal(json_object_size(json_array_get(list, 0)), 1);
    json_decref(list);
    bus->ops->unsubscribe(bus, liar);
}

int main(void)
{
    nats_server_need();
    return tests_run(all_begin, all_end);
}
