/* SPDX-License-Identifier: MIT */
/*
 * read_sqlite - runs a query on a hostile database, in a fork sealed as a worker. The
 * worst that the fork could do is to write wrong rows. The authorizer allows the query
 * only to read, so that it means the same wherever it runs.
 */
#include "worker/worker.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Maximum length of a cell or row, in bytes. */
#define CELL_MAX GBX_MIB(64)

#define TABLES_MAX 256

#define ATTACK_MS 3000

/* The largest integer that doubles, and so JavaScript, hold exactly. */
#define INTEGER_MAX INT64_C(9007199254740991)

/* The functions of SQLite in use. The library is loaded when a database is read. */
#define FUNCTIONS(XX)                \
    XX(sqlite3_bind_parameter_count) \
    XX(sqlite3_column_blob)          \
    XX(sqlite3_column_bytes)         \
    XX(sqlite3_column_count)         \
    XX(sqlite3_column_double)        \
    XX(sqlite3_column_int64)         \
    XX(sqlite3_column_name)          \
    XX(sqlite3_column_text)          \
    XX(sqlite3_column_type)          \
    XX(sqlite3_config)               \
    XX(sqlite3_db_config)            \
    XX(sqlite3_errcode)              \
    XX(sqlite3_errmsg)               \
    XX(sqlite3_error_offset)         \
    XX(sqlite3_errstr)               \
    XX(sqlite3_exec)                 \
    XX(sqlite3_finalize)             \
    XX(sqlite3_hard_heap_limit64)    \
    XX(sqlite3_limit)                \
    XX(sqlite3_open_v2)              \
    XX(sqlite3_prepare_v3)           \
    XX(sqlite3_set_authorizer)       \
    XX(sqlite3_step)                 \
    XX(sqlite3_stmt_readonly)        \
    XX(sqlite3_vfs_register)

static struct {
#define XX(name) __typeof__(&name) name;
    FUNCTIONS(XX)
#undef XX
} lib;

typedef struct reader {
    gbx_sqlite_request request;
    char query[GBX_SQLITE_QUERY_MAX + 1];
    char *rows; /* the file's mapping */
    size_t room;
    sqlite3 *db;
    sqlite3_stmt *statement;
    gbx_buf cell;
    char **keys; /* of the statement: "name": as JSON, one per column */
    size_t key_count;
    char *tables[TABLES_MAX]; /* their names, if all are read */
    size_t table_count;
    gbx_sqlite_answer answer;
} reader;

/* Every step returns false once the answer has an outcome other than DONE. */
static bool fail(reader *r, gbx_sqlite_outcome outcome, const char *message)
{
    r->answer.outcome = outcome;
    (void)snprintf(r->answer.message, sizeof r->answer.message, "%s", message);
    return false;
}

