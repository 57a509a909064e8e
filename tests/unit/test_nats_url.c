/* SPDX-License-Identifier: MIT */
/* nats_url - the text that names servers, pool and credentials. */
#include "remote/remote.h"
#include "test.h"

static gbx_remote_url url;

static void accepts(const char *text)
{
    gbx_error err;

    if (gbx_remote_url_parse(text, &url, &err) != GBX_OK)
        fail_msg("%s: %s", text, err.message);
}

static void refuses(const char *text, const char *because)
{
    gbx_error err;

    assert_int_equal(gbx_remote_url_parse(text, &url, &err), GBX_E_USAGE);
    if (strstr(err.message, because) == NULL)
        fail_msg("%s: %s", text, err.message);
}

TEST(url__has_a_pool_without_being_told)
{
    accepts("nats://host:4222");
    assert_string_equal(url.server, "nats://host:4222");
    assert_string_equal(url.pool, "main");
    assert_null(url.creds);
    assert_null(url.tls_ca);
}

TEST(url__takes_each_parameter)
{
    accepts("tls://u:p@b:2?pool=gpu-1&creds=/etc/my file&&tls-ca=ca.pem&");
    assert_string_equal(url.server, "tls://u:p@b:2");
    assert_string_equal(url.pool, "gpu-1");
    assert_string_equal(url.creds, "/etc/my file");
    assert_string_equal(url.tls_ca, "ca.pem");
    accepts("nats://a?nkey=n");
    assert_string_equal(url.nkey, "n");
}

TEST(url__refuses_other_servers)
{
    refuses("", "nats://");
    refuses("process", "nats://");
    refuses("http://host", "nats://");
    refuses("nats://host/path", "nats://");
    refuses("nats://a b", "nats://");
    refuses("nats://a,nats://b", "nats://");
}

TEST(url__refuses_other_parameters)
{
    refuses("nats://a?pool", "'='");
    refuses("nats://a?pol=x", "takes pool");
    refuses("nats://a?pool=", "'='");
    refuses("nats://a?pool=A", "a-z");
    refuses("nats://a?pool=a.b", "a-z");
    refuses("nats://a?pool=%3e", "a-z");
    refuses("nats://a?pool=abcdefghijklmnopqrstuvwxyz0123456", "a-z");
    refuses("nats://a?creds=a&nkey=b", "creds and nkey");
    refuses("nats://a?tls-key=a", "takes pool");
}

TEST(url__is_bounded_and_its_errors_do_not_show_it)
{
    char text[GBX_REMOTE_URL_MAX + 1];
    gbx_error err;

    memset(text, 'a', sizeof text);
    memcpy(text, "nats://", 7);
    text[GBX_REMOTE_URL_MAX - 1] = '\0';
    accepts(text);
    text[GBX_REMOTE_URL_MAX - 1] = 'a';
    text[GBX_REMOTE_URL_MAX] = '\0';
    refuses(text, "too long");
    assert_int_equal(gbx_remote_url_parse("nats://u:tiger@h?tiger=tiger", &url, &err),
                     GBX_E_USAGE);
    assert_null(strstr(err.message, "tiger"));
}

TEST(url__gets_parameters_that_are_read_back)
{
    static const char hard[] = "/a b/%41?x=1#\xc3\xa9";
    gbx_buf text = {.ceiling = 1000};
    char *whole;

    (void)gbx_buf_puts(&text, "nats://h");
    gbx_remote_url_put(&text, "pool", NULL);
    gbx_remote_url_put(&text, "creds", hard);
    gbx_remote_url_put(&text, "pool", "gpu");
    whole = gbx_buf_take_string(&text, NULL);
    accepts(whole);
    assert_string_equal(url.creds, hard);
    assert_string_equal(url.pool, "gpu");
    free(whole);
}

TEST_MAIN(NULL, NULL)
