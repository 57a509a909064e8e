/* SPDX-License-Identifier: MIT */
/*
 * image - maps is read to its end before any mapping is changed: what is read must not
 * move under the reader.
 */
#include "worker/image.h"

#include "base/cleanup.h"

#include <execinfo.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define MAPPINGS_MAX 512

typedef struct mapping {
    uintptr_t from;
    uintptr_t to;
    int prot;
} mapping;

typedef struct mappings {
    size_t count;
    mapping list[MAPPINGS_MAX];
} mappings;

/*
 * The engine's library brings an event loop's, an object system's and a journal's with
 * it, for its embedding API and for WebKit; its C interface, which is all we call,
 * enters none of them once the template is up. A fork that did would crash. The last
 * one compiled the filters, and has done its work.
 */
static const char *const unused[] = {
    "libgio-2.0.so",  "libgobject-2.0.so", "libgmodule-2.0.so", "libmount.so",
    "libblkid.so",    "libselinux.so",     "libpcre2-8.so",     "libffi.so",
    "libsystemd.so",  "libcap.so",         "libgcrypt.so",      "liblzma.so",
    "libzstd.so",     "liblz4.so",         "libz.so",           "libseccomp.so",
    "libgpg-error.so"};

static bool is_one_of(const char *path, const char *const *names, size_t count)
{
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; slash != NULL && i < count; i++)
        if (strncmp(slash + 1, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Every mapping of the files with these names. */
static void find(mappings *ret, const char *const *names, size_t count)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[512];

    ret->count = 0;
    while (f != NULL && ret->count < MAPPINGS_MAX &&
           fgets(line, sizeof line, f) != NULL) {
        mapping *m = &ret->list[ret->count];
        char mode[5];

        if (!is_one_of(line, names, count) ||
            sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &m->from, &m->to, mode) != 3)
            continue;
        m->prot = (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
                  (mode[2] == 'x' ? PROT_EXEC : 0);
        ret->count++;
    }
    if (f != NULL)
        (void)fclose(f);
}

/* ---- public to other modules -------------------------------------------- */

gbx_image_gap gbx_image_leave_out(void)
{
    gbx_image_gap gap = {0};
    mappings found;
    void *frame;

    /* The engine takes a trace of its own stack where a first exception is made; for
     * that the C library searches all libraries by name for the unwinder, once. */
    (void)backtrace(&frame, 1);

    find(&found, unused, GBX_COUNTOF(unused));
    for (size_t i = 0; i < found.count; i++) {
        const mapping *m = &found.list[i];
        size_t size = m->to - m->from;

        if (madvise((void *)m->from, size, MADV_DONTFORK) < 0)
            continue;
        gap.total_bytes += size;
        if ((m->prot & PROT_WRITE) != 0)
            gap.data_bytes += size;
    }
    return gap;
}
