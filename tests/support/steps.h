/* SPDX-License-Identifier: MIT */
/*
 * steps - a program whose cases are in a file below tests/: lines that are run one after the
 * other, each a verb and what it is about.
 *
 *     === CLAIM                a case, which begins anew
 *     each FIRST LAST STEP     first in a case: the rest of it, once for each number
 *     for FIRST LAST LINE      the line once for each number
 *     no LINE                  the line, which does not hold
 *
 * In every line $N is the number, $NL a line end, $REPEAT(FIRST,LAST,TEXT) the text once for
 * each number, which is # in it, and the words of the program stand for texts.
 *
 * All of it asserts.
 */
#ifndef GBX_TESTS_STEPS_H
#define GBX_TESTS_STEPS_H

#include "table.h"

#include <stdbool.h>
#include <stdio.h>

/* One of the two; each is given the rest of its line. */
typedef struct steps_verb {
    const char *name;
    void (*run)(char *rest);
    bool (*holds)(char *rest);
} steps_verb;

typedef struct steps_program {
    const steps_verb *verbs; /* to one without a name */
    const char *const (*words)[2];
    /* Prints what another word at *at stands for, and moves *at behind it; may be NULL. */
    bool (*word)(FILE *to, const char **at);
    void (*set_up)(void);
    void (*tear_down)(void);
} steps_program;

/* Run the file that is the only argument; what main() returns. */
int steps_main(int argc, char **argv, const steps_program *program);

/* Cuts off the next word, which is a number. */
long steps_number(char **rest);

#endif
