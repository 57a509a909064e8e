/* SPDX-License-Identifier: MIT */
/*
 * bundle - zoneinfo64.res: a resource bundle of format 1.0, which every ICU reads.
 *
 * It consists of 32-bit words. A resource is one word: the high four bits are its kind,
 * the others a number or the position of its data, in words from the start. The first
 * word is the root resource: a table whose keys follow it directly.
 */
#include "zones/zones.h"

#include <string.h>

enum kind { STRING = 0, BINARY = 1, TABLE = 2, INT = 7, ARRAY = 8, INT_VECTOR = 14 };

#define RULES_MAX  256
#define FIELDS_MAX 8

#define HEADER_SIZE   32
#define CONTENTS_SIZE 12 /* count; where the name and the bundle are */

_Static_assert(GBX_ZONES_NAME_AT == HEADER_SIZE + CONTENTS_SIZE, "after the contents");
_Static_assert((GBX_ZONES_NAME_AT + GBX_ZONES_NAME_SIZE) % 16 == 0,
               "the bundle is aligned");

#define RESOURCE(kind, at) ((uint32_t)(kind) << 28 | (uint32_t)(at))
#define MASK               UINT32_C(0x0FFFFFFF)

typedef struct field {
    const char *key;
    uint32_t resource;
} field;

typedef struct named {
    char name[8];
    uint32_t resource;
} named;

typedef struct bundle {
    gbx_buf *to;
    size_t start; /* of the words */
    named rules[RULES_MAX];
    const gbx_zone *rule_of[RULES_MAX];
    size_t rule_count;
} bundle;

/* Sorted, as tables need them. */
static const char *const keys[] = {"Names",       "Regions",    "Rules",
                                   "TZVersion",   "Zones",      "finalRaw",
                                   "finalRule",   "finalYear",  "trans",
                                   "transPost32", "transPre32", "typeMap",
                                   "typeOffsets"};
#define KEY_COUNT (sizeof keys / sizeof keys[0])

/* ---- pieces ------------------------------------------------------------------ */

static void put_u32(bundle *b, uint32_t value)
{
    (void)gbx_buf_append(b->to, &value, sizeof value);
}

static void put_u16(bundle *b, uint16_t value)
{
    (void)gbx_buf_append(b->to, &value, sizeof value);
}

/* Pad to a whole word; returns the index of the next one. */
static uint32_t begin(bundle *b)
{
    while ((b->to->len - b->start) % 4 != 0 && gbx_buf_append(b->to, "", 1))
        continue;
    return (uint32_t)((b->to->len - b->start) / 4);
}

static uint32_t put_string(bundle *b, const char *text)
{
    uint32_t at = begin(b);

    put_u32(b, (uint32_t)strlen(text));
    for (const char *c = text; c == text || c[-1] != 0; c++)
        put_u16(b, (uint16_t)(unsigned char)*c);
    return RESOURCE(STRING, at);
}

static uint32_t put_ints(bundle *b, const int32_t *list, size_t count)
{
    uint32_t at = begin(b);

    put_u32(b, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_u32(b, (uint32_t)list[i]);
    return RESOURCE(INT_VECTOR, at);
}

static uint32_t put_array(bundle *b, const uint32_t *list, size_t count)
{
    uint32_t at = begin(b);

    put_u32(b, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_u32(b, list[i]);
    return RESOURCE(ARRAY, at);
}

/* Byte offset of a key from `keys`: they follow the first word, each with its NUL. */
static uint16_t place_of(const char *key)
{
    size_t at = 4;

    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i], key) == 0)
            return (uint16_t)at;
        at += strlen(keys[i]) + 1;
    }
    return 0;
}

static uint32_t put_table(bundle *b, const field *fields, size_t count)
{
    uint32_t at = begin(b);

    put_u16(b, (uint16_t)count);
    for (size_t i = 0; i < count; i++)
        put_u16(b, place_of(fields[i].key));
    (void)begin(b);
    for (size_t i = 0; i < count; i++)
        put_u32(b, fields[i].resource);
    return RESOURCE(TABLE, at);
}

/* ---- a zone -------------------------------------------------------------------- */

/* Times of the changes from index `from` to `to` that need 64 bits, or that do not. */
static uint32_t put_times(bundle *b, const gbx_zone *zone, size_t from, size_t to,
                          bool wide)
{
    uint32_t at = begin(b);

    put_u32(b, (uint32_t)((to - from) * (wide ? 2 : 1)));
    for (size_t i = from; i < to; i++) {
        if (wide)
            put_u32(b, (uint32_t)((uint64_t)zone->changes[i].at >> 32));
        put_u32(b, (uint32_t)zone->changes[i].at);
    }
    return RESOURCE(INT_VECTOR, at);
}

/* The different offsets of a zone, and the one that each change selects. */
static bool put_offsets(bundle *b, const gbx_zone *zone, field *ret_map,
                        field *ret_offsets)
{
    int32_t pairs[256][2];
    size_t count = 0;
    uint32_t at;

    at = begin(b);
    put_u32(b, (uint32_t)(zone->count - 1));
    for (size_t i = 0; i < zone->count; i++) {
        const gbx_zone_change *change = &zone->changes[i];
        uint8_t k = 0;

        while (k < count && (pairs[k][0] != change->raw || pairs[k][1] != change->save))
            k++;
        if (k == 255)
            return false;
        if (k == count) {
            pairs[count][0] = change->raw;
            pairs[count++][1] = change->save;
        }
        if (i > 0)
            (void)gbx_buf_append(b->to, &k, 1);
    }
    *ret_map = (field){"typeMap", RESOURCE(BINARY, at)};
    *ret_offsets = (field){"typeOffsets", put_ints(b, pairs[0], count * 2)};
    return true;
}

