/* SPDX-License-Identifier: MIT */
/* From --data to JSON: databases, of which a query can only read. The cases are those of
 * data/rows.txt, with the verbs of verbs[] and of steps.h, and the tests in this file. */
#include "base/cleanup.h"
#include "mcp/data/datasets.h"
#include "scratch.h"
#include "sources.h"
#include "steps.h"
#include "test.h"
#include "wire/wire.h"
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static sqlite3 *open_database(void)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(here.path, &db), SQLITE_OK);
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static void make_database(const char *sql)
{
    sqlite3 *db;

    (void)snprintf(here.path, sizeof here.path, "%s/t.db", scratch);
    db = open_database();
    run(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* With the file beside it that has what was written last, in a place of its own: its
 * writer is where it was. */
static void copy_midway(const char *sql, const char *beside)
{
    sqlite3 *db = open_database();
    char command[512];

    run(db, sql);
    (void)snprintf(command, sizeof command, "mkdir %s/b && cp %s/t.db %s/t.db%s %s/b",
                   scratch, scratch, scratch, beside, scratch);
    assert_int_equal(system(command), 0);
    (void)sqlite3_close_v2(db);
    (void)snprintf(here.path, sizeof here.path, "%s/b/t.db", scratch);
}

static bool is_beside(const char *ending)
{
    char path[160];

    (void)snprintf(path, sizeof path, "%s%s", here.path, ending);
    return access(path, F_OK) == 0;
}

static const char *query(const char *sql)
{
    size_t n =
        (size_t)snprintf(here.spec, sizeof here.spec, "d=sqlite:%s?query=", here.path);

    for (; *sql != 0; sql++)
        n += (size_t)snprintf(here.spec + n, sizeof here.spec - n,
                              *sql == '%' ? "%%25" : "%c", *sql);
    return here.spec;
}

static const char schema[] =
    "CREATE TABLE t(id INTEGER, x REAL, s TEXT, b BLOB);"
    "INSERT INTO t VALUES (1, 0.1, 'a\"b', x'0102'), (9007199254740993, 1e20, NULL, ''),"
    " (-5, 2, char(233), NULL);"
    "CREATE VIEW v AS SELECT id FROM t;"
    "CREATE VIEW bad AS SELECT load_extension('/tmp/x.so') AS x;";

static const char with_log[] =
    "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)";

typedef struct toucher {
    const char *path;
    atomic_bool stop;
} toucher;

static void *touch_again_and_again(void *user)
{
    toucher *w = user;
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

    while (!atomic_load(&w->stop))
        (void)utimensat(AT_FDCWD, w->path, times, 0);
    return NULL;
}

static void is_busy_while_touched(void)
{
    toucher w = {.path = here.path};
    gbx_source source;
    gbx_error error = {0};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, touch_again_and_again, &w), 0);
    assert_int_equal(read_spec(query("SELECT a FROM t"), &source, &error), GBX_E_DATA);
    atomic_store(&w.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(error.os_errno, EBUSY);
    assert_non_null(strstr(error.message, "was written each time"));
}

/* Without an index no lock keeps others from writing, whether there is a log or not. */
TEST(a_database__that_changes_all_the_time_is_told_as_busy)
{
    make_database(with_log);
    is_busy_while_touched();
    becomes(here.spec, "[{\"a\":1}]");
    copy_midway("INSERT INTO t VALUES (2)", "-wal");
    is_busy_while_touched();
    becomes(here.spec, "[{\"a\":1},\n{\"a\":2}]");
}

typedef struct slow_reading {
    atomic_bool stop;
    gbx_status status;
} slow_reading;

static const char endless[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 "
                              "FROM n) SELECT sum(i) FROM n";

static void *read_slowly(void *user)
{
    slow_reading *s = user;
    gbx_rows rows;

    s->status = gbx_rows_read(NULL, here.path, endless, &s->stop, &rows, NULL);
    return NULL;
}

TEST(a_database__cannot_be_written_while_it_is_read)
{
    slow_reading s = {0};
    pthread_t thread;
    sqlite3 *other;

    make_database(schema);
    other = open_database();
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &s), 0);
    while (sqlite3_exec(other, "INSERT INTO t(id) VALUES (1)", NULL, NULL, NULL) ==
           SQLITE_OK)
        continue;
    assert_int_equal(sqlite3_errcode(other), SQLITE_BUSY);
    atomic_store(&s.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(s.status, GBX_E_CLOSED);
    run(other, "INSERT INTO t(id) VALUES (1)");
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

/* As another process sees it; len 0: to the end. */
static bool is_locked_at(const char *path, off_t at, off_t len)
{
    int status = 1;
    pid_t child = fork();

    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK,
                             .l_whence = SEEK_SET,
                             .l_start = at,
                             .l_len = len};
        int fd = open(path, O_RDWR);

        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return status == 0;
}

static bool is_locked(const char *path)
{
    return is_locked_at(path, 0, 0);
}

TEST(a_log__is_not_copied_into_the_database_that_is_read)
{
    slow_reading s = {0};
    char index[160];
    pthread_t thread;
    sqlite3 *other;
    int in_log = 0;
    int copied = 0;

    make_database(with_log);
    (void)snprintf(index, sizeof index, "%s-shm", here.path);
    other = open_database();
    run(other, "SELECT a FROM t"); /* the index is there, and the log is empty */
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &s), 0);
    while (!is_locked_at(index, 123, 2))
        continue;
    run(other, "INSERT INTO t VALUES (2)");
    (void)sqlite3_wal_checkpoint_v2(other, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log,
                                    &copied);
    assert_true(in_log > 0 && copied == 0);
    atomic_store(&s.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sqlite3_wal_checkpoint_v2(other, NULL, SQLITE_CHECKPOINT_PASSIVE,
                                               &in_log, &copied),
                     SQLITE_OK);
    assert_true(in_log > 0 && copied == in_log);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

