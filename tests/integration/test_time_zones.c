/* SPDX-License-Identifier: MIT */
/* The engine's time zones are those of the machine that has built it, to the second. */
#include "base/cleanup.h"
#include "calls.h"
#include "test.h"
#include "zones/zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY        86400
#define FIRST_TIME (-80 * (int64_t)365 * DAY) /* about 1890 */
#define LAST_TIME  (130 * (int64_t)365 * DAY)
#define STEP       (211 * DAY + 5 * 3600)
#define AT_ONCE    20

/* [[zone, [second, what the C library's localtime() makes of it], ...], ...]: where it is
 * not what Intl makes of it. */
static const char differences[] =
    "(zones) => zones.flatMap(([timeZone, ...rows]) => { const two = '2-digit';"
    " const f = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', year: 'numeric',"
    " month: two, day: two, hour: two, minute: two, second: two });"
    " return rows.map(([t, want]) => [timeZone, t, want, f.format(t * 1000)])"
    ".filter(([, , want, got]) => want !== got).slice(0, 3) })";

/* The database's own source, with the names of all zones and its version. */
static FILE *open_source(void)
{
    FILE *f = fopen(GBX_ZONES_DIR "/tzdata.zi", "re");

    if (f == NULL)
        fail_msg(GBX_ZONES_DIR "/tzdata.zi is missing (package tzdata)");
    return f;
}

static void put_rows(gbx_buf *to, const char *zone)
{
    char path[80];

    (void)snprintf(path, sizeof path, ":%s", zone);
    (void)setenv("TZ", path, 1);
    tzset();
    (void)gbx_buf_printf(to, "%c[\"%s\"", to->len == 0 ? '[' : ',', zone);
    for (int64_t at = FIRST_TIME; at < LAST_TIME; at += STEP) {
        time_t time = (time_t)at;
        struct tm local;
        char text[64];

        assert_non_null(localtime_r(&time, &local));
        assert_true(strftime(text, sizeof text, "%m/%d/%Y, %H:%M:%S", &local) > 0);
        (void)gbx_buf_printf(to, ",[%lld,\"%s\"]", (long long)at, text);
    }
    (void)gbx_buf_puts(to, "]");
}

static void check_rows(gbx_engine *engine, gbx_buf *rows)
{
    gbx_limits limits = timeout_of(60000);
    gbx_call call = call_of(differences);
    gbx_result *result;

    assert_true(gbx_buf_puts(rows, "]"));
    call.input = (const char *)rows->data;
    call.input_len = rows->len;
    call.limits = &limits;
    result = call_run(engine, &call);
    assert_string_equal(gbx_result_error(result), "");
    assert_string_equal(gbx_result_value(result, NULL), "[]");
    gbx_result_free(result);
    gbx_buf_cleanup(rows);
}

TEST(times__of_every_zone_are_those_of_the_c_library)
{
    gbx_options options = {.struct_size = sizeof options, .pool_size = 1};
    FILE *source = open_source();
    char line[512], name[48];
    gbx_engine *engine;
    gbx_buf rows;
    size_t count = 0;

    engine = engine_start(&options);
    gbx_buf_init(&rows, GBX_MIB(16));
    while (fgets(line, sizeof line, source) != NULL) {
        if (sscanf(line, "Z %47s", name) != 1 && sscanf(line, "L %*s %47s", name) != 1)
            continue;
        put_rows(&rows, name);
        if (++count % AT_ONCE == 0)
            check_rows(engine, &rows);
    }
    if (rows.len > 0)
        check_rows(engine, &rows);
    assert_true(count > 400);
    (void)fclose(source);
    gbx_engine_free(engine);
}

TEST(report__says_which_version_of_the_zones_is_in_use)
{
    gbx_options options = {.struct_size = sizeof options, .pool_size = 1};
    gbx_engine *engine;
    gbx_error error;
    char here[16], member[64];
    FILE *source = open_source();
    char *report = NULL;

    assert_int_equal(fscanf(source, "# version %15[0-9a-z]", here), 1);
    (void)fclose(source);
    engine = engine_start(&options);
    assert_int_equal(gbx_engine_report(engine, &report, &error), GBX_OK);
    (void)snprintf(member, sizeof member, "\"timeZones\":\"%s\"", here);
    assert_non_null(strstr(report, member));
    gbx_string_free(report);
    gbx_engine_free(engine);
}

TEST_MAIN(NULL, NULL)
