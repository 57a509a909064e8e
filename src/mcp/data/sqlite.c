/* SPDX-License-Identifier: MIT */
/*
 * sqlite - runs a query of an SQLite database. The authorizer alone keeps a query from
 * having effects; other measures are extra.
 */
#include "mcp/data/datasets.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/utf8.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Steps of SQLite's virtual machine between two checks of the clock. */
#define STEPS_AT_ONCE 100000

/* How long to wait for a writer. */
#define BUSY_MS 2000

/* In the header of a database: 2 if it keeps a log. */
#define WRITE_VERSION_AT 18

#define CELL_MAX  (256 << 20)
#define QUERY_MAX (64 << 10)
/* For all queries that run at the same time. */
#define HEAP_MIB 512

/* The largest integer that doubles, and so JavaScript, hold exactly. */
#define INTEGER_MAX INT64_C(9007199254740991)

/* ---- the library --------------------------------------------------------------- */

gbx_status gbx_libsqlite3_load(gbx_libsqlite3 *ret, gbx_error *reterr)
{
    static const struct {
        const char *name;
        size_t offset;
    } table[] = {
#define XX(name) {#name, offsetof(gbx_libsqlite3, name)},
        GBX_LIBSQLITE3_MAP(XX)
#undef XX
    };
    /* Never unloaded: a thread may be inside it when the program ends. */
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    gbx_libsqlite3 lib = {0};

    if (library == NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "a dataset of SQLite needs libsqlite3: cannot load "
                        "'libsqlite3.so.0'");
    for (size_t i = 0; i < GBX_COUNTOF(table); i++) {
        void *found = dlsym(library, table[i].name);

        if (found == NULL)
            return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                            "a dataset of SQLite needs libsqlite3 with '%s'",
                            table[i].name);
        memcpy((char *)&lib + table[i].offset, &found, sizeof found);
    }
    *ret = lib;
    return GBX_OK;
}

/* ---- a file that nobody writes --------------------------------------------------- */

/* Nothing is opened here: closing a file would drop the locks that another thread of the
 * process has on it. */

/* Is the log missing or empty? */
static bool has_no_log(const char *path)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf log;
    struct stat st;

    gbx_buf_init(&log, strlen(path) + sizeof "-wal");
    if (!gbx_buf_puts(&log, path) || !gbx_buf_append(&log, "-wal", sizeof "-wal"))
        return false;
    if (stat((const char *)log.data, &st) < 0)
        return errno == ENOENT;
    return st.st_size == 0;
}

static bool put_uri(const char *path, gbx_buf *to)
{
    gbx_buf_init(to, strlen(path) * 3 + 64);
    (void)gbx_buf_puts(to, "file://");
    for (const char *c = path; *c != 0; c++)
        (void)gbx_buf_printf(to,
                             isalnum((unsigned char)*c) || *c == '/' ? "%c" : "%%%02X",
                             (unsigned char)*c);
    return gbx_buf_append(to, "?immutable=1", sizeof "?immutable=1");
}

bool gbx_immutable_look(const char *path, gbx_immutable *ret)
{
    *ret = (gbx_immutable){.path = realpath(path, NULL)};
    return ret->path != NULL && stat(ret->path, &ret->then) == 0 &&
           has_no_log(ret->path) && put_uri(ret->path, &ret->uri);
}

bool gbx_immutable_lasts(const gbx_immutable *s)
{
    struct stat now;

    return stat(s->path, &now) == 0 && now.st_dev == s->then.st_dev &&
           now.st_ino == s->then.st_ino && now.st_size == s->then.st_size &&
           memcmp(&now.st_mtim, &s->then.st_mtim, sizeof now.st_mtim) == 0;
}

void gbx_immutable_cleanup(gbx_immutable *s)
{
    free(s->path);
    gbx_buf_cleanup(&s->uri);
}

/* ---- a query -------------------------------------------------------------------- */

typedef struct rows {
    gbx_libsqlite3 lib;
    sqlite3 *db;
    sqlite3_stmt *statement;
    const char *query;
    const atomic_bool *stop;
    int64_t until_ns;
    bool is_late;
    bool is_open;
    char **keys; /* "name": as JSON, one per column */
    size_t key_count;
    gbx_error *err;
} rows;

