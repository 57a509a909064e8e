/* SPDX-License-Identifier: MIT */
/*
 * stand_in - answers the requests of a realm that has no host, whenever it waits; how,
 * realm_call.h says.
 */
#ifndef GBX_TESTS_STAND_IN_H
#define GBX_TESTS_STAND_IN_H

#include "support/realm_call.h"

#include "base/buf.h"

#define STAND_IN_MAX 64

/* A request that has no answer yet. */
typedef struct stand_in_open {
    uint32_t id;
    bool is_withdrawn;
    gbx_buf echo;
} stand_in_open;

typedef struct stand_in {
    const realm_call *call;
    gbx_realm *realm;
    gbx_buf *out;
    stand_in_open open[STAND_IN_MAX];
    size_t count;
} stand_in;

void stand_in_request(stand_in *host, const gbx_msg_hostcall *msg);
void stand_in_cancel(stand_in *host, uint32_t id);
void stand_in_wait(stand_in *host, uint32_t ms);

#endif
