/* SPDX-License-Identifier: MIT */
/*
 * file_paths - one path a line: what code in the box may write, and what it gets.
 *
 * Of every answer it is also checked that nothing in it is of a file that is not listed.
 */
#include "file_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NOT_ALLOWED "ERR_FILE_NOT_ALLOWED"
#define OUTSIDE     "is not below a listed directory"
#define LINK        "is or goes through a symbolic link"
#define KIND        "is not a regular file"

#define X16(s)  s s s s s s s s s s s s s s s s
#define X256(s) X16(X16(s))

typedef enum need { ANYONE, ROOT, USER, NODE } need;

typedef struct row {
    const char *name;
    const char *path; /* a leading '$' is the folder above the listed ones */
    const char *code; /* "": it is read */
    const char *text; /* the contents; of a failure, what its message ends in */
    need need;
} row;

static file_tree tree;

static const row rows[] = {
    /* What is allowed, in each way of saying it. */
    {"a name below a listed directory is read", "a.txt", "", "alpha", ANYONE},
    {"a name some folders down is read", "sub/deep/c.txt", "", "gamma", ANYONE},
    {"a leading './' counts for nothing", "./a.txt", "", "alpha", ANYONE},
    {"the directory may be named as the policy wrote it", "./data/a.txt", "", "alpha",
     ANYONE},
    {"the directory may be named without './'", "data/a.txt", "", "alpha", ANYONE},
    {"the rest below the directory's name comes first", "data/data/a.txt", "",
     "inner alpha", ANYONE},
    {"a folder of the directory's name is found too", "data/inner.txt", "", "inner",
     ANYONE},
    {"an absolute directory may be named so", "$/more/only.txt", "", "only here",
     ANYONE},
    {"repeated slashes and dots count for nothing", "$//more/.//./only.txt", "",
     "only here", ANYONE},
    {"the first directory that has it answers", "a.txt", "", "alpha", ANYONE},
    {"the second directory is looked into", "only.txt", "", "only here", ANYONE},
    {"of two directories without it the first one's word is given",
     "sub/deep/../../only.txt", "ENOENT", "does not exist", ANYONE},
    {"'..' inside the directory is allowed", "sub/../a.txt", "", "alpha", ANYONE},
    {"an empty file is no bytes", "empty", "", "", ANYONE},
    {"a file of exactly the limit is read", "exact", "", X256("ffffffff"), ANYONE},
    {"a name with a space is read", "with space", "", "space", ANYONE},
    {"a name with a newline is read", "new\nline", "", "newline", ANYONE},
    {"a name with an escape sequence is read", "\x1B[31mred", "", "red", ANYONE},
    {"a name of 255 bytes is read", X16("nnnnnnnnnnnnnnn") "nnnnnnnnnnnnnnn", "",
     "long", ANYONE},
    {"a name of three dots is a name", "...", "", "three dots", ANYONE},
    {"a composed letter is read as it is written", "caf\xC3\xA9", "", "composed",
     ANYONE},
    {"a device name of another system is a name", "con", "", "con", ANYONE},
    {"a dot at the end is part of the name", "dot.", "", "dot", ANYONE},

    /* Climbing out. */
    {"climbing to /etc/passwd is refused", "../../etc/passwd", NOT_ALLOWED, OUTSIDE,
     ANYONE},
    {"climbing to a neighbour is refused", "../outside/secret.txt", NOT_ALLOWED,
     OUTSIDE, ANYONE},
    {"going down and further up is refused", "sub/../../outside/secret.txt",
     NOT_ALLOWED, OUTSIDE, ANYONE},
    {"climbing behind the directory's name is refused", "./data/../outside/secret.txt",
     NOT_ALLOWED, OUTSIDE, ANYONE},
    {"climbing behind an absolute directory is refused", "$/more/../outside/secret.txt",
     NOT_ALLOWED, OUTSIDE, ANYONE},
    {"out and in again is refused", "../data/a.txt", NOT_ALLOWED, OUTSIDE, ANYONE},
    {"'..' alone is refused", "..", NOT_ALLOWED, OUTSIDE, ANYONE},
    {"'../' is refused", "../", NOT_ALLOWED, OUTSIDE, ANYONE},
    {"what does not exist outside is refused in the same words", "../outside/nothing",
     NOT_ALLOWED, OUTSIDE, ANYONE},
    {"a folder outside is refused in the same words", "../outside", NOT_ALLOWED,
     OUTSIDE, ANYONE},
    {"climbing past the root of the system is refused", X16("../") "etc/passwd",
     NOT_ALLOWED, OUTSIDE, ANYONE},
    {"percent escapes are part of a name", "..%2Foutside%2Fsecret.txt", "ENOENT",
     "does not exist", ANYONE},
    {"overlong '..' forms are part of a name", "..;/outside/secret.txt", "ENOENT",
     "does not exist", ANYONE},

    /* Absolute paths. */
    {"/etc/passwd is refused", "/etc/passwd", NOT_ALLOWED, OUTSIDE, ANYONE},
    {"an absolute path to a relative directory is refused", "$/data/a.txt", NOT_ALLOWED,
     OUTSIDE, ANYONE},
    {"a relative directory is not below '/'", "/data/a.txt", NOT_ALLOWED, OUTSIDE,
     ANYONE},
    {"an absolute path outside is refused", "$/outside/secret.txt", NOT_ALLOWED,
     OUTSIDE, ANYONE},
    {"a directory whose name begins like a listed one is refused", "$/more2/a.txt",
     NOT_ALLOWED, OUTSIDE, ANYONE},
    {"half the name of a listed directory is refused", "$/mor", NOT_ALLOWED, OUTSIDE,
     ANYONE},
    {"'/' is refused", "/", NOT_ALLOWED, OUTSIDE, ANYONE},
    {"a second root inside an absolute path is a name", "$/more//etc/passwd", "ENOENT",
     "does not exist", ANYONE},
    {"/proc/self/environ is refused", "/proc/self/environ", NOT_ALLOWED, OUTSIDE,
     ANYONE},
    {"/proc/self/root is refused", "/proc/self/root/etc/passwd", NOT_ALLOWED, OUTSIDE,
     ANYONE},
    {"/proc/self/fd/0 is refused", "/proc/self/fd/0", NOT_ALLOWED, OUTSIDE, ANYONE},
    {"/dev/zero is refused", "/dev/zero", NOT_ALLOWED, OUTSIDE, ANYONE},
    {"/dev/stdin is refused", "/dev/stdin", NOT_ALLOWED, OUTSIDE, ANYONE},
    {"a file URL is a name", "file:///etc/passwd", "ENOENT", "does not exist", ANYONE},
    {"'~' is a name", "~/.ssh/id_rsa", "ENOENT", "does not exist", ANYONE},
    {"a network share is an absolute path", "//server/share", NOT_ALLOWED, OUTSIDE,
     ANYONE},

    /* Links. */
    {"a link to a file inside is refused", "link-inside", NOT_ALLOWED, LINK, ANYONE},
    {"a link in the second directory is refused", "link", NOT_ALLOWED, LINK, ANYONE},
    {"a link in the first directory hides a file in the second", "./link-inside",
     NOT_ALLOWED, LINK, ANYONE},
    {"a link to a folder inside is refused", "link-folder/b.txt", NOT_ALLOWED, LINK,
     ANYONE},
    {"a link to a file outside is refused", "link-out", NOT_ALLOWED, LINK, ANYONE},
    {"a link to a folder outside is refused", "link-out-folder/secret.txt", NOT_ALLOWED,
     LINK, ANYONE},
    {"a link to a folder outside tells nothing of it", "link-out-folder/nothing",
     NOT_ALLOWED, LINK, ANYONE},
    {"a link to /etc/passwd is refused", "link-passwd", NOT_ALLOWED, LINK, ANYONE},
    {"a link to / is refused", "link-root/etc/passwd", NOT_ALLOWED, LINK, ANYONE},
    {"a link with a slash behind it is refused", "link-out-folder/", NOT_ALLOWED, LINK,
     ANYONE},
    {"a link and '..' behind it is refused", "link-folder/../a.txt", NOT_ALLOWED, LINK,
     ANYONE},
    {"a link to itself is refused", "link-loop", NOT_ALLOWED, LINK, ANYONE},
    {"a link to nothing is refused like any other", "link-dangling", NOT_ALLOWED, LINK,
     ANYONE},
    {"a chain of 41 links is refused", "chain-41", NOT_ALLOWED, LINK, ANYONE},
    {"a link to /proc/self/root is refused", "link-magic-root/etc/passwd", NOT_ALLOWED,
     LINK, ANYONE},
    {"a link to a descriptor is refused", "link-magic-fd", NOT_ALLOWED, LINK, ANYONE},
    {"a link in an absolute directory is refused", "$/more/link", NOT_ALLOWED, LINK,
     ANYONE},

    /* What is no regular file. */
    {"a folder is a directory", "sub", "EISDIR", "is a directory", ANYONE},
    {"a folder with a slash is a directory", "sub/", "EISDIR", "is a directory",
     ANYONE},
    {"'.' is a directory", ".", "EISDIR", "is a directory", ANYONE},
    {"'./' is a directory", "./", "EISDIR", "is a directory", ANYONE},
    {"the directory itself is a directory", "./data", "EISDIR", "is a directory",
     ANYONE},
    {"an absolute directory itself is a directory", "$/more/", "EISDIR",
     "is a directory", ANYONE},
    {"a FIFO is refused without waiting", "fifo", NOT_ALLOWED, KIND, ANYONE},
    {"a socket is refused", "socket", NOT_ALLOWED, KIND, ANYONE},
    {"a character device is refused", "zero", NOT_ALLOWED, KIND, NODE},
    {"a block device is refused", "disk", NOT_ALLOWED, KIND, NODE},
    {"the policy's own file is refused", "policy.json", NOT_ALLOWED, OUTSIDE, ANYONE},

    /* What cannot be had. */
    {"a missing file does not exist", "nothing", "ENOENT", "does not exist", ANYONE},
    {"a missing folder does not exist", "nothing/a.txt", "ENOENT", "does not exist",
     ANYONE},
    {"a slash behind a file is no folder", "a.txt/", "ENOTDIR",
     "does not exist: a part of the path is a file", ANYONE},
    {"a file is no folder", "a.txt/x", "ENOTDIR",
     "does not exist: a part of the path is a file", ANYONE},
    {"a file that others may not read is refused", "locked", "EACCES",
     "permission denied", USER},
    {"root reads what root may read", "locked", "", "locked", ROOT},
    {"a file larger than the limit is refused", "one-more", "ERR_FILE_TOO_LARGE",
     "is larger than the limit of 2048 bytes", ANYONE},
    {"a name of 256 bytes is too long", X256("n"), "ENAMETOOLONG",
     "has a name that is too long", ANYONE},

    /* What is no path. */
    {"an empty path does not exist", "", "ENOENT", "the \"path\" argument is empty",
     ANYONE},
    {"a drive letter with a backslash is refused", "C:\\Windows\\win.ini",
     "ERR_INVALID_ARG_VALUE", "has a backslash: write '/' between names", ANYONE},
    {"a share with backslashes is refused", "\\\\server\\share",
     "ERR_INVALID_ARG_VALUE", "has a backslash: write '/' between names", ANYONE},
    {"climbing with backslashes is refused", "..\\outside\\secret.txt",
     "ERR_INVALID_ARG_VALUE", "has a backslash: write '/' between names", ANYONE},
    {"a backslash is refused even if there is such a file", "back\\slash",
     "ERR_INVALID_ARG_VALUE", "has a backslash: write '/' between names", ANYONE},
    {"a drive letter is a name", "C:/a.txt", "ENOENT", "does not exist", ANYONE},
    {"another system's device is a name", "aux", "ENOENT", "does not exist", ANYONE},
    {"another case is another name", "A.TXT", "ENOENT", "does not exist", ANYONE},
    {"a decomposed letter is another name", "cafe\xCC\x81", "ENOENT", "does not exist",
     ANYONE},
    {"U+2215 is no slash",
     "sub\xE2\x88\x95"
     "b.txt",
     "ENOENT", "does not exist", ANYONE},
    {"U+FF0F is no slash", "..\xEF\xBC\x8Foutside\xEF\xBC\x8Fsecret.txt", "ENOENT",
     "does not exist", ANYONE},
    {"U+FF0E is no dot", "\xEF\xBC\x8E\xEF\xBC\x8E/outside/secret.txt", "ENOENT",
     "does not exist", ANYONE},
    {"U+2024 is no dot", "\xE2\x80\xA4\xE2\x80\xA4/outside/secret.txt", "ENOENT",
     "does not exist", ANYONE},
    {"what is not Unicode is no path", "\xFF\xFE", "ERR_INVALID_ARG_VALUE",
     "must be text, without NUL and without half characters", ANYONE},
    {"an overlong slash is no path", "..\xC0\xAFoutside", "ERR_INVALID_ARG_VALUE",
     "must be text, without NUL and without half characters", ANYONE},
    {"the replacement character is in no path", "\xEF\xBF\xBD", "ERR_INVALID_ARG_VALUE",
     "must be text, without NUL and without half characters", ANYONE},
};

