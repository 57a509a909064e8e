/* SPDX-License-Identifier: MIT */
/*
 * remote_states - every order of what can happen to one call between a caller and two
 * runners, by the very tables that both sides use: no two executions begin, UNAVAILABLE
 * is never said of a call that has begun or still begins, and the call is sent to one
 * seat. Then each guard is taken out of a copy of the tables, and the walk must find
 * what it prevents.
 *
 * Messages are lost, late, out of order and, once, twice; one runner is killed at any
 * moment and another one has its place; silence, aborts and broken messages come at any
 * moment. A runner's choices (refuse, give a seat, begin fails, no worker to be had) are
 * all tried. Beats carry nothing that a row depends on, but their absence: SILENT.
 */
#include "remote/call_states.h"
#include "test.h"

#include <stdbool.h>

#define RUNNERS 2
#define LIVES   2 /* of each runner: one kill */
#define NUMBERS 2 /* questions */
#define COPIES  2 /* seats for one question: it may come twice */
#define ROWS    64

/* ---- the world ------------------------------------------------------------------- */

/* What may be under way between the caller and one seat; two bits each. */
enum {
    M_CALL, /* whole */
    M_PART, /* or its first part */
    M_REST, /* and its last */
    M_CANCEL,
    TO_RUNNER,
    M_GRANT = TO_RUNNER,
    M_END,
    M_END_GONE,
    M_END_NOT_BEGUN,
    MESSAGES
};

enum { NO_SEAT, HELD = 1 + GBX_RUNNER_HELD, RUNNING = 1 + GBX_RUNNER_RUNNING };
enum { NOTHING, EVIDENCE, UNAVAILABLE, LOST };

typedef struct seat {
    uint16_t way;
    uint8_t state; /* 1 + gbx_runner_state, or NO_SEAT */
    uint8_t runs : 1;
    uint8_t has_part : 1;
} seat;

/* One question at one life of a runner: the messages, and the seats that it led to. */
typedef struct place {
    uint8_t wants, refusals;
    seat seats[COPIES];
} place;

typedef struct world {
    place places[RUNNERS * LIVES * NUMBERS];
    uint8_t caller;
    uint8_t number; /* 0: none yet */
    uint8_t pin;    /* 1 + the index of the caller's seat; 0: none */
    uint8_t outcome;
    uint8_t begun, sent; /* executions; seats that have got the call */
    uint8_t lives[RUNNERS];
    uint8_t is_whole; /* the call goes in one message */
    uint8_t part_sent;
    uint8_t may_twice, may_kill;
    uint8_t zeros[4];
} world;

_Static_assert(sizeof(world) % sizeof(uint64_t) == 0, "it is hashed by words");

/* What is allowed to go wrong in the model itself. */
typedef struct rules {
    gbx_call_row caller[ROWS], runner[ROWS];
    gbx_call_table caller_table, runner_table;
    bool has_shared_number; /* the seats of one question have one number */
    bool sends_first;       /* the call leaves before the caller counts it as sent */
} rules;

/* ---- the set of worlds that were seen ---------------------------------------------- */

typedef struct walk {
    const rules *rules;
    world *worlds; /* in the order in which they were found */
    uint32_t *slots;
    size_t count, capacity, slot_count;
    unsigned looked_for; /* faults, as bits: the walk ends at the first */
    unsigned found;
} walk;

static uint64_t hash_of(const world *w)
{
    uint64_t words[sizeof *w / sizeof(uint64_t)];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    memcpy(words, w, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i] ^ hash >> 29) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static size_t slot_of(const walk *k, const world *w)
{
    size_t at = hash_of(w) & (k->slot_count - 1);

    while (k->slots[at] != 0 && memcmp(&k->worlds[k->slots[at] - 1], w, sizeof *w) != 0)
        at = (at + 1) & (k->slot_count - 1);
    return at;
}

static void grow(walk *k)
{
    k->capacity = k->capacity == 0 ? 1 << 16 : 2 * k->capacity;
    k->slot_count = 4 * k->capacity;
    k->worlds = realloc(k->worlds, k->capacity * sizeof *k->worlds);
    free(k->slots);
    k->slots = calloc(k->slot_count, sizeof *k->slots);
    assert_non_null(k->worlds);
    assert_non_null(k->slots);
    for (size_t i = 0; i < k->count; i++)
        k->slots[slot_of(k, &k->worlds[i])] = (uint32_t)i + 1;
}

enum { NO_FAULT, BEGUN_TWICE = 1, UNTRUE = 2, SENT_TWICE = 4, TOO_MANY = 8, ANY = 15 };

