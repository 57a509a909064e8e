/* SPDX-License-Identifier: MIT */
/* file - what is asked and answered besides the path itself; roots that come and go. */
#include "base/cleanup.h"
#include "file_tree.h"
#include "scratch.h"
#include "test.h"

#include "file/file.h"
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Read, and expect this code and, if it is "", these contents. */
static bool reads(const gbx_policy *policy, const char *path, const char *code,
                  const char *contents)
{
    gbx_msg_answer answer = {0};
    gbx_buf bytes;
    bool as_expected;

    tree_read(policy, path, &bytes, &answer);
    as_expected =
        tree_has_code(&answer, code) &&
        (*code != '\0' || (answer.bytes.len == strlen(contents) &&
                           memcmp(answer.bytes.data, contents, answer.bytes.len) == 0));
    if (!as_expected)
        (void)fprintf(stderr, "'%s': %.*s\n", path, (int)bytes.len,
                      (const char *)bytes.data);
    gbx_buf_cleanup(&bytes);
    return as_expected;
}

/* ---- arguments -------------------------------------------------------------- */

TEST(arguments__that_are_no_one_string_are_a_type_error)
{
    static const char *const rows[] = {
        "",
        "[]",
        "[1]",
        "[null]",
        "[[\"a.txt\"]]",
        "\"a.txt\"",
        "{}",
        "[\"a.txt\"",
        "[\"a.txt\",\"a.txt\"]",
        "[\"a.txt\",",
        "[{}]",
        "null",
        "[\"a.txt\"]]",
        "[true]",
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_span args = {(const uint8_t *)rows[i], strlen(rows[i])};
        gbx_msg_answer answer = {0};
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;

        gbx_file_read(tree_listing, NULL, args, &bytes, &answer);

        if (!tree_has_code(&answer, "ERR_INVALID_ARG_TYPE"))
            fail_msg("%s", rows[i]);
        assert_memory_equal(answer.name.data, "TypeError", 9);
    }
}

TEST(arguments__that_are_no_path_are_a_value_error)
{
    static const char *const rows[] = {
        "[\"a.txt\\u0000\"]", "[\"\\u0000\"]",      "[\"a.txt\\u0000../x\"]",
        "[\"\\ud800\"]",      "[\"a\\udc00.txt\"]", "[\"..\\\\outside\"]",
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_span args = {(const uint8_t *)rows[i], strlen(rows[i])};
        gbx_msg_answer answer = {0};
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;

        gbx_file_read(tree_listing, NULL, args, &bytes, &answer);

        if (!tree_has_code(&answer, "ERR_INVALID_ARG_VALUE"))
            fail_msg("%s", rows[i]);
    }
}

TEST(arguments__may_spell_a_path_in_escapes)
{
    const char *args = "[\"\\u0061\\u002etxt\"]";
    gbx_msg_answer answer = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;

    gbx_file_read(tree_listing, NULL, (gbx_span){(const uint8_t *)args, strlen(args)},
                  &bytes, &answer);

    assert_true(tree_has_code(&answer, ""));
    assert_memory_equal(answer.bytes.data, "alpha", 5);
}

/* "././...a.txt" of that length. */
static char *long_path(size_t len)
{
    char *path = malloc(len + 1);

    assert_non_null(path);
    for (size_t i = 0; i < len; i++)
        path[i] = i % 2 == 0 ? '.' : '/';
    memcpy(path + len - 5, "a.txt", 6);
    return path;
}

