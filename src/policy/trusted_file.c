/* SPDX-License-Identifier: MIT */
/* trusted_file - see policy.h. Faults are kept until the end of the path: for a missing
 * file, only that it is missing is reported. */
#include "policy/policy.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* the kernel's limit */

/* Maximum length of the paths of a command in a message, in bytes. */
#define PATHS_SIZE 240

/* Shown as the owner of a file whose owner this user namespace does not map. */
#define OVERFLOW_UID 65534

#define OTHERS_READ  (S_IRGRP | S_IROTH)
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* Why a file is refused; the first in this order is reported. */
enum { ELSEWHERE, FOREIGN, WRITABLE, EXPOSED, FAULT_COUNT };

typedef struct fault {
    bool is_found;
    bool needs_root; /* for the repair */
    gbx_buf paths;   /* each after a blank, quoted for a shell */
} fault;

/* A path being walked. */
typedef struct walk {
    const gbx_trusted_file *file;
    int dir;        /* the current directory */
    bool is_shared; /* others may make entries in dir, but not change existing ones of
                       other users */
    unsigned links;
    char reached[PATH_MAX]; /* the path of dir; "" at the start */
    char rest[PATH_MAX];
    fault faults[FAULT_COUNT];
} walk;

/* The part of the path that is examined. */
typedef struct step {
    char name[NAME_MAX + 1];
    char path[PATH_MAX]; /* for messages */
    int fd;              /* O_PATH */
    struct stat st;
    bool is_open_file; /* a kernel link to a process's open file */
} step;

static gbx_status fail_open(const gbx_trusted_file *file, gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_OS, "cannot read %s'%s': %s", file->what, file->path,
                    gbx_fail_reason(errno));
}

/* ---- faults ---------------------------------------------------------------- */

/* The path is quoted for a shell. Characters that could steer a terminal are escaped: the
 * command is then of no use. */
static void add_fault(walk *w, int kind, const char *path, const struct stat *st)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./-+,:@%";
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf word = {.ceiling = PATHS_SIZE};
    fault *f = &w->faults[kind];
    const char *quote;

    f->is_found = true;
    f->needs_root = f->needs_root || (geteuid() != 0 && st->st_uid != geteuid());
    if (*path == '\0')
        path = ".";
    quote = path[strspn(path, plain)] == '\0' ? "" : "'";
    (void)gbx_buf_printf(&word, " %s%s", *path == '-' ? "./" : "", quote);
    for (; *path != '\0'; path++)
        (void)(*path == '\'' ? gbx_buf_puts(&word, "'\\''")
                             : gbx_buf_append(&word, path, 1));
    (void)gbx_buf_puts(&word, quote);
    if (word.failed)
        f->paths.failed = true;
    else
        (void)gbx_utf8_append_escaped(&f->paths, word.data, word.len, GBX_ESCAPE_LINE);
}

static gbx_status refuse(const walk *w, int kind, gbx_error *reterr)
{
    static const char *const reasons[] = {
        [ELSEWHERE] = "it is in a directory of another user: copy it by",
        [FOREIGN] = "it belongs to another user: run",
        [WRITABLE] = "others may write it, or put another in its place: run",
        [EXPOSED] = "others may read or write it: run",
    };
    static const char *const commands[] = {
        [ELSEWHERE] = "cp", [WRITABLE] = "chmod go-w", [EXPOSED] = "chmod go-rw"};
    const fault *f = &w->faults[kind];
    char quote[GBX_QUOTE_SIZE];
    char chown[32];

    (void)snprintf(chown, sizeof chown, "chown -h %u", (unsigned)geteuid());
    errno = EPERM;
    return gbx_fail(reterr, GBX_E_OS,
                    "%s'%s' is refused, since %s %s%s%.*s%s (the option trust-files "
                    "takes it as it is)",
                    w->file->what,
                    gbx_quote(quote, w->file->path, strlen(w->file->path)),
                    reasons[kind], f->needs_root && kind != ELSEWHERE ? "sudo " : "",
                    kind == FOREIGN ? chown : commands[kind], (int)f->paths.len,
                    f->paths.len > 0 ? (const char *)f->paths.data : "",
                    kind == ELSEWHERE ? " ~/" : "");
}

/* ---- owners and rights ------------------------------------------------------- */

static bool is_ours(const struct stat *st)
{
    return st->st_uid == 0 || st->st_uid == geteuid();
}

/* In a user namespace the machine's root may be an unmapped user. */
static bool is_unmapped(uid_t uid)
{
    unsigned long first;
    unsigned long count;
    bool is_mapped = false;
    FILE *map;

    if (uid != OVERFLOW_UID)
        return false;
    map = fopen("/proc/self/uid_map", "re");
    if (map == NULL)
        return false;
    while (!is_mapped && fscanf(map, "%lu %*u %lu", &first, &count) == 2)
        is_mapped = uid >= first && uid - first < count;
    (void)fclose(map);
    return !is_mapped;
}

/* True if a part of the path before the file is not ours. An unmapped owner is accepted
 * only where others cannot make entries. */
