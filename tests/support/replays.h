/* SPDX-License-Identifier: MIT */
/* replays - calls that are recorded, recordings that are edited, replays that are
 * judged. All of it asserts. */
#ifndef GBX_TESTS_REPLAYS_H
#define GBX_TESTS_REPLAYS_H

#include <glovebox/record.h>
#include <stdbool.h>
#include <stddef.h>

/* Run the call and give the text of its recording, to be freed with free(); the result
 * goes to *ret_result unless that is NULL. */
char *record_call(gbx_engine *engine, gbx_call *call, unsigned flags,
                  gbx_result **ret_result);

gbx_recording *recording_of(const char *text);

/* Replay in an engine of the recording's own, with this input or none. */
gbx_result *replay_alone(const char *text, const char *input);

/* Replay in this engine. */
gbx_result *replay_in(gbx_engine *engine, const char *text, const char *input);

/* The one place where `from` stands in text becomes `to`; to be freed. */
char *edited(const char *text, const char *from, const char *to);

/* Text without its line number `line`, from 1; to be freed. */
char *without_line(const char *text, size_t line);

/* The number of the nth line, from 1, whose "what" is that; 0: there are fewer. */
size_t line_of(const char *text, const char *what, size_t nth);

/* The value, error, stack and console lines of both are the same, and b is a replay. */
void check_same(gbx_result *a, gbx_result *b);

/* Record the call; what is replayed is the same: in that engine, or alone, with the call's input
 * unless the recording has it. */
void check_replay(gbx_engine *engine, gbx_call *call, unsigned flags, bool in_engine);

/* It diverged at this host call; `came` is part of what came. */
void check_diverged(const gbx_result *result, unsigned host_call, const char *what,
                    const char *came);

#endif
