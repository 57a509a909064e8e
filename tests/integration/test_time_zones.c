/* SPDX-License-Identifier: MIT */
/* The engine's time zones are those of this machine, to the second. */
#include "base/cleanup.h"
#include "calls.h"
#include "scratch.h"
#include "test.h"
#include "zones/zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

static void need_zones(const char *version)
{
    if (version[0] == 0)
        fail_msg(GBX_ZONES_DIR "/tzdata.zi is missing (package tzdata)");
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
    gbx_engine *engine;
    gbx_zones zones;
    gbx_buf rows;
    size_t count = 0;

    (void)gbx_zones_read(GBX_ZONES_DIR, &zones);
    need_zones(zones.version);
    engine = engine_start(&options);
    gbx_buf_init(&rows, GBX_MIB(16));
    for (size_t i = 0; i < zones.count; i++) {
        char path[128];

        (void)snprintf(path, sizeof path, GBX_ZONES_DIR "/%s", zones.list[i].name);
        if (access(path, R_OK) != 0)
            continue; /* one of ICU's own names */
        put_rows(&rows, zones.list[i].name);
        if (++count % AT_ONCE == 0)
            check_rows(engine, &rows);
    }
    if (rows.len > 0)
        check_rows(engine, &rows);
    assert_true(count > 400);
    gbx_zones_free(&zones);
    gbx_engine_free(engine);
}

TEST(report__says_which_version_of_the_zones_is_in_use)
{
    gbx_options options = {.struct_size = sizeof options, .pool_size = 1};
    gbx_engine *engine;
    gbx_error error;
    char here[16], member[64];
    char *report = NULL;

    gbx_zones_version(GBX_ZONES_DIR, here);
    need_zones(here);
    engine = engine_start(&options);
    assert_int_equal(gbx_engine_report(engine, &report, &error), GBX_OK);
    (void)snprintf(member, sizeof member, "\"timeZones\":\"%s\"", here);
    assert_non_null(strstr(report, member));
    gbx_string_free(report);
    gbx_engine_free(engine);
}

/* ---- folders of our own -------------------------------------------------------- */

/* What a file of the database begins with, for one type and `changes` changes to it. */
static void put_header(gbx_buf *to, uint8_t changes, uint8_t types)
{
    uint8_t header[44] = {'T', 'Z', 'i', 'f', '2'};

    header[35] = changes;
    header[39] = types;
    header[43] = 4;
    assert_true(gbx_buf_append(to, header, sizeof header));
}

static void put_type(gbx_buf *to, int32_t offset, uint8_t is_dst)
{
    uint8_t type[6] = {(uint8_t)(offset >> 24), (uint8_t)(offset >> 16),
                       (uint8_t)(offset >> 8), (uint8_t)offset, is_dst};

    assert_true(gbx_buf_append(to, type, sizeof type));
}

/* A zone that has `rule` from the change at second `from` on. */
static bool read_zone(gbx_zone *zone, const char *rule, int32_t from)
{
    uint8_t at[8] = {0,
                     0,
                     0,
                     0,
                     (uint8_t)(from >> 24),
                     (uint8_t)(from >> 16),
                     (uint8_t)(from >> 8),
                     (uint8_t)from};
    bool read;
    gbx_buf buf;

    *zone = (gbx_zone){0};
    gbx_buf_init(&buf, GBX_KIB(1));
    put_header(&buf, 0, 1);
    put_type(&buf, 0, 0);
    assert_true(gbx_buf_append(&buf, "LMT", 4));
    put_header(&buf, 1, 2);
    assert_true(gbx_buf_append(&buf, at, sizeof at) && gbx_buf_append(&buf, "\1", 1));
    put_type(&buf, 600, 0);
    put_type(&buf, 3600, 0);
    assert_true(gbx_buf_append(&buf, "LMT", 4) && gbx_buf_puts(&buf, "\n") &&
                gbx_buf_puts(&buf, rule) && gbx_buf_puts(&buf, "\n"));
    read = gbx_zone_read(zone, buf.data, buf.len);
    for (size_t cut = 1; read && cut < buf.len; cut++) {
        gbx_zone part = {0};

        /* Shorter by the end of its text it may be whole, with another rule. */
        if (gbx_zone_read(&part, buf.data, buf.len - cut))
            assert_true(cut <= strlen(rule) + 1);
        free(part.changes);
    }
    gbx_buf_cleanup(&buf);
    return read;
}

