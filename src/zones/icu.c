/* SPDX-License-Identifier: MIT */
/*
 * icu - the engine's ICU functions. ICU puts its version number in every function name
 * and is not linked here, so the functions are looked up.
 */
#include "zones/zones.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find(struct dl_phdr_info *info, size_t size, void *user)
{
    const char *name = strstr(info->dlpi_name, "libicuuc.so.");

    (void)size;
    if (name == NULL)
        return 0;
    *(int *)user = atoi(name + strlen("libicuuc.so."));
    return 1;
}

/* ---- public to other modules -------------------------------------------- */

int gbx_icu_version(void)
{
    int version = 0;

    (void)dl_iterate_phdr(find, &version);
    return version;
}

void *gbx_icu_function(const char *name)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%s_%d", name, gbx_icu_version());
    return dlsym(RTLD_DEFAULT, text);
}