static bool load_library(reader *r)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return fail(r, GBX_SQLITE_NO_LIBRARY, "cannot load 'libsqlite3.so.0'");
#define XX(name)                                         \
    *(void **)(void *)&lib.name = dlsym(library, #name); \
    if (lib.name == NULL)                                \
        return fail(r, GBX_SQLITE_NO_LIBRARY, "it lacks '" #name "'");
    FUNCTIONS(XX)
#undef XX
    return true;
}

/* ---- what is allowed ---------------------------------------------------------- */

/* Functions that load code, reveal pointers of the process, or use files. */
static bool is_bad_function(const char *name)
{
    static const char *const bad[] = {"load_extension", "fts3_tokenizer", "edit",
                                      "readfile", "writefile"};

    for (size_t i = 0; i < GBX_COUNTOF(bad); i++)
        if (name == NULL || strcasecmp(name, bad[i]) == 0)
            return true;
    return false;
}

static int authorize(void *user, int action, const char *a, const char *b,
                     const char *database, const char *view)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return is_bad_function(b) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_UPDATE:
        /* SQLite asks about this while it declares a virtual table such as json_each;
         * nothing is written. A query that writes is refused before that. */
        return a != NULL && strcmp(a, "sqlite_master") == 0 && database != NULL &&
                       strcmp(database, "main") == 0
                   ? SQLITE_OK
                   : SQLITE_DENY;
    case SQLITE_PRAGMA: /* full-text search checks whether its index has changed */
        return a != NULL && b == NULL && strcmp(a, "data_version") == 0 ? SQLITE_OK
                                                                        : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

/* ---- opening ------------------------------------------------------------------ */

/* Report SQLite's message, which quotes the query and the database. */
static bool fail_by(reader *r, gbx_sqlite_outcome outcome)
{
    int code = r->db != NULL ? lib.sqlite3_errcode(r->db) & 0xff : SQLITE_NOMEM;

    if (code == SQLITE_NOMEM)
        return fail(r, GBX_SQLITE_MEMORY, "");
    /* A journal without a writer must be rolled back, and we may not write. */
    if (code == SQLITE_READONLY)
        return fail(r, GBX_SQLITE_INTERRUPTED, "");
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        outcome = GBX_SQLITE_UNREADABLE;
    if (outcome == GBX_SQLITE_WRONG)
        r->answer.offset = (uint32_t)(lib.sqlite3_error_offset(r->db) + 1);
    return fail(r, outcome, lib.sqlite3_errmsg(r->db));
}

/* While rows are read, SQLite's messages quote their content, and models see the error:
 * only the kind of the error is reported. */
static bool fail_in_row(reader *r)
{
    int code = lib.sqlite3_errcode(r->db) & 0xff;

    return fail(r, code == SQLITE_NOMEM ? GBX_SQLITE_MEMORY : GBX_SQLITE_BAD_ROW,
                lib.sqlite3_errstr(code));
}

static bool open_database(reader *r)
{
    (void)lib.sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    (void)lib.sqlite3_hard_heap_limit64((sqlite3_int64)GBX_SQLITE_HEAP_BYTES);
    if (lib.sqlite3_vfs_register(&gbx_sqlite_vfs, 1) != SQLITE_OK ||
        lib.sqlite3_open_v2("/database", &r->db,
                            SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE,
                            NULL) != SQLITE_OK)
        return fail_by(r, GBX_SQLITE_UNREADABLE);
    (void)lib.sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, (int)CELL_MAX);
    /* An untrusted schema: its views call no function that has effects. Exclusive
     * locking: the log's index is in our own memory. */
    if (lib.sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) !=
            SQLITE_OK ||
        lib.sqlite3_exec(r->db,
                         "PRAGMA locking_mode=EXCLUSIVE; PRAGMA temp_store=2; "
                         "PRAGMA cell_size_check=1",
                         NULL, NULL, NULL) != SQLITE_OK)
        return fail_by(r, GBX_SQLITE_UNREADABLE);
    return true;
}

/* ---- statements ----------------------------------------------------------------- */

static void end_statement(reader *r)
{
    (void)lib.sqlite3_finalize(r->statement);
    r->statement = NULL;
    for (size_t i = 0; i < r->key_count; i++)
        free(r->keys[i]);
    free(r->keys);
    r->keys = NULL;
    r->key_count = 0;
}

/* True if only white space, semicolons and comments follow. */
static bool is_end(reader *r, const char *rest)
{
    const char *last = NULL;

    while (*rest != 0 && rest != last) {
        sqlite3_stmt *second = NULL;
        int status;

        last = rest;
        status = lib.sqlite3_prepare_v3(r->db, last, -1, 0, &second, &rest);
        (void)lib.sqlite3_finalize(second);
        if (status != SQLITE_OK || second != NULL)
            return false;
    }
    return *rest == 0;
}

static bool prepare(reader *r, const char *query)
{
    const char *rest = NULL;

    if (lib.sqlite3_prepare_v3(r->db, query, -1, 0, &r->statement, &rest) != SQLITE_OK)
        return fail_by(r, GBX_SQLITE_WRONG);
    if (r->statement == NULL)
        return fail(r, GBX_SQLITE_EMPTY, "");
    if (!is_end(r, rest))
        return fail(r, GBX_SQLITE_SEVERAL, "");
    if (!lib.sqlite3_stmt_readonly(r->statement) ||
        lib.sqlite3_column_count(r->statement) == 0)
        return fail(r, GBX_SQLITE_NOT_SELECT, "");
    if (lib.sqlite3_bind_parameter_count(r->statement) > 0) /* they would be NULL */
        return fail(r, GBX_SQLITE_PARAMETER, "");
    return true;
}

