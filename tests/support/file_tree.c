/* SPDX-License-Identifier: MIT */
/* file_tree - see file_tree.h. What cannot be made here (devices) is left out. */
#include "file_tree.h"
#include "test.h"

#include "base/json.h"
#include "file/file.h"

#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

const char *tree_path(const file_tree *of, const char *path)
{
    static char paths[4][4096];
    static unsigned turn;
    char *to = paths[turn++ % 4];

    (void)snprintf(to, sizeof paths[0], "%s/%s", of->top, path);
    return to;
}

void tree_write(const file_tree *of, const char *path, const void *data, size_t len)
{
    int fd = open(tree_path(of, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), (ssize_t)len);
    (void)close(fd);
}

static void folder(const file_tree *of, const char *path)
{
    assert_int_equal(mkdir(tree_path(of, path), 0755), 0);
}

static void text(const file_tree *of, const char *path, const char *contents)
{
    tree_write(of, path, contents, strlen(contents));
}

static void filler(const file_tree *of, const char *path, size_t len)
{
    char *data = malloc(len);

    assert_non_null(data);
    memset(data, 'f', len);
    tree_write(of, path, data, len);
    free(data);
}

static void link_to(const file_tree *of, const char *target, const char *path)
{
    assert_int_equal(symlink(target, tree_path(of, path)), 0);
}

static void make_files(const file_tree *of)
{
    static const char *const folders[] = {"data",           "data/sub",
                                          "data/sub/deep",  "data/data",
                                          "more",           "outside",
                                          "outside/folder", "data/mount"};
    char long_name[5 + 255 + 1] = "data/";

    for (size_t i = 0; i < GBX_COUNTOF(folders); i++)
        folder(of, folders[i]);
    text(of, "outside/secret.txt", TREE_CANARY);
    text(of, "outside/folder/secret.txt", TREE_CANARY);
    text(of, "data/a.txt", "alpha");
    text(of, "data/sub/b.txt", "beta");
    text(of, "data/sub/deep/c.txt", "gamma");
    text(of, "data/data/a.txt", "inner alpha");
    text(of, "data/data/inner.txt", "inner");
    text(of, "data/empty", "");
    tree_write(of, "data/bytes", "\x00\xFF\x80\n", 4);
    filler(of, "data/exact", TREE_MAX_BYTES);
    filler(of, "data/one-more", TREE_MAX_BYTES + 1);
    text(of, "data/with space", "space");
    text(of, "data/new\nline", "newline");
    text(of, "data/\x1B[31mred", "red");
    text(of, "data/back\\slash", "backslash");
    text(of, "data/caf\xC3\xA9", "composed");
    text(of, "data/con", "con");
    text(of, "data/dot.", "dot");
    text(of, "data/...", "three dots");
    text(of, "data/policy.json", "{\"secret\":1}");
    text(of, "data/\xEF\xBF\xBD", "replacement");
    memset(long_name + 5, 'n', 255);
    text(of, long_name, "long");
    text(of, "more/a.txt", "second alpha");
    text(of, "more/only.txt", "only here");
    text(of, "more/sub", "a file here, a folder there");
    text(of, "data/locked", "locked");
    assert_int_equal(chmod(tree_path(of, "data/locked"), 0), 0);
    assert_int_equal(truncate(tree_path(of, "data/one-more"), (off_t)1 << 40), 0);
}

static void make_links(const file_tree *of)
{
    link_to(of, "a.txt", "data/link-inside");
    link_to(of, "sub", "data/link-folder");
    link_to(of, "../outside/secret.txt", "data/link-out");
    link_to(of, "../outside", "data/link-out-folder");
    link_to(of, "/etc/passwd", "data/link-passwd");
    link_to(of, "/", "data/link-root");
    link_to(of, "link-loop", "data/link-loop");
    link_to(of, "nothing", "data/link-dangling");
    link_to(of, "/proc/self/root", "data/link-magic-root");
    link_to(of, "/proc/self/fd/0", "data/link-magic-fd");
    link_to(of, "a.txt", "data/chain-0");
    for (int i = 1; i <= 41; i++) {
        char target[32];
        char path[32];

        (void)snprintf(target, sizeof target, "chain-%d", i - 1);
        (void)snprintf(path, sizeof path, "data/chain-%d", i);
        link_to(of, target, path);
    }
    link_to(of, "only.txt", "more/link");
    text(of, "more/link-inside", "a link there, a file here");
}

