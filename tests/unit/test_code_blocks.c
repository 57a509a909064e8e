/* SPDX-License-Identifier: MIT */
/* What a client is given of a tool's content: blocks that it knows, and not too much. */
#include "base/cleanup.h"
#include "mcp/code/code_mode.h"
#include "table.h"
#include "test.h"

#define ROOM 2000

typedef struct world {
    gbx_artifacts *store;
    gbx_buf blocks;
    gbx_buf left_out;
    const char *version; /* of the client */
} world;

static world its;
static world *const w = &its;

static int set_up(void **state)
{
    *w = (world){0};
    w->store = gbx_artifacts_new(10 << 20, 1000);
    gbx_buf_init(&w->blocks, 16 << 20);
    gbx_buf_init(&w->left_out, 4096);
    w->version = "2026-07-28";
    return 0;
}

static int tear_down(void **state)
{
    gbx_artifacts_free(w->store);
    gbx_buf_cleanup(&w->blocks);
    gbx_buf_cleanup(&w->left_out);
    return 0;
}

/* The blocks for that content, as a text. */
static const char *write_blocks(const char *content, size_t len)
{
    gbx_blocks_room room = {.max = ROOM,
                            .store = w->store,
                            .name = "tool",
                            .version = w->version};
    gbx_view view;

    assert_true(gbx_view_open(content, len, &view));
    w->blocks.len = w->left_out.len = 0;
    assert_true(gbx_buf_puts(&w->blocks, "["));
    gbx_blocks_write(view, &room, &w->blocks, &w->left_out);
    assert_true(gbx_buf_append(&w->blocks, "", 1));
    assert_true(gbx_buf_append(&w->left_out, "", 1));
    return (const char *)w->blocks.data;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        count++;
    }
    return count;
}

static void check_block(const char *given, const char *shown)
{
    char content[256];

    (void)snprintf(content, sizeof content, "[%s]", given);
    assert_string_equal(write_blocks(content, strlen(content)) + 1, shown);
}

/* ---- each block ------------------------------------------------------------------ */

static size_t rows_of(const char *section, bool has_escapes,
                      const table_line **ret_rows)
{
    return table_lines("unit/code/blocks.txt", section, has_escapes, ret_rows);
}

TEST_WITH(set_up, tear_down, block__that_is_known_stays_as_it_is)
{
    const table_line *rows;
    size_t count = rows_of("known", false, &rows);

    for (size_t i = 0; i < count; i++)
        check_block(rows[i].cell[0], rows[i].cell[0]);
}

TEST_WITH(set_up, tear_down, block__shows_what_nobody_sees_in_its_text)
{
    const table_line *rows;
    size_t count = rows_of("hidden", true, &rows);

    for (size_t i = 0; i < count; i++)
        check_block(rows[i].cell[0], rows[i].cell[1]);
}

TEST_WITH(set_up, tear_down, block__has_its_data_in_whole_groups)
{
    static const char *const written[] = {"AAEC\\nAAE=\\n", "AAECAAE", "AAEC\\u0041AE"};
    static const char image[] =
        "{\"type\":\"image\",\"data\":\"%s\",\"mimeType\":\"a/b\"}";
    char given[256];
    char shown[256];

    (void)snprintf(shown, sizeof shown, image, "AAECAAE=");
    for (size_t i = 0; i < GBX_COUNTOF(written); i++) {
        (void)snprintf(given, sizeof given, image, written[i]);
        check_block(given, shown);
    }
}

TEST_WITH(set_up, tear_down, block__that_no_client_knows_becomes_text)
{
    const table_line *rows;
    size_t count = rows_of("unknown", false, &rows);

    for (size_t i = 0; i < count; i++) {
        char content[256];
        const char *blocks;

        (void)snprintf(content, sizeof content, "[%s]", rows[i].cell[0]);
        blocks = write_blocks(content, strlen(content));
        assert_int_equal(strncmp(blocks, "[{\"type\":\"text\",\"text\":\"", 24), 0);
        assert_int_equal(count_of(blocks, "\"type\":\""), 1);
    }
}

TEST_WITH(set_up, tear_down, block__that_a_version_does_not_have_becomes_text)
{
    static const struct {
        const char *version;
        size_t texts;
        size_t audio;
        size_t links;
    } rows[] = {{"2024-11-05", 2, 0, 0},
                {"2025-03-26", 1, 1, 0},
                {"2025-06-18", 0, 1, 1}};
    static const char content[] =
        "[{\"type\":\"audio\",\"data\":\"AAEC\",\"mimeType\":\"audio/wav\"},"
        "{\"type\":\"resource_link\",\"uri\":\"u:a\",\"name\":\"n\"}]";

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *blocks;

        w->version = rows[i].version;
        blocks = write_blocks(content, sizeof content - 1);
        assert_int_equal(count_of(blocks, "{\"type\":\"text\""), rows[i].texts);
        assert_int_equal(count_of(blocks, "{\"type\":\"audio\""), rows[i].audio);
        assert_int_equal(count_of(blocks, "{\"type\":\"resource_link\""),
                         rows[i].links);
    }
}

