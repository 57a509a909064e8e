/* SPDX-License-Identifier: MIT */
/* refusal - private to realm: what the allocator knows of the process's memory. */
#ifndef GBX_REALM_REFUSAL_H
#define GBX_REALM_REFUSAL_H

#include <stddef.h>

/* Bytes that are allocated or mapped. Only differences mean something: what the loader has
 * mapped is not in it. */
size_t gbx_memory_used(void);

/* From the allocator only. Does not allocate. */
void gbx_refusal_note(void);

#endif
