/* SPDX-License-Identifier: MIT */
/*
 * file - reads a file in four steps. Security depends on their order:
 *
 *   1. openat2 with O_PATH below the descriptor of a listed directory. While the kernel
 *      walks the path it refuses every symbolic link and every step that would leave
 *      that directory or its mount. O_PATH does not open the file itself: it wakes no
 *      device and does not wait for a writer of a FIFO.
 *   2. fstat on that descriptor: it must be a regular file, not a private file of the
 *      host, and not on a file system that exposes the kernel. The descriptor holds the
 *      inode even if names change meanwhile, and an inode never changes its type.
 *   3. The same inode is opened for reading through /proc/self/fd of this descriptor,
 *      not by its path again: a second walk could end elsewhere. (That magic link is
 *      ours and leads to the inode of step 1. Step 1 refuses all magic links that the
 *      code could name.)
 *   4. Bytes are counted as they are read: the size from fstat is only a hint.
 *
 * Without openat2 nothing is read.
 */
#include "file/file.h"

#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BYTES_FIRST GBX_KIB(16)

/* For a path with "..", the kernel returns EAGAIN if a rename ran during the walk. */
#define WALKS_MAX 32

/* Bytes of a path in a message. */
#define SHOWN_MAX 256

/* The policy whose files are read, and the wider one that keeps more files private. */
typedef struct rules {
    const gbx_file_policy *policy;
    const gbx_file_policy *wide; /* may be NULL */
} rules;

typedef enum finding {
    FOUND,
    OUTSIDE,
    ABSENT,
    NO_FOLDER,
    LINK,
    FOLDER,
    KIND,
    DENIED,
    TOO_LARGE,
    TOO_LONG,
    UNSTABLE,
    NO_DESCRIPTOR,
    NO_MEMORY,
    NO_OPENAT2,
    FAILED,
} finding;

static const struct {
    const char *code;
    const char *text;
} words[] = {
    [OUTSIDE] = {"ERR_FILE_NOT_ALLOWED", "is not below a listed directory"},
    [ABSENT] = {"ENOENT", "does not exist"},
    [NO_FOLDER] = {"ENOTDIR", "does not exist: a part of the path is a file"},
    [LINK] = {"ERR_FILE_NOT_ALLOWED", "is or goes through a symbolic link"},
    [FOLDER] = {"EISDIR", "is a directory"},
    [KIND] = {"ERR_FILE_NOT_ALLOWED", "is not a regular file"},
    [DENIED] = {"EACCES", "may not be read: permission denied"},
    [TOO_LARGE] = {"ERR_FILE_TOO_LARGE", "is larger than the limit"},
    [TOO_LONG] = {"ENAMETOOLONG", "has a name that is too long"},
    [UNSTABLE] = {"EAGAIN", "cannot be read now: its directories are being moved"},
    [NO_DESCRIPTOR] = {"EMFILE", "cannot be read: the host has no descriptor left"},
    [NO_MEMORY] = {"ENOMEM", "cannot be read: the host is out of memory"},
    [NO_OPENAT2] = {"ERR_FILE_UNAVAILABLE",
                    "cannot be read: the host's kernel has no openat2"},
    [FAILED] = {"EIO", "cannot be read"},
};

static finding of_errno(int error)
{
    switch (error) {
    case EXDEV: return OUTSIDE;
    case ENOENT: return ABSENT;
    case ENOTDIR: return NO_FOLDER;
    case ELOOP: return LINK;
    case EACCES:
    case EPERM: return DENIED;
    case ENAMETOOLONG: return TOO_LONG;
    case EAGAIN: return UNSTABLE;
    case EMFILE:
    case ENFILE: return NO_DESCRIPTOR;
    case ENOMEM: return NO_MEMORY;
    case ENOSYS:
    case E2BIG:
    case EINVAL: return NO_OPENAT2;
    default: return FAILED;
    }
}

