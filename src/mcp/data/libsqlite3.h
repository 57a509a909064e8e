/* SPDX-License-Identifier: MIT */
/*
 * libsqlite3 - the database, loaded when a dataset is one: whoever has none does not pay
 * for it at the start.
 */
#ifndef GBX_MCP_DATA_LIBSQLITE3_H
#define GBX_MCP_DATA_LIBSQLITE3_H

#include <glovebox/glovebox.h>

#include <sqlite3.h>

/* Every function of it that is used. */
#define GBX_LIBSQLITE3_MAP(XX)       \
    XX(sqlite3_bind_parameter_count) \
    XX(sqlite3_busy_timeout)         \
    XX(sqlite3_close_v2)             \
    XX(sqlite3_column_blob)          \
    XX(sqlite3_column_bytes)         \
    XX(sqlite3_column_count)         \
    XX(sqlite3_column_double)        \
    XX(sqlite3_column_int64)         \
    XX(sqlite3_column_name)          \
    XX(sqlite3_column_text)          \
    XX(sqlite3_column_type)          \
    XX(sqlite3_db_config)            \
    XX(sqlite3_errcode)              \
    XX(sqlite3_errmsg)               \
    XX(sqlite3_error_offset)         \
    XX(sqlite3_errstr)               \
    XX(sqlite3_exec)                 \
    XX(sqlite3_file_control)         \
    XX(sqlite3_finalize)             \
    XX(sqlite3_hard_heap_limit64)    \
    XX(sqlite3_limit)                \
    XX(sqlite3_open_v2)              \
    XX(sqlite3_prepare_v3)           \
    XX(sqlite3_progress_handler)     \
    XX(sqlite3_set_authorizer)       \
    XX(sqlite3_step)                 \
    XX(sqlite3_stmt_readonly)

typedef struct gbx_libsqlite3 {
#define XX(name) __typeof__(&name) name;
    GBX_LIBSQLITE3_MAP(XX)
#undef XX
} gbx_libsqlite3;

/* GBX_E_UNSUPPORTED if it is missing, or older than 3.38. */
gbx_status gbx_libsqlite3_load(gbx_libsqlite3 *ret, gbx_error *reterr);

#endif
