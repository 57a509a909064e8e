/* SPDX-License-Identifier: MIT */
/* group_file - writes a kernel file in one write or fails; never creates a file. */
#include "cgroup/group.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEPARATORS " \t\n"

bool gbx_cgroup_read(int dir, const char *name, char *text, size_t size)
{
    GBX_CLEANUP(gbx_fd_close) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

    text[n > 0 ? n : 0] = 0;
    return n >= 0;
}

bool gbx_cgroup_write(int dir, const char *name, const char *text)
{
    GBX_CLEANUP(gbx_fd_close) int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(text);

    return fd >= 0 && write(fd, text, len) == (ssize_t)len;
}

bool gbx_cgroup_lists(const char *words, const char *word)
{
    size_t len = strlen(word);

    while (*words != 0) {
        size_t n;

        words += strspn(words, SEPARATORS);
        n = strcspn(words, SEPARATORS);
        if (n == len && memcmp(words, word, n) == 0)
            return n > 0;
        words += n;
    }
    return false;
}

uint64_t gbx_cgroup_keyed(const char *text, const char *key)
{
    size_t len = strlen(key);

    while (*text != 0) {
        size_t n = strcspn(text, "\n");

        if (n > len && strncmp(text, key, len) == 0 && text[len] == ' ')
            return strtoull(text + len + 1, NULL, 10);
        text += n + (text[n] == '\n');
    }
    return 0;
}