static unsigned faults_of(const world *w)
{
    unsigned faults = NO_FAULT;

    if (w->begun > 1)
        faults |= BEGUN_TWICE;
    if (w->outcome == UNAVAILABLE && w->begun > 0)
        faults |= UNTRUE;
    if (w->sent > 1)
        faults |= SENT_TWICE;
    return faults;
}

/* Forget what makes no difference. */
static void settle(const walk *k, world *w)
{
    for (unsigned i = 0; i < RUNNERS * LIVES * NUMBERS * COPIES; i++) {
        seat *t = &w->places[i / COPIES].seats[i % COPIES];
        bool is_heard = w->pin == i + 1 || k->rules->has_shared_number;

        if (w->caller == GBX_CALLER_OVER || !is_heard) /* but a GRANT is given back */
            t->way &= (1u << (2 * (M_GRANT + 1))) - 1;
        if (w->caller == GBX_CALLER_OVER || i / COPIES % NUMBERS + 1 != w->number)
            w->places[i / COPIES].refusals = 0;
    }
}

static void see(walk *k, const world *unsettled)
{
    world copy = *unsettled;
    const world *w = &copy;
    size_t at;

    settle(k, &copy);
    if (k->count == k->capacity)
        grow(k);
    at = slot_of(k, w);
    if (k->slots[at] != 0 || k->found != NO_FAULT)
        return;
    k->worlds[k->count++] = *w;
    k->slots[at] = (uint32_t)k->count;
    k->found = faults_of(w) & k->looked_for;
}

/* ---- messages ---------------------------------------------------------------------- */

static seat *seat_at(world *w, unsigned index)
{
    return &w->places[index / COPIES].seats[index % COPIES];
}

static unsigned life_of(unsigned index)
{
    return index / COPIES / NUMBERS % LIVES;
}

static unsigned runner_of(unsigned index)
{
    return index / COPIES / NUMBERS / LIVES;
}

static unsigned on_way(const seat *t, unsigned message)
{
    return t->way >> (2 * message) & 3u;
}

static void put(seat *t, unsigned message)
{
    if (on_way(t, message) < 3)
        t->way = (uint16_t)(t->way + (1u << (2 * message)));
}

/* ---- the runner -------------------------------------------------------------------- */

/* The seat does what the event's row says; then every way in which a call may begin. */
static void runner_event(walk *k, world w, unsigned index, unsigned event)
{
    seat *t = seat_at(&w, index);
    const gbx_call_row *row =
        gbx_call_row_of(&k->rules->runner_table, t->state - 1u, event);

    if (row == NULL) {
        see(k, &w);
        return;
    }
    t->state = (uint8_t)(row->next + 1);
    if ((row->actions & GBX_RUNNER_DO_END) != 0)
        put(t, t->runs ? M_END : M_END_NOT_BEGUN);
    if ((row->actions & GBX_RUNNER_DO_UNRUN) != 0)
        put(t, M_END_NOT_BEGUN);
    if ((row->actions & GBX_RUNNER_DO_GONE) != 0)
        put(t, t->runs ? M_END_GONE : M_END_GONE);
    if (event == GBX_RUNNER_ON_PART)
        t->has_part = 1;
    if (row->next == GBX_RUNNER_OVER)
        t->runs = t->has_part = 0;
    if ((row->actions & GBX_RUNNER_DO_BEGIN) != 0) {
        t->runs = 0; /* it waits for a worker */
        runner_event(k, w, index, GBX_RUNNER_ON_FAILED);
    }
    see(k, &w);
}

static void runner_moves(walk *k, const world *w, unsigned index)
{
    static const uint8_t events[] = {GBX_RUNNER_ON_ENDED, GBX_RUNNER_ON_BROKEN,
                                     GBX_RUNNER_ON_SILENT};
    world begun = *w;
    seat *t = seat_at(&begun, index);

    if (t->state == NO_SEAT)
        return;
    for (size_t i = 0; i < sizeof events; i++)
        runner_event(k, *w, index, events[i]);
    if (t->state == RUNNING && !t->runs) {
        t->runs = 1;
        begun.begun++;
        see(k, &begun);
    }
}

static void runner_hears(walk *k, const world *w, unsigned index, unsigned message)
{
    world now = *w;
    const seat *t = seat_at(&now, index);
    bool is_next = message == M_REST ? t->has_part : !t->has_part;

    if (message == M_CANCEL)
        runner_event(k, *w, index, GBX_RUNNER_ON_CANCEL);
    else if (t->state == RUNNING || (t->state == HELD && !is_next))
        runner_event(k, *w, index, GBX_RUNNER_ON_BROKEN);
    else
        runner_event(k, *w, index,
                     message == M_PART ? GBX_RUNNER_ON_PART : GBX_RUNNER_ON_WHOLE);
}

