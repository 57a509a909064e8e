/* SPDX-License-Identifier: MIT */
/*
 * sqlite - starts the reader of a database and takes its answer. The host never reads
 * the database or its rows, and closes no descriptor of its files: that would drop the
 * locks that this process has on them if it uses SQLite itself.
 */
#include "engine/sqlite.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROWS_MAX ((size_t)1 << 30)

/* Interval in which *stop is checked. */
#define LOOK_MS 50

/* Attempts to read a database that is written meanwhile. */
#define TRIES 3

typedef struct reading {
    const gbx_options *options;
    const char *query; /* NULL: all tables */
    const atomic_bool *stop;
    char *paths[GBX_SQLITE_FDS_END - GBX_SQLITE_DATABASE_FD];
    int rows; /* the memory file */
    size_t room;
    gbx_spawned process;
    gbx_sqlite_answer answer;
    gbx_error *err;
} reading;

/* ---- detecting writes during a read ---------------------------------------------- */

typedef struct stamp {
    struct stat of[2]; /* the database, its log */
} stamp;

static stamp look(const reading *r)
{
    stamp s;

    memset(&s, 0, sizeof s);
    for (size_t i = 0; i < GBX_COUNTOF(s.of); i++)
        (void)stat(r->paths[i], &s.of[i]); /* zeros: it does not exist */
    return s;
}

/* ---- the process ----------------------------------------------------------------- */

/* The file size limit is respected: a write past it kills, even to a memory file. */
static gbx_status make_file(reading *r)
{
    struct rlimit limit;

    r->room = ROWS_MAX;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < r->room)
        r->room = (size_t)limit.rlim_cur;
    r->rows = memfd_create("glovebox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (r->rows < 0 || ftruncate(r->rows, (off_t)r->room) < 0 ||
        fcntl(r->rows, F_ADD_SEALS, F_SEAL_GROW) < 0)
        return gbx_fail(r->err, GBX_E_OS, "cannot make room for the rows: %s",
                        strerror(errno));
    return GBX_OK;
}

static gbx_status start(reading *r)
{
    const gbx_options *o = r->options;
    char uids[GBX_WORKER_UIDS_SIZE];
    gbx_spawn_options options = {.kind = GBX_SPAWN_SQLITE,
                                 .worker_path = o != NULL ? o->worker_path : NULL,
                                 .jit = GBX_JIT_OFF,
                                 .uids = uids,
                                 .cgroup = -1,
                                 .rows = r->rows,
                                 .paths = r->paths};

    gbx_worker_uid_choose(o != NULL ? o->worker_uid : 0, uids);
    return gbx_spawn(&options, &r->process, r->err);
}

static bool send_request(reading *r, size_t attacks)
{
    bool is_strict = r->options != NULL && r->options->require == GBX_REQUIRE_STRICT;
    const char *query = r->query != NULL ? r->query : "";
    gbx_sqlite_request request = {.query_len = (uint32_t)strlen(query),
                                  .attacks = (uint32_t)attacks};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf buf = {.ceiling = sizeof request + GBX_SQLITE_QUERY_MAX};

    /* Not the control group: a single process has its own limits. */
    for (size_t i = 0; i < GBX_LAYER_COUNT; i++)
        if (i != GBX_LAYER_CGROUP && (gbx_layers[i].is_required || is_strict))
            request.required |= GBX_LAYER_BIT(i);
    (void)gbx_buf_append(&buf, &request, sizeof request);
    (void)gbx_buf_append(&buf, query, request.query_len);
    return !buf.failed && send(r->process.control, buf.data, buf.len, MSG_NOSIGNAL) ==
                              (ssize_t)buf.len;
}

