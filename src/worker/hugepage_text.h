/* SPDX-License-Identifier: MIT */
/*
 * hugepage_text - the engine's code in huge pages, where every call runs it.
 *
 * A fork inherits no page tables of a file's text: each piece of the engine that it runs
 * costs a fault, and each fault maps fifteen pages more that its end has to take apart. Of
 * a copy in a file in memory, made of huge pages, an entry is a piece. The copy is not
 * inherited mapped either, but a worker maps all of it by one call; and pieces side by side
 * are one mapping. Where a file cannot be made so (Linux 6.1) the copy is anonymous memory.
 *
 * Which these are is found out by a run in a child whose text is closed and then opened
 * page by page, at each page's first fault.
 *
 * A matter of speed: where something here cannot be done, workers are slower and nothing
 * else. In the template, single-threaded, while there is a /proc.
 */
#ifndef GBX_WORKER_HUGEPAGE_TEXT_H
#define GBX_WORKER_HUGEPAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* run is what a worker does; count the most huge pages that may be used. Returns how many
 * pieces were chosen. */
size_t gbx_text_enlarge(size_t count, bool (*run)(void *user), void *user);

/* In a worker, before it is sealed: map what the template has enlarged. */
void gbx_text_claim(void);

#endif