static void cleanup(rows *r)
{
    if (r->statement != NULL)
        r->lib.sqlite3_finalize(r->statement);
    if (r->db != NULL)
        r->lib.sqlite3_close_v2(r->db);
    for (size_t i = 0; i < r->key_count; i++)
        free(r->keys[i]);
    free(r->keys);
}

static int code_of(const rows *r)
{
    return r->db != NULL ? r->lib.sqlite3_errcode(r->db) & 0xff : SQLITE_OK;
}

/* If there is a reason other than SQLite's message, report that. */
static bool fail_otherwise(const rows *r, const char *what, gbx_status *ret)
{
    if (r->stop != NULL && atomic_load(r->stop))
        *ret = gbx_fail(r->err, GBX_E_CLOSED, "nobody waits for the query");
    else if (r->is_late)
        *ret = gbx_fail(r->err, GBX_E_DATA, "the query ran for more than %d s",
                        GBX_ROWS_MS / 1000);
    else if (code_of(r) == SQLITE_NOMEM)
        *ret = gbx_fail(r->err, GBX_E_DATA,
                        "%s: it needs more than %d MiB: sort, group or join less", what,
                        HEAP_MIB);
    /* The file can be opened: what fails are the files that SQLite creates next to
     * it. */
    else if (r->is_open &&
             (code_of(r) == SQLITE_READONLY || code_of(r) == SQLITE_CANTOPEN))
        *ret =
            gbx_fail(r->err, GBX_E_DATA,
                     "%s: what was written last is in a file beside it (-wal or "
                     "-journal), and is read from there only where the folder may be "
                     "written to",
                     what);
    else
        return false;
    return true;
}

static gbx_status fail_saying(const rows *r, const char *what, const char *message)
{
    (void)gbx_fail(r->err, GBX_E_DATA, "%s: %s", what, message);
    /* Another process locks it: this passes without a change of the file. */
    if (r->err != NULL && (code_of(r) == SQLITE_BUSY || code_of(r) == SQLITE_LOCKED))
        r->err->os_errno = EBUSY;
    return GBX_E_DATA;
}

static gbx_status fail(const rows *r, const char *what)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    const char *message = r->lib.sqlite3_errmsg(r->db);
    int offset = r->db != NULL ? r->lib.sqlite3_error_offset(r->db) : -1;
    uint32_t line = 0, column = 0;
    gbx_status status;

    gbx_buf_init(&text, 256);
    if (fail_otherwise(r, what, &status))
        return status;
    /* The message quotes the query and the database. */
    (void)gbx_utf8_append_escaped(&text, message, strnlen(message, 120),
                                  GBX_ESCAPE_LINE);
    message = gbx_buf_append(&text, "", 1) ? (const char *)text.data : "";
    if (offset < 0)
        return fail_saying(r, what, message);
    gbx_utf8_position(r->query, strlen(r->query), (size_t)offset, &line, &column);
    return gbx_fail_at(r->err, GBX_E_DATA, line, column, "%s: line %u, column %u: %s",
                       what, line, column, message);
}

/* While rows are read, SQLite's messages quote their content, and models see the error:
 * do not use them. */
static gbx_status fail_in_row(const rows *r, unsigned long long row)
{
    char what[64];
    gbx_status status;

    (void)snprintf(what, sizeof what, "cannot read row %llu", row);
    return fail_otherwise(r, what, &status)
               ? status
               : fail_saying(r, what, r->lib.sqlite3_errstr(code_of(r)));
}

/* ---- what is allowed ---------------------------------------------------------- */

/* Functions that load code or reveal pointers of the process. */
static bool is_bad_function(const char *name)
{
    static const char *const bad[] = {"load_extension", "fts3_tokenizer", "edit",
                                      "readfile", "writefile"};

    for (size_t i = 0; i < GBX_COUNTOF(bad); i++)
        if (name == NULL || strcasecmp(name, bad[i]) == 0)
            return true;
    return false;
}

/* SQLite asks this of itself while it declares a virtual table such as json_each;
 * nothing is written. A query that writes is refused before that. */
