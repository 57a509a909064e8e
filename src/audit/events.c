/* SPDX-License-Identifier: MIT */
/*
 * events - the table of events, rate limits on their lines, and clusters of refusals.
 */
#include "audit/audit.h"

#include "base/clock.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned who;
} events[] = {
#define XX(name, text, who, what) {text, GBX_AUDIT_##who},
    GBX_AUDIT_MAP(XX)
#undef XX
};

const char *gbx_audit_name(gbx_audit_event event)
{
    return events[event].name;
}

bool gbx_audit_is_for(gbx_audit_event event, unsigned who)
{
    return (events[event].who & who) != 0;
}

/* ---- rate limits --------------------------------------------------------- */

void gbx_bucket_init(gbx_bucket *b, uint32_t size, double per_s, int64_t now_ns)
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

/* ---- suspicion ------------------------------------------------------------- */

/* Once a window has passed since the last report, everything in it is old: the next
 * cluster consists of new refusals. */

static const struct {
    const char *name;
    uint32_t weight;
} kinds[] = {
#define XX(name, text, weight, what) {text, weight},
    GBX_SUSPECT_MAP(XX)
#undef XX
};

static void forget_old(gbx_suspicion *s, int64_t now_ns)
{
    while (s->count > 0 && now_ns - s->kept[s->first].at_ns >= s->window_ns) {
        s->first = (s->first + 1) % GBX_SUSPICION_KEPT;
        s->count--;
    }
}

static uint32_t sum(const gbx_suspect_counts *counts)
{
    uint32_t total = 0;

    for (size_t i = 0; i < GBX_SUSPECT_COUNT; i++)
        total += counts->of[i];
    return total;
}

static void name_call(gbx_cluster *c, uint64_t call)
{
    for (size_t i = 0; i < c->call_count; i++)
        if (c->calls[i] == call)
            return;
    if (c->call_count < GBX_SUSPICION_CALLS)
        c->calls[c->call_count++] = call;
}

const char *gbx_suspect_name(gbx_suspect kind)
{
    return kinds[kind].name;
}

void gbx_suspicion_init(gbx_suspicion *s, uint32_t threshold, uint32_t window_ms)
{
    memset(s, 0, sizeof *s);
    s->threshold = threshold;
    s->window_ns = (int64_t)window_ms * GBX_NS_PER_MS;
}

bool gbx_suspicion_add(gbx_suspicion *s, gbx_suspect kind, uint64_t call,
                       gbx_suspect_counts *of_call, int64_t now_ns, gbx_cluster *ret)
{
    bool is_cluster;
    size_t at;

    of_call->of[kind]++;
    forget_old(s, now_ns);
    at = (s->first + s->count) % GBX_SUSPICION_KEPT;
    if (s->count == GBX_SUSPICION_KEPT)
        s->first = (s->first + 1) % GBX_SUSPICION_KEPT;
    else
        s->count++;
    s->kept[at].at_ns = now_ns;
    s->kept[at].call = call;
    s->kept[at].kind = kind;
    is_cluster = s->count >= s->threshold || kinds[kind].weight == 0 ||
                 sum(of_call) >= s->threshold;
    if (!is_cluster || (s->was_told && now_ns - s->told_ns < s->window_ns))
        return false;
    *ret = (gbx_cluster){0};
    if (sum(of_call) > s->count) { /* one long call, older than the window */
        ret->counts = *of_call;
        name_call(ret, call);
    } else {
        for (size_t i = 0; i < s->count; i++) {
            at = (s->first + i) % GBX_SUSPICION_KEPT;
            ret->counts.of[s->kept[at].kind]++;
            name_call(ret, s->kept[at].call);
        }
    }
    ret->total = sum(&ret->counts);
    *of_call = (gbx_suspect_counts){0};
    s->was_told = true;
    s->told_ns = now_ns;
    return true;
}
