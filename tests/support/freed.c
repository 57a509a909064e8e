/* SPDX-License-Identifier: MIT */
/* freed - see freed.h. */
#include "freed.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    const char *head; /* NULL: nothing is looked for */
    const char *tail;
    bool was_seen;
} watch;

void __real_free(void *data);
void __wrap_free(void *data);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_realloc(void *data, size_t size);
void *__wrap_realloc(void *data, size_t size);

static void look_through(void *data)
{
    size_t left = watch.head != NULL && data != NULL ? malloc_usable_size(data) : 0;
    size_t head_len = left > 0 ? strlen(watch.head) : 0;
    size_t tail_len = left > 0 ? strlen(watch.tail) : 0;
    const char *at = data;
    const char *end = at != NULL ? at + left : NULL;

    while (left > 0 && (at = memmem(at, left, watch.head, head_len)) != NULL) {
        at += head_len;
        left = (size_t)(end - at);
        watch.was_seen |= left >= tail_len && memcmp(at, watch.tail, tail_len) == 0;
    }
}

void __wrap_free(void *data)
{
    look_through(data);
    __real_free(data);
}

/* What libraries have freed may be in it, and is not ours. */
static void clear(void *data, size_t from)
{
    size_t size = watch.head != NULL && data != NULL ? malloc_usable_size(data) : 0;

    if (size > from)
        memset((char *)data + from, 0, size - from);
}

void *__wrap_malloc(size_t size)
{
    void *data = __real_malloc(size);

    clear(data, 0);
    return data;
}

void *__wrap_realloc(void *data, size_t size)
{
    size_t before = data != NULL ? malloc_usable_size(data) : 0;
    void *now;

    look_through(data); /* wherever it goes */
    now = __real_realloc(data, size);
    clear(now, before);
    return now;
}

/* ---- public to the tests -------------------------------------------------- */

void freed_watch(const char *head, const char *tail)
{
    watch.head = head;
    watch.tail = tail;
    watch.was_seen = false;
}

bool freed_was_seen(void)
{
    watch.head = NULL;
    return watch.was_seen;
}