/* A question: it is refused, now or after an engine was made, or gets a seat. */
static void runner_asked(walk *k, const world *w, unsigned place_index)
{
    world refused = *w;
    world given = *w;
    place *p = &refused.places[place_index];

    if (p->refusals < 3)
        p->refusals++;
    see(k, &refused);
    for (unsigned i = 0; i < COPIES; i++) {
        seat *t = &given.places[place_index].seats[i];

        if (t->state == NO_SEAT) {
            t->state = HELD;
            put(t, M_GRANT);
            see(k, &given);
            return;
        }
    }
}

/* ---- the caller -------------------------------------------------------------------- */

static void publish_want(walk *k, const world *w)
{
    bool is_alike = w->number == 1 && w->may_kill; /* as all runners are at first */

    for (unsigned r = 0; r < (is_alike ? 1 : RUNNERS); r++) {
        world next = *w;

        next.places[(r * LIVES + w->lives[r]) * NUMBERS + w->number - 1u].wants++;
        see(k, &next);
    }
}

/* from: 1 + the index of the seat that the message is from; 0: it is none. */
static void caller_event(walk *k, world w, unsigned event, unsigned from)
{
    const gbx_call_row *row = gbx_call_row_of(&k->rules->caller_table, w.caller, event);

    if (row == NULL) {
        see(k, &w);
        return;
    }
    w.caller = row->next;
    if ((row->actions & GBX_CALLER_DO_GRANTED) != 0) {
        w.pin = (uint8_t)from;
        w.part_sent = 0;
    }
    if ((row->actions & GBX_CALLER_DO_CANCEL) != 0 && w.pin != 0)
        put(seat_at(&w, w.pin - 1u), M_CANCEL);
    if (event == GBX_CALLER_ON_SENT && !k->rules->sends_first) {
        w.sent++;
        put(seat_at(&w, w.pin - 1u), w.is_whole ? M_CALL : M_REST);
    }
    if ((row->actions & GBX_CALLER_DO_END) != 0)
        w.outcome = EVIDENCE;
    if ((row->actions & GBX_CALLER_DO_UNAVAILABLE) != 0)
        w.outcome = UNAVAILABLE;
    if ((row->actions & GBX_CALLER_DO_LOST) != 0)
        w.outcome = LOST;
    if (row->next == GBX_CALLER_LISTED)
        w.pin = 0;
    if ((row->actions & GBX_CALLER_DO_WANT) != 0) {
        w.number++;
        publish_want(k, &w);
        caller_event(k, w, GBX_CALLER_ON_UNHEARD, 0); /* nobody was there */
    }
    see(k, &w); /* with WANT: it was lost */
}

/* What can happen at the caller at any moment. */
static void caller_moves(walk *k, const world *w)
{
    static const uint8_t events[] = {GBX_CALLER_ON_SILENT, GBX_CALLER_ON_ABORT,
                                     GBX_CALLER_ON_BROKEN};
    world part = *w;

    if (w->number < NUMBERS)
        caller_event(k, *w, GBX_CALLER_ON_ASK, 0);
    for (size_t i = 0; i < sizeof events; i++)
        caller_event(k, *w, events[i], 0);
    if (w->caller != GBX_CALLER_HELD)
        return;
    if (w->is_whole || w->part_sent)
        caller_event(k, *w, GBX_CALLER_ON_SENT, 0);
    if (!w->part_sent && (!w->is_whole || k->rules->sends_first)) {
        part.part_sent = 1;
        part.sent = (uint8_t)(part.sent + w->is_whole);
        put(seat_at(&part, w->pin - 1u), w->is_whole ? M_CALL : M_PART);
        see(k, &part);
    }
}

static void caller_hears(walk *k, const world *w, unsigned index, unsigned message)
{
    static const uint8_t events[MESSAGES] = {
        [M_GRANT] = GBX_CALLER_ON_GRANT,
        [M_END] = GBX_CALLER_ON_END,
        [M_END_GONE] = GBX_CALLER_ON_END_GONE,
        [M_END_NOT_BEGUN] = GBX_CALLER_ON_END_NOT_BEGUN,
    };
    bool is_asked = index / COPIES % NUMBERS + 1 == w->number;
    bool is_known = message == M_GRANT ? is_asked
                                       : w->pin == index + 1 ||
                                             (k->rules->has_shared_number && is_asked);
    world late = *w;

    if (is_known &&
        gbx_call_row_of(&k->rules->caller_table, w->caller, events[message]) != NULL) {
        caller_event(k, *w, events[message], index + 1);
        return;
    }
    if (message == M_GRANT && w->pin != index + 1) /* it is given back */
        put(seat_at(&late, index), M_CANCEL);
    see(k, &late);
}

