/* SPDX-License-Identifier: MIT */
/* refusal - private to realm: remember that the kernel has refused memory. */
#ifndef GBX_REALM_REFUSAL_H
#define GBX_REALM_REFUSAL_H

/* From the allocator only. Does not allocate. */
void gbx_refusal_note(void);

#endif