/* Step 1. */
static finding walk(int root_fd, const char *name, int *ret_fd)
{
    struct open_how how = {
        .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                   RESOLVE_NO_XDEV,
    };
    long fd = -1;

    for (int i = 0; i < WALKS_MAX; i++) {
        fd = syscall(SYS_openat2, root_fd, name, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    if (fd < 0)
        return of_errno(errno);
    *ret_fd = (int)fd;
    return FOUND;
}

/* File systems that expose the kernel: files about this process, its memory and its
 * environment, or files whose reading has side effects or waits. */
static bool is_of_kernel(int fd)
{
    static const uint32_t magic[] = {
        PROC_SUPER_MAGIC, SYSFS_MAGIC,         DEBUGFS_MAGIC,     TRACEFS_MAGIC,
        SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,  BPF_FS_MAGIC,      PSTOREFS_MAGIC,
        SELINUX_MAGIC,    CGROUP2_SUPER_MAGIC, BINFMTFS_MAGIC,    EFIVARFS_MAGIC,
        SMACK_MAGIC,      NSFS_MAGIC,          DEVPTS_SUPER_MAGIC};
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0)
        return true;
    for (size_t i = 0; i < GBX_COUNTOF(magic); i++)
        if ((uint32_t)fs.f_type == magic[i])
            return true;
    return false;
}

static bool is_own(const gbx_file_policy *policy, const struct stat *st)
{
    for (size_t i = 0; i < policy->own_count; i++)
        if (policy->own[i].device == st->st_dev && policy->own[i].inode == st->st_ino)
            return true;
    return false;
}

/* Step 2. */
static finding inspect(const rules *r, int fd, size_t *ret_size)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return of_errno(errno);
    if (S_ISLNK(st.st_mode))
        return LINK; /* O_PATH with O_NOFOLLOW gives the link itself */
    if (S_ISDIR(st.st_mode))
        return FOLDER;
    if (!S_ISREG(st.st_mode) || is_of_kernel(fd))
        return KIND;
    if (is_own(r->policy, &st) || (r->wide != NULL && is_own(r->wide, &st)))
        return OUTSIDE;
    *ret_size = st.st_size > 0 ? (size_t)st.st_size : 0;
    return FOUND;
}

/* Step 3. */
static finding reopen(int fd, int *ret_fd)
{
    char path[48];
    int file;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    do
        file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (file < 0 && errno == EINTR);
    if (file < 0)
        return errno == ENOENT ? FAILED : of_errno(errno); /* /proc is missing here */
    *ret_fd = file;
    return FOUND;
}

/* Step 4: read at most max bytes, then one more to see whether the file is longer. */
static finding take_bytes(int fd, size_t max, size_t hint, gbx_buf *bytes)
{
    char beyond;

    gbx_buf_init_secret(bytes, max);
    for (;;) {
        size_t room = bytes->len == 0 ? hint + 1 : bytes->len;
        void *to = &beyond;
        ssize_t n;

        room = room < BYTES_FIRST ? BYTES_FIRST : room;
        room = room < max - bytes->len ? room : max - bytes->len;
        if (room > 0 && (to = gbx_buf_reserve(bytes, room)) == NULL)
            return NO_MEMORY;
        n = read(fd, to, room > 0 ? room : 1);
        if (n == 0)
            return FOUND;
        if (n > 0 && room == 0)
            return TOO_LARGE;
        if (n > 0)
            bytes->len += (size_t)n;
        else if (errno != EINTR)
            return of_errno(errno);
    }
}

/* Steps 1 to 4 for one name below one directory. */
static finding read_one(const rules *r, int root_fd, const char *name, gbx_buf *bytes)
{
    GBX_CLEANUP(gbx_fd_close) int place = -1;
    GBX_CLEANUP(gbx_fd_close) int file = -1;
    size_t max = r->policy->max_bytes;
    size_t hint = 0;
    finding f = walk(root_fd, name, &place);

    if (f == FOUND)
        f = inspect(r, place, &hint);
    if (f == FOUND)
        f = reopen(place, &file);
    if (f == FOUND)
        f = take_bytes(file, max, hint < max ? hint : max, bytes);
    return f;
}

