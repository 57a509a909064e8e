/* SPDX-License-Identifier: MIT */
/* file_tree - see file_tree.h. What cannot be made here (devices) is left out. */
#include "file_tree.h"
#include "scratch.h"
#include "test.h"

#include "base/json.h"
#include "file/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

static void filler(const char *path, size_t len)
{
    char *data = malloc(len);

    assert_non_null(data);
    memset(data, 'f', len);
    scratch_put(path, data, len);
    free(data);
}

static void link_to(const char *target, const char *path)
{
    assert_int_equal(symlink(target, scratch_path(path)), 0);
}

static void make_files(void)
{
    static const char *const folders[] = {"data",           "data/sub",
                                          "data/sub/deep",  "data/data",
                                          "more",           "outside",
                                          "outside/folder", "data/mount"};
    char long_name[5 + 255 + 1] = "data/";

    for (size_t i = 0; i < GBX_COUNTOF(folders); i++)
        scratch_folder(folders[i]);
    scratch_write("outside/secret.txt", TREE_CANARY);
    scratch_write("outside/folder/secret.txt", TREE_CANARY);
    scratch_write("data/a.txt", "alpha");
    scratch_write("data/sub/b.txt", "beta");
    scratch_write("data/sub/deep/c.txt", "gamma");
    scratch_write("data/data/a.txt", "inner alpha");
    scratch_write("data/data/inner.txt", "inner");
    scratch_write("data/empty", "");
    scratch_put("data/bytes", "\x00\xFF\x80\n", 4);
    filler("data/exact", TREE_MAX_BYTES);
    filler("data/one-more", TREE_MAX_BYTES + 1);
    scratch_write("data/with space", "space");
    scratch_write("data/new\nline", "newline");
    scratch_write("data/\x1B[31mred", "red");
    scratch_write("data/back\\slash", "backslash");
    scratch_write("data/caf\xC3\xA9", "composed");
    scratch_write("data/con", "con");
    scratch_write("data/dot.", "dot");
    scratch_write("data/...", "three dots");
    scratch_write("data/policy.json", "{\"secret\":1}");
    scratch_write("data/\xEF\xBF\xBD", "replacement");
    memset(long_name + 5, 'n', 255);
    scratch_write(long_name, "long");
    scratch_write("more/a.txt", "second alpha");
    scratch_write("more/only.txt", "only here");
    scratch_write("more/sub", "a file here, a folder there");
    scratch_write("data/locked", "locked");
    assert_int_equal(chmod(scratch_path("data/locked"), 0), 0);
    assert_int_equal(truncate(scratch_path("data/one-more"), (off_t)1 << 40), 0);
}

static void make_links(void)
{
    link_to("a.txt", "data/link-inside");
    link_to("sub", "data/link-folder");
    link_to("../outside/secret.txt", "data/link-out");
    link_to("../outside", "data/link-out-folder");
    link_to("/etc/passwd", "data/link-passwd");
    link_to("/", "data/link-root");
    link_to("link-loop", "data/link-loop");
    link_to("nothing", "data/link-dangling");
    link_to("/proc/self/root", "data/link-magic-root");
    link_to("/proc/self/fd/0", "data/link-magic-fd");
    link_to("a.txt", "data/chain-0");
    for (int i = 1; i <= 41; i++) {
        char target[32];
        char path[32];

        (void)snprintf(target, sizeof target, "chain-%d", i - 1);
        (void)snprintf(path, sizeof path, "data/chain-%d", i);
        link_to(target, path);
    }
    link_to("only.txt", "more/link");
    scratch_write("more/link-inside", "a link there, a file here");
}

static void make_nodes(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(mkfifo(scratch_path("data/fifo"), 0644), 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/data/socket",
                   scratch);
    assert_true(sock >= 0);
    assert_int_equal(bind(sock, (const struct sockaddr *)&address, sizeof address), 0);
    (void)close(sock);
    (void)mknod(scratch_path("data/zero"), S_IFCHR | 0666, makedev(1, 5));
    (void)mknod(scratch_path("data/disk"), S_IFBLK | 0666, makedev(7, 0));
}

static void own_file(const char *path)
{
    gbx_file_policy *file = &tree_listing->file;
    struct stat st;

    assert_int_equal(stat(scratch_path(path), &st), 0);
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

gbx_policy *tree_listing;

int tree_begin(void **state)
{
    const char *folders[2];
    const char *names[2];

    (void)umask(022);
    assert_int_equal(scratch_begin(state), 0);
    make_files();
    make_links();
    make_nodes();
    folders[0] = scratch_path("data");
    names[0] = "./data";
    folders[1] = names[1] = scratch_path("more");
    tree_listing = tree_policy(folders, names, 2);
    own_file("data/policy.json");
    return 0;
}

int tree_end(void **state)
{
    gbx_policy_free(tree_listing);
    return scratch_end(state);
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
    assert_non_null(file->roots);
    for (size_t i = 0; i < count; i++) {
        file->roots[i] = (gbx_root){
            .fd = open(folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC),
            .path = strdup(folders[i]),
            .name = strdup(names != NULL ? names[i] : folders[i]),
        };
        assert_true(file->roots[i].fd >= 0);
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
