/* SPDX-License-Identifier: MIT */
/* What code gets for what a tool answers. */
#include "base/cleanup.h"
#include "mcp/code/code_mode.h"
#include "table.h"
#include "test.h"

static void keep(void *user, const char *mime_type, const void *data, size_t len,
                 gbx_buf *handle)
{
    assert_memory_equal(data, "hi", len);
    (void)gbx_buf_printf(handle, "{\"kept\":\"%s\",\"bytes\":%zu}", mime_type, len);
}

static bool value_of(gbx_view result, const gbx_value_keeper *keeper, gbx_buf *value,
                     gbx_buf *message)
{
    const gbx_value_parts parts = gbx_value_parts_of(result);

    return gbx_value_of_result(&parts, keeper, value, message);
}

static bool has_more(gbx_view result)
{
    const gbx_value_parts parts = gbx_value_parts_of(result);

    return gbx_value_has_more(&parts);
}

static void answer(gbx_view result, char to[4096])
{
    const gbx_value_keeper keeper = {keep, NULL};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf value;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message;
    bool ok;

    gbx_buf_init(&value, 1 << 16);
    gbx_buf_init(&message, 1 << 16);
    ok = value_of(result, &keeper, &value, &message);
    (void)snprintf(to, 4096, "%s%.*s", ok ? "" : "!",
                   (int)(ok ? value.len : message.len),
                   (const char *)(ok ? value.data : message.data));
}

static bool check_case(char *head, char *text, size_t len)
{
    const char *kind = table_word(&head, " ");
    char got[4096];
    gbx_view view;

    assert_true(gbx_view_open(text, len, &view));
    if (strcmp(kind, "value") == 0)
        answer(view, got);
    else if (strcmp(kind, "more") == 0)
        (void)strcpy(got, has_more(view) ? "yes" : "no");
    else
        gbx_value_sketch(view, got);
    if (strcmp(got, head) == 0)
        return true;
    print_error("%s\n  expected %s\n  was      %s\n", text, head, got);
    return false;
}

TEST(results__are_data_text_or_an_error)
{
    table_check("unit/code/values.txt", check_case, 66);
}

/* What a program printed before it failed is long; why it failed stands at its end. */
TEST(errors__that_are_long_keep_head_and_tail)
{
    const gbx_value_keeper keeper = {keep, NULL};
    static const char begin[] =
        "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"";
    static const char end[] = "the cause\"}]}";
    static char result[10000];
    gbx_buf to, message;
    gbx_view view;

    memset(result, 'E', sizeof result);
    memcpy(result, begin, sizeof begin - 1);
    memcpy(result + sizeof result - (sizeof end - 1), end, sizeof end - 1);
    gbx_buf_init(&to, 1 << 16);
    gbx_buf_init(&message, 1 << 16);
    assert_true(gbx_view_open(result, sizeof result, &view));
    assert_false(value_of(view, &keeper, &to, &message));
    (void)gbx_buf_append(&message, "", 1);

    assert_memory_equal(message.data, "EEEE", 4);
    assert_non_null(strstr((char *)message.data, "E [... 5850 bytes ...] E"));
    assert_string_equal(message.data + message.len - 10, "the cause");
    gbx_buf_cleanup(&to);
    gbx_buf_cleanup(&message);
}

TEST_MAIN(NULL, NULL)
