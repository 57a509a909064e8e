/* SPDX-License-Identifier: MIT */
/* events - the table as data. */
#include "audit/audit.h"

static const struct {
    const char *name;
    const char *text;
    unsigned who;
} events[] = {
#define XX(name, text, who, what) {text, what, GBX_AUDIT_##who},
    GBX_AUDIT_MAP(XX)
#undef XX
};

/* ---- public to other modules -------------------------------------------- */

const char *gbx_audit_name(gbx_audit_event event)
{
    return events[event].name;
}

const char *gbx_audit_text(gbx_audit_event event)
{
    return events[event].text;
}

bool gbx_audit_is_for(gbx_audit_event event, unsigned who)
{
    return (events[event].who & who) != 0;
}