/* Receive an answer. GBX_E_OS: the process has ended without one. */
static gbx_status receive(reading *r, int64_t until_ns)
{
    struct pollfd from = {.fd = r->process.control, .events = POLLIN};
    uint8_t *to = (uint8_t *)&r->answer;
    size_t len = 0;

    while (len < sizeof r->answer) {
        ssize_t n = recv(from.fd, to + len, sizeof r->answer - len, 0);

        if (n > 0)
            len += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            return gbx_worker_died_early(&r->process, r->err);
        else if (r->stop != NULL && atomic_load(r->stop))
            return gbx_fail(r->err, GBX_E_CLOSED, "nobody waits for the query");
        else if (gbx_clock_now_ns() > until_ns)
            return gbx_fail(r->err, GBX_E_DATA, "the query ran for more than %d s",
                            GBX_SQLITE_MS / 1000);
        else
            (void)poll(&from, 1, LOOK_MS);
    }
    return GBX_OK;
}

/* ---- the answer ------------------------------------------------------------------ */

static gbx_status fail_busy(const reading *r, const char *what)
{
    (void)gbx_fail(r->err, GBX_E_DATA, "%s", what);
    if (r->err != NULL)
        r->err->os_errno = EBUSY;
    return GBX_E_DATA;
}

static gbx_status fail_wrong(const reading *r, const char *message)
{
    size_t len = r->query != NULL ? strlen(r->query) : 0;
    uint32_t line = 0, column = 0;

    if (r->answer.offset == 0 || r->answer.offset > len)
        return gbx_fail(r->err, GBX_E_DATA, "cannot run the query: %s", message);
    gbx_utf8_position(r->query, len, r->answer.offset - 1, &line, &column);
    return gbx_fail_at(r->err, GBX_E_DATA, line, column,
                       "cannot run the query: line %u, column %u: %s", line, column,
                       message);
}

static gbx_status fail_died(const reading *r)
{
    int status = (int)r->answer.number;
    int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (signal_number == SIGBUS)
        return fail_busy(r, "the database was cut short while it was read");
    if (signal_number == 0)
        return gbx_fail(
            r->err, GBX_E_OS,
            "the reader of the database could not be sealed, or ended early "
            "(%d)",
            WEXITSTATUS(status));
    return gbx_fail(r->err, GBX_E_DATA,
                    "the reader of the database died of signal %d: the database may "
                    "be damaged",
                    signal_number);
}

/* Turn the answer into a status. It is as hostile as the database. */
static gbx_status judge(const reading *r)
{
    static const char *const words[GBX_SQLITE_OUTCOMES] = {
        [GBX_SQLITE_INTERRUPTED] =
            "a change of the database was interrupted (its -journal is not empty): "
            "open it once with a program that may write it, such as sqlite3",
        [GBX_SQLITE_EMPTY] = "the query is empty",
        [GBX_SQLITE_SEVERAL] =
            "the query is more than one statement: one SELECT is read",
        [GBX_SQLITE_NOT_SELECT] = "the query is not a SELECT",
        [GBX_SQLITE_PARAMETER] =
            "the query has a parameter, and nothing is put in for it: write the value "
            "in its place, a text in single quotes",
    };
    const gbx_sqlite_answer *a = &r->answer;
    unsigned long long row = a->number;
    char what[64] = "cannot run the query";
    char message[sizeof a->message * 2];

    gbx_utf8_copy_line(message, sizeof message, a->message,
                       strnlen(a->message, sizeof a->message));
    errno = 0;
    switch (a->outcome) {
    case GBX_SQLITE_DONE: return GBX_OK;
    case GBX_SQLITE_NO_LIBRARY:
        return gbx_fail(r->err, GBX_E_UNSUPPORTED,
                        "a dataset of SQLite needs libsqlite3 of version 3.38 or "
                        "later: %s",
                        message);
    case GBX_SQLITE_UNSEALED:
        return gbx_fail(r->err, GBX_E_UNSUPPORTED,
                        "the layer '%s' is required and missing: %s",
                        row < GBX_LAYER_COUNT ? gbx_layers[row].name : "?", message);
    case GBX_SQLITE_BUSY: return fail_busy(r, "the database is locked");
    case GBX_SQLITE_UNREADABLE:
        return gbx_fail(r->err, GBX_E_DATA, "cannot read the database: %s", message);
    case GBX_SQLITE_WRONG: return fail_wrong(r, message);
    case GBX_SQLITE_MEMORY:
        if (row > 0)
            (void)snprintf(what, sizeof what, "cannot read row %llu", row);
        return gbx_fail(r->err, GBX_E_DATA,
                        "%s: it needs more than %d MiB: sort, group or join less", what,
                        (int)(GBX_SQLITE_HEAP_BYTES >> 20));
    case GBX_SQLITE_BAD_ROW:
        return gbx_fail(r->err, GBX_E_DATA, "cannot read row %llu: %s", row, message);
    case GBX_SQLITE_NOT_UTF8:
        return gbx_fail(r->err, GBX_E_DATA,
                        "row %llu, column %u: the text is not UTF-8 (as CAST(... AS "
                        "BLOB) it is base64)",
                        row, a->offset);
    case GBX_SQLITE_TOO_LONG:
        return gbx_fail(r->err, GBX_E_DATA, "the rows are larger than %zu MiB",
                        r->room >> 20);
    case GBX_SQLITE_DIED: return fail_died(r);
    default:
        return gbx_fail(r->err, GBX_E_DATA, "%s",
                        a->outcome < GBX_SQLITE_OUTCOMES && words[a->outcome] != NULL
                            ? words[a->outcome]
                            : "the reader of the database gave no valid answer");
    }
}

