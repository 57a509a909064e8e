/* SPDX-License-Identifier: MIT */
/*
 * memory_bus - a messaging system within one thread: nothing happens until broker_next(),
 * and messages are lost, doubled and late as the test's script says.
 */
#ifndef GBX_TESTS_MEMORY_BUS_H
#define GBX_TESTS_MEMORY_BUS_H

#include "remote/remote.h"

typedef struct broker broker;

typedef enum broker_fault {
    BROKER_PASS,
    BROKER_LOSE,
    BROKER_TWICE,
    BROKER_LATE, /* after the next three messages */
} broker_fault;

/* What happens to a message; head: the first bytes of its frame. */
typedef broker_fault (*broker_script)(void *user, const char *subject, gbx_span head);

broker *broker_new(void);
void broker_free(broker *b); /* and its connections */
void broker_follow(broker *b, broker_script script, void *user);

/* A connection that takes so many bytes of data in a message. */
gbx_bus *broker_connect(broker *b, size_t chunk);
/* Its process has died: it hears and says nothing more. */
void broker_kill(gbx_bus *bus);
/* Away: it can neither publish nor hear; what comes meanwhile is lost. */
void broker_part(gbx_bus *bus, bool is_away);

/* Deliver the next message; false: there is none. */
bool broker_next(broker *b);

/* A message from nowhere. */
void broker_forge(broker *b, const char *subject, gbx_span body);

/* Messages that were published with this type of frame, and the bytes of all. */
unsigned broker_count(const broker *b, unsigned type);

#endif
