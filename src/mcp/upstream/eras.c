/* SPDX-License-Identifier: MIT */
/* eras - a line each: the key, a blank, and since when, in milliseconds since 1970. */
#include "mcp/upstream/eras.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_MS (INT64_C(7) * 24 * 60 * 60 * 1000)

/* $XDG_CACHE_HOME/glovebox/eras, or ~/.cache/glovebox/eras; NULL: nowhere. */
static char *find_path(void)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    char *path = NULL;

    if (cache != NULL && *cache == '/')
        return asprintf(&path, "%s/glovebox/eras", cache) < 0 ? NULL : path;
    if (home != NULL && *home == '/')
        return asprintf(&path, "%s/.cache/glovebox/eras", home) < 0 ? NULL : path;
    return NULL;
}

static size_t find(const gbx_eras *eras, const char *key)
{
    size_t i = 0;

    while (i < eras->count && strcmp(eras->keys[i], key) != 0)
        i++;
    return i;
}

static bool is_key(const char *text)
{
    return strspn(text, "0123456789abcdef") == GBX_ERA_KEY_SIZE - 1 &&
           text[GBX_ERA_KEY_SIZE - 1] == ' ';
}

static void put(gbx_eras *eras, const char *key, int64_t since_ms)
{
    size_t i = find(eras, key);

    if (i == GBX_ERAS_MAX)
        i = 0; /* nobody has so many; one of them is asked again */
    (void)snprintf(eras->keys[i], GBX_ERA_KEY_SIZE, "%s", key);
    eras->since_ms[i] = since_ms;
    if (i == eras->count)
        eras->count++;
}

/* The folder may be missing, and above it ~/.cache. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

/* A new file in place of the old: a reader sees one or the other. */
static void save(const gbx_eras *eras)
{
    char temporary[4096];
    FILE *file;
    int fd;

    if (eras->path == NULL || (size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX",
                                               eras->path) >= sizeof temporary)
        return;
    make_folders(eras->path);
    fd = mkostemp(temporary, O_CLOEXEC);
    file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) {
        gbx_fd_close(&fd);
        return;
    }
    for (size_t i = 0; i < eras->count; i++)
        (void)fprintf(file, "%s %" PRId64 "\n", eras->keys[i], eras->since_ms[i]);
    if (fclose(file) != 0 || rename(temporary, eras->path) != 0)
        (void)unlink(temporary);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_eras_open(gbx_eras *eras, int64_t now_ms)
{
    gbx_trusted_file cache = {.what = "", .flags = O_RDONLY | O_NONBLOCK};
    char line[128];
    FILE *file;
    int fd;

    eras->count = 0;
    cache.path = eras->path = find_path();
    if (cache.path == NULL || gbx_trusted_file_open(&cache, &fd, NULL, NULL) != GBX_OK)
        return;
    file = fdopen(fd, "r");
    if (file == NULL) {
        gbx_fd_close(&fd);
        return;
    }
    while (fgets(line, sizeof line, file) != NULL && eras->count < GBX_ERAS_MAX) {
        int64_t since_ms;

        if (!is_key(line))
            continue;
        line[GBX_ERA_KEY_SIZE - 1] = 0;
        since_ms = strtoll(line + GBX_ERA_KEY_SIZE, NULL, 10);
        if (since_ms <= now_ms && now_ms - since_ms < KEPT_MS)
            put(eras, line, since_ms);
    }
    (void)fclose(file);
}

void gbx_eras_close(gbx_eras *eras)
{
    free(eras->path);
    eras->path = NULL;
}

void gbx_era_key(const gbx_mcp_upstream_config *config, char ret[GBX_ERA_KEY_SIZE])
{
    uint8_t digest[GBX_SHA256_SIZE];
    gbx_sha256 s;

    gbx_sha256_init(&s);
    if (config->command != NULL)
        gbx_sha256_add(&s, config->command, strlen(config->command) + 1);
    for (size_t i = 0; i < config->arg_count; i++)
        gbx_sha256_add(&s, config->args[i], strlen(config->args[i]) + 1);
    if (config->cwd != NULL)
        gbx_sha256_add(&s, config->cwd, strlen(config->cwd) + 1);
    gbx_sha256_end(&s, digest);
    gbx_sha256_print(digest, ret);
}

bool gbx_eras_is_legacy(const gbx_eras *eras, const char *key)
{
    return find(eras, key) < eras->count;
}

void gbx_eras_note(gbx_eras *eras, const char *key, bool is_legacy, int64_t now_ms)
{
    size_t i = find(eras, key);

    if (is_legacy) {
        put(eras, key, now_ms);
    } else if (i < eras->count) {
        eras->count--;
        memmove(eras->keys[i], eras->keys[eras->count], GBX_ERA_KEY_SIZE);
        eras->since_ms[i] = eras->since_ms[eras->count];
    } else {
        return;
    }
    save(eras);
}
