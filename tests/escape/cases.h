/* SPDX-License-Identifier: MIT */
/*
 * cases - pieces of JavaScript and how each must end, read from tables, one a topic.
 *
 *   //: form: script                    before the first case: the file's defaults
 *
 *   //// A052 JSON.stringify replaced   a case begins: id, then title
 *   //: layer: serialiser               headers, see below
 *   //: expect: VALUE
 *   //: value: {"a":1}
 *   JSON.stringify = () => "no";        the code, to the next case or step
 *   ({ a: 1 })
 *   //: then: the next call has the original      another call of the same case
 *   //: value: "{}"
 *   JSON.stringify({})
 *
 * Headers: why (what is tried and what would be wrong), layer (what stops it), expect
 * (codes, one of which is right; default VALUE), guard (the same with the structural
 * check on, if it differs), value (JSON, or undefined), error and log (part of the
 * text), lacks (words that must be nowhere in the answer), next (same or other: this
 * step's value beside the step's before it), form, input, bindings, seed, now, timeout
 * (ms), memory (MiB; a list runs the case with each), output and log-bytes, world
 * (standard, minimal: globals; closed: no capability; open: all that need no list of
 * what may be reached), jit (full, off), and bytes: on, which replaces {{e2 80 a8}} in
 * the code by these bytes and {{28 x 500}} by so many of one.
 */
#ifndef GBX_TESTS_CASES_H
#define GBX_TESTS_CASES_H

#include <glovebox/glovebox.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CASE_STEPS_MAX    3
#define CASE_MEMORIES_MAX 4

typedef enum case_world {
    WORLD_STANDARD,
    WORLD_MINIMAL,
    WORLD_CLOSED,
    WORLD_JIT_OFF,
    WORLD_OPEN,
    WORLD_COUNT,
} case_world;

/* One call. Texts are NULL where there was no such header. */
typedef struct case_step {
    uint32_t line; /* of its code */
    char *code;
    size_t code_len;
    const char *why;
    const char *input;
    const char *bindings;
    const char *value;
    const char *error;
    const char *log;
    const char *lacks;
    const char *next;
    uint32_t codes;       /* a bit for each gbx_code that is right */
    uint32_t guard_codes; /* 0: the same */
    uint32_t form;        /* gbx_form */
    uint32_t flags;       /* of gbx_call */
    uint32_t has_bytes;
    uint64_t seed;
    uint64_t now_ms;
    uint64_t timeout_ms;
    uint64_t output_bytes;
    uint64_t log_bytes;
} case_step;

typedef struct test_case {
    const char *name; /* id and title */
    char file[32];
    const char *layer;
    uint32_t world;
    uint32_t memories[CASE_MEMORIES_MAX]; /* MiB; the first is 0: the default */
    case_step steps[CASE_STEPS_MAX];
    size_t step_count;
    bool ends_group; /* of those that the tests look back at together */
} test_case;

/* Run a cmocka test for each case of every *.cases in GBX_ESCAPE/folder, by name of file,
 * after those of own (may be NULL); *state of each is its test_case. With
 * GLOVEBOX_SHARD=2/6 in the environment every sixth of them, beginning with the second.
 * Every sixteenth case ends a group, and so does the last. Returns how many failed. Ends
 * the program with the place if a file is not as above. */
int cases_run(const char *folder, CMUnitTestFunction fn, const struct CMUnitTest *own,
              size_t own_count, CMFixtureFunction start, CMFixtureFunction stop);

#endif