/* A path that ends in "/x" below TOP is written with TOP. */
static void write_path(const char *path, char *to, size_t size)
{
    int n = path[0] == '$' ? snprintf(to, size, "%s%s", tree.top, path + 1)
                           : snprintf(to, size, "%s", path);

    assert_true(n >= 0 && (size_t)n < size);
}

static const char *missing(const row *r)
{
    struct stat st;

    if (r->need == ROOT && geteuid() != 0)
        return "it is about root";
    if (r->need == USER && geteuid() == 0)
        return "root may read everything";
    if (r->need == NODE && stat(tree_path(&tree, "data/zero"), &st) != 0)
        return "devices cannot be made here";
    return NULL;
}

static bool ends_in(gbx_span span, const char *text)
{
    size_t len = strlen(text);

    return span.len >= len && memcmp(span.data + span.len - len, text, len) == 0;
}

static void check_row(void **state)
{
    const row *r = *state;
    gbx_msg_answer answer = {.id = 77};
    gbx_buf bytes;
    char path[5000];

    if (missing(r) != NULL) {
        print_message("skipped, %s: %s\n", missing(r), r->name);
        skip();
    }
    write_path(r->path, path, sizeof path);
    tree_read(tree.policy, path, &bytes, &answer);

    if (!tree_has_code(&answer, r->code))
        fail_msg("code is '%.*s'", (int)answer.code.len,
                 (const char *)answer.code.data);
    if (answer.is_error != 0) {
        if (!ends_in(answer.message, r->text))
            fail_msg("message is '%.*s'", (int)answer.message.len,
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
    gbx_buf_cleanup(&bytes);
}

static int set_up(void **state)
{
    (void)state;
    (void)umask(022);
    tree_make(&tree);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_remove(&tree);
    return 0;
}

int main(void)
{
    static struct CMUnitTest tests[GBX_COUNTOF(rows)];
    static const row *states[GBX_COUNTOF(rows)];

    if (!tree_can_be_read())
        return 77;
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        states[i] = &rows[i];
        tests[i] = (struct CMUnitTest){.name = rows[i].name, .test_func = check_row};
        memcpy(&tests[i].initial_state, &states[i], sizeof states[i]);
    }
    return _cmocka_run_group_tests("file_paths", tests, GBX_COUNTOF(tests), set_up,
                                   tear_down);
}
