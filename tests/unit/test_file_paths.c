/* SPDX-License-Identifier: MIT */
/*
 * file_paths - what code in the box may write for a path, and what it gets: file/paths.txt.
 *
 * Of every answer it is also checked that nothing in it is of a file that is not listed.
 */
#include "base/cleanup.h"
#include "file_tree.h"
#include "scratch.h"
#include "table.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#define X16(s)  s s s s s s s s s s s s s s s s
#define X256(s) X16(X16(s))

typedef struct row {
    const char *name;
    const char *path; /* a leading '$' is the folder above the listed ones */
    const char *code; /* NULL: it is read */
    const char *text; /* the contents; of a failure, what its message ends in */
} row;

/* What a table cannot show. */
static const row rows[] = {
    {"a file of exactly the limit is read", "exact", NULL, X256("ffffffff")},
    {"a name with a newline is read", "new\nline", NULL, "newline"},
    {"a name with an escape sequence is read", "\x1B[31mred", NULL, "red"},
    {"a name of 255 bytes is read", X16("nnnnnnnnnnnnnnn") "nnnnnnnnnnnnnnn", NULL,
     "long"},
    {"a name of 256 bytes is too long", X256("n"), "ENAMETOOLONG",
     "has a name that is too long"},
    {"a decomposed letter is another name", "cafe\xCC\x81", "ENOENT", "does not exist"},
    {"U+2215 is no slash",
     "sub\xE2\x88\x95"
     "b.txt",
     "ENOENT", "does not exist"},
    {"U+FF0F is no slash", "..\xEF\xBC\x8Foutside\xEF\xBC\x8Fsecret.txt", "ENOENT",
     "does not exist"},
    {"U+FF0E is no dot", "\xEF\xBC\x8E\xEF\xBC\x8E/outside/secret.txt", "ENOENT",
     "does not exist"},
    {"U+2024 is no dot", "\xE2\x80\xA4\xE2\x80\xA4/outside/secret.txt", "ENOENT",
     "does not exist"},
    {"what is not Unicode is no path", "\xFF\xFE", "ERR_INVALID_ARG_VALUE",
     "must be text, without NUL and without half characters"},
    {"an overlong slash is no path", "..\xC0\xAFoutside", "ERR_INVALID_ARG_VALUE",
     "must be text, without NUL and without half characters"},
    {"the replacement character is in no path", "\xEF\xBF\xBD", "ERR_INVALID_ARG_VALUE",
     "must be text, without NUL and without half characters"},
};

/* A path that ends in "/x" below TOP is written with TOP. */
static void write_path(const char *path, char *to, size_t size)
{
    int n = path[0] == '$' ? snprintf(to, size, "%s%s", scratch, path + 1)
                           : snprintf(to, size, "%s", path);

    assert_true(n >= 0 && (size_t)n < size);
}

/* What a claim needs that is not here; NULL: nothing. */
static const char *missing(const char *claim)
{
    struct stat st;

    if (strstr(claim, "(needs root)") != NULL && geteuid() != 0)
        return "it is about root";
    if (strstr(claim, "(needs user)") != NULL && geteuid() == 0)
        return "root may read everything";
    if (strstr(claim, "(needs node)") != NULL &&
        stat(scratch_path("data/zero"), &st) != 0)
        return "devices cannot be made here";
    return NULL;
}

static bool ends_in(gbx_span span, const char *text)
{
    size_t len = strlen(text);

    return span.len >= len && memcmp(span.data + span.len - len, text, len) == 0;
}

static void check(const row *r)
{
    gbx_msg_answer answer = {.id = 77};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;
    char path[5000];

    write_path(r->path, path, sizeof path);
    tree_read(tree_listing, path, &bytes, &answer);

    if (!tree_has_code(&answer, r->code != NULL ? r->code : ""))
        fail_msg("%s: code is '%.*s'", r->name, (int)answer.code.len,
                 (const char *)answer.code.data);
    if (answer.is_error != 0) {
        if (!ends_in(answer.message, r->text))
            fail_msg("%s: message is '%.*s'", r->name, (int)answer.message.len,
                     (const char *)answer.message.data);
        assert_memory_equal(answer.message.data, "fs.readFile: ", 13);
        assert_int_equal(answer.bytes.len, 0);
    } else {
        assert_int_equal(answer.bytes.len, strlen(r->text));
        assert_true(ends_in(answer.bytes, r->text));
    }
    assert_int_equal(answer.id, 77);
    assert_int_equal(answer.json.len, 0);
    assert_null(memmem(bytes.data, bytes.len, TREE_CANARY, strlen(TREE_CANARY)));
}

static bool check_case(char *claim, char *text, size_t len)
{
    row r = {.name = claim, .path = table_word(&text, "\n")};
    const char *code = table_word(&text, " ");

    assert_true(len > 0);
    if (missing(claim) != NULL) {
        print_message("skipped, %s: %s\n", missing(claim), claim);
        return true;
    }
    r.code = strcmp(code, "reads") == 0 ? NULL : code;
    r.text = text;
    check(&r);
    return true;
}

TEST(paths__are_read_or_refused_as_the_table_says)
{
    table_check("unit/file/paths.txt", check_case, 91);
}

TEST(paths__that_a_table_cannot_show_are_read_or_refused)
{
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
        check(&rows[i]);
}

int main(void)
{
    if (!tree_can_be_read())
        return 77;
    return tests_run(tree_begin, tree_end);
}