/* Make the file read-only. The sealed fork was killed with its parent, but may not have
 * ended yet: the kernel refuses as long as it can write. */
static bool freeze(int fd)
{
    const struct timespec pause = {.tv_nsec = GBX_NS_PER_MS};
    int64_t until = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_END);

    while (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_SEAL) < 0) {
        if (errno != EBUSY || gbx_clock_now_ns() > until)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

static gbx_status take_rows(const reading *r, gbx_rows *ret)
{
    const gbx_sqlite_answer *a = &r->answer;
    struct stat st;
    uint64_t size;

    if (!freeze(r->rows) || fstat(r->rows, &st) < 0)
        return gbx_fail(r->err, GBX_E_OS, "cannot read the rows: %s", strerror(errno));
    size = (uint64_t)st.st_size;
    if (a->rows_len == 0 || a->rows_len > size || a->columns_len > size - a->rows_len)
        return gbx_fail(r->err, GBX_E_DATA,
                        "the reader of the database gave no valid answer");
    size = a->rows_len + a->columns_len;
    ret->mapped = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, r->rows, 0);
    if (ret->mapped == MAP_FAILED)
        return gbx_fail(r->err, GBX_E_NOMEM, "no memory for the rows");
    ret->mapped_len = (size_t)size;
    ret->text = ret->mapped;
    ret->text_len = (size_t)a->rows_len;
    ret->columns = ret->text + a->rows_len;
    ret->columns_len = (size_t)a->columns_len;
    return GBX_OK;
}

/* *ret_is_still: the database was not written meanwhile. */
static gbx_status read_once(reading *r, gbx_rows *ret, bool *ret_is_still)
{
    int64_t until = gbx_clock_now_ns() + GBX_SQLITE_MS * GBX_NS_PER_MS;
    stamp before = look(r);
    stamp after;
    bool is_same = true;
    gbx_status status = make_file(r);

    *ret_is_still = true;
    if (status == GBX_OK)
        status = start(r);
    if (status == GBX_OK)
        status = send_request(r, 0) ? receive(r, until)
                                    : gbx_worker_died_early(&r->process, r->err);
    gbx_spawned_close(&r->process);
    if (status == GBX_OK) {
        after = look(r);
        for (size_t i = 0; i < GBX_COUNTOF(after.of); i++) {
            const struct stat *a = &before.of[i];
            const struct stat *b = &after.of[i];

            is_same = is_same && a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
                      a->st_size == b->st_size &&
                      memcmp(&a->st_mtim, &b->st_mtim, sizeof a->st_mtim) == 0;
        }
        *ret_is_still = r->answer.is_locked || is_same;
        status = judge(r);
    }
    if (status == GBX_OK && *ret_is_still)
        status = take_rows(r, ret);
    gbx_fd_close(&r->rows);
    return status;
}

