/* SPDX-License-Identifier: MIT */
/*
 * text - the engine's code in huge pages, where every call runs it.
 *
 * A fork inherits no page tables of a file's text: each piece of the engine that it runs
 * costs a fault, and each fault maps fifteen pages more that its end has to take apart.
 * Anonymous huge pages are inherited mapped, an entry each, and miss the processor's
 * translation buffers less. All of the engine would be thirteen of them, and shared by
 * so few processes they would be the most of what each of these weighs; the three that
 * calls run most are worth half of it.
 *
 * Which these are is found out by a run in a child whose text is closed and then opened
 * page by page, at each page's first fault.
 *
 * A matter of speed: where something here cannot be done, workers are slower and nothing
 * else. In the template, single-threaded, while there is a /proc.
 */
#ifndef GBX_WORKER_TEXT_H
#define GBX_WORKER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* run is what a worker does; count the most huge pages that may be used. Returns how many
 * pieces were chosen. */
size_t gbx_text_enlarge(size_t count, bool (*run)(void *user), void *user);

#endif
