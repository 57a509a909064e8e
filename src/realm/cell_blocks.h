/* SPDX-License-Identifier: MIT */
/* cell_blocks - private to realm's allocator: blocks that are aligned to their own size. */
#ifndef GBX_REALM_CELL_BLOCKS_H
#define GBX_REALM_CELL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* Of the engine's block of cells. */
#define GBX_BLOCK_BYTES ((size_t)16384)

/* NULL: there is no memory. */
void *gbx_block_take(void);

/* False if `block` was not taken here. */
bool gbx_block_give(void *block);

#endif
