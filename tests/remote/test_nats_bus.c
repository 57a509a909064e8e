/* SPDX-License-Identifier: MIT */
/* nats_bus - the bus on a real server: messages, nobody there, restarts, slow readers, who is
 * let in, and what it says of that. */
#include "nats/plugin.h"
#include "nats_identity.h"
#include "nats_server.h"
#include "scratch.h"
#include "test.h"
#include "tls_identity.h"
#include "until.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static nats_server server;

typedef struct seen {
    atomic_int messages, nobody;
    atomic_llong bytes;
    atomic_bool is_held;
    pthread_t thread;
    char last[64];
    char reply[64];
} seen;

static void on_event(void *user, gbx_bus_event event, const gbx_bus_message *m)
{
    seen *s = user;

    while (s->is_held)
        usleep(1000);
    (void)snprintf(s->last, sizeof s->last, "%.*s", (int)m->body.len,
                   m->body.len > 0 ? (const char *)m->body.data : "");
    (void)snprintf(s->reply, sizeof s->reply, "%s", m->reply != NULL ? m->reply : "");
    s->thread = pthread_self();
    s->bytes += (long long)m->body.len;
    (event == GBX_BUS_NOBODY ? &s->nobody : &s->messages)[0]++;
}

static int wanted;

static bool has_messages(void *user)
{
    return ((seen *)user)->messages >= wanted;
}

static bool has_nobody(void *user)
{
    return ((seen *)user)->nobody > 0;
}

static void await_messages(seen *s, int count)
{
    wanted = count;
    assert_true(until(has_messages, s, 10000));
    assert_int_equal(s->messages, count);
}

static gbx_status try_open(const char *text, gbx_bus **ret, gbx_error *err)
{
    static gbx_remote_url urls[8]; /* a bus borrows its url */
    static unsigned turn;
    gbx_remote_url *url = &urls[turn++ % 8];

    assert_int_equal(gbx_remote_url_parse(text, url, err), GBX_OK);
    return gbx_bus_nats_open(url, "test", ret, err);
}

static gbx_bus *opened(const char *text)
{
    gbx_bus *bus = NULL;
    gbx_error err;

    if (try_open(text, &bus, &err) != GBX_OK)
        fail_msg("%s", err.message);
    return bus;
}

static bool put(gbx_bus *bus, const char *subject, const char *reply, const char *text)
{
    return bus->ops->publish(bus, subject, reply, gbx_span_of(text), (gbx_span){0});
}

static bool is_sent(void *bus)
{
    return put(bus, "a.probe", NULL, "x");
}

static bool is_refused(void *bus)
{
    return !is_sent(bus);
}

static void *listen_on(gbx_bus *bus, const char *subject, const char *queue, seen *s)
{
    void *subscription = bus->ops->subscribe(bus, subject, queue, on_event, s);

    assert_non_null(subscription);
    return subscription;
}

static int each_begin(void **state)
{
    if (scratch_begin(state) != 0)
        return -1;
    nats_server_start(&server, "");
    return 0;
}

static int each_end(void **state)
{
    nats_server_stop(&server, SIGKILL);
    return scratch_end(state);
}

TEST(bus__carries_both_parts_and_the_reply_subject_in_order)
{
    gbx_bus *bus = opened(server.url);
    seen s = {0};
    char text[16];

    (void)listen_on(bus, "a.b", NULL, &s);
    assert_true(bus->ops->publish(bus, "a.b", "back.to.me", gbx_span_of("one,"),
                                  gbx_span_of("two")));
    await_messages(&s, 1);
    assert_string_equal(s.last, "one,two");
    assert_string_equal(s.reply, "back.to.me");
    assert_false(pthread_equal(s.thread, pthread_self()));
    for (int i = 0; i < 500; i++) {
        (void)snprintf(text, sizeof text, "%d", i);
        assert_true(put(bus, "a.b", NULL, text));
    }
    await_messages(&s, 501);
    assert_string_equal(s.last, "499");
    bus->ops->close(bus);
}

TEST(bus__carries_a_whole_chunk_and_refuses_what_the_server_does_not_take)
{
    static char block[2 * 1024 * 1024];
    gbx_bus *bus = opened(server.url);
    seen s = {0};

    assert_int_equal(bus->chunk, 128 * 1024);
    (void)listen_on(bus, "a", NULL, &s);
    assert_true(bus->ops->publish(bus, "a", NULL, gbx_span_of("0123456789abcdef"),
                                  (gbx_span){(uint8_t *)block, bus->chunk}));
    await_messages(&s, 1);
    assert_int_equal(s.bytes, bus->chunk + 16);
    assert_false(bus->ops->publish(bus, "a", NULL, (gbx_span){0},
                                   (gbx_span){(uint8_t *)block, sizeof block}));
    assert_true(put(bus, "a", NULL, "still there"));
    await_messages(&s, 2);
    bus->ops->close(bus);
}

