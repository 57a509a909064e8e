/* SPDX-License-Identifier: MIT */
/* schema_distinct - counts by 64-bit hashes: two values with the same hash count as
 * one. */
#include "mcp/data/datasets.h"

#include <stdlib.h>
#include <string.h>

/* Initial size of a set. */
#define HASHES_FIRST 64

static uint64_t hash_of(gbx_view v)
{
    uint64_t h = v.len * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = 0;

    for (uint64_t word; i + 8 <= v.len; i += 8) {
        memcpy(&word, v.at + i, 8);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 29;
    }
    for (; i < v.len; i++)
        h = (h ^ (uint8_t)v.at[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 29;
    return h == 0 ? 1 : h;
}

/* False if it was already there. */
static bool put_hash(uint64_t *hashes, size_t room, uint64_t h)
{
    size_t i = (size_t)h & (room - 1);

    while (hashes[i] != 0 && hashes[i] != h)
        i = (i + 1) & (room - 1);
    if (hashes[i] == h)
        return false;
    hashes[i] = h;
    return true;
}

static bool grow_hashes(gbx_schema *s)
{
    size_t room = s->hash_room == 0 ? HASHES_FIRST : s->hash_room * 2;
    uint64_t *grown = calloc(room, sizeof *grown);

    if (grown == NULL)
        return false;
    for (size_t i = 0; i < s->hash_room; i++)
        if (s->hashes[i] != 0)
            (void)put_hash(grown, room, s->hashes[i]);
    free(s->hashes);
    s->hashes = grown;
    s->hash_room = room;
    return true;
}

static void count_top(gbx_schema *s, const gbx_schema_top *seen)
{
    for (size_t i = 0; i < s->top_count; i++)
        if (s->tops[i].hash == seen->hash) {
            s->tops[i].count += seen->count;
            return;
        }
    if (s->top_count == GBX_SHAPE_TOP_MAX) {
        free(s->tops);
        s->tops = NULL;
        return;
    }
    s->tops[s->top_count++] = *seen;
}

static void stop_counting(gbx_schema *s)
{
    s->distinct = GBX_SHAPE_DISTINCT_MAX;
    s->is_distinct_more = true;
    free(s->hashes);
    s->hashes = NULL;
    s->hash_room = 0;
}

/* False if memory is out. */
static bool add_hash(gbx_schema *s, uint64_t h)
{
    if (s->distinct * 2 >= s->hash_room && !grow_hashes(s))
        return false;
    s->distinct += put_hash(s->hashes, s->hash_room, h);
    if (s->distinct > GBX_SHAPE_DISTINCT_MAX)
        stop_counting(s);
    return true;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_schema_tell_apart(gbx_schema *s, gbx_view value, gbx_view seen)
{
    uint64_t h;

    if (s->is_distinct_more)
        return true;
    h = hash_of(seen);
    if (s->tops != NULL)
        count_top(s, &(gbx_schema_top){h, value, 1});
    return add_hash(s, h);
}

bool gbx_schema_join_values(gbx_schema *into, const gbx_schema *from)
{
    bool ok = true;

    if (from->tops == NULL) {
        free(into->tops);
        into->tops = NULL;
    }
    for (size_t i = 0; i < from->top_count && from->tops != NULL && into->tops != NULL;
         i++)
        count_top(into, &from->tops[i]);
    if (from->is_distinct_more && !into->is_distinct_more)
        stop_counting(into);
    for (size_t i = 0; ok && i < from->hash_room && !into->is_distinct_more; i++)
        if (from->hashes[i] != 0)
            ok = add_hash(into, from->hashes[i]);
    return ok;
}