/* Make the paths. The log is beside the file itself, not beside a link to it. */
static gbx_status begin(reading *r, const char *path)
{
    static const char *const endings[] = {"", "-wal", "-journal", "-shm"};
    GBX_CLEANUP(gbx_free) char *real = realpath(path, NULL);

    if (real == NULL) {
        const char *reason = gbx_fail_reason(errno);

        errno = 0; /* it is in the message */
        return gbx_fail(r->err, GBX_E_OS, "cannot read '%s': %s", path, reason);
    }
    for (size_t i = 0; i < GBX_COUNTOF(endings); i++)
        if (asprintf(&r->paths[i], "%s%s", real, endings[i]) < 0) {
            r->paths[i] = NULL;
            return gbx_fail(r->err, GBX_E_NOMEM, "no memory for the database");
        }
    return GBX_OK;
}

static void end(reading *r)
{
    gbx_spawned_close(&r->process);
    gbx_fd_close(&r->rows);
    for (size_t i = 0; i < GBX_COUNTOF(r->paths); i++)
        free(r->paths[i]);
}

gbx_status gbx_rows_read(const gbx_options *options, const char *path,
                         const char *query, const atomic_bool *stop, gbx_rows *ret,
                         gbx_error *reterr)
{
    GBX_CLEANUP(end)
    reading r = {.options = options,
                 .query = query,
                 .stop = stop,
                 .rows = -1,
                 .process = GBX_SPAWNED_INIT,
                 .err = reterr};
    bool is_still = false;
    gbx_status status;

    if (query != NULL && strlen(query) > GBX_SQLITE_QUERY_MAX)
        return gbx_fail(reterr, GBX_E_DATA, "the query is longer than %u bytes",
                        GBX_SQLITE_QUERY_MAX);
    if (query != NULL && *query == 0)
        return gbx_fail(reterr, GBX_E_DATA, "the query is empty");
    status = begin(&r, path);
    if (status != GBX_OK)
        return status;
    for (int i = 0; i < TRIES && !is_still; i++)
        status = read_once(&r, ret, &is_still);
    return is_still ? status
                    : fail_busy(&r, "the database was written each time while it was "
                                    "read");
}

void gbx_rows_cleanup(gbx_rows *rows)
{
    if (rows->mapped_len > 0)
        (void)munmap(rows->mapped, rows->mapped_len);
    *rows = (gbx_rows){0};
}

gbx_status gbx_rows_attack(const char *database, size_t count,
                           void (*tried)(void *user, int status), void *user,
                           gbx_error *reterr)
{
    GBX_CLEANUP(end)
    reading r = {.rows = -1, .process = GBX_SPAWNED_INIT, .err = reterr};
    int64_t until = gbx_clock_now_ns() + GBX_SQLITE_MS * GBX_NS_PER_MS;
    gbx_status status = begin(&r, database);

    if (status == GBX_OK)
        status = make_file(&r);
    if (status == GBX_OK)
        status = start(&r);
    if (status == GBX_OK && !send_request(&r, count))
        status = gbx_worker_died_early(&r.process, reterr);
    for (size_t i = 0; status == GBX_OK && i < count; i++) {
        status = receive(&r, until);
        if (status == GBX_OK && r.answer.outcome != GBX_SQLITE_DIED)
            status = judge(&r);
        if (status == GBX_OK)
            tried(user, (int)r.answer.number);
    }
    return status;
}
