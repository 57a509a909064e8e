/* SPDX-License-Identifier: MIT */
/* vectors - see vectors.h and tests/unit/crypto/vectors.py. */
#include "support/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS   4
#define DATA_MAX 1100000u

static void die(const char *what)
{
    (void)fprintf(stderr, "vectors: %s\n", what);
    exit(2);
}

static size_t from_hex(const char *text, uint8_t *to)
{
    size_t n = 0;

    if (strcmp(text, "-") == 0)
        return 0;
    for (; text[0] != 0 && text[1] != 0; text += 2) {
        unsigned byte;

        if (n == DATA_MAX || sscanf(text, "%2x", &byte) != 1)
            die("no hex");
        to[n++] = (uint8_t)byte;
    }
    return n;
}

/* TEXTxTIMES, or so many bytes of the pattern. */
static size_t make_data(const char *text, uint8_t *to)
{
    const char *times = strrchr(text, 'x');
    size_t len = times != NULL ? (size_t)(times - text) : 0;
    size_t n = strtoul(times != NULL ? times + 1 : text, NULL, 10);

    if (n * (times != NULL ? len : 1) > DATA_MAX)
        die("too long");
    for (size_t i = 0; i < n; i++) {
        if (times != NULL)
            memcpy(to + i * len, text, len);
        else
            to[i] = (uint8_t)(i * 131 + 7);
    }
    return n * (times != NULL ? len : 1);
}

static size_t each(const char *file, void (*fn)(void *user, const vector *v),
                   void *user)
{
    FILE *f = fopen(file, "re");
    uint8_t *data = malloc(DATA_MAX), *key = malloc(DATA_MAX);
    char *line = NULL;
    size_t size = 0, count = 0;

    if (f == NULL || data == NULL || key == NULL)
        die("a table cannot be read");
    while (getline(&line, &size, f) > 0) {
        char *fields[FIELDS], *at = line;
        vector v = {.key = key, .data = data};

        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#')
            continue;
        for (size_t i = 0; i < FIELDS; i++)
            if ((fields[i] = strsep(&at, " ")) == NULL)
                die("a field is missing");
        v.name = fields[0];
        v.data_text = fields[2];
        v.value = strcmp(fields[3], "-") == 0 ? "" : fields[3];
        v.value_len = strlen(v.value) / 2;
        if (strstr(file, "macs") != NULL) {
            v.key_len = from_hex(fields[1], key);
            v.data_len = from_hex(fields[2], data);
        } else {
            if (strtoul(fields[1], NULL, 10) != v.value_len)
                die("the value is of another length");
            v.data_len = make_data(fields[2], data);
        }
        fn(user, &v);
        count++;
    }
    (void)fclose(f);
    free(line);
    free(data);
    free(key);
    return count;
}

/* ---- public ------------------------------------------------------------------ */

size_t each_hash(void (*fn)(void *user, const vector *v), void *user)
{
    return each(CRYPTO_TABLES "/hashes.txt", fn, user);
}

size_t each_mac(void (*fn)(void *user, const vector *v), void *user)
{
    return each(CRYPTO_TABLES "/macs.txt", fn, user);
}

void to_hex(const uint8_t *data, size_t len, char *to)
{
    to[0] = 0;
    for (size_t i = 0; i < len; i++)
        (void)sprintf(to + 2 * i, "%02x", data[i]);
}
