/* SPDX-License-Identifier: MIT */
/* chunk - what the spans of a head that was read point to; freed with it. */
#ifndef GBX_REPLAY_CHUNK_H
#define GBX_REPLAY_CHUNK_H

#include "replay/record.h"

struct gbx_record_chunk {
    struct gbx_record_chunk *next;
    uint8_t data[];
};

/* NULL if memory is out. */
uint8_t *gbx_record_chunk(gbx_record_head *head, size_t size);

#endif
