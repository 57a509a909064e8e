/* SPDX-License-Identifier: MIT */
/*
 * zones - the time zones of the machine that builds the worker program, for the engine's
 * Intl.
 *
 * The engine's library of dates (ICU) has time zones of its own, which are as old as the
 * library. The files of /usr/share/zoneinfo are kept current. gbx-zones, which runs at
 * build time, converts them to an ICU resource bundle, which replaces ICU's own.
 */
#ifndef GBX_ZONES_ZONES_H
#define GBX_ZONES_ZONES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GBX_ZONES_DIR "/usr/share/zoneinfo"

/* ---- use.c: in the worker ------------------------------------------------------- */

/* Give ICU the zones in this program. Call before the engine's first use of ICU. ret gets
 * the version that ICU then has. */
void gbx_zones_use(char ret[static 64]);

/* In the program: a package of ICU, which is a header, a table of contents, the name of
 * the only entry, and the bundle. The name has the version of ICU, so use.c writes it. */
#define GBX_ZONES_NAME_AT   44
#define GBX_ZONES_NAME_SIZE 36

/* ---- at build time ---------------------------------------------------------------- */

#define GBX_ZONES_SIZE ((size_t)1 << 20) /* a package is never larger */
#define GBX_ZONES_MAX  1024

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
    char link[48];  /* the name that this one stands for; "": it is a zone */
    size_t target;  /* index of the zone that this name links to, or its own */
    gbx_zone_change *changes; /* [0] applies before [1]; its time is unused */
    size_t count;
    bool has_rule; /* for the years from rule_year on */
    int32_t rule_year;
    int32_t rule_raw;
    int32_t rule[GBX_ZONE_RULE_LEN];
} gbx_zone;

typedef struct gbx_zones {
    char version[16]; /* "2025b" */
    gbx_zone list[GBX_ZONES_MAX];
    size_t count;
} gbx_zones;

/* Find the zone's changes and rule. False if it has no file, or ICU cannot hold it. */
bool gbx_zone_read(gbx_zone *zone);

/* Append the package. */
bool gbx_zones_write(const gbx_zones *zones, gbx_buf *to);

#endif