static void make_nodes(const file_tree *of)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(mkfifo(tree_path(of, "data/fifo"), 0644), 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/data/socket",
                   of->top);
    assert_true(sock >= 0);
    assert_int_equal(bind(sock, (const struct sockaddr *)&address, sizeof address), 0);
    (void)close(sock);
    (void)mknod(tree_path(of, "data/zero"), S_IFCHR | 0666, makedev(1, 5));
    (void)mknod(tree_path(of, "data/disk"), S_IFBLK | 0666, makedev(7, 0));
}

static void own_file(const file_tree *of, const char *path)
{
    gbx_file_policy *file = &of->policy->file;
    struct stat st;

    assert_int_equal(stat(tree_path(of, path), &st), 0);
    file->own = calloc(1, sizeof *file->own);
    assert_non_null(file->own);
    file->own[file->own_count++] = (gbx_file_id){st.st_dev, st.st_ino};
}

bool tree_can_be_read(void)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC};
    long fd = syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);

    if (fd < 0) {
        print_message("skipped: there is no openat2 here\n");
        return false;
    }
    (void)close((int)fd);
    return true;
}

file_tree tree;

int tree_begin(void **state)
{
    file_tree *ret = &tree;
    const char *names[] = {"./data", NULL};
    const char *folders[2];
    char more[128];

    (void)state;
    (void)umask(022);
    (void)snprintf(ret->top, sizeof ret->top, "/tmp/glovebox-files-XXXXXX");
    assert_non_null(mkdtemp(ret->top));
    make_files(ret);
    make_links(ret);
    make_nodes(ret);
    (void)snprintf(more, sizeof more, "%s/more", ret->top);
    folders[0] = tree_path(ret, "data");
    folders[1] = names[1] = more;
    ret->policy = tree_policy(folders, names, 2);
    own_file(ret, "data/policy.json");
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

int tree_end(void **state)
{
    (void)state;
    gbx_policy_free(tree.policy);
    (void)nftw(tree.top, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return 0;
}

gbx_policy *tree_policy(const char *const *folders, const char *const *names,
                        size_t count)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_file_policy *file;

    assert_non_null(policy);
    policy->capabilities = GBX_CAP_FILE;
    file = &policy->file;
    file->max_bytes = TREE_MAX_BYTES;
    file->roots = calloc(count, sizeof *file->roots);
    file->names = calloc(count, sizeof *file->names);
    file->root_fds = calloc(count, sizeof *file->root_fds);
    assert_true(file->roots != NULL && file->names != NULL && file->root_fds != NULL);
    for (size_t i = 0; i < count; i++) {
        file->roots[i] = strdup(folders[i]);
        file->names[i] = strdup(names != NULL ? names[i] : folders[i]);
        file->root_fds[i] = open(folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(file->root_fds[i] >= 0);
        file->root_count++;
    }
    return policy;
}

void tree_read(const gbx_policy *policy, const char *path, gbx_buf *bytes,
               gbx_msg_answer *ret)
{
    gbx_buf args;

    gbx_buf_init(&args, GBX_MIB(8));
    (void)gbx_buf_puts(&args, "[");
    (void)gbx_json_append_string(&args, path, strlen(path));
    assert_true(gbx_buf_puts(&args, "]"));
    gbx_file_read(policy, NULL, (gbx_span){args.data, args.len}, bytes, ret);
    gbx_buf_cleanup(&args);
}

bool tree_has_code(const gbx_msg_answer *ret, const char *code)
{
    size_t len = strlen(code);

    return ret->code.len == len &&
           (len == 0 || memcmp(ret->code.data, code, len) == 0) &&
           (ret->is_error != 0) == (len > 0);
}
