/* SPDX-License-Identifier: MIT */
/* tally - see audit.h. */
#include "audit/audit.h"

#include <string.h>

/* ---- public to other modules -------------------------------------------- */

void gbx_tally_add(gbx_tally *t, gbx_audit_event event, const char *function)
{
    t->total++;
    t->events[event]++;
    for (size_t i = 0; function != NULL && i < GBX_TALLY_MAX; i++) {
        if (t->functions[i].name == NULL)
            t->functions[i].name = function;
        if (strcmp(t->functions[i].name, function) == 0) {
            t->functions[i].count++;
            return;
        }
    }
}

void gbx_tally_put(const gbx_tally *t, gbx_log_line *line)
{
    gbx_log_line_count(line, "lines", t->total);
    gbx_log_line_open(line, "events", '{');
    for (unsigned i = 0; i < GBX_AUDIT_EVENT_COUNT; i++)
        if (t->events[i] > 0)
            gbx_log_line_count(line, gbx_audit_name((gbx_audit_event)i), t->events[i]);
    gbx_log_line_close(line);
    if (t->functions[0].name == NULL)
        return;
    gbx_log_line_open(line, "functions", '{');
    for (size_t i = 0; i < GBX_TALLY_MAX && t->functions[i].name != NULL; i++)
        gbx_log_line_count(line, t->functions[i].name, t->functions[i].count);
    gbx_log_line_close(line);
}

/* ---- a bucket of lines --------------------------------------------------- */

void gbx_bucket_init(gbx_bucket *b, uint32_t size, uint32_t per_s, int64_t now_ns)
{
    *b = (gbx_bucket){.size = size, .per_s = per_s, .left = size, .at_ns = now_ns};
}

bool gbx_bucket_take(gbx_bucket *b, int64_t now_ns)
{
    if (now_ns > b->at_ns) {
        b->left += (double)(now_ns - b->at_ns) / 1e9 * b->per_s;
        if (b->left > b->size)
            b->left = b->size;
        b->at_ns = now_ns;
    }
    if (b->left < 1)
        return false;
    b->left -= 1;
    return true;
}
