/* SPDX-License-Identifier: MIT */
/*
 * group_file - the small text files of a control group, in a directory that is open: what is
 * one group now may be another by the same name a moment later.
 */
#ifndef GBX_CGROUP_GROUP_FILE_H
#define GBX_CGROUP_GROUP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The start of a file, as text; false if there is none. Empty files are "". */
bool gbx_cgroup_read(int dir, const char *name, char *text, size_t size);

/* Write text to a file that exists; errno tells why not. */
bool gbx_cgroup_write(int dir, const char *name, const char *text);

/* Is word one of words, which blanks and line ends separate? */
bool gbx_cgroup_lists(const char *words, const char *word);

/* The number in the line "KEY NUMBER" of text; 0 if there is none. */
uint64_t gbx_cgroup_keyed(const char *text, const char *key);

#endif
