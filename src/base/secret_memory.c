/* SPDX-License-Identifier: MIT */
/* secret_memory - whole pages, so that their settings affect nothing else. */
#include "base/secret_memory.h"

#include <string.h>
#include <sys/mman.h>

/* ---- public to other modules -------------------------------------------- */

void *gbx_secret_memory_new(size_t size)
{
    void *data = mmap(NULL, size > 0 ? size : 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (data == MAP_FAILED)
        return NULL;
    (void)madvise(data, size > 0 ? size : 1, MADV_DONTDUMP);
    return data;
}

void gbx_secret_memory_free(void *data, size_t size)
{
    if (data == NULL)
        return;
    explicit_bzero(data, size);
    (void)munmap(data, size > 0 ? size : 1);
}
