/* SPDX-License-Identifier: MIT */
/*
 * findings - the passes' objections, before they become a report.
 *
 * Fixed size, without allocations: a pass may be abandoned at any time.
 */
#ifndef GBX_GUARD_FINDINGS_H
#define GBX_GUARD_FINDINGS_H

#include "guard/guard.h"

#define GBX_FINDING_MESSAGE_SIZE 160

typedef struct gbx_finding {
    gbx_code code;
    const char *rule; /* constant */
    size_t offset;    /* in the caller's text */
    const char *hint; /* constant, or "" */
    char message[GBX_FINDING_MESSAGE_SIZE];
} gbx_finding;

typedef struct gbx_findings {
    size_t count; /* at most GBX_GUARD_VIOLATIONS_MAX, the first in the text */
    size_t total;
    gbx_finding list[GBX_GUARD_VIOLATIONS_MAX];
} gbx_findings;

/* Names of rules that more than one place uses. */
#define GBX_RULE_FORM     "form"
#define GBX_RULE_SIZE     "size"
#define GBX_RULE_ENCODING "encoding"
#define GBX_RULE_SYNTAX   "syntax"

/* Insert in order of offset; when full, the one latest in the text is dropped. */
void gbx_findings_add(gbx_findings *f, gbx_code code, const char *rule, size_t offset,
                      const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The report that gbx_report_free() frees; *ret is NULL if nothing was found. */
gbx_status gbx_findings_report(const gbx_findings *f, const char *text, size_t len,
                               gbx_report **ret, gbx_error *reterr);

#endif