static void *read_again(void *user)
{
    becomes(here.spec, "[{\"t\":2,\"n\":3000000}]");
    return NULL;
}

TEST(a_database__that_is_opened_and_written_meanwhile_is_read_once_more)
{
    pthread_t thread;
    sqlite3 *other;

    make_database(with_log); /* closed: neither log nor index is there */
    (void)query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE "
                "i < 3000000) SELECT (SELECT count(*) FROM t) AS t, (SELECT "
                "count(*) FROM n) AS n");
    assert_int_equal(pthread_create(&thread, NULL, read_again, NULL), 0);
    while (!is_locked(here.path))
        continue;
    other = open_database();
    run(other, "INSERT INTO t VALUES (2); PRAGMA wal_checkpoint");
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(a_folder__is_no_database)
{
    gbx_error error = {0};
    gbx_rows rows;

    assert_int_equal(gbx_rows_read(NULL, scratch, NULL, NULL, &rows, &error),
                     GBX_E_DATA);
    assert_string_equal(error.message, "cannot read the database: it is not a file");
}

TEST(a_reading__takes_no_lock_of_ours_away)
{
    sqlite3 *db;

    make_database(schema);
    db = open_database();
    run(db, "BEGIN; SELECT id FROM t");
    assert_true(is_locked(here.path));
    becomes(query("SELECT id FROM t"),
            "[{\"id\":1},\n{\"id\":\"9007199254740993\"},\n{\"id\":-5}]");
    assert_true(is_locked(here.path));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST(a_query__without_end_is_stopped)
{
    atomic_bool stop = true;
    gbx_source source;
    gbx_error error;
    gbx_spec spec;

    make_database(schema);
    assert_int_equal(gbx_spec_parse(query(endless), &spec, &error), GBX_OK);
    assert_int_equal(gbx_source_read(NULL, &spec, GBX_SOURCE_WHOLE, NULL, &stop,
                                     &source, &error),
                     GBX_E_CLOSED);
    gbx_spec_cleanup(&spec);
}

/* In the sealed process. test_sqlite_damage tries many more. */
TEST(a_database__that_is_damaged_is_read_or_refused)
{
    char whole[8192];
    FILE *file;
    size_t size;

    make_database("PRAGMA page_size=512; CREATE TABLE t(a); CREATE INDEX i ON t(a);"
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
                  "WHERE i < 100) INSERT INTO t SELECT i || 'x' FROM n");
    file = fopen(here.path, "r");
    size = fread(whole, 1, sizeof whole, file);
    (void)fclose(file);
    assert_in_range(size, 2048, sizeof whole - 1);
    for (size_t at = 0; at < size; at += 1021) {
        for (int cut = 0; cut <= 1; cut++) {
            char *damaged = malloc(size);
            gbx_source source;
            gbx_error error = {0};

            memcpy(damaged, whole, size);
            damaged[at] = (char)~damaged[at];
            (void)write_file("t.db", damaged, cut ? at : size);
            free(damaged);
            if (read_spec(query("SELECT a FROM t ORDER BY a"), &source, &error) ==
                GBX_OK)
                gbx_source_cleanup(&source);
            else if (error.status != GBX_E_DATA ||
                     strstr(error.message, "reader") != NULL)
                fail_msg("%zu: %s", at, error.message);
        }
    }
}

/* A reader that was taken over answers what the file holds. */
TEST(an_answer__is_checked_before_it_is_believed)
{
    static const struct {
        gbx_sqlite_answer answer;
        const char *message;
    } cases[] = {
        {{.outcome = GBX_SQLITE_DONE}, "gave no valid answer"},
        {{.rows_len = (1 << 30) + 1}, "gave no valid answer"},
        {{.rows_len = 1 << 30, .columns_len = 1}, "gave no valid answer"},
        {{.rows_len = 2, .columns_len = UINT64_MAX}, "gave no valid answer"},
        {{.outcome = GBX_SQLITE_OUTCOMES}, "gave no valid answer"},
        {{.outcome = UINT32_MAX}, "gave no valid answer"},
        {{.outcome = GBX_SQLITE_WRONG, .offset = UINT32_MAX, .message = "x\n\033[2J"},
         "cannot run the query: x\\n\\u{1b}[2J"},
        {{.outcome = GBX_SQLITE_UNSEALED, .number = 99, .message = "y"},
         "the layer '?' is required and missing: y"},
        {{.outcome = GBX_SQLITE_DIED, .number = SIGBUS}, "was cut short"},
        {{.outcome = GBX_SQLITE_DIED, .number = UINT64_MAX}, "ended early (255)"},
        {{.outcome = GBX_SQLITE_DIED, .number = SIGSEGV}, "may be damaged"},
        {{.outcome = GBX_SQLITE_MEMORY, .number = 7}, "cannot read row 7: it needs"},
    };
    const gbx_options options = {.worker_path = HOSTILE_PROGRAM};
    gbx_error error;
    gbx_rows rows;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        (void)write_file("answer", &cases[i].answer, sizeof cases[i].answer);
        assert_int_not_equal(gbx_rows_read(&options, here.path, "SELECT 1", NULL, &rows,
                                           &error),
                             GBX_OK);
        if (strstr(error.message, cases[i].message) == NULL)
            fail_msg("%zu: %s", i, error.message);
    }
    (void)write_file("answer", &cases[0].answer, sizeof cases[0].answer - 1);
    assert_int_equal(gbx_rows_read(&options, here.path, NULL, NULL, &rows, &error),
                     GBX_E_OS);
    assert_non_null(strstr(error.message, "died before it was ready"));
}