/* ---- the walk ---------------------------------------------------------------------- */

static void seat_moves(walk *k, const world *w, unsigned index)
{
    bool is_alive = w->lives[runner_of(index)] == life_of(index);

    for (unsigned m = 0; m < MESSAGES; m++) {
        world left = *w;
        world twice = *w;
        seat *t = seat_at(&left, index);

        if (on_way(t, m) == 0)
            continue;
        twice.may_twice = 0;
        put(seat_at(&twice, index), m);
        if (w->may_twice)
            see(k, &twice);
        t->way = (uint16_t)(t->way - (1u << (2 * m)));
        see(k, &left); /* lost */
        if (m >= TO_RUNNER)
            caller_hears(k, &left, index, m);
        else if (is_alive)
            runner_hears(k, &left, index, m);
    }
    if (is_alive)
        runner_moves(k, w, index);
}

static void place_moves(walk *k, const world *w, unsigned index)
{
    bool is_alive = w->lives[runner_of(index * COPIES)] == life_of(index * COPIES);
    world left = *w;
    world twice = *w;
    place *p = &left.places[index];

    if (p->wants > 0) {
        twice.may_twice = 0;
        twice.places[index].wants++;
        if (w->may_twice)
            see(k, &twice);
        p->wants--;
        see(k, &left);
        if (is_alive)
            runner_asked(k, &left, index);
    }
    left = *w;
    if (p->refusals > 0) {
        p->refusals--;
        see(k, &left);
        caller_event(k, left, GBX_CALLER_ON_REFUSED, 0);
        caller_event(k, left, GBX_CALLER_ON_REFUSED_FINAL, 0);
    }
}

static void kill_one(walk *k, const world *w, unsigned r)
{
    world dead = *w;

    dead.may_kill = 0;
    dead.lives[r] = 1;
    for (unsigned n = 0; n < NUMBERS; n++) {
        place *p = &dead.places[r * LIVES * NUMBERS + n];

        p->wants = 0;
        for (unsigned i = 0; i < COPIES; i++) {
            p->seats[i].state = NO_SEAT;
            p->seats[i].runs = p->seats[i].has_part = 0;
            p->seats[i].way &= (uint16_t) ~((1u << (2 * TO_RUNNER)) - 1);
        }
    }
    see(k, &dead);
}

static unsigned walk_all(const rules *by, bool is_whole, unsigned looked_for,
                         size_t *ret_count)
{
    walk k = {.rules = by, .looked_for = looked_for};
    world start;

    memset(&start, 0, sizeof start);
    start.caller = GBX_CALLER_LISTED;
    start.is_whole = is_whole;
    start.may_twice = start.may_kill = 1;
    see(&k, &start);
    for (size_t i = 0; i < k.count && k.found == NO_FAULT; i++) {
        world w = k.worlds[i];

        caller_moves(&k, &w);
        for (unsigned r = 0; r < RUNNERS && w.may_kill; r++)
            kill_one(&k, &w, r);
        for (unsigned p = 0; p < RUNNERS * LIVES * NUMBERS; p++) {
            place_moves(&k, &w, p);
            for (unsigned c = 0; c < COPIES; c++)
                seat_moves(&k, &w, p * COPIES + c);
        }
        if (k.count > 40000000)
            k.found = TOO_MANY;
    }
    *ret_count = k.count;
    free(k.worlds);
    free(k.slots);
    return k.found;
}

static void fill_rules(rules *ret)
{
    memset(ret, 0, sizeof *ret);
    assert_true(gbx_caller_table.count < ROWS - 4 && gbx_runner_table.count < ROWS - 4);
    memcpy(ret->caller, gbx_caller_table.rows,
           gbx_caller_table.count * sizeof *ret->caller);
    memcpy(ret->runner, gbx_runner_table.rows,
           gbx_runner_table.count * sizeof *ret->runner);
    ret->caller_table = (gbx_call_table){ret->caller, gbx_caller_table.count};
    ret->runner_table = (gbx_call_table){ret->runner, gbx_runner_table.count};
}

/* The row of a table becomes this, or a new one. */
static void set_row(gbx_call_row *rows, gbx_call_table *t, unsigned state,
                    unsigned event, unsigned next, uint32_t actions)
{
    size_t i = 0;

    while (i < t->count && (rows[i].state != state || rows[i].event != event))
        i++;
    assert_true(i < ROWS);
    rows[i] =
        (gbx_call_row){(uint8_t)state, (uint8_t)event, (uint8_t)next, (uint8_t)actions};
    if (i == t->count)
        t->count++;
}

