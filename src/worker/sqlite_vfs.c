/* SPDX-License-Identifier: MIT */
/*
 * sqlite_vfs - gives SQLite a database's files as memory. They are mapped before the
 * seal, which allows no system call on files, and keep their length of that moment.
 *
 * A shared lock keeps other processes from writing the database itself; if it has a log
 * (-wal), they write there. If the log's index (-shm) exists, two readers' locks on it
 * keep the log from being copied into the database, and from being started anew. Those
 * are the locks of SQLite's own readers (its pager.h, os_unix.c, wal.c); the numbers of
 * the bytes are part of its file format.
 */
#include "worker/worker.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- locks ----------------------------------------------------------------- */

/* Bytes of the database that stand for locks. */
#define PENDING_AT   0x40000000
#define RESERVED_AT  (PENDING_AT + 1)
#define SHARED_AT    (PENDING_AT + 2)
#define SHARED_BYTES 510

/* Bytes of the index that stand for locks: of readers that use only the database, and
 * of the first readers that use the log. */
#define LOG_READERS_AT    123
#define LOG_READERS_BYTES 2

/* How long to wait for a writer, and between two attempts. */
#define BUSY_MS 2000
#define LOOK_MS 10

/* The locks belong to the open file, not to the process. Returns 0 or an errno. */
static int lock(int fd, int command, short type, off_t at, off_t len)
{
    struct flock lock = {.l_type = type,
                         .l_whence = SEEK_SET,
                         .l_start = at,
                         .l_len = len};

    if (fcntl(fd, command, &lock) < 0)
        return errno;
    return command == F_OFD_GETLK && lock.l_type != F_UNLCK ? EAGAIN : 0;
}

/* 0; EAGAIN if a writer holds it too long; another errno if locks are not supported. */
static int lock_shared(int fd, off_t at, off_t len)
{
    const struct timespec look = {.tv_nsec = LOOK_MS * GBX_NS_PER_MS};
    int error;

    for (int waited = 0;
         (error = lock(fd, F_OFD_SETLK, F_RDLCK, at, len)) == EAGAIN || error == EACCES;
         waited += LOOK_MS) {
        if (waited >= BUSY_MS)
            return EAGAIN;
        (void)nanosleep(&look, NULL);
    }
    return error;
}

/* ---- files ------------------------------------------------------------------- */

typedef struct mapping {
    const uint8_t *data;
    sqlite3_int64 size; /* -1: the file does not exist */
} mapping;

static struct {
    mapping database;
    mapping wal;
    mapping journal;
    bool
        is_reserved; /* a process is about to change it: its journal is not a leftover */
} files;

static bool map(int fd, mapping *ret)
{
    struct stat st;
    void *data;

    *ret = (mapping){.size = -1};
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return true;
    ret->size = st.st_size;
    if (st.st_size == 0)
        return true;
    data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    ret->data = data;
    return data != MAP_FAILED;
}

static bool is_reserved(void)
{
    return lock(GBX_SQLITE_DATABASE_FD, F_OFD_GETLK, F_WRLCK, RESERVED_AT, 1) == EAGAIN;
}

gbx_sqlite_outcome gbx_sqlite_open_files(bool *ret_is_locked)
{
    const int fd = GBX_SQLITE_DATABASE_FD;
    int error = lock_shared(fd, PENDING_AT, 1);
    int log_error = ENOENT;
    struct stat st;

    /* A writer that waits for readers to end holds PENDING, so that no new ones come. */
    if (error == 0)
        error = lock_shared(fd, SHARED_AT, SHARED_BYTES);
    (void)lock(fd, F_OFD_SETLK, F_UNLCK, PENDING_AT, 1);
    if (error != EAGAIN && fstat(GBX_SQLITE_SHM_FD, &st) == 0 && S_ISREG(st.st_mode))
        log_error = lock_shared(GBX_SQLITE_SHM_FD, LOG_READERS_AT, LOG_READERS_BYTES);
    if (error == EAGAIN || log_error == EAGAIN)
        return GBX_SQLITE_BUSY;
    files.is_reserved = is_reserved();
    /* The log comes first: it may be copied into the database meanwhile. */
    if (!map(GBX_SQLITE_WAL_FD, &files.wal) || !map(fd, &files.database) ||
        !map(GBX_SQLITE_JOURNAL_FD, &files.journal))
        return GBX_SQLITE_MEMORY;
    /* A writer may have begun or ended meanwhile: its journal is not a leftover. */
    files.is_reserved = files.is_reserved || is_reserved();
    *ret_is_locked = error == 0 && log_error == 0;
    return files.database.size < 0 ? GBX_SQLITE_UNREADABLE : GBX_SQLITE_DONE;
}

/* ---- what SQLite calls --------------------------------------------------------- */

typedef struct open_file {
    sqlite3_file base;
    const mapping *of;
} open_file;

static int on_close(sqlite3_file *file)
{
    return SQLITE_OK;
}