static void count_breaches(void *user, int status)
{
    size_t *breaches = user;
    bool is_refused = WIFSIGNALED(status) || WEXITSTATUS(status) == 0 ||
                      WEXITSTATUS(status) == GBX_ATTACK_EXIT_ABSENT;

    *breaches += !is_refused;
}

TEST(a_reader__that_was_taken_over_can_do_nothing_else)
{
    gbx_attack_victims victims;
    gbx_error error = {0};
    gbx_status status;
    size_t breaches = 0;

    make_database(schema);
    gbx_attack_victims_open(&victims);
    status = gbx_rows_attack(here.path, gbx_attack_count(), count_breaches, &breaches,
                             &error);
    gbx_attack_victims_close(&victims);
    if (status != GBX_OK)
        fail_msg("%s", error.message);
    assert_int_equal(breaches, 0);
}

/* ---- the cases of data/rows.txt -------------------------------------------------- */

static sqlite3 *writer;
static gbx_error last; /* of what was refused */

static void on_database(char *rest)
{
    make_database(rest);
}

/* "wal SQL" or "journal SQL" */
static void on_midway(char *rest)
{
    char beside[16];

    (void)snprintf(beside, sizeof beside, "-%s", table_word(&rest, " "));
    copy_midway(rest, beside);
}

/* What another does to the database, which it keeps open. */
static void on_writer(char *rest)
{
    if (writer == NULL)
        writer = open_database();
    run(writer, rest);
}

static void on_writer_ends(char *rest)
{
    assert_int_equal(sqlite3_close(writer), SQLITE_OK);
    writer = NULL;
}

