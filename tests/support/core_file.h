/* SPDX-License-Identifier: MIT */
/* core_file - what a core dump of the test's own process would give away, by a real one. */
#ifndef GBX_TESTS_CORE_FILE_H
#define GBX_TESTS_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct core_file {
    const char *data;
    size_t len;
    size_t memory; /* begins there; before it are registers, which hold the last copy */
} core_file;

/* The core file that the kernel writes of a copy of this process. False where it writes
 * none, and *ret_why says why not. */
bool core_file_take(core_file *ret, const char **ret_why);

/* Is head right before tail in its memory? Who asks for a text in one piece has it in memory. */
bool core_file_has(const core_file *core, const char *head, const char *tail);

void core_file_drop(core_file *core);

#endif
