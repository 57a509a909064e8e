/* SPDX-License-Identifier: MIT */
/* proc_memory - what other processes have in their memory. Only root may look: an
 * ordinary user's test is skipped. */
#ifndef GBX_TESTS_PROC_MEMORY_H
#define GBX_TESTS_PROC_MEMORY_H

#include "proc.h"

/* First: an engine that lives cannot be skipped over. */
void proc_memory_needs_root(void);

/* Is the word in what is mapped from no file? -1 if the process may not be looked at,
 * 0 if it has ended. */
int proc_memory_has(pid_t pid, const char *word);

/* Is a file mapped whose path has the word? -1 as above. */
int proc_maps_have(pid_t pid, const char *word);

#endif
