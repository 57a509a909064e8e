/* SPDX-License-Identifier: MIT */
/*
 * remote_ledger - many calls while messages are lost, doubled and late, runners and
 * callers die, and connections part. Then each call is compared with the ledger: it has
 * begun at most once, UNAVAILABLE was said only of those that have not, a value came
 * only of those that have, and each call of a living caller was answered in time.
 *
 * The argument of a failure's message, as GLOVEBOX_SEED, does the same again.
 */
#include "remote_world.h"
#include "test.h"

#include "base/clock.h"

#define CALLS 60

typedef struct chaos {
    uint64_t state;
    unsigned faults; /* in a thousand messages */
} chaos;

static uint32_t draw(chaos *c, uint32_t below)
{
    c->state = c->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(c->state >> 33) % below;
}

static broker_fault fault_of(void *user, const char *subject, gbx_span head)
{
    static const broker_fault faults[] = {BROKER_LOSE, BROKER_TWICE, BROKER_LATE};
    chaos *c = user;

    return draw(c, 1000) < c->faults ? faults[draw(c, 3)] : BROKER_PASS;
}

typedef struct entry {
    leased k;
    char name[16];
    size_t value_len; /* that a worker says, if it says all */
    int64_t began_ns, cancelled_ns;
    bool was_released; /* its caller has died, or was content */
} entry;

static entry entries[CALLS];

static void begin(world *w, chaos *c, unsigned i)
{
    static const struct {
        const char *word;
        size_t value_len;
    } rows[] = {{"say 10", 13}, {"say 400000", 400003},
                {"ask 5", 8},   {"wait", 0},
                {"none", 0},    {"bad", 0}};
    uint32_t row = draw(c, 6);
    entry *e = &entries[i];
    char text[48];
    unsigned caller = draw(c, 2);

    memset(e, 0, sizeof *e);
    if (w->clients[caller] == NULL) {
        e->was_released = true;
        return;
    }
    e->began_ns = world_now_ns;
    (void)snprintf(e->name, sizeof e->name, "c%u", i);
    (void)snprintf(text, sizeof text, "%s %s", e->name, rows[row].word);
    e->value_len = rows[row].value_len;
    if (draw(c, 3) == 0)
        call_begin_big(w, &e->k, caller, text, 1 + strlen(text) + draw(c, 300000));
    else
        call_begin(w, &e->k, caller, text);
    e->k.answers = true;
}

/* What happens now and then at any moment. */
static void strike(world *w, chaos *c)
{
    unsigned r = draw(c, 3);

    switch (draw(c, 40)) {
    case 0:
        if (w->servers[r] != NULL)
            runner_kill(w, r);
        break;
    case 1:
    case 2:
        if (w->servers[r] == NULL)
            runner_start(w, r);
        break;
    case 3:
        if (w->clients[1] != NULL && draw(c, 8) == 0) {
            for (unsigned i = 0; i < CALLS; i++)
                entries[i].was_released |= entries[i].k.caller == 1;
            caller_kill(w, 1);
        }
        break;
    case 4:
    case 5:
        if (w->servers[r] != NULL)
            broker_part(w->runner_buses[r], draw(c, 2) != 0);
        break;
    case 6:
    case 7: broker_part(w->caller_buses[0], draw(c, 2) != 0); break;
    case 8:
        if (w->servers[r] != NULL && draw(c, 4) == 0)
            gbx_lessor_drain(w->servers[r], draw(c, 2) != 0);
        break;
    default: break;
    }
}

/* What an engine does at a call's deadline, and a caller who changes their mind. */
static void watch(world *w, chaos *c, entry *e)
{
    gbx_runner *plug = &w->plugs[e->k.caller];
    bool is_late = world_now_ns - e->began_ns > 5500 * GBX_NS_PER_MS;

    if (e->began_ns == 0 || e->was_released || !e->k.is_open)
        return;
    if (call_is_over(&e->k)) {
        if (draw(c, 10) == 0) {
            e->was_released = true;
            call_end(&e->k);
        }
    } else if (e->cancelled_ns == 0 && (is_late || draw(c, 2000) == 0)) {
        e->cancelled_ns = world_now_ns;
        if (e->k.granted > 0)
            plug->cancel(plug->user, &e->k.lease);
        else
            call_end(&e->k);
    }
}

static void check(const entry *e, uint64_t seed)
{
    unsigned begun = fake_begun(e->name);

    if (e->began_ns == 0)
        return;
    if (begun > 1)
        fail_msg("seed %llu: '%s' began %u times", (unsigned long long)seed, e->name,
                 begun);
    if (e->k.refused > 0 && e->k.why == UNAVAILABLE && begun > 0)
        fail_msg("seed %llu: '%s' has begun, but: %s", (unsigned long long)seed,
                 e->name, e->k.text);
    if (e->k.ended > 0 && begun != 1)
        fail_msg("seed %llu: '%s' ended, but never began", (unsigned long long)seed,
                 e->name);
    if (e->k.ended > 0 && e->k.ending.how == GBX_ENDING_SAID &&
        e->k.received != e->value_len)
        fail_msg("seed %llu: '%s' ended after %zu bytes", (unsigned long long)seed,
                 e->name, e->k.received);
    if (!e->was_released && !call_is_over(&e->k) && e->cancelled_ns == 0)
        fail_msg("seed %llu: '%s' has no answer", (unsigned long long)seed, e->name);
}

static void run(uint64_t seed, unsigned counts[4])
{
    chaos c = {.state = seed * 7919 + 1, .faults = seed % 3 == 0 ? 0 : 40};
    world *w = world_new(2, 3, 2);

    broker_follow(w->broker, fault_of, &c);
    memset(entries, 0, sizeof entries);
    for (unsigned step = 0, next = 0; step < 1600; step++) {
        if (next < CALLS && draw(&c, 4) == 0)
            begin(w, &c, next++);
        if (step < 400)
            strike(w, &c);
        for (unsigned i = 0; i < next; i++)
            watch(w, &c, &entries[i]);
        world_pass(w, 5);
    }
    for (unsigned i = 0; i < CALLS; i++) {
        check(&entries[i], seed);
        counts[0] += entries[i].k.ended;
        counts[1] += entries[i].k.refused && entries[i].k.why == LOST;
        counts[2] += entries[i].k.refused && entries[i].k.why != LOST;
        counts[3] += entries[i].cancelled_ns != 0;
    }
    world_free(w);
}

TEST(every_call__is_told_the_truth)
{
    const char *given = getenv("GLOVEBOX_SEED");
    unsigned counts[4] = {0};

    if (given != NULL)
        run(strtoull(given, NULL, 10), counts);
    for (uint64_t seed = 1; given == NULL && seed <= 400; seed++)
        run(seed, counts);
    print_message("%u ended, %u lost, %u unavailable, %u cancelled\n", counts[0],
                  counts[1], counts[2], counts[3]);
    assert_true(given != NULL ||
                (counts[0] > 4000 && counts[1] > 1000 && counts[2] > 4000));
}

TEST_MAIN(NULL, NULL)