TEST(bus__gives_each_message_to_one_of_a_queue_group)
{
    gbx_bus *one = opened(server.url);
    gbx_bus *two = opened(server.url);
    seen a = {0};
    seen b = {0};
    seen mark = {0};

    (void)listen_on(one, "work", "runners", &a);
    (void)listen_on(two, "work", "runners", &b);
    (void)listen_on(two, "mark", NULL, &mark);
    assert_true(put(two, "mark", NULL, "subscribed"));
    await_messages(&mark, 1);
    for (int i = 0; i < 200; i++)
        assert_true(put(two, "work", NULL, "x"));
    for (int i = 0; i < 1000 && a.messages + b.messages < 200; i++)
        usleep(5000);
    assert_int_equal(a.messages + b.messages, 200);
    assert_true(a.messages > 20 && b.messages > 20);
    one->ops->close(one);
    two->ops->close(two);
}

TEST(bus__says_at_once_that_nobody_is_there)
{
    gbx_bus *bus = opened(server.url);
    seen s = {0};
    double from = now_ms();

    (void)listen_on(bus, "in.me", NULL, &s);
    assert_true(put(bus, "nobody.is.here", "in.me", "hello"));
    assert_true(until(has_nobody, &s, 10000));
    assert_true(now_ms() - from < 1000);
    assert_int_equal(s.messages, 0);
    bus->ops->close(bus);
}

TEST(bus__calls_nobody_after_the_end_of_a_subscription)
{
    gbx_bus *bus = opened(server.url);
    seen s = {0};
    void *subscription = listen_on(bus, "a", NULL, &s);
    int count;

    for (int i = 0; i < 1000; i++)
        assert_true(put(bus, "a", NULL, "x"));
    bus->ops->unsubscribe(bus, subscription);
    count = s.messages;
    assert_true(put(bus, "a", NULL, "late"));
    usleep(100000);
    assert_int_equal(s.messages, count);
    bus->ops->close(bus);
}

typedef struct leaver {
    gbx_bus *bus;
    void *subscription;
    atomic_int calls;
} leaver;

static void on_event_leave(void *user, gbx_bus_event event, const gbx_bus_message *m)
{
    leaver *l = user;

    if (event == GBX_BUS_MESSAGE && l->calls++ == 0)
        l->bus->ops->unsubscribe(l->bus, l->subscription);
}

TEST(bus__lets_a_callback_end_its_own_subscription)
{
    leaver l = {.bus = opened(server.url)};
    seen mark = {0};

    l.subscription = l.bus->ops->subscribe(l.bus, "a", NULL, on_event_leave, &l);
    (void)listen_on(l.bus, "mark", NULL, &mark);
    assert_true(put(l.bus, "a", NULL, "x"));
    for (int i = 0; i < 1000 && l.calls == 0; i++)
        usleep(5000);
    usleep(100000);
    assert_true(put(l.bus, "a", NULL, "x"));
    assert_true(put(l.bus, "mark", NULL, "x"));
    await_messages(&mark, 1);
    assert_int_equal(l.calls, 1);
    l.bus->ops->close(l.bus);
}

TEST(bus__comes_back_after_a_restart_of_the_server_and_sends_nothing_meanwhile)
{
    gbx_bus *bus = opened(server.url);
    seen s = {0};

    (void)listen_on(bus, "a", NULL, &s);
    nats_server_stop(&server, SIGKILL);
    assert_true(until(is_refused, bus, 10000));
    assert_false(put(bus, "a", NULL, "lost"));
    nats_server_restart(&server);
    assert_true(until(is_sent, bus, 10000));
    assert_true(put(bus, "a", NULL, "found"));
    await_messages(&s, 1);
    assert_string_equal(s.last, "found");
    bus->ops->close(bus);
}

TEST(bus__closes_while_the_server_is_gone)
{
    gbx_bus *bus = opened(server.url);
    seen s = {0};
    void *subscription = listen_on(bus, "a", NULL, &s);
    double from;

    (void)listen_on(bus, "b", NULL, &s);
    nats_server_stop(&server, SIGKILL);
    assert_true(until(is_refused, bus, 10000));
    from = now_ms();
    bus->ops->unsubscribe(bus, subscription);
    bus->ops->close(bus);
    assert_true(now_ms() - from < 8000);
}

