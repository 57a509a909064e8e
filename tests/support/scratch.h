/* SPDX-License-Identifier: MIT */
/*
 * scratch - one folder for the files of a test, for which others have no rights. It goes
 * with all that is in it. One at a time, on one thread.
 *
 * What is made in it has the modes that the umask leaves.
 */
#ifndef GBX_TESTS_SCRATCH_H
#define GBX_TESTS_SCRATCH_H

#include <stddef.h>

/* Its path. */
extern char scratch[32];

/* cmocka's set-up and tear-down, of one test or of all. */
int scratch_begin(void **state);
int scratch_end(void **state);

/* "FOLDER/name", in one of a few static buffers that take turns. */
const char *scratch_path(const char *name);

void scratch_folder(const char *name);
/* A file, new or in place of what it held. */
void scratch_write(const char *name, const char *text);
void scratch_put(const char *name, const void *data, size_t len);

#endif
