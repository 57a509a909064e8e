/* SPDX-License-Identifier: MIT */
/* The parts of the client that do no I/O: lists of tools, headers, and what is kept of
 * somebody's last words. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "loaded_curl.h"
#include "mcp/upstream/internal.h"
#include "table.h"
#include "test.h"

/* ---- tools ---------------------------------------------------------------- */

static void drop_tools(gbx_tools **tools)
{
    gbx_tools_drop(*tools);
}

static gbx_view view_of(const char *text)
{
    gbx_view view;

    assert_true(gbx_view_open(text, strlen(text), &view));
    return view;
}

TEST(tools__that_cannot_be_called_are_dropped)
{
    GBX_CLEANUP(drop_tools) gbx_tools *tools = gbx_tools_new();
    gbx_view view;

    assert_true(gbx_tools_add(
        tools,
        view_of(
            "[{\"name\":\"good\",\"inputSchema\":{\"a\":1},\"x\":[1.50]},"
            "{\"name\":\"good\",\"inputSchema\":{}},{\"name\":\"\",\"inputSchema\":{}},"
            "{\"inputSchema\":{}},{\"name\":\"no schema\",\"inputSchema\":[]},7,"
            "{\"name\":\"a\\u0000b\",\"inputSchema\":{}},"
            "{\"name\":\"a\\nb\",\"inputSchema\":{}}]"),
        false, NULL));
    gbx_tools_close(tools);

    view = gbx_tools_view(tools);
    assert_int_equal(tools->count, 1);
    assert_int_equal(tools->dropped, 7);
    assert_memory_equal(view.at,
                        "[{\"name\":\"good\",\"inputSchema\":{\"a\":1},\"x\":[1.50]}]",
                        view.len);
    view = gbx_tools_member(tools, gbx_tools_find(tools, "good"), "inputSchema");
    assert_memory_equal(view.at, "{\"a\":1}", view.len);
    assert_string_equal(tools->dropped_why,
                        "7 left out, the first one that is there twice");
}

TEST(tools__without_a_schema_take_any_object)
{
    static const char list[] =
        "[{\"name\":\"a\"},{\"name\":\"b\",\"inputSchema\":null}]";
    GBX_CLEANUP(drop_tools) gbx_tools *tools = gbx_tools_new();

    assert_true(gbx_tools_add(tools, view_of(list), true, NULL));
    gbx_tools_close(tools);
    assert_int_equal(tools->count, 2);
    assert_string_equal(tools->dropped_why, "");
}

/* Each name is compared with those before it. */
TEST(tools__beyond_the_first_are_not_looked_at)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf list;
    GBX_CLEANUP(drop_tools) gbx_tools *tools = gbx_tools_new();

    gbx_buf_init(&list, GBX_MIB(1));
    for (int i = 0; i < 5000; i++)
        assert_true(
            gbx_buf_puts(&list, i > 0 ? ",{\"name\":\"a\"}" : "[{\"name\":\"a\"}"));
    assert_true(gbx_buf_puts(&list, "]"));
    assert_true(
        gbx_tools_add(tools, (gbx_view){(char *)list.data, list.len}, false, NULL));

    assert_int_equal(tools->count, 1);
    assert_int_equal(tools->dropped, 4999);
}

TEST(tools__there_twice_are_what_both_entries_say)
{
    static const char *const texts[] = {
        "[{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":true}},"
        "{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":false}}]",
        "[{\"name\":\"a\",\"annotations\":{\"destructiveHint\":true}},"
        "{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":true}}]",
        "[{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":true}},{\"name\":\"a\"}]",
        "[{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":true}},"
        "{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":true}}]",
    };

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        GBX_CLEANUP(drop_tools) gbx_tools *tools = gbx_tools_new();

        assert_true(
            gbx_tools_add(tools, (gbx_view){texts[i], strlen(texts[i])}, false, NULL));
        assert_int_equal(tools->list[0].is_reading, i == 3);
        assert_int_equal(tools->list[0].is_repeatable, i == 3);
    }
}

TEST(tools__that_are_said_to_do_more_are_not_the_same)
{
    static const char once[] =
        "[{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":true}}]";
    static const char twice[] =
        "[{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":true}},{\"name\":\"a\"}]";
    GBX_CLEANUP(drop_tools) gbx_tools *a = gbx_tools_new();
    GBX_CLEANUP(drop_tools) gbx_tools *b = gbx_tools_new();

    assert_true(gbx_tools_add(a, (gbx_view){once, strlen(once)}, false, NULL));
    assert_true(gbx_tools_add(b, (gbx_view){twice, strlen(twice)}, false, NULL));
    assert_true(gbx_tools_same(a, a));
    assert_false(gbx_tools_same(a, b));
}

