/* SPDX-License-Identifier: MIT */
/*
 * audit_detail - what the log will say of a request beside its answer: what it was aimed at.
 *
 * Made when a request comes, if somebody listens; filled by the capability that serves
 * it; freed when it is written. Texts are cut, and hostile.
 */
#ifndef GBX_ENGINE_AUDIT_DETAIL_H
#define GBX_ENGINE_AUDIT_DETAIL_H

#include "policy/policy.h"
#include "wire/messages.h"

#include <stdbool.h>

typedef struct gbx_audit_detail {
    char function[GBX_NAME_MAX]; /* what was asked for, if the host has no such */
    char target[512]; /* fetch: the URL without query and user; a file: its path */
    /* Of a fetch, once it was tried: */
    char method[16];
    char address[80]; /* of the last peer, or the one that was refused */
    char detail[256]; /* why, and more than the code is told */
    uint16_t status;
    uint32_t hops;
} gbx_audit_detail;

struct gbx_fetch_report;

/* A request as the host keeps it until it is answered, and until that is logged. */
typedef struct gbx_audit_asked {
    const char *name; /* lives as long as the engine; "": there is no such function */
    bool is_ours;     /* a capability, or nothing: not a function of the embedder's */
    gbx_audit_detail *note; /* owned; NULL: nobody listens */
    uint64_t bytes_out;
    int64_t start_ns;
} gbx_audit_asked;

/* And what came of it. */
typedef struct gbx_audit_answer {
    const gbx_msg_answer *msg; /* NULL: nothing before the call ended */
    bool is_ours;              /* it is the library's, not an embedder's function's */
    bool is_over;              /* the real one was over the call's limit */
    int64_t end_ns;
} gbx_audit_answer;

/* NULL if memory is out. name is asked->name. */
gbx_audit_detail *gbx_audit_detail_new(const char *name, const gbx_msg_hostcall *msg);

/* What a fetch reports, in place of what was asked; the function is left alone. policy
 * is the engine's: no value of a secret of its gets in. */
void gbx_audit_detail_fetch(gbx_audit_detail *note, const gbx_policy *policy,
                            const struct gbx_fetch_report *report);
void gbx_audit_detail_free(gbx_audit_detail *note);

#endif