/* "SQL => JSON" */
static void on_query(char *rest)
{
    char *json = rest;

    (void)table_word(&json, " => ");
    becomes(query(rest), json);
}

/* "SQL => PART" of the message */
static void refuse(char *rest, gbx_status status)
{
    char *part = rest;
    gbx_source source;

    (void)table_word(&part, " => ");
    last = (gbx_error){0};
    if (read_spec(query(rest), &source, &last) != status)
        fail_msg("%s: status %d", rest, last.status);
    if (strstr(last.message, part) == NULL)
        fail_msg("%s: %s", rest, last.message);
}

static void on_refuse(char *rest)
{
    refuse(rest, GBX_E_DATA);
}

static void on_refuse_os(char *rest)
{
    refuse(rest, GBX_E_OS);
}

/* "LINE COLUMN" of what was refused, or "busy" */
static bool is_error(char *rest)
{
    if (strcmp(rest, "busy") == 0)
        return last.os_errno == EBUSY;
    return last.line == steps_number(&rest) && last.column == steps_number(&rest);
}

static bool has_said(char *rest)
{
    return strstr(last.message, rest) != NULL;
}

/* Without a query: "PREFIX => JSON" */
static void on_whole(char *rest)
{
    char *json = rest;

    (void)table_word(&json, " => ");
    (void)snprintf(here.spec, sizeof here.spec, "%s%s", rest, here.path);
    becomes(here.spec, json);
}

/* "COUNT SQL => COLUMNS" of a source with so many bytes */
static void on_columns(char *rest)
{
    long len = steps_number(&rest);
    char *columns = rest;
    gbx_source source;

    (void)table_word(&columns, " => ");
    assert_int_equal(read_spec(query(rest), &source, NULL), GBX_OK);
    if (len > 0)
        assert_int_equal(source.rows.text_len, len);
    assert_int_equal(source.rows.columns_len, strlen(columns));
    assert_memory_equal(source.rows.columns, columns, strlen(columns));
    gbx_source_cleanup(&source);
}

static bool is_there(char *rest)
{
    char ending[16];

    (void)snprintf(ending, sizeof ending, "-%s", rest);
    return is_beside(ending);
}

/* "ENDING TARGET": a link beside the database; to nothing: an empty file */
static void on_put(char *rest)
{
    char file[160];

    (void)snprintf(file, sizeof file, "%s-%s", here.path, table_word(&rest, " "));
    if (*rest == '\0')
        assert_int_equal(fclose(fopen(file, "w")), 0);
    else
        assert_int_equal(symlink(strcmp(rest, "itself") == 0 ? file : rest, file), 0);
}

static void on_rename(char *rest)
{
    char from[128];

    (void)snprintf(from, sizeof from, "%s", here.path);
    (void)snprintf(here.path, sizeof here.path, "%s/%s", scratch, rest);
    assert_int_equal(rename(from, here.path), 0);
}

static void on_file(char *rest)
{
    (void)write_file("t.db", rest, strlen(rest));
}

static const steps_verb verbs[] = {
    {"database", on_database, NULL},
    {"midway", on_midway, NULL},
    {"writer ends", on_writer_ends, NULL},
    {"writer", on_writer, NULL},
    {"query", on_query, NULL},
    {"refuse os", on_refuse_os, NULL},
    {"refuse", on_refuse, NULL},
    {"error", NULL, is_error},
    {"said", NULL, has_said},
    {"whole", on_whole, NULL},
    {"columns", on_columns, NULL},
    {"beside", NULL, is_there},
    {"put", on_put, NULL},
    {"rename", on_rename, NULL},
    {"file", on_file, NULL},
    {NULL, NULL, NULL},
};

/* Each case has a folder of its own, in place of that of the test. */
static void set_up(void)
{
    (void)scratch_end(NULL);
    assert_int_equal(scratch_begin(NULL), 0);
}

static void tear_down(void)
{
    assert_null(writer);
}

int main(int argc, char **argv)
{
    static const char *const words[][2] = {{"$SCHEMA", schema},
                                           {"$WITH_LOG", with_log},
                                           {NULL}};
    static const steps_program program = {.verbs = verbs,
                                          .words = words,
                                          .set_up = set_up,
                                          .tear_down = tear_down};

    tests_each(scratch_begin, scratch_end);
    return steps_main(argc, argv, &program);
}