static bool is_key_taken(const reader *r, const char *key)
{
    for (size_t i = 0; i < r->key_count; i++)
        if (strcmp(r->keys[i], key) == 0)
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

static bool name_columns(reader *r)
{
    size_t count = (size_t)lib.sqlite3_column_count(r->statement);

    r->keys = calloc(count, sizeof *r->keys);
    r->key_count = 0;
    if (r->keys == NULL)
        return fail(r, GBX_SQLITE_MEMORY, "");
    for (size_t i = 0; i < count; i++) {
        const char *name = lib.sqlite3_column_name(r->statement, (int)i);
        char *key = make_key(name != NULL ? name : "column", 0);

        for (size_t n = i + 1; key != NULL && is_key_taken(r, key); n++) {
            free(key);
            key = make_key(name != NULL ? name : "column", n);
        }
        if (key == NULL)
            return fail(r, GBX_SQLITE_MEMORY, "");
        r->keys[r->key_count++] = key;
    }
    return true;
}

/* ---- rows ----------------------------------------------------------------------- */

static bool put(reader *r, const void *data, size_t len)
{
    if (len > r->room - r->answer.rows_len - r->answer.columns_len)
        return fail(r, GBX_SQLITE_TOO_LONG, "");
    memcpy(r->rows + r->answer.rows_len + r->answer.columns_len, data, len);
    r->answer.rows_len += len;
    return true;
}

static bool put_text(reader *r, const char *text)
{
    return put(r, text, strlen(text));
}

/* The cell as JSON in r->cell; false if a text is not valid. */
static bool format_cell(reader *r, int column)
{
    gbx_buf *to = &r->cell;
    const void *bytes;
    int64_t integer;
    double number;
    size_t len;

    to->len = 0;
    switch (lib.sqlite3_column_type(r->statement, column)) {
    case SQLITE_INTEGER:
        integer = lib.sqlite3_column_int64(r->statement, column);
        return gbx_buf_printf(to,
                              integer >= -INTEGER_MAX && integer <= INTEGER_MAX
                                  ? "%lld"
                                  : "\"%lld\"",
                              (long long)integer);
    case SQLITE_FLOAT:
        number = lib.sqlite3_column_double(r->statement, column);
        if (isinf(number)) /* JSON lacks it: a number beyond all doubles */
            return gbx_buf_puts(to, number < 0 ? "-1e999" : "1e999");
        return gbx_buf_printf(to, "%.17g", number);
    case SQLITE_TEXT:
        bytes = lib.sqlite3_column_text(r->statement, column);
        len = (size_t)lib.sqlite3_column_bytes(r->statement, column);
        if (bytes != NULL && !gbx_utf8_valid(bytes, len, NULL))
            return fail(r, GBX_SQLITE_NOT_UTF8, "");
        return gbx_json_append_string(to, bytes, len);
    case SQLITE_BLOB:
        bytes = lib.sqlite3_column_blob(r->statement, column);
        len = (size_t)lib.sqlite3_column_bytes(r->statement, column);
        return gbx_buf_puts(to, "\"") && gbx_base64_append(to, bytes, len) &&
               gbx_buf_puts(to, "\"");
    default: return gbx_buf_puts(to, "null");
    }
}

static bool put_row(reader *r)
{
    for (size_t i = 0; i < r->key_count; i++) {
        r->answer.offset = (uint32_t)i + 1;
        if (!format_cell(r, (int)i))
            return r->cell.failed ? fail(r, GBX_SQLITE_MEMORY, "") : false;
        if (!put_text(r, i == 0 ? "{" : ",") || !put_text(r, r->keys[i]) ||
            !put(r, r->cell.data, r->cell.len))
            return false;
    }
    return put_text(r, "}");
}

/* Put the names of the columns after the rows, if there is no row to have them. */
static bool put_columns(reader *r)
{
    uint64_t rows_len = r->answer.rows_len;
    bool is_put = true;

    for (size_t i = 0; is_put && i < r->key_count; i++)
        is_put = put_text(r, i == 0 ? "[" : ",") &&
                 put(r, r->keys[i], strlen(r->keys[i]) - 1); /* no colon */
    is_put = is_put && put_text(r, "]");
    r->answer.columns_len = r->answer.rows_len - rows_len;
    r->answer.rows_len = rows_len;
    return is_put;
}

/* An array of the statement's rows. */
static bool put_rows(reader *r)
{
    int status;

    r->answer.number = 0;
    while ((status = lib.sqlite3_step(r->statement)) == SQLITE_ROW)
        if (!put_text(r, r->answer.number++ == 0 ? "[" : ",\n") || !put_row(r))
            return false;
    if (status == SQLITE_DONE)
        return put_text(r, r->answer.number == 0 ? "[]" : "]");
    r->answer.number++;
    return fail_in_row(r);
}

static bool run(reader *r, const char *query)
{
    return prepare(r, query) && name_columns(r) && put_rows(r);
}

/* ---- all tables ------------------------------------------------------------------ */

/* Views are left out, and so are the tables in which a virtual table keeps its data. */
#define TABLES                                                                         \
    "SELECT name FROM pragma_table_list WHERE schema='main' AND "                      \
    "type IN ('table','virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY " \
    "name LIMIT 256"

/* Call before the authorizer is set, which would refuse this query. */
static bool list_tables(reader *r)
{
    int status;

    if (lib.sqlite3_prepare_v3(r->db, TABLES, -1, 0, &r->statement, NULL) != SQLITE_OK)
        return fail_by(r, GBX_SQLITE_UNREADABLE);
    while ((status = lib.sqlite3_step(r->statement)) == SQLITE_ROW &&
           r->table_count < TABLES_MAX) {
        const void *name = lib.sqlite3_column_text(r->statement, 0);
        char *copy = name != NULL ? strdup(name) : NULL;

        if (copy == NULL)
            return fail(r, GBX_SQLITE_MEMORY, "");
        r->tables[r->table_count++] = copy;
    }
    end_statement(r);
    return status == SQLITE_DONE || fail_in_row(r);
}

static bool put_table(reader *r, const char *name, bool is_first)
{
    gbx_buf text = {.ceiling = GBX_SQLITE_QUERY_MAX};
    GBX_CLEANUP(gbx_free) char *query = NULL;
    GBX_CLEANUP(gbx_free) char *key = make_key(name, 0);

    (void)gbx_buf_puts(&text, "SELECT * FROM \"");
    for (const char *c = name; *c != 0; c++) /* a quote in the name is doubled */
        (void)gbx_buf_printf(&text, *c == '"' ? "\"\"" : "%c", *c);
    (void)gbx_buf_puts(&text, "\"");
    query = gbx_buf_take_string(&text, NULL);
    if (query == NULL || key == NULL)
        return fail(r, GBX_SQLITE_MEMORY, "");
    if (!put_text(r, is_first ? "{" : ",\n") || !put_text(r, key) || !run(r, query))
        return false;
    end_statement(r);
    return true;
}

/* ---- the process ------------------------------------------------------------------ */

static void read_database(reader *r)
{
    bool is_whole = r->request.query_len == 0;

    gbx_buf_init(&r->cell, CELL_MAX * 6);
    if (!open_database(r) || (is_whole && !list_tables(r)))
        return;
    if (lib.sqlite3_set_authorizer(r->db, authorize, NULL) != SQLITE_OK) {
        (void)fail_by(r, GBX_SQLITE_UNREADABLE);
    } else if (is_whole) {
        for (size_t i = 0; i < r->table_count; i++)
            if (!put_table(r, r->tables[i], i == 0))
                return;
        (void)put_text(r, r->table_count == 0 ? "{}" : "}");
    } else if (run(r, r->query) && r->answer.number == 0) {
        (void)put_columns(r);
    }
}

/* In a fork, which keeps one descriptor. Nothing of the database was read before. */
static void enter_seal(const gbx_seal *seal, int kept)
{
    if (!gbx_seal_worker(seal, kept))
        _exit(4);
}

static bool report(reader *r, int status)
{
    r->answer.outcome = GBX_SQLITE_DIED;
    r->answer.number = (uint32_t)status;
    return gbx_channel_write(GBX_CONTROL_FD, &r->answer, sizeof r->answer);
}

static int wait_for(pid_t pid)
{
    int status = -1;

    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* The fork answers itself, unless it dies. */
static bool serve_query(reader *r, const gbx_seal *seal)
{
    pid_t pid = _Fork();
    int status;

    if (pid == 0) {
        enter_seal(seal, GBX_CONTROL_FD);
        read_database(r);
        _exit(gbx_channel_write(GBX_CHANNEL_FD, &r->answer, sizeof r->answer) ? 0 : 1);
    }
    status = wait_for(pid);
    return status == 0 || report(r, status);
}

static bool serve_attacks(reader *r, const gbx_seal *seal)
{
    bool is_reported = true;

    for (uint32_t i = 0; is_reported && i < r->request.attacks; i++) {
        struct pollfd ended = {.events = POLLIN};
        pid_t pid = _Fork();

        if (pid == 0) { /* its note goes to the error output, which is not read */
            enter_seal(seal, STDERR_FILENO);
            gbx_attack_run(i);
            _exit(5);
        }
        ended.fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (pid > 0 && poll(&ended, 1, ATTACK_MS) == 0)
            (void)kill(pid, SIGKILL); /* an attack that hangs has failed */
        gbx_fd_close(&ended.fd);
        is_reported = report(r, wait_for(pid));
    }
    return is_reported;
}

static bool read_request(reader *r)
{
    struct stat st;
    void *rows;

    if (!gbx_channel_read(GBX_CONTROL_FD, &r->request, sizeof r->request) ||
        r->request.query_len > GBX_SQLITE_QUERY_MAX ||
        !gbx_channel_read(GBX_CONTROL_FD, r->query, r->request.query_len) ||
        fstat(GBX_SQLITE_ROWS_FD, &st) < 0)
        return false;
    r->room = (size_t)st.st_size;
    rows =
        mmap(NULL, r->room, PROT_READ | PROT_WRITE, MAP_SHARED, GBX_SQLITE_ROWS_FD, 0);
    r->rows = rows;
    return rows != MAP_FAILED;
}

static bool seal(reader *r, const gbx_launch *launch, gbx_seal *seal)
{
    gbx_seal_init(seal, launch->layers_off, launch->made, &launch->identity,
                  GBX_SQLITE_MEMORY_BYTES, GBX_SQLITE_MS / 1000 + 2);
    gbx_seal_template(seal);
    for (uint32_t i = 0; i < GBX_LAYER_COUNT; i++) {
        if ((r->request.required & GBX_LAYER_BIT(i)) == 0 || seal->layers[i].stands)
            continue;
        r->answer.number = i;
        return fail(r, GBX_SQLITE_UNSEALED, seal->layers[i].reason);
    }
    return true;
}

int gbx_sqlite_serve(const gbx_launch *launch)
{
    static reader r; /* large */
    static gbx_seal sealed;
    bool is_ready;

    if (!read_request(&r))
        return 3;
    is_ready = load_library(&r);
    if (is_ready) {
        bool is_locked = false;
        gbx_sqlite_outcome outcome = gbx_sqlite_open_files(&is_locked);

        r.answer.is_locked = is_locked;
        is_ready =
            (outcome == GBX_SQLITE_DONE || fail(&r, outcome, "it is not a file")) &&
            seal(&r, launch, &sealed);
    }
    if (!is_ready)
        return gbx_channel_write(GBX_CONTROL_FD, &r.answer, sizeof r.answer) ? 0 : 3;
    return (r.request.attacks > 0 ? serve_attacks(&r, &sealed)
                                  : serve_query(&r, &sealed))
               ? 0
               : 3;
}
