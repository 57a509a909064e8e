/* SPDX-License-Identifier: MIT */
#include "sqlite_reader.h"

/* Both whole: what is called here is theirs alone. */
#include "worker/read_sqlite.c"
#include "worker/sqlite_vfs.c"

#include <assert.h>

#define STEPS_MAX 1000000

/* Of the process, which is not used here. */
bool gbx_channel_read(int fd, void *data, size_t len)
{
    abort();
}

bool gbx_channel_write(int fd, const void *data, size_t len)
{
    abort();
}

void gbx_seal_init(gbx_seal *seal, uint32_t layers_off, uint32_t ns_made,
                   const gbx_identity *identity, uint64_t memory_bytes, uint32_t cpu_s)
{
    abort();
}

void gbx_seal_template(gbx_seal *seal)
{
    abort();
}

bool gbx_seal_worker(const gbx_seal *seal, int channel)
{
    abort();
}

void gbx_attack_run(uint32_t index)
{
    abort();
}

/* In place of the end that the host puts to a query. */
static int interrupt(void *user)
{
    return 1;
}

static int on_connection(sqlite3 *db, char **ret_message, const void *api)
{
    sqlite3_progress_handler(db, STEPS_MAX, interrupt, NULL);
    return SQLITE_OK;
}

static mapping mapping_of(sqlite_bytes bytes)
{
    return (mapping){.data = bytes.data,
                     .size = bytes.data != NULL ? (sqlite3_int64)bytes.len : -1};
}

gbx_sqlite_answer sqlite_reader_run(sqlite_bytes database, sqlite_bytes wal,
                                    const char *query, char *rows, size_t room)
{
    static reader r; /* large */
    int status;

    memset(&r, 0, sizeof r);
    r.rows = rows;
    r.room = room;
    r.request.query_len = (uint32_t)strlen(query);
    assert(r.request.query_len <= GBX_SQLITE_QUERY_MAX);
    memcpy(r.query, query, r.request.query_len);
    files.database = mapping_of(database);
    files.wal = mapping_of(wal);
    files.journal.size = -1;

    assert(load_library(&r));
    (void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    (void)sqlite3_auto_extension((void (*)(void))on_connection);
    read_database(&r);
    end_statement(&r);
    status = sqlite3_close(r.db);
    assert(status == SQLITE_OK);
    (void)status;
    for (size_t i = 0; i < r.table_count; i++)
        free(r.tables[i]);
    gbx_buf_cleanup(&r.cell);
    return r.answer;
}