TEST(tools__hints_say_what_may_be_repeated)
{
    static const char text[] =
        "[{\"name\":\"r\",\"inputSchema\":{},\"annotations\":{\"readOnlyHint\":true}},"
        "{\"name\":\"i\",\"inputSchema\":{},\"annotations\":{\"idempotentHint\":true}},"
        "{\"name\":\"w\",\"inputSchema\":{},\"annotations\":{\"readOnlyHint\":\"true\"}}]";
    GBX_CLEANUP(drop_tools) gbx_tools *tools = gbx_tools_new();

    assert_true(gbx_tools_add(tools, view_of(text), false, NULL));

    assert_true(gbx_tools_find(tools, "r")->is_repeatable);
    assert_true(gbx_tools_find(tools, "i")->is_repeatable);
    assert_false(gbx_tools_find(tools, "w")->is_repeatable);
}

/* ---- headers -------------------------------------------------------------- */

static size_t rows_of(const char *section, bool has_escapes,
                      const table_line **ret_rows)
{
    return table_lines("unit/mcp/upstream_parts.txt", section, has_escapes, ret_rows);
}

/* ---- structured content ------------------------------------------------------ */

TEST(schemas__are_what_structured_content_has_to_fit)
{
    const table_line *rows;
    size_t count = rows_of("structured", false, &rows);

    for (size_t i = 0; i < count; i++) {
        char why[256] = "fits";

        (void)gbx_schema_check(view_of(rows[i].cell[0]), view_of(rows[i].cell[1]),
                               false, why, sizeof why);
        if (strcmp(why, rows[i].cell[2]) != 0)
            fail_msg("line %u: %s", rows[i].number, why);
    }
}

/* begin, then `each` until there are so many bytes, then end. */
static gbx_buf long_text(const char *begin, const char *each, size_t bytes,
                         const char *end)
{
    gbx_buf text = {.ceiling = bytes + GBX_KIB(4)};

    (void)gbx_buf_puts(&text, begin);
    while (text.len < bytes)
        (void)gbx_buf_puts(&text, each);
    assert_true(gbx_buf_puts(&text, end));
    return text;
}

/* What costs too much is let pass, soon. */
TEST(schemas__are_checked_in_bounded_time)
{
#define DEFS "\"$defs\":{\"z\":1"
    static const struct {
        const char *schema[3];
        const char *value[3];
    } rows[] = {
        {{"{\"items\":{\"type\":\"integer\"},\"title\":\"", "a", "\"}"},
         {"[0", ",1,2,3,4,5,6,7,8,9,10", ",\"x\"]"}},
        /* each item, member or alternative looks at all of something else */
        {{"{\"items\":{\"$ref\":\"#/$defs/last\"}," DEFS, ",\"a\":{\"b\":[1,2]}",
          ",\"last\":{\"type\":\"integer\"}}}"},
         {"[0", ",1,2,3,4,5,6,7,8,9,10", ",\"x\"]"}},
        {{"{\"properties\":{\"z\":1", ",\"a\":{\"b\":[1,2]}",
          "},\"additionalProperties\":{\"type\":\"integer\"}}"},
         {"{\"a\":0", ",\"c\":1,\"d\":2", ",\"e\":\"x\"}"}},
        {{"{\"required\":[\"z\"", ",\"z\"", ",\"missing\"]}"},
         {"{\"a\":0", ",\"c\":1,\"d\":2", ",\"z\":\"x\"}"}},
        {{"{\"enum\":[\"z\"", ",\"b\",\"\\u0061\"", ",\"x\"]}"},
         {"\"x", "\\u0061xxxxxxxxx", "\""}},
        {{"{\"allOf\":[{}", ",{\"const\":\"xx\"}", "]}"},
         {"\"x", "\\u0061xxxxxxxxx", "\""}},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        const char *const *s = rows[i].schema;
        const char *const *v = rows[i].value;
        gbx_buf schema = long_text(s[0], s[1], GBX_MIB(4), s[2]);
        gbx_buf value = long_text(v[0], v[1], GBX_MIB(4), v[2]);
        int64_t start_ns = gbx_clock_now_ns();
        char why[256];

        assert_false(gbx_schema_check((gbx_view){(const char *)schema.data, schema.len},
                                      (gbx_view){(const char *)value.data, value.len},
                                      true, why, sizeof why));
        if (gbx_clock_now_ns() - start_ns > 5000 * GBX_NS_PER_MS)
            fail_msg("row %zu", i);
        gbx_buf_cleanup(&schema);
        gbx_buf_cleanup(&value);
    }
#undef DEFS
}