/* No byte is on its way to or from the server, at 10 looks one after another. */
static bool is_quiet(void *user)
{
    FILE *file = fopen("/proc/net/tcp", "re");
    unsigned port = (unsigned)server.port;
    int *looks = user;
    char line[256];

    ++*looks;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned ports[2];
        unsigned to_send;
        unsigned to_read;

        if (sscanf(line, "%*s %*x:%x %*x:%x %*x %x:%x", &ports[0], &ports[1], &to_send,
                   &to_read) == 4 &&
            (ports[0] == port || ports[1] == port) && to_send + to_read > 0)
            *looks = 0;
    }
    (void)fclose(file);
    return *looks == 10;
}

TEST(bus__drops_what_a_slow_reader_does_not_take)
{
    static char block[128 * 1024];
    gbx_bus *bus = opened(server.url);
    gbx_bus *other = opened(server.url);
    seen s = {.is_held = true};
    seen mark = {0};

    (void)listen_on(bus, "a", NULL, &s);
    for (int i = 1; i <= 2300; i++) {
        int looks = 0;

        assert_true(other->ops->publish(other, "a", NULL, (gbx_span){0},
                                        (gbx_span){(uint8_t *)block, sizeof block}));
        if (i % 100 == 0) /* the server drops a client that is slow to read 64 MB */
            assert_true(until(is_quiet, &looks, 60000));
    }
    (void)listen_on(bus, "mark", NULL, &mark);
    s.is_held = false;
    for (int i = 0; i < 2000 && mark.messages == 0; i++) {
        (void)put(other, "mark", NULL, "x");
        usleep(5000);
    }
    assert_true(s.messages >= 2000 && s.messages < 2300);
    other->ops->close(other);
    bus->ops->close(bus);
}

/* ---- who is let in ----------------------------------------------------------- */

static gbx_status refused(const char *text, gbx_error *err)
{
    gbx_bus *bus = NULL;
    gbx_status status = try_open(text, &bus, err);

    if (status == GBX_OK)
        bus->ops->close(bus);
    return status;
}

static void serve_instead(const char *options)
{
    nats_server_stop(&server, SIGKILL);
    nats_server_start(&server, options);
}

TEST(bus__says_that_no_server_is_there)
{
    gbx_error err;
    char url[64];

    (void)snprintf(url, sizeof url, "%s", server.url);
    nats_server_stop(&server, SIGKILL);
    assert_int_equal(refused(url, &err), GBX_E_CLOSED);
    assert_non_null(strstr(err.message, "no connection to the NATS server"));
}

TEST(bus__says_that_a_password_is_wrong_without_showing_it)
{
    gbx_bus *bus;
    gbx_error err;
    char url[128];

    serve_instead("authorization: {user: u, password: tiger}\n");
    (void)snprintf(url, sizeof url, "nats://u:lion@127.0.0.1:%d", server.port);
    assert_int_equal(refused(url, &err), GBX_E_CLOSED);
    assert_null(strstr(err.message, "lion"));
    (void)snprintf(url, sizeof url, "nats://u:tiger@127.0.0.1:%d", server.port);
    bus = opened(url);
    bus->ops->close(bus);
}

static void tls_options(char *options, size_t size, const char *name, bool expired,
                        tls_identity **ret)
{
    *ret = identity_new(name, expired);
    identity_write(*ret, scratch_path("server.pem"));
    (void)snprintf(options, size, "tls: {cert_file: \"%s\", key_file: \"%s\"}\n",
                   scratch_path("server.pem"), scratch_path("server.pem"));
}

static gbx_status over_tls(const char *name, bool expired, bool with_ca, gbx_error *err)
{
    tls_identity *identity;
    char options[512];
    char url[256];
    gbx_status status;

    tls_options(options, sizeof options, name, expired, &identity);
    serve_instead(options);
    (void)snprintf(url, sizeof url, "tls://localhost:%d%s%s", server.port,
                   with_ca ? "?tls-ca=" : "",
                   with_ca ? identity_ca_file(identity) : "");
    status = refused(url, err);
    identity_free(identity);
    return status;
}

TEST(bus__trusts_a_certificate_of_the_authority_that_was_named)
{
    gbx_error err;

    assert_int_equal(over_tls("localhost", false, true, &err), GBX_OK);
}

TEST(bus__refuses_a_certificate_of_an_authority_that_was_not_named)
{
    gbx_error err;

    assert_int_equal(over_tls("localhost", false, false, &err), GBX_E_CLOSED);
    assert_non_null(strstr(err.message, "certificate"));
}

TEST(bus__refuses_a_certificate_for_another_name)
{
    gbx_error err;

    assert_int_equal(over_tls("elsewhere.example", false, true, &err), GBX_E_CLOSED);
}

