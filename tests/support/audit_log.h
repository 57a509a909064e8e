/* SPDX-License-Identifier: MIT */
/*
 * audit_log - what an engine tells its security log and its event callback, kept as it
 * came, and read back by a parser that is not ours.
 */
#ifndef GBX_TESTS_AUDIT_LOG_H
#define GBX_TESTS_AUDIT_LOG_H

#include "audit_text.h"

#include <glovebox/glovebox.h>
#include <pthread.h>

#define AUDIT_EVENTS_MAX 1024

typedef struct audit_log {
    pthread_mutex_t lock;
    char **lines; /* each ends in NUL */
    size_t count;
    size_t capacity;
    struct {
        char name[32];
        char detail[320];
        char call_id[40];
        gbx_ticket call;
    } events[AUDIT_EVENTS_MAX];
    size_t event_count; /* may be more than are kept */
    json_t *parsed;     /* what audit_log_lines() gave last */
} audit_log;

void audit_log_init(audit_log *log);
void audit_log_cleanup(audit_log *log);

/* An engine made of options tells this one. */
void audit_log_hear(audit_log *log, gbx_options *options);

/* All lines so far, in the order of coming, as an array that lives until the next call;
 * asserts that each is one and that no number comes twice. */
json_t *audit_log_lines(audit_log *log);

/* Of those: how many have this event, and the one with this index, or NULL. */
size_t audit_log_count(json_t *lines, const char *event);
json_t *audit_log_get(json_t *lines, const char *event, size_t index);

/* A field of a line as text, or as a number; "" and -1 if there is none. */
const char *audit_log_text(json_t *line, const char *field);
double audit_log_number(json_t *line, const char *field);

/* How often the callback heard this event. */
size_t audit_log_heard(audit_log *log, const char *event);

/* The one of an AUDIT_TEST(name): empty before it, and no process is left after it. */
extern audit_log heard;
int audit_log_before(void **state);
int audit_log_after(void **state);
#define AUDIT_TEST(name) TEST_WITH(audit_log_before, audit_log_after, name)

#endif
