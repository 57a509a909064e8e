/* SPDX-License-Identifier: MIT */
/* unload_libs - identifies libraries by their files' names, and merges adjacent
 * mappings of one file. */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <execinfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The engine's library brings libraries for an event loop, an object system and a
 * journal, for its embedding API and for WebKit. Its C interface, which is all we call,
 * uses none of them once the template is up; code that did would crash. The last
 * library compiled the filters, and is no longer needed.
 */
static const char *const unused[] = {
    "libgio-2.0.so",  "libgobject-2.0.so", "libgmodule-2.0.so", "libmount.so",
    "libblkid.so",    "libselinux.so",     "libpcre2-8.so",     "libffi.so",
    "libsystemd.so",  "libcap.so",         "libgcrypt.so",      "liblzma.so",
    "libzstd.so",     "liblz4.so",         "libz.so",           "libseccomp.so",
    "libgpg-error.so"};

static bool is_unused(const gbx_mapping *mapping)
{
    for (size_t i = 0; i < GBX_COUNTOF(unused); i++)
        if (strncmp(mapping->name, unused[i], strlen(unused[i])) == 0)
            return true;
    return false;
}

/* Is it the same file, at the next offset? */
static bool goes_on(const gbx_mapping *before, const gbx_mapping *mapping)
{
    return mapping->file != 0 && mapping->file == before->file &&
           mapping->from == before->to &&
           mapping->offset == before->offset + (before->to - before->from);
}

static bool is_constant(const gbx_mapping *mapping)
{
    return mapping->prot == PROT_READ && mapping->is_private && mapping->own == 0;
}

static bool is_code(const gbx_mapping *mapping)
{
    return mapping->prot == (PROT_READ | PROT_EXEC) && mapping->is_private &&
           mapping->own == 0;
}

static bool has_jit_memory(const gbx_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++)
        if ((maps->list[i].prot & (PROT_WRITE | PROT_EXEC)) == (PROT_WRITE | PROT_EXEC))
            return true;
    return false;
}

void gbx_libs_drop_libraries(void)
{
    gbx_maps maps;
    void *frame;

    /* The engine captures its own stack at the first exception. For that the C
     * library searches all libraries by name for the unwinder, once. */
    (void)backtrace(&frame, 1);

    maps = gbx_maps_read(false);
    for (size_t i = 0; i < maps.count; i++)
        if (is_unused(&maps.list[i]))
            (void)munmap((void *)maps.list[i].from,
                         maps.list[i].to - maps.list[i].from);
    gbx_maps_free(&maps);
}

void gbx_libs_join(void)
{
    gbx_maps maps = gbx_maps_read(true);
    size_t count = has_jit_memory(&maps) ? maps.count : 0;

    for (size_t i = 1; i < count; i++) {
        const gbx_mapping *a = &maps.list[i - 1];
        const gbx_mapping *b = &maps.list[i];
        const gbx_mapping *constant = is_constant(a) ? a : b;

        if (goes_on(a, b) &&
            ((is_constant(a) && is_code(b)) || (is_code(a) && is_constant(b))))
            (void)mprotect((void *)constant->from, constant->to - constant->from,
                           PROT_READ | PROT_EXEC);
    }
    gbx_maps_free(&maps);
}
