/* SPDX-License-Identifier: MIT */
/*
 * use - gives ICU the machine's zones: a package of one bundle for its
 * udata_setCommonData(). ICU searches it before its own package.
 */
#include "zones/zones.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the engine's ICU -------------------------------------------------------- */

/* ICU puts its version number in every function name and is not linked here, so the
 * functions are looked up. */

static int find_icu(struct dl_phdr_info *info, size_t size, void *user)
{
    const char *name = strstr(info->dlpi_name, "libicuuc.so.");

    if (name == NULL)
        return 0;
    *(int *)user = atoi(name + strlen("libicuuc.so."));
    return 1;
}

/* Version of the engine's ICU; 0: not loaded. */
static int icu_version(void)
{
    int version = 0;

    (void)dl_iterate_phdr(find_icu, &version);
    return version;
}

/* NULL if ICU lacks that function. */
static void *icu_function(const char *name)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%s_%d", name, icu_version());
    return dlsym(RTLD_DEFAULT, text);
}

/* ---- the package ------------------------------------------------------------- */

/* Built into the program: its version, 16 bytes, then a bundle; or nothing. */
extern const uint8_t gbx_zones_built[], gbx_zones_built_end[];
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".globl gbx_zones_built, gbx_zones_built_end\n"
        ".hidden gbx_zones_built, gbx_zones_built_end\n"
        "gbx_zones_built: .incbin \"" GBX_ZONES_FILE "\"\n"
        "gbx_zones_built_end: .byte 0\n"
        ".previous\n");

/* The package: a header, one entry of a table of contents, its name, the bundle. */
#define CONTENTS_SIZE 12 /* count; where the name and the bundle are */
#define NAME_SIZE     36

_Static_assert((GBX_ZONES_HEADER_SIZE + CONTENTS_SIZE + NAME_SIZE) % 16 == 0,
               "the bundle is aligned");

/* The functions of ICU that are used here. */
typedef struct icu_functions {
    void (*set_common_data)(const void *data, int *error);
    const char *(*version_of_zones)(int *error);
} icu_functions;

static bool find_functions(icu_functions *ret)
{
    void *set = icu_function("udata_setCommonData");
    void *version = icu_function("ucal_getTZDataVersion");

    *ret = (icu_functions){0};
    memcpy(&ret->set_common_data, &set, sizeof set);
    memcpy(&ret->version_of_zones, &version, sizeof version);
    return set != NULL && version != NULL;
}

/* Everything in the package except the bundle. */
static bool put_head(gbx_buf *to, int version)
{
    uint32_t contents[] = {1, CONTENTS_SIZE, CONTENTS_SIZE + NAME_SIZE};
    char name[NAME_SIZE] = "";

    (void)snprintf(name, sizeof name, "icudt%dl/zoneinfo64.res", version);
    return gbx_zones_put_header(to, "CmnD") &&
           gbx_buf_append(to, contents, sizeof contents) &&
           gbx_buf_append(to, name, sizeof name);
}

bool gbx_zones_choose(const char *dir, gbx_buf *to)
{
    size_t built = (size_t)(gbx_zones_built_end - gbx_zones_built);
    size_t before = to->len;
    bool is_read = false;
    char here[16];
    gbx_zones zones;

    gbx_zones_version(dir, here);
    if (built <= 16 || strcmp(here, (const char *)gbx_zones_built) > 0) {
        is_read = gbx_zones_read(dir, &zones) && gbx_zones_write(&zones, to);
        gbx_zones_free(&zones);
    }
    if (is_read || built <= 16)
        return is_read;
    to->len = before;
    return gbx_buf_append(to, gbx_zones_built + 16, built - 16);
}

void gbx_zones_use(char ret[static 64])
{
    gbx_buf package = {.ceiling = GBX_ZONES_SIZE};
    int error = 0;
    icu_functions icu;

    (void)snprintf(ret, 64, "those of ICU, of unknown age");
    if (!find_functions(&icu))
        return;
    if (put_head(&package, icu_version()) && gbx_zones_choose(GBX_ZONES_DIR, &package))
        icu.set_common_data(package.data, &error); /* ICU owns it from here on */
    error = 0;
    (void)snprintf(ret, 64, "%s", icu.version_of_zones(&error));
}
