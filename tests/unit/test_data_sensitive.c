/* SPDX-License-Identifier: MIT */
/* What is masked in a description by its looks, and what is left alone. */
#include "base/cleanup.h"
#include "mcp/data/sensitive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_looks__of_what_nobody_shows(void **state)
{
    static const char *const texts[] = {
        "ada@example.com",
        "mail to <ada.l@example.co.uk>, please",
        "sk-proj-abcdEFGH1234",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "d41d8cd98f00b204e9800998ecf8427e",
        "/home/ada/d41d8cd98f00b204e9800998ecf8427e",
        "/9j4AAQSkZJRgABAQEA0x8Q3k",
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111.1111.1111.1111",
        "paid with 5500-0000-0000-0004 yesterday",
        "+49 170 1234567",
        "+14155550123",
        "(415) 555-0123",
        "call 415-555-0123 now",
        "078-05-1120",
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "GB82 WEST 1234 5698 7654 32",
        "FR 14 20041 01005 0500013M026 06",
        "192.168.10.20",
        "10.0.0.1:8080",
        "http://10.0.0.1/x",
        "ip=10.0.0.1",
        "10.0.0.1,10.0.0.2",
        "tel:+14155552671",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
        "https://user:pw@host.example/",
        "https://x.example/?access_token=1",
        "Server=x;User Id=sa;Password=hunter2;",
        "pwd:x",
        "client_secret = x",
        "{\"apiKey\": \"x\"}",
        "last_used_password=hunter2",
        "https://x.example/?limit=10&token=abc",
        "Bearer abc123def456ghi789",
        "Authorization: Basic dXNlcjpwdw==",
        "2001:db8::1",
        "2001:0db8:85a3::8a2e:0370:7334",
        "2001:DB8:0:0:8:800:200C:417A",
        "fe80::1%eth0",
        "fe80::1:",
        "::ffff:abcd:1",
        "[2001:db8::1]:443",
        "http://[2001:db8::1]/x",
        "client:2001:db8::1",
        "10,2001:db8::1,x",
        "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
        "$2b$12$KIXQJ6v6c8Z7e3Q9y1vOQe5m0e8rJq8q7mZy8pQ1Q3r5t7u9w0y2a",
        "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b7dWQ",
        "$6$rounds=5000$usesomesilly$D4IrlXatmP7rx3P3InaxBeoomnAihCKRVQ",
        "pbkdf2_sha256$600000$c29tZXNhbHQ$RdescudvJCsgt3ubb7dWQ",
        "hash:$2b$12$KIXQJ6v6c8Z7e3Q9y1vOQe5m0e8rJq8q7mZy8pQ1Q3r5t7u9w0y2a",
        "https://a.example/b?sv=1&sig=aB3%2F",
        "https://x.example/?session=abc1",
        "https://x.example/?a=1&SID=7",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (!gbx_sensitive_looks(texts[i], strlen(texts[i])))
            fail_msg("%s", texts[i]);
}

static void test_looks__of_ordinary_values(void **state)
{
    static const char *const texts[] = {
        "",
        "paid",
        "Berlin",
        "2024-05-01",
        "2024-05-01T10:20:30Z",
        "2024-05-01 10:20",
        "01.05.2024",
        "12/31/2024",
        "1234567.89",
        "0.8474337000003", /* the digits of these are those of cards */
        "4.5395787600007",
        "1714557600009",
        "v1.2.3.4",
        "1.2.3.400",
        "tel:12",
        "123456",
        "A-1042",
        "550e8400-e29b-41d4-a716-446655440000",
        "three words and 12 more",
        "https://example.com/a/b?page=2",
        "internationalization-of-everything",
        "@handle",
        "a @ b",
        "100 %",
        "\xf0\x9f\x98\x80\xff",
        "token",
        "password:",
        "password=;x=1",
        "tokens_used=12",
        "{\"prompt_tokens\":12,\"n\":1}",
        "the bearer of good news",
        "color=red;size=12",
        "Note: call back",
        "12:30:45",
        "2024-05-01T12:30:45",
        "00:1A:2B:3C:4D:5E",
        "00:11:22:33:44:55:66:77",
        "10:20:30:40:50:60:70:80:90",
        "1:2:3:4:5:6:7",
        "std::vector",
        "dead::beef",
        "a::b1",
        "::",
        "f64::EPSILON",
        "ratio 1::2",
        "$5 and $10",
        "$5$10$20$30$40$50$60$70",
        "US$100",
        "https://x.example/?sid=&signal=1&sessions=2",
        "https://x.example/a?",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (gbx_sensitive_looks(texts[i], strlen(texts[i])))
            fail_msg("%s", texts[i]);
}

static void test_phones__are_masked_however_they_are_written(void **state)
{
    static const char *const texts[] = {
        "+49 171 2345678",  "0171/2345678",      "0171-2345678",
        "(030) 123-4567",   "555-123-4567",      "212-555-0100",
        "212.555.0100",     "1.212.555.0100",    "1 (212) 555-0100",
        "1-800-555-0199",   "555-0100",          "06 12 34 56 78",
        "06.12.34.56.78",   "020 7946 0958",     "07911 123456",
        "010-1234-5678",    "138 0013 8000",     "612 345 678",
        "612.345.678",      "71 234 567",        "6123 4567",
        "2123-4567",        "2024-5678",         "1800-123456",
        "98765 43210",      "12 34 56 78",       "089/12345-0",
        "0049 171 2345678", "8 (495) 123-45-67", "48 123 456 789",
        "01 234 567",       "2019-555-0100",     "call 555-0100 or 1990-2000",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (!gbx_sensitive_looks(texts[i], strlen(texts[i])))
            fail_msg("%s", texts[i]);
}

static void test_numbers_in_groups__that_no_phone_is_are_shown(void **state)
{
    static const char *const texts[] = {
        "1990-2000",         "1990 - 2000",
        "2019/2020",         "2019/2020/2021",
        "2024-01/2024-06",   "from 1990-2000 on",
        "12.500.000",        "3 645 000",
        "1.250.000",         "2024-000123",
        "2024/0042",         "1998-12345",
        "978-3-16-148410-0", "ISBN 978-0-306-40615-7",
        "0-306-40615-2",     "10.0.19041.1",
        "115.0.5790.1",      "/usr/lib/x86_64-linux-gnu/libc.so.6",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (gbx_sensitive_looks(texts[i], strlen(texts[i])))
            fail_msg("%s", texts[i]);
}

/* As they are copied from pages, documents and contacts. */
static void test_looks__of_what_is_written_with_other_signs(void **state)
{
    static const char *const texts[] = {
        "\u202a+491712345678\u202c", /* within marks of direction, by a phone */
        "+49\u00a0171\u00a02345678",
        "06\u202f12\u202f34\u202f56\u202f78",
        "4111\u00a01111\u00a01111\u00a01111",
        "4111\u20111111\u20111111\u20111111",
        "415\u2013555\u20130123",
        "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
        "\u0660\u0661\u0667\u0661-\u0662\u0663\u0664\u0665\u0666\u0667\u0668",
        "ada\uff20example.com",
        "\u200bsk-proj-abcdEFGH1234",
        "gh\u00adp_16C7e42F292c6912E7710c838347Ae178B4a",
        "password\uff1ahunter2",
        "password\u00a0=\u00a0hunter2",
        "\ufeff192.168.10.20",
    };
    static const char *const others[] = {"1990\u20132000",
                                         "1\u00a0250\u00a0000",
                                         "10:00\u201312:00",
                                         "caf\u00e9\u00a0au lait",
                                         "\u202a\u202c",
                                         "\u6771\u4eac\u3000\u6e2f\u533a"};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (!gbx_sensitive_looks(texts[i], strlen(texts[i])))
            fail_msg("%s", texts[i]);
    for (size_t i = 0; i < GBX_COUNTOF(others); i++)
        if (gbx_sensitive_looks(others[i], strlen(others[i])))
            fail_msg("%s", others[i]);
}

static void check_mask(bool (*mask)(const char *, size_t, gbx_buf *), const char *text,
                       const char *masked)
{
    gbx_buf buf;

    gbx_buf_init(&buf, 1000);
    assert_true(mask(text, strlen(text), &buf));
    (void)gbx_buf_append(&buf, "", 1);
    assert_string_equal((const char *)buf.data, masked);
    gbx_buf_cleanup(&buf);
}

static void test_mask__keeps_the_shape(void **state)
{
    (void)state;

    check_mask(gbx_sensitive_mask, "Ada.L@example.com", "Xxx.X@xxxxxxx.xxx");
    check_mask(gbx_sensitive_mask, "+49 (170) 12-34", "+00 (000) 00-00");
    check_mask(gbx_sensitive_mask, "J\xc3\xb6rg 7", "Xxxx 0");
    check_mask(gbx_sensitive_mask_parts, "mail ada@example.com on 2024-05-01, ok",
               "mail xxx@xxxxxxx.xxx on 2024-05-01, ok");
    check_mask(gbx_sensitive_mask_parts, "tel +49 170 1234567!",
               "tel +00 000 0000000!");
    check_mask(gbx_sensitive_mask_parts, "DE89 3704 0044 0532 0130 00",
               "XX00 0000 0000 0000 0000 00");
    check_mask(gbx_sensitive_mask_parts,
               "to FR14 2004 1010 0505 0001 3M02 606 on May 1",
               "to XX00 0000 0000 0000 0000 0X00 000 on May 1");
    check_mask(gbx_sensitive_mask_parts,
               "IBAN:BE68-5390-0754-7034, GB82 WEST 1234 5698 7654 32.",
               "IBAN:XX00-0000-0000-0000, XX00 XXXX 0000 0000 0000 00.");
    check_mask(gbx_sensitive_mask_parts, "AB12 3456 some text that goes on",
               "AB12 3456 some text that goes on");
    check_mask(gbx_sensitive_mask_parts, "caf\u00e9 \u202a+491712345678\u202c, ok",
               "caf\u00e9 \u202a+000000000000x, ok");
    check_mask(gbx_sensitive_mask_parts, "ada\u00a0l@x.de", "xxxxx@x.xx");
}

static void test_a_secret_behind_its_name__is_masked_alone(void **state)
{
    static const char *const cases[][2] = {
        {"Server=x;User Id=sa;Password=hunter2;App=y",
         "Server=x;User Id=sa;Password=xxxxxx0;App=y"},
        {"Server=x;Pwd=two words;App=y", "Server=x;Pwd=xxx xxxxx;App=y"},
        {"a=1&api_key=Zz9&b=2", "a=1&api_key=Xx0&b=2"},
        {"host=db password='a b' port=5", "host=db password='x x' port=5"},
        {"{\"user\":\"bo\",\"token\":\"ab c\",\"n\":1}",
         "{\"user\":\"bo\",\"token\":\"xx x\",\"n\":1}"},
        {"AccountName=a;AccountKey=Ab+/1==;End=b",
         "AccountName=a;AccountKey=Xx+/0==;End=b"},
        {"my secret : x1 and more", "my secret : x0 and more"},
        {"Api Key: x1", "Api Key: x0"},
        {"with Bearer abc123de, ok", "with Bearer xxx000xx, ok"},
        {"Authorization: Bearer a.b c", "Authorization: Xxxxxx x.x c"},
        {"<user><password>hunter2</password><n>1</n></user>",
         "<user><password>xxxxxx0</password><n>1</n></user>"},
        {"<w:ApiKey type=\"a\"> Zz 9 </w:ApiKey><tokens>5</tokens>",
         "<w:ApiKey type=\"x\"> Xx 0 </w:ApiKey><tokens>5</tokens>"},
        {"</token> 5 > token <b>token</b> <password",
         "</token> 5 > token <b>token</b> <password"},
        {"Authorization: Basic dXNlcg==\nHost: h",
         "Authorization: Xxxxx xXXxxx==\nHost: h"},
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++)
        check_mask(gbx_sensitive_mask_parts, cases[i][0], cases[i][1]);
}

static void test_in_the_middle_of_a_run__what_nobody_shows_is_masked(void **state)
{
    static const char *const cases[][2] = {
        {"card:4111111111111111", "card:0000000000000000"},
        {"card#4111111111111111.", "card#0000000000000000."},
        {"(card:4111-1111-1111-1111)", "(card:0000-0000-0000-0000)"},
        {"4111111111111111,5555555555554444", "0000000000000000,0000000000000000"},
        {"a|5555555555554444|b", "a|0000000000000000|b"},
        {"[\"4111111111111111\"]", "[\"0000000000000000\"]"},
        {"SSN:123-45-6789", "SSN:000-00-0000"},
        {"call:415-555-0123,now", "call:000-000-0000,now"},
        {"ph=(415)555-0123", "ph=(000)000-0000"},
        {"ph:+14155550123;x", "ph:+00000000000;x"},
        {"key=AKIAIOSFODNN7EXAMPLE", "key=XXXXXXXXXXXX0XXXXXXX"},
        {"id/AKIAIOSFODNN7EXAMPLE/x", "id/XXXXXXXXXXXX0XXXXXXX/x"},
        {"https://h.example/AKIAIOSFODNN7EXAMPLE?a=1",
         "https://h.example/XXXXXXXXXXXX0XXXXXXX?x=0"},
        {"x,ghp_abcdefghijklmnopqrstuvwxyz0123456789",
         "x,xxx_xxxxxxxxxxxxxxxxxxxxxxxxxx0000000000"},
        {"IBAN:DE89370400440532013000", "IBAN:XX00000000000000000000"},
        {"DE89370400440532013000,x", "XX00000000000000000000,x"},
        {"to DE89370400440532013000;2024-05-01",
         "to XX00000000000000000000;2024-05-01"},
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        assert_true(gbx_sensitive_looks(cases[i][0], strlen(cases[i][0])));
        check_mask(gbx_sensitive_mask_parts, cases[i][0], cases[i][1]);
    }
}

static void test_in_the_middle_of_a_run__ordinary_values_are_shown(void **state)
{
    static const char *const texts[] = {
        "https://example.com/item/4111111111111111",
        "https://example.com/sk-learn-tutorial/npm_modules_cache?page=2#part-3",
        "https://github.com/a/b/commit/da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "https://example.com/a/550e8400-e29b-41d4-a716-446655440000/b",
        "https://example.com:8080/2024/05/01/index.html",
        "C:\\data\\2024\\file-20240501.csv",
        "from:2024-05-01,to:2024-05-31",
        "at=2024-05-01T10:20:30Z",
        "years:2020-2021",
        "ts:1700000000000",
        "range=1000000-2000000",
        "id:1234567890,1234567891",
        "part#1234-5678-9012",
        "lat:52.520008,lon:13.404954",
        "size=1234567.89;unit=m",
        "pkg:1.22.333.4444",
        "isbn:9780306406157",
        "sha:da39a3ee",
        "user:sk-learn",
        "time:10:20:30.123456789",
        "x,12,34,56,78,90,12,34,56",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (gbx_sensitive_looks(texts[i], strlen(texts[i])))
            fail_msg("%s", texts[i]);
}

static void test_every_truncation__is_looked_at(void **state)
{
    static const char text[] =
        "88.217183633 +1 (415) 555-0123 a@b.c 4111-1111-1111-1111 1.2.3.4 "
        "token=\"a b\" Pwd=c d;e=f Bearer abc123def456 authorization: basic  x "
        "c:4111111111111111,DE89370400440532013000|AKIAIOSFODNN7EXAMPLE#(415)555-0123 "
        "2001:db8::1, a:fe80::1%e h:$2b$12$KIXQJ6v6c8Z7e3Q9y1vOQe5m "
        "http://h/?a=1&sid=2";
    (void)state;

    for (size_t len = 0; len < sizeof text; len++) {
        char *copy = malloc(len > 0 ? len : 1); /* a sanitizer sees a step too far */
        gbx_buf buf;

        memcpy(copy, text, len);
        gbx_buf_init(&buf, 1000);
        (void)gbx_sensitive_looks(copy, len);
        assert_true(gbx_sensitive_mask_parts(copy, len, &buf));
        assert_int_equal(buf.len, len);
        gbx_buf_cleanup(&buf);
        free(copy);
    }
}

static void test_logins_and_sessions_of_headers__are_sensitive_by_themselves(
    void **state)
{
    static const char *const telling[] = {
        "Basic dXNlcjpwYXNz",   "basic dXNlcjpwYXNz",       "sid=abcdef",
        "a=b; sid=abcdef; c=d", "PHPSESSID=abcdefgh; x=y",  "connect.sid=s%3Aabc",
        "SESSION=ZmFrZQ",       "JSESSIONID=0123456789abc",
    };
    static const char *const others[] = {
        "Basic training", "Basic plan", "basic dXNlcg==", "inside=out",  "sid=7",
        "session=3",      "sid",        "a session = it", "residence=x",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(telling); i++)
        if (!gbx_sensitive_looks(telling[i], strlen(telling[i])))
            fail_msg("%s", telling[i]);
    for (size_t i = 0; i < GBX_COUNTOF(others); i++)
        if (gbx_sensitive_looks(others[i], strlen(others[i])))
            fail_msg("%s", others[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looks__of_what_nobody_shows),
        cmocka_unit_test(test_looks__of_ordinary_values),
        cmocka_unit_test(test_phones__are_masked_however_they_are_written),
        cmocka_unit_test(test_looks__of_what_is_written_with_other_signs),
        cmocka_unit_test(test_numbers_in_groups__that_no_phone_is_are_shown),
        cmocka_unit_test(test_mask__keeps_the_shape),
        cmocka_unit_test(test_a_secret_behind_its_name__is_masked_alone),
        cmocka_unit_test(test_in_the_middle_of_a_run__what_nobody_shows_is_masked),
        cmocka_unit_test(test_in_the_middle_of_a_run__ordinary_values_are_shown),
        cmocka_unit_test(test_every_truncation__is_looked_at),
        cmocka_unit_test(
            test_logins_and_sessions_of_headers__are_sensitive_by_themselves),
    };

    return cmocka_run_group_tests_name("sensitive", tests, NULL, NULL);
}
