/* SPDX-License-Identifier: MIT */
/*
 * worker_uid - the user that a root host's templates become.
 *
 * A configured one, else one between 61184 and 65519, the range that no distribution gives
 * to people, packages or containers, without a name and without a process; nobody only if
 * all of those are in use. Processes of the same user may signal, and while they are not
 * sealed trace, each other.
 */
#ifndef GBX_BROKER_WORKER_UID_H
#define GBX_BROKER_WORKER_UID_H

#include <stddef.h>
#include <stdint.h>

/* The program's argument GBX_START_UIDS; asked: 0 if none is configured. "" where the host
 * is not root. Looks for a free one once in the life of the process. Any thread. */
void gbx_worker_uid_choose(uint32_t asked, char *to, size_t size);

#endif