static bool is_declaring(const char *table, const char *database)
{
    return table != NULL && strcmp(table, "sqlite_master") == 0 && database != NULL &&
           strcmp(database, "main") == 0;
}

static int authorize(void *user, int action, const char *a, const char *b,
                     const char *database, const char *view)
{
    (void)user;
    (void)view;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return is_bad_function(b) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_UPDATE: return is_declaring(a, database) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA: /* full-text search checks whether its index has changed */
        return a != NULL && b == NULL && strcmp(a, "data_version") == 0 ? SQLITE_OK
                                                                        : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

static int on_progress(void *user)
{
    rows *r = user;

    r->is_late = gbx_clock_now_ns() > r->until_ns;
    return r->is_late || (r->stop != NULL && atomic_load(r->stop));
}

/* ---- opening ------------------------------------------------------------------ */

static bool configure(rows *r)
{
    static const struct {
        int name;
        int value;
    } switches[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    };
    static const struct {
        int name;
        int value;
    } limits[] = {
        {SQLITE_LIMIT_ATTACHED, 0},           {SQLITE_LIMIT_LENGTH, CELL_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, QUERY_MAX}, {SQLITE_LIMIT_WORKER_THREADS, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    };

    for (size_t i = 0; i < GBX_COUNTOF(switches); i++)
        if (r->lib.sqlite3_db_config(r->db, switches[i].name, switches[i].value,
                                     NULL) != SQLITE_OK)
            return false;
    for (size_t i = 0; i < GBX_COUNTOF(limits); i++)
        (void)r->lib.sqlite3_limit(r->db, limits[i].name, limits[i].value);
    /* Not mapped: if the file is cut short while it is read, that must not be a
     * signal. */
    return r->lib.sqlite3_exec(r->db,
                               "PRAGMA mmap_size=0; PRAGMA temp_store=2; "
                               "PRAGMA cell_size_check=1; PRAGMA query_only=1",
                               NULL, NULL, NULL) == SQLITE_OK &&
           r->lib.sqlite3_busy_timeout(r->db, BUSY_MS) == SQLITE_OK &&
           r->lib.sqlite3_set_authorizer(r->db, authorize, NULL) == SQLITE_OK;
}

/* file: a path, or a URI if flags has SQLITE_OPEN_URI. */
static gbx_status open_database(rows *r, const char *file, int flags)
{
    /* For the whole process, which uses SQLite for nothing else: views in a file may
     * compute large values. */
    (void)r->lib.sqlite3_hard_heap_limit64(HEAP_MIB * (sqlite3_int64)1048576);
    if (r->lib.sqlite3_open_v2(file, &r->db,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
                                   SQLITE_OPEN_PRIVATECACHE | flags,
                               NULL) != SQLITE_OK)
        return r->db == NULL ? gbx_fail(r->err, GBX_E_NOMEM, "no memory for SQLite")
                             : fail(r, "cannot open the database");
    if (!configure(r))
        return fail(r, "cannot read the database");
    r->lib.sqlite3_progress_handler(r->db, STEPS_AT_ONCE, on_progress, r);
    r->is_open = true;
    return GBX_OK;
}

/* Does it keep a log? Readers lock other databases. */
static bool keeps_log(const rows *r)
{
    sqlite3_file *file = NULL;
    uint8_t header[WRITE_VERSION_AT + 1];

    return r->lib.sqlite3_file_control(r->db, "main", SQLITE_FCNTL_FILE_POINTER,
                                       &file) == SQLITE_OK &&
           file != NULL && file->pMethods != NULL &&
           file->pMethods->xRead(file, header, sizeof header, 0) == SQLITE_OK &&
           header[WRITE_VERSION_AT] == 2;
}

/* Does only white space, semicolons and comments follow? */
static bool is_end(rows *r, const char *rest)
{
    const char *last = NULL;

    while (*rest != 0 && rest != last) {
        sqlite3_stmt *second = NULL;
        int status;

        last = rest;
        status = r->lib.sqlite3_prepare_v3(r->db, last, -1, 0, &second, &rest);
        r->lib.sqlite3_finalize(second);
        if (status != SQLITE_OK || second != NULL)
            return false;
    }
    return *rest == 0;
}

static gbx_status prepare(rows *r)
{
    const char *rest = NULL;

    if (r->lib.sqlite3_prepare_v3(r->db, r->query, -1, 0, &r->statement, &rest) !=
        SQLITE_OK)
        return fail(r, "cannot run the query");
    if (r->statement == NULL)
        return gbx_fail(r->err, GBX_E_DATA, "the query is empty");
    if (!is_end(r, rest))
        return gbx_fail(r->err, GBX_E_DATA,
                        "the query is more than one statement: one SELECT is read");
    if (!r->lib.sqlite3_stmt_readonly(r->statement) ||
        r->lib.sqlite3_column_count(r->statement) == 0)
        return gbx_fail(r->err, GBX_E_DATA, "the query is not a SELECT");
    if (r->lib.sqlite3_bind_parameter_count(r->statement) > 0) /* they would be NULL */
        return gbx_fail(
            r->err, GBX_E_DATA,
            "the query has a parameter, and nothing is put in for it: write "
            "the value in its place, a text in single quotes");
    return GBX_OK;
}

/* ---- rows ----------------------------------------------------------------------- */

static bool is_key_taken(const rows *r, const char *key)
{
    for (size_t i = 0; i < r->key_count; i++)
        if (r->keys[i] != NULL && strcmp(r->keys[i], key) == 0)
            return true;
    return false;
}

static char *make_key(const char *name, size_t number)
{
    gbx_buf text, key;

    gbx_buf_init(&text, GBX_KIB(64));
    gbx_buf_init(&key, GBX_KIB(512));
    (void)gbx_utf8_append_lossy(&text, name, strnlen(name, 1024));
    if (number > 0)
        (void)gbx_buf_printf(&text, "_%zu", number);
    (void)gbx_json_append_string(&key, text.data, text.len);
    (void)gbx_buf_puts(&key, ":");
    key.failed |= text.failed;
    gbx_buf_cleanup(&text);
    return gbx_buf_take_string(&key, NULL);
}

static gbx_status name_columns(rows *r)
{
    size_t count = (size_t)r->lib.sqlite3_column_count(r->statement);

    r->keys = calloc(count, sizeof *r->keys);
    if (r->keys == NULL)
        return gbx_fail(r->err, GBX_E_NOMEM, "no memory for the rows");
    for (size_t i = 0; i < count; i++) {
        const char *name = r->lib.sqlite3_column_name(r->statement, (int)i);
        char *key = make_key(name != NULL ? name : "column", 0);

        for (size_t n = i + 1; key != NULL && is_key_taken(r, key); n++) {
            free(key);
            key = make_key(name != NULL ? name : "column", n);
        }
        if (key == NULL)
            return gbx_fail(r->err, GBX_E_NOMEM, "no memory for the rows");
        r->keys[r->key_count++] = key;
    }
    return GBX_OK;
}

/* False if a text is not valid. */
static bool put_cell(rows *r, int column, gbx_buf *to)
{
    const gbx_libsqlite3 *lib = &r->lib;
    const void *bytes;
    int64_t integer;
    double number;
    size_t len;

    switch (lib->sqlite3_column_type(r->statement, column)) {
    case SQLITE_INTEGER:
        integer = lib->sqlite3_column_int64(r->statement, column);
        (void)gbx_buf_printf(to,
                             integer >= -INTEGER_MAX && integer <= INTEGER_MAX
                                 ? "%lld"
                                 : "\"%lld\"",
                             (long long)integer);
        break;
    case SQLITE_FLOAT:
        number = lib->sqlite3_column_double(r->statement, column);
        if (isinf(number)) /* JSON lacks it: a number beyond all doubles */
            (void)gbx_buf_puts(to, number < 0 ? "-1e999" : "1e999");
        else
            gbx_buf_printf(to, "%.17g", number);
        break;
    case SQLITE_TEXT:
        bytes = lib->sqlite3_column_text(r->statement, column);
        len = (size_t)lib->sqlite3_column_bytes(r->statement, column);
        if (bytes != NULL && !gbx_utf8_valid(bytes, len, NULL))
            return false;
        (void)gbx_json_append_string(to, bytes, len);
        break;
    case SQLITE_BLOB:
        bytes = lib->sqlite3_column_blob(r->statement, column);
        (void)gbx_buf_puts(to, "\"");
        (void)gbx_base64_append(to, bytes,
                                (size_t)lib->sqlite3_column_bytes(r->statement,
                                                                  column));
        (void)gbx_buf_puts(to, "\"");
        break;
    default: (void)gbx_buf_puts(to, "null"); break;
    }
    return true;
}

static bool put_names(const rows *r, gbx_buf *to)
{
    for (size_t i = 0; i < r->key_count; i++) {
        (void)gbx_buf_puts(to, i == 0 ? "[" : ",");
        assert(r->keys[i] != NULL); /* or naming the columns had failed */
        (void)gbx_buf_append(to, r->keys[i], strlen(r->keys[i]) - 1); /* no colon */
    }
    return gbx_buf_puts(to, "]");
}

static gbx_status read_all(rows *r, gbx_buf *to, gbx_buf *columns)
{
    const char *between = "[";
    unsigned long long row = 0;
    int status;

    while ((status = r->lib.sqlite3_step(r->statement)) == SQLITE_ROW) {
        (void)gbx_buf_puts(to, between);
        row++;
        for (size_t i = 0; i < r->key_count; i++) {
            (void)gbx_buf_puts(to, i == 0 ? "{" : ",");
            (void)gbx_buf_puts(to, r->keys[i]);
            if (!put_cell(r, (int)i, to))
                return gbx_fail(r->err, GBX_E_DATA,
                                "row %llu, column %zu: the text is not UTF-8 (as "
                                "CAST(... AS BLOB) it is base64)",
                                row, i + 1);
        }
        (void)gbx_buf_puts(to, "}");
        between = ",\n";
        if (to->failed)
            return gbx_fail(r->err, GBX_E_DATA, "the rows are larger than %zu MiB",
                            to->ceiling >> 20);
    }
    if (status != SQLITE_DONE)
        return fail_in_row(r, row + 1);
    (void)gbx_buf_puts(to, *between == '[' ? "[]" : "]");
    if (*between == '[' && columns != NULL && !put_names(r, columns))
        to->failed = true;
    return to->failed ? gbx_fail(r->err, GBX_E_NOMEM, "no memory for the rows")
                      : GBX_OK;
}

static gbx_status run(rows *r, gbx_buf *to, gbx_buf *columns)
{
    gbx_status status = prepare(r);

    if (status == GBX_OK)
        status = name_columns(r);
    if (status == GBX_OK)
        status = read_all(r, to, columns);
    return status;
}

static void empty(gbx_buf *buf)
{
    if (buf != NULL)
        gbx_buf_cleanup(buf);
}

/* Read the database as a file that nobody writes, if possible; that creates no files
 * next to it. False if it is not possible, or somebody wrote meanwhile: then there is
 * no result. */
static bool run_still(rows r, const char *path, gbx_buf *to, gbx_buf *columns,
                      gbx_status *ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_immutable_cleanup) gbx_immutable still;
    gbx_error error = {0};
    bool is_done = false;

    r.err = &error;
    if (gbx_immutable_look(path, &still) &&
        open_database(&r, (const char *)still.uri.data, SQLITE_OPEN_URI) == GBX_OK &&
        keeps_log(&r)) {
        *ret = run(&r, to, columns);
        is_done = gbx_immutable_lasts(&still);
    }
    cleanup(&r);
    if (is_done && *ret != GBX_OK && reterr != NULL)
        *reterr = error;
    if (!is_done) {
        empty(to);
        empty(columns);
    }
    return is_done;
}

gbx_status gbx_rows_read(const char *path, const char *query, const atomic_bool *stop,
                         gbx_buf *to, gbx_buf *columns, gbx_error *reterr)
{
    rows r = {.query = query,
              .stop = stop,
              .until_ns = gbx_clock_now_ns() + GBX_ROWS_MS * GBX_NS_PER_MS,
              .err = reterr};
    gbx_status status = gbx_libsqlite3_load(&r.lib, reterr);

    if (status != GBX_OK || run_still(r, path, to, columns, &status, reterr))
        return status;
    status = open_database(&r, path, 0);
    if (status == GBX_OK)
        status = run(&r, to, columns);
    cleanup(&r);
    return status;
}
