/* SPDX-License-Identifier: MIT */
/* The manual of the security log has every event, each with a line that could be one. */
#include "audit/audit.h"
#include "audit_text.h"
#include "test.h"

static char manual[64 * 1024];

static int read_manual(void **state)
{
    FILE *f = fopen(GBX_MANUAL, "r");
    size_t n;

    if (f == NULL)
        return -1;
    n = fread(manual, 1, sizeof manual - 1, f);
    (void)fclose(f);
    return n > 0 && n < sizeof manual - 1 ? 0 : -1;
}

/* From the heading of an event to the next heading; in a buffer that is reused. */
static const char *section_of(const char *event)
{
    static char section[8192];
    char heading[64];
    const char *at;
    const char *end;

    (void)snprintf(heading, sizeof heading, "\n### %s\n", event);
    at = strstr(manual, heading);
    if (at == NULL)
        fail_msg("no section for %s", event);
    end = strstr(at + 1, "\n### ");
    (void)snprintf(section, sizeof section, "%.*s",
                   (int)(end != NULL ? end - at : (long)strlen(at)), at);
    return section;
}

TEST(manual__lists_every_event)
{
    static const char *const heard[] = {"", "log", "callback", "log, callback"};
    static const char *const texts[] = {
#define XX(name, text, who, what) what,
        GBX_AUDIT_MAP(XX)
#undef XX
    };

    for (unsigned i = 0; i < GBX_AUDIT_EVENT_COUNT; i++) {
        gbx_audit_event event = (gbx_audit_event)i;
        size_t who = (gbx_audit_is_for(event, GBX_AUDIT_LOG) ? 1u : 0u) |
                     (gbx_audit_is_for(event, GBX_AUDIT_EVENT) ? 2u : 0u);
        char row[256];

        (void)snprintf(row, sizeof row, "\n| `%s` | %s | %s |\n", gbx_audit_name(event),
                       heard[who], texts[event]);
        if (strstr(manual, row) == NULL)
            fail_msg("the manual lacks this row: %s", row);
        (void)section_of(gbx_audit_name(event));
    }
}

/* Every field of the example is explained, in the section or for all lines. */
static void check_fields(const char *event, json_t *line, const char *section)
{
    const char *key;
    json_t *value;

    json_object_foreach(line, key, value)
    {
        char quoted[64];
        char row[64];

        (void)snprintf(quoted, sizeof quoted, "`%s`", key);
        (void)snprintf(row, sizeof row, "\n| `%s` | ", key);
        if (strstr(section, quoted) == NULL && strstr(manual, row) == NULL &&
            !(strcmp(event, "host.refused") == 0 &&
              strstr(section_of("host.call"), quoted) != NULL))
            fail_msg("%s: the field %s is not explained", event, key);
    }
}

TEST(manual__has_a_line_of_each_event)
{
    for (unsigned i = 0; i < GBX_AUDIT_EVENT_COUNT; i++) {
        gbx_audit_event event = (gbx_audit_event)i;
        const char *name = gbx_audit_name(event);
        char *section = strdup(section_of(name));
        char *at;
        char *end;
        json_t *line;

        assert_non_null(section);
        at = strstr(section, "\n```json\n");
        if (!gbx_audit_is_for(event, GBX_AUDIT_LOG)) {
            assert_null(at);
            free(section);
            continue;
        }
        if (at == NULL)
            fail_msg("%s has no example", name);
        at += strlen("\n```json\n");
        end = strchr(at, '\n');
        assert_non_null(end);
        assert_memory_equal(end, "\n```\n", 5);
        line = json_loadb(at, (size_t)(end - at), 0, NULL);
        if (line == NULL)
            fail_msg("the example of %s is no JSON", name);
        assert_string_equal(json_string_value(json_object_get(line, "event")), name);
        check_fields(name, line, section);
        json_decref(line);
        free(section);
    }
}

TEST(manual__lists_what_counts_towards_suspicion)
{
    static const char *const rows[] = {
#define XX(name, text, weight, what) "| `" text "` | " what,
        GBX_SUSPECT_MAP(XX)
#undef XX
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strstr(section_of("suspicious"), rows[i]) == NULL)
            fail_msg("the manual lacks this row: %s", rows[i]);
}

TEST_MAIN(read_manual, NULL)
