/* SPDX-License-Identifier: MIT */
/*
 * zones - the machine's time zones, for the engine's Intl.
 *
 * The engine's library of dates (ICU) has time zones of its own, as old as that library.
 * The files of /usr/share/zoneinfo are kept current; they become one resource bundle of
 * ICU's, which it takes in place of its own.
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

/* A time since 1970 in seconds, and the offsets from UTC that hold from then on. */
typedef struct gbx_zone_change {
    int64_t at;
    int32_t raw;  /* standard time */
    int32_t save; /* daylight saving time on top of it, never negative */
} gbx_zone_change;

/* The arguments of ICU's SimpleTimeZone: month, day, day of the week, seconds, kind of time
 * (0: wall clock) of the begin, the same five of the end, seconds of daylight saving. */
#define GBX_ZONE_RULE_LEN 11

typedef struct gbx_zone {
    char name[48];
    char region[4]; /* "001": none */
    ino_t file;
    size_t target; /* the index of the zone that this is another name of, or its own */
    gbx_zone_change *changes; /* [0] holds before [1]; its time means nothing */
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

/* Changes and rule of a file. False if it is not one, or says what ICU cannot hold. */
bool gbx_zone_read(gbx_zone *zone, const uint8_t *data, size_t len);

/* ---- folder.c: all of them ---------------------------------------------------- */

/* The version of the zones in dir; "" if it has none. */
void gbx_zones_version(const char *dir, char ret[static 16]);
/* False if there are none of a known version. */
bool gbx_zones_read(const char *dir, gbx_zones *ret);
void gbx_zones_free(gbx_zones *zones);

/* ---- bundle.c ----------------------------------------------------------------- */

/* Append zoneinfo64.res, as ICU's genrb would write it. */
bool gbx_zones_write(const gbx_zones *zones, gbx_buf *to);

/* ---- icu.c ---------------------------------------------------------------------- */

/* Of the engine's ICU; 0: none is loaded. */
int gbx_icu_version(void);
/* NULL: it has none of that name. */
void *gbx_icu_function(const char *name);

/* ---- use.c: in the worker ------------------------------------------------------- */

/* Append the newer of two bundles: what the program was built with, and what is in dir.
 * False if there is neither. */
bool gbx_zones_choose(const char *dir, gbx_buf *to);
/* Give ICU that of this machine. Before the engine's first use of ICU. Says in ret which
 * version ICU has. */
void gbx_zones_use(char ret[static 64]);

#endif