TEST_WITH(set_up, tear_down, block__loses_the_members_that_are_not_as_they_must_be)
{
    static const char content[] =
        "[{\"type\":\"text\",\"text\":\"a\",\"text\":5,\"other\":1,\"_meta\":2,"
        "\"annotations\":{\"audience\":[\"all\"],\"priority\":7,\"x\":1}},"
        "{\"type\":\"resource_link\",\"uri\":\"u:a\",\"name\":\"n\",\"size\":1e999,"
        "\"title\":null,\"icons\":5},"
        "{\"type\":\"text\",\"text\":\"b\",\"annotations\":{\"priority\":10}},"
        "{\"type\":\"text\",\"text\":\"c\",\"annotations\":{\"priority\":1.1}},"
        "{\"type\":\"text\",\"text\":\"d\",\"annotations\":{\"priority\":1.0}}]";

    assert_string_equal(write_blocks(content, sizeof content - 1),
                        "[{\"type\":\"text\",\"text\":\"a\",\"annotations\":{}},"
                        "{\"type\":\"resource_link\",\"uri\":\"u:a\",\"name\":\"n\"},"
                        "{\"type\":\"text\",\"text\":\"b\",\"annotations\":{}},"
                        "{\"type\":\"text\",\"text\":\"c\",\"annotations\":{}},"
                        "{\"type\":\"text\",\"text\":\"d\",\"annotations\":"
                        "{\"priority\":1.0}}");
}

/* ---- all of them ----------------------------------------------------------------- */

/* "[BLOCK,BLOCK...]"; free() it. */
static char *repeat(const char *block, size_t count, size_t *ret_len)
{
    size_t len = strlen(block);
    char *text = malloc(count * (len + 1) + 1);

    text[0] = '[';
    for (size_t i = 0; i < count; i++) {
        memcpy(text + 1 + i * (len + 1), block, len);
        text[(i + 1) * (len + 1)] = i + 1 < count ? ',' : ']';
    }
    *ret_len = count * (len + 1) + 1;
    return text;
}

TEST_WITH(set_up, tear_down, blocks__that_are_many_are_cut_as_one_text)
{
    size_t len;
    char *content = repeat("{\"type\":\"text\",\"text\":\"x\"}", 100000, &len);
    const char *blocks = write_blocks(content, len);

    free(content);
    assert_true(strlen(blocks) < ROOM * 2);
    assert_int_equal(count_of(blocks, "\"type\":\"text\""), 1);
    assert_int_equal(count_of(blocks, "\"type\":\"resource_link\""), 1);
    assert_int_equal(count_of((char *)w->left_out.data, "result cut"), 1);
    assert_non_null(strstr((char *)w->left_out.data, "of 199999 bytes are shown"));
}

TEST_WITH(set_up, tear_down, blocks__are_bounded_wherever_their_bytes_are)
{
    static const char *const forms[][2] = {
        {"{\"type\":\"resource\",\"resource\":{\"uri\":\"u:a\",\"text\":\"", "\"}}"},
        {"{\"type\":\"resource\",\"resource\":{\"blob\":\"AAEC\",\"uri\":\"", "\"}}"},
        {"{\"type\":\"image\",\"data\":\"AAEC\",\"mimeType\":\"", "\"}"},
        {"{\"type\":\"text\",\"text\":\"a\",\"_meta\":{\"a\":\"", "\"}}"},
        {"{\"type\":\"text\",\"text\":\"a\",\"other\":\"", "\"}"},
        {"{\"type\":\"resource_link\",\"name\":\"n\",\"uri\":\"", "\"}"},
        {"{\"type\":\"video\",\"data\":\"", "\"}"},
        {"\"", "\""},
    };
    static char filler[100001];
    static char content[110000];

    memset(filler, 'x', sizeof filler - 1);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int len = snprintf(content, sizeof content, "[%s%s%s]", forms[i][0], filler,
                           forms[i][1]);

        assert_true(strlen(write_blocks(content, (size_t)len)) < ROOM * 2);
    }
}

TEST_WITH(set_up, tear_down, blocks__of_images_are_whole_or_counted)
{
    static char data[40001];
    static char content[41000];
    size_t len;
    char *many;

    memset(data, 'A', sizeof data - 1);
    (void)snprintf(content, sizeof content,
                   "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\","
                   "\"mimeType\":\"image/png\",\"data\":\"%s\"}]",
                   data);
    assert_int_equal(count_of(write_blocks(content, strlen(content)),
                              "\"type\":\"image\""),
                     1);
    assert_int_equal(w->left_out.len, 1);

    many = repeat("{\"type\":\"image\",\"data\":\"AAEC\",\"mimeType\":\"image/png\"}",
                  500, &len);
    assert_true(strlen(write_blocks(many, len)) < ROOM);
    free(many);
    assert_non_null(
        strstr((char *)w->left_out.data, " more images or files are left out"));
}

TEST(blocks__that_get_no_memory_at_all_have_failed)
{
    static const char content[] = "[{\"type\":\"text\",\"text\":\"a\"}]";
    gbx_blocks_room room = {.max = ROOM, .name = "tool", .version = "2026-07-28"};
    gbx_view view;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf none;

    gbx_buf_init(&none, 1);
    assert_true(gbx_view_open(content, sizeof content - 1, &view));

    gbx_blocks_write(view, &room, &none, &none);

    assert_true(none.failed);
}

TEST_MAIN(NULL, NULL)
