/* SPDX-License-Identifier: MIT */
/* hosts_file - see internal.h. */
#include "fetch/internal.h"

#include <event2/util.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 1024
#define LINES_MAX      10000 /* more is no table of names but a mistake */

static const char blanks[] = " \t\r\n";

/* Does the rest of a line, after its address, have the name? */
static bool names(char *state, const char *name)
{
    char *word;

    while ((word = strtok_r(NULL, blanks, &state)) != NULL)
        if (evutil_ascii_strcasecmp(word, name) == 0)
            return true;
    return false;
}

/* ---- public to other modules -------------------------------------------- */

size_t gbx_hosts_find(const char *path, const char *name, gbx_ip *ret, size_t max)
{
    FILE *file = fopen(path, "re");
    char line[LINE_MAX_BYTES];
    size_t count = 0;

    if (file == NULL)
        return 0;
    for (int i = 0; i < LINES_MAX && count < max; i++) {
        char *state = NULL;
        char *word;

        if (fgets(line, sizeof line, file) == NULL)
            break;
        line[strcspn(line, "#")] = '\0';
        word = strtok_r(line, blanks, &state);
        if (word != NULL && gbx_ip_parse(word, &ret[count]) && names(state, name))
            count++;
    }
    (void)fclose(file);
    return count;
}
