/* SPDX-License-Identifier: MIT */
/* environ - see internal.h. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The basic variables that most programs need. */
static const char *const names[] = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"};

/* As in confstr(_CS_PATH), plus /usr/local: without any PATH nothing is found. */
#define PATH_OF_LAST_RESORT "/usr/local/bin:/usr/bin:/bin"

static size_t count_of(char *const *environment)
{
    size_t count = 0;

    while (environment[count] != NULL)
        count++;
    return count;
}

/* If a name comes again, the last value counts. The caller has left room for one
 * more. */
static bool put(char **environment, const char *name, const char *value)
{
    size_t len = strlen(name);
    size_t at = 0;
    char *entry;

    if (asprintf(&entry, "%s=%s", name, value) < 0)
        return false;
    while (environment[at] != NULL &&
           (strncmp(environment[at], name, len) != 0 || environment[at][len] != '='))
        at++;
    if (environment[at] != NULL) {
        explicit_bzero(environment[at], strlen(environment[at]));
        free(environment[at]);
    }
    environment[at] = entry;
    return true;
}

static bool inherit(char **environment, const char *name)
{
    const char *value = getenv(name);

    return value == NULL || put(environment, name, value);
}

static bool fill(char **environment, const gbx_mcp_upstream_config *config)
{
    bool filled = put(environment, "PATH", PATH_OF_LAST_RESORT);

    for (size_t i = 0; i < GBX_COUNTOF(names) && filled; i++)
        filled = inherit(environment, names[i]);
    for (size_t i = 0; i < config->inherit_count && filled; i++)
        filled = inherit(environment, config->inherit[i]);
    for (size_t i = 0; i < config->env_count && filled; i++)
        filled = put(environment, config->env[i].name, config->env[i].value);
    return filled;
}

/* ---- public to other modules -------------------------------------------- */

char **gbx_environ_new(const gbx_mcp_upstream_config *config)
{
    size_t room = GBX_COUNTOF(names) + config->inherit_count + config->env_count + 2;
    char **environment = calloc(room, sizeof *environment);

    if (environment != NULL && !fill(environment, config)) {
        gbx_environ_free(environment);
        return NULL;
    }
    return environment;
}

void gbx_environ_free(char **environment)
{
    if (environment == NULL)
        return;
    for (size_t i = count_of(environment); i > 0; i--) {
        explicit_bzero(environment[i - 1], strlen(environment[i - 1]));
        free(environment[i - 1]);
    }
    free(environment);
}