TEST(path__of_4095_bytes_is_read_and_longer_ones_are_not)
{
    static const struct {
        size_t len;
        const char *code;
    } rows[] = {
        {4095, ""},
        {4097, "ENAMETOOLONG"},
        {5001, "ENAMETOOLONG"},
        {GBX_KIB(24) + 65, "ENAMETOOLONG"},
        {GBX_MIB(1) + 1, "ENAMETOOLONG"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        char *path = long_path(rows[i].len);

        assert_true(reads(tree_listing, path, rows[i].code, "alpha"));
        free(path);
    }
}

/* ---- answers ---------------------------------------------------------------- */

TEST(message__shows_a_path_that_steers_no_terminal)
{
    gbx_msg_answer answer = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;

    tree_read(tree_listing, "no\n\x1B[31m\xC2\x9B'x", &bytes, &answer);

    for (size_t i = 0; i < answer.message.len; i++)
        assert_true(answer.message.data[i] >= 0x20 && answer.message.data[i] < 0x7F);
}

TEST(message__of_a_long_path_is_short_and_whole_characters)
{
    char path[1001] = "x";
    gbx_msg_answer answer = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;
    for (size_t i = 1; i + 2 < sizeof path; i += 2)
        memcpy(path + i, "\xC3\xA9", 2);

    tree_read(tree_listing, path, &bytes, &answer);

    assert_true(tree_has_code(&answer, "ENAMETOOLONG"));
    assert_true(answer.message.len < 350);
    assert_non_null(memmem(answer.message.data, answer.message.len, "\xC3\xA9...'", 6));
}

TEST(bytes__arrive_as_they_are)
{
    gbx_msg_answer answer = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;

    tree_read(tree_listing, "bytes", &bytes, &answer);

    assert_true(tree_has_code(&answer, ""));
    assert_int_equal(answer.bytes.len, 4);
    assert_memory_equal(answer.bytes.data, "\x00\xFF\x80\n", 4);
}

TEST(limit__is_one_mebibyte_unless_said)
{
    gbx_policy *policy = tree_listing;
    gbx_policy *fresh = gbx_policy_new();
    char *data = calloc(1, GBX_MIB(1) + 1);
    gbx_msg_answer answer = {0};
    gbx_buf bytes;
    assert_non_null(data);
    scratch_put("more/mebibyte", data, GBX_MIB(1));
    scratch_put("more/larger", data, GBX_MIB(1) + 1);
    assert_non_null(fresh);
    policy->file.max_bytes = fresh->file.max_bytes;
    gbx_policy_free(fresh);

    tree_read(policy, "mebibyte", &bytes, &answer);
    assert_int_equal(answer.bytes.len, GBX_MIB(1));
    gbx_buf_cleanup(&bytes);
    assert_true(reads(policy, "larger", "ERR_FILE_TOO_LARGE", ""));

    policy->file.max_bytes = TREE_MAX_BYTES;
    free(data);
}

TEST(policy__without_the_capability_reads_nothing)
{
    tree_listing->capabilities = ~(uint32_t)GBX_CAP_FILE;
    assert_true(reads(tree_listing, "a.txt", "ERR_FILE_NOT_ALLOWED", ""));
    tree_listing->capabilities = GBX_CAP_FILE;
    assert_true(reads(NULL, "a.txt", "ERR_FILE_NOT_ALLOWED", ""));
}

TEST(policy__without_a_directory_reads_nothing)
{
    gbx_policy *policy = tree_policy(NULL, NULL, 0);

    assert_true(reads(policy, "a.txt", "ERR_FILE_NOT_ALLOWED", ""));

    gbx_policy_free(policy);
}

TEST(descriptors__are_all_given_back)
{
    static const char *const paths[] = {"a.txt",    "nothing",  "sub",        "fifo",
                                        "link-out", "one-more", "policy.json"};
    size_t before = proc_fds();

    for (size_t i = 0; i < 20 * GBX_COUNTOF(paths); i++) {
        gbx_msg_answer answer = {0};
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;

        tree_read(tree_listing, paths[i % GBX_COUNTOF(paths)], &bytes, &answer);
    }

    assert_int_equal(proc_fds(), before);
}

/* ---- directories that come and go ------------------------------------------------ */

static gbx_policy *policy_of(const char *folder)
{
    const char *name = "./listed";

    return tree_policy(&folder, &name, 1);
}

TEST(root__that_is_moved_is_still_the_one_that_was_listed)
{
    gbx_policy *policy;
    assert_int_equal(mkdir(scratch_path("listed"), 0755), 0);
    scratch_put("listed/f", "first", 5);
    policy = policy_of(scratch_path("listed"));

    assert_int_equal(rename(scratch_path("listed"), scratch_path("moved")), 0);
    assert_int_equal(symlink("outside", scratch_path("listed")), 0);

    assert_true(reads(policy, "./listed/f", "", "first"));
    assert_true(reads(policy, "secret.txt", "ENOENT", ""));
    assert_true(reads(policy, "../outside/secret.txt", "ERR_FILE_NOT_ALLOWED", ""));
    assert_int_equal(unlink(scratch_path("listed")), 0);
    gbx_policy_free(policy);
}

TEST(root__made_again_under_its_name_is_another)
{
    gbx_policy *policy;
    assert_int_equal(mkdir(scratch_path("listed"), 0755), 0);
    scratch_put("listed/f", "first", 5);
    policy = policy_of(scratch_path("listed"));
    assert_true(reads(policy, "f", "", "first"));

    assert_int_equal(unlink(scratch_path("listed/f")), 0);
    assert_int_equal(rmdir(scratch_path("listed")), 0);
    assert_true(reads(policy, "f", "ENOENT", ""));
    assert_int_equal(mkdir(scratch_path("listed"), 0755), 0);
    scratch_put("listed/f", "second", 6);

    assert_true(reads(policy, "f", "ENOENT", ""));
    assert_int_equal(unlink(scratch_path("listed/f")), 0);
    assert_int_equal(rmdir(scratch_path("listed")), 0);
    gbx_policy_free(policy);
}

TEST(root__behind_a_link_is_where_the_link_led_at_the_start)
{
    gbx_policy *policy;
    assert_int_equal(symlink("data", scratch_path("entry")), 0);
    policy = policy_of(scratch_path("entry"));

    assert_int_equal(unlink(scratch_path("entry")), 0);
    assert_int_equal(symlink("outside", scratch_path("entry")), 0);

    assert_true(reads(policy, "a.txt", "", "alpha"));
    assert_true(reads(policy, "secret.txt", "ENOENT", ""));
    assert_int_equal(unlink(scratch_path("entry")), 0);
    gbx_policy_free(policy);
}

TEST(root__above_the_policy_is_found_behind_one_beside_it)
{
    const char *folders[2];
    const char *names[] = {"./data", "../up/more"};
    gbx_policy *policy;
    folders[0] = scratch_path("data");
    folders[1] = scratch_path("more");
    policy = tree_policy(folders, names, 2);

    assert_true(reads(policy, "../up/more/only.txt", "", "only here"));
    assert_true(reads(policy, "../up/more/nothing", "ENOENT", ""));
    assert_true(reads(policy, "../up/more/../outside", "ERR_FILE_NOT_ALLOWED", ""));
    assert_true(reads(policy, "../up/outside/secret.txt", "ERR_FILE_NOT_ALLOWED", ""));

    gbx_policy_free(policy);
}

TEST(root__that_is_absolute_is_not_named_without_its_slash)
{
    assert_true(reads(tree_listing, scratch_path("more/only.txt"), "", "only here"));
    assert_true(reads(tree_listing, scratch_path("more/only.txt") + 1, "ENOENT", ""));
}

TEST(root__of_all_files_ends_at_its_own_mount)
{
    static const char *const other[] = {"/proc/self/environ", "/proc/version",
                                        "/proc/self/root/etc/passwd"};
    const char *root = "/";
    gbx_policy *policy = tree_policy(&root, NULL, 1);

    assert_true(reads(policy, scratch_path("data/a.txt"), "", "alpha"));
    for (size_t i = 0; i < GBX_COUNTOF(other); i++)
        assert_true(reads(policy, other[i], "ERR_FILE_NOT_ALLOWED", ""));

    gbx_policy_free(policy);
}

TEST(root__that_is_proc_has_no_regular_files)
{
    static const char *const names[] = {"version", "self/environ", "self/mem",
                                        "self/status", "/proc/1/environ"};
    const char *root = "/proc";
    gbx_policy *policy = tree_policy(&root, NULL, 1);

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        assert_true(reads(policy, names[i], "ERR_FILE_NOT_ALLOWED", "") ||
                    reads(policy, names[i], "EACCES", ""));

    gbx_policy_free(policy);
}

/* ---- a mount inside --------------------------------------------------------------- */

enum { CHILD_HELD, CHILD_FAILED, CHILD_CANNOT };

/* In a mount namespace of its own: another folder is mounted over data/mount. */
static int read_through_mount(void)
{
    const char *data;
    gbx_policy *policy;
    int status;

    if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
        mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(scratch_path("outside"), scratch_path("data/mount"), "", MS_BIND, NULL) !=
            0 ||
        access(scratch_path("data/mount/secret.txt"), F_OK) != 0)
        return CHILD_CANNOT;
    data = scratch_path("data"); /* opened here, it is of this namespace */
    policy = tree_policy(&data, NULL, 1);
    status = reads(policy, "mount/secret.txt", "ERR_FILE_NOT_ALLOWED", "") &&
                     reads(policy, "mount/nothing", "ERR_FILE_NOT_ALLOWED", "") &&
                     reads(policy, "mount/../a.txt", "ERR_FILE_NOT_ALLOWED", "") &&
                     reads(policy, "a.txt", "", "alpha")
                 ? CHILD_HELD
                 : CHILD_FAILED;
    gbx_policy_free(policy);
    return status;
}

TEST(mount__inside_the_directory_is_outside)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(read_through_mount());
    assert_true(child > 0);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status == CHILD_CANNOT << 8) {
        print_message("skipped: nothing can be mounted here\n");
        skip();
    }
    assert_int_equal(status, CHILD_HELD);
}

int main(void)
{
    if (!tree_can_be_read())
        return 77;
    return tests_run(tree_begin, tree_end);
}
