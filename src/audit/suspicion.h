/* SPDX-License-Identifier: MIT */
/*
 * suspicion - when do refusals add up to an attack?
 *
 * A single refusal is a mistake by whoever wrote the code. A cluster of them, within a
 * time or within one call, suggests probing: most often text in the data has talked the
 * code's author into it. A worker that breaks its protocol or its seal is a cluster by
 * itself. At most one cluster is reported in a window.
 *
 * Time is an argument; no lock.
 */
#ifndef GBX_AUDIT_SUSPICION_H
#define GBX_AUDIT_SUSPICION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* XX(NAME, "name", weight: 0 is a cluster at once, "what was refused") */
#define GBX_SUSPECT_MAP(XX)                                                     \
    XX(SITE, "sites", 1, "fetch of a destination that is not allowed")          \
    XX(PATH, "paths", 1, "a file outside of the listed directories")            \
    XX(FUNCTION, "functions", 1, "a function that the call does not have")      \
    XX(SECRET, "secrets", 1, "a secret that is not for whom it was to be sent") \
    XX(PATTERN, "patterns", 1, "a name that the guard knows as switched off")   \
    XX(PROTOCOL, "protocol", 0, "a message that no worker sends")               \
    XX(SEAL, "seal", 0, "a system call that no worker makes")

typedef enum gbx_suspect {
#define XX(name, text, weight, what) GBX_SUSPECT_##name,
    GBX_SUSPECT_MAP(XX)
#undef XX
        GBX_SUSPECT_COUNT
} gbx_suspect;

const char *gbx_suspect_name(gbx_suspect kind);

#define GBX_SUSPICION_THRESHOLD     5u
#define GBX_SUSPICION_THRESHOLD_MAX 100u
#define GBX_SUSPICION_WINDOW_MS     60000u

/* At most this many calls are named in a report; there may have been more. */
#define GBX_SUSPICION_CALLS 8u

#define GBX_SUSPICION_KEPT 128u

typedef struct gbx_suspicion {
    uint32_t threshold;
    int64_t window_ns;
    int64_t told_ns; /* with was_told */
    bool was_told;
    struct {
        int64_t at_ns;
        uint64_t call;
        gbx_suspect kind;
    } kept[GBX_SUSPICION_KEPT]; /* a ring */
    size_t first;
    size_t count;
} gbx_suspicion;

/* The refusals of one call since it was last reported. */
typedef struct gbx_suspect_counts {
    uint32_t of[GBX_SUSPECT_COUNT];
} gbx_suspect_counts;

typedef struct gbx_cluster {
    gbx_suspect_counts counts;
    uint32_t total;
    uint64_t calls[GBX_SUSPICION_CALLS]; /* each once */
    size_t call_count;
} gbx_cluster;

void gbx_suspicion_init(gbx_suspicion *s, uint32_t threshold, uint32_t window_ms);

/* Add one refusal. True if it completes a cluster that must be reported; *ret
 * describes it. */
bool gbx_suspicion_add(gbx_suspicion *s, gbx_suspect kind, uint64_t call,
                       gbx_suspect_counts *of_call, int64_t now_ns, gbx_cluster *ret);

#endif