static bool leads_astray(const walk *w, const struct stat *st)
{
    return !is_ours(st) && (w->is_shared || !is_unmapped(st->st_uid));
}

static void check_directory(walk *w, int fd, const char *path, const struct stat *st)
{
    bool is_open = (st->st_mode & OTHERS_WRITE) != 0;
    struct statfs fs = {0};

    (void)fstatfs(fd, &fs);
    if (fs.f_type == PROC_SUPER_MAGIC) {
        is_open = false; /* the kernel makes its contents */
    } else if (leads_astray(w, st)) {
        if (!w->faults[ELSEWHERE].is_found)
            add_fault(w, ELSEWHERE, w->file->path, st);
    } else if (is_open && (st->st_mode & S_ISVTX) == 0 &&
               (fs.f_flags & ST_RDONLY) == 0) {
        add_fault(w, WRITABLE, path, st);
    }
    w->is_shared = is_open;
}

static void check_file(walk *w, const step *s, char *warning)
{
    const struct stat *st = &s->st;
    /* Group read access to root's file is meant for that group, so it does not count. */
    mode_t readers = st->st_uid == 0 && geteuid() != 0 ? S_IROTH : OTHERS_READ;
    bool is_exposed = w->file->is_secret && (st->st_mode & readers) != 0;

    if (s->is_open_file && !S_ISREG(st->st_mode))
        return;
    if (!is_ours(st))
        add_fault(w, FOREIGN, s->path, st);
    if (!S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode))
        return; /* reading a device does not return what others write to it */
    if ((st->st_mode & OTHERS_WRITE) != 0)
        add_fault(w, w->file->is_secret ? EXPOSED : WRITABLE, s->path, st);
    else if (is_exposed && st->st_uid != 0)
        add_fault(w, EXPOSED, s->path, st);
    else if (is_exposed && warning != NULL)
        (void)snprintf(warning, GBX_ERROR_MESSAGE_SIZE,
                       "others may read %s'%.300s': it is taken since root owns it",
                       w->file->what, s->path);
}

/* ---- the path ---------------------------------------------------------------- */

static bool start(walk *w)
{
    struct stat st;

    gbx_fd_close(&w->dir);
    w->reached[0] = '\0';
    if (w->rest[0] == '/')
        (void)snprintf(w->reached, sizeof w->reached, "/");
    w->dir = open(w->rest[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w->dir < 0 || fstat(w->dir, &st) < 0)
        return false;
    w->is_shared = false;
    check_directory(w, w->dir, w->reached, &st);
    return true;
}

/* Take the first name off the rest; false with errno if there is none or it is too
 * long. */
static bool take_name(walk *w, step *s)
{
    size_t from = strspn(w->rest, "/");
    size_t len = strcspn(w->rest + from, "/");
    const char *between =
        w->reached[0] == '\0' || strcmp(w->reached, "/") == 0 ? "" : "/";

    errno = len == 0 ? EISDIR : ENAMETOOLONG;
    if (len == 0 || len > NAME_MAX ||
        snprintf(s->path, sizeof s->path, "%s%s%.*s", w->reached, between, (int)len,
                 w->rest + from) >= (int)sizeof s->path)
        return false;
    memcpy(s->name, w->rest + from, len);
    s->name[len] = '\0';
    memmove(w->rest, w->rest + from + len, strlen(w->rest + from + len) + 1);
    return true;
}

/* Open the target of a link in /proc, which may differ from the path that the link
 * shows. */
static bool open_through(walk *w, step *s)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(s->fd, "", target, sizeof target - 1);

    if (n > 0 && target[0] == '/') {
        target[n] = '\0';
        (void)snprintf(s->path, sizeof s->path, "%s", target);
    }
    gbx_fd_close(&s->fd);
    s->is_open_file = true;
    s->fd = openat(w->dir, s->name, O_PATH | O_CLOEXEC);
    return s->fd >= 0 && fstat(s->fd, &s->st) == 0;
}

/* Open the next part of the path, first as a directory, which triggers an automount. */
static bool take_step(walk *w, step *s)
{
    struct statfs fs = {0};

    gbx_fd_close(&s->fd);
    s->is_open_file = false;
    if (!take_name(w, s))
        return false;
    s->fd = openat(w->dir, s->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->fd < 0 && errno == ENOTDIR)
        s->fd = openat(w->dir, s->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &s->st) < 0)
        return false;
    if (!S_ISLNK(s->st.st_mode) || fstatfs(s->fd, &fs) < 0 ||
        fs.f_type != PROC_SUPER_MAGIC)
        return true;
    return open_through(w, s);
}

static void forget_faults(walk *w)
{
    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        gbx_buf_cleanup(&w->faults[kind].paths);
        w->faults[kind] = (fault){.is_found = false};
        gbx_buf_init(&w->faults[kind].paths, PATHS_SIZE);
    }
}

static bool enter(walk *w, step *s)
{
    const char *home = secure_getenv("HOME");
    struct stat its;

    /* A user who can exchange $HOME can act as its user already. */
    if (home != NULL && *home == '/' && stat(home, &its) == 0 &&
        its.st_dev == s->st.st_dev && its.st_ino == s->st.st_ino)
        forget_faults(w);
    check_directory(w, s->fd, s->path, &s->st);
    gbx_fd_close(&w->dir);
    w->dir = gbx_fd_take(&s->fd);
    (void)snprintf(w->reached, sizeof w->reached, "%s", s->path);
    return true;
}

