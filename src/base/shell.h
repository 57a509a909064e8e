/* SPDX-License-Identifier: MIT */
/* shell - words of a command line that a person is shown, to be copied into a shell. */
#ifndef GBX_BASE_SHELL_H
#define GBX_BASE_SHELL_H

#include "base/buf.h"

/* Append a blank and the word as a shell takes it: in quotes, unless all of it is plain. */
bool gbx_shell_append(gbx_buf *to, const char *word);

#endif
