/* SPDX-License-Identifier: MIT */
/*
 * replay - feed every file of the folders and files named to a fuzz target, each in an
 * allocation of its own size. A corpus without a file is a failure: nothing was tested.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    uint8_t *data;
    size_t len;

    if (file == NULL || fstat(fileno(file), &st) != 0) {
        fprintf(stderr, "replay: cannot open '%s'\n", path);
        if (file != NULL)
            (void)fclose(file);
        return false;
    }
    len = (size_t)st.st_size;
    data = malloc(len > 0 ? len : 1);
    if (data == NULL || fread(data, 1, len, file) != len) {
        fprintf(stderr, "replay: cannot read '%s'\n", path);
        free(data);
        (void)fclose(file);
        return false;
    }
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(data, len);
    free(data);
    return true;
}

/* The number of files fed, or -1. */
static long replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    long count = 0;

    if (folder == NULL)
        return replay_file(path) ? 1 : -1;
    while (count >= 0 && (entry = readdir(folder)) != NULL) {
        char file[4096];

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        count = replay_file(file) ? count + 1 : -1;
    }
    (void)closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    long total = 0;

    for (int i = 1; i < argc; i++) {
        long count = replay_folder(argv[i]);

        if (count < 0)
            return 1;
        total += count;
    }
    printf("replay: %ld inputs\n", total);
    return total > 0 ? 0 : 1;
}
