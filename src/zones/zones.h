/* SPDX-License-Identifier: MIT */
/*
 * zones - the machine's time zones, for the engine's Intl.
 *
 * The engine's library of dates (ICU) has time zones of its own, which are as old as
 * the library. The files of /usr/share/zoneinfo are kept current. They are converted to
 * one ICU resource bundle, which replaces ICU's own.
 */
#ifndef GBX_ZONES_ZONES_H
#define GBX_ZONES_ZONES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GBX_ZONES_DIR  "/usr/share/zoneinfo"
#define GBX_ZONES_SIZE ((size_t)1 << 20) /* a bundle is never larger */

/* A time in seconds since 1970, and the offsets from UTC that apply from then on. */
typedef struct gbx_zone_change {
    int64_t at;
    int32_t raw;  /* standard time */
    int32_t save; /* daylight saving time on top of it, never negative */
} gbx_zone_change;

/* The arguments of ICU's SimpleTimeZone: month, day, day of the week, seconds, kind of
 * time (0: wall clock) of the start; the same five of the end; seconds of saving. */
#define GBX_ZONE_RULE_LEN 11

typedef struct gbx_zone {
    char name[48];
    char region[4]; /* "001": none */
    ino_t file;
    size_t target; /* index of the zone that this name links to; else its own */
    gbx_zone_change *changes; /* [0] applies before [1]; its time is unused */
    size_t count;
    bool has_rule; /* for the years from rule_year on */
    int32_t rule_year;
    int32_t rule_raw;
    int32_t rule[GBX_ZONE_RULE_LEN];
} gbx_zone;

typedef struct gbx_zones {
    char version[16]; /* "2025b" */
    gbx_zone *list;   /* sorted by name */
    size_t count;
} gbx_zones;

/* ---- tzif.c: one file ------------------------------------------------------- */

/* Read the changes and the rule of a file. False if it is not a zone file, or contains
 * what ICU cannot hold. */
bool gbx_zone_read(gbx_zone *zone, const uint8_t *data, size_t len);

/* ---- folder.c: all of them ---------------------------------------------------- */

/* The version of the zones in dir; "" if it has none. */
void gbx_zones_version(const char *dir, char ret[static 16]);
/* False without zones of a known version. */
bool gbx_zones_read(const char *dir, gbx_zones *ret);
void gbx_zones_free(gbx_zones *zones);

/* ---- bundle.c ----------------------------------------------------------------- */

#define GBX_ZONES_HEADER_SIZE 32

/* Append the header of ICU's data in that format. */
bool gbx_zones_put_header(gbx_buf *to, const char format[static 4]);
/* Append zoneinfo64.res, as ICU's genrb would write it. */
bool gbx_zones_write(const gbx_zones *zones, gbx_buf *to);

/* ---- use.c: in the worker ------------------------------------------------------- */

/* Append the newer of two bundles: the built-in one, and the one made from dir. False
 * if the newer one cannot be made. */
bool gbx_zones_choose(const char *dir, gbx_buf *to);
/* Give ICU this machine's zones. Call before the engine's first use of ICU. ret gets
 * the version that ICU then has. */
void gbx_zones_use(char ret[static 64]);

#endif