TEST(bus__refuses_a_certificate_that_has_expired)
{
    gbx_error err;

    assert_int_equal(over_tls("localhost", true, true, &err), GBX_E_CLOSED);
}

TEST(bus__refuses_a_server_without_tls_if_it_was_asked_for)
{
    tls_identity *identity = identity_new("localhost", false);
    gbx_error err;
    char url[256];

    (void)snprintf(url, sizeof url, "%s?tls-ca=%s", server.url,
                   identity_ca_file(identity));
    assert_int_equal(refused(url, &err), GBX_E_CLOSED);
    assert_non_null(strcasestr(err.message, "secure"));
    (void)snprintf(url, sizeof url, "tls://127.0.0.1:%d", server.port);
    assert_int_equal(refused(url, &err), GBX_E_CLOSED);
    assert_non_null(strcasestr(err.message, "secure"));
    identity_free(identity);
}

/* ---- keys and tokens ---------------------------------------------------------- */

TEST(bus__signs_with_an_nkey)
{
    char key[NATS_KEY_SIZE];
    char other[NATS_KEY_SIZE];
    char options[256];
    char url[256];
    gbx_error err;

    nats_identity_nkey("user.nk", key);
    nats_identity_nkey("other.nk", other);
    (void)snprintf(options, sizeof options, "authorization: {users: [{nkey: %s}]}\n",
                   key);
    serve_instead(options);
    (void)snprintf(url, sizeof url, "%s?nkey=%s", server.url, scratch_path("user.nk"));
    assert_int_equal(refused(url, &err), GBX_OK);
    (void)snprintf(url, sizeof url, "%s?nkey=%s", server.url, scratch_path("other.nk"));
    assert_int_equal(refused(url, &err), GBX_E_CLOSED);
    scratch_write("seed.nk", "SUAAAAAA\n");
    (void)chmod(scratch_path("seed.nk"), 0600);
    (void)snprintf(url, sizeof url, "%s?nkey=%s", server.url, scratch_path("seed.nk"));
    assert_int_equal(refused(url, &err), GBX_E_DATA);
    assert_non_null(strstr(err.message, "-pubout"));
}

TEST(bus__refuses_a_secret_that_others_may_read)
{
    char key[NATS_KEY_SIZE];
    char url[256];
    gbx_error err;

    nats_identity_nkey("user.nk", key);
    (void)snprintf(url, sizeof url, "%s?nkey=%s", server.url, scratch_path("user.nk"));
    assert_int_equal(chmod(scratch_path("user.nk"), 0644), 0);
    assert_int_equal(refused(url, &err), GBX_E_OS);
    assert_non_null(strstr(err.message, "chmod"));
    (void)snprintf(url, sizeof url, "%s?creds=%s", server.url, scratch_path("none"));
    assert_int_equal(refused(url, &err), GBX_E_OS);
}

TEST(bus__takes_new_credentials_after_the_old_ones_have_expired)
{
    char options[8192];
    char url[256];
    seen s = {0};
    gbx_bus *bus;

    nats_identity_operator(options, sizeof options);
    serve_instead(options);
    nats_identity_creds("user.creds", 4);
    (void)snprintf(url, sizeof url, "%s?creds=%s", server.url,
                   scratch_path("user.creds"));
    bus = opened(url);
    (void)listen_on(bus, "a", NULL, &s);
    assert_true(put(bus, "a", NULL, "x"));
    await_messages(&s, 1);
    assert_true(until(is_refused, bus, 10000));
    sleep(3); /* libnats gives up after its second refusal */
    assert_false(put(bus, "a", NULL, "refused"));
    nats_identity_creds("user.creds", 60);
    assert_true(until(is_sent, bus, 10000));
    (void)listen_on(bus, "b", NULL, &s);
    assert_true(put(bus, "a", NULL, "x"));
    assert_true(put(bus, "b", NULL, "x"));
    await_messages(&s, 3);
    bus->ops->close(bus);
}

TEST(bus__closes_while_its_credentials_are_refused)
{
    char options[8192];
    char url[256];
    seen s = {0};
    gbx_bus *bus;

    nats_identity_operator(options, sizeof options);
    serve_instead(options);
    nats_identity_creds("user.creds", 3);
    (void)snprintf(url, sizeof url, "%s?creds=%s", server.url,
                   scratch_path("user.creds"));
    bus = opened(url);
    (void)listen_on(bus, "a", NULL, &s);
    assert_true(until(is_refused, bus, 10000));
    sleep(2);
    bus->ops->unsubscribe(bus, listen_on(bus, "b", NULL, &s));
    bus->ops->close(bus);
}

int main(void)
{
    nats_server_need();
    tests_each(each_begin, each_end);
    return tests_run(NULL, NULL);
}
