/* SPDX-License-Identifier: MIT */
/*
 * worker_uid - the user that a root host's templates become.
 *
 * A configured one, else one between 61184 and 65519, the range that no distribution gives
 * to people, packages or containers, without a name and without a process; nobody only if
 * 64 of those in a row are in use. Processes of the same user may signal, and while they
 * are not sealed trace, each other.
 */
#ifndef GBX_ENGINE_WORKER_UID_H
#define GBX_ENGINE_WORKER_UID_H

#include <stdint.h>

#define GBX_WORKER_UIDS_SIZE 32

/* The program's argument GBX_START_UIDS; asked: 0 if none is configured. "" where the host
 * is not root. Asks the system's directory of names, which may be slow: once an engine. */
void gbx_worker_uid_choose(uint32_t asked, char to[GBX_WORKER_UIDS_SIZE]);

#endif
