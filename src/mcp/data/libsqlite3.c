/* SPDX-License-Identifier: MIT */
/* libsqlite3 - see datasets.h. */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"
#include "base/fail.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* ---- public to other modules -------------------------------------------- */

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
