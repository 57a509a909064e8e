/* SPDX-License-Identifier: MIT */
/* scratch - see scratch.h. */
#include "scratch.h"
#include "test.h"

#include <ftw.h>
#include <sys/stat.h>

char scratch[32];

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *walk)
{
    return remove(path);
}

int scratch_begin(void **state)
{
    (void)snprintf(scratch, sizeof scratch, "/tmp/gbx-test-XXXXXX");
    return mkdtemp(scratch) == NULL ? -1 : 0;
}

int scratch_end(void **state)
{
    return nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *scratch_path(const char *name)
{
    static char paths[4][4096];
    static unsigned turn;
    char *to = paths[turn++ % 4];

    (void)snprintf(to, sizeof paths[0], "%s/%s", scratch, name);
    return to;
}

void scratch_folder(const char *name)
{
    assert_int_equal(mkdir(scratch_path(name), 0777), 0);
}

void scratch_write(const char *name, const char *text)
{
    scratch_put(name, text, strlen(text));
}

void scratch_put(const char *name, const void *data, size_t len)
{
    FILE *file = fopen(scratch_path(name), "we");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}
