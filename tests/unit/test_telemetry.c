/* SPDX-License-Identifier: MIT */
/* telemetry - what of spans and counts no client and no collector can see. */
#include "test.h"

#include "base/cleanup.h"
#include "mcp/telemetry/telemetry.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static gbx_metrics *metrics;

static char *printed(void)
{
    gbx_buf text = {.ceiling = 1 << 20};

    gbx_metrics_print(metrics, &text);
    return gbx_buf_take_string(&text, NULL);
}

static int count_lines(const char *text, const char *begin)
{
    int count = 0;

    for (; (text = strstr(text, begin)) != NULL; text++)
        count++;
    return count;
}

static int setup(void **state)
{
    metrics = gbx_metrics_new();
    return metrics != NULL ? 0 : -1;
}

static void end_calls(gbx_telemetry *t, int count)
{
    for (int i = 0; i < count; i++) {
        gbx_call_span span;

        gbx_call_span_begin(&span, t, "execute", (gbx_view){0});
        gbx_call_span_end(&span, &(gbx_call_outcome){.version = "2026-07-28"});
        gbx_call_span_end(&span, &(gbx_call_outcome){.code = "DENIED"}); /* ignored */
    }
}

TEST(a_full_ring__drops_the_oldest)
{
    gbx_telemetry *t = gbx_telemetry_new(metrics, "x");
    gbx_buf first = {.ceiling = 1 << 20};
    gbx_buf later = {.ceiling = 1 << 20};
    uint64_t spans;

    end_calls(t, GBX_SPANS_MAX);
    spans = gbx_telemetry_put(t, 2, &first);
    end_calls(t, 5);
    assert_int_equal(gbx_telemetry_waiting(t), GBX_SPANS_MAX);

    /* Those being sent are gone meanwhile: others are not forgotten for them. */
    gbx_telemetry_forget(t, spans);
    assert_int_equal(gbx_telemetry_waiting(t), GBX_SPANS_MAX);
    (void)gbx_telemetry_put(t, 2, &later);
    assert_int_not_equal(memcmp(first.data, later.data, first.len), 0);

    char *text = printed();

    assert_non_null(strstr(text, "_count{tool=\"execute\",code=\"OK\"} 2053\n"));
    assert_null(strstr(text, "DENIED"));
    free(text);
    gbx_buf_cleanup(&first);
    gbx_buf_cleanup(&later);
    gbx_telemetry_free(t);
}

TEST(names__cannot_leave_their_label)
{
    gbx_metrics_add_call(metrics, false, "a\"} 1\nevil{b=\"\\", "b\nevil", 0);

    char *text = printed();

    assert_non_null(strstr(text, "_count{server=\"a\",code=\"b\"} 1\n"));
    assert_null(strstr(text, "evil"));
    free(text);
}

TEST(long_and_many_names__are_bounded)
{
    char name[300];

    for (int i = 0; i < 300; i++) {
        memset(name, 'a' + i % 26, sizeof name - 1);
        (void)snprintf(name + 200, 100, "%d", i);
        gbx_metrics_add_call(metrics, false, name, "A_CODE_THAT_IS_LONGER_THAN_ANY",
                             1000);
        gbx_metrics_add_call(metrics, true, name, "TIMEOUT", 1000);
    }

    char *text = printed();

    assert_int_equal(count_lines(text,
                                 "\nglovebox_upstream_call_duration_seconds_count{"),
                     257);
    assert_int_equal(count_lines(text, "\nglovebox_call_duration_seconds_count{"), 65);
    assert_int_equal(count_lines(text, "_count{server=\"\",code=\"\"} 44\n"), 1);
    assert_int_equal(count_lines(text, "code=\"A_CODE_THAT_IS_LONGER_T\","), 256 * 11);
    free(text);
}

TEST(processes__count_in_one_place_each_name_once)
{
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            for (int n = 0; n < 1000; n++)
                gbx_metrics_add_call(metrics, false, n % 2 == 0 ? "one" : "two", "OK",
                                     1);
            _exit(0);
        }
    for (int i = 0; i < 8; i++)
        assert_int_not_equal(wait(NULL), -1);

    char *text = printed();

    assert_non_null(strstr(text, "_count{server=\"one\",code=\"OK\"} 4000\n"));
    assert_non_null(strstr(text, "_count{server=\"two\",code=\"OK\"} 4000\n"));
    assert_int_equal(count_lines(text, "_count{server="), 2);
    free(text);
}

/* As a process would write over all of it in which an attacker runs code. */
TEST(what_another_process_writes__stays_in_its_label)
{
    static const uint8_t bytes[] = {0xff, 'x', '"', '\\', '\n', '}', 1};

    for (size_t i = 0; i < sizeof bytes; i++) {
        memset((void *)metrics, bytes[i], GBX_KIB(32));
        char *text = printed();

        for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
            const char *begin = *line == '#' ? "# " : "glovebox_";

            assert_memory_equal(line, begin, strlen(begin));
            assert_in_range(strcspn(line, "\n"), 1, 300);
        }
        free(text);
    }
}

TEST(without_spans__calls_are_counted_and_have_no_context)
{
    gbx_telemetry *t = gbx_telemetry_new(metrics, NULL);
    char text[GBX_TRACEPARENT_SIZE];
    gbx_call_span span;
    gbx_call_span below;

    gbx_call_span_begin(&span, t, "execute", (gbx_view){0});
    gbx_call_span_begin_below(&below, &span);
    assert_false(gbx_call_span_print(&span, text));
    assert_false(gbx_call_span_print(&below, text));
    gbx_call_span_end(&below, &(gbx_call_outcome){.server = "up", .code = "DENIED"});
    gbx_call_span_end(&span, &(gbx_call_outcome){0});
    assert_int_equal(gbx_telemetry_waiting(t), 0);
    gbx_telemetry_free(t);
}

TEST_MAIN_EACH(setup, NULL)