TEST(schema__is_sound_or_the_tool_is_not_called)
{
    const table_line *rows;
    size_t count = rows_of("schemas", false, &rows);

    for (size_t i = 0; i < count; i++)
        if (gbx_params_are_sound(view_of(rows[i].cell[0])) !=
            (strcmp(rows[i].cell[1], "true") == 0))
            fail_msg("%s", rows[i].cell[0]);
}

TEST(schema__has_at_most_so_many_headers)
{
    for (unsigned count = GBX_PARAMS_MAX; count <= GBX_PARAMS_MAX + 1; count++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = 8192};

        (void)gbx_buf_puts(&text, "{\"properties\":{");
        for (unsigned i = 0; i < count; i++)
            (void)gbx_buf_printf(&text,
                                 "%s\"p%u\":{\"type\":\"string\","
                                 "\"x-mcp-header\":\"P%u\"}",
                                 i > 0 ? "," : "", i, i);
        (void)gbx_buf_puts(&text, "}}");
        assert_true(gbx_buf_append(&text, "", 1));
        assert_int_equal(gbx_params_are_sound(view_of((const char *)text.data)),
                         count == GBX_PARAMS_MAX);
    }
}

/* ---- last words ----------------------------------------------------------- */

static void tail_text(const gbx_stderr_tail *tail, char *text, size_t size)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

    gbx_buf_init(&buf, size - 1);
    assert_true(gbx_stderr_tail_print(tail, NULL, &buf));
    memcpy(text, buf.data, buf.len);
    text[buf.len] = 0;
}

/* What Node.js writes last are frames and braces. */
TEST(tail__says_why_and_not_where)
{
    static const char node[] =
        "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\n"
        "Error: Cannot find module '/nonexistent/server.js'\n"
        "    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)\n"
        "    at Module._load (node:internal/modules/cjs/loader:1038:27)\n"
        "    at Function.executeUserEntryPoint (node:internal/modules/run_main:154:12)\n"
        "    at node:internal/main/run_main_module:28:49 {\n"
        "  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.20.2\n";
    gbx_stderr_tail tail = {.len = 0};
    char text[600];

    gbx_stderr_tail_add(&tail, node, sizeof node - 1);
    tail_text(&tail, text, sizeof text);
    assert_string_equal(
        text,
        "node:internal/modules/cjs/loader:1210 |   throw err; | Error: Cannot find module "
        "'/nonexistent/server.js' |   code: 'MODULE_NOT_FOUND', |"
        "   requireStack: [] | Node.js v20.20.2");
}

TEST(tail__keeps_the_last_lines_of_a_flood)
{
    static gbx_stderr_tail tail;
    char text[1024];
    char line[64];

    for (int i = 0; i < 10000; i++) {
        int n = snprintf(line, sizeof line, "line %d\n\n", i);

        gbx_stderr_tail_add(&tail, line, (size_t)n);
    }
    tail_text(&tail, text, sizeof text);

    assert_memory_equal(text, "line 9992 | line 9993 | ", 24);
    assert_non_null(strstr(text, " | line 9998 | line 9999"));
}

TEST(ending__is_never_longer_than_its_room)
{
    gbx_exit_status ending = {.has_status = true, .status = 3 << 8};
    char text[64];

    for (int i = 0; i < 100; i++)
        gbx_stderr_tail_add(&ending.errors, "\xc3\xa9\xff\x1b[31m\n", 9);
    gbx_exit_status_print(&ending, text, sizeof text);

    assert_true(strlen(text) < sizeof text);
    assert_memory_equal(text, "it ended with status 3; its last words: ", 40);
}