TEST(a_rule__is_written_with_times_within_a_day)
{
    static const struct {
        const char *text;
        int32_t rule[GBX_ZONE_RULE_LEN];
    } rows[] = {
        {"CET-1CEST,M3.5.0,M10.5.0/3", {2, -1, 1, 7200, 0, 9, -1, 1, 10800, 0, 3600}},
        {"EST5EDT,M3.2.0,M11.1.0", {2, 8, -1, 7200, 0, 10, 1, -1, 7200, 0, 3600}},
        /* An hour before a day is late on the day before; later than a day, the next. */
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
         {2, 24, -7, 82800, 0, 9, -1, 1, 0, 0, 3600}},
        {"EET-2EEST,M3.4.4/50,M10.4.4/50",
         {2, 24, -7, 7200, 0, 9, 24, -7, 7200, 0, 3600}},
        {"<-04>4<-03>,M9.1.6/24,M4.1.6/24",
         {8, 1, -7, 86400, 0, 3, 1, -7, 86400, 0, 3600}},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
         {9, 1, -1, 7200, 0, 3, 1, -1, 7200, 0, 1800}},
        /* Winter time behind standard time is standard time. */
        {"IST-1GMT0,M10.5.0,M3.5.0/1", {2, -1, 1, 3600, 0, 9, -1, 1, 7200, 0, 3600}},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_zone zone;

        assert_true(read_zone(&zone, rows[i].text, 0));
        assert_true(zone.has_rule);
        assert_memory_equal(zone.rule, rows[i].rule, sizeof zone.rule);
        free(zone.changes);
    }
}

TEST(a_file__that_ends_within_the_first_year_of_its_rule_is_completed)
{
    gbx_zone zone;

    /* 2020-06-01: of that year the end of summer time is left. */
    assert_true(read_zone(&zone, "CET-1CEST,M3.5.0,M10.5.0/3", 1590969600));
    assert_int_equal(zone.count, 3);
    assert_int_equal(zone.changes[2].at, 1603587600);
    assert_int_equal(zone.rule_year, 2021);
    free(zone.changes);
}

TEST(a_file__with_a_rule_that_icu_has_not_is_not_taken)
{
    static const char *const rules[] = {
        "CET-1CEST,J60,J300",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M3.5.0,M10.5.0x",
        "CET-999CEST,M3.5.0,M10.5.0",
        "CET-1CEST,M2.5.0/-1,M10.5.0",
        "<CET-1CEST,M3.5.0,M10.5.0",
    };

    for (size_t i = 0; i < GBX_COUNTOF(rules); i++) {
        gbx_zone zone;

        assert_false(read_zone(&zone, rules[i], 0));
        free(zone.changes);
    }
}

/* A folder with a version and one zone. */
static void make_folder(const char *version)
{
    char command[256];

    assert_int_equal(scratch_begin(NULL), 0);
    (void)snprintf(command, sizeof command,
                   "cd %s && echo '# version %s' >tzdata.zi && cp " GBX_ZONES_DIR
                   "/UTC One && ln -s One Two && ln -s none Three && echo no >Four",
                   scratch, version);
    assert_int_equal(system(command), 0);
}

TEST(the_newer__of_the_machines_zones_and_the_programs_is_chosen)
{
    static const struct {
        const char *version;
        const char *more; /* what happens to the folder */
        bool is_newer;
    } rows[] = {{"1999a", "true", false},
                {"2999a", "true", true},
                {"2999a", "rm One Two", false}}; /* newer, and without a zone */

    if (access(GBX_ZONES_DIR "/UTC", R_OK) != 0)
        need_zones("");
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        char command[64];
        gbx_buf buf;

        make_folder(rows[i].version);
        (void)snprintf(command, sizeof command, "cd %s && %s", scratch, rows[i].more);
        assert_int_equal(system(command), 0);
        gbx_buf_init(&buf, GBX_ZONES_SIZE);
        assert_true(gbx_zones_choose(scratch, &buf));
        assert_int_equal(buf.len < GBX_KIB(4), rows[i].is_newer);
        gbx_buf_cleanup(&buf);
        assert_int_equal(scratch_end(NULL), 0);
    }
}

TEST(a_folder__has_its_zones_and_their_other_names)
{
    static const char *const names[] = {"Etc/Unknown", "One", "Two"};
    gbx_zones zones;

    if (access(GBX_ZONES_DIR "/UTC", R_OK) != 0)
        need_zones("");
    make_folder("2025b");
    assert_true(gbx_zones_read(scratch, &zones));
    assert_string_equal(zones.version, "2025b");
    assert_int_equal(zones.count, GBX_COUNTOF(names));
    for (size_t i = 0; i < zones.count; i++)
        assert_string_equal(zones.list[i].name, names[i]);
    assert_int_equal(zones.list[2].target, 1);
    gbx_zones_free(&zones);
    assert_int_equal(scratch_end(NULL), 0);
}

TEST_MAIN(NULL, NULL)
