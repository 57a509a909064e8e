/* SPDX-License-Identifier: MIT */
/* failing_malloc - the linker's --wrap leads the library's calls here. */
#include "failing_malloc.h"

#include <errno.h>
#include <event2/event.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long left; /* until the one that fails; 0: not armed */
static atomic_bool persists;
static atomic_bool has_failed;

/* The names that the linker gives to what is wrapped. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_reallocarray(void *memory, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_reallocarray(void *memory, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);
int __wrap_asprintf(char **ret, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool is_refused(void)
{
    long before = atomic_load(&left);

    while (before > 1)
        if (atomic_compare_exchange_weak(&left, &before, before - 1))
            return false;
    if (before != 1)
        return false;
    if (!atomic_load(&persists) && !atomic_compare_exchange_strong(&left, &before, 0))
        return false; /* another thread had it */
    atomic_store(&has_failed, true);
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return is_refused() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);

    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

char *__wrap_strndup(const char *text, size_t len)
{
    size_t size = strnlen(text, len);
    char *copy = __wrap_malloc(size + 1);

    if (copy == NULL)
        return NULL;
    copy[size] = '\0';
    return memcpy(copy, text, size);
}

void *__wrap_reallocarray(void *memory, size_t count, size_t size)
{
    return is_refused() ? NULL : __real_reallocarray(memory, count, size);
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
    va_list args;
    int n;

    if (is_refused())
        return -1;
    va_start(args, format);
    n = vasprintf(ret, format, args);
    va_end(args);
    return n;
}

int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...)
{
    va_list args;
    int n;

    if (is_refused())
        return -1;
    va_start(args, format);
    n = vasprintf(ret, format, args);
    va_end(args);
    return n;
}

void failing_malloc_arm(size_t nth, failing_malloc_how how)
{
    atomic_store(&has_failed, false);
    atomic_store(&persists, how == FAIL_FROM_THEN_ON);
    atomic_store(&left, (long)nth);
}

bool failing_malloc_disarm(void)
{
    atomic_store(&left, 0);
    return atomic_load(&has_failed);
}

void failing_malloc_take_libevent(void)
{
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
}