TEST(ending__says_what_may_be_meant_by_a_command_that_is_not_there)
{
    const struct {
        char *command;
        const char *hint;
    } rows[] = {
        {(char[]){"npx -y x"},
         "\"command\" is the program alone, and its arguments are \"args\""},
        {(char[]){"srv"}, "a program beside the configuration is \"./NAME\""},
        {(char[]){"/bin/srv"}, "cannot be executed: No such file or directory"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_upstream_config config = {.command = rows[i].command};
        gbx_exit_status ending = {.config = &config, .no_command = ENOENT};
        char text[256];
        size_t len;

        gbx_exit_status_print(&ending, text, sizeof text);
        len = strlen(text) - strlen(rows[i].hint);
        assert_string_equal(text + len, rows[i].hint);
    }
}

TEST(environment__of_the_configuration_comes_last)
{
    gbx_mcp_variable mine[] = {{(char[]){"HOME"}, (char[]){"/elsewhere"}},
                               {(char[]){"TOKEN"}, (char[]){"t"}}};
    gbx_mcp_upstream_config config = {.env = mine, .env_count = 2};
    char **environment;
    unsigned homes = 0;
    unsigned tokens = 0;

    assert_int_equal(setenv("HOME", "/home/me", 1), 0);
    assert_int_equal(setenv("LD_PRELOAD_OF_OURS", "x", 1), 0);
    environment = gbx_environ_new(&config);
    for (char **at = environment; *at != NULL; at++) {
        homes += strncmp(*at, "HOME=", 5) == 0;
        tokens += strcmp(*at, "TOKEN=t") == 0;
        assert_true(strncmp(*at, "HOME=", 5) != 0 ||
                    strcmp(*at, "HOME=/elsewhere") == 0);
        assert_false(strncmp(*at, "LD_", 3) == 0);
    }

    assert_int_equal(homes, 1);
    assert_int_equal(tokens, 1);
    gbx_environ_free(environment);
}

/* ---- ids ------------------------------------------------------------------ */

TEST(id__that_is_missing_is_none)
{
    int64_t id = 0;

    assert_false(gbx_id_read((gbx_view){0}, &id));
    assert_int_equal(id, 0);
}

TEST(id__may_be_written_as_text_or_with_a_fraction_of_nothing)
{
    const table_line *rows;
    size_t count = rows_of("ids", false, &rows);

    for (size_t i = 0; i < count; i++) {
        long wanted = strtol(rows[i].cell[1], NULL, 10);
        int64_t id = 0;

        assert_int_equal(gbx_id_read(view_of(rows[i].cell[0]), &id), wanted != 0);
        assert_int_equal(id, wanted);
    }
    assert_false(gbx_id_read(view_of("\"\""), &(int64_t){0}));
}

/* ---- authorization ---------------------------------------------------------- */

/* What a server and its authorization server say, and what they were asked. */
typedef struct said {
    const char *resource; /* NULL: nothing */
    const char *issuer;
    bool has_endpoints;
    gbx_buf paths; /* of what was asked of `host` */
    const char *host;
} said;

static json_t *get_said(void *user, const char *url)
{
    said *s = user;

    if (strncmp(url, s->host, strlen(s->host)) == 0)
        assert_true(gbx_buf_printf(&s->paths, "%s%s", s->paths.len > 0 ? " " : "",
                                   url + strlen(s->host)));
    if (strstr(url, "oauth-protected-resource") != NULL)
        return s->resource == NULL ? NULL
                                   : json_pack("{s:s, s:[s]}", "resource", s->resource,
                                               "authorization_servers", s->issuer);
    return s->has_endpoints
               ? json_pack("{s:s, s:s, s:s, s:[s]}", "issuer", s->issuer,
                           "authorization_endpoint", "https://as.example.com/authorize",
                           "token_endpoint", "https://as.example.com/token",
                           "code_challenge_methods_supported", "S256")
               : NULL;
}

static gbx_status discover(const char *url, said *s, gbx_error *err)
{
    gbx_oauth_metadata found = {0};
    gbx_status status;

    s->paths = (gbx_buf){.ceiling = 4096};
    status = gbx_oauth_discover(&loaded_curl, url, "Bearer", get_said, s, &found, err);
    assert_true(status != GBX_OK || !s->has_endpoints ||
                strcmp(found.issuer, s->issuer) == 0);
    gbx_oauth_metadata_cleanup(&found);
    return status;
}

TEST(resource__that_is_named_is_the_server_or_it_is_refused)
{
    const table_line *rows;
    size_t count = rows_of("resources", true, &rows);

    for (size_t i = 0; i < count; i++) {
        said s = {rows[i].cell[1], "https://as.example.com", true, {0}, "http"};
        bool is_wanted = strcmp(rows[i].cell[2], "true") == 0;
        gbx_error err = {0};

        if ((discover(rows[i].cell[0], &s, &err) == GBX_OK) != is_wanted)
            fail_msg("line %u: %s", rows[i].number, err.message);
        assert_true(is_wanted || strstr(err.message, "another server") != NULL);
        gbx_buf_cleanup(&s.paths);
    }
}

/* What is asked for if there is no document at all, or the server's alone. */
static void check_asked(const char *section, const char *resource, const char *host)
{
    const table_line *rows;
    size_t count = rows_of(section, false, &rows);

    for (size_t i = 0; i < count; i++) {
        const char *url = rows[i].cell[0];
        said s = {resource, url, false, {0}, host};
        GBX_CLEANUP(gbx_free) char *asked = NULL;
        gbx_error err = {0};

        (void)discover(resource != NULL ? resource : url, &s, &err);
        asked = gbx_buf_take_string(&s.paths, NULL);
        assert_string_equal(asked, rows[i].cell[1]);
    }
}

TEST(documents__are_asked_for_where_they_may_stand)
{
    check_asked("documents", NULL, "https://mcp.example.com");
    check_asked("issuers", "https://mcp.example.com/mcp", "https://as.example.com");
}

TEST_MAIN(curl_set_up, curl_tear_down)
