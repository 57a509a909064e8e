/* SPDX-License-Identifier: MIT */
/* hostile_plan - see hostile_plan.h. */
#include "hostile_plan.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char plan[512];

/* The value of a directive ("" if it has none), or NULL. */
static const char *find(const char *name)
{
    size_t len = strlen(name);

    for (const char *at = plan; at != NULL && *at != 0; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, len) != 0)
            continue;
        if (at[len] == '=')
            return at + len + 1;
        if (at[len] == ',' || at[len] == 0)
            return "";
    }
    return NULL;
}

void hostile_plan_read(void)
{
    char path[sizeof plan];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *at;

    if (n <= 0)
        return;
    path[n] = 0;
    at = strrchr(path, '@');
    if (at != NULL)
        (void)snprintf(plan, sizeof plan, "%s", at + 1);
}

bool hostile_plan_has(const char *name)
{
    return find(name) != NULL;
}

uint64_t hostile_plan_number(const char *name, uint64_t fallback)
{
    const char *value = find(name);

    return value != NULL && *value >= '0' && *value <= '9' ? strtoull(value, NULL, 10)
                                                           : fallback;
}

void hostile_plan_step(const char *step, uint64_t worker_id)
{
    char name[64];
    char action[16];
    const char *value;

    (void)snprintf(name, sizeof name, "at-%s", step);
    value = find(name);
    if (value == NULL || worker_id > hostile_plan_number("first", UINT64_MAX) ||
        worker_id != hostile_plan_number("only", worker_id))
        return;
    (void)snprintf(action, sizeof action, "%.*s", (int)strcspn(value, ","), value);
    hostile_act(action);
}

void hostile_act(const char *action)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"kill", SIGKILL}, {"segv", SIGSEGV}, {"abrt", SIGABRT}, {"ill", SIGILL},
        {"bus", SIGBUS},   {"fpe", SIGFPE},   {"trap", SIGTRAP}, {"sys", SIGSYS},
        {"term", SIGTERM}, {"stop", SIGSTOP},
    };

    if (strcmp(action, "exit") == 0)
        _exit(0);
    if (strcmp(action, "hang") == 0)
        for (;;)
            (void)pause();
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (strcmp(action, signals[i].name) == 0)
            (void)kill(getpid(), signals[i].number);
    /* As pid 1 of a pid namespace the template is spared its own signals. */
    if (strcmp(action, "stop") != 0)
        _exit(99);
    for (;;)
        (void)pause();
}
