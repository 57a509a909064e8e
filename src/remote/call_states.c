/* SPDX-License-Identifier: MIT */
/*
 * call_states - the two tables. What they guarantee, and tests prove for every order,
 * loss and repetition of messages and every end of a runner: a call begins at most once;
 * UNAVAILABLE is said only if it has not begun and cannot begin any more.
 */
#include "remote/call_states.h"

#include "base/cleanup.h"

/* clang-format off */
static const gbx_call_row caller_rows[] = {
#define C(state, event, next, actions) {GBX_CALLER_##state, GBX_CALLER_ON_##event, GBX_CALLER_##next, actions},
#define DO(action) GBX_CALLER_DO_##action
    C(LISTED, ASK, ASKED, DO(WANT))
    C(LISTED, ABORT, OVER, DO(UNAVAILABLE))
    C(ASKED, FETCH, ASKED, DO(BLOB))
    C(ASKED, GRANT, HELD, DO(GRANTED))
    C(ASKED, UNHEARD, LISTED, 0)
    C(ASKED, REFUSED, LISTED, 0)
    C(ASKED, BROKEN, LISTED, 0)
    C(ASKED, SILENT, LISTED, 0)
    C(ASKED, REFUSED_FINAL, OVER, DO(UNAVAILABLE))
    C(ASKED, ABORT, OVER, DO(UNAVAILABLE))
    /* From here on the engine knows its machine: no other one is asked. */
    C(HELD, SENT, SENT, 0)
    C(HELD, DATA, HELD, DO(PASS))
    C(HELD, END_NOT_BEGUN, OVER, DO(UNAVAILABLE))
    C(HELD, BROKEN, OVER, DO(CANCEL) | DO(UNAVAILABLE))
    C(HELD, SILENT, OVER, DO(CANCEL) | DO(UNAVAILABLE))
    C(HELD, ABORT, OVER, DO(CANCEL) | DO(UNAVAILABLE))
    /* It may have begun. */
    C(SENT, DATA, SENT, DO(PASS))
    C(SENT, END, OVER, DO(END))
    C(SENT, END_NOT_BEGUN, OVER, DO(UNAVAILABLE))
    C(SENT, END_GONE, OVER, DO(LOST))
    C(SENT, BROKEN, OVER, DO(CANCEL) | DO(LOST))
    C(SENT, SILENT, OVER, DO(CANCEL) | DO(LOST))
    C(SENT, ABORT, SENT, DO(CANCEL))
#undef DO
};

static const gbx_call_row runner_rows[] = {
#define R(state, event, next, actions) {GBX_RUNNER_##state, GBX_RUNNER_ON_##event, GBX_RUNNER_##next, actions},
#define DO(action) GBX_RUNNER_DO_##action
    R(HELD, PART, HELD, 0)
    R(HELD, WHOLE, RUNNING, DO(BEGIN))
    R(HELD, BROKEN, OVER, DO(UNRUN))
    R(HELD, SILENT, OVER, DO(UNRUN))
    R(HELD, CANCEL, OVER, 0)
    R(RUNNING, LATER, RUNNING, DO(FEED))
    R(RUNNING, FAILED, OVER, DO(UNRUN))
    R(RUNNING, ENDED, OVER, DO(END))
    R(RUNNING, BROKEN, OVER, DO(GONE))
    R(RUNNING, SILENT, OVER, DO(GONE))
    R(RUNNING, CANCEL, RUNNING, DO(ABORT))
};
/* clang-format on */

const gbx_call_table gbx_caller_table = {caller_rows, GBX_COUNTOF(caller_rows)};
const gbx_call_table gbx_runner_table = {runner_rows, GBX_COUNTOF(runner_rows)};

const gbx_call_row *gbx_call_row_of(const gbx_call_table *table, unsigned state,
                                    unsigned event)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].state == state && table->rows[i].event == event)
            return &table->rows[i];
    return NULL;
}
