/* SPDX-License-Identifier: MIT */
/*
 * audit_detail - what the log reports about a request besides its answer: its target.
 *
 * Made when a request arrives, if somebody listens; filled by the capability that
 * serves it; freed when it is written. Texts are cut, and hostile.
 */
#ifndef GBX_ENGINE_AUDIT_DETAIL_H
#define GBX_ENGINE_AUDIT_DETAIL_H

#include "policy/policy.h"
#include "wire/messages.h"

#include <stdbool.h>

typedef struct gbx_audit_detail {
    char function[GBX_NAME_MAX]; /* the requested name, if the host lacks it */
    char target[512]; /* fetch: the URL without query and user; a file: its path */
    /* Of a fetch, once it was attempted: */
    char method[16];
    char address[80]; /* of the last peer, or of the refused one */
    char detail[256]; /* the reason, in more detail than the code gets */
    uint16_t status;
    uint32_t hops;
} gbx_audit_detail;

struct gbx_fetch_report;

/* A request, kept by the host until it is answered and logged. */
typedef struct gbx_audit_asked {
    const char *name; /* lives as long as the engine; "": unknown function */
    bool is_ours;     /* a capability or an unknown name, not an embedder's function */
    gbx_audit_detail *note; /* owned; NULL: without a listener */
    uint64_t bytes_out;
    int64_t start_ns;
} gbx_audit_asked;

/* The outcome of a request. */
typedef struct gbx_audit_answer {
    const gbx_msg_answer *msg; /* NULL: unanswered when the call ended */
    bool is_ours;              /* from the library, not from an embedder's function */
    bool is_over;              /* the original answer exceeded the call's limit */
    int64_t end_ns;
} gbx_audit_answer;

/* NULL if memory is out. name is asked->name. */
gbx_audit_detail *gbx_audit_detail_new(const char *name, const gbx_msg_hostcall *msg);

/* What a fetch reports, replacing what was requested; the function stays. policy is
 * the engine's: values of its secrets are removed. */
void gbx_audit_detail_fetch(gbx_audit_detail *note, const gbx_policy *policy,
                            const struct gbx_fetch_report *report);
void gbx_audit_detail_free(gbx_audit_detail *note);

#endif
