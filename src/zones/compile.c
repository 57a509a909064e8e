/* SPDX-License-Identifier: MIT */
/*
 * compile - runs at build time: stores this machine's zones for use.c. Without zones it
 * makes an empty file.
 */
#include "zones/zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Additional names that ICU has, and its name for an unknown zone. */
static const char *const more[][2] = {
    {"ACT", "Australia/Darwin"},
    {"AET", "Australia/Sydney"},
    {"AGT", "America/Argentina/Buenos_Aires"},
    {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},
    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},
    {"CAT", "Africa/Maputo"},
    {"CNT", "America/St_Johns"},
    {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},
    {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},
    {"IET", "America/Indiana/Indianapolis"},
    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},
    {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},
    {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},
    {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},
    {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
};

/* link: the name that it stands for, or "". */
static gbx_zone *add(gbx_zones *zones, const char *name, const char *link)
{
    gbx_zone *zone = &zones->list[zones->count];

    if (zones->count == GBX_ZONES_MAX)
        return NULL;
    *zone = (gbx_zone){.region = "001"};
    (void)snprintf(zone->name, sizeof zone->name, "%s", name);
    (void)snprintf(zone->link, sizeof zone->link, "%s", link);
    zones->count++;
    return zone;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const gbx_zone *)a)->name, ((const gbx_zone *)b)->name);
}

static gbx_zone *find(gbx_zones *zones, const char *name)
{
    gbx_zone key = {0};

    (void)snprintf(key.name, sizeof key.name, "%s", name);
    return bsearch(&key, zones->list, zones->count, sizeof key, compare);
}

/* All names, from the database's own source: lines "Z NAME ..." and "L TARGET NAME". */
static bool read_names(gbx_zones *zones)
{
    FILE *f = fopen(GBX_ZONES_DIR "/tzdata.zi", "re");
    char line[512], name[48], target[48];
    gbx_zone *unknown;

    if (f == NULL)
        return false;
    while (fgets(line, sizeof line, f) != NULL) {
        (void)sscanf(line, "# version %15[0-9a-z]", zones->version);
        if (sscanf(line, "Z %47s", name) == 1) {
            gbx_zone *zone = add(zones, name, "");

            if (zone != NULL && !gbx_zone_read(zone))
                zones->count--;
        } else if (sscanf(line, "L %47s %47s", target, name) == 2) {
            (void)add(zones, name, target);
        }
    }
    (void)fclose(f);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        (void)add(zones, more[i][0], more[i][1]);
    unknown = add(zones, "Etc/Unknown", "");
    if (unknown != NULL) {
        unknown->changes = calloc(1, sizeof *unknown->changes);
        unknown->count = 1;
    }
    return zones->version[0] != 0 && zones->count < GBX_ZONES_MAX;
}

/* Sort, drop names whose zone is missing, and link the others to their zones. */
static void resolve(gbx_zones *zones)
{
    size_t kept = 0;

    qsort(zones->list, zones->count, sizeof *zones->list, compare);
    for (size_t i = 0; i < zones->count; i++) {
        const gbx_zone *at = &zones->list[i];

        while (at != NULL && at->link[0] != 0)
            at = find(zones, at->link);
        zones->list[i].target = at != NULL ? (size_t)(at - zones->list) : SIZE_MAX;
        kept += at != NULL;
    }
    if (kept == zones->count)
        return;
    kept = 0;
    for (size_t i = 0; i < zones->count; i++)
        if (zones->list[i].target != SIZE_MAX)
            zones->list[kept++] = zones->list[i];
    zones->count = kept;
    resolve(zones);
}

/* Lines "DE<tab>+5230+01322<tab>Europe/Berlin<tab>remark". */
static void read_regions(gbx_zones *zones)
{
    FILE *f = fopen(GBX_ZONES_DIR "/zone.tab", "re");
    char line[512], region[4], name[48];

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        gbx_zone *zone;

        if (line[0] == '#' ||
            sscanf(line, "%2[A-Z]\t%*[^\t]\t%47[^\t\n]", region, name) != 2)
            continue;
        zone = find(zones, name);
        if (zone != NULL)
            memcpy(zone->region, region, sizeof region);
    }
    if (f != NULL)
        (void)fclose(f);
}

int main(int argc, char **argv)
{
    static gbx_zones zones;
    FILE *f = argc == 2 ? fopen(argv[1], "we") : NULL;
    gbx_buf buf = {.ceiling = GBX_ZONES_SIZE};
    bool ok = f != NULL;

    if (ok && read_names(&zones)) {
        resolve(&zones);
        read_regions(&zones);
        ok =
            gbx_zones_write(&zones, &buf) && fwrite(buf.data, 1, buf.len, f) == buf.len;
    }
    if (f != NULL && fclose(f) != 0)
        ok = false;
    if (!ok)
        (void)fprintf(stderr,
                      "gbx-zones: cannot write the zones of " GBX_ZONES_DIR "\n");
    return ok ? 0 : 1;
}
