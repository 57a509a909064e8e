/* SPDX-License-Identifier: MIT */
/*
 * call_states - the states of one call between machines, as two tables: of the caller's
 * lease, and of the runner's seat for it. They hold the rules that make a call run at
 * most once, and that say the truth about whether it has begun. client.c and lessor.c
 * do nothing that no row allows; tests walk the same tables with every order of
 * messages. An event that has no row in a state is ignored.
 */
#ifndef GBX_REMOTE_CALL_STATES_H
#define GBX_REMOTE_CALL_STATES_H

#include <stddef.h>
#include <stdint.h>

typedef enum gbx_caller_state {
    GBX_CALLER_LISTED, /* waits until it may ask */
    GBX_CALLER_ASKED,  /* for a seat; a runner may fetch what its engine needs */
    GBX_CALLER_HELD,   /* has a seat; not all of the call was sent */
    GBX_CALLER_SENT,   /* to that seat alone: it may have begun */
    GBX_CALLER_OVER,
} gbx_caller_state;

typedef enum gbx_caller_event {
    GBX_CALLER_ON_ASK,     /* one of those that may ask now */
    GBX_CALLER_ON_UNHEARD, /* the question: nobody was there, or it was not sent */
    GBX_CALLER_ON_REFUSED, /* by this runner; another may take it */
    GBX_CALLER_ON_REFUSED_FINAL,
    GBX_CALLER_ON_FETCH,
    GBX_CALLER_ON_GRANT,
    GBX_CALLER_ON_SENT, /* the last byte of the call */
    GBX_CALLER_ON_DATA,
    GBX_CALLER_ON_END,
    GBX_CALLER_ON_END_NOT_BEGUN,
    GBX_CALLER_ON_END_GONE, /* the runner does not know how it ended */
    GBX_CALLER_ON_BROKEN,   /* a message is missing, malformed or too long */
    GBX_CALLER_ON_SILENT,   /* the runner, for too long */
    GBX_CALLER_ON_ABORT,
} gbx_caller_event;

enum {
    GBX_CALLER_DO_WANT = 1,         /* publish a WANT under a new number */
    GBX_CALLER_DO_BLOB = 2,         /* publish what is fetched */
    GBX_CALLER_DO_GRANTED = 4,      /* tell the engine */
    GBX_CALLER_DO_PASS = 8,         /* bytes to the engine */
    GBX_CALLER_DO_CANCEL = 16,      /* publish a CANCEL */
    GBX_CALLER_DO_END = 32,         /* the engine gets the evidence, */
    GBX_CALLER_DO_UNAVAILABLE = 64, /* or hears that the call was not begun, */
    GBX_CALLER_DO_LOST = 128,       /* or that it may have run */
};

typedef enum gbx_runner_state {
    GBX_RUNNER_HELD, /* the seat waits for the call, or its rest */
    GBX_RUNNER_RUNNING,
    GBX_RUNNER_OVER, /* and forgotten: each seat has a number of its own */
} gbx_runner_state;

typedef enum gbx_runner_event {
    GBX_RUNNER_ON_PART,   /* of the call */
    GBX_RUNNER_ON_WHOLE,  /* its last part */
    GBX_RUNNER_ON_LATER,  /* bytes after the call */
    GBX_RUNNER_ON_FAILED, /* to begin: the call is not valid, or nothing can run it */
    GBX_RUNNER_ON_ENDED,
    GBX_RUNNER_ON_BROKEN, /* a message is missing, malformed or too long */
    GBX_RUNNER_ON_SILENT, /* the caller, for too long */
    GBX_RUNNER_ON_CANCEL,
} gbx_runner_event;

enum {
    GBX_RUNNER_DO_BEGIN = 1,  /* run the call */
    GBX_RUNNER_DO_FEED = 2,   /* bytes to the worker */
    GBX_RUNNER_DO_ABORT = 4,  /* kill the worker: ENDED follows */
    GBX_RUNNER_DO_END = 8,    /* publish the evidence, */
    GBX_RUNNER_DO_UNRUN = 16, /* or that it has not begun, */
    GBX_RUNNER_DO_GONE = 32,  /* or that nobody knows */
};

/* What an event does in a state. */
typedef struct gbx_call_row {
    uint8_t state;
    uint8_t event;
    uint8_t next;
    uint8_t actions;
} gbx_call_row;

typedef struct gbx_call_table {
    const gbx_call_row *rows;
    size_t count;
} gbx_call_table;

extern const gbx_call_table gbx_caller_table;
extern const gbx_call_table gbx_runner_table;

/* NULL: the event is ignored in this state. */
const gbx_call_row *gbx_call_row_of(const gbx_call_table *table, unsigned state,
                                    unsigned event);

#endif