static int on_read(sqlite3_file *file, void *to, int amount, sqlite3_int64 at)
{
    static const char magic[] = "SQLite format 3"; /* with its NUL */
    const mapping *m = ((open_file *)file)->of;
    sqlite3_int64 left = at >= 0 && at < m->size ? m->size - at : 0;
    size_t n = (size_t)(left < amount ? left : amount);

    if (n > 0)
        memcpy(to, m->data + at, n);
    if (n == (size_t)amount)
        return SQLITE_OK;
    /* SQLite would read missing bytes as zeros, and rows made of them as valid. Only a
     * database that has no pages yet is read beyond its end. */
    if (m == &files.database && m->size > 0)
        return m->size >= (sqlite3_int64)sizeof magic &&
                       memcmp(m->data, magic, sizeof magic) == 0
                   ? SQLITE_CORRUPT
                   : SQLITE_NOTADB;
    memset((uint8_t *)to + n, 0, (size_t)amount - n);
    return SQLITE_IOERR_SHORT_READ;
}

static int on_write(sqlite3_file *file, const void *data, int amount, sqlite3_int64 at)
{
    return SQLITE_IOERR_WRITE;
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return SQLITE_IOERR_TRUNCATE;
}

static int on_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    const mapping *m = ((open_file *)file)->of;

    *ret = m->size > 0 ? m->size : 0;
    return SQLITE_OK;
}

/* For syncing, locking and unlocking: the locks are held already. */
static int on_request(sqlite3_file *file, int what)
{
    return SQLITE_OK;
}

static int on_is_reserved(sqlite3_file *file, int *ret)
{
    *ret = files.is_reserved;
    return SQLITE_OK;
}

static int on_control(sqlite3_file *file, int what, void *arg)
{
    return SQLITE_NOTFOUND;
}

static int on_traits(sqlite3_file *file)
{
    return 0;
}

/* Version 1: no shared memory, so SQLite makes the log's index in its own memory. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_request,
    .xFileSize = on_size,
    .xLock = on_request,
    .xUnlock = on_request,
    .xCheckReservedLock = on_is_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_traits,
    .xDeviceCharacteristics = on_traits,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                   int *ret_flags)
{
    open_file *f = (open_file *)file;

    f->base.pMethods = NULL;
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0)
        f->of = &files.database;
    else if ((flags & SQLITE_OPEN_WAL) != 0)
        f->of = &files.wal;
    else if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0)
        f->of = &files.journal;
    else
        return SQLITE_CANTOPEN;
    f->base.pMethods = &methods;
    if (ret_flags != NULL)
        *ret_flags = (flags & ~SQLITE_OPEN_READWRITE) | SQLITE_OPEN_READONLY;
    return SQLITE_OK;
}

/* SQLite deletes only the log of an empty database, and does not look at it then. */
static int on_delete(sqlite3_vfs *vfs, const char *name, int must_sync)
{
    return SQLITE_OK;
}

static bool ends_in(const char *name, const char *ending)
{
    size_t len = strlen(name);
    size_t n = strlen(ending);

    return len >= n && strcmp(name + len - n, ending) == 0;
}

static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    const mapping *m = ends_in(name, "-wal")       ? &files.wal
                       : ends_in(name, "-journal") ? &files.journal
                                                   : &files.database;

    *ret = m->size >= 0 && flags != SQLITE_ACCESS_READWRITE;
    return SQLITE_OK;
}

static int on_full_path(sqlite3_vfs *vfs, const char *name, int size, char *to)
{
    if (strlen(name) >= (size_t)size)
        return SQLITE_CANTOPEN;
    memcpy(to, name, strlen(name) + 1);
    return SQLITE_OK;
}

/* Seeds random(): nothing that must be secret. The seal leaves no other source. */
static int on_randomness(sqlite3_vfs *vfs, int size, char *to)
{
    static uint32_t state;

    state ^= (uint32_t)gbx_clock_now_ns();
    for (int i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (char)(state >> 24);
    }
    return size;
}

static int on_sleep(sqlite3_vfs *vfs, int microseconds)
{
    return microseconds;
}

static int on_now(sqlite3_vfs *vfs, double *ret)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    *ret = 2440587.5 + ((double)now.tv_sec + (double)now.tv_nsec / 1e9) / 86400;
    return SQLITE_OK;
}

static int on_last_error(sqlite3_vfs *vfs, int size, char *to)
{
    return 0;
}

sqlite3_vfs gbx_sqlite_vfs = {
    .iVersion = 1,
    .szOsFile = sizeof(open_file),
    .mxPathname = 64,
    .zName = "mapped",
    .xOpen = on_open,
    .xDelete = on_delete,
    .xAccess = on_access,
    .xFullPathname = on_full_path,
    .xRandomness = on_randomness,
    .xSleep = on_sleep,
    .xCurrentTime = on_now,
    .xGetLastError = on_last_error,
};