static const char *rule_of(bundle *b, const gbx_zone *zone)
{
    size_t i = 0;

    while (i < b->rule_count &&
           memcmp(b->rule_of[i]->rule, zone->rule, sizeof zone->rule) != 0)
        i++;
    if (i == RULES_MAX)
        return NULL;
    if (i == b->rule_count) {
        named *rule = &b->rules[b->rule_count];

        /* Two letters, so that rules are sorted as they are made. */
        rule->name[0] = (char)('A' + i / 26);
        rule->name[1] = (char)('A' + i % 26);
        rule->resource = put_ints(b, zone->rule, GBX_ZONE_RULE_LEN);
        b->rule_of[b->rule_count++] = zone;
    }
    return b->rules[i].name;
}

/* The zone's resource; 0 if the format cannot hold it. */
static uint32_t put_zone(bundle *b, const gbx_zone *zone)
{
    field fields[FIELDS_MAX], map, offsets;
    size_t count = 0, narrow = 1, post;

    while (narrow < zone->count && zone->changes[narrow].at < INT32_MIN)
        narrow++;
    post = narrow;
    while (post < zone->count && zone->changes[post].at <= INT32_MAX)
        post++;
    if (zone->has_rule) {
        const char *rule = rule_of(b, zone);

        if (rule == NULL)
            return 0;
        fields[count++] =
            (field){"finalRaw", RESOURCE(INT, (uint32_t)zone->rule_raw & MASK)};
        fields[count++] = (field){"finalRule", put_string(b, rule)};
        fields[count++] =
            (field){"finalYear", RESOURCE(INT, (uint32_t)zone->rule_year & MASK)};
    }
    if (post > narrow)
        fields[count++] = (field){"trans", put_times(b, zone, narrow, post, false)};
    if (zone->count > post)
        fields[count++] =
            (field){"transPost32", put_times(b, zone, post, zone->count, true)};
    if (narrow > 1)
        fields[count++] = (field){"transPre32", put_times(b, zone, 1, narrow, true)};
    if (!put_offsets(b, zone, &map, &offsets))
        return 0;
    if (zone->count > 1)
        fields[count++] = map;
    fields[count++] = offsets;
    return put_table(b, fields, count);
}

/* ---- all zones ------------------------------------------------------------------ */

/* The names of rules are keys, too. They follow the others. */
static uint32_t put_rules(bundle *b, size_t keys_at)
{
    uint32_t at;

    for (size_t i = 0; i < b->rule_count && !b->to->failed; i++)
        memcpy(b->to->data + b->start + keys_at + i * 3, b->rules[i].name, 3);
    at = begin(b);
    put_u16(b, (uint16_t)b->rule_count);
    for (size_t i = 0; i < b->rule_count; i++)
        put_u16(b, (uint16_t)(keys_at + i * 3));
    (void)begin(b);
    for (size_t i = 0; i < b->rule_count; i++)
        put_u32(b, b->rules[i].resource);
    return RESOURCE(TABLE, at);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the header says so");

/* The header of ICU's data in that format. */
static void put_header(gbx_buf *to, const char format[static 4])
{
    uint8_t header[HEADER_SIZE] = {HEADER_SIZE, 0, 0xDA, 0x27, 20};

    header[10] = 2; /* bytes of a UChar */
    memcpy(header + 12, format, 4);
    header[16] = 1; /* its version */
    (void)gbx_buf_append(to, header, sizeof header);
}

bool gbx_zones_write(const gbx_zones *zones, gbx_buf *to)
{
    const uint32_t contents[] = {1, CONTENTS_SIZE, CONTENTS_SIZE + GBX_ZONES_NAME_SIZE};
    static const char no_name[GBX_ZONES_NAME_SIZE], no_keys[RULES_MAX * 3];
    static bundle b; /* large */
    static uint32_t names[GBX_ZONES_MAX], list[GBX_ZONES_MAX], regions[GBX_ZONES_MAX];
    size_t keys_at;
    uint32_t root;
    field all[5];

    put_header(to, "CmnD");
    (void)gbx_buf_append(to, contents, sizeof contents);
    (void)gbx_buf_append(to, no_name, sizeof no_name);
    put_header(to, "ResB");
    b = (bundle){.to = to, .start = to->len};
    /* Room for all keys, after the first word. Those of rules are the last. */
    put_u32(&b, 0);
    for (size_t i = 0; i < KEY_COUNT; i++)
        (void)gbx_buf_append(to, keys[i], strlen(keys[i]) + 1);
    keys_at = to->len - b.start;
    (void)gbx_buf_append(to, no_keys, sizeof no_keys);
    for (size_t i = 0; i < zones->count; i++) {
        const gbx_zone *zone = &zones->list[i];

        names[i] = put_string(&b, zone->name);
        regions[i] = put_string(&b, strcmp(zone->region, "001") != 0
                                        ? zone->region
                                        : zones->list[zone->target].region);
        list[i] = zone->target == i ? put_zone(&b, zone) : RESOURCE(INT, zone->target);
        if (list[i] == 0)
            return false;
    }
    all[0] = (field){"Names", put_array(&b, names, zones->count)};
    all[1] = (field){"Regions", put_array(&b, regions, zones->count)};
    all[2] = (field){"Rules", put_rules(&b, keys_at)};
    all[3] = (field){"TZVersion", put_string(&b, zones->version)};
    all[4] = (field){"Zones", put_array(&b, list, zones->count)};
    root = put_table(&b, all, 5);
    if (to->failed)
        return false;
    memcpy(to->data + b.start, &root, sizeof root);
    return true;
}
