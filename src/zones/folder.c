/* SPDX-License-Identifier: MIT */
/* folder - reads the files of /usr/share/zoneinfo; links become other names. */
#include "zones/zones.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZONES_MAX 1024
#define FILE_MAX  GBX_KIB(64)
#define DEPTH_MAX 3

/* Folders and files that are not zones, or duplicates. */
static const char *const skipped[] = {"posix",       "right",       "posixrules",
                                      "localtime",   "leapseconds", "leap-seconds.list",
                                      "tzdata.zi",   "zone.tab",    "zone1970.tab",
                                      "iso3166.tab", "zonenow.tab"};

/* Additional names that ICU has. */
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

/* The state of reading a folder. */
typedef struct walk {
    gbx_zones *zones;
    int root;
    uint8_t data[FILE_MAX];
} walk;

static bool is_skipped(const char *name)
{
    if (name[0] == '.' || name[0] == '+')
        return true;
    for (size_t i = 0; i < GBX_COUNTOF(skipped); i++)
        if (strcmp(name, skipped[i]) == 0)
            return true;
    return false;
}

static gbx_zone *add(gbx_zones *zones, const char *name)
{
    gbx_zone *zone = &zones->list[zones->count];

    if (zones->count == ZONES_MAX || strlen(name) >= sizeof zone->name)
        return NULL;
    *zone = (gbx_zone){.region = "001"};
    memcpy(zone->name, name, strlen(name) + 1);
    zones->count++;
    return zone;
}

static void drop_last(gbx_zones *zones)
{
    free(zones->list[--zones->count].changes);
}

static void read_file(walk *w, const char *path)
{
    GBX_CLEANUP(gbx_fd_close) int fd = openat(w->root, path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    gbx_zone *zone;
    ssize_t len;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    len = read(fd, w->data, sizeof w->data);
    zone = len > 0 ? add(w->zones, path) : NULL;
    if (zone == NULL)
        return;
    zone->file = st.st_ino;
    if (!gbx_zone_read(zone, w->data, (size_t)len))
        drop_last(w->zones);
}

static void read_link(walk *w, const char *path)
{
    struct stat st;
    gbx_zone *zone;

    if (fstatat(w->root, path, &st, 0) < 0 || !S_ISREG(st.st_mode))
        return;
    zone = add(w->zones, path);
    if (zone != NULL)
        zone->file = st.st_ino;
}

static void read_folder(walk *w, const char *path, int depth)
{
    int fd = openat(w->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char name[512];
        struct stat st;

        if (is_skipped(entry->d_name) ||
            snprintf(name, sizeof name, "%s%s%s", depth > 0 ? path : "",
                     depth > 0 ? "/" : "", entry->d_name) >= (int)sizeof name)
            continue;
        if (fstatat(w->root, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISLNK(st.st_mode))
            read_link(w, name);
        else if (S_ISREG(st.st_mode))
            read_file(w, name);
        else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            read_folder(w, name, depth + 1);
    }
    if (dir != NULL)
        (void)closedir(dir);
    else
        gbx_fd_close(&fd);
}

/* ---- after all files are read -------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    return strcmp(((const gbx_zone *)a)->name, ((const gbx_zone *)b)->name);
}

static size_t find(const gbx_zones *zones, const char *name)
{
    gbx_zone key = {0};
    const gbx_zone *found;

    if (strlen(name) >= sizeof key.name)
        return SIZE_MAX;
    memcpy(key.name, name, strlen(name) + 1);
    found = bsearch(&key, zones->list, zones->count, sizeof key, compare);
    return found != NULL ? (size_t)(found - zones->list) : SIZE_MAX;
}

/* ICU needs its name for an unknown zone in the list. */
static void add_unknown(gbx_zones *zones)
{
    gbx_zone *zone = add(zones, "Etc/Unknown");

    if (zone == NULL)
        return;
    zone->changes = calloc(1, sizeof *zone->changes);
    zone->count = zone->changes != NULL;
}

/* Add ICU's additional names for zones that exist. */
static void add_more(gbx_zones *zones)
{
    size_t count = zones->count;

    for (size_t i = 0; i < GBX_COUNTOF(more); i++) {
        for (size_t k = 0; k < count; k++) {
            gbx_zone *zone;

            if (strcmp(zones->list[k].name, more[i][1]) != 0)
                continue;
            zone = add(zones, more[i][0]);
            if (zone != NULL)
                zone->file = zones->list[k].file;
            break;
        }
    }
}

/* Index of the zone that was read from this file; SIZE_MAX if none was. */
static size_t owner_of(const gbx_zones *zones, ino_t file)
{
    for (size_t i = 0; i < zones->count; i++)
        if (zones->list[i].count > 0 && zones->list[i].file == file)
            return i;
    return SIZE_MAX;
}

/* Drop names without a zone; link the others to their zones. */
static void resolve(gbx_zones *zones)
{
    size_t kept = 0;

    for (size_t i = 0; i < zones->count; i++)
        if (owner_of(zones, zones->list[i].file) != SIZE_MAX)
            zones->list[kept++] = zones->list[i];
    zones->count = kept;
    qsort(zones->list, zones->count, sizeof *zones->list, compare);
    for (size_t i = 0; i < zones->count; i++) {
        gbx_zone *zone = &zones->list[i];

        zone->target = zone->count > 0 ? i : owner_of(zones, zone->file);
    }
}

/* Lines "DE<tab>+5230+01322<tab>Europe/Berlin<tab>remark". */
static void read_regions(gbx_zones *zones, int root)
{
    int fd = openat(root, "zone.tab", O_RDONLY | O_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "re") : NULL;
    char line[512];

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        char region[4], name[48];
        size_t at;

        if (line[0] == '#' ||
            sscanf(line, "%2[A-Z]\t%*[^\t]\t%47[^\t\n]", region, name) != 2)
            continue;
        at = find(zones, name);
        if (at != SIZE_MAX)
            memcpy(zones->list[at].region, region, sizeof region);
    }
    if (f != NULL)
        (void)fclose(f);
    else
        gbx_fd_close(&fd);
}

void gbx_zones_version(const char *dir, char ret[static 16])
{
    char path[512];
    char line[64] = "";
    FILE *f;

    ret[0] = 0;
    (void)snprintf(path, sizeof path, "%s/tzdata.zi", dir);
    f = fopen(path, "re");
    if (f == NULL || fgets(line, sizeof line, f) == NULL ||
        sscanf(line, "# version %15[0-9a-z]", ret) != 1)
        ret[0] = 0;
    if (f != NULL)
        (void)fclose(f);
}

bool gbx_zones_read(const char *dir, gbx_zones *ret)
{
    walk *w = calloc(1, sizeof *w);

    *ret = (gbx_zones){0};
    gbx_zones_version(dir, ret->version);
    ret->list = calloc(ZONES_MAX, sizeof *ret->list);
    if (w != NULL && ret->list != NULL && ret->version[0] != 0) {
        w->zones = ret;
        w->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        read_folder(w, ".", 0);
        add_unknown(ret);
        add_more(ret);
        resolve(ret);
        read_regions(ret, w->root);
        gbx_fd_close(&w->root);
    }
    free(w);
    /* Etc/Unknown alone does not count. */
    return ret->count > 1;
}

void gbx_zones_free(gbx_zones *zones)
{
    for (size_t i = 0; i < zones->count; i++)
        free(zones->list[i].changes);
    free(zones->list);
    *zones = (gbx_zones){0};
}
