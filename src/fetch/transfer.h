/* SPDX-License-Identifier: MIT */
/*
 * transfer - one hop: one connection to a checked address, one request, one response.
 *
 * libcurl is told where to connect and cannot look elsewhere: it resolves nothing, uses
 * no proxy, follows no redirect, keeps no connection, cookie or session. The address of
 * every socket is checked again when libcurl asks for the socket, against the tables and
 * against the addresses given here: the second of two layers, each of which holds alone.
 */
#ifndef GBX_FETCH_TRANSFER_H
#define GBX_FETCH_TRANSFER_H

#include "fetch/multi.h"
#include "fetch/redirect.h"

typedef struct gbx_transfer gbx_transfer;

/* Everything is borrowed until the transfer is freed, but for addresses and reach, which
 * are copied. */
typedef struct gbx_hop {
    const gbx_url *url;
    const gbx_fetch_request *request; /* method, body and redirect mode */
    const gbx_fields *headers;        /* as they are sent: secrets filled in */
    const gbx_ip *addresses;
    size_t address_count; /* at least 1 */
    gbx_reach reach;      /* its networks are borrowed */
    const char *ca_file;  /* NULL: the system's */
    uint32_t stall_ms;
    gbx_response *response; /* filled, its body up to the ceiling */
    gbx_fault *fault;       /* filled on failure */
} gbx_hop;

/* succeeded: the head of the response is there, and its body unless it redirects. */
typedef void (*gbx_transfer_done)(void *user, bool succeeded);

/* done is called once, never from in here, and may free the transfer. NULL with a fault:
 * memory is out. */
gbx_transfer *gbx_transfer_start(gbx_multi *multi, struct event_base *base,
                                 const gbx_hop *hop, gbx_transfer_done done,
                                 void *user);

/* Before or after done; not from inside libcurl. */
void gbx_transfer_free(gbx_transfer *transfer);

/* Where it is or was connected to, or what was refused; "" for nowhere yet. Borrowed. */
const char *gbx_transfer_address(const gbx_transfer *transfer);

#endif
