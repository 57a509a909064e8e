/* SPDX-License-Identifier: MIT */
/* core_file - see core_file.h. */
#include "core_file.h"

#include "sanitized.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Cores are files of the working directory, or are someone else's. */
static bool is_local(void)
{
    FILE *file = fopen("/proc/sys/kernel/core_pattern", "re");
    char pattern[256] = "|";

    if (file != NULL) {
        if (fgets(pattern, sizeof pattern, file) == NULL)
            pattern[0] = '|';
        (void)fclose(file);
    }
    return pattern[0] != '|' && strchr(pattern, '/') == NULL;
}

/* In the child: end in a core. */
_Noreturn static void end_in_core(const char *directory)
{
    struct rlimit limit;

    if (chdir(directory) != 0 || getrlimit(RLIMIT_CORE, &limit) != 0)
        _exit(1);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_CORE, &limit);
    (void)prctl(PR_SET_DUMPABLE, 1);
    (void)signal(SIGABRT, SIG_DFL);
    abort();
}

/* Where the first segment of memory is in the file. */
static size_t memory_of(const core_file *core)
{
    const ElfW(Ehdr) *head = (const void *)core->data;
    const ElfW(Phdr) *segments = (const void *)(core->data + head->e_phoff);
    size_t i = 0;

    while (i < head->e_phnum && segments[i].p_type != PT_LOAD)
        i++;
    return i < head->e_phnum ? segments[i].p_offset : core->len;
}

/* The only file of the directory, which is removed with it. */
static bool take_file(const char *directory, core_file *ret)
{
    DIR *dir = opendir(directory);
    bool found = false;

    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        int fd = e->d_name[0] == '.' ? -1 : openat(dirfd(dir), e->d_name, O_RDONLY);
        struct stat st;

        if (fd < 0)
            continue;
        if (fstat(fd, &st) == 0 && st.st_size > 0) {
            ret->len = (size_t)st.st_size;
            ret->data = mmap(NULL, ret->len, PROT_READ, MAP_PRIVATE, fd, 0);
            found = ret->data != MAP_FAILED;
        }
        (void)close(fd);
        (void)unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir != NULL)
        (void)closedir(dir);
    return found;
}

/* ---- public to the tests -------------------------------------------------- */

bool core_file_take(core_file *ret, const char **ret_why)
{
    char directory[] = "/tmp/gbx-core-XXXXXX";
    int status = 0;
    bool found;
    pid_t pid;

    *ret_why = "a sanitizer keeps what is freed, and writes no core";
    if (IS_SANITIZED)
        return false;
    *ret_why = "the kernel gives cores to a program (kernel.core_pattern)";
    if (!is_local() || mkdtemp(directory) == NULL)
        return false;
    *ret_why = "the kernel has written no core (ulimit -H -c)";
    pid = fork();
    if (pid == 0)
        end_in_core(directory);
    (void)waitpid(pid, &status, 0);
    found = take_file(directory, ret);
    (void)rmdir(directory);
    if (!found || !WCOREDUMP(status))
        return false;
    ret->memory = memory_of(ret);
    return true;
}

bool core_file_has(const core_file *core, const char *head, const char *tail)
{
    const char *end = core->data + core->len;
    size_t head_len = strlen(head);
    size_t tail_len = strlen(tail);

    for (const char *at = core->data + core->memory;
         (at = memmem(at, (size_t)(end - at), head, head_len)) != NULL; at++)
        if ((size_t)(end - at) >= head_len + tail_len &&
            memcmp(at + head_len, tail, tail_len) == 0)
            return true;
    return false;
}

void core_file_drop(core_file *core)
{
    (void)munmap((void *)(uintptr_t)core->data, core->len);
}
