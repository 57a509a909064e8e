/* SPDX-License-Identifier: MIT */
/*
 * fake_relay - engines and relays without processes, for tests of what is around them. A
 * call is a text, "NAME WORD ARGUMENT", and the word says what its worker does:
 *
 *   say N    says N bytes and ends
 *   ask N    asks the caller, waits for "yes" N times, and ends
 *   wait     goes on until it is aborted
 *   none     gets no worker
 *   bad      is no call at all
 *
 * The ledger has each call that has begun.
 */
#ifndef GBX_TESTS_FAKE_RELAY_H
#define GBX_TESTS_FAKE_RELAY_H

#include "remote/remote.h"

extern const gbx_relay_api fake_relay_api;

/* How often calls of that name have begun, and how many run now. */
unsigned fake_begun(const char *name);
unsigned fake_running(void);
size_t fake_said(void); /* bytes of all workers that were taken */
void fake_forget(void);

/* Engines that were asked for are made, in place of threads: contents with a function named "bad" are refused
 * at 3:7. True: there were some. */
bool fake_make_engines(void);
unsigned fake_made(void);

#endif