/* Continue at the link's target. */
static bool follow(walk *w, const step *s)
{
    char target[PATH_MAX];
    char rest[PATH_MAX];
    ssize_t n;

    if (leads_astray(w, &s->st))
        add_fault(w, FOREIGN, s->path, &s->st);
    errno = ELOOP;
    if (++w->links > LINKS_MAX)
        return false;
    n = readlinkat(s->fd, "", target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    (void)snprintf(rest, sizeof rest, "%s", w->rest);
    errno = n == 0 ? ENOENT : ENAMETOOLONG;
    if (n == 0 ||
        snprintf(w->rest, sizeof w->rest, "%s%s", target, rest) >= (int)sizeof w->rest)
        return false;
    return target[0] != '/' || start(w);
}

/* Walk to the file at the end of the path; *s is then that file. */
static bool walk_on(walk *w, step *s)
{
    if (!start(w))
        return false;
    for (;;) {
        bool goes_on;

        if (!take_step(w, s))
            return false;
        if (S_ISLNK(s->st.st_mode))
            goes_on = follow(w, s);
        else if (S_ISDIR(s->st.st_mode))
            goes_on = enter(w, s);
        else
            break;
        if (!goes_on)
            return false;
    }
    errno = ENOTDIR;
    return w->rest[0] == '\0';
}

static gbx_status judge(walk *w, const step *s, char *warning, gbx_error *reterr)
{
    check_file(w, s, warning);
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        if (w->faults[kind].is_found)
            return refuse(w, kind, reterr);
    return GBX_OK;
}

static bool open_last(const walk *w, const step *s, int *ret_fd, struct stat *ret_st)
{
    const int links = s->is_open_file ? 0 : O_NOFOLLOW;
    int fd;

    do
        fd = openat(w->dir, s->name, w->file->flags | links | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    *ret_fd = fd;
    return fd >= 0 && fstat(fd, ret_st) == 0;
}

/* The file is judged before it is opened, since opening can block or have an effect;
 * and once more if it was replaced meanwhile. */
static gbx_status open_trusted(walk *w, int *ret_fd, char *warning, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    step s = {.fd = -1};
    bool is_there = walk_on(w, &s);
    struct stat examined = s.st;
    gbx_status status = GBX_OK;

    gbx_fd_close(&s.fd);
    if (!is_there)
        return fail_open(w->file, reterr);
    status = judge(w, &s, warning, reterr);
    if (status != GBX_OK)
        return status;
    if (!open_last(w, &s, &fd, &s.st))
        return fail_open(w->file, reterr);
    if (s.st.st_dev != examined.st_dev || s.st.st_ino != examined.st_ino)
        status = judge(w, &s, warning, reterr);
    if (status == GBX_OK)
        *ret_fd = gbx_fd_take(&fd);
    return status;
}

gbx_status gbx_trusted_file_open(const gbx_trusted_file *file, int *ret_fd,
                                 char *warning, gbx_error *reterr)
{
    walk w = {.file = file, .dir = -1};
    size_t len = strlen(file->path);
    gbx_status status;

    if (warning != NULL)
        *warning = '\0';
    if (file->trust == GBX_TRUST_ALL) {
        int fd = open(file->path, file->flags | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
            return fail_open(file, reterr);
        *ret_fd = fd;
        return GBX_OK;
    }
    errno = len == 0 ? ENOENT : ENAMETOOLONG;
    if (len == 0 || len >= sizeof w.rest)
        return fail_open(file, reterr);
    memcpy(w.rest, file->path, len + 1);
    forget_faults(&w);
    status = open_trusted(&w, ret_fd, warning, reterr);
    forget_faults(&w);
    gbx_fd_close(&w.dir);
    return status;
}

gbx_status gbx_trusted_file_read(const gbx_trusted_file *file, size_t max, gbx_buf *ret,
                                 int *ret_fd, char *warning, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    struct stat st;
    gbx_status status = gbx_trusted_file_open(file, &fd, warning, reterr);

    gbx_buf_init_secret(ret, max + 1);
    if (status != GBX_OK)
        return status;
    errno = EINVAL;
    /* What has no end; a directory fails when it is read. */
    if ((file->flags & O_NONBLOCK) != 0 && fstat(fd, &st) == 0 &&
        !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return gbx_fail(reterr, GBX_E_OS, "cannot read %s'%s': it is not a file",
                        file->what, file->path);
    if (!gbx_buf_read(ret, fd))
        return ret->failed ? gbx_list_nomem(reterr) : fail_open(file, reterr);
    errno = 0; /* no call has failed */
    if (ret->len > max)
        return gbx_fail(reterr, GBX_E_POLICY, "%s'%s' is larger than %zu bytes",
                        file->what, file->path, max);
    if (ret_fd != NULL)
        *ret_fd = gbx_fd_take(&fd);
    return GBX_OK;
}