/* True if the next directory should be tried. */
static bool is_not_here(finding f)
{
    return f == OUTSIDE || f == ABSENT || f == NO_FOLDER;
}

/*
 * The first directory that has the file decides, even if it may not be read there.
 * If none has it, the error is that of the directory that the path names, or else of
 * the first: a path that leaves one directory may name another.
 */
static finding read_any(const rules *r, const char *path, gbx_buf *bytes)
{
    const gbx_file_policy *policy = r->policy;
    finding said = OUTSIDE;
    bool is_said = false;
    bool by_name = false;

    for (size_t i = 0; i < policy->root_count; i++) {
        int root_fd = policy->roots[i].fd;
        gbx_path_names names;
        finding f;

        gbx_path_below(path, policy->roots[i].name, &names);
        if (names.named != NULL) {
            f = read_one(r, root_fd, names.named, bytes);
            if (!is_not_here(f))
                return f;
            said = by_name ? said : f;
            is_said = by_name = true;
        }
        if (names.whole != NULL) {
            f = read_one(r, root_fd, names.whole, bytes);
            if (!is_not_here(f))
                return f;
            said = is_said ? said : f;
            is_said = true;
        }
    }
    return said;
}

/* ret borrows name and code, which are constant, and message, which is stored in
 * bytes. */
static void refuse(gbx_buf *bytes, const char *name, const char *code,
                   const gbx_buf *path, const char *text, gbx_msg_answer *ret)
{
    gbx_buf_cleanup(bytes);
    gbx_buf_init(bytes, GBX_KIB(4));
    (void)gbx_buf_puts(bytes, "fs.readFile: ");
    if (path != NULL) {
        size_t len = path->len - 1; /* without its NUL */
        size_t shown = gbx_utf8_cut(path->data, len, SHOWN_MAX);

        (void)gbx_buf_puts(bytes, "'");
        (void)gbx_utf8_append_escaped(bytes, path->data, shown, GBX_ESCAPE_LINE);
        (void)gbx_buf_puts(bytes, shown < len ? "...' " : "' ");
    }
    (void)gbx_buf_puts(bytes, text);
    ret->is_error = 1;
    ret->name = gbx_span_of(name);
    ret->code = gbx_span_of(code);
    ret->message = bytes->failed ? gbx_span_of("fs.readFile: the host is out of memory")
                                 : (gbx_span){bytes->data, bytes->len};
}

void gbx_file_read(const gbx_policy *policy, const gbx_policy *wide, gbx_span args_json,
                   gbx_buf *bytes, gbx_msg_answer *ret)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf path = {0};
    const gbx_path_fault *fault = gbx_path_from_args(args_json, &path);
    finding f = OUTSIDE;
    char size[80];

    *ret = (gbx_msg_answer){.id = ret->id};
    *bytes = (gbx_buf){0};
    if (fault != NULL) {
        refuse(bytes, fault->name, fault->code, NULL, fault->text, ret);
        return;
    }
    if (policy != NULL && (policy->capabilities & GBX_CAP_FILE) != 0)
        f = read_any(&(rules){&policy->file, wide != NULL ? &wide->file : NULL},
                     (const char *)path.data, bytes);
    if (f == FOUND) {
        ret->bytes = (gbx_span){bytes->data, bytes->len};
        return;
    }
    if (f == TOO_LARGE)
        (void)snprintf(size, sizeof size, "%s of %zu bytes", words[f].text,
                       (size_t)policy->file.max_bytes);
    refuse(bytes, "Error", words[f].code, &path, f == TOO_LARGE ? size : words[f].text,
           ret);
}