#define CALLER(of, state, event, next, actions)                    \
    set_row((of)->caller, &(of)->caller_table, GBX_CALLER_##state, \
            GBX_CALLER_ON_##event, GBX_CALLER_##next, (uint32_t)(actions))
#define RUNNER(of, state, event, next, actions)                    \
    set_row((of)->runner, &(of)->runner_table, GBX_RUNNER_##state, \
            GBX_RUNNER_ON_##event, GBX_RUNNER_##next, (uint32_t)(actions))

TEST(tables__hold_in_every_order)
{
    rules all;

    fill_rules(&all);
    for (unsigned is_whole = 0; is_whole < 2; is_whole++) {
        size_t count;
        unsigned found = walk_all(&all, is_whole, ANY, &count);

        print_message("%zu worlds\n", count);
        assert_int_equal(found, NO_FAULT);
        assert_true(count > 50000);
    }
}

/* ---- each guard -------------------------------------------------------------------- */

static void held_not_given_up(rules *of)
{
    RUNNER(of, HELD, SILENT, HELD, GBX_RUNNER_DO_UNRUN);
}

static void runs_but_says_not(rules *of)
{
    RUNNER(of, RUNNING, SILENT, OVER, GBX_RUNNER_DO_UNRUN);
}

static void begins_again(rules *of)
{
    RUNNER(of, RUNNING, BROKEN, RUNNING, GBX_RUNNER_DO_BEGIN);
}

static void begins_after_its_end(rules *of)
{
    RUNNER(of, OVER, WHOLE, RUNNING, GBX_RUNNER_DO_BEGIN);
}

static void seats_share_a_number(rules *of)
{
    of->has_shared_number = true;
}

static void sends_before_it_counts(rules *of)
{
    of->sends_first = true;
}

static void sent_asks_again(rules *of)
{
    CALLER(of, SENT, SILENT, LISTED, 0);
}

static void sent_but_says_not(rules *of)
{
    CALLER(of, SENT, SILENT, OVER, GBX_CALLER_DO_UNAVAILABLE);
}

static void broken_but_says_not(rules *of)
{
    CALLER(of, SENT, BROKEN, OVER, GBX_CALLER_DO_UNAVAILABLE);
}

static void gone_but_says_not(rules *of)
{
    CALLER(of, SENT, END_GONE, OVER, GBX_CALLER_DO_UNAVAILABLE);
}

static void abort_but_says_not(rules *of)
{
    CALLER(of, SENT, ABORT, OVER, GBX_CALLER_DO_CANCEL | GBX_CALLER_DO_UNAVAILABLE);
}

static void takes_a_second_seat(rules *of)
{
    CALLER(of, SENT, GRANT, HELD, GBX_CALLER_DO_GRANTED);
}

static const struct {
    const char *name;
    unsigned fault;
    void (*remove)(rules *of);
} guards[] = {
/* clang-format off */
#define GUARD(name, fault) {#name, fault, name}
    /* clang-format on */
    GUARD(held_not_given_up, UNTRUE),    GUARD(runs_but_says_not, UNTRUE),
    GUARD(begins_again, BEGUN_TWICE),    GUARD(begins_after_its_end, BEGUN_TWICE),
    GUARD(seats_share_a_number, UNTRUE), GUARD(sends_before_it_counts, UNTRUE),
    GUARD(sent_asks_again, BEGUN_TWICE), GUARD(sent_but_says_not, UNTRUE),
    GUARD(broken_but_says_not, UNTRUE),  GUARD(gone_but_says_not, UNTRUE),
    GUARD(abort_but_says_not, UNTRUE),   GUARD(takes_a_second_seat, SENT_TWICE),
};

TEST(walk__finds_what_each_guard_prevents)
{
    size_t unseen = 0;

    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++) {
        rules without;
        unsigned found = NO_FAULT;
        size_t count = 0;

        for (unsigned is_whole = 0; is_whole < 2 && found == NO_FAULT; is_whole++) {
            fill_rules(&without);
            guards[i].remove(&without);
            found = walk_all(&without, is_whole, guards[i].fault, &count);
        }
        print_message("%s: %s after %zu worlds\n", guards[i].name,
                      found != NO_FAULT ? "seen" : "NOT SEEN", count);
        unseen += found != guards[i].fault;
    }
    assert_int_equal(unseen, 0);
}

TEST_MAIN(NULL, NULL)
