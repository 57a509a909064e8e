/* SPDX-License-Identifier: MIT */
/*
 * use - gives ICU the zones that are built into the program, as a package for its
 * udata_setCommonData(). ICU searches it before its own package.
 */
#include "zones/zones.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The package; or nothing. */
extern uint8_t gbx_zones_built[], gbx_zones_built_end[];
__asm__(".section .data\n"
        ".balign 16\n"
        ".globl gbx_zones_built, gbx_zones_built_end\n"
        ".hidden gbx_zones_built, gbx_zones_built_end\n"
        "gbx_zones_built: .incbin \"" GBX_ZONES_FILE "\"\n"
        "gbx_zones_built_end: .byte 0\n"
        ".previous\n");

/* The version of the engine's ICU. It is in the name of each of its functions, and ICU is
 * not linked here: they are looked up. */
static int find_icu(struct dl_phdr_info *info, size_t size, void *user)
{
    const char *name = strstr(info->dlpi_name, "libicuuc.so.");

    if (name == NULL)
        return 0;
    *(int *)user = atoi(name + strlen("libicuuc.so."));
    return 1;
}

static void *icu_function(const char *name, int version)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%s_%d", name, version);
    return dlsym(RTLD_DEFAULT, text);
}

void gbx_zones_use(char ret[static 64])
{
    char *name = (char *)gbx_zones_built + GBX_ZONES_NAME_AT;
    void (*set_common_data)(const void *data, int *error);
    const char *(*version_of_zones)(int *error);
    int version = 0;
    int error = 0;
    void *set, *get;

    (void)snprintf(ret, 64, "those of ICU, of unknown age");
    (void)dl_iterate_phdr(find_icu, &version);
    set = icu_function("udata_setCommonData", version);
    get = icu_function("ucal_getTZDataVersion", version);
    if (set == NULL || get == NULL)
        return;
    memcpy(&set_common_data, &set, sizeof set);
    memcpy(&version_of_zones, &get, sizeof get);
    if (gbx_zones_built_end - gbx_zones_built > 0) {
        (void)snprintf(name, GBX_ZONES_NAME_SIZE, "icudt%dl/zoneinfo64.res", version);
        set_common_data(gbx_zones_built, &error);
    }
    error = 0;
    (void)snprintf(ret, 64, "%s", version_of_zones(&error));
}
