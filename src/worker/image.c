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
} mapping;

typedef struct mappings {
    size_t count;
    mapping list[MAPPINGS_MAX];
} mappings;

/*
 * The engine's library brings an event loop's, an object system's and a journal's with
 * it, for its embedding API and for WebKit; its C interface, which is all we call,
 * enters none of them once the template is up. What did would crash. The last one
 * compiled the filters, and has done its work.
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

        if (is_one_of(line, names, count) &&
            sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &m->from, &m->to) == 2)
            ret->count++;
    }
    if (f != NULL)
        (void)fclose(f);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_image_drop_libraries(void)
{
    mappings found;
    void *frame;

    /* The engine takes a trace of its own stack where a first exception is made; for
     * that the C library searches all libraries by name for the unwinder, once. */
    (void)backtrace(&frame, 1);

    find(&found, unused, GBX_COUNTOF(unused));
    for (size_t i = 0; i < found.count; i++)
        (void)munmap((void *)found.list[i].from, found.list[i].to - found.list[i].from);
}
