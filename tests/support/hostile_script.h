/* SPDX-License-Identifier: MIT */
/*
 * hostile_script - a small language for workers that break the protocol: the code of
 * the CALL is the script, one command a line.
 *
 *   result TEXT        a RESULT with these bytes        undefined   one without
 *   error KIND TEXT    an ERROR of this gbx_failure     oom         one of memory
 *   log LEVEL TEXT     wait MS    refused    ready      the other messages
 *   frame TYPE HEX     any message at all               raw HEX     any bytes at all
 *   deep N   big N     a RESULT nested N deep, or of N bytes in all
 *   again N            the last bytes N times more      flood       for ever
 *
 *   id own|zero|N      from now on the id of frames is  drip USEC   one byte at a time
 *   length N  type N  reserved N  cut N  split N        alter the next frame
 *
 *   sleep MS  spin  hang  exit N  signal N  stop  grow MIB    acts of the process
 *   drain  eat N  await     read the rest of the call, N bytes of it, answers
 *                                                       and one WAKE
 *   shutread  shutwrite  close
 *
 * In TEXT \xHH is a byte and \n, \r, \t, \\ are what they are in C.
 */
#ifndef GBX_TESTS_HOSTILE_SCRIPT_H
#define GBX_TESTS_HOSTILE_SCRIPT_H

#include <stdint.h>

/* Read one CALL from the channel up to the end of its code, and do what it says. */
_Noreturn void hostile_script_serve(int channel, uint64_t worker_id);

#endif
